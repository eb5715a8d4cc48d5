// SPDX-License-Identifier: Apache-2.0
#include "emulator/isa/combinations.hpp"

namespace warplens::isa {

namespace {

// In a namespace of their own: the names are short.
namespace memory_words {

// Kinds of words; a word may be of several.
enum Kind : unsigned {
  other = 0,
  cache = 1,          // .ca
  priority = 2,       // .L1::evict_first
  prefetch = 4,       // .L2::64B
  policy = 8,         // .L2::cache_hint
  is_volatile = 16,   // .volatile
  strong = 32,        // .relaxed
  is_mmio = 64,       // .mmio
  shared = 128,       // .shared::cta
  unwritten = 256,    // .local, .const, .param: no other thread writes there
  vector = 512,       // .v4
  compare_swap = 1024 // .cas
};

struct WordKind {
  Word word;
  Kind kind;
};
constexpr WordKind kKinds[] = {
#define MEMORY(id, kind) {Word::w_##id, kind},
#include "emulator/isa/words.def"
};

unsigned kind_of(Word word) {
  switch (space_of(word)) {
  case Space::shared: return shared;
  case Space::local:
  case Space::constant:
  case Space::param: return unwritten;
  default: break;
  }
  for (const WordKind& named : kKinds)
    if (named.word == word) return named.kind;
  return other;
}

struct Exclusion {
  unsigned one, others;
};
constexpr Exclusion kExclusions[] = {
    {cache, priority | is_volatile | strong | is_mmio},
    {priority, is_volatile | is_mmio | shared | unwritten},
    {prefetch, is_mmio | shared | unwritten},
    {policy, is_volatile | is_mmio | shared | unwritten | compare_swap},
    {is_volatile | strong, unwritten},
    {is_mmio, shared | unwritten | vector},
};

} // namespace memory_words

} // namespace

std::optional<std::pair<Word, Word>> conflict(std::string_view opcode, const Form& form) {
  if (opcode != "ld" && opcode != "st" && opcode != "atom" && opcode != "red") return std::nullopt;
  if (form.has(Word::w_async)) return std::nullopt;
  for (int i = 0; i < form.count; ++i)
    for (const memory_words::Exclusion& exclusion : memory_words::kExclusions) {
      if ((memory_words::kind_of(form.words[i]) & exclusion.one) == 0) continue;
      for (int j = 0; j < form.count; ++j)
        if ((memory_words::kind_of(form.words[j]) & exclusion.others) != 0)
          return std::pair(form.words[i], form.words[j]);
    }
  return std::nullopt;
}

} // namespace warplens::isa
