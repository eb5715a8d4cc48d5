// What there is to choose from: devices, rules, analyzers, models, instructions. For `warplens list` and its like.
//
//   for (const model::Device& d : model::built_in_devices()) … d.id, d.name
//   for (const isa::Entry& e : isa::table()) … e.opcode, e.pattern_text
#pragma once

#include "analyzers/analyzers.hpp"  // analyzers::analyzers()
#include "analyzers/banks.hpp"      // analyzers::bank_rules()
#include "analyzers/coalescing.hpp" // analyzers::coalescing_rules()
#include "analyzers/rule_set.hpp"   // analyzers::explain()
#include "emulator/isa/table.hpp"   // isa::table()
#include "model/models.hpp"         // model::models(), model::built_in_devices()
