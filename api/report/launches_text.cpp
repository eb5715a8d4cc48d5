// SPDX-License-Identifier: Apache-2.0
// The text report of several launches: a table of kernels, and the reports of those that are chosen.
#include "api/report/launch_groups.hpp"
#include "api/report/report_text.hpp"
#include "api/report/table.hpp"
#include "api/report/units.hpp"
#include "api/session/kernel_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

namespace warplens::api {

namespace {

/// "1 to 3, 7": numbers of launches, from 1.
std::string numbers_of(const IdenticalLaunches& launches) {
  constexpr std::size_t kMostRanges = 8;
  std::string text;
  std::size_t ranges = 0;
  for (std::size_t i = 0; i < launches.size(); ++ranges) {
    std::size_t end = i + 1;
    while (end < launches.size() && launches[end] == launches[end - 1] + 1) ++end;
    if (ranges == kMostRanges) return text + ", …";
    const std::size_t first = launches[i] + 1, last = launches[end - 1] + 1;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
    if (last != first) text += fmt::format("{}{}", last == first + 1 ? ", " : " to ", last);
    i = end;
  }
  return text;
}

/// "UncoalescedGlobalAccess (2.1 x), transpose.cu:9": with the speedup that the remedy promises; empty if that is
/// little. Where the columns do not suffice, the place is left out, then the name is cut.
std::string short_finding(const analyzers::Finding* finding, std::size_t columns) {
  if (finding == nullptr || saves_little(*finding)) return {};
  const std::string speedup = finding->speedup ? fmt::format(" ({:.2f} x)", *finding->speedup) : "";
  std::string text = cut(finding->rule, columns - std::min(columns, speedup.size())) + speedup;
  if (finding->source_line == 0) return text;
  const std::string place = fmt::format(", {}:{}", base_name(finding->source_file), finding->source_line);
  constexpr std::size_t kLeastPlace = 8;
  const bool fits = width(text) + std::min(width(place), kLeastPlace) <= columns;
  return fits ? cut(text + place, columns) : text;
}

/// In the words of the table, which has little room.
std::string short_limiter(const std::string& limiter) {
  return limiter == "overhead of the launch" ? "launch overhead" : limiter;
}

std::string table_of(const std::vector<KernelGroup>& groups, const LaunchReport& first, const Style& style,
                     const TextOptions& options) {
  std::size_t launches = 0;
  double all = 0;
  for (const KernelGroup& g : groups) {
    launches += g.launches;
    all += g.milliseconds;
  }
  const std::string what = fmt::format("{} launches of {}", launches, plural(groups.size(), "kernel"));
  std::string text =
      fmt::format("{} on {} (compute capability {}){}", what, first.device.name, to_string(first.device.capability),
                  all > 0 ? fmt::format(", {} predicted", readable_time(all)) : "");
  text = wrapped(text, "  ", options.columns).substr(2);
  text.insert(std::min(text.find('\n'), what.size()), style.reset);
  text.insert(0, style.bold);
  text += "\n";
  // Names of kernels and findings share the width that the numbers leave; the names need more of it, to tell the
  // kernels apart. On a narrow terminal, there are no findings.
  constexpr std::size_t kNumbers = 30, kLongestLimiter = 20, kBars = 10;
  std::size_t limiters = width("limited by");
  for (const KernelGroup& g : groups) limiters = std::max(limiters, width(short_limiter(g.limiter)));
  limiters = std::min(limiters, kLongestLimiter);
  const bool bars = options.graphics && options.columns >= 110, finding = options.columns >= 76;
  const std::size_t taken = kNumbers + limiters + 2 + (bars ? kBars : 0) + (finding ? 4 : 2);
  const std::size_t room = std::max<std::size_t>(options.columns - std::min(options.columns, taken), 12);
  std::size_t names = 0;
  std::vector<std::string> kernels;
  for (const KernelGroup& g : groups) names = std::max(names, width(kernels.emplace_back(source_name(g.kernel))));
  names = std::min(names, finding ? std::max<std::size_t>(room * 3 / 5, 12) : room);
  kernels = cut_names(kernels, names);
  std::vector<Table::Column> columns = {
      {"#", Table::right}, {"kernel"}, {"launches", Table::right}, {"time", Table::right}, {"share", Table::right}};
  if (bars) columns.push_back({""});
  columns.push_back({"limited by"});
  if (finding) columns.push_back({"worst finding"});
  Table t(std::move(columns));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const KernelGroup& g = groups[i];
    std::vector<std::string> row = {fmt::format("{}", i + 1), kernels[i], fmt::format("{}", g.launches),
                                    g.milliseconds > 0 ? readable_time(g.milliseconds) : "",
                                    all > 0 ? readable_share(g.share) : ""};
    if (bars) row.push_back(bar(g.share, kBars - 2));
    row.push_back(cut(short_limiter(g.limiter), limiters));
    if (finding) row.push_back(short_finding(g.finding, room - names));
    t.row(std::move(row));
  }
  return text + t.text(style.dim, style.reset);
}

/// "1: launches 3 to 7, identical; the longest of 4 different ones"
std::string which(const KernelGroup& g, std::size_t set, std::size_t number, bool every, const Style& style) {
  const IdenticalLaunches& same = g.sets[set];
  std::string text = fmt::format("{}: launch{} {}{}", number + 1, same.size() == 1 ? "" : "es", numbers_of(same),
                                 same.size() == 1 ? "" : ", identical");
  if (!every && g.sets.size() > 1) text += fmt::format("; the longest of {} different ones", g.sets.size());
  return fmt::format("{}{}{}\n", style.dim, text, style.reset);
}

std::string hint(const TextOptions& options, bool others) {
  std::string sections;
  for (const SectionInfo& info : kSections)
    if (!options.details.has(info.section)) sections += fmt::format("{}{}", sections.empty() ? "" : ", ", info.name);
  std::string text;
  if (others) text += wrapped("--show 2 shows the second kernel, --show all shows every kernel", "", options.columns);
  if (!sections.empty())
    text += wrapped(fmt::format("--details SECTION shows more: {} or {}", sections, kAllSections), "", options.columns);
  return text.empty() ? "" : "\n" + text;
}

/// The numbers of the kernels in the table to show, from 0. Error: none of that number or name.
Expected<std::set<std::size_t>> parse_shown(const std::string& text, const std::vector<KernelGroup>& groups) {
  std::set<std::size_t> shown;
  std::istringstream list(text);
  for (std::string word; std::getline(list, word, ',');) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    const bool is_number = error == std::errc{} && end == word.data() + word.size();
    if (is_number && (number == 0 || number > groups.size()))
      return failure(fmt::format("there is no kernel {}: the table has {}", word, groups.size()));
    if (is_number) {
      shown.insert(number - 1);
      continue;
    }
    const Expected<NamePattern> pattern = NamePattern::create(word);
    if (!pattern) return failure(pattern.error());
    const std::size_t before = shown.size();
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (word == "all" || pattern->matches(groups[i].kernel)) shown.insert(i);
    if (shown.size() == before)
      return failure(fmt::format("no kernel has a name that matches '{}'", word), "the table lists the kernels");
  }
  return shown;
}

} // namespace

