// SPDX-License-Identifier: Apache-2.0
// Loads and stores of each width, in each space, by all lanes, some, or one, with consecutive or other addresses: what
// each lane reads and writes, compared with a simple memory model; at every level, watched and unwatched.
#include "tests/exec/kernel_test.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace warplens::tests {
namespace access_shapes_test {

// Global memory is the rest of the result buffer.
constexpr std::uint32_t kThreads = 64, kElements = 128, kVector = 4;

struct Width {
  const char* type;
  std::uint32_t bytes, vector;
  bool sign = false;
  [[nodiscard]] std::uint32_t words() const { return kElements * bytes * vector / 4; } ///< of the memory
  [[nodiscard]] std::uint32_t per_thread() const { return 2 * kVector + words(); }     ///< of the result
};
constexpr Width kWidths[] = {{"u8", 1, 1},  {"s8", 1, 1, true},  {"u16", 2, 1}, {"s16", 2, 1, true},
                             {"u32", 4, 1}, {"s32", 4, 1, true}, {"u64", 8, 1}, {"u8", 1, 4},
                             {"u16", 2, 2}, {"u32", 4, 2},       {"u32", 4, 4}, {"u64", 8, 2}};

// The element number of a lane. No two lanes have the same, except in loads of the first.
struct Places {
  std::uint32_t factor, times, mask; ///< (lane * factor + lane / 16 * times) & mask
  [[nodiscard]] std::uint32_t of(std::uint32_t lane) const { return (lane * factor + lane / 16 * times) & mask; }
  [[nodiscard]] bool distinct() const { return factor != 0; }
};
constexpr Places kPlaces[] = {{0, 0, 0}, {1, 0, 127}, {3, 0, 127}, {1, 40, 127}, {127, 0, 127}, {37, 0, 127}};

// Of the lanes that access memory; each block has one.
constexpr std::uint32_t kMasks[] = {0xffffffff, 1, 1u << 13, 1u << 31, 0x00010100, 0x0f0ff0f0, 0};
constexpr std::uint32_t kBlocks = std::size(kMasks);

struct Where {
  const char* space; ///< of the instruction
  const char* of;    ///< of the memory
  bool own;          ///< each thread has its own
};
constexpr Where kSpaces[] = {{".global", "global", false}, {".shared", "shared", false}, {".local", "local", true},
                             {"", "global", false},        {"", "shared", false},        {"", "local", true}};

struct Shape {
  const Where& where;
  const Width& width;
  const Places& places;
  bool narrow; ///< registers of 32 instead of 64 bits
};

// Each thread fills the memory of its block, or its own, reads under the mask, writes under it what it has read and
// more, and tells what it has read and what is in memory. The registers are wide; `narrow` ones are of 32 bits.
std::string kernel(const Shape& shape) {
  const auto& [where, width, places, narrow] = shape;
  const auto n = [](auto value) { return std::to_string(value); };
  const std::string space(where.space), of(where.of), size = n(width.bytes * width.vector);
  const std::string form = space + (width.vector > 1 ? ".v" + n(width.vector) : "") + "." + width.type;
  std::string registers, masks; ///< of the values; of the block's mask into %r15
  for (std::uint32_t b = 0; b < kBlocks; ++b)
    masks += "setp.eq.u32 %p2, %r3, " + n(b) + "; @%p2 mov.u32 %r15, " + n(kMasks[b]) + ";\n";
  for (std::uint32_t e = 0; e < width.vector; ++e) registers += (e == 0 ? "" : ", ") + ("%v" + n(e));
  if (width.vector > 1) registers = "{" + registers + "}";
  std::string text =
      (of == "local" ? ".local .align 16 .b8 memory[2048];\n" : "") + std::string(".reg .b") + (narrow ? "32" : "64") +
      " %v<4>; .reg .b64 %m<4>;\n " +
      (of == "global" ? "add.u64 %m0, %rd1, " + n(4 * kBlocks * kThreads * width.per_thread()) +
                            "; mul.wide.u32 %m1, %r3, " + n(4 * width.words()) + "; add.u64 %m0, %m0, %m1"
                      : "mov.u64 %m0, memory") +
      "; mov.u64 %m1, %m0;\n" + (space.empty() ? "cvta." + of + ".u64 %m1, %m0;\n" : "") +
      "mov.u32 %r10, 0; mov.u64 %m2, %m0;\n" + "FILL: mad.lo.u32 %r11, %r10, 0x9e3779b1, 0x85ebca6b;\n" +
      (where.own ? "mad.lo.u32 %r11, %r1, 0x01000193, %r11;\n" : "") + "st." + of +
      ".u32 [%m2], %r11; add.u64 %m2, %m2, 4; add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, " + n(width.words()) +
      "; @%p1 bra FILL;\nbar.sync 0;\n" +
      // the place of each warp's lanes, a warp after the other
      "and.b32 %r12, %r1, 31; mul.lo.u32 %r13, %r12, " + n(places.factor) +
      "; shr.u32 %r14, %r12, 4; mad.lo.u32 %r13, %r14, " + n(places.times) + ", %r13; and.b32 %r13, %r13, " +
      n(places.mask) + ";\n mad.lo.u32 %r13, %r13, " + size + ", 0; cvt.u64.u32 %m3, %r13; add.u64 %m3, %m1, %m3;\n" +
      masks +
      "shr.u32 %r14, %r15, %r12; and.b32 %r14, %r14, 1; setp.ne.u32 %p2, %r14, 0; setp.lt.u32 %p3, %r1, 32; and.pred "
      "%p2, %p2, %p3;\n";
  const std::string bits = narrow ? "32" : "64";
  for (std::uint32_t e = 0; e < kVector; ++e) text += "mov.b" + bits + " %v" + n(e) + ", 77;\n";
  text += "@%p2 ld" + form + " " + registers + ", [%m3];\nbar.sync 0;\n";
  text +=
      "mul.lo.u32 %r15, %r2, " + n(4 * width.per_thread()) + "; cvt.u64.u32 %rd10, %r15; add.u64 %rd10, %rd1, %rd10;\n";
  for (std::uint32_t e = 0; e < kVector; ++e)
    text += "st.global.u" + bits + " [%rd10+" + n(8 * e) + "], %v" + n(e) + ";\nadd.u" + bits + " %v" + n(e) + ", %v" +
            n(e) + ", 5;\n";
  if (places.distinct()) text += "@%p2 st" + form + " [%m3], " + registers + ";\nbar.sync 0;\n";
  return text + "mov.u32 %r10, 0; mov.u64 %m2, %m0; add.u64 %rd10, %rd10, " + n(8 * kVector) + ";\nDUMP: ld." + of +
         ".u32 %r11, [%m2]; st.global.u32 [%rd10], %r11; add.u64 %m2, %m2, 4; add.u64 %rd10, %rd10, 4;\n"
         "add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, " +
         n(width.words()) + "; @%p1 bra DUMP;\nret;";
}

// What the threads of the block with this mask tell.
std::vector<std::uint32_t> expected(const Shape& shape, std::uint32_t mask) {
  const Where& where = shape.where;
  const Width& width = shape.width;
  const Places& places = shape.places;
  const std::uint32_t words = width.words(), per_thread = width.per_thread();
  std::vector<std::uint32_t> out(kThreads * per_thread);
  std::vector<std::vector<std::uint32_t>> memory(kThreads, std::vector<std::uint32_t>(words));
  for (std::uint32_t t = 0; t < kThreads; ++t)
    for (std::uint32_t w = 0; w < words; ++w)
      memory[t][w] = w * 0x9e3779b1u + 0x85ebca6bu + (where.own ? t * 0x01000193u : 0);
  const auto bytes_of = [&](std::uint32_t t) { return reinterpret_cast<char*>(memory[where.own ? t : 0].data()); };
  std::array<std::array<std::uint64_t, kVector>, kThreads> values{};
  const auto acts = [&](std::uint32_t t) { return t < 32 && (mask >> t & 1) != 0; };
  const auto place = [&](std::uint32_t t, std::uint32_t e) {
    return bytes_of(t) + places.of(t % 32) * width.bytes * width.vector + e * width.bytes;
  };
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    values[t].fill(77);
    for (std::uint32_t e = 0; e < width.vector && acts(t); ++e) {
      std::uint64_t v = 0;
      std::memcpy(&v, place(t, e), width.bytes);
      const int shift = 64 - 8 * static_cast<int>(width.bytes);
      values[t][e] = width.sign ? static_cast<std::uint64_t>(static_cast<std::int64_t>(v << shift) >> shift) : v;
    }
    for (std::uint32_t e = 0; e < kVector; ++e)
      std::memcpy(&out[t * per_thread + 2 * e], &values[t][e], shape.narrow ? 4 : 8);
  }
  for (std::uint32_t t = 0; t < kThreads && places.distinct(); ++t)
    for (std::uint32_t e = 0; e < width.vector && acts(t); ++e) {
      const std::uint64_t v = values[t][e] + 5;
      std::memcpy(place(t, e), &v, width.bytes);
    }
  for (std::uint32_t t = 0; t < kThreads; ++t) std::memcpy(&out[t * per_thread + 2 * kVector], bytes_of(t), 4 * words);
  return out;
}

