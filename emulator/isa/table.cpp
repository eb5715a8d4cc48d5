// SPDX-License-Identifier: Apache-2.0
#include "emulator/isa/table.hpp"

#include "emulator/isa/combinations.hpp"
#include "emulator/isa/opcodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

namespace warplens::isa {

namespace {

// The name of a file of the table: its path without folders and extension.
constexpr std::string_view stem(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  return path.substr(0, path.find('.'));
}

// What has no pointers is apart from the entries: the dynamic linker adapts pointers to the place of the program in
// memory, and these are most of the table.
#define INSTRUCTION(opcode, pattern, operands, ...) parse_pattern(pattern),
#define LEGACY INSTRUCTION
#define RETIRED INSTRUCTION
#define FAMILY INSTRUCTION
#define UNSYNCHRONIZED INSTRUCTION
constexpr Pattern kPatterns[] = {
#include "emulator/isa/instructions.def"
};
#undef INSTRUCTION
#define INSTRUCTION(opcode, pattern, operands, ...) parse_operands(operands),
constexpr OperandList kOperandLists[] = {
#include "emulator/isa/instructions.def"
};
#undef INSTRUCTION
#undef LEGACY
#undef RETIRED
#undef FAMILY
#undef UNSYNCHRONIZED

// `lane` instructions; the functor's name is kept for `warplens list instructions`.
#define LINE(opcode, pattern, operands, semantics, family, kind, ptx, sm, ...)                                         \
  {opcode,                                                                                                             \
   pattern,                                                                                                            \
   semantics,                                                                                                          \
   kPatterns[(__COUNTER__ - kFirst - 1) / 2],                                                                          \
   kOperandLists[(__COUNTER__ - kFirst - 1) / 2],                                                                      \
   Family::family,                                                                                                     \
   InstructionClass::kind,                                                                                             \
   ptx,                                                                                                                \
   sm,                                                                                                                 \
   stem(__FILE__) __VA_OPT__(, ) __VA_ARGS__},
#define INSTRUCTION(opcode, pattern, operands, functor, kind, ptx, sm)                                                 \
  LINE(opcode, pattern, operands, #functor, lane, kind, ptx, sm)
#define LEGACY(opcode, pattern, operands, functor, kind, ptx, sm)                                                      \
  LINE(opcode, pattern, operands, #functor, lane, kind, ptx, sm, true)
#define RETIRED(opcode, pattern, operands, functor, kind, ptx, sm, last)                                               \
  LINE(opcode, pattern, operands, #functor, lane, kind, ptx, sm, false, last)
#define FAMILY(opcode, pattern, operands, family, kind, ptx, sm)                                                       \
  LINE(opcode, pattern, operands, "", family, kind, ptx, sm)
#define UNSYNCHRONIZED(opcode, pattern, operands, family, kind, ptx, sm)                                               \
  LINE(opcode, pattern, operands, "", family, kind, ptx, sm, false, 63, 70)
constexpr std::size_t kFirst = __COUNTER__; // of the numbers that the lines get
constexpr Entry kTable[] = {
#include "emulator/isa/instructions.def"
};
#undef LINE
#undef INSTRUCTION
#undef LEGACY
#undef RETIRED
#undef FAMILY
#undef UNSYNCHRONIZED

// Each process adapts the pointers of all entries when it starts, and copies their pages for this.
static_assert(sizeof(Entry) <= 128, "put what has no pointers beside the entry, as patterns are");

consteval bool well_formed() {
  for (const Entry& e : kTable)
    if (!e.pattern.valid || !e.operands.valid) return false;
  return true;
}
static_assert(well_formed(),
              "a line of the instruction table does not follow the notation of pattern.hpp and operands.hpp");

// The indices of the table, sorted by opcode; those of one opcode are in table order. It is sorted by the compiler,
// because every process that reads PTX would have to do it.
constexpr auto kByOpcode = [] {
  std::array<std::uint16_t, std::size(kTable)> indices{};
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::uint16_t>(i);
  std::ranges::sort(indices, [](std::uint16_t a, std::uint16_t b) {
    const int order = kTable[a].opcode.compare(kTable[b].opcode);
    return order != 0 ? order < 0 : a < b;
  });
  return indices;
}();

std::span<const std::uint16_t> entries_of(std::string_view opcode) {
  return std::ranges::equal_range(kByOpcode, opcode, {}, [](std::uint16_t index) { return kTable[index].opcode; });
}

const std::unordered_map<std::string_view, Word>& by_text() {
  static const auto index = [] {
    std::unordered_map<std::string_view, Word> map;
    for (int i = 1; i < kTypeCount; ++i) map.emplace(kTypes[i].name, static_cast<Word>(i));
    for (const WordText& w : kWords) map.emplace(w.text, w.word);
    return map;
  }();
  return index;
}

// The number of leading words that some spelling of the entry accepts: finds the first one that does not fit.
int accepted_words(const Pattern& pattern, std::span<const Word> words, int group = 0) {
  int best = 0;
  for (int g = group; g < pattern.count; ++g) {
    const Group& options = pattern.groups[g];
    for (int i = 0; i < options.count && !words.empty(); ++i)
      if (options.options[i] == words[0]) best = std::max(best, 1 + accepted_words(pattern, words.subspan(1), g + 1));
    if (!options.optional) break;
  }
  return best;
}

std::string wanted_words(const Pattern& pattern, std::span<const Word> words) {
  // Walk greedily to the group that failed and list its options.
  std::size_t used = 0;
  for (int g = 0; g < pattern.count; ++g) {
    const Group& group = pattern.groups[g];
    bool found = false;
    for (int i = 0; i < group.count && used < words.size(); ++i) found = found || group.options[i] == words[used];
    if (found)
      ++used;
    else if (!group.optional) {
      std::string list;
      for (int i = 0; i < group.count; ++i) list += fmt::format("{}.{}", i == 0 ? "" : ", ", text_of(group.options[i]));
      return list;
    }
  }
  return {};
}

Diagnostics misfit(std::string_view spelling, std::span<const std::uint16_t> entries, std::span<const Word> words,
                   std::string_view unknown_word) {
  Diagnostics d;
  int best = -1;
  const Entry* nearest = nullptr;
  for (const std::uint16_t e : entries)
    if (const int n = accepted_words(kTable[e].pattern, words); n > best) best = n, nearest = &kTable[e];
  if (!unknown_word.empty())
    d.error({}, fmt::format("'.{}' is not a modifier of '{}'", unknown_word, nearest->opcode),
            fmt::format("a supported form is: {}{}", nearest->opcode, nearest->pattern_text));
  else if (best < static_cast<int>(words.size()))
    d.error({}, fmt::format("'.{}' does not fit in '{}'", text_of(words[best]), spelling),
            fmt::format("a supported form is: {}{}", nearest->opcode, nearest->pattern_text));
  else
    d.error({}, fmt::format("'{}' lacks a modifier", spelling),
            fmt::format("expected one of: {}", wanted_words(nearest->pattern, words)));
  return d;
}

// Targets from here on have subnormal numbers in single precision and every rounding (manual 9.7.3).
constexpr int kFullFloatTarget = 20;

// On older targets, single precision flushes subnormals even without .ftz: adds .ftz.
void flush(Spelling& spelling) {
  const std::span<const Word> words(spelling.form.words.data(), spelling.form.count);
  for (std::size_t at = 0; at < words.size() && words.size() < kMaxWords; ++at) {
    Form with;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (i == at) with.add(Word::w_ftz);
      with.add(words[i]);
    }
    const Match found = match(spelling.entry->pattern, {with.words.data(), static_cast<std::size_t>(with.count)});
    if (!found.matched) continue;
    spelling.form = with;
    spelling.variant = found.variant;
    return;
  }
}

// Up to PTX 2.1 constant memory had eleven banks, as in ld.const[2].f32. Every variable has one address here, whichever
// bank it is in.
constexpr int kLastBanks = 21;

bool is_bank(std::string_view text) {
  if (!text.starts_with("const[") || !text.ends_with("]")) return false;
  const std::string_view number = text.substr(6, text.size() - 7);
  return number == "10" || (number.size() == 1 && number[0] >= '0' && number[0] <= '9');
}

// Words of the same kind keep their order; `none`: all others.
enum class Order : std::uint8_t { none, type, space, priority, layout, format, operation, count };
struct OrderedWord {
  Word word;
  Order kind;
};
constexpr OrderedWord kOrdered[] = {
#define ORDERED(id, kind) {Word::w_##id, Order::kind},
#include "emulator/isa/words.def"
};

Order order_of(Word word) {
  if (is_any_type(word)) return Order::type;
  if (space_of(word) != Space::none) return Order::space;
  for (const OrderedWord& ordered : kOrdered)
    if (ordered.word == word) return ordered.kind;
  return Order::none;
}

// Puts the words into the order of the pattern, but for the first ones, which must be there already.
bool place(const Pattern& pattern, int group, int first, std::vector<Word> rest, Form& form) {
  if (group == pattern.count) return rest.empty();
  const Group& g = pattern.groups[group];
  const int count = form.count;
  std::array<bool, static_cast<std::size_t>(Order::count)> passed{};
  const std::size_t candidates = count < first ? std::min<std::size_t>(1, rest.size()) : rest.size();
  for (std::size_t i = 0; i < candidates; ++i) {
    const Order order = order_of(rest[i]);
    if (order != Order::none && std::exchange(passed[static_cast<std::size_t>(order)], true)) continue;
    if (std::find(g.options.begin(), g.options.begin() + g.count, rest[i]) == g.options.begin() + g.count) continue;
    std::vector<Word> others = rest;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    form.add(rest[i]);
    if (place(pattern, group + 1, first, std::move(others), form)) return true;
    form.count = count;
  }
  return g.optional && place(pattern, group + 1, first, std::move(rest), form);
}

std::span<const Word> words_of(const Form& form) { return {form.words.data(), static_cast<std::size_t>(form.count)}; }

// The manual gives an order of words, but assemblers accept any order (setp.ftz.gt.f32, atom.add.gpu.u32), as long as
// words of the same kind keep their order, and those of the opcode come first. Sorts the words into the order of the
// pattern.
bool arrange(const Entry& entry, std::span<const Word> words, std::size_t head, Form& form) {
  form = {};
  return place(entry.pattern, 0, static_cast<int>(head), {words.begin(), words.end()}, form) &&
         words_of_opcode(entry.opcode, words_of(form)) == head;
}

bool has(const Group& group, Word word) {
  const auto end = group.options.begin() + group.count;
  return std::find(group.options.begin(), end, word) != end;
}

// Whether a spelling of the entry begins with the first words and has the other one.
bool reads(const Entry& entry, std::span<const Word> first, Word word) {
  const auto groups = std::span(entry.pattern.groups.data(), static_cast<std::size_t>(entry.pattern.count));
  if (groups.size() < first.size()) return false;
  for (std::size_t i = 0; i < first.size(); ++i)
    if (!has(groups[i], first[i])) return false;
  return std::any_of(groups.begin(), groups.end(), [&](const Group& group) { return has(group, word); });
}

// The class of a load or store depends on its state space; for a copy, on the first of the two.
InstructionClass class_of(const Entry& entry, const Form& form) {
  if (entry.instruction_class != InstructionClass::generic) return entry.instruction_class;
  switch (form.space()) {
  case Space::global: return InstructionClass::global;
  case Space::shared: return InstructionClass::shared;
  case Space::local: return InstructionClass::local;
  case Space::constant: return InstructionClass::constant;
  case Space::param: return InstructionClass::param;
  default: return InstructionClass::generic;
  }
}

// The requirements of a spelling: those of its line of the table, and of each of its words.
Since needed_by(const Entry& entry, std::span<const Word> words) {
  Since needed{entry.ptx, entry.targets.least};
  if (entry.opcode == "membar") return needed; // its .sys is older than that of other instructions
  for (const Word word : words) {
    needed.ptx = std::max(needed.ptx, since(word).ptx);
    needed.sm = std::max(needed.sm, since(word).sm);
  }
  return needed;
}

// The entries that a spelling fits, one after the other, until one can be used.
struct Search {
  int ptx;
  Target target;
  int operands;
  const Entry* too_new = nullptr;                ///< fits, but the module's version or target does not allow it
  Since needed{};                                ///< by `too_new`
  bool too_new_counts = false;                   ///< it takes so many operands
  std::optional<Spelling> other_count;           ///< fits, but takes another number of operands
  bool unsynchronized = false;                   ///< fits, but lacks .sync
  std::optional<std::pair<Word, Word>> excluded; ///< fits, but these cannot be combined

  [[nodiscard]] bool counts(const Entry& e, const Form& form) const {
    return operands == kAnyCount || takes(e.operands, form, operands);
  }
  [[nodiscard]] bool allows(const Entry& e, Since need) const {
    return need.ptx <= ptx && need.sm <= target.sm && e.targets.allow(target);
  }

  std::optional<Spelling> in(std::uint32_t index, const Form& form) {
    const Entry& entry = kTable[index];
    const std::span<const Word> words(form.words.data(), form.count);
    const Match found = match(entry.pattern, words);
    if (!found.matched || (entry.legacy && target.sm >= kFullFloatTarget)) return std::nullopt;
    if (ptx > entry.last_ptx && target.sm >= entry.last_from) {
      unsynchronized = entry.last_from != 0;
      return std::nullopt;
    }
    if (const Since need = needed_by(entry, words); !allows(entry, need)) {
      const bool fits = counts(entry, form);
      if (fits || too_new == nullptr) too_new = &entry, needed = need, too_new_counts = fits;
      return std::nullopt;
    }
    if (const auto two = conflict(entry.opcode, form)) {
      excluded = two;
      return std::nullopt;
    }
    Spelling s{&entry, index, found.variant, form, {}, class_of(entry, form)};
    // Up to PTX 1.4 cvt to and from 64 bits did not flush (9.7.9.21).
    const bool wide = isa::bits(form.type(0)) == 64 || isa::bits(form.type(1)) == 64;
    if (target.sm < kFullFloatTarget && !(entry.instruction_class == InstructionClass::conversion && ptx <= 14 && wide))
      flush(s);
    for (int i = 0; i < entry.operands.count; ++i) s.types[i] = operand_type(entry.operands.items[i], form);
    if (counts(entry, form)) return s;
    if (!other_count) other_count = s;
    return std::nullopt;
  }

  // In the order of the pattern, then in any other.
  std::optional<Spelling> among(std::span<const std::uint16_t> entries, std::span<const Word> words) {
    if (words.size() > kMaxWords) return std::nullopt;
    Form form;
    for (const Word word : words) form.add(word);
    const std::size_t head = words_of_opcode(kTable[entries[0]].opcode, words);
    for (const bool any_order : {false, true})
      for (const std::uint16_t index : entries) {
        Form arranged = form;
        if (any_order && !arrange(kTable[index], words, head, arranged)) continue;
        if (auto found = in(index, arranged)) return found;
      }
    return std::nullopt;
  }

  [[nodiscard]] Expected<Spelling> refusal(std::string_view spelling) const {
    const std::string what =
        other_count ? fmt::format("'{}' with {} operands", spelling, operands) : fmt::format("'{}'", spelling);
    const Targets& targets = too_new->targets;
    if (!targets.special.empty() && !targets.allow(target))
      return failure(fmt::format("{} requires .target {}", what, spelled(targets)),
                     targets.special.ends_with('f') ? "or a later target of the same family, with suffix f or a" : "");
    if (needed.sm > target.sm) return failure(fmt::format("{} requires .target sm_{} or higher", what, needed.sm));
    return failure(fmt::format("{} requires PTX ISA .version {}.{} or later", what, needed.ptx / 10, needed.ptx % 10));
  }
};

} // namespace

std::string spelled(const Targets& targets) {
  if (targets.special.empty()) return fmt::format("sm_{}", targets.least);
  std::string text = "sm_";
  for (const char c : targets.special) text += c == ' ' ? ", sm_" : std::string(1, c);
  return text;
}

std::span<const Entry> table() { return kTable; }

std::vector<std::string_view> opcodes() {
  std::vector<std::string_view> names;
  for (const std::uint16_t index : kByOpcode)
    if (names.empty() || names.back() != kTable[index].opcode) names.push_back(kTable[index].opcode);
  return names;
}

namespace {

constexpr std::size_t kMostWords = 64; // of a spelling, with those that are ignored

Expected<Spelling> find(std::string_view spelling, int ptx, Target target, int operands) {
  std::size_t dot = spelling.find('.');
  const std::string_view opcode = spelling.substr(0, dot);
  const std::span<const std::uint16_t> entries = entries_of(opcode);
  if (entries.empty())
    return failure(fmt::format("unknown instruction '{}'", spelling), did_you_mean(opcode, opcodes()));
  std::vector<Word> words;
  std::string_view unknown;
  while (dot != std::string_view::npos && unknown.empty()) {
    const std::size_t next = spelling.find('.', dot + 1);
    const std::string_view text = spelling.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1);
    const auto word = by_text().find(is_bank(text) && ptx <= kLastBanks ? "const" : text);
    if (word == by_text().end() || words.size() == kMostWords)
      unknown = text;
    else
      words.push_back(word->second);
    dot = next;
  }
  Search search{ptx, target, operands, nullptr, {}, false, {}, false, {}};
  if (unknown.empty()) {
    if (auto found = search.among(entries, words)) return *std::move(found);
    const auto first = std::span<const Word>(words).first(words_of_opcode(opcode, words));
    const auto kept = without_ignored(opcode, words, [&](Word word) {
      return std::any_of(entries.begin(), entries.end(), [&](auto index) { return reads(kTable[index], first, word); });
    });
    if (kept.size() != words.size())
      if (auto found = search.among(entries, kept)) return *std::move(found);
  }
  // Such instructions apply to the lanes that run together; with independent threads, this set is undefined.
  if (search.unsynchronized)
    return failure(
        fmt::format("'{}' without '.sync' is not supported for .target sm_70 and higher from PTX ISA .version 6.4 on",
                    spelling),
        fmt::format("use '{}.sync', which names the participating lanes", opcode));
  if (search.excluded)
    return failure(fmt::format("'.{}' and '.{}' cannot be combined in '{}'", text_of(search.excluded->first),
                               text_of(search.excluded->second), spelling));
  if (search.too_new != nullptr && (search.too_new_counts || !search.other_count)) return search.refusal(spelling);
  if (search.other_count) return *search.other_count;
  return failure(misfit(spelling, entries, words, unknown));
}

/// Results for previous modules: programs that load many small modules use the same few spellings in all of them.
class Found {
public:
  struct Key {
    std::string_view spelling;
    int ptx;
    Target target;
    int operands;
    bool operator==(const Key& other) const {
      return spelling == other.spelling && ptx == other.ptx && target.sm == other.target.sm &&
             target.suffix == other.target.suffix && operands == other.operands;
    }
  };

  static Found& instance() {
    static Found* const found = new Found;
    return *found;
  }
  std::optional<Spelling> get(const Key& key) {
    const std::shared_lock lock(mutex_);
    const auto known = all_.find(key);
    return known == all_.end() ? std::nullopt : std::optional(known->second);
  }
  void keep(Key key, const Spelling& spelling) {
    constexpr std::size_t kMost = 4096; // there are more spellings, but no program uses them all
    const std::lock_guard lock(mutex_);
    if (all_.contains(key)) return;
    if (all_.size() == kMost) all_.clear(), texts_.clear();
    key.spelling = texts_.emplace_back(key.spelling);
    all_.emplace(key, spelling);
  }

private:
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::size_t rest = 0;
      for (const int part : {key.ptx, key.target.sm, int{key.target.suffix}, key.operands})
        rest = (rest + static_cast<std::size_t>(part)) * 0x9e3779b97f4a7c15u;
      return std::hash<std::string_view>{}(key.spelling) ^ rest;
    }
  };
  std::shared_mutex mutex_;
  std::deque<std::string> texts_;
  std::unordered_map<Key, Spelling, Hash> all_;
};

} // namespace

Expected<Spelling> lookup(std::string_view spelling, int ptx, Target target, int operands) {
  const Found::Key key{spelling, ptx, target, operands};
  if (const auto known = Found::instance().get(key)) return *known;
  Expected<Spelling> found = find(spelling, ptx, target, operands);
  if (found) Found::instance().keep(key, *found);
  return found;
}

} // namespace warplens::isa
