// SPDX-License-Identifier: Apache-2.0
// The notation of the instruction table. A pattern says which words may follow an opcode:
//
//   ".{rn,rz}[.ftz].f32"   add.rn.f32, add.rn.ftz.f32, add.rz.f32, add.rz.ftz.f32
//   "[.{and,or,xor}~].u32" the decoder handles a word group marked ~: the lane functor never sees it
//
// expand() lists at compile time every spelling that a functor has to serve, so that a handler for each can be made;
// match() finds at run time which of them an instruction is.
#pragma once

#include "emulator/isa/types.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace warplens::isa {

/// A word after the opcode: none, then the types in the order of Type, then words.def.
enum class Word : std::uint16_t {
  none = 0,
  first_other = kTypeCount - 1,
#define WORD(id, text) w_##id,
#include "emulator/isa/words.def"
};

/// A hash of a text: the table is read at compile time, when comparing texts is slow.
constexpr std::uint32_t rough(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::size_t n = text.size();
  return n == 0 ? 0 : static_cast<std::uint32_t>(n) | at(0) << 8 | at(n / 2) << 16 | at(n - 1) << 24;
}

struct WordText {
  Word word;
  std::string_view text;
  std::uint32_t rough;
};
constexpr WordText kWords[] = {
#define WORD(id, text) {Word::w_##id, text, rough(text)},
#include "emulator/isa/words.def"
};

/// The first PTX version (times ten) and target with a word, in any instruction.
struct Since {
  int ptx = 10;
  int sm = 10;
};
struct WordSince {
  Word word;
  Since since;
};
constexpr WordSince kSince[] = {
#define SINCE(id, ptx, sm) {Word::w_##id, {ptx, sm}},
#include "emulator/isa/words.def"
};
constexpr Since since(Word word) {
  for (const WordSince& w : kSince)
    if (w.word == word) return w.since;
  return {};
}

constexpr Word word_of(Type type) { return static_cast<Word>(type); }
constexpr bool is_type(Word word) { return word != Word::none && static_cast<int>(word) < kTypeCount; }
constexpr Type type_of(Word word) { return is_type(word) ? static_cast<Type>(word) : Type::none; }

/// The words in chains, each with one hash.
struct WordChains {
  static constexpr std::size_t kChains = 256;
  std::array<std::uint16_t, kChains> first{};               ///< 1 + index in kWords; 0: none
  std::array<std::uint16_t, std::size(kWords)> following{}; ///< likewise
  static constexpr std::size_t chain(std::uint32_t rough) { return rough * 2654435761u >> 24; }
  constexpr WordChains() {
    for (std::size_t i = 0; i < std::size(kWords); ++i) {
      std::uint16_t& head = first[chain(kWords[i].rough)];
      following[i] = head;
      head = static_cast<std::uint16_t>(i + 1);
    }
  }
};
constexpr WordChains kWordChains;

constexpr Word word_named(std::string_view text) {
  const std::uint32_t like = rough(text);
  for (unsigned i = kWordChains.first[WordChains::chain(like)]; i != 0; i = kWordChains.following[i - 1])
    if (kWords[i - 1].rough == like && kWords[i - 1].text == text) return kWords[i - 1].word;
  if (const auto type = type_named(text)) return word_of(*type);
  return Word::none;
}

constexpr std::string_view text_of(Word word) {
  if (is_type(word)) return name(type_of(word));
  for (const WordText& w : kWords)
    if (w.word == word) return w.text;
  return "";
}

/// The state space that a word names; `none`: it names no space.
constexpr Space space_of(Word word) {
  switch (word) {
  case Word::w_const_: return Space::constant;
  case Word::w_global: return Space::global;
  case Word::w_local: return Space::local;
  case Word::w_param:
  case Word::w_param_entry:
  case Word::w_param_func: return Space::param;
  case Word::w_shared:
  case Word::w_shared_cta:
  case Word::w_shared_cluster: return Space::shared;
  default: return Space::none;
  }
}

constexpr int kMaxWords = 14;

/// A spelling: the words after the opcode, in order. Structural, so that functors take it as template argument.
struct Form {
  std::array<Word, kMaxWords> words{};
  int count = 0;

