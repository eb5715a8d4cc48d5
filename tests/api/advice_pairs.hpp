// SPDX-License-Identifier: Apache-2.0
// Launches with a problem, and the launches that a finding promises to be faster. The tests of findings emulate them,
// and tests/data/hardware/ask/advice.cpp times them on a GPU: hence no other header of Warplens here.
//
//   for (const AdvicePair& pair : advice_pairs()) time(pair.before) / time(pair.after);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace warplens::tests {

struct PairBuffer {
  enum class Holds : std::uint8_t { zeros, iota, random }; ///< random: integers from 0 to `most`, from seed 1
  std::string name, type;                                  ///< "f32" or "s32"
  std::uint32_t count = 0;
  Holds holds = Holds::zeros;
  int most = 0;
};

/// As words of 32 bits, both types being that.
std::vector<std::uint32_t> content(const PairBuffer& buffer);

/// The name of a buffer, an s32 or an f32.
using PairArgument = std::variant<std::string, int, float>;

struct PairLaunch {
  std::string kernel;
  std::array<unsigned, 3> grid{}, block{};
  std::vector<PairArgument> arguments;
};

struct AdvicePair {
  std::string rule, module;
  std::string device; ///< the one whose model judges both
  std::string line;   ///< a part of the line of CUDA source; empty: the finding is about the launch
  std::string remedy; ///< a part of it
  std::vector<PairBuffer> buffers;
  PairLaunch before, after;
  std::string analyzer = {}; ///< one that the finding needs
};

/// By kind of finding; then by pattern, of the samples.
std::vector<AdvicePair> advice_pairs();

/// Further pairs, which ask/advice.cpp does not time; tests/data/hardware/times.jsonl has the last one.
std::vector<AdvicePair> pairs_not_asked();

/// Launches that look like the problem, whose remedy saves too little for a finding.
std::vector<AdvicePair> close_calls();

/// Launches whose finding promises no speedup.
std::vector<AdvicePair> pairs_without_speedup();

/// What names a pair in answers of hardware: "RULE BEFORE AFTER", with the grids where the kernels are the same.
std::string name_of(const AdvicePair& pair);

/// One number for what a buffer of f32 or s32 holds, which hardly depends on rounding: the finite numbers, multiplied
/// by weights that depend on their places.
double weighted_sum(const PairBuffer& buffer, const std::vector<std::uint32_t>& words);

} // namespace warplens::tests
