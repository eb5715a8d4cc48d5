// SPDX-License-Identifier: Apache-2.0
// How to write a function of the driver API:
//
//   CUresult cuMemFree_v2(CUdeviceptr address) {
//     return serve([&](Context& context) { context.free(address); });
//   }
//
// The parameter of the body says what it needs, and serve() returns CUDA's error code if that is missing: a Context&
// needs a current context without a fault, a Machine& needs an earlier cuInit(). A body without parameters needs
// neither. It returns nothing or a CUresult; errors are thrown as Failure. The user sees the text of a Failure once.
//
//   CUresult cuStreamQuery(CUstream handle) {
//     return serve_for(handle, [&](Context& context) { … });
//   }
//
// serve_for() finds the context by a handle or an address, independently of the current context.
// tests/data/hardware/contexts.txt has the behavior of an H200: functions that create something, and copies without a
// stream, need a current context; functions on an existing object use the context of its handle.
//
// Every exported function is listed in runtime/abi/driver_functions.def or
// runtime/driver/api/unsupported_functions.def. Functions without another definition return CUDA_ERROR_NOT_SUPPORTED
// (entry_points.cpp). To implement one, move it to driver_functions.def with its parameters, and define it in any file
// inside extern "C".
#pragma once

#include "runtime/driver/machine/checks.hpp"
#include "runtime/driver/machine/machine.hpp"

#include <exception>
#include <string>
#include <type_traits>

namespace warplens::runtime {

/// Why a call fails: CUDA's code for the program, and a text for the user where the code is not enough.
struct Failure {
  CUresult code{};
  std::string text;
  std::shared_ptr<api::CheckMessage> found = {}; ///< what a tool says about it
};

/// Throws unless the condition holds.
inline void require(bool condition, CUresult code = CUDA_ERROR_INVALID_VALUE) {
  if (!condition) throw Failure{code, {}};
}
template <class Text> void require(bool condition, CUresult code, Text&& text) {
  if (!condition) throw Failure{code, std::string(text())};
}

inline void require_device(CUdevice device) { require(device == kDevice, CUDA_ERROR_INVALID_DEVICE); }

/// Prints "warplens: …" on stderr; the same text only once.
void tell(const std::string& text);
/// For unsupported functions: prints the name once.
CUresult unsupported(const char* what);
/// For an exception that is not a Failure.
CUresult translate(const char* function, const std::exception& exception);
CUresult translate(const char* function, const Failure& failure);

/// An exported function has failed.
void failed(const char* function, CUresult code);

/// serve() without telling the tools of a failure.
template <class Body> CUresult answer_of(Body&& body, const char* function) noexcept {
  const auto answer = [&](auto&... argument) {
    if constexpr (std::is_same_v<std::invoke_result_t<Body, decltype(argument)...>, CUresult>) {
      return body(argument...);
    } else {
      body(argument...);
      return CUDA_SUCCESS;
    }
  };
  try {
    if constexpr (std::is_invocable_v<Body>) {
      return answer();
    } else {
      Machine& machine = Machine::instance();
      if (!machine.initialised()) return CUDA_ERROR_NOT_INITIALIZED;
      if constexpr (std::is_invocable_v<Body, Machine&>) {
        return answer(machine);
      } else {
        Context& context = current_context();
        if (const CUresult fault = context.told_fault(); fault != CUDA_SUCCESS) return fault;
        return answer(context);
      }
    }
  } catch (const Failure& failure) {
    return translate(function, failure);
  } catch (const std::exception& exception) {
    return translate(function, exception);
  }
}

template <class Body> CUresult serve(Body&& body, const char* function = __builtin_FUNCTION()) noexcept {
  const CUresult result = answer_of(std::forward<Body>(body), function);
  if (result != CUDA_SUCCESS) [[unlikely]]
    failed(function, result);
  return result;
}

/// The object behind a handle. Throws Failure: CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_CONTEXT_IS_DESTROYED.
template <class Object, class Handle>
std::shared_ptr<Object> object_of(const Registry<Object, Handle>& registry, Handle handle) {
  std::shared_ptr<Object> found = registry.find(handle);
  if (!found)
    throw Failure{registry.is_buried(handle) ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_HANDLE, {}};
  return found;
}

/// Memory, as a handle for serve_for().
struct Address {
  std::uint64_t value;
};

/// The context of an object. Null if it has none, such as kernels of libraries and memory of pools. For a default
/// stream, the current context. Throws Failure if there is no such object, or no current context.
Context* context_of(CUstream stream);
Context* context_of(CUevent event);
Context* context_of(CUmodule module);
Context* context_of(CUfunction function);
Context* context_of(CUarray array);
Context* context_of(CUmipmappedArray array);
/// Also throws if the current context has a fault or was destroyed.
Context* context_of(Address address);

/// Like serve(), but with the context of `handle`, or the current one if the handle has no context.
template <class Handle, class Body>
CUresult serve_for(Handle handle, Body&& body, const char* function = __builtin_FUNCTION()) noexcept {
  return serve(
      [&](Machine&) -> CUresult {
        Context* context = context_of(handle);
        if (context != nullptr)
          if (const CUresult fault = context->told_fault(); fault != CUDA_SUCCESS) return fault;
        const auto answer = [&](auto&... argument) -> CUresult {
          if constexpr (std::is_same_v<std::invoke_result_t<Body, decltype(argument)...>, CUresult>)
            return body(argument...);
          else
            return body(argument...), CUDA_SUCCESS;
        };
        if constexpr (std::is_invocable_v<Body>)
          return answer();
        else
          return answer(context != nullptr ? *context : current_context());
      },
      function);
}

} // namespace warplens::runtime
