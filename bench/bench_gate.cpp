// SPDX-License-Identifier: Apache-2.0
// Compares ratios of processor times with committed ones: ./dev check performance.
//
//   build/bin/bench_gate [FILE [PAIRS]]      FILE is bench/ratios.txt unless named
//
// A ratio compares two things that run one after the other in this process, so other load and the clock of the
// processor affect both. The median of PAIRS such pairs (11) is compared; one that is too large is measured again with
// twice as many pairs, and the median of all counts. The exit status is 1 if a ratio is still too large, and 2 for
// wrong input.
#include "api/session/freed_memory.hpp"
#include "bench/cases.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace warplens;
using namespace warplens::bench;

/// A line of the file: a ratio of a kernel, and how much larger than committed it may be (0.2: by 20 %).
struct Bound {
  std::string ratio, kernel;
  double committed = 0, tolerance = 0;
  [[nodiscard]] double most() const { return committed * (1 + tolerance); }
};

[[noreturn]] void fail(const std::string& message) {
  fmt::print(stderr, "bench_gate: {}\n", message);
  std::exit(2);
}

double watched(const api::LaunchRequest& request) {
  api::LaunchRequest analyzed = request;
  analyzed.options.analyze = true;
  return seconds_of(analyzed);
}

double by_all(const api::LaunchRequest& request) {
  api::LaunchRequest analyzed = request;
  analyzed.options.analyzers = {"all"};
  return watched(analyzed);
}

double traced(const api::LaunchRequest& request) {
  const double start = processor_seconds();
  trace(request);
  return processor_seconds() - start;
}

/// Analyses the trace again that the launch before it wrote.
double replayed(const api::LaunchRequest& request) {
  trace(request);
  const double start = processor_seconds();
  seconds_replayed();
  return processor_seconds() - start;
}

/// An unwatched launch of the kernel with the least memory accesses: arithmetic alone.
double arithmetic(const api::LaunchRequest&) {
  static const Launch launch(cases().front());
  return seconds_of(launch.request());
}

using Seconds = double (*)(const api::LaunchRequest&);

struct Ratio {
  const char* name;
  Seconds numerator, denominator;
};

constexpr auto kUnwatched = [](const api::LaunchRequest& request) { return seconds_of(request); };
constexpr Ratio kRatios[] = {
    {"unwatched/arithmetic", kUnwatched, [](const api::LaunchRequest& request) { return arithmetic(request); }},
    {"watched/unwatched", watched, kUnwatched},
    {"all/unwatched", by_all, kUnwatched},
    {"traced/unwatched", [](const api::LaunchRequest& request) { return traced(request); }, kUnwatched},
    {"replayed/watched", [](const api::LaunchRequest& request) { return replayed(request); }, watched},
};

const Ratio& ratio_of(const Bound& bound) {
  for (const Ratio& ratio : kRatios)
    if (bound.ratio == ratio.name) return ratio;
  fail(fmt::format("unknown ratio '{}'", bound.ratio));
}

const Case& case_of(const Bound& bound) {
  for (const Case& c : cases())
    if (bound.kernel == c.name) return c;
  fail(fmt::format("unknown kernel '{}'", bound.kernel));
}

std::vector<Bound> read(const std::string& file) {
  std::ifstream in(file);
  if (!in) fail(fmt::format("cannot read '{}'", file));
  std::vector<Bound> list;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    std::istringstream words(line);
    Bound bound;
    if (!(words >> bound.ratio >> bound.kernel >> bound.committed >> bound.tolerance) || bound.committed <= 0 ||
        bound.tolerance <= 0)
      fail(fmt::format("{}:{}: expected RATIO KERNEL COMMITTED TOLERANCE, found '{}'", file, number, line));
    ratio_of(bound), case_of(bound);
    list.push_back(std::move(bound));
  }
  if (list.empty()) fail(fmt::format("'{}' has no ratios", file));
  return list;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void measure(const Bound& bound, const Launch& launch, int pairs, std::vector<double>& values) {
  const Ratio& ratio = ratio_of(bound);
  for (int i = 0; i < pairs; ++i) {
    const double denominator = ratio.denominator(launch.request());
    values.push_back(ratio.numerator(launch.request()) / denominator);
  }
}

/// Whether the ratio is as small as it should be.
bool passes(const Bound& bound, int pairs) {
  const Launch launch(case_of(bound));
  std::vector<double> values;
  measure(bound, launch, pairs, values);
  if (median(values) > bound.most()) measure(bound, launch, 2 * pairs, values);
  const double measured = median(values);
  const char* const verdict = measured > bound.most()                              ? "TOO LARGE"
                              : measured * (1 + bound.tolerance) < bound.committed ? "smaller: commit it"
                                                                                   : "";
  fmt::print("{:<22}{:<15}{:>10.2f}{:>10.2f}{:>10.2f}  {}\n", bound.ratio, bound.kernel, bound.committed, bound.most(),
             measured, verdict);
  return measured <= bound.most();
}

int pairs_of(const std::string& text) {
  int pairs = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, pairs).ptr != end || pairs < 1)
    fail(fmt::format("expected a number of pairs, found '{}'", text));
  return pairs;
}

} // namespace

int main(int argc, char** argv) {
  warplens::api::keep_freed_memory(); // as the program does
  const std::vector<Bound> bounds = read(argc > 1 ? argv[1] : WARPLENS_SOURCE_DIR "/bench/ratios.txt");
  const int pairs = argc > 2 ? pairs_of(argv[2]) : 11;
  fmt::print("{:<22}{:<15}{:>10}{:>10}{:>10}\n", "ratio", "kernel", "committed", "most", "measured");
  bool all = true;
  for (const Bound& bound : bounds) all = passes(bound, pairs) && all;
  std::error_code ignored;
  std::filesystem::remove(trace_file(), ignored);
  return all ? 0 : 1;
}
