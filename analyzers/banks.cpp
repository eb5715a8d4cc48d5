#include "analyzers/banks.hpp"

#include "analyzers/rule_file.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace warplens::analyzers {

const BankRule::Word& BankRule::word(std::uint32_t bytes) const {
  const Word* found = &words.front();
  for (const Word& candidate : words)
    if (candidate.bytes <= bytes) found = &candidate;
  return *found;
}

Expected<BankRule> parse_bank_rule(std::string_view text, std::string_view file) {
  RuleTable table(text, file);
  BankRule rule;
  table.word("rule", {"banks"});
  rule.name = table.name("name");
  rule.title = table.text("title");
  rule.source = table.text_or("source", "");
  rule.banks = table.number("banks", {32, 16});
  rule.bank_bytes = table.number("bank_bytes", {4, 8});
  rule.row_bytes = table.number("row_bytes", {64, 128, 256, 512});
  rule.broadcast = static_cast<BankRule::Broadcast>(table.word("broadcast", {"every_word", "one_word"}));
  rule.split_words = table.flag("split_words");
  rule.merge_equal_pairs = table.flag("merge_equal_pairs");
  if (rule.row_bytes < rule.banks * rule.bank_bytes) table.error("a row is smaller than all banks together");
  for (RuleTable& entry : table.tables("word")) {
    BankRule::Word word;
    word.bytes = entry.number("bytes", {4, 8, 16});
    word.lanes = entry.number("lanes", {32, 16, 8});
    word.extra = entry.number_or("extra", {0, 1}, 0);
    if (!rule.words.empty() && rule.words.back().bytes >= word.bytes) entry.error("words must ascend by bytes");
    rule.words.push_back(word);
    entry.finish();
  }
  Diagnostics diagnostics = table.finish();
  if (diagnostics.has_errors()) return failure(std::move(diagnostics));
  return rule;
}

const std::vector<BankRule>& bank_rules() {
  // Never destroyed: a program may ask while it ends.
  static const std::vector<BankRule>& rules = *new std::vector<BankRule>([] {
    std::vector<BankRule> result;
    for (const EmbeddedRule& embedded : embedded_rules())
      if (embedded.file.starts_with("banks_"))
        if (auto rule = parse_bank_rule(embedded.text, embedded.file)) result.push_back(std::move(*rule));
    return result;
  }());
  return rules;
}

const BankRule* find_bank_rule(std::string_view name) {
  for (const BankRule& rule : bank_rules())
    if (rule.name == name) return &rule;
  return nullptr;
}

namespace {

constexpr std::uint32_t kMaxBanks = 32;
constexpr std::uint32_t kMaxLanes = 32;
constexpr std::uint32_t kMaxParts = 5; // banks that a misaligned 16-byte lane can touch

/// The rows that the lanes of one request want, bank by bank, and how many lanes want each.
class Demand {
public:
  explicit Demand(const BankRule& rule)
      : bank_shift_(static_cast<std::uint32_t>(std::countr_zero(rule.bank_bytes))),
        row_shift_(static_cast<std::uint32_t>(std::countr_zero(rule.row_bytes))), banks_(rule.banks) {
    std::memset(slots_, kEmpty, sizeof slots_);
  }

  /// A lane wants the bytes [offset, offset + bytes).
  void add(std::uint64_t offset, std::uint32_t bytes) {
    const std::uint64_t last = (offset + bytes - 1) >> bank_shift_;
    lowest_ = std::min(lowest_, offset >> bank_shift_);
    for (std::uint64_t unit = offset >> bank_shift_; unit <= last; ++unit)
      add_row(static_cast<std::uint32_t>(unit & (banks_ - 1)), (unit << bank_shift_) >> row_shift_);
  }

  /// Passes when every bank serves one row a pass, with all its lanes.
  [[nodiscard]] std::uint32_t most_rows() const { return most_rows_; }
  /// Passes when every bank serves one lane a pass.
  [[nodiscard]] std::uint32_t most_lanes() const { return most_lanes_; }
  /// Whether some row is wanted by two lanes.
  [[nodiscard]] bool shared() const { return shared_; }