  constexpr bool has(Word word) const {
    for (int i = 0; i < count; ++i)
      if (words[i] == word) return true;
    return false;
  }
  /// The n-th type word, counted from 0; Type::none where there are fewer.
  constexpr Type type(int n = 0) const {
    for (int i = 0; i < count; ++i)
      if (is_type(words[i]) && n-- == 0) return type_of(words[i]);
    return Type::none;
  }
  /// The first state space among the words; `generic` if there is none.
  constexpr Space space() const {
    for (int i = 0; i < count; ++i)
      if (const Space space = space_of(words[i]); space != Space::none) return space;
    return Space::generic;
  }
  constexpr int type_count() const {
    int n = 0;
    for (int i = 0; i < count; ++i) n += is_type(words[i]) ? 1 : 0;
    return n;
  }
  constexpr void add(Word word) { words[count++] = word; }
  template <class... W> constexpr Form without(W... removed) const {
    Form form;
    for (int i = 0; i < count; ++i)
      if (((words[i] != removed) && ...)) form.add(words[i]);
    return form;
  }
  /// With an untyped type of the same width in place of the n-th one, where there is one.
  constexpr Form as_bits(int n = 0) const {
    Form form = *this;
    for (int i = 0; i < count; ++i)
      if (is_type(words[i]) && n-- == 0) form.words[i] = word_of(untyped(type_of(words[i])));
    return form;
  }
  friend constexpr bool operator==(const Form&, const Form&) = default;
};

constexpr int kMaxOptions = 32;

/// One group of a pattern: a choice of words, perhaps optional, perhaps invisible to the functor.
struct Group {
  std::array<Word, kMaxOptions> options{};
  int count = 0;
  bool optional = false;
  bool decoded = false; ///< marked ~
  /// How many spellings of this group the functor sees.
  constexpr int choices() const { return decoded ? 1 : count + (optional ? 1 : 0); }
};

struct Pattern {
  std::array<Group, kMaxWords> groups{};
  int count = 0;
  bool valid = true; ///< false where the notation is wrong or names an unknown word

  /// How many spellings a functor has to serve.
  constexpr int variants() const {
    int n = 1;
    for (int i = 0; i < count; ++i) n *= groups[i].choices();
    return n;
  }

  /// The functor's form of the given variant, 0 <= variant < variants().
  constexpr Form expand(int variant) const {
    Form form;
    for (int i = 0; i < count; ++i) {
      const Group& g = groups[i];
      const int choice = variant % g.choices();
      variant /= g.choices();
      if (g.decoded) continue;
      if (g.optional && choice == 0) continue;
      form.add(g.options[choice - (g.optional ? 1 : 0)]);
    }
    return form;
  }
};

/// Reads the notation. Usable at compile time: a table line with a typing error does not build.
constexpr Pattern parse_pattern(std::string_view text) {
  Pattern pattern;
  std::size_t i = 0;
  const auto fail = [&] {
    pattern.valid = false;
    return pattern;
  };
  while (i < text.size()) {
    if (pattern.count == kMaxWords) return fail();
    Group& group = pattern.groups[pattern.count++];
    group.optional = text[i] == '[';
    if (group.optional) ++i;
    if (i >= text.size() || text[i] != '.') return fail();
    ++i;
    const bool braces = i < text.size() && text[i] == '{';
    if (braces) ++i;
    for (;;) {
      const std::size_t start = i;
      while (i < text.size() && text[i] != ',' && text[i] != '}' && text[i] != ']' && text[i] != '.' &&
             text[i] != '[' && text[i] != '~')
        ++i;
      const Word word = word_named(text.substr(start, i - start));
      if (word == Word::none || group.count == kMaxOptions) return fail();
      group.options[group.count++] = word;
      if (!braces || i >= text.size() || text[i] != ',') break;
      ++i;
    }
    if (braces && (i >= text.size() || text[i++] != '}')) return fail();
    if (i < text.size() && text[i] == '~') {
      group.decoded = true;
      ++i;
    }
    if (group.optional && (i >= text.size() || text[i++] != ']')) return fail();
  }
  return pattern;
}

struct Match {
  bool matched = false;
  int variant = 0;
};

/// Whether the words spell the pattern, in order, and which variant the functor's form is.
constexpr Match match(const Pattern& pattern, std::span<const Word> words, int group = 0) {
  if (group == pattern.count) return {words.empty(), 0};
  const Group& g = pattern.groups[group];
  const auto with = [&](Match rest, int choice) {
    return Match{rest.matched, (g.decoded ? 0 : choice) + g.choices() * rest.variant};
  };
  if (!words.empty())
    for (int i = 0; i < g.count; ++i)
      if (g.options[i] == words[0]) {
        const Match rest = match(pattern, words.subspan(1), group + 1);
        if (rest.matched) return with(rest, i + (g.optional ? 1 : 0));
      }
  if (g.optional) return with(match(pattern, words, group + 1), 0);
  return {};
}

} // namespace warplens::isa
