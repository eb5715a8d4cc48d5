// How a function of the driver API is written:
//
//   CUresult cuMemFree_v2(CUdeviceptr address) {
//     return serve([&](Context& context) { context.free(address); });
//   }
//
// The body takes what it needs, and serve() answers CUDA's code where that is missing: a Context& needs a current
// context in which no kernel has failed, a Machine& an earlier cuInit(), no argument nothing at all. The body returns
// nothing, or a CUresult; errors inside are thrown as Failure. A Failure with a text is told to the user, once.
//
//   CUresult cuStreamQuery(CUstream handle) {
//     return serve_for(handle, [&](Context& context) { … });
//   }
//
// serve_for() finds the context by a handle or an address: which one is current, or whether any is, does not matter.
// tests/data/hardware/contexts.txt has what an H200 does: what makes something needs a current context, and so do
// copies without a stream; what is done with something that there is goes by its handle.
//
// Every exported function stands in functions.def, and one that is defined nowhere answers CUDA_ERROR_NOT_SUPPORTED
// (entry_points.cpp): to serve it, define it, in any file, inside extern "C"; no list has to be changed.
#pragma once

#include "runtime/driver/machine/machine.hpp"

#include <exception>
#include <string>
#include <type_traits>

namespace warplens::runtime {

/// Why a call cannot be served: CUDA's code for the program, and words for its user where the code does not say enough.
struct Failure {
  CUresult code{};
  std::string text;
};

/// Throws unless the condition holds.
inline void require(bool condition, CUresult code = CUDA_ERROR_INVALID_VALUE) {
  if (!condition) throw Failure{code, {}};
}
template <class Text> void require(bool condition, CUresult code, Text&& text) {
  if (!condition) throw Failure{code, std::string(text())};
}

/// "warplens: …" on stderr; the same text only once.
void tell(const std::string& text);
/// For what is missing: says so once, with its name.
CUresult unsupported(const char* what);
/// Of an exception that is no Failure.
CUresult translate(const char* function, const std::exception& exception);
CUresult translate(const char* function, const Failure& failure);

template <class Body> CUresult serve(Body&& body, const char* function = __builtin_FUNCTION()) noexcept {
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
        if (const CUresult fault = context.fault(); fault != CUDA_SUCCESS) return fault;
        return answer(context);
      }
    }
  } catch (const Failure& failure) {
    return translate(function, failure);
  } catch (const std::exception& exception) {
    return translate(function, exception);
  }
}

/// The object behind a handle. Throws Failure: CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_CONTEXT_IS_DESTROYED.
template <class Object, class Handle>
std::shared_ptr<Object> object_of(const Registry<Object, Handle>& registry, Handle handle) {
  std::shared_ptr<Object> found = registry.find(handle);
  if (!found)
    throw Failure{registry.is_buried(handle) ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_HANDLE, {}};
  return found;
}

/// Memory, as serve_for() takes it.
struct Address {
  std::uint64_t value;
};

/// The context that something belongs to. Null: to none, as kernels of libraries and memory of pools do. The current
/// one of a default stream. Throws Failure: there is no such object, or no current context.
Context* context_of(CUstream stream);
Context* context_of(CUevent event);
Context* context_of(CUmodule module);
Context* context_of(CUfunction function);
Context* context_of(CUarray array);
Context* context_of(CUmipmappedArray array);
/// Also throws where the current context has failed, or was destroyed.
Context* context_of(Address address);

/// As serve(), but the context is that of `handle`. A body that takes one gets the current one where that has none.
template <class Handle, class Body>
CUresult serve_for(Handle handle, Body&& body, const char* function = __builtin_FUNCTION()) noexcept {
  return serve(
      [&](Machine&) -> CUresult {
        Context* context = context_of(handle);
        if (context != nullptr)
          if (const CUresult fault = context->fault(); fault != CUDA_SUCCESS) return fault;
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
