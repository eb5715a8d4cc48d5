// SPDX-License-Identifier: Apache-2.0
// The approximations, bit for bit: every line of tests/data/hardware/special_functions.txt, at every level. Each
// line has an instruction, its inputs, and a hash for each 65536 results of an H200. ask/special_functions.py describes
// and generates inputs and hashes.
#include "emulator/exec/decode/levels.hpp"
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>

namespace warplens {
namespace special_functions_test {

using exec::kWarpSize;

constexpr std::uint64_t kBlock = 65536;
constexpr std::uint32_t kRow = 8 * kWarpSize;
constexpr std::uint32_t kAlways = exec::kRegisterFile, kResult = kAlways + kRow, kSource = kResult + kRow;
constexpr std::uint32_t kMemory = kSource + 2 * kRow;

std::uint64_t splitmix(std::uint64_t index, std::uint64_t seed) {
  std::uint64_t z = (index + 1 + seed) * 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

// "3f800000+8388608*1", "random", "near" or "all16", of results that are `bytes` wide.
struct Inputs {
  enum { counted, random, near } kind = counted;
  int bytes;
  std::uint64_t first = 0, count = 65536, stride = 1;

  Inputs(const std::string& text, int width) : bytes(width) {
    if (text == "random" || text == "near") {
      kind = text == "near" ? near : random;
      count = std::uint64_t{1} << 17;
    } else if (text != "all16") {
      const std::size_t plus = text.find('+'), star = text.find('*');
      first = std::stoull(text, nullptr, 16);
      count = std::stoull(text.substr(plus + 1));
      stride = std::stoull(text.substr(star + 1));
    }
  }

  [[nodiscard]] std::uint64_t operator()(std::uint64_t index, int operand) const {
    const auto seed = static_cast<std::uint64_t>(operand);
    if (kind == counted) return first + index * stride;
    if (kind == random) return splitmix(index, seed + 1) >> (bytes == 8 ? 0 : 32);
    const std::uint64_t word = splitmix(index, seed + 3) >> 32;
    return (word & 0x807FFFFF) | (0x3D800000 + ((word >> 23 & 7) << 23));
  }
};

struct Line {
  std::string instruction, inputs;
  std::vector<std::uint64_t> hashes;
};

std::vector<Line> lines() {
  std::vector<Line> list;
  std::istringstream text(tests::data_file("hardware/special_functions.txt"));
  for (std::string row; std::getline(text, row);) {
    std::istringstream words(row);
    Line line;
    words >> line.instruction >> line.inputs;
    for (std::string word; words >> word;) line.hashes.push_back(std::stoull(word, nullptr, 16));
    list.push_back(line);
  }
  return list;
}

struct FreeWarp {
  void operator()(exec::Warp* warp) const { std::free(warp); }
};

// The result registers of one instruction, a warp at a time.
class Unit {
public:
  Unit(const isa::Spelling& spelling, const exec::Level& level)
      : handler_(level.lanes()[spelling.entry_index][static_cast<std::size_t>(spelling.variant)]),
        warp_(static_cast<exec::Warp*>(std::aligned_alloc(64, kMemory))) {
    std::memset(static_cast<void*>(warp_.get()), 0, kMemory);
    warp_->active = exec::predicate(warp_.get(), kAlways) = exec::kFullMask;
    op_.guard = kAlways;
    op_.dst[0] = kResult;
    op_.src[0] = kSource;
    op_.src[1] = kSource + kRow;
  }

  // Of the 65536 inputs from `first` on, or as many as there are. T is an unsigned integer as wide as a register.
  template <class T> std::uint64_t hash(const Inputs& inputs, std::uint64_t first, std::uint64_t infinity) {
    std::uint64_t state = 1469598103934665603u;
    const std::uint64_t sign = std::uint64_t{1} << (8 * sizeof(T) - 1);
    for (std::uint64_t i = first; i < std::min(first + kBlock, inputs.count); i += kWarpSize) {
      for (int operand = 0; operand < 2; ++operand) {
        T* const row = exec::row<T>(warp_.get(), op_.src[operand]);
        for (unsigned lane = 0; lane < kWarpSize; ++lane) row[lane] = static_cast<T>(inputs(i + lane, operand));
      }
      handler_(&op_, warp_.get());
      const T* const results = exec::row<T>(warp_.get(), kResult);
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        const bool nan = (results[lane] & ~sign) > infinity;
        state = (state ^ (nan ? sign - 1 : results[lane])) * 1099511628211u;
      }
    }
    return state;
  }

private:
  exec::Handler handler_;
  std::unique_ptr<exec::Warp, FreeWarp> warp_;
  exec::Op op_;
};

void compare(const Line& line, const exec::Level& level) {
  const auto spelling = isa::lookup(line.instruction, 90, 90);
  ASSERT_TRUE(spelling.has_value()) << line.instruction;
  const isa::Type type = spelling->form.type();
  const int bytes = isa::bytes(type);
  const Inputs inputs(line.inputs, bytes);
  ASSERT_EQ(line.hashes.size(), (inputs.count + kBlock - 1) / kBlock);
  Unit unit(*spelling, level);
  std::size_t wrong = 0;
  std::uint64_t where = 0;
  for (std::size_t block = 0; block < line.hashes.size(); ++block) {
    const std::uint64_t first = block * kBlock;
    const std::uint64_t hash = bytes == 8 ? unit.hash<std::uint64_t>(inputs, first, 0x7ff0000000000000)
                               : bytes == 4
                                   ? unit.hash<std::uint32_t>(inputs, first, 0x7f800000)
                                   : unit.hash<std::uint16_t>(inputs, first, type == isa::Type::f16 ? 0x7c00 : 0x7f80);
    if (hash != line.hashes[block] && wrong++ == 0) where = inputs(first, 0);
  }
  EXPECT_EQ(wrong, 0u) << "of " << line.hashes.size() << " blocks of " << line.instruction << " " << line.inputs
                       << " at " << level.name << ", the first from input " << std::hex << where << " on";
}

TEST(SpecialFunctions, GiveTheBitsOfHardware) {
  for (const exec::Level& level : exec::levels())
    for (const Line& line : lines()) compare(line, level);
}

} // namespace special_functions_test
} // namespace warplens
