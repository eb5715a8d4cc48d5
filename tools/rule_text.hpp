// SPDX-License-Identifier: Apache-2.0
// Rules in sentences, with their sources and the devices that use them.
//
//   write(rules_text(*api::load_rules(names), style_for(STDOUT_FILENO)));
#pragma once

#include "api/report/catalogue.hpp"
#include "api/report/style.hpp"

#include <string>

namespace warplens::tools {

/// Each rule is followed by an empty line.
std::string rules_text(const rules::RuleSet& rules, const api::Style& style);

} // namespace warplens::tools
