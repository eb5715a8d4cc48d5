// Memory: allocating, freeing, asking. Copies and fills are in copy_api.cpp.
#include "runtime/driver/serve.hpp"

using namespace warplens::runtime;
using Kind = Allocation::Kind;

namespace {

Memory& memory() { return Machine::instance().memory(); }

} // namespace

extern "C" {

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return serve([&](Context&) {
    require(free != nullptr && total != nullptr);
    *total = memory().limit();
    *free = memory().limit() - memory().used();
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return serve([&](Context& context) {
    require(address != nullptr);
    *address = memory().allocate(bytes, Kind::device, &context);
  });
}

// What runs may use the memory, so it is waited for, as by CUDA.
CUresult cuMemFree_v2(CUdeviceptr address) {
  return serve([&](Context& context) {
    if (address == 0) return;
    const std::optional<Allocation> found = memory().find(address);
    require(found && found->begin == address);
    context.synchronize();
    require(memory().free(address, Kind::device) || memory().free(address, Kind::managed) ||
            memory().free(address, Kind::pool));
  });
}

} // extern "C"
