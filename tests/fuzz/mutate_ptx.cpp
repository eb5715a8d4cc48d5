// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate_ptx.hpp"

#include "tests/fuzz/ptx_statements.hpp"

#include "emulator/isa/special_registers.hpp"
#include "emulator/isa/table.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace warplens::fuzz {

namespace {

constexpr std::size_t kMostRegisters = 64; // of a declaration such as %r<1000>: more are not needed for mutations

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%'; }

/// The words of PTX: names and opcodes with their modifiers, marks; white space apart.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    std::size_t size = 1;
    while (size < text.size() && (is_name(text[0]) || text[0] == '.') &&
           (is_name(text[size]) || text[size] == '.' || text[size] == ':'))
      ++size;
    while (size > 1 && text[size - 1] == ':') --size;
    words.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return words;
}

bool is_blank(std::string_view word) { return std::isspace(static_cast<unsigned char>(word.front())) != 0; }

/// The names of `.reg .b32 %r<4>, %x;` from the word after the type on.
void add_registers(const std::vector<std::string_view>& words, std::size_t at, std::vector<std::string>& list) {
  for (; at < words.size() && words[at] != ";" && words[at] != "{"; ++at) {
    if (!is_name(words[at].front()) || words[at].front() == '.') continue;
    const std::string name(words[at]);
    if (at + 2 >= words.size() || words[at + 1] != "<") {
      list.push_back(name);
      continue;
    }
    const std::size_t count = std::strtoul(std::string(words[at + 2]).c_str(), nullptr, 10);
    for (std::size_t i = 0; i < std::min(count, kMostRegisters); ++i) list.push_back(name + std::to_string(i));
    at += 2;
  }
}

/// The places after each statement of a body.
std::vector<std::size_t> places_in(std::string_view text) {
  std::vector<std::size_t> places;
  const std::size_t body = text.find('{');
  if (body == text.npos) return places;
  for (std::size_t at = text.find(';', body); at != text.npos; at = text.find(';', at + 1)) places.push_back(at + 1);
  return places;
}

/// Replaces a random word for which `wanted` is true.
template <class Wanted, class Make>
void replace_word(std::string& input, Random& random, const Wanted& wanted, const Make& make) {
  const std::vector<std::string_view> words = words_of(input);
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (wanted(words[i])) at.push_back(i);
  if (at.empty()) return;
  const std::string_view word = words[random.any(at)];
  const std::string made = make(word);
  input.replace(static_cast<std::size_t>(word.data() - input.data()), word.size(), made);
}

void change_statement(std::string& input, const Mutation& how) {
  const std::vector<std::size_t> places = places_in(input);
  if (places.size() < 3) return;
  Random& random = how.random;
  const std::size_t i = random.below(places.size() - 1);
  const std::string statement = input.substr(places[i], places[i + 1] - places[i]);
  const std::size_t other = random.any(places);
  if (random.one_in(2)) return void(input.insert(other, statement));
  input.erase(places[i], statement.size());
  if (random.one_in(2))
    input.insert(other > places[i] ? other - std::min(other - places[i], statement.size()) : other, statement);
}

void change_register(std::string& input, const Mutation& how) {
  const PtxNames names = names_in(input);
  std::vector<std::string> all;
  for (const auto& [type, list] : names.registers) all.insert(all.end(), list.begin(), list.end());
  if (all.empty()) return;
  replace_word(
      input, how.random, [](std::string_view w) { return w.front() == '%'; },
      [&](std::string_view word) {
        std::vector<std::string> alike;
        for (const std::string& r : all)
          if (r.size() > 1 && word.size() > 1 && r.substr(0, 2) == word.substr(0, 2)) alike.push_back(r);
        return alike.empty() || how.random.one_in(6) ? how.random.any(all) : how.random.any(alike);
      });
}

/// Another spelling of the same opcode.
void change_modifiers(std::string& input, const Mutation& how) {
  const auto opcode_of = [](std::string_view w) { return w.substr(0, w.find('.')); };
  static const std::vector<std::string_view> opcodes = isa::opcodes();
  replace_word(
      input, how.random,
      [&](std::string_view w) { return std::binary_search(opcodes.begin(), opcodes.end(), opcode_of(w)); },
      [&](std::string_view word) {
        std::vector<const isa::Entry*> entries;
        for (const isa::Entry& e : isa::table())
          if (e.opcode == opcode_of(word)) entries.push_back(&e);
        return random_spelling(how.random, *how.random.any(entries)).text;
      });
}

