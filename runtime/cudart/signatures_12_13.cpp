// SPDX-License-Identifier: Apache-2.0
// The entry points that 12 and 13 share and 11 has in another form.
#include "runtime/cudart/export.hpp"
#include "runtime/cudart/version.hpp"

using namespace warplens::cudart;

FORWARD(cudaGraphInstantiate, cuGraphInstantiateWithFlags)
FORWARD(cudaGraphExecUpdate, cuGraphExecUpdate_v2)

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
