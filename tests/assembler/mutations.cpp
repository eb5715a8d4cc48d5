// SPDX-License-Identifier: Apache-2.0
#include "tests/assembler/mutations.hpp"

#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"

#include <fstream>
#include <stdexcept>

namespace warplens::assembler {

namespace {

struct Place {
  int ptx;
  const char* target;
};
constexpr Place kPlaces[] = {{10, "sm_10"}, {14, "sm_13"}, {20, "sm_20"}, {31, "sm_30"}, {64, "sm_70"}, {90, "sm_90"}};

void replace(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

/// Corresponds to written() of mutations.py.
std::string written(std::string text, const Place& place) {
  if (place.ptx < 14) replace(text, ".entry k(.param .u32 t) {", ".entry k() { .param .u32 t;");
  return ".version " + std::to_string(place.ptx / 10) + "." + std::to_string(place.ptx % 10) + "\n.target " +
         place.target + "\n" + (place.ptx >= 23 ? ".address_size 64\n" : "") + text + "\n";
}

} // namespace

std::vector<Mutation> mutations() {
  std::ifstream file(WARPLENS_SOURCE_DIR "/tests/data/assembler/mutations.txt");
  if (!file) throw std::runtime_error("cannot read tests/data/assembler/mutations.txt");
  std::vector<Mutation> list;
  std::string part, frame;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("# ")) continue;
    if (line.starts_with("part ")) {
      part = line.substr(5, line.find(' ', 5) - 5);
      frame = line.substr(5 + part.size() + 1);
      continue;
    }
    const std::size_t blank = line.find(' ');
    const std::string text = line.substr(blank + 1);
    std::string whole = frame;
    replace(whole, "<>", text);
    for (std::size_t i = 0; i < blank; ++i) {
      if (line[i] == '!') continue;
      const bool own_header = part == "headers";
      const Place place = own_header ? Place{0, ""} : kPlaces[i];
      list.push_back(
          {part, text, place.ptx, place.target, line[i] == '+', own_header ? whole + "\n" : written(whole, place)});
    }
  }
  return list;
}

std::string refusal(const std::string& module) {
  auto parsed = ir::parse(module, "mutation");
  if (!parsed) return parsed.error().list().front().message;
  const ir::Checked checked = ir::check(*parsed);
  if (checked.errors.has_errors()) return checked.errors.list().front().message;
  for (const ir::Unsupported& u : checked.unsupported)
    if (u.why.message.find("declared but not defined") == std::string::npos) return u.why.message;
  return {};
}

} // namespace warplens::assembler
