// SPDX-License-Identifier: Apache-2.0
// E. Darve, CME 213, Stanford University 2019: bandwidth, the transpose ladder, occupancy, on one GPU of a Tesla K80.
#include "analyzers/banks.hpp"
#include "analyzers/coalescing.hpp"
#include "model/cornelis.hpp"
#include "model/models.hpp"
#include "tests/reproduction/addresses.hpp"
#include "tests/reproduction/page.hpp"

#include <fmt/format.h>

#include <array>

namespace warplens::reproduction {
namespace {

using namespace model;

double bytes(const Addresses& list) {
  return static_cast<double>(
      analyzers::transactions(*rules::find_coalescing_rule("6.0"), list.data(), 0xffffffffu, 4).bytes());
}

// A copy of words of `width` bytes, as the model of bounds sees it: GB/s.
double bound_of_copy(const Device& d, double width) {
  KernelStatistics s;
  s.threads_per_block = 256;
  s.blocks = 13 * 1024;
  s.instructions = 2; // as the slide counts
  s.global_requests = 2;
  s.transactions_32 = 2 * width;
  s.transactions_64 = s.transactions_128 = 0;
  const Expected<Prediction> p = predict(kBounds, s, d);
  return p ? 2 * width * 256 * 13 * 1024 / p->milliseconds * 1e-6 : -1;
}

void bounds(Page& page, const Device& d) {
  Device busy = d, ecc = d;
  busy.throughput.load_store_use = 1;
  ecc.bandwidth_gb_s *= 0.75;
  busy.bandwidth_gb_s = 1000; // so that memory does not bind first
  page.computed("bytes through the load/store units", "GB/s", "364", bound_of_copy(busy, 1));
  page.computed("at a use of 25 %", "GB/s", "90", bound_of_copy(d, 1), "a quarter of 364 is 91");
  page.arithmetic("memory: 2505 MHz, 384 bits, two transfers", "GB/s", "240", 2505e6 * 384 / 8 * 2 * 1e-9);
  page.computed("with error correction, 75 %", "GB/s", "180", bound_of_copy(ecc, 4));
  page.claim(Kind::computed, "bytes are bound by instructions, words of 4 bytes by memory",
             "char: instructions, int: memory",
             fmt::format("{:.0f} and {:.0f} GB/s", bound_of_copy(d, 1), bound_of_copy(d, 4)),
             bound_of_copy(d, 1) < 92 && bound_of_copy(d, 4) > 240);
}

void transpose(Page& page) {
  page.text("The transpose of 4096 x 4096 integers. The times on the slides are those of 11 launches; the time of the "
            "copy is that of one.");
  const double traffic = 2.0 * 4 * 4096 * 4096;
  constexpr std::string_view kTime = "the time is printed with equally few digits";
  const std::tuple<const char*, double, double, const char*, std::string_view> rows[] = {
      {"copy", 1.02581, 1, "130.841", ""},
      {"simpleTranspose", 41.3072, 11, "35.7418", ""},
      {"simpleTranspose2D", 16.9288, 11, "87.2122", kTime},
      {"fastTranspose", 17.1863, 11, "85.9053", ""},
      {"fastTranspose, padded", 12.1581, 11, "121.433", ""}};
  for (const auto& [what, ms, launches, printed, why] : rows)
    page.arithmetic(what, "GB/s", printed, traffic * launches / ms * 1e-6, why);
  const Addresses row = addresses([](std::uint64_t l) { return 4 * l; });
  const Addresses column = addresses([](std::uint64_t l) { return 16384 * l; });
  const Addresses block_read = addresses([](std::uint64_t l) { return l / 8 * 16384 + l % 8 * 4; });
  const Addresses block_write = addresses([](std::uint64_t l) { return l % 8 * 16384 + l / 8 * 4; });
  page.text("32-byte sectors of the first warp, relative to the copy.");
  page.computed("simpleTranspose2D: slower than the copy, 130.841 / 87.2122", "times", "1.50026",
                access_slowdown(bytes(block_read) + bytes(block_write), 2 * bytes(row)),
                "a measured ratio; the ratio of bytes is 3 to 2");
  page.computed("simpleTranspose: slower than the copy, 130.841 / 35.7418", "times", "3.66073",
                access_slowdown(bytes(row) + bytes(column), 2 * bytes(row)), "this count does not include caches");
}

void banks(Page& page) {
  const auto ways = [](const char* rule, std::uint64_t stride) {
    const Addresses list = addresses([&](std::uint64_t l) { return 4 * stride * l; });
    return analyzers::passes(*rules::find_bank_rule(rule), list.data(), 0xffffffffu, 4).ways;
  };
  page.claim(Kind::computed, "fastTranspose: reading with stride 32 conflicts, with 33 it does not", "conflict, none",
             fmt::format("{}-way and {}-way on the K80 in 32-bit mode", ways("3.x-32", 32), ways("3.x-32", 33)),
             ways("3.x-32", 32) == 16 && ways("3.x-32", 33) == 1);
  page.claim(Kind::computed, "the slides' picture, banks of 4 bytes", "32-way", fmt::format("{}-way", ways("5.x+", 32)),
             ways("5.x+", 32) == 32);
  const auto& rule = *rules::find_bank_rule("3.x-64");
  page.claim(Kind::computed, "\"each bank has a bandwidth of 4 bytes per two clock cycles\"", "4 bytes",
             fmt::format("banks of {} bytes on compute capability 3.x", rule.bank_bytes), rule.bank_bytes == 4,
             "CUDA C Programming Guide 5.5, section G.5.3; it holds for 2.x");
}

} // namespace

void cme213(Page& page) {
  page.section("CME 213, 2019", "One of the two GPUs of a Tesla K80.");
  const Expected<Device> d = find_device("k80");
  if (!d) return page.claim(Kind::computed, "device k80", "built in", "missing", false);
  bounds(page, *d);
  transpose(page);
  banks(page);
}

} // namespace warplens::reproduction
