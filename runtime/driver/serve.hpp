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
// Every exported function stands in functions.def, and one that is defined nowhere answers CUDA_ERROR_NOT_SUPPORTED
// (entry_points.cpp): to serve it, define it, in any file, inside extern "C"; no list has to be changed.
#pragma once

#include "runtime/driver/machine.hpp"

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

} // namespace warplens::runtime
