// SPDX-License-Identifier: Apache-2.0
// Runs inline kernels on one buffer of u32.
#pragma once

#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>

namespace warplens::tests {

/// Wraps statements into a kernel `k(.param .u64 out)`. On entry, %rd1 is the address of the buffer, %rd2 that of this
/// thread's word, %r1 %tid.x, %r2 the global thread index; %r10-%r49, %rd10-%rd19, %p0-%p9, %f0-%f9 are free.
inline std::string kernel_of(const std::string& body, const std::string& declarations = "", int sm = 90) {
  return ".version 8.3\n.target sm_" + std::to_string(sm) + "\n.address_size 64\n" + declarations +
         ".visible .entry k(.param .u64 out)\n{\n"
         ".reg .b32 %r<50>; .reg .b64 %rd<20>; .reg .pred %p<10>; .reg .f32 %f<10>; .reg .b16 %h<10>;\n"
         "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;\n"
         "mad.lo.u32 %r2, %r3, %r4, %r1; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd1, %rd2;\n" +
         body + "\n}\n";
}

struct Ran {
  std::string trap;
  std::vector<std::uint32_t> words;
};

struct How {
  std::uint32_t blocks = 1, threads = 32;
  std::size_t words = 0; ///< size of the buffer; 0: one per thread
  const exec::Level* level = nullptr;
  unsigned workers = 1;
  exec::Watcher* watcher = nullptr;
  std::uint64_t max_steps = 0;
  bool cooperative = false;
  std::uint32_t cluster = 1; ///< blocks per cluster
};

inline Ran run_on(Emulated& machine, const How& how) {
  Emulated::Request request;
  request.kernel = "k";
  request.shape.grid[0] = how.blocks;
  request.shape.block[0] = how.threads;
  request.shape.cluster[0] = how.cluster;
  request.level = how.level;
  request.workers = how.workers;
  request.watcher = how.watcher;
  request.max_steps = how.max_steps;
  request.cooperative = how.cooperative;
  const std::size_t words = how.words != 0 ? how.words : std::size_t{how.blocks} * how.threads;
  const std::uint64_t buffer = machine.buffer(std::vector<std::uint32_t>(words, 0));
  request.arguments.push_back({buffer, 8});
  Ran ran{machine.run(request), {}};
  const auto* const p = reinterpret_cast<const std::uint32_t*>(buffer);
  ran.words.assign(p, p + words);
  machine.free_buffers();
  return ran;
}

/// Runs one thread per `inputs` words of `in`. `body` has them in %r0, %r1, … and as floats in %f0, …, and leaves its
/// result in %r20 and %r21: two words per thread. Free: %q, %h, %r30-%r39, %f30-%f39, %l, %p, %x.
inline std::vector<std::uint32_t> run_words(const std::string& target, const std::string& version,
                                            const std::string& body, std::size_t inputs,
                                            std::vector<std::uint32_t> in) {
  constexpr std::size_t kBlock = 128;
  const std::size_t threads = in.size() / inputs, blocks = (threads + kBlock - 1) / kBlock;
  in.resize(blocks * kBlock * inputs);
  std::string text = ".version " + version + "\n.target " + target + "\n.address_size 64\n" +
                     ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                     ".reg .b8 %q<10>; .reg .b16 %h<10>; .reg .b32 %r<50>; .reg .b64 %l<20>; .reg .b64 %m<5>;\n"
                     ".reg .f32 %f<40>; .reg .pred %p<10>; .reg .b32 %i<4>;\n"
                     "ld.param.u64 %m0, [in]; ld.param.u64 %m1, [out]; mov.u32 %i0, %tid.x; mov.u32 %i1, %ctaid.x;\n"
                     "mad.lo.u32 %i0, %i1, 128, %i0; mul.wide.u32 %m2, %i0, 8; add.u64 %m1, %m1, %m2;\n"
                     "mul.wide.u32 %m2, %i0, " +
                     std::to_string(4 * inputs) + "; add.u64 %m0, %m0, %m2; mov.b32 %r21, 0;\n";
  for (std::size_t i = 0; i < inputs; ++i) {
    const std::string n = std::to_string(i);
    text += "ld.global.b32 %r" + n + ", [%m0+" + std::to_string(4 * i) + "]; mov.b32 %f" + n + ", %r" + n + ";\n";
  }
  text += body + "\nst.global.b32 [%m1], %r20; st.global.b32 [%m1+4], %r21; ret;\n}\n";
  Emulated machine(text, "words.ptx");
  Emulated::Request request;
  request.kernel = "k";
  request.shape.grid[0] = static_cast<std::uint32_t>(blocks);
  request.shape.block[0] = kBlock;
  const std::uint64_t source = machine.buffer(in);
  const std::uint64_t result = machine.buffer(std::vector<std::uint32_t>(2 * blocks * kBlock, 0));
  request.arguments = {{source, 8}, {result, 8}};
  EXPECT_EQ(machine.run(request), "") << body;
  const auto* const words = reinterpret_cast<const std::uint32_t*>(result);
  return {words, words + 2 * threads};
}

inline Ran run_kernel(const std::string& ptx, const How& how = {}) {
  Emulated machine(ptx, "test.ptx");
  return run_on(machine, how);
}

} // namespace warplens::tests
