// SPDX-License-Identifier: Apache-2.0
// Everything that `warplens list` and similar tools show: devices, rules, analyzers, findings, models,
// instructions.
//
//   for (const model::Device& d : model::built_in_devices()) … d.id, d.name
//   for (const isa::Entry& e : isa::table()) … e.opcode, e.pattern_text
#pragma once

#include "analyzers/analyzers.hpp"     // analyzers::analyzers()
#include "analyzers/finding_kinds.hpp" // analyzers::finding_kinds()
#include "emulator/isa/table.hpp"      // isa::table()
#include "model/models.hpp"            // model::models(), model::built_in_devices()
#include "rules/keys.hpp"              // rules::keys()
#include "rules/rule_set.hpp"          // rules::coalescing_rules(), rules::bank_rules(), rules::explain()
