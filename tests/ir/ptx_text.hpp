// SPDX-License-Identifier: Apache-2.0
// PTX for tests: a file of tests/ir/data, or a body wrapped in a module.
//
//   body("add.s32 %r1, %r2, 5;")  has registers %p<4> %r<10> %rd<10> %f<9> %fd<9>, a parameter `p`, a global array
//   `sym`.
#pragma once

#include "emulator/ir/parse.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

namespace warplens::ir {

inline std::string file_text(const std::string& name) {
  std::ifstream file(WARPLENS_SOURCE_DIR "/tests/ir/data/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string with_header(const std::string& text) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n" + text;
}

inline std::string body(const std::string& statements) {
  return with_header(".global .u32 sym[16];\n.entry k(.param .u64 p)\n{\n.reg .pred %p<4>; .reg .b32 %r<10>; "
                     ".reg .b64 %rd<10>; .reg .f32 %f<9>; .reg .f64 %fd<9>;\n" +
                     statements + "\n}\n");
}

/// The module; if parsing fails, the test fails and shows the diagnostics.
inline Module parsed(const std::string& text) {
  auto module = parse(text, "test.ptx");
  if (!module) throw std::runtime_error(render(module.error(), text));
  return std::move(*module);
}

/// "line:column: message" of every diagnostic, one per line; empty if the text is valid.
inline std::string errors_of(const std::string& text) {
  const auto module = parse(text, "test.ptx");
  std::string result;
  if (module) return result;
  for (const Diagnostic& d : module.error().list())
    result += std::to_string(d.where.line) + ":" + std::to_string(d.where.column) + ": " + d.message +
              (d.hint.empty() ? "" : " (" + d.hint + ")") + "\n";
  return result;
}

} // namespace warplens::ir
