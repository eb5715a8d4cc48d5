// SPDX-License-Identifier: Apache-2.0
// warplens inspect: shows the events of a trace, and the transactions of each access.
#include "api/files/csv.hpp"
#include "api/trace/trace_inspect.hpp"
#include "tools/command_line.hpp"
#include "tools/limit_options.hpp"
#include "tools/output.hpp"
#include "tools/trace_options.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include <bit>
#include <map>

namespace warplens::tools {

namespace {

namespace po = boost::program_options;
using analyzers::trace::EventKind;
using api::SeenEvent;

constexpr std::string_view kInspectHelp = R"(usage: warplens inspect TRACE.h5 [OPTION…]

Shows the accesses, branches and barriers of a trace: the lanes, the addresses, and the transactions or passes over the
banks that each access causes. The line below an access has one character for each of its 32 lanes:
  global memory: a letter for the transaction that serves the lane
  shared memory: the bank of the lane (0 to 9, a to v)
  inactive lane: a dot

)";

constexpr std::string_view kInspectExamples = R"(
Examples:
  warplens inspect t.h5 --blocks 0 --warps 0
  warplens inspect t.h5 --launch 1 --lines 20-30 --rule 1.2
  warplens inspect t.h5 --format csv --limit 0 > accesses.csv
Exit status: 0 success; 2 bad usage or input.
)";

po::options_description inspect_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("launch", po::value<std::size_t>()->value_name("N")->default_value(0), "show launch N; the first is 0");
  add("lines", po::value<std::string>()->value_name("L[,L-L…]"), "only these lines of the PTX");
  add("blocks", po::value<std::string>()->value_name("FIRST[-LAST]"),
      "only these blocks, by linear index (x varies fastest)");
  add("warps", po::value<std::string>()->value_name("FIRST[-LAST]"), "only these warps of each block");
  add("accesses-only", "omit branches and barriers");
  add("rule", po::value<std::vector<std::string>>()->value_name("NAME|FILE"),
      "use this rule instead of the device's: see 'warplens list rules'; one for global memory, one for shared memory");
  add("format", po::value<std::string>()->value_name("text|jsonl|csv")->default_value("text"),
      "readable text, one JSON object per line, or a CSV table");
  add("limit", po::value<std::uint64_t>()->value_name("N")->default_value(200), "stop after N events; 0: no limit");
  add_limit_options(options);
  add("help,h", "show this help");
  return options;
}

std::string transactions_text(const SeenEvent& e) {
  std::map<std::uint32_t, std::size_t, std::greater<>> of; // by size
  for (const analyzers::Transaction& t : e.transactions) ++of[t.bytes];
  std::string text;
  for (const auto& [bytes, count] : of)
    text += fmt::format("{}{} of {} bytes", text.empty() ? "" : " + ", count, bytes);
  return text;
}

// "0x7f00 + 4 * lane", or the lowest and highest address.
std::string addresses_text(const exec::Access& a) {
  const int first = std::countr_zero(a.mask);
  if (a.shape == exec::Shape::broadcast) return fmt::format("{:#x}, all lanes", a.addresses[first]);
  if (a.shape != exec::Shape::irregular) {
    const auto base = a.addresses[first] - static_cast<std::uint64_t>(first) * static_cast<std::uint64_t>(a.stride);
    const auto stride = static_cast<std::uint64_t>(a.stride);
    return fmt::format("{:#x} {} {} * lane", base, a.stride < 0 ? '-' : '+', a.stride < 0 ? 0 - stride : stride);
  }
  std::uint64_t low = a.addresses[first], high = low;
  for (int lane = first; lane < exec::kWarpSize; ++lane)
    if ((a.mask >> lane & 1) != 0) {
      low = std::min(low, a.addresses[lane]);
      high = std::max(high, a.addresses[lane]);
    }
  return fmt::format("{:#x} to {:#x}, irregular", low, high);
}

// A letter for each lane: see kInspectHelp.
std::string drawing(const SeenEvent& e, const rules::BankRule& banks) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  const exec::Access& a = e.access;
  std::string text(exec::kWarpSize, '.');
  for (std::size_t lane = 0; lane < text.size(); ++lane) {
    if ((a.mask >> lane & 1) == 0) continue;
    char& c = text[lane];
    c = '*';
    if (a.space == isa::Space::global) {
      for (std::size_t t = 0; t < e.transactions.size() && c == '*'; ++t)
        if ((e.transactions[t].lanes >> lane & 1) != 0 && t < kLetters.size()) c = kLetters[t];
    } else if (a.space == isa::Space::shared) {
      constexpr std::string_view kBanks = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
      const std::uint32_t bank = banks.bank_of(a.addresses[lane] / banks.bank_bytes);
      if (bank < kBanks.size()) c = kBanks[bank];
    }
  }
  return text;
}

