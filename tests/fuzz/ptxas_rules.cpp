// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/ptxas_rules.hpp"

#include "tests/fuzz/ptxas.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>

namespace warplens::fuzz {

namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// A statement after its guard.
std::string_view statement_of(std::string_view line) {
  if (line.starts_with('@')) line.remove_prefix(std::min(line.size(), line.find(' ') + 1));
  return line;
}
bool begins(std::string_view line, std::initializer_list<std::string_view> opcodes) {
  return std::any_of(opcodes.begin(), opcodes.end(),
                     [&](std::string_view opcode) { return statement_of(line).starts_with(opcode); });
}

struct Rule {
  std::string_view why;
  bool (*is)(std::string_view line, std::string_view complaint);
};

// The manual does not define these, and no compiler writes them.
constexpr Rule kOnlyPtxas[] = {
    {"what exceeds a limit of Warplens", [](std::string_view, std::string_view c) { return has(c, "limit"); }},
    {"a function as a number", [](std::string_view, std::string_view c) { return has(c, "got a function"); }},
    {"numbers beyond 32 bits, of which ptxas takes the lower half",
     [](std::string_view l, std::string_view c) {
       return begins(l, {"bar.", "barrier.", "alloca."}) && (has(c, "expected") || has(c, "expects") || has(c, "must"));
     }},
    {"addresses in registers of other widths, and in special registers",
     [](std::string_view, std::string_view c) { return has(c, "an address must"); }},
    {"registers of .f32 for several narrower floats",
     [](std::string_view l, std::string_view c) {
       return begins(l, {"multimem.", "set."}) && (has(c, "x4") || has(c, "x2")) && has(c, "of type .f32");
     }},
    {"registers of .f64 for fields of a tensor map",
     [](std::string_view l, std::string_view c) { return begins(l, {"tensormap.replace"}) && has(c, "of type .f64"); }},
    {"floats as fragments of integers",
     [](std::string_view l, std::string_view c) {
       return begins(l, {"mma.", "wmma."}) && has(c, "of type .f32");
     }},
    {"vectors of surfaces without their word",
     [](std::string_view l, std::string_view c) {
       return begins(l, {"suld.", "sust.", "sured."}) && has(c, "expects a vector of");
     }},
    {"a directive of modules in a function",
     [](std::string_view l, std::string_view) { return begins(l, {".target"}); }},
};

constexpr Rule kOnlyChecker[] = {
    {"ptxas crashes", [](std::string_view, std::string_view c) { return c == kCrash; }},
    {"an initial value that names what is declared below",
     [](std::string_view l, std::string_view c) {
       return begins(l, {".global", ".const", ".visible"}) && has(l, "=") &&
              (has(c, "Unknown symbol") || has(c, "initial value symbol"));
     }},
    {"what is newer than ptxas", [](std::string_view, std::string_view c) { return has(c, "Unsupported .version"); }},
    {"a statement that names what is declared below",
     [](std::string_view, std::string_view c) { return has(c, "forward reference"); }},
};

template <std::size_t n>
std::string_view find(const Rule (&rules)[n], std::string_view line, std::string_view complaint) {
  const auto* const found =
      std::find_if(std::begin(rules), std::end(rules), [&](const Rule& r) { return r.is(line, complaint); });
  return found == std::end(rules) ? std::string_view() : found->why;
}

} // namespace

std::string_view why_different(bool only_ptxas_accepts, std::string_view line, std::string_view complaint) {
  return only_ptxas_accepts ? find(kOnlyPtxas, line, complaint) : find(kOnlyChecker, line, complaint);
}

} // namespace warplens::fuzz
