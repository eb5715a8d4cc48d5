// SPDX-License-Identifier: Apache-2.0
// Random kernels from the instruction table's spellings, for the fuzzer. Each number always gives the same program:
//
//   Program p = generate(17);   p.ptx() is a module with `.entry k(.param .u64 in, .param .u64 out)`
//
// Each thread reads its registers from `in`, runs the statements, and writes its registers, its carry flag, and its
// shared and local memory to `out`. Threads have memory of their own, and elements of arrays in shared and in global
// memory, but do not read what others write. Statements are independent: the program stays valid when some are removed.
// Every fourth program is calm: after a barrier, it only computes, and most branches are the same for all threads of a
// warp or of a block. Warps of compiled programs run in pairs there.
// Branches go forward, or back a few times each, also into and out of loops; guards make them diverge. The payload of
// a NaN result of arithmetic is unspecified, so each such instruction is followed by one that canonicalises NaNs.
#pragma once

#include "emulator/isa/table.hpp"

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::fuzz {

/// Whether a memory instruction names shared memory. Each cluster has only one block here.
inline bool names_shared(const isa::Spelling& s) {
  return s.has(isa::Word::w_shared) || s.has(isa::Word::w_shared_cta) || s.has(isa::Word::w_shared_cluster);
}

struct Program {
  std::uint64_t number = 0;
  std::string_view target; ///< "sm_120a"
  std::array<std::uint32_t, 2> block{1, 1};
  std::uint32_t gap = 0; ///< elements between the rows of a block in arrays
  std::uint32_t ctas = 1;
  std::vector<std::string> statements; ///< includes labels: "L3:"

  [[nodiscard]] std::string ptx() const;
  [[nodiscard]] std::uint32_t threads() const { return block[0] * block[1]; }
  /// The number of elements that arrays have for some blocks, once for each of a thread's elements.
  [[nodiscard]] std::uint32_t places(std::uint32_t blocks) const { return blocks * (block[0] + gap) * block[1]; }
  /// The first word of the arrays in global memory, which follow the output of the threads, and their size.
  [[nodiscard]] std::size_t arrays_begin() const;
  [[nodiscard]] std::size_t array_words() const;
  /// The input word `word` of a thread of the grid.
  [[nodiscard]] std::uint64_t input(std::uint64_t thread, std::size_t word) const;

private:
  [[nodiscard]] std::uint32_t array_at(std::uint32_t element_bytes, std::uint32_t blocks) const;
  [[nodiscard]] std::string element_addresses() const;
};

/// `length`: times as many statements. Most of the compiler's time for a short program goes into what all have.
Program generate(std::uint64_t number, std::size_t length = 1);

constexpr bool is_label(std::string_view statement) { return statement.ends_with(':'); }

/// The number of 64-bit words that each thread reads and writes.
std::size_t input_words();
std::size_t output_words();
/// The source of an output word: "%r3", "shared memory".
std::string output_name(std::size_t word);

/// The spellings that functors compute and that can be generated for at least one target.
std::set<std::string> spellings();
/// The number of consecutive programs that together contain each spelling at least once.
std::uint64_t programs_of_all_spellings();

} // namespace warplens::fuzz
