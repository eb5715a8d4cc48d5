// SPDX-License-Identifier: Apache-2.0
#include "api/report/report_details.hpp"

#include "analyzers/finding_kinds.hpp"
#include "api/report/catalogue.hpp"
#include "api/report/expectations.hpp"
#include "api/report/histogram.hpp"
#include "api/report/line_costs.hpp"
#include "api/report/prediction_text.hpp"
#include "api/report/report_order.hpp"
#include "api/report/report_spaces.hpp"
#include "api/report/table.hpp"
#include "api/report/units.hpp"
#include "api/session/kernel_name.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::api {

namespace {

using analyzers::InstructionRow;
using analyzers::MetricId;
using analyzers::MetricKey;
using analyzers::Metrics;

std::string count(std::uint64_t n) { return fmt::format("{}", n); }
std::string ratio(double numerator, double denominator) {
  return denominator == 0 ? "" : fmt::format("{:.4g}", numerator / denominator);
}
std::string percent(double part, double whole) { return whole == 0 ? "" : fmt::format("{:.1f}%", 100 * part / whole); }

class Writer {
public:
  Writer(const LaunchReport& report, const Style& style, const TextOptions& options)
      : r_(report), m_(report.profile.metrics), s_(style), o_(options) {}

  std::string write() {
    const auto asked = [&](Section section) { return o_.details.has(section); };
    if (asked(Section::speed_of_light)) predictions();
    if (asked(Section::memory)) memory();
    if (asked(Section::warp_state)) out_ += warp_state_sections(m_, s_, o_.columns);
    if (asked(Section::instructions)) instructions();
    if (asked(Section::launch)) launch();
    if (asked(Section::occupancy)) occupancy();
    if (asked(Section::workload)) blocks();
    if (asked(Section::source)) {
      divergence();
      lines();
    }
    if (asked(Section::findings)) findings();
    return std::move(out_);
  }

private:
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  void section(std::string_view title, std::string_view explanation) {
    out_ += section_title(title, explanation, s_, o_.columns);
  }
  /// A table with a row per kind of access and these columns of numbers.
  static Table numbers(std::initializer_list<std::string_view> titles) {
    std::vector<Table::Column> columns = {{""}};
    for (const std::string_view title : titles) columns.push_back({std::string(title), Table::right});
    return Table(std::move(columns));
  }
  /// Transaction sizes to show for a rule: 32, 64 and 128 bytes, and any others that it can make.
  static std::vector<std::uint32_t> sizes(const rules::Coalescing& rule) {
    std::vector<std::uint32_t> list;
    for (std::uint32_t n = std::min(32u, rule.smallest); n <= std::max(128u, rule.largest()); n *= 2) list.push_back(n);
    return list;
  }
  static Table size_table(const rules::Coalescing& rule, bool ideal) {
    std::vector<Table::Column> columns = {{""}, {"requests", Table::right}, {"transactions", Table::right}};
    for (const std::uint32_t n : sizes(rule)) columns.push_back({fmt::format("of {} B", n), Table::right});
    columns.push_back({"bytes moved", Table::right});
    if (ideal) columns.insert(columns.end(), {{"ideal", Table::right}, {"useful", Table::right}});
    return Table(std::move(columns));
  }
  /// The requests and their transactions; `of(bytes)` returns the transactions of a size.
  template <class Of>
  static std::vector<std::string> size_row(std::string_view kind, const rules::Coalescing& rule, std::uint64_t requests,
                                           std::uint64_t moved, Of&& of) {
    std::vector<std::string> cells = {std::string(kind), count(requests), ""};
    std::uint64_t all = 0;
    for (const std::uint32_t n : sizes(rule)) {
      all += of(n);
      cells.push_back(count(of(n)));
    }
    cells[2] = count(all);
    cells.push_back(count(moved));
    return cells;
  }
  void table(const Table& t) { out_ += t.text(s_.dim, s_.reset); }
  std::uint64_t metric(const MetricKey& key) const { return m_.integer(key); }
  double number(MetricId id) const { return m_.number(id); }

