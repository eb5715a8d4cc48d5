// SPDX-License-Identifier: Apache-2.0
// Functions of a library that is loaded on the first call of one of them.
//
//   auto& runtime = *new Runtime{"/…/libcudart.so.13"};
//   jump_to(runtime.entry("cudaMalloc"))      // position-independent code that calls its cudaMalloc
#pragma once

#include <array>
#include <deque>
#include <string>
#include <string_view>

namespace warplens::runtime {

struct Runtime;

/// A function of the library. The assembly in lazy.cpp requires that the target comes first.
struct Entry {
  const void* target; ///< where to jump: first to the lookup, then to the function
  Runtime* runtime;
  std::string name;
};

struct Runtime {
  std::string path;
  std::deque<Entry> entries{}; ///< a deque, so that addresses stay valid

  Entry& entry(std::string_view name);
};

#if defined(__x86_64__)
/// mov r11, entry; jmp [r11]
using Jump = std::array<unsigned char, 13>;
#elif defined(__aarch64__)
/// ldr x17, .+12; ldr x16, [x17]; br x16; .quad entry
using Jump = std::array<unsigned char, 20>;
#endif
Jump jump_to(const Entry& entry);

} // namespace warplens::runtime
