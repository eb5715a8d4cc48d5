// SPDX-License-Identifier: Apache-2.0
// Memory and events that several processes use. tests/data/hardware/ipc.txt has the behavior of an H200.
#include "runtime/driver/machine/event.hpp"
#include "runtime/driver/machine/import.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <bit>

using namespace warplens::runtime;

extern "C" {

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  return serve([&](Context&) {
    require(handle != nullptr);
    *handle = std::bit_cast<CUipcMemHandle>(Machine::instance().memory().share(address)->ticket());
  });
}

// The flag has no effect with one device, but drivers refuse calls without it.
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle, unsigned int flags) {
  return serve([&](Context& context) {
    require(address != nullptr && (flags & CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) != 0);
    *address = Imports::instance().open(std::bit_cast<Ticket>(handle), context);
  });
}

CUresult cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle, unsigned int flags) {
  return cuIpcOpenMemHandle_v2(address, handle, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  return serve([&](Context&) { Imports::instance().close(address); });
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event) {
  return serve([&](Context&) {
    require(handle != nullptr);
    const std::shared_ptr<Shared> shared = object_of(Machine::instance().events, event)->shared();
    require(shared != nullptr && shared->own(), CUDA_ERROR_INVALID_HANDLE);
    *handle = std::bit_cast<CUipcEventHandle>(shared->ticket());
  });
}

CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
  return serve([&](Context& context) {
    require(event != nullptr);
    std::shared_ptr<Shared> shared =
        Shared::open(std::bit_cast<Ticket>(handle), SharedKind::event, CUDA_ERROR_MAP_FAILED);
    *event = Machine::instance().events.add(
        std::make_shared<Event>(context, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS, std::move(shared)));
  });
}

} // extern "C"
