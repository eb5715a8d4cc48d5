// SPDX-License-Identifier: Apache-2.0
// J. Cornelis, Anti-parallel Patterns in Fine-grain Data-parallel Programs, 2010: Tables 2.1, 4.1 to 4.3, 7.1 to 7.5.
#include "model/cornelis.hpp"
#include "analyzers/banks.hpp"
#include "analyzers/coalescing.hpp"
#include "tests/reproduction/addresses.hpp"
#include "tests/reproduction/page.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>

namespace warplens::reproduction {
namespace {

using namespace model;

// Bytes that a warp's access to 4-byte words moves.
double bytes(std::string_view rule, const Addresses& list) {
  return static_cast<double>(
      analyzers::transactions(*rules::find_coalescing_rule(rule), list.data(), 0xffffffffu, 4).bytes());
}

void global_access(Page& page) {
  page.text("Table 4.1: slowdown of a matrix copy along columns relative to a coalesced copy. The model is the ratio "
            "of bytes moved.");
  const Addresses row = addresses([](std::uint64_t lane) { return 4 * lane; });
  const Addresses column = addresses([](std::uint64_t lane) { return 4 * 2048 * lane; });
  struct Gpu {
    const char *name, *rule, *read, *write, *both;
    std::array<std::string_view, 3> why;
  };
  constexpr std::string_view kWrites = "a write moves as many bytes as a read",
                             kLatency = "two multiprocessors are bound by latency, not by bandwidth";
  for (const Gpu& gpu :
       {Gpu{"GTX 280", "1.2", "4.0 ± 0.25", "5.5 ± 0.5", "9.0 ± 1.0", {kWrites, kWrites, ""}},
        Gpu{"8500 GT", "1.0", "2.5 ± 0.25", "3.5 ± 0.25", "5.0 ± 0.5", {kLatency, kLatency, kLatency}}}) {
    const double c = bytes(gpu.rule, row), n = bytes(gpu.rule, column);
    const std::tuple<const char*, const char*, double> rows[] = {
        {"read", gpu.read, access_slowdown(n + c, 2 * c)},
        {"write", gpu.write, access_slowdown(c + n, 2 * c)},
        {"read and write", gpu.both, access_slowdown(2 * n, 2 * c)}};
    std::size_t i = 0;
    for (const auto& [what, printed, ours] : rows)
      page.computed(fmt::format("{}: {} not coalesced", gpu.name, what), "", printed, ours, gpu.why[i++]);
  }
  const Addresses crossed = addresses([](std::uint64_t lane) { return 4 * (lane ^ 1); });
  page.claim(Kind::computed, "crossed access, compute capability 1.3", "coalesced",
             fmt::format("{} bytes", bytes("1.2", crossed)), bytes("1.2", crossed) == bytes("1.2", row));
  page.claim(Kind::computed, "crossed access, compute capability 1.1", "not coalesced",
             fmt::format("{} bytes", bytes("1.0", crossed)), bytes("1.0", crossed) > bytes("1.0", row));
}

void bank_conflicts(Page& page) {
  const auto& rule = *rules::find_bank_rule("1.x");
  const Addresses column = addresses([](std::uint64_t lane) { return lane / 16 * 4 + lane % 16 * 64; });
  const analyzers::Passes p = analyzers::passes(rule, column.data(), 0xffffffffu, 4);
  const double pass = find_device("gtx280")->issue_cycles->bank_pass.value_or(0);
  const double conflict = p.conflicts() * pass; // cycles that a warp loses by one access
  page.text(fmt::format(
      "Table 4.2: a column of a 16 x 16 tile is a {}-way conflict, {} additional passes per warp, {} cycles. The "
      "issue cycles of the rest of the loop are fitted once, to the first row.",
      p.ways, p.conflicts(), conflict));
  const double body = conflict / (4.25 - 1); // cycles of the loop without conflicts
  constexpr std::string_view kOneBody = "the loop is assumed to be that of the GTX 280";
  page.fitted("GTX 280: read", "times slower", "4.25 ± 0.05", conflict_slowdown(body, conflict), "fitted to it");
  page.computed("GTX 280: write", "times slower", "4.25 ± 0.05", conflict_slowdown(body, conflict));
  page.computed("GTX 280: read and write", "times slower", "7.55 ± 0.05", conflict_slowdown(body, 2 * conflict));
  page.computed("8500 GT: read", "times slower", "4.15 ± 0.05", conflict_slowdown(body, conflict), kOneBody);
  page.computed("8500 GT: write", "times slower", "4.00 ± 0.05", conflict_slowdown(body, conflict), kOneBody);
  page.computed("8500 GT: read and write", "times slower", "7.60 ± 0.05", conflict_slowdown(body, 2 * conflict),
                kOneBody);
}

void structures(Page& page) {
  page.text("Table 4.3: an array of 12-byte structures compared with a structure of arrays, by bytes moved.");
  const Addresses aos = addresses([](std::uint64_t lane) { return 12 * lane; });
  const Addresses soa = addresses([](std::uint64_t lane) { return 4 * lane; });
  page.computed("GTX 280: 5 ms against 1.8 ms", "times slower", "2.78",
                access_slowdown(bytes("1.2", aos), bytes("1.2", soa)), "the time does not depend on bytes alone");
  page.computed("8500 GT: 182 ms against 31 ms", "times slower", "5.87",
                access_slowdown(bytes("1.0", aos), bytes("1.0", soa)),
                "an upper bound: every lane moves its own 32 bytes");
}

// Addresses of a column land in so many partitions; a write-through column that stays in few of them camps.
std::size_t partitions_of_a_column(const Device& d, std::uint64_t pitch_floats) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 64; ++i)
    seen.insert(4 * pitch_floats * i / static_cast<std::uint64_t>(*d.partition_bytes) %
                static_cast<std::uint64_t>(*d.partitions));
  return seen.size();
}

