// SPDX-License-Identifier: Apache-2.0
// Generates docs/instructions.md from the instruction table.
#pragma once

#include <string>

namespace warplens::docs {

/// The whole page, as Markdown.
std::string instruction_coverage();

} // namespace warplens::docs
