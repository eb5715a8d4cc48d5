// SPDX-License-Identifier: Apache-2.0
#include "api/sweep/match_lines.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace warplens::api {

namespace {

using ReportedLines = std::span<const ReportedLaunch::Line>;
using LineMatches = std::vector<std::optional<std::size_t>>;

/// The longest sequence of lines with equal opcodes that both reports have in the same order: J. Hunt, T. Szymanski, A
/// fast algorithm for computing longest common subsequences, CACM 20(5), 1977.
LineMatches common_sequence(ReportedLines before, ReportedLines after) {
  constexpr std::size_t kMostPlaces = 256; // of one text: more would take quadratic time
  std::unordered_map<std::string_view, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < after.size(); ++i)
    if (std::vector<std::size_t>& list = places[after[i].opcodes]; list.size() < kMostPlaces) list.push_back(i);
  struct Link {
    std::size_t line, other, previous;
  };
  constexpr std::size_t kNoLink = ~std::size_t{0};
  std::vector<Link> links;
  std::vector<std::size_t> ends; // ends[n]: the link that ends a sequence of n + 1 lines earliest in `after`
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto found = places.find(before[i].opcodes);
    if (found == places.end()) continue;
    for (auto last = found->second.rbegin(); last != found->second.rend(); ++last) {
      const std::size_t place = *last;
      const auto at = std::lower_bound(ends.begin(), ends.end(), place,
                                       [&](std::size_t link, std::size_t other) { return links[link].other < other; });
      const std::size_t previous = at == ends.begin() ? kNoLink : *std::prev(at);
      if (at != ends.end() && links[*at].other == place) continue;
      links.push_back({i, place, previous});
      if (at == ends.end())
        ends.push_back(links.size() - 1);
      else
        *at = links.size() - 1;
    }
  }
  LineMatches matches(before.size());
  for (std::size_t link = ends.empty() ? kNoLink : ends.back(); link != kNoLink; link = links[link].previous)
    matches[links[link].line] = links[link].other;
  return matches;
}

/// Lines between two matched ones match in order if both reports have the same number of them there.
void match_between(LineMatches& matches, std::size_t count) {
  std::size_t first = 0, other = 0; // of the gap
  for (std::size_t i = 0; i <= matches.size(); ++i) {
    if (i < matches.size() && !matches[i]) continue;
    const std::size_t end = i < matches.size() ? *matches[i] : count;
    if (i - first == end - other)
      for (std::size_t n = first; n < i; ++n) matches[n] = other + (n - first);
    first = i + 1;
    other = end + 1;
  }
}

void match_places(LineMatches& matches, ReportedLines before, ReportedLines after) {
  std::map<std::string_view, std::size_t> free;
  for (std::size_t i = 0; i < after.size(); ++i) free.emplace(after[i].where, i);
  for (std::size_t i = 0; i < before.size(); ++i)
    if (matches[i]) free.erase(after[*matches[i]].where);
  for (std::size_t i = 0; i < before.size(); ++i)
    if (const auto same = free.find(before[i].where); !matches[i] && same != free.end()) {
      matches[i] = same->second;
      free.erase(same);
    }
}

} // namespace

LineMatches match_lines(ReportedLines before, ReportedLines after, bool one_kernel) {
  LineMatches matches(before.size());
  if (one_kernel) {
    matches = common_sequence(before, after);
    match_between(matches, after.size());
  }
  match_places(matches, before, after);
  return matches;
}

} // namespace warplens::api
