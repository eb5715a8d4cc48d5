// SPDX-License-Identifier: Apache-2.0
// The entry points that 12 and 13 share and 11 has in another form.
#include "runtime/cudart/call.hpp"
#include "runtime/cudart/per_thread.hpp"
#include "runtime/cudart/version.hpp"

using namespace warplens::cudart;

CUDART cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return graph_instantiate(executable, graph, flags);
}
CUDART cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                       cudaGraphExecUpdateResultInfo* result) {
  return graph_exec_update(executable, graph, result);
}

CUDART cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned cuda_version,
                                                    unsigned long long flags, CUdriverProcAddressQueryResult* status) {
  return driver_entry_point(symbol, function, cuda_version, flags, status);
}
CUDART cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                           CUdriverProcAddressQueryResult* status) {
  return driver_entry_point(symbol, function, static_cast<unsigned>(version.number), flags, status);
}

PER_THREAD(cudaGetDriverEntryPoint, _ptsz)
PER_THREAD(cudaGetDriverEntryPointByVersion, _ptsz)
