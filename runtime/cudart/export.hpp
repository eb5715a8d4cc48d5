// SPDX-License-Identifier: Apache-2.0
/// @file
/// Entry points whose parameters need not be repeated: the linker asks resolve_name for the function.
///
///     EXPORT(cudaMemcpy, Ordered<copy_bytes>::now)       // declared elsewhere; calls Ordered<copy_bytes>::now()
///     FORWARD(cudaMemAdvise_v2, cuMemAdvise_v2)           // has the driver's parameters, and calls the driver
///     PER_THREAD(cudaMemcpyAsync, _ptsz)                  // exports cudaMemcpyAsync_ptsz
///     FORWARD_PER_THREAD(cudaStreamQuery, cuStreamQuery)  // both: cudaStreamQuery, cudaStreamQuery_ptsz
///     MISSING(cudaImportExternalMemory)                   // not supported: returns cudaErrorNotSupported
///
/// Programs compiled with --default-stream per-thread call `name_ptds` and `name_ptsz`: the same functions, but without
/// a stream they use the thread's own default stream.
#pragma once

#include "runtime/cudart/call.hpp"

#include <type_traits>

namespace warplens::cudart {

template <auto function> struct Forward;
template <class... Parameter, CUresult (*function)(Parameter...)> struct Forward<function> {
  static cudaError_t in_context(Parameter... parameter) {
    return call([&] { return function(parameter...); });
  }
  static cudaError_t without_context(Parameter... parameter) {
    return call_without_context([&] { return function(parameter...); });
  }
};

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

} // namespace warplens::cudart

// NOLINTBEGIN(bugprone-macro-parentheses): declarations
#define EXPORT(name, function)                                                                                         \
  extern "C" {                                                                                                         \
  __attribute__((no_sanitize_thread, used)) static decltype(name)* resolve_##name() {                                  \
    using namespace warplens::cudart;                                                                                  \
    return function;                                                                                                   \
  }                                                                                                                    \
  __attribute__((visibility("default"), ifunc("resolve_" #name))) decltype(name) name;                                 \
  }
// NOLINTEND(bugprone-macro-parentheses)

#define FORWARD(name, driver)                                                                                          \
  extern "C" warplens::cudart::SameParameters<decltype(driver)>::type name;                                            \
  EXPORT(name, Forward<driver>::in_context)

#define PER_THREAD(name, suffix)                                                                                       \
  extern "C" decltype(name) name##suffix;                                                                              \
  EXPORT(name##suffix, PerThread<name>::call)

#define FORWARD_PER_THREAD(name, driver)                                                                               \
  FORWARD(name, driver)                                                                                                \
  PER_THREAD(name, _ptsz)

#define MISSING(name)                                                                                                  \
  CUDART cudaError_t name() { return ::warplens::cudart::not_supported(#name); }