std::string text_of(const SeenEvent& e, const rules::BankRule& banks) {
  const std::string who = fmt::format("block {} warp {}  line {}", e.of.cta, e.of.warp, e.instruction->where.line);
  const std::string where = e.source.empty() ? "" : fmt::format("  ({})", e.source);
  const std::string first = fmt::format("{}  {}{}\n", who, e.ptx, where);
  if (e.kind == EventKind::branch)
    return first + fmt::format("    lanes {:08x}, taken by {:08x}{}\n", e.branch.active, e.branch.taken,
                               e.branch.taken == 0 || e.branch.taken == e.branch.active ? "" : ": divergent");
  if (e.kind == EventKind::barrier)
    return first + fmt::format("    lanes {:08x} arrive at barrier {}\n", e.barrier.active, e.barrier.number);
  const exec::Access& a = e.access;
  std::string text = first + fmt::format("    {} {}, {} bytes per lane, lanes {:08x}: {}\n", isa::name(a.space),
                                         api::name(a.kind), a.lane_bytes, a.mask, addresses_text(a));
  if (a.space == isa::Space::global) text += fmt::format("    {}  {}\n", drawing(e, banks), transactions_text(e));
  if (e.passes)
    text += fmt::format("    {}  {} pass{} over the banks, {}-way\n", drawing(e, banks), e.passes->passes,
                        e.passes->passes == 1 ? "" : "es", e.passes->ways);
  if (e.local_sectors) text += fmt::format("    {} sectors of 32 bytes, interleaved by lanes\n", *e.local_sectors);
  if (e.constant_passes)
    text += fmt::format("    {} pass{}\n", *e.constant_passes, *e.constant_passes == 1 ? "" : "es");
  return text;
}

constexpr std::string_view kCsvHead = "launch,block,warp,line,event,space,lane_bytes,mask,taken,first_address,stride,"
                                      "transactions,bytes_moved,passes,ways,barrier,source\n";

std::string csv_of(const SeenEvent& e) {
  const std::string who = fmt::format("{},{},{},{}", e.launch, e.of.cta, e.of.warp, e.instruction->where.line);
  if (e.kind == EventKind::branch)
    return fmt::format("{},branch,,,{:08x},{:08x},,,,,,,,{}\n", who, e.branch.active, e.branch.taken,
                       api::csv_cell(e.source));
  if (e.kind == EventKind::barrier)
    return fmt::format("{},barrier,,,{:08x},,,,,,,,{},{}\n", who, e.barrier.active, e.barrier.number,
                       api::csv_cell(e.source));
  const exec::Access& a = e.access;
  std::string transactions, moved, passes, ways;
  if (a.space == isa::Space::global) {
    std::uint64_t bytes = 0;
    for (const analyzers::Transaction& t : e.transactions) bytes += t.bytes;
    transactions = std::to_string(e.transactions.size()), moved = std::to_string(bytes);
  }
  if (e.local_sectors) {
    transactions = std::to_string(*e.local_sectors);
    moved = std::to_string(32 * std::uint64_t{*e.local_sectors});
  }
  if (e.passes) passes = std::to_string(e.passes->passes), ways = std::to_string(e.passes->ways);
  if (e.constant_passes) passes = std::to_string(*e.constant_passes);
  return fmt::format("{},{},{},{},{:08x},,{},{},{},{},{},{},,{}\n", who, api::name(a.kind), isa::name(a.space),
                     a.lane_bytes, a.mask, a.addresses[std::countr_zero(a.mask)],
                     a.shape != exec::Shape::irregular ? std::to_string(a.stride) : "", transactions, moved, passes,
                     ways, api::csv_cell(e.source));
}

api::TraceQuery query_of(const po::variables_map& values) {
  api::TraceQuery query;
  if (values.count("lines") != 0) query.lines = parse_lines(values["lines"].as<std::string>(), "--lines");
  if (values.count("blocks") != 0)
    std::tie(query.first_block, query.last_block) = parse_range(values["blocks"].as<std::string>(), "--blocks");
  if (values.count("warps") != 0) {
    const auto [first, last] = parse_range(values["warps"].as<std::string>(), "--warps");
    constexpr std::uint64_t kMost = ~std::uint32_t{0};
    query.first_warp = static_cast<std::uint32_t>(std::min(first, kMost));
    query.last_warp = static_cast<std::uint32_t>(std::min(last, kMost));
  }
  query.branches = query.barriers = values.count("accesses-only") == 0;
  return query;
}

int show(const std::string& file, const po::variables_map& values) {
  const std::string format = values["format"].as<std::string>();
  if (format != "text" && format != "jsonl" && format != "csv")
    throw UsageError{fmt::format("--format: expected text, jsonl or csv, got '{}'", format), ""};
  const api::Trace trace = value_or_throw(api::Trace::open(file));
  const rules::RuleSet rules = value_or_throw(api::load_rules(
      values.count("rule") != 0 ? values["rule"].as<std::vector<std::string>>() : std::vector<std::string>()));
  const api::TraceView view = value_or_throw(api::TraceView::open(trace, values["launch"].as<std::size_t>(), rules));
  const api::TraceQuery query = query_of(values);
  if (format == "text")
    write(fmt::format("transactions by rule {}, passes by rule {}\n", view.coalescing_rule().name,
                      view.bank_rule().name));
  if (format == "csv") write(kCsvHead);
  const std::uint64_t limit = values["limit"].as<std::uint64_t>();
  std::uint64_t shown = 0;
  bool more = false;
  value_or_throw(view.visit(query, [&](const SeenEvent& e) {
    if (limit != 0 && shown == limit) return more = true, false;
    ++shown;
    if (format == "text")
      write(text_of(e, view.bank_rule()));
    else
      write_data(format == "csv" ? csv_of(e) : api::json_line(e));
    return true;
  }));
  if (format == "text" && shown == 0) write("no matching events\n");
  if (format == "text" && more)
    write(fmt::format("… more events follow: --limit {} shows twice as many, --limit 0 shows all\n", 2 * limit));
  return kFine;
}

} // namespace

int inspect(const std::vector<std::string>& arguments) {
  const po::options_description visible = inspect_options();
  const TraceCommand command = parse_trace_command(arguments, visible, 1, "warplens inspect TRACE.h5");
  if (command.files.empty()) return show_help(kInspectHelp, visible, kInspectExamples);
  const LimitGuard guard(command.values);
  return show(command.files.front(), command.values);
}

} // namespace warplens::tools