  [[nodiscard]] std::uint32_t best_with_one_broadcast() const;
  [[nodiscard]] std::uint32_t worst_with_one_broadcast();

private:
  static constexpr std::uint32_t kMaxRows = kMaxLanes * kMaxParts;
  static constexpr std::uint8_t kEmpty = 0xff;
  static_assert(kMaxRows < kEmpty);
  struct Row {
    std::uint64_t number;
    std::uint32_t bank;
    std::uint32_t lanes;
  };

  void add_row(std::uint32_t bank, std::uint64_t number) {
    most_lanes_ = std::max(most_lanes_, ++lanes_[bank]);
    auto slot = static_cast<std::uint8_t>((number * kMaxBanks + bank) * 0x9E3779B97F4A7C15ull >> 56);
    for (; slots_[slot] != kEmpty; ++slot) { // open addressing; wraps around
      Row& row = row_[slots_[slot]];
      if (row.number == number && row.bank == bank) {
        ++row.lanes;
        shared_ = true;
        return;
      }
    }
    slots_[slot] = static_cast<std::uint8_t>(used_);
    row_[used_++] = {number, bank, 1};
    most_rows_ = std::max(most_rows_, ++rows_[bank]);
  }

  [[nodiscard]] std::uint32_t broadcasts_needed(std::uint32_t bank, std::uint32_t limit) const;

  /// Banks are counted from that of the lowest word on, so that moving an access changes nothing.
  [[nodiscard]] std::uint64_t turn(const Row& row) const { return (row.bank - lowest_) & (banks_ - 1); }

  std::uint32_t bank_shift_, row_shift_, banks_;
  std::uint64_t lowest_ = ~std::uint64_t{0};
  std::uint32_t most_rows_ = 0, most_lanes_ = 0;
  bool shared_ = false;
  std::uint32_t used_ = 0;
  std::uint32_t rows_[kMaxBanks]{};
  std::uint32_t lanes_[kMaxBanks]{};
  Row row_[kMaxRows];
  std::uint8_t slots_[256];
};

/// The fewest words of the bank to broadcast, largest first, so that its lanes are served within `limit` passes.
/// `limit` is at least the number of its words, so that there is an answer.
std::uint32_t Demand::broadcasts_needed(std::uint32_t bank, std::uint32_t limit) const {
  std::uint32_t sizes[kMaxRows];
  std::uint32_t n = 0;
  for (std::uint32_t i = 0; i < used_; ++i)
    if (row_[i].bank == bank) sizes[n++] = row_[i].lanes;
  std::sort(sizes, sizes + n, std::greater<>());
  std::uint32_t left = lanes_[bank], count = 0;
  while (left > limit) left -= sizes[count++] - 1;
  return count;
}

/// The smallest number of passes k for which the banks together need at most k broadcasts.
std::uint32_t Demand::best_with_one_broadcast() const {
  std::uint32_t count = most_rows_;
  for (; count < most_lanes_; ++count) {
    std::uint32_t broadcasts = 0;
    for (std::uint32_t bank = 0; bank < banks_; ++bank)
      if (lanes_[bank] > count) broadcasts += broadcasts_needed(bank, count);
    if (broadcasts <= count) break;
  }
  return count;
}

/// The hardware picks the word with the fewest lanes for the broadcast, of the first bank that has one, and lets every
/// other bank serve a lane of its most wanted word, so that broadcasts stay as useless as they can be. Uses up the
/// demand.
std::uint32_t Demand::worst_with_one_broadcast() {
  std::uint32_t count = 0;
  while (true) {
    std::uint32_t most[kMaxBanks]; // the most wanted row of each bank
    std::uint32_t left[kMaxBanks]{}, most_left = 0;
    std::uint32_t fewest = used_;
    bool any_shared = false;
    for (std::uint32_t i = 0; i < used_; ++i) {
      const Row& row = row_[i];
      if (row.lanes == 0) continue;
      any_shared |= row.lanes > 1;
      if (left[row.bank]++ == 0 || row.lanes > row_[most[row.bank]].lanes) most[row.bank] = i;
      most_left = std::max(most_left, left[row.bank]);
      if (fewest == used_ || std::pair(row.lanes, turn(row)) < std::pair(row_[fewest].lanes, turn(row_[fewest])))
        fewest = i;
    }
    if (!any_shared) return count + most_left; // a word a bank and pass from here on
    for (std::uint32_t bank = 0; bank < banks_; ++bank)
      if (left[bank] && bank != row_[fewest].bank) --row_[most[bank]].lanes;
    row_[fewest].lanes = 0;
    ++count;
  }
}

struct Served {
  std::uint32_t best, worst;
};

Served serve(const BankRule& rule, const std::uint64_t* offsets, exec::Mask lanes, std::uint32_t skip,
             std::uint32_t bytes, exec::AccessKind kind) {
  Demand demand(rule);
  for (exec::Mask rest = lanes; rest; rest &= rest - 1) demand.add(offsets[std::countr_zero(rest)] + skip, bytes);
  if (is_atomic(kind)) return {demand.most_lanes(), demand.most_lanes()};
  if (rule.broadcast == BankRule::Broadcast::every_word || !demand.shared())
    return {demand.most_rows(), demand.most_rows()};
  const std::uint32_t best = demand.best_with_one_broadcast();
  return {best, std::max(best, demand.worst_with_one_broadcast())};
}

/// Whether all active lanes i and i^distance have the same address.
bool pairs_equal(const std::uint64_t* offsets, exec::Mask mask, int distance) {
  const exec::Mask lower = distance == 1 ? 0x55555555u : 0x33333333u;
  for (exec::Mask rest = mask & lower & mask >> distance; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (offsets[lane] != offsets[lane + distance]) return false;
  }
  return true;
}

} // namespace

