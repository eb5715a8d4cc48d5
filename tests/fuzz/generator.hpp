// Random kernels of the instruction table's own spellings, for the fuzzer. A number gives a program, always the same:
//
//   Program p = generate(17);   p.ptx() is a module with `.entry k(.param .u64 in, .param .u64 out)`
//
// Each thread reads its registers from `in`, runs the statements, and writes its registers, its carry flag, and its
// shared and local memory to `out`. Statements stand for themselves: without some of them it still is a program.
// Branches lead forward, or back a few times each, also into and out of loops; guards make them diverge. The payload
// of a NaN that arithmetic makes is open, so one follows such an instruction that makes every NaN the same.
#pragma once

#include "emulator/isa/table.hpp"

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::fuzz {

/// Does a memory instruction name shared memory? A block is alone in its cluster here.
inline bool names_shared(const isa::Spelling& s) {
  return s.has(isa::Word::w_shared) || s.has(isa::Word::w_shared_cta) || s.has(isa::Word::w_shared_cluster);
}

struct Program {
  std::uint64_t number = 0;
  std::string_view target; ///< "sm_120a"
  std::array<std::uint32_t, 2> block{1, 1};
  std::uint32_t ctas = 1;
  std::vector<std::string> statements; ///< a label is one of them: "L3:"

  [[nodiscard]] std::string ptx() const;
  [[nodiscard]] std::uint32_t threads() const { return block[0] * block[1]; }
  /// What the w-th word of the input of a thread of the grid is.
  [[nodiscard]] std::uint64_t input(std::uint64_t thread, std::size_t word) const;
};

Program generate(std::uint64_t number);

constexpr bool is_label(std::string_view statement) { return statement.ends_with(':'); }

/// 64-bit words that each thread reads and writes.
std::size_t input_words();
std::size_t output_words();
/// What a word of the output is: "%r3", "shared memory".
std::string output_name(std::size_t word);

/// The spellings that functors compute and that can be generated, for any of the targets that programs have.
std::set<std::string> spellings();
/// So many programs, one number after the other, have each spelling at least once.
std::uint64_t programs_of_all_spellings();

} // namespace warplens::fuzz
