// SPDX-License-Identifier: Apache-2.0
#include "emulator/isa/combinations.hpp"

namespace warplens::isa {

namespace {

// Kinds of words; a word may be of several.
enum Kind : unsigned {
  kOther = 0,
  kCache = 1,         // .ca
  kPriority = 2,      // .L1::evict_first
  kPrefetch = 4,      // .L2::64B
  kPolicy = 8,        // .L2::cache_hint
  kVolatile = 16,     // .volatile
  kStrong = 32,       // .relaxed
  kMmio = 64,         // .mmio
  kShared = 128,      // .shared::cta
  kPrivate = 256,     // .local, .const, .param: no other thread writes there
  kVector = 512,      // .v4
  kCompareSwap = 1024 // .cas
};

unsigned kind_of(Word word) {
  switch (space_of(word)) {
  case Space::shared: return kShared;
  case Space::local:
  case Space::constant:
  case Space::param: return kPrivate;
  default: break;
  }
  switch (word) {
  case Word::w_ca:
  case Word::w_cg:
  case Word::w_cs:
  case Word::w_lu:
  case Word::w_cv:
  case Word::w_wb:
  case Word::w_wt: return kCache;
  case Word::w_l1_evict_normal:
  case Word::w_l1_evict_unchanged:
  case Word::w_l1_evict_first:
  case Word::w_l1_evict_last:
  case Word::w_l1_no_allocate: return kPriority;
  case Word::w_l2_64:
  case Word::w_l2_128:
  case Word::w_l2_256: return kPrefetch;
  case Word::w_l2_cache_hint: return kPolicy;
  case Word::w_volatile_: return kVolatile;
  case Word::w_relaxed:
  case Word::w_acquire:
  case Word::w_release: return kStrong;
  case Word::w_mmio: return kMmio;
  case Word::w_v2:
  case Word::w_v4:
  case Word::w_v8: return kVector;
  case Word::w_cas: return kCompareSwap;
  default: return kOther;
  }
}

struct Exclusion {
  unsigned one, others;
};
constexpr Exclusion kExclusions[] = {
    {kCache, kPriority | kVolatile | kStrong | kMmio},
    {kPriority, kVolatile | kMmio | kShared | kPrivate},
    {kPrefetch, kMmio | kShared | kPrivate},
    {kPolicy, kVolatile | kMmio | kShared | kPrivate | kCompareSwap},
    {kVolatile | kStrong, kPrivate},
    {kMmio, kShared | kPrivate | kVector},
};

} // namespace

std::optional<std::pair<Word, Word>> conflict(std::string_view opcode, const Form& form) {
  if (opcode != "ld" && opcode != "st" && opcode != "atom" && opcode != "red") return std::nullopt;
  if (form.has(Word::w_async)) return std::nullopt;
  for (int i = 0; i < form.count; ++i)
    for (const Exclusion& exclusion : kExclusions) {
      if ((kind_of(form.words[i]) & exclusion.one) == 0) continue;
      for (int j = 0; j < form.count; ++j)
        if ((kind_of(form.words[j]) & exclusion.others) != 0) return std::pair(form.words[i], form.words[j]);
    }
  return std::nullopt;
}

} // namespace warplens::isa
