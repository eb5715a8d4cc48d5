// SPDX-License-Identifier: Apache-2.0
// A kernel that runs in the interpreter and compiled, at each level, watched and unwatched; both must do the same.
//
//   words("… st.global.u32 [%rd2], %r10; ret;").expect_same();
#pragma once

#include "tests/exec/kernel_test.hpp"
#include "tests/exec/recorder.hpp"

#include "emulator/exec/compile/tier.hpp"
#include "emulator/exec/state/kernel_code.hpp"

#include <bit>
#include <fstream>
#include <sstream>

namespace warplens::tests::compiled_test {

struct Outcome {
  std::string trap, told;
  std::vector<std::vector<std::uint32_t>> buffers;
};

// What was said of a kernel when it was compiled last.
inline std::string last_explanation(const std::string& kernel) {
  const std::string told = exec::explain_compiled();
  return told.substr(told.rfind("\n" + kernel, told.size()) + 1);
}

/// A kernel with buffers of words and other arguments, in one mode.
struct Subject {
  std::string ptx, kernel;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{32, 1, 1};
  struct Argument {
    std::size_t words = 0; ///< of a buffer
    std::uint64_t value = 0;
    std::size_t bytes = 4;
  };
  std::vector<Argument> arguments;

  /// `rows`: the watcher gets irregular accesses together.
  [[nodiscard]] Outcome run(exec::CompileMode mode, bool watched, const exec::Level* level, bool rows = false) const {
    exec::set_compile_mode(mode);
    Emulated machine(ptx, "test.ptx");
    Emulated::Request request;
    request.kernel = kernel;
    std::copy(grid.begin(), grid.end(), request.shape.grid);
    std::copy(block.begin(), block.end(), request.shape.block);
    request.level = level;
    std::vector<std::pair<std::uint64_t, std::size_t>> buffers;
    for (const Argument& a : arguments) {
      if (a.words == 0) {
        request.arguments.push_back({a.value, a.bytes});
        continue;
      }
      std::vector<std::uint32_t> words(a.words);
      for (std::size_t i = 0; i < words.size(); ++i)
        words[i] = std::bit_cast<std::uint32_t>(0.5f + 0.01f * float(i % 97));
      buffers.emplace_back(machine.buffer(words), a.words);
      request.arguments.push_back({buffers.back().first, 8});
    }
    Recorder recorder(rows);
    if (watched) request.watcher = &recorder;
    Outcome outcome{machine.run(request), recorder.text, {}};
    for (const auto& [address, words] : buffers) {
      const auto* const p = reinterpret_cast<const std::uint32_t*>(address);
      outcome.buffers.emplace_back(p, p + words);
    }
    exec::set_compile_mode(exec::CompileMode::off);
    return outcome;
  }

  /// `compiles`: the test would prove nothing if there were no code.
  void expect_same(bool compiles = true) const {
    for (const exec::Level& level : exec::levels())
      for (const bool watched : {false, true}) {
        const Outcome interpreted = run(exec::CompileMode::off, watched, &level);
        const Outcome compiled = run(exec::CompileMode::always, watched, &level);
        EXPECT_EQ(compiled.trap, interpreted.trap) << kernel;
        EXPECT_EQ(compiled.told, interpreted.told) << kernel << level.name;
        EXPECT_TRUE(compiled.buffers == interpreted.buffers) << kernel << level.name << watched;
        for (const exec::CompileMode mode : {exec::CompileMode::off, exec::CompileMode::always}) {
          if (!watched) continue;
          EXPECT_EQ(run(mode, true, &level, true).told, interpreted.told) << kernel << level.name;
        }
        const std::string last = last_explanation(kernel);
        EXPECT_EQ(last.find(" entries, ") != std::string::npos, compiles && WARPLENS_HAS_COMPILER) << last;
      }
  }
};

inline std::string bench_kernel(const std::string& name) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/bench/kernels/" + name + ".ptx");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline Subject::Argument buffer(std::size_t words) { return {words, 0, 8}; }
inline Subject::Argument integer(std::uint32_t value) { return {0, value, 4}; }
inline Subject::Argument real(float value) { return {0, std::bit_cast<std::uint32_t>(value), 4}; }

/// Of which the only buffer has so many words.
inline Subject words(const std::string& body, std::uint32_t threads = 64, std::size_t count = 4096) {
  return {kernel_of(body), "k", {2, 1, 1}, {threads, 1, 1}, {buffer(count)}};
}

} // namespace warplens::tests::compiled_test
