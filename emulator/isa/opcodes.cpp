// SPDX-License-Identifier: Apache-2.0
#include "emulator/isa/opcodes.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace warplens::isa {

namespace {

// To an assembler, mul.lo is another opcode than mul.
constexpr std::string_view kOpcodes[] = {
    "bar.arrive",
    "bar.cta",
    "bar.cta.arrive",
    "bar.cta.red",
    "bar.red",
    "bar.warp",
    "barrier.arrive",
    "barrier.cluster.arrive",
    "barrier.cluster.wait",
    "barrier.cta",
    "barrier.cta.arrive",
    "barrier.cta.red",
    "barrier.red",
    "brx.idx",
    "clusterlaunchcontrol.query_cancel",
    "clusterlaunchcontrol.try_cancel.async",
    "cp.async",
    "cp.async.bulk",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.prefetch",
    "cp.async.bulk.prefetch.tensor",
    "cp.async.bulk.tensor",
    "cp.async.bulk.wait_group",
    "cp.async.commit_group",
    "cp.async.mbarrier.arrive",
    "cp.async.wait_all",
    "cp.async.wait_group",
    "cp.reduce.async.bulk",
    "cp.reduce.async.bulk.tensor",
    "createpolicy.cvt",
    "createpolicy.fractional",
    "createpolicy.range",
    "cvt.pack",
    "cvta.to",
    "div.full",
    "dp2a.hi",
    "dp2a.lo",
    "fence.proxy",
    "mad.hi",
    "mad.lo",
    "mad.wide",
    "mad24.hi",
    "mad24.lo",
    "madc.hi",
    "madc.lo",
    "mbarrier.arrive",
    "mbarrier.arrive.expect_tx",
    "mbarrier.arrive_drop",
    "mbarrier.arrive_drop.expect_tx",
    "mbarrier.complete_tx",
    "mbarrier.expect_tx",
    "mbarrier.init",
    "mbarrier.inval",
    "mbarrier.pending_count",
    "mbarrier.test_wait",
    "mbarrier.test_wait.parity",
    "mbarrier.try_wait",
    "mbarrier.try_wait.parity",
    "membar.proxy",
    "mul.hi",
    "mul.lo",
    "mul.wide",
    "mul24.hi",
    "mul24.lo",
    "multimem.ld_reduce",
    "multimem.red",
    "multimem.st",
    "pmevent.mask",
    "red.async",
    "setmaxnreg.dec",
    "setmaxnreg.inc",
    "shf.l",
    "shf.r",
    "st.async",
    "st.bulk",
    "suld.b",
    "sured.b",
    "sured.p",
    "sust.b",
    "sust.p",
    "tcgen05.alloc",
    "tcgen05.commit",
    "tcgen05.cp",
    "tcgen05.dealloc",
    "tcgen05.fence::after_thread_sync",
    "tcgen05.fence::before_thread_sync",
    "tcgen05.ld",
    "tcgen05.mma",
    "tcgen05.mma.ws",
    "tcgen05.relinquish_alloc_permit",
    "tcgen05.shift",
    "tcgen05.st",
    "tcgen05.wait::ld",
    "tcgen05.wait::st",
    "tensormap.cp_fenceproxy",
    "tensormap.replace",
    "tex.base",
    "tex.grad",
    "tex.level",
    "wgmma.commit_group",
    "wgmma.fence",
    "wgmma.mma_async",
    "wgmma.wait_group",
    "wmma.load.a",
    "wmma.load.b",
    "wmma.load.c",
    "wmma.mma",
    "wmma.store.d",
};

// The words of such an opcode.
struct Compound {
  std::string_view opcode;
  std::array<Word, 4> words{};
  std::size_t count = 0;
};

constexpr Compound compound(std::string_view text) {
  std::size_t dot = text.find('.');
  Compound result{text.substr(0, dot), {}, 0};
  while (dot != std::string_view::npos) {
    const std::size_t next = text.find('.', dot + 1);
    result.words[result.count++] =
        word_named(text.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1));
    dot = next;
  }
  return result;
}

constexpr auto kCompounds = [] {
  std::array<Compound, std::size(kOpcodes)> all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = compound(kOpcodes[i]);
  return all;
}();
static_assert(std::ranges::is_sorted(kCompounds, {}, &Compound::opcode));

// A few words, by name.
struct WordList {
  std::array<Word, 12> words{};
  std::size_t count = 0;
  constexpr WordList(const char* list) {
    std::string_view text(list);
    while (!text.empty()) {
      const std::size_t blank = std::min(text.find(' '), text.size());
      words[count++] = word_named(text.substr(0, blank));
      text.remove_prefix(std::min(blank + 1, text.size()));
    }
  }
  constexpr std::span<const Word> all() const { return {words.data(), count}; }
  constexpr bool has(Word word) const { return std::ranges::find(all(), word) != all().end(); }
};

// Types that assemblers keep in a list of their own.
constexpr WordList kNarrow = "b1 b2 bf16 bf16x2 s2 s4 tf32 u2 u4";