void partition_camping(Page& page) {
  page.text("Section 4.2, partition camping: peaks at matrix widths whose columns stay in few partitions.");
  const Device small = *find_device("8500gt"), large = *find_device("gtx280");
  page.claim(Kind::arithmetic, "8500 GT: width 128", "a peak",
             fmt::format("{} of 2 partitions", partitions_of_a_column(small, 128)),
             partitions_of_a_column(small, 128) == 1 && partitions_of_a_column(small, 64) == 2);
  page.claim(Kind::arithmetic, "GTX 280: width 256", "a peak, less pronounced",
             fmt::format("{} of 8 partitions", partitions_of_a_column(large, 256)),
             partitions_of_a_column(large, 256) == 2 && partitions_of_a_column(large, 192) > 2);
}

// Section 7.1: what the outside world sees of the bytes, read once and written once, in GB/s.
double scan_throughput(double elements, double milliseconds) { return 2 * 4 * elements / milliseconds * 1e-6; }

// Section 7.2.1: the naive prefix sum takes at least one copy, and for each of two sweeps two accesses in each of its
// log2(block) steps, of which the later half touches half of the memory.
double copies_of_naive_scan(double block) {
  const double half = std::log2(block) / 2;
  return 1 + 2 * (2 * half + half);
}

void prefix_sum(Page& page) {
  page.text(
      "Tables 7.1 to 7.5, the prefix sum: throughput from size and run time, and speedup relative to the previous "
      "version.");
  struct Step {
    const char* name;
    double old_ms;
    const char *old_gb, *old_speedup;
    double new_ms;
    const char *new_gb, *new_speedup;
  };
  const Step steps[] = {{"naive", 508, "0.132", "", 46, "2.87", ""},
                        {"shared memory", 481, "0.140", "1.06", 46, "2.87", "1.00"},
                        {"static thread reordering", 223, "0.301", "2.16", 19, "6.95", "2.42"},
                        {"data mapping", 164, "0.409", "1.36", 14, "9.44", "1.36"},
                        {"no bank conflicts", 128, "0.524", "1.16", 11.5, "11.5", "1.09"}};
  for (const Step* s = steps; s != std::end(steps); ++s) {
    page.arithmetic(fmt::format("{}, 8500 GT", s->name), "GB/s", s->old_gb, scan_throughput(8388608, s->old_ms));
    page.arithmetic(fmt::format("{}, GTX 280", s->name), "GB/s", s->new_gb, scan_throughput(16515072, s->new_ms));
    if (s == steps) continue;
    const bool last = s + 1 == std::end(steps);
    const std::string_view why = last ? "the paper contradicts itself: the speedup refers to a version whose time is "
                                        "not printed"
                                      : "";
    page.arithmetic("its speedup, 8500 GT", "", s->old_speedup, (s - 1)->old_ms / s->old_ms, why);
    page.arithmetic("its speedup, GTX 280", "", s->new_speedup, (s - 1)->new_ms / s->new_ms, why);
  }
  page.arithmetic("section 7.2.1: naive version, copies at least", "", "25", copies_of_naive_scan(256));
}

} // namespace

void cornelis(Page& page) {
  page.section("Cornelis 2010",
               "GeForce 8500 GT (compute capability 1.1) and GTX 280 (1.3). Transactions and conflicts are "
               "those of the rules that the emulator uses.");
  global_access(page);
  bank_conflicts(page);
  structures(page);
  partition_camping(page);
  prefix_sum(page);
}

} // namespace warplens::reproduction
