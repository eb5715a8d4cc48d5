// SPDX-License-Identifier: Apache-2.0
/// @file
/// The entry points `name_ptds` and `name_ptsz`, which programs compiled with --default-stream per-thread call: the
/// same functions, but without a stream they use the thread's own default stream.
///
///     PER_THREAD(cudaMemcpyAsync, _ptsz)    // exports cudaMemcpyAsync_ptsz
#pragma once

#include "runtime/cudart/call.hpp"

#include <type_traits>

namespace warplens::cudart {

/// During its lifetime, default_stream() is the thread's own.
class PerThreadDefault {
public:
  PerThreadDefault();
  ~PerThreadDefault();
  PerThreadDefault(const PerThreadDefault&) = delete;
  PerThreadDefault& operator=(const PerThreadDefault&) = delete;
};

template <auto function> struct PerThread;
template <class... Parameter, cudaError_t (*function)(Parameter...)> struct PerThread<function> {
  static cudaError_t call(Parameter... parameter) {
    const PerThreadDefault scope;
    return function(resolved(parameter)...);
  }

private:
  template <class Type> static Type resolved(Type parameter) {
    if constexpr (std::is_same_v<Type, cudaStream_t>)
      return parameter ? parameter : default_stream();
    else
      return parameter;
  }
};

/// The linker asks resolve_name for the function, so the parameters need not be repeated.
#define PER_THREAD(name, suffix)                                                                                       \
  extern "C" {                                                                                                         \
  __attribute__((no_sanitize_thread, used)) static decltype(name)* resolve_##name##suffix() {                          \
    return &::warplens::cudart::PerThread<&name>::call;                                                                \
  }                                                                                                                    \
  __attribute__((visibility("default"), ifunc("resolve_" #name #suffix))) decltype(name) name##suffix;                 \
  }

} // namespace warplens::cudart
