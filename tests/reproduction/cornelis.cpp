// J. Cornelis, Anti-parallel Patterns in Fine-grain Data-parallel Programs, 2010: Tables 2.1, 4.1 to 4.3, 7.1 to 7.5.
#include "model/cornelis.hpp"
#include "analyzers/banks.hpp"
#include "analyzers/coalescing.hpp"
#include "tests/reproduction/page.hpp"

#include <fmt/format.h>

#include <array>
#include <set>

namespace warplens::reproduction {
namespace {

using namespace model;
using Addresses = std::array<std::uint64_t, 32>;

template <class Address> Addresses addresses(Address address) {
  Addresses list{};
  for (std::uint64_t lane = 0; lane < 32; ++lane) list[lane] = address(lane);
  return list;
}

// Bytes that a warp's access to 4-byte words moves.
double bytes(std::string_view rule, const Addresses& list) {
  return static_cast<double>(
      analyzers::transactions(*rules::find_coalescing_rule(rule), list.data(), 0xffffffffu, 4).bytes());
}

void branching(Page& page) {
  page.text("Chapter 3, equations (3.1) to (3.3).");
  const auto equal = [](double n) { return branching_time(5, n, std::array{Branch{1, 7}}); };
  bool linear = true;
  for (int n = 1; n < 10; ++n) linear &= equal(n + 1) - equal(n) == 7;
  page.claim("(3.1): every further branch adds the same", "linear", linear ? "linear, 1 to 10 branches" : "not",
             linear);
  const Branch growing[] = {{0.25, 1}, {0.25, 2}, {0.25, 3}, {0.25, 4}};
  page.number("(3.2): branches of 1, 2, 3, 4, all followed, 5 outside", "", 5 + 1 + 2 + 3 + 4,
              branching_time(5, 4, growing), 0);
  const Branch uneven[] = {{0.9, 10}, {0.1, 30}};
  page.number("(3.3): 90 % and 10 %, 1.5 branches of a warp", "", 5 + 1.5 * (0.9 * 10 + 0.1 * 30),
              branching_time(5, 1.5, uneven), 1e-12);
}

void global_access(Page& page) {
  page.text(
      "Table 4.1: copy of a matrix, coalesced or along columns. The model is bytes moved; the middle of the measured "
      "range is the paper's number.");
  const Addresses row = addresses([](std::uint64_t lane) { return 4 * lane; });
  const Addresses column = addresses([](std::uint64_t lane) { return 4 * 2048 * lane; });
  struct Gpu {
    const char *name, *rule;
    double read, write, both;
    bool follows;
  };
  for (const Gpu& gpu : {Gpu{"GTX 280", "1.2", 4, 5.5, 9, true}, Gpu{"8500 GT", "1.0", 2.5, 3.5, 5, false}}) {
    const double c = bytes(gpu.rule, row), n = bytes(gpu.rule, column);
    const std::tuple<const char*, double, double> rows[] = {
        {"read", gpu.read, access_slowdown(n + c, 2 * c)},
        {"write", gpu.write, access_slowdown(c + n, 2 * c)},
        {"read and write", gpu.both, access_slowdown(2 * n, 2 * c)}};
    for (const auto& [what, measured, ours] : rows) {
      const std::string label = fmt::format("{}: {} not coalesced", gpu.name, what);
      if (gpu.follows)
        page.number(label, "times slower", measured, ours, 0.2);
      else
        page.missed(label, "times slower", measured, ours, 0.2, "two multiprocessors wait for latency, not for bytes");
    }
  }
  const Addresses crossed = addresses([](std::uint64_t lane) { return 4 * (lane ^ 1); });
  page.claim("crossed access, compute capability 1.3", "coalesced", fmt::format("{} bytes", bytes("1.2", crossed)),
             bytes("1.2", crossed) == bytes("1.2", row));
  page.claim("crossed access, compute capability 1.1", "not coalesced", fmt::format("{} bytes", bytes("1.0", crossed)),
             bytes("1.0", crossed) > bytes("1.0", row));
}

void bank_conflicts(Page& page) {
  const auto& rule = *rules::find_bank_rule("1.x");
  const Addresses column = addresses([](std::uint64_t lane) { return lane / 16 * 4 + lane % 16 * 64; });
  const analyzers::Passes p = analyzers::passes(rule, column.data(), 0xffffffffu, 4);
  const double pass = find_device("gtx280")->issue_cycles->bank_pass.value_or(0);
  const double conflict = p.conflicts() * pass; // cycles that a warp loses by one access
  page.text(fmt::format(
      "Table 4.2: a column of a 16 x 16 tile is a {}-way conflict, {} more passes of a warp, {} cycles. The "
      "issue cycles of the rest of the loop are fitted once, to the first row.",
      p.ways, p.conflicts(), conflict));
  const double body = conflict / (4.25 - 1); // cycles of the loop without conflicts
  page.fitted("GTX 280: read", "times slower", 4.25, conflict_slowdown(body, conflict), "it");
  page.number("GTX 280: write", "times slower", 4.25, conflict_slowdown(body, conflict), 0.02);
  page.number("GTX 280: read and write", "times slower", 7.55, conflict_slowdown(body, 2 * conflict), 0.02);
  page.number("8500 GT: read", "times slower", 4.15, conflict_slowdown(body, conflict), 0.07);
  page.number("8500 GT: write", "times slower", 4.00, conflict_slowdown(body, conflict), 0.07);
  page.number("8500 GT: read and write", "times slower", 7.60, conflict_slowdown(body, 2 * conflict), 0.07);
}

void structures(Page& page) {
  page.text("Table 4.3: array of structures of 12 bytes against structure of arrays, by bytes moved.");
  const Addresses aos = addresses([](std::uint64_t lane) { return 12 * lane; });
  const Addresses soa = addresses([](std::uint64_t lane) { return 4 * lane; });
  page.number("GTX 280: 5 ms against 1.8 ms", "times slower", 5 / 1.8,
              access_slowdown(bytes("1.2", aos), bytes("1.2", soa)), 0.1);
  page.missed("8500 GT: 182 ms against 31 ms", "times slower", 182.0 / 31,
              access_slowdown(bytes("1.0", aos), bytes("1.0", soa)), 0.3,
              "an upper bound: every lane its own 32 bytes");
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
  page.claim("8500 GT: width 128", "a peak", fmt::format("{} of 2 partitions", partitions_of_a_column(small, 128)),
             partitions_of_a_column(small, 128) == 1 && partitions_of_a_column(small, 64) == 2);
  page.claim("GTX 280: width 256", "a peak, less pronounced",
             fmt::format("{} of 8 partitions", partitions_of_a_column(large, 256)),
             partitions_of_a_column(large, 256) == 2 && partitions_of_a_column(large, 192) > 2);
}

void prefix_sum(Page& page) {
  page.text(
      "Tables 7.1 to 7.5, the prefix sum: throughput from size and run time, speed-up against the version before.");
  struct Step {
    const char* name;
    double old_ms, old_gb, old_speedup, new_ms, new_gb, new_speedup;
    int new_digits;
  };
  const Step steps[] = {{"naive", 508, 0.132, 1, 46, 2.87, 1, 2},
                        {"shared memory", 481, 0.140, 1.06, 46, 2.87, 1.00, 2},
                        {"static thread reordering", 223, 0.301, 2.16, 19, 6.95, 2.42, 2},
                        {"data mapping", 164, 0.409, 1.36, 14, 9.44, 1.36, 2},
                        {"no bank conflicts", 128, 0.524, 1.16, 11.5, 11.5, 1.09, 1}};
  double before_old = 508, before_new = 46;
  for (const Step& s : steps) {
    page.printed(fmt::format("{}, 8500 GT", s.name), "GB/s", s.old_gb,
                 scan_throughput(8388608, 4, s.old_ms * 1e-3) * 1e-9, 3);
    page.printed(fmt::format("{}, GTX 280", s.name), "GB/s", s.new_gb,
                 scan_throughput(16515072, 4, s.new_ms * 1e-3) * 1e-9, s.new_digits);
    if (&s == std::end(steps) - 1) {
      page.contradiction("its speed-up, 8500 GT", "", s.old_speedup, before_old / s.old_ms, 0.05,
                         "to a version whose time is not printed");
      page.contradiction("its speed-up, GTX 280", "", s.new_speedup, before_new / s.new_ms, 0.05,
                         "to a version whose time is not printed");
    } else if (&s != steps) {
      page.printed("its speed-up, 8500 GT", "", s.old_speedup, before_old / s.old_ms, 2);
      page.printed("its speed-up, GTX 280", "", s.new_speedup, before_new / s.new_ms, 2);
    }
    before_old = s.old_ms;
    before_new = s.new_ms;
  }
  page.number("section 7.2.1: naive version, copies at least", "", 25, naive_scan_bound(1), 0);
  page.claim("section 7.2.4: mapping gains where the extra work is less than the work", "t_delta < t2",
             fmt::format("{:.3f} and {:.3f}", mapping_speedup(1, 4, 3.9), mapping_speedup(1, 4, 4.1)),
             mapping_speedup(1, 4, 3.9) > 1 && mapping_speedup(1, 4, 4.1) < 1);
}

} // namespace

void cornelis(Page& page) {
  page.section("Cornelis 2010",
               "GeForce 8500 GT (compute capability 1.1) and GTX 280 (1.3). Transactions and conflicts are "
               "those of the rules that the emulator uses.");
  branching(page);
  global_access(page);
  bank_conflicts(page);
  structures(page);
  partition_camping(page);
  prefix_sum(page);
}

} // namespace warplens::reproduction
