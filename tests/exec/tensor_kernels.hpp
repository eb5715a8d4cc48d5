// SPDX-License-Identifier: Apache-2.0
// Kernels that use tensor memory.
#pragma once

#include "tests/exec/kernel_test.hpp"

namespace warplens::tests {

/// kernel_of() for a target that has all of tcgen05; %t0-%t129 are free, `place` is a word of shared memory.
inline std::string tensor_program(const std::string& body, const std::string& declarations = "") {
  std::string text =
      kernel_of(".reg .b32 %t<130>; setp.lt.u32 %p8, %r1, 32; and.b32 %r12, %r1, 31; shr.u32 %r13, %r1, 5;\n" + body,
                declarations + ".shared .b32 place;\n");
  text.replace(text.find(".version 8.3"), 12, ".version 8.8");
  text.replace(text.find("sm_90"), 5, "sm_103a");
  return text;
}

/// The first warp allocates `columns` columns at %r10; %r11 is that address in the lanes of each warp. %p8: the first
/// warp; %r12: the lane; %r13: the warp. After `body`, the columns are released.
inline std::string tensor_kernel(const std::string& body, int columns = 64, const std::string& declarations = "") {
  const std::string count = std::to_string(columns);
  return tensor_program("@%p8 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], " + count +
                            ";\nbar.sync 0; ld.shared.u32 %r10, [place];\n"
                            "and.b32 %r11, %r13, 3; shl.b32 %r11, %r11, 21; add.u32 %r11, %r11, %r10;\n" +
                            body + "\nbar.sync 0;\n@%p8 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, " + count +
                            ";\nret;",
                        declarations);
}

} // namespace warplens::tests