  void memory() {
    global_memory();
    shared_memory();
    if (o_.graphics) out_ += memory_histograms(r_, s_);
    rule_of_device();
    for (const rules::CoalescingRule& rule : r_.rules.coalescing) own_rule(rule);
    for (const rules::BankRule& rule : r_.rules.banks) own_rule(rule);
    out_ += space_sections(r_, s_, o_.columns);
    out_ += cache_sections(m_, s_, o_.columns, o_.graphics);
  }

  void launch() {
    constexpr std::string_view from[] = {"as given", "from .maxnreg", "estimated from the PTX"};
    section("Launch", "what the kernel was launched with");
    const Resources& res = r_.resources;
    if (source_name(r_.kernel) != r_.kernel) line("  mangled name: {}", r_.kernel);
    line("  grid {}, block {}{}", fmt::join(r_.grid, " x "), fmt::join(r_.block, " x "),
         r_.cluster[0] * r_.cluster[1] * r_.cluster[2] > 1 ? fmt::format(", cluster {}", fmt::join(r_.cluster, " x "))
                                                           : "");
    line("  {} registers per thread ({}), {} of local memory per thread", res.registers,
         from[static_cast<int>(res.registers_from)], readable_bytes(res.local_bytes));
    line("  {} of shared memory per block: {} static, {} dynamic",
         readable_bytes(res.static_shared_bytes + res.dynamic_shared_bytes), readable_bytes(res.static_shared_bytes),
         readable_bytes(res.dynamic_shared_bytes));
  }