struct Nobody final : exec::Watcher {
  std::unique_ptr<exec::Shard> make_shard() override { return std::make_unique<exec::Shard>(); }
  void finish(std::vector<std::unique_ptr<exec::Shard>>, const std::vector<exec::InstructionCount>&) override {}
};

void compare(Emulated& machine, const Shape& shape, const std::vector<std::uint32_t>& wanted, const exec::Level& level,
             bool watched) {
  Nobody nobody;
  Ran ran = run_on(machine, {.blocks = kBlocks,
                             .threads = kThreads,
                             .words = wanted.size() + std::size_t{kBlocks} * shape.width.words(),
                             .level = &level,
                             .watcher = watched ? &nobody : nullptr});
  ASSERT_EQ(ran.trap, "");
  ran.words.resize(wanted.size());
  const auto wrong = std::mismatch(ran.words.begin(), ran.words.end(), wanted.begin()).first - ran.words.begin();
  ASSERT_EQ(static_cast<std::size_t>(wrong), wanted.size())
      << shape.where.space << " of " << shape.where.of << " ." << shape.width.type << " v" << shape.width.vector
      << " places " << shape.places.factor << " mask " << kMasks[wrong * kBlocks / wanted.size()] << " at "
      << level.name << (watched ? " watched" : "");
}

TEST(AccessShapes, EachLaneReadsAndWritesItsOwnPlace) {
  for (const Where& where : kSpaces)
    for (const Width& width : kWidths)
      for (const Places& places : kPlaces)
        for (const bool narrow : {false, true}) {
          if (narrow && width.bytes > 4) continue;
          const Shape shape{where, width, places, narrow};
          Emulated machine(kernel_of(kernel(shape),
                                     where.of == std::string("shared") ? ".shared .align 16 .b8 memory[2048];\n" : ""),
                           "test.ptx");
          std::vector<std::uint32_t> wanted;
          for (const std::uint32_t mask : kMasks) {
            const std::vector<std::uint32_t> block = expected(shape, mask);
            wanted.insert(wanted.end(), block.begin(), block.end());
          }
          for (const exec::Level& level : exec::levels())
            for (const bool watched : {false, true}) compare(machine, shape, wanted, level, watched);
          if (HasFatalFailure()) return;
        }
}

} // namespace access_shapes_test
} // namespace warplens::tests
