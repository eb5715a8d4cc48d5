// SPDX-License-Identifier: Apache-2.0
// How assemblers read the words after an opcode, where that is more than the table says: which of them are a part of
// the opcode itself, and which they accept and ignore.
#pragma once

#include "emulator/isa/pattern.hpp"

#include <functional>
#include <vector>

namespace warplens::isa {

/// How many of the words are a part of the opcode, before which no other may stand: 1 of mul.lo.s32, 3 of
/// cp.async.bulk.tensor.2d.
std::size_t words_of_opcode(std::string_view opcode, std::span<const Word> words);

/// The words without those that assemblers ignore. `reads` says whether some spelling of the opcode has a word.
std::vector<Word> without_ignored(std::string_view opcode, std::span<const Word> words,
                                  const std::function<bool(Word)>& reads);

/// Whether a word names a type, also one of fewer than 8 bits.
bool is_any_type(Word word);

} // namespace warplens::isa
