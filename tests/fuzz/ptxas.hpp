// SPDX-License-Identifier: Apache-2.0
// Asks ptxas and the checker about modules of PTX.
//
//   if (const auto program = ptxas_program())
//     ask_ptxas(*program, text)  ->  {{12, "Unexpected instruction types specified for 'add'"}}
//   ask_checker(text)            ->  {{12, "'add.u8': …"}}
//
// WARPLENS_PTXAS names the program; otherwise it is that of the search path, or in /usr/local/cuda/bin.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace warplens::fuzz {

/// The refused lines with the complaints about each. Line 0: the whole module. Empty: the module is accepted.
using Complaints = std::map<std::uint32_t, std::string>;

/// The complaint of ptxas about a module on which it crashes, or that takes it too long.
constexpr std::string_view kCrash = "ptxas crashes";

/// The program, if it is there and of the version that the rules of ptxas_test.cpp are for; otherwise why not.
struct Ptxas {
  std::string program, why_not;
};
Ptxas find_ptxas();

/// ptxas parses and checks a module, and makes no code of it.
Complaints ask_ptxas(const Ptxas& ptxas, const std::string& module);
/// Also complains of what the checker calls unsupported.
Complaints ask_checker(const std::string& module);

/// The module without some lines.
std::string without(const std::string& module, const Complaints& lines);

/// The line of a number, from 1 on.
std::string line_of(const std::string& module, std::uint32_t number);

} // namespace warplens::fuzz
