// Copies and fills. Compiled twice: see default_stream.hpp.
#include "runtime/driver/default_stream.hpp"

#include <fmt/format.h>

using namespace warplens::runtime;

namespace {

Memory& memory() { return Machine::instance().memory(); }

/// Throws Failure unless all bytes lie in one allocation.
void require_covered(const char* what, std::uint64_t address, std::uint64_t bytes) {
  if (memory().covers(address, bytes)) return;
  const std::optional<Allocation> near = memory().find(address);
  throw Failure{CUDA_ERROR_INVALID_VALUE,
                near ? fmt::format("the {} is {} bytes at {:#x}, in an allocation of {} bytes at {:#x}", what, bytes,
                                   address, near->size, near->begin)
                     : fmt::format("the {} is {} bytes at {:#x}: no memory of the device", what, bytes, address)};
}

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

Copy plain(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  return {.from = {.address = from}, .to = {.address = to}, .width = bytes};
}

/// Blocking copies of the default stream.
CUresult copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, bool device_to, bool device_from,
              const char* function) {
  return serve(
      [&](Context& context) {
        if (bytes == 0) return CUDA_SUCCESS;
        require(to != 0 && from != 0);
        if (device_to) require_covered("destination", to, bytes);
        if (device_from) require_covered("source", from, bytes);
        default_stream(context)->run(plain(to, from, bytes));
        context.flush_printed();
        return context.fault();
      },
      function);
}

CUresult fill(std::uint64_t to, std::uint32_t value, std::uint32_t element, std::uint64_t count, const char* function) {
  return serve(
      [&](Context& context) {
        if (count == 0) return;
        require(to % element == 0);
        require_covered("destination", to, count * element);
        default_stream(context)->submit(Fill{{.address = to}, value, element, count, 1});
      },
      function);
}

} // namespace

extern "C" {

CUresult PTDS(cuMemcpyHtoD_v2)(CUdeviceptr to, const void* from, size_t bytes) {
  return copy(to, address_of(from), bytes, true, false, "cuMemcpyHtoD");
}

CUresult PTDS(cuMemcpyDtoH_v2)(void* to, CUdeviceptr from, size_t bytes) {
  return copy(address_of(to), from, bytes, false, true, "cuMemcpyDtoH");
}

CUresult PTDS(cuMemcpyDtoD_v2)(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy(to, from, bytes, true, true, "cuMemcpyDtoD");
}

CUresult PTDS(cuMemsetD8_v2)(CUdeviceptr to, unsigned char value, size_t count) {
  return fill(to, value, 1, count, "cuMemsetD8");
}

CUresult PTDS(cuMemsetD16_v2)(CUdeviceptr to, unsigned short value, size_t count) {
  return fill(to, value, 2, count, "cuMemsetD16");
}

CUresult PTDS(cuMemsetD32_v2)(CUdeviceptr to, unsigned int value, size_t count) {
  return fill(to, value, 4, count, "cuMemsetD32");
}

} // extern "C"
