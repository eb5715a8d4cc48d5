// Programs that compile CUDA source while they run have NVRTC make machine code, as there is a GPU to run it. NVRTC has
// made PTX on the way to it: asked for the one, it answers with the other, and the driver loads either.
//
// The dynamic linker prefers these to NVRTC's functions of the same names. Where a program looks NVRTC's up by itself
// (dlsym), it gets NVRTC's.
#include <dlfcn.h>

#include <cstddef>

namespace {

constexpr int kInternalError = 11; // NVRTC_ERROR_INTERNAL_ERROR

template <class Result> int ask(const char* function, void* program, Result result) {
  const auto get = reinterpret_cast<int (*)(void*, Result)>(dlsym(RTLD_NEXT, function));
  return get != nullptr ? get(program, result) : kInternalError;
}

} // namespace

extern "C" {

__attribute__((visibility("default"))) int nvrtcGetCUBINSize(void* program, std::size_t* bytes) {
  return ask("nvrtcGetPTXSize", program, bytes);
}

__attribute__((visibility("default"))) int nvrtcGetCUBIN(void* program, char* code) {
  return ask("nvrtcGetPTX", program, code);
}
}
