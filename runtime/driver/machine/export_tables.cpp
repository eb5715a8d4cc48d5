// SPDX-License-Identifier: Apache-2.0
// cuGetExportTable: tables of undocumented functions, through which NVIDIA's own libraries call NVIDIA's driver. We
// have none.
//
// The first table that matters to NVIDIA's CUDA runtime is kRuntimeInterface. It cannot be provided: before anything
// else, the runtime requires the driver to prove by a keyed hash, through another table, that it is NVIDIA's. For
// programs that contain this runtime, Warplens replaces it (runtime/static_runtime/substitute.cpp); programs where this
// was not possible reach this function.
#include "runtime/driver/machine/serve.hpp"

#include <fmt/format.h>

#include <dlfcn.h>

#include <cstring>

using namespace warplens::runtime;

namespace {

constexpr unsigned char kRuntimeInterface[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                                 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

/// The file of the program or library that contains the address.
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
    // Callers of the other tables can do without them (NVRTC, for example).
    if (std::memcmp(id->bytes, kRuntimeInterface, sizeof kRuntimeInterface) != 0) return CUDA_ERROR_NOT_FOUND;
    tell(fmt::format(
        "{} contains NVIDIA's CUDA runtime, which accepts only NVIDIA's driver. `warplens exec` replaces this "
        "runtime unless the file is stripped of its symbols; link such a file with `nvcc -cudart shared`",
        file_of(caller)));
    return CUDA_ERROR_NOT_SUPPORTED;
  });
}
