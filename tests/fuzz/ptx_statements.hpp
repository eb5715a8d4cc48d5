// SPDX-License-Identifier: Apache-2.0
// Random spellings and operands for mutate_ptx.hpp, from the instruction table.
#pragma once

#include "tests/fuzz/mutate_ptx.hpp"

#include "emulator/isa/table.hpp"

namespace warplens::fuzz {

struct RandomSpelling {
  const isa::Entry* entry = nullptr;
  isa::Form form;
  std::string text; ///< "add.sat.s32"
};
RandomSpelling random_spelling(Random& random, const isa::Entry& entry);

/// The instruction with random operands.
std::string random_statement(Random& random, const PtxNames& names, const RandomSpelling& spelling);

std::string random_number(Random& random);

} // namespace warplens::fuzz
