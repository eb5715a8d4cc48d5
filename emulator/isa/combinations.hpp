// SPDX-License-Identifier: Apache-2.0
// Words of memory instructions that exclude each other, such as .volatile and .ca.
#pragma once

#include "emulator/isa/pattern.hpp"

#include <optional>
#include <utility>

namespace warplens::isa {

/// Two words of a form that cannot be combined.
std::optional<std::pair<Word, Word>> conflict(std::string_view opcode, const Form& form);

} // namespace warplens::isa