  void instructions() {
    const std::uint64_t all = metric(MetricId::warp_instructions);
    section("Instructions",
            "each PTX instruction that a warp executes counts once, regardless of its number of active lanes");
    line("  {} warp instructions, {} per warp", all, ratio(static_cast<double>(all), number(MetricId::warps_launched)));
    line("  {:.4g} of 32 lanes (threads of a warp) execute an average instruction", number(MetricId::lanes_on));
    std::vector<std::pair<std::uint64_t, std::string>> classes;
    for (const isa::ClassInfo& c : isa::kInstructionClasses)
      if (const std::uint64_t n = metric({MetricId::instructions_of_class, c.name})) classes.emplace_back(n, c.name);
    std::stable_sort(classes.begin(), classes.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string mix;
    for (auto& [n, name] : classes) {
      std::replace(name.begin(), name.end(), '_', ' ');
      mix += fmt::format("{}{} {}", mix.empty() ? "mix: " : ", ", name,
                         percent(static_cast<double>(n), static_cast<double>(all)));
    }
    out_ += wrapped(mix, "  ", o_.columns);
    if (o_.graphics) out_ += lane_histogram(r_, s_);
  }

  struct Kind {
    exec::AccessKind kind;
    std::string_view title;
    [[nodiscard]] bool atomic() const { return analyzers::is_atomic(kind); }
    [[nodiscard]] std::string_view name() const { return analyzers::kOperationNames[static_cast<std::size_t>(kind)]; }
  };
  static constexpr Kind kKinds[] = {{exec::AccessKind::load, "loads"},
                                    {exec::AccessKind::store, "stores"},
                                    {exec::AccessKind::atomic, "atomics"},
                                    {exec::AccessKind::reduction, "reductions"}};

  // Sums over the instructions of one kind: only rows distinguish ideal sectors of loads and stores.
  std::uint64_t by_kind(const Kind& kind, MetricId id) const {
    std::uint64_t sum = 0;
    for (const InstructionRow& row : r_.profile.instructions)
      if (row.metrics.find(by_operation(MetricId::global_requests_ld, kind.kind)) != nullptr)
        sum += row.metrics.integer(id);
    return sum;
  }

  void global_memory() {
    std::uint64_t requests[4], total = 0;
    for (int k = 0; k < 4; ++k)
      total += requests[k] = metric(by_operation(MetricId::global_requests_ld, kKinds[k].kind));
    if (total == 0) {
      section("Global memory", "not accessed");
      return;
    }
    const rules::CoalescingRule& rule = r_.device.coalescing_rule;
    if (rule.unit == rules::Coalescing::Unit::transactions)
      in_order(rule);
    else if (rule.unit == rules::Coalescing::Unit::bytes)
      segments(rule);
    else
      sectors(requests);
    if (!rule.describes_atomics() && requests[2] + requests[3] != 0)
      line("  plus {} by atomics, which this rule does not describe", plural(requests[2] + requests[3], "request"));
  }

  void in_order(const rules::CoalescingRule& rule) {
    section("Global memory",
            fmt::format("a request is one warp instruction; each {} makes one transaction if its lanes "
                        "access consecutive words in order, otherwise one per lane (uncoalesced)",
                        to_string(rule.word(4).requests)));
    Table t = numbers({"requests", "coalesced transactions", "uncoalesced transactions"});
    for (const Kind& kind : kKinds) {
      const analyzers::TransactionCount own = r_.profile.counts.of_global(kind.kind);
      if (own.requests == 0 || (kind.atomic() && !rule.describes_atomics())) continue;
      t.row({std::string(kind.title), count(own.requests), count(own.sum.total() - own.sum.uncoalesced),
             count(own.sum.uncoalesced)});
    }
    table(t);
  }

  void segments(const rules::CoalescingRule& rule) {
    std::string all; // sizes
    for (std::uint32_t n = rule.smallest; n <= rule.largest(); n *= 2)
      all += fmt::format("{}{}", all.empty() ? "" : 2 * n > rule.largest() ? " and " : ", ", n);
    section("Global memory", fmt::format("a request is one warp instruction; each {} makes as few transactions of "
                                         "{} bytes as its addresses allow",
                                         to_string(rule.word(4).requests), all));
    Table t = size_table(rule, true);
    for (const Kind& kind : kKinds) {
      const analyzers::TransactionCount own = r_.profile.counts.of_global(kind.kind);
      if (own.requests == 0 || (kind.atomic() && !rule.describes_atomics())) continue;
      const std::uint64_t ideal = 32 * by_kind(kind, MetricId::global_sectors_ideal);
      std::vector<std::string> cells = size_row(kind.title, rule, own.requests, own.sum.bytes(),
                                                [&](std::uint32_t bytes) { return own.sum.of(bytes); });
      cells.push_back(count(ideal));
      cells.push_back(percent(static_cast<double>(ideal), static_cast<double>(own.sum.bytes())));
      t.row(std::move(cells));
    }
    table(t);
    line("  ideal: the fewest bytes, in units of 32, that hold the accessed data; useful: ideal / moved");
  }

  void sectors(const std::uint64_t (&requests)[4]) {
    section("Global memory",
            "a request is one warp instruction; it accesses sectors of 32 bytes, ideally as few as possible");
    Table t = numbers({"requests", "sectors", "ideal sectors", "sectors/request", "ideal", "useful"});
    for (int k = 0; k < 4; ++k) sector_row(t, kKinds[k], requests[k]);
    table(t);
    line("  ideal: the fewest sectors that hold the accessed data; useful: ideal / sectors");
  }

  void sector_row(Table& t, const Kind& kind, std::uint64_t requests) const {
    if (requests == 0) return;
    const std::uint64_t sectors = metric(by_operation(MetricId::global_sectors_ld, kind.kind));
    const std::uint64_t ideal = by_kind(kind, MetricId::global_sectors_ideal);
    const auto r = static_cast<double>(requests);
    t.row({std::string(kind.title), count(requests), count(sectors), count(ideal),
           ratio(static_cast<double>(sectors), r), ratio(static_cast<double>(ideal), r),
           percent(static_cast<double>(ideal), static_cast<double>(sectors))});
  }

  void shared_memory() {
    Table t = numbers({"requests", "passes", "conflict passes", "passes/request"});
    for (const Kind& kind : std::span(kKinds).first(3)) { // reductions count as atomics here
      const std::uint64_t requests = metric(by_operation(MetricId::shared_requests_ld, kind.kind));
      if (requests == 0) continue;
      const std::uint64_t passes = metric(by_operation(MetricId::shared_passes_ld, kind.kind));
      const std::uint64_t conflicts = metric(by_operation(MetricId::shared_conflicts_ld, kind.kind));
      t.row({std::string(kind.title), count(requests), count(passes), count(conflicts),
             ratio(static_cast<double>(passes), static_cast<double>(requests))});
    }
    const rules::BankRule& rule = r_.device.bank_rule;
    const std::uint64_t serialized = r_.profile.counts.of_all_shared().sum.serialized();
    if (t.empty() && !(rule.constants && serialized != 0)) return;
    const std::string request = to_string(rule.word(4).requests);
    if (rule.constants) {
      section("Shared memory",
              fmt::format("{} banks serve a {}; lanes that access different words of the same bank need "
                          "further passes",
                          rule.banks, request));
      line("  {} additional passes due to bank conflicts (warp_serialize)", serialized);
    } else if (analyzers::are_usual_banks(rule)) {
      section("Shared memory",
              "32 banks of 4 bytes; lanes that access different words of the same bank need further passes");
      table(t);
    } else {
      section("Shared memory",
              fmt::format("{} banks of {} bytes serve a {}; lanes with a bank conflict need further passes", rule.banks,
                          rule.bank_bytes, request));
      passes(rule);
    }
  }

  // If the tables above show sectors and the usual banks, but the device's own rule counts differently.
  void rule_of_device() {
    const auto asked_for = [](const auto& rules, std::string_view name) {
      return std::any_of(rules.begin(), rules.end(), [&](const auto& rule) { return rule.name == name; });
    };
    const rules::CoalescingRule& global = r_.device.coalescing_rule;
    const rules::BankRule& banks = r_.device.bank_rule;
    if (global.unit == rules::Coalescing::Unit::sectors && metric({MetricId::rule_transactions, global.name}) &&
        !asked_for(r_.rules.coalescing, global.name))
      own_rule(global);
    if (analyzers::are_usual_banks(banks) && metric({MetricId::rule_passes, banks.name}) &&
        !asked_for(r_.rules.banks, banks.name))
      own_rule(banks);
  }

  // Under a rule requested with --rule, or the rule of the device.
  void own_rule(const rules::CoalescingRule& rule) {
    section(fmt::format("Global memory under rule {}", rule.name), rule.title);
    Table t = size_table(rule, false);
    for (const Kind& kind : kKinds) {
      const std::uint64_t requests = metric({MetricId::rule_requests, rule.name, kind.name()});
      if (requests == 0) continue;
      std::uint64_t moved = 0;
      const auto of_size = [&](std::uint32_t bytes) {
        return metric({MetricId::rule_transactions_of_size, rule.name, kind.name(), bytes});
      };
      for (const std::uint32_t n : sizes(rule)) moved += n * of_size(n);
      t.row(size_row(kind.title, rule, requests, moved, of_size));
    }
    if (t.empty()) return line("  not accessed");
    table(t);
    const std::uint64_t asked = metric({MetricId::rule_bytes_asked, rule.name});
    const std::uint64_t moved = metric({MetricId::rule_bytes_moved, rule.name});
    line("  the lanes request {} bytes, {} of the bytes moved", asked,
         percent(static_cast<double>(asked), static_cast<double>(moved)));
  }
  void own_rule(const rules::BankRule& rule) {
    section(fmt::format("Shared memory under rule {}", rule.name), rule.title);
    passes(rule);
  }
  void passes(const rules::BankRule& rule) {
    Table t = numbers({"requests", "passes", "conflict passes"});
    for (const Kind& kind : kKinds) {
      const auto by = [&](MetricId family) { return metric({family, rule.name, kind.name()}); };
      if (by(MetricId::rule_requests) == 0) continue;
      t.row({std::string(kind.title), count(by(MetricId::rule_requests)), count(by(MetricId::rule_operation_passes)),
             count(by(MetricId::rule_operation_conflicts))});
    }
    if (t.empty()) return line("  not accessed");
    table(t);
    if (rule.broadcast == rules::Banks::Broadcast::one_word)
      line("  for the best choice of the broadcast word; {} conflict passes for the worst choice",
           metric({MetricId::rule_conflicts_worst, rule.name}));
  }

  void divergence() {
    const std::uint64_t branches = metric(MetricId::branch), divergent = metric(MetricId::divergent_branch);
    if (branches == 0) return;
    section(
        "Branches",
        "a branch diverges if the lanes of a warp take both paths; the warp then executes one path after the other");
    line("  {} executed by warps, {} of them divergent ({})", branches, divergent,
         percent(static_cast<double>(divergent), static_cast<double>(branches)));
    if (o_.graphics) out_ += branch_histogram(r_, s_);
  }

  // The distribution of the memory and divergence counters over the blocks.
  void blocks() {
    const analyzers::BlockTable& table = r_.profile.blocks;
    if (table.rows.empty()) return;
    section("Blocks", "counters per block: minimum, average, maximum, and the first block with the maximum");
    Table t({{"counter"}, {"minimum", Table::right}, {"average", Table::right}, {"maximum", Table::right}, {"block"}});
    constexpr MetricId kCounters[] = {MetricId::global_sectors,     MetricId::global_sectors_excessive,
                                      MetricId::shared_passes_ld,   MetricId::shared_passes_st,
                                      MetricId::shared_passes_atom, MetricId::local_sectors,
                                      MetricId::constant_passes,    MetricId::branch,
                                      MetricId::divergent_branch};
    for (const MetricId id : kCounters)
      if (const auto at = std::find(table.columns.begin(), table.columns.end(), id); at != table.columns.end())
        spread(t, table, static_cast<std::size_t>(at - table.columns.begin()));
    this->table(t);
    if (o_.graphics) out_ += block_histogram(table, kCounters, s_);
  }
  void spread(Table& t, const analyzers::BlockTable& table, std::size_t column) const {
    const auto less = [&](const auto& a, const auto& b) { return a.at(column) < b.at(column); };
    const auto least = std::min_element(table.rows.begin(), table.rows.end(), less),
               most = std::max_element(table.rows.begin(), table.rows.end(), less);
    if (most->at(column) == 0) return;
    double sum = 0;
    for (const auto& row : table.rows) sum += static_cast<double>(row.at(column));
    const std::uint64_t x = most->cta % r_.grid[0], y = most->cta / r_.grid[0] % r_.grid[1],
                        z = most->cta / r_.grid[0] / r_.grid[1];
    t.row({std::string(table.columns[column].name()), count(least->at(column)),
           ratio(sum, static_cast<double>(table.rows.size())), count(most->at(column)),
           fmt::format("({},{},{})", x, y, z)});
  }

  // The instructions that access memory or diverge, most expensive first.
  void lines() {
    struct Hot {
      const InstructionRow* row;
      double cost;
    };
    std::vector<Hot> hot;
    for (const InstructionRow& row : r_.profile.instructions) {
      if (const double cost = access_cost(row, r_.device); cost > 0) hot.push_back({&row, cost});
    }
    if (hot.empty()) return;
    std::stable_sort(hot.begin(), hot.end(), [](const Hot& a, const Hot& b) { return a.cost > b.cost; });
    constexpr std::size_t kShown = 10;
    section("Where", fmt::format("the {} instructions with the highest cost in memory accesses and branches",
                                 std::min(hot.size(), kShown)));
    Table t({{"CUDA line"},
             {"PTX line", Table::right},
             {"instruction"},
             {"executed", Table::right},
             {"cost"},
             {"access pattern"}});
    for (const Hot& h : std::span(hot).first(std::min(hot.size(), kShown))) {
      const InstructionRow& row = *h.row;
      t.row({row.source_line == 0 ? "" : fmt::format("{}:{}", base_name(row.source_file), row.source_line),
             count(row.line), cut(row.ptx, 34), count(row.metrics.integer(MetricId::warp_instructions)),
             access_cost_text(row, r_.device), row.pattern});
    }
    table(t);
  }

  void occupancy() {
    const Resources& res = r_.resources;
    constexpr std::string_view from[] = {"as given", "from .maxnreg", "estimated from the PTX"};
    section("Occupancy", "resident warps of a multiprocessor relative to the maximum; more warps hide more latency");
    if (r_.occupancy) {
      std::string bound;
      for (const model::OccupancyLimiter l : r_.occupancy->bound_by)
        bound += fmt::format("{}{}", bound.empty() ? "" : ", ", to_string(l));
      line("  {:.0f} %: {}, {} per multiprocessor; limited by {}", 100 * r_.occupancy->ratio,
           plural(static_cast<std::uint64_t>(r_.occupancy->blocks), "block"),
           plural(static_cast<std::uint64_t>(r_.occupancy->warps), "warp"), bound);
    }
    line("  {} registers per thread ({}), {} bytes of shared memory per block", res.registers,
         from[static_cast<int>(res.registers_from)], res.static_shared_bytes + res.dynamic_shared_bytes);
  }

  void predictions() {
    section("Predicted run time", r_.predictions.empty() ? "" : "by analytical models from the literature");
    for (const model::Prediction& p : r_.predictions) out_ += prediction_text(p, s_, false, o_.columns);
    for (const std::string& remark : r_.remarks) out_ += wrapped(remark, "  ", o_.columns);
  }

  void findings() {
    section("Findings", r_.findings.empty() ? "none" : "by kind, largest potential saving first");
    constexpr std::size_t kShown = 20;
    for (std::size_t i = 0; i < std::min(r_.findings.size(), kShown); ++i) {
      const analyzers::Finding& f = r_.findings[i];
      out_ += finding_head(f, i + 1, s_, o_.columns);
      out_ += wrapped(f.message, "     ", o_.columns);
      if (f.excess > 0) line("     potential saving: {:.10g} {}", f.excess, f.unit);
      // Consecutive findings with the same advice show it once.
      if (remedy_of(f) != f.advice) out_ += wrapped("remedy: " + remedy_of(f), "     ", o_.columns);
      if (i == 0 || r_.findings[i - 1].advice != f.advice) out_ += wrapped("advice: " + f.advice, "     ", o_.columns);
    }
    if (r_.findings.size() > kShown) line("  … and {} more: see --json", r_.findings.size() - kShown);
  }

  const LaunchReport& r_;
  const Metrics& m_;
  const Style& s_;
  const TextOptions& o_;
  std::string out_;
};

} // namespace

std::string little() { return fmt::format("less than {:.0f} %", 100 * (analyzers::kWorthwhile - 1)); }

std::string finding_head(const analyzers::Finding& f, std::size_t number, const Style& s, std::size_t columns) {
  const bool severe = f.severity != Severity::note;
  std::string place;
  if (f.source_line != 0) place += fmt::format(", {}:{}", base_name(f.source_file), f.source_line);
  constexpr std::size_t kMostLines = 8; // the JSON report has all of them
  if (!f.lines.empty())
    place += fmt::format(", PTX line{} {}", f.lines.size() == 1 ? "" : "s",
                         fmt::join(std::span(f.lines).first(std::min(f.lines.size(), kMostLines)), ", "));
  if (f.lines.size() > kMostLines) place += fmt::format(" and {} more", f.lines.size() - kMostLines);
  if (saves_little(f))
    place += ": would save " + little();
  else if (f.speedup)
    place += fmt::format(": {:.2f} times as fast", *f.speedup);
  constexpr std::size_t kIndent = 5;
  const std::string_view word = severe ? "warning" : "note";
  std::string text = wrapped(fmt::format("{}: {}{}", word, f.rule, place), std::string(kIndent, ' '), columns);
  text.insert(kIndent + word.size(), s.reset);
  text.insert(kIndent, severe ? s.yellow : s.dim);
  return text.replace(0, kIndent, fmt::format("{:>3}. ", number));
}

std::string detail_sections(const LaunchReport& report, const Style& style, const TextOptions& options) {
  return Writer(report, style, options).write();
}

std::string counters(const LaunchReport& report, const Style& style) {
  Table table({{"counter"}, {"value", Table::right}, {"unit"}, {"ideal", Table::right}});
  for (const analyzers::Metric& m : report.profile.metrics.list()) {
    const analyzers::MetricInfo& known = info(m.key.id);
    table.row({std::string(m.name()), fmt::format("{:.10g}", m.number()), std::string(known.unit),
               known.ideal ? fmt::format("{:g}", *known.ideal) : ""});
  }
  return fmt::format("\n{}Counters{}: with the names of Nsight Compute and the CUDA Visual Profiler; `warplens list "
                     "analyzers` explains them\n",
                     style.bold, style.reset) +
         table.text(style.dim, style.reset);
}

} // namespace warplens::api