/// What one word of a group sets once, or as often as `most`. Where an opcode does not read it, it is ignored.
struct Slot {
  WordList words;
  std::size_t most;
  std::string_view opcodes; ///< with these only; empty: with all that have no use for any of the words
};
constexpr std::size_t kAny = 1000;
constexpr Slot kSlots[] = {
    {"finite infinite number notanumber normal subnormal", 1, ""},
    {"acc::f16 acc::f32", 1, ""},
    {"b8x16 b6x16_p32 b4x16_p64", 2, ""},
    {"rank box_dim global_dim global_stride element_stride elemtype interleave_layout swizzle_mode swizzle_atomicity "
     "fill_mode global_address",
     1, ""},
    {"row col", 2, "ldmatrix stmatrix movmatrix wgmma.mma_async tcgen05.ld tcgen05.st tcgen05.cp"},
    {"uni", kAny, "tex tex.base tex.grad tex.level tld4"},
    // Types that stand for none in the signatures of an opcode.
    {"pred", kAny,
     "abs add atom cos cp.reduce.async.bulk cvt cvt.pack ex2 fma lg2 max min mul multimem.ld_reduce multimem.red "
     "multimem.st "
     "neg "
     "rcp red rsqrt set setp sin sqrt sub tanh wgmma.mma_async wmma.mma"},
    {kNarrow, kAny, "movmatrix"},
};
constexpr Word kNoType = Word::w_b2; ///< with all other opcodes

/// An opcode that does not read the types of a list that follow all others, unless it has one of some words before
/// them; with sparse matrices, also of others.
struct UnreadTail {
  std::string_view opcode;
  WordList types, unless, unless_sparse;
};
constexpr UnreadTail kUnreadTails[] = {{"mma", kNarrow, "bf16 tf32 b1", "s32"}};

// Said twice, these mean the same as once; other words may not be repeated.
constexpr WordList kRepeatable = "NaN approx cc relu sat satfinite shiftamt sync uni";

bool contains(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t blank = std::min(list.find(' '), list.size());
    if (list.substr(0, blank) == word) return true;
    list.remove_prefix(std::min(blank + 1, list.size()));
  }
  return false;
}

std::string joined(std::string_view opcode, std::span<const Word> words) {
  std::string text(opcode);
  for (const Word word : words) text.append(".").append(text_of(word));
  return text;
}

bool has_signatures(std::string_view opcode) {
  return opcode == "mma" || std::any_of(std::begin(kSlots), std::end(kSlots), [&](const Slot& slot) {
           return contains(slot.opcodes, opcode) && (slot.words.has(word_of(Type::pred)) || slot.words.has(kNoType));
         });
}

/// How many of the words are read.
std::size_t words_read(std::string_view opcode, std::span<const Word> words) {
  const auto* const tail = std::ranges::find(kUnreadTails, opcode, &UnreadTail::opcode);
  if (tail == std::end(kUnreadTails)) return words.size();
  const bool sparse =
      std::ranges::any_of(words, [](Word word) { return word == Word::w_sp || word == Word::w_sp_ordered; });
  std::size_t read = words.size();
  while (read > 0 && tail->types.has(words[read - 1])) --read;
  const bool matters = std::ranges::any_of(words.first(read), [&](Word word) {
    return tail->unless.has(word) || (sparse && tail->unless_sparse.has(word));
  });
  return matters ? words.size() : read;
}

/// The slot that a word sets, if the opcode does not read it.
const Slot* unread_slot(std::string_view opcode, Word word, const std::function<bool(Word)>& reads) {
  for (const Slot& slot : kSlots) {
    if (!slot.words.has(word)) continue;
    const auto all = slot.words.all();
    if (slot.opcodes.empty() ? std::none_of(all.begin(), all.end(), reads) : contains(slot.opcodes, opcode))
      return &slot;
  }
  return nullptr;
}

} // namespace

bool is_any_type(Word word) {
  constexpr Word kOfFewBits[] = {Word::w_b1,   Word::w_b2,   Word::w_u2,   Word::w_u4,    Word::w_s2,   Word::w_s4,
                                 Word::w_e2m1, Word::w_e2m3, Word::w_e3m2, Word::w_ue8m0, Word::w_ue4m3};
  return is_type(word) || std::find(std::begin(kOfFewBits), std::end(kOfFewBits), word) != std::end(kOfFewBits);
}

std::size_t words_of_opcode(std::string_view opcode, std::span<const Word> words) {
  std::size_t longest = 0;
  for (auto c = std::ranges::lower_bound(kCompounds, opcode, {}, &Compound::opcode);
       c != kCompounds.end() && c->opcode == opcode; ++c)
    if (c->count > longest && words.size() >= c->count &&
        std::equal(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(c->count), c->words.begin()))
      longest = c->count;
  return longest;
}

std::vector<Word> without_ignored(std::string_view opcode, std::span<const Word> words,
                                  const std::function<bool(Word)>& reads) {
  const std::size_t head = words_of_opcode(opcode, words);
  const std::string whole = joined(opcode, words.first(head));
  const bool no_type = !has_signatures(whole);
  words = words.first(words_read(whole, words));
  std::vector<Word> kept(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(head));
  std::size_t set[std::size(kSlots)] = {};
  for (const Word word : words.subspan(head)) {
    const bool repeated = std::find(kept.begin(), kept.end(), word) != kept.end();
    if (repeated && kRepeatable.has(word)) continue;
    if (no_type && word == kNoType) continue;
    const Slot* slot = unread_slot(whole, word, reads);
    if (slot == nullptr || ++set[slot - kSlots] > slot->most) kept.push_back(word);
  }
  if (words_of_opcode(opcode, kept) != head) return {words.begin(), words.end()};
  return kept;
}

} // namespace warplens::isa
