#include "analyzers/rule_counts.hpp"

namespace warplens::analyzers {

namespace {

constexpr AnalyzerInfo kInfo = {"rule_counts",
                                "Rules of your own",
                                "transactions and passes under the rules given with --rule, as rule.NAME.…",
                                {}};

constexpr std::string_view kOperations[RuleCounts::kKinds] = {"ld", "st", "atom", "red"}; // by exec::AccessKind

std::size_t rules_in(const RuleSet& rules) { return rules.coalescing.size() + rules.banks.size(); }

} // namespace

void RuleCounts::Count::add(const Count& other) {
  requests += other.requests;
  bytes_asked += other.bytes_asked;
  for (std::size_t i = 0; i < 3; ++i) by_size[i] += other.by_size[i];
  uncoalesced += other.uncoalesced;
  passes += other.passes;
  worst += other.worst;
  fewest += other.fewest;
}

RuleCounts::Shard::Shard(const ir::Function& function, std::size_t rows, const RuleSet& rules)
    : function_(function), coalescing_(rules.coalescing.begin(), rules.coalescing.end()),
      banks_(rules.banks.begin(), rules.banks.end()), rows_(rows) {}

void RuleCounts::Shard::access(const exec::Access& access) {
  const std::size_t width = coalescing_.size() + banks_.size();
  Row* const row = &rows_[std::min(std::size_t{access.instruction}, rows_.size() / width - 1) * width];
  if (access.space == isa::Space::global) global(row, access);
  if (access.space == isa::Space::shared) shared(row + coalescing_.size(), access);
}

void RuleCounts::Shard::global(Row* row, const exec::Access& access) {
  if (coalescing_.empty()) return;
  const Footprint footprint(access.addresses, access.mask, access.lane_bytes);
  const std::uint64_t asked = std::uint64_t{footprint.distinct_addresses()} * footprint.lane_bytes;
  for (const FastRule& rule : coalescing_) {
    Count& count = (*row++)[static_cast<std::size_t>(access.kind)];
    const Transactions one = rule.transactions(footprint);
    count.requests += access.count;
    count.bytes_asked += access.count * asked;
    for (std::size_t i = 0; i < 3; ++i) count.by_size[i] += access.count * one.count[i];
    count.uncoalesced += access.count * one.uncoalesced;
  }
}

void RuleCounts::Shard::shared(Row* row, const exec::Access& access) {
  if (banks_.empty()) return;
  const Footprint footprint(access.addresses, access.mask, access.lane_bytes);
  const exec::AccessKind kind = kind_for_banks(function_, access);
  for (const FastBanks& rule : banks_) {
    Count& count = (*row++)[static_cast<std::size_t>(access.kind)];
    const Passes one = rule.passes(footprint, kind);
    count.requests += access.count;
    count.passes += access.count * one.passes;
    count.worst += access.count * one.worst;
    count.fewest += access.count * one.fewest;
  }
}

RuleCounts::RuleCounts(const ir::Function& function, RuleSet rules)
    : function_(function), rules_(std::move(rules)), rows_((function.instructions.size() + 1) * rules_in(rules_)) {}

const AnalyzerInfo& RuleCounts::info() const { return kInfo; }

std::unique_ptr<exec::Shard> RuleCounts::make_shard() {
  return std::make_unique<Shard>(function_, rows_.size(), rules_);
}

void RuleCounts::absorb(exec::Shard& shard) {
  const std::vector<Row>& own = static_cast<const Shard&>(shard).rows();
  for (std::size_t i = 0; i < rows_.size(); ++i)
    for (std::size_t kind = 0; kind < kKinds; ++kind) rows_[i][kind].add(own[i][kind]);
}

namespace {

/// `all`: also the counts of kinds that do not occur.
void add_transactions(Metrics& metrics, const CoalescingRule& rule, const RuleCounts::Row& row, bool all) {
  const std::string prefix = "rule." + rule.name + ".";
  RuleCounts::Count sum;
  for (std::size_t kind = 0; kind < RuleCounts::kKinds; ++kind) {
    const RuleCounts::Count& count = row[kind];
    sum.add(count);
    if (count.requests == 0 && !(all && kind < 2)) continue;
    const std::string start = prefix + std::string(kOperations[kind]);
    metrics.add(start + "_requests", count.requests);
    metrics.add(start + "_32b", count.by_size[0]);
    metrics.add(start + "_64b", count.by_size[1]);
    metrics.add(start + "_128b", count.by_size[2]);
    if (rule.order == CoalescingRule::Order::kth_word) metrics.add(start + "_uncoalesced", count.uncoalesced);
  }
  metrics.add(prefix + "transactions", sum.transactions());
  metrics.add(prefix + "bytes_moved", sum.bytes_moved());
  metrics.add(prefix + "bytes_asked", sum.bytes_asked);
}

void add_passes(Metrics& metrics, const BankRule& rule, const RuleCounts::Row& row, bool all) {
  const std::string prefix = "rule." + rule.name + ".";
  RuleCounts::Count sum;
  for (std::size_t kind = 0; kind < RuleCounts::kKinds; ++kind) {
    const RuleCounts::Count& count = row[kind];
    sum.add(count);
    if (count.requests == 0 && !(all && kind < 2)) continue;
    const std::string start = prefix + std::string(kOperations[kind]);
    metrics.add(start + "_requests", count.requests);
    metrics.add(start + "_passes", count.passes);
    metrics.add(start + "_conflicts", count.passes - count.fewest);
  }
  metrics.add(prefix + "passes", sum.passes);
  metrics.add(prefix + "conflicts", sum.passes - sum.fewest);
  if (rule.broadcast == BankRule::Broadcast::one_word) metrics.add(prefix + "conflicts_worst", sum.worst - sum.fewest);
}

} // namespace

void RuleCounts::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  const std::size_t width = rules_in(rules_);
  const auto add = [&](std::size_t rule, const Row& row, Metrics& metrics, bool all) {
    if (rule < rules_.coalescing.size())
      add_transactions(metrics, rules_.coalescing[rule], row, all);
    else
      add_passes(metrics, rules_.banks[rule - rules_.coalescing.size()], row, all);
  };
  for (std::size_t rule = 0; rule < width; ++rule) {
    Row total;
    for (std::size_t i = rule; i < rows_.size(); i += width) {
      std::uint64_t requests = 0;
      for (std::size_t kind = 0; kind < kKinds; ++kind) {
        total[kind].add(rows_[i][kind]);
        requests += rows_[i][kind].requests;
      }
      if (requests != 0 && i / width < rows.size()) add(rule, rows_[i], rows[i / width].metrics, false);
    }
    add(rule, total, launch, true);
  }
}

} // namespace warplens::analyzers