exec::AccessKind kind_for_banks(const ir::Function& function, const exec::Access& access) {
  const bool of_matrices =
      access.instruction < function.instructions.size() &&
      function.instructions[access.instruction].instruction_class == isa::InstructionClass::matrix_load;
  return of_matrices ? exec::AccessKind::store : access.kind;
}

bool equal_pairs(const std::uint64_t* offsets, exec::Mask mask) {
  return pairs_equal(offsets, mask, 1) || pairs_equal(offsets, mask, 2);
}

Passes passes(const BankRule& rule, const std::uint64_t* offsets, exec::Mask mask, std::uint32_t lane_bytes,
              exec::AccessKind kind) {
  lane_bytes = std::clamp(lane_bytes, 1u, 16u);
  const BankRule::Word& word = rule.word(lane_bytes);
  std::uint32_t lanes = word.lanes;
  if (rule.merge_equal_pairs && kind == exec::AccessKind::load && lanes < exec::kWarpSize && equal_pairs(offsets, mask))
    lanes *= 2;
  const std::uint32_t part = rule.split_words ? std::min(lane_bytes, rule.bank_bytes) : lane_bytes;

  Passes result;
  for (std::uint32_t first = 0; first < exec::kWarpSize; first += lanes) {
    const exec::Mask request = mask & static_cast<exec::Mask>(((std::uint64_t{1} << lanes) - 1) << first);
    if (!request) continue;
    for (std::uint32_t skip = 0; skip < lane_bytes; skip += part) {
      const Served served = serve(rule, offsets, request, skip, part, kind);
      result.passes += served.best + word.extra;
      result.worst += served.worst + word.extra;
      result.fewest += 1;
      result.ways = std::max(result.ways, served.best + word.extra);
      result.worst_ways = std::max(result.worst_ways, served.worst + word.extra);
    }
  }
  return result;
}

} // namespace warplens::analyzers