Expected<std::string> text_report(std::span<const LaunchReport> reports, const Style& style,
                                  const TextOptions& options) {
  std::string text;
  const auto separate = [&] {
    if (!text.empty()) text += "\n\n";
  };
  const std::vector<KernelGroup> groups = kernel_groups(reports);
  std::string last; // launches that were not analysed have only a heading
  for (const LaunchReport& r : reports)
    if (!r.analyzed && !r.trap) {
      std::string heading = text_report(r, style, options);
      if (heading != last) {
        separate();
        text += heading;
      }
      last = std::move(heading);
    }
  if (groups.empty()) return text;
  Expected<std::set<std::size_t>> shown = parse_shown(options.shown, groups);
  if (!shown) return failure(shown.error());
  const bool in_full = !options.details.empty() || options.counters;
  if (options.shown.empty())
    for (std::size_t i = 0; i < (in_full ? groups.size() : 1); ++i) shown->insert(i);
  std::size_t launches = 0;
  for (const KernelGroup& g : groups) launches += g.launches;
  if (launches > 1) {
    separate();
    text += table_of(groups, reports[groups[0].sets[0][0]], style, options);
  }
  for (const std::size_t i : *shown) {
    const KernelGroup& g = groups[i];
    const bool every = in_full || !options.shown.empty();
    for (std::size_t s = 0; s < (every ? g.sets.size() : 1); ++s) {
      separate();
      if (launches > 1) text += which(g, s, i, every, style);
      text += text_report(reports[g.sets[s][0]], style, options);
    }
  }
  if (options.hints) text += hint(options, groups.size() > 1 && options.shown.empty() && !in_full);
  return text;
}

} // namespace warplens::api
