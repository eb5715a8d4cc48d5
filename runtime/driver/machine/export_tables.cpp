// cuGetExportTable: tables of undocumented functions, by which NVIDIA's own libraries talk to NVIDIA's driver. We have
// none.
//
// The first that matters to NVIDIA's CUDA runtime is kRuntimeInterface. It cannot be served: before it does anything,
// the runtime has the driver prove by a keyed hash, asked for through another table, that it is NVIDIA's. Programs that
// contain that runtime are run by having it replaced (runtime/static_runtime/substitute.cpp); those where that was not
// possible arrive here.
#include "runtime/driver/machine/serve.hpp"

#include <fmt/format.h>

#include <dlfcn.h>

#include <cstring>

using namespace warplens::runtime;

namespace {

constexpr unsigned char kRuntimeInterface[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                                 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

/// The file of the program or library that the address lies in.
std::string file_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "the program";
}

} // namespace

extern "C" CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  const void* const caller = __builtin_return_address(0);
  return serve([&] {
    require(table != nullptr && id != nullptr);
    *table = nullptr;
    // The others are asked for by those who can do without (NVRTC, for one).
    if (std::memcmp(id->bytes, kRuntimeInterface, sizeof kRuntimeInterface) != 0) return CUDA_ERROR_NOT_FOUND;
    tell(fmt::format(
        "{} contains NVIDIA's CUDA runtime, which accepts NVIDIA's driver only. `warplens exec` replaces it "
        "as the program starts, unless the file was stripped of its symbols or is loaded later; then it has "
        "to be linked with `nvcc -cudart shared`",
        file_of(caller)));
    return CUDA_ERROR_NOT_SUPPORTED;
  });
}
