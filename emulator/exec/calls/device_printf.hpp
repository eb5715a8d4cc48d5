// SPDX-License-Identifier: Apache-2.0
// printf() of kernels: a format and packed arguments become text (CUDA C++ Programming Guide, "Formatted Output").
//
//   "%d: %5.2f\n" and {int 3; double 1.5} at their natural alignment   ->   "3:  1.50\n", 2 arguments
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace warplens::exec {

/// Access to a thread's memory; both return nothing if it is not readable.
struct PrintfMemory {
  /// `bytes` (4 or 8) at an offset of the arguments.
  std::function<std::optional<std::uint64_t>(std::uint64_t offset, int bytes)> argument;
  /// The text at an address.
  std::function<std::optional<std::string>(std::uint64_t address)> text;
};

struct Printed {
  std::string text;
  int arguments = 0; ///< what printf() returns
};

/// Flags `#0 +-`, width, precision (both also `*`), sizes hh h l ll j z t, types d i o u x X c p e E f F g G a A s.
/// After 32 arguments, or with any other type, the specifier is printed unchanged. Returns nothing if the memory is not
/// readable.
std::optional<Printed> printed_text(const std::string& format, const PrintfMemory& memory);

} // namespace warplens::exec