void change_number(std::string& input, const Mutation& how) {
  replace_word(
      input, how.random, [](std::string_view w) { return std::isdigit(static_cast<unsigned char>(w.front())) != 0; },
      [&](std::string_view) { return random_number(how.random); });
}

} // namespace

PtxNames names_in(std::string_view text) {
  PtxNames names;
  std::vector<std::string_view> words = words_of(text);
  std::erase_if(words, is_blank);
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == ".reg" && words[i + 1].front() == '.')
      add_registers(words, i + 2, names.registers[std::string(words[i + 1].substr(1))]);
    else if (word == ".func" && is_name(words[i + 1].front()))
      names.functions.emplace_back(words[i + 1]);
    else if (words[i + 1] == ":" && is_name(word.front()))
      names.labels.emplace_back(word);
    else if ((word == ".shared" || word == ".global" || word == ".const" || word == ".local" || word == ".param"))
      for (std::size_t j = i + 1; j < std::min(i + 6, words.size()); ++j)
        if (words[j].front() != '.' && is_name(words[j].front()) &&
            std::isdigit(static_cast<unsigned char>(words[j].front())) == 0) {
          names.variables.emplace_back(words[j]);
          break;
        }
  }
  return names;
}

void mutate_ptx(std::string& input, const Mutation& how) {
  Random& random = how.random;
  if (input.empty() || random.one_in(100)) {
    input = random_module(random, 1 + random.below(40));
    return;
  }
  switch (random.below(16)) {
  case 0: return mutate_text(input, how);
  case 1:
  case 2: return change_statement(input, how);
  case 3:
  case 4: return change_register(input, how);
  case 5:
  case 6:
  case 7: return change_modifiers(input, how);
  case 8:
  case 9: return change_number(input, how);
  default: {
    const std::vector<std::size_t> places = places_in(input);
    if (places.empty()) return mutate_text(input, how);
    input.insert(random.any(places), "\n  " + random_statement(random, names_in(input)));
  }
  }
}

std::vector<std::string> ptx_dictionary() {
  std::set<std::string> words;
  for (const isa::Entry& e : isa::table()) {
    words.insert(std::string(e.opcode));
    for (int g = 0; g < e.pattern.count; ++g)
      for (int i = 0; i < e.pattern.groups[g].count; ++i)
        words.insert("." + std::string(isa::text_of(e.pattern.groups[g].options[i])));
  }
  for (const isa::SpecialRegisterInfo& r : isa::kSpecialRegisters)
    words.insert(std::string(r.name) + (r.components > 1 ? ".x" : ""));
  for (const char* directive : {".version 9.0\n",
                                ".target sm_100a\n",
                                ".address_size 64\n",
                                ".entry k2()",
                                ".func f()",
                                ".param .u64 a",
                                ".reg .b32 x;",
                                ".shared .align 16 .b8 s[64];",
                                ".extern .shared .b8 e[];",
                                ".global .u32 g = 5;",
                                ".const .f32 c[2] = {1.5, 2};",
                                ".local .b8 l[16];",
                                ".tex .u64 t;",
                                ".branchtargets L0;",
                                ".calltargets f;",
                                ".callprototype _ (.param .b32 _);",
                                ".alias f, g;",
                                ".loc 1 2 3",
                                ".file 1 \"a.cu\"",
                                ".pragma \"nounroll\";",
                                ".maxntid 32",
                                ".reqntid 64",
                                ".minnctapersm 2",
                                ".maxnreg 20",
                                ".reqnctapercluster 2",
                                ".noreturn",
                                ".weak ",
                                ".common ",
                                ".visible ",
                                ".extern ",
                                ".section .debug_x {",
                                "}",
                                "{",
                                "L0:",
                                "WARP_SZ",
                                "generic(g)",
                                "_",
                                "|"})
    words.insert(directive);
  return {words.begin(), words.end()};
}

} // namespace warplens::fuzz
