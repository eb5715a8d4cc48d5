// SPDX-License-Identifier: Apache-2.0
// Which tensor maps the driver makes and what is in them, compared with tests/data/hardware/tensor_maps.jsonl, which
// ask/tensor_maps.cpp recorded. The rules are here until our driver has them.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <fstream>
#include <optional>
#include <sstream>

namespace warplens::tests {
namespace {

using nlohmann::json;
using Map = std::array<std::uint64_t, 16>;
using List = std::vector<std::int64_t>;

struct Call {
  explicit Call(const json& j)
      : function(j["function"]), null(j["null"]), type(j["type"]), rank(j["rank"]), address(j["address"]),
        interleave(j["interleave"]), swizzle(j["swizzle"]), promotion(j["promotion"]), fill(j["fill"]),
        sizes(j["sizes"].get<List>()), strides(j["strides"].get<List>()), steps(j["steps"].get<List>()) {
    if (tiled()) {
      box = j["box"].get<List>();
    } else {
      lower = j["lower"].get<List>();
      upper = j["upper"].get<List>();
      channels = j["channels"];
      pixels = j["pixels"];
      mode = j["mode"];
    }
  }
  [[nodiscard]] bool tiled() const { return function == "tiled"; }
  [[nodiscard]] bool wide() const { return function == "wide"; }
  [[nodiscard]] std::size_t dimensions() const { return static_cast<std::size_t>(rank); }
  /// Of a bounding box.
  [[nodiscard]] std::size_t corners() const { return wide() ? 1 : dimensions() - 2; }
  [[nodiscard]] std::int64_t element() const {
    constexpr int kSizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return kSizes[type];
  }
  [[nodiscard]] std::int64_t row() const { return (tiled() ? box[0] : channels) * element(); }

  std::string function, null;
  std::int64_t type, rank, address, interleave, swizzle, promotion, fill;
  List sizes, strides, steps, box, lower, upper;
  std::int64_t channels = 0, pixels = 0, mode = 0;
};

bool between(std::int64_t x, std::int64_t least, std::int64_t most) { return x >= least && x <= most; }

// Bits of a number of a corner of the bounding box.
int corner_bits(const Call& c) { return c.rank == 3 ? 16 : c.rank == 4 ? 8 : 5; }

bool good_corners(const Call& c) {
  const std::int64_t limit = std::int64_t{1} << (corner_bits(c) - 1);
  for (std::size_t d = 0; d < c.corners(); ++d)
    if (!between(c.lower[d], -limit, limit - 1) || !between(c.upper[d], -limit, limit - 1) ||
        c.sizes[d + 1] + c.upper[d] - c.lower[d] < 1)
      return false;
  return true;
}

// Elements of a box in one dimension, as the map counts its bytes.
std::int64_t count(const Call& c, std::size_t d) { return c.box[d] / c.steps[d]; }

std::int64_t bytes(const Call& c) {
  if (!c.tiled()) return c.row() * c.pixels;
  std::int64_t all = c.element();
  for (std::size_t d = 0; d < c.dimensions(); ++d) all *= count(c, d);
  return all;
}

bool good_sizes(const Call& c) {
  const std::int64_t unit = c.interleave == 2 ? 32 : 16;
  if (c.address % unit != 0 || c.address >= std::int64_t{1} << 57) return false;
  for (std::size_t d = 0; d < c.dimensions(); ++d) {
    // Im2colWide refuses 2^32 - 1 in the dimensions between width and images; where the limit lies was not asked.
    const bool between_both = c.wide() && d >= 2 && d + 1 < c.dimensions();
    const std::int64_t most = std::int64_t{1} << (between_both ? 31 : 32);
    if (!between(c.sizes[d], 1, most) || !between(c.steps[d], 1, 8)) return false;
  }
  for (std::size_t d = 0; d + 1 < c.dimensions(); ++d)
    if (c.strides[d] % unit != 0 || !between(c.strides[d], 0, (std::int64_t{1} << 40) - 1)) return false;
  return true;
}

bool good_box(const Call& c) {
  if (c.tiled()) {
    for (std::size_t d = 0; d < c.dimensions(); ++d)
      if (!between(c.box[d], 1, 256)) return false;
  } else if (!between(c.channels, 1, 256) || !between(c.pixels, 1, 1024)) {
    return false;
  }
  if (c.interleave == 0 && c.row() % 16 != 0) return false;
  if (c.interleave == 0 && c.swizzle != 0 && c.row() > 16 << c.swizzle) return false;
  return bytes(c) < 1 << 18;
}

bool good(const Call& c) {
  if (c.null == "map" || c.null == "sizes" || c.null == "strides" || c.null == "steps") return false;
  if (c.null == "box" && c.tiled()) return false;
  if (!between(c.type, 0, 12) || !between(c.rank, c.tiled() && c.interleave == 0 ? 1 : 3, 5)) return false;
  if (!between(c.interleave, 0, 2) || !between(c.swizzle, 0, 3) || !between(c.promotion, 0, 3)) return false;
  if (!between(c.fill, 0, c.type >= 6 ? 1 : 0) || (c.wide() && !between(c.mode, 0, 1))) return false;
  return good_sizes(c) && good_box(c) && (c.tiled() || good_corners(c));
}

constexpr std::uint64_t kTypes[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 7, 8}; // of tf32 with bit 16

Map encoded(const Call& c) {
  Map m{};
  const auto put = [&](std::size_t word, int bit, std::int64_t value, int bits) {
    m[word] |= (static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << bits) - 1)) << bit;
  };
  put(0, 0, c.address, 57);
  put(1, 0, c.tiled() ? 0 : 1, 1);
  put(1, 4, c.rank - 1, 3);
  m[1] |= kTypes[c.type] << 7;
  put(1, 11, c.interleave, 2);
  put(1, 13, c.swizzle, 2);
  put(1, 15, c.fill, 1);
  put(1, 16, c.type >= 11 ? 1 : 0, 1);
  put(1, 17, c.promotion, 2);
  for (std::size_t d = 0; d + 1 < c.dimensions(); ++d) { // 36 bits
    put(1 + (d + 1) / 2, d % 2 == 0 ? 32 : 0, c.strides[d] >> 4, 32);
    put(3, 32 + 4 * static_cast<int>(d), c.strides[d] >> 36, 4);
  }
  for (std::size_t d = 0; d < c.dimensions(); ++d) {
    put(4 + d / 2, d % 2 == 0 ? 0 : 32, c.sizes[d] - 1, 32);
    put(6, 32 + 3 * static_cast<int>(d), c.steps[d] - 1, 3);
  }
  put(6, 56, (c.tiled() ? c.box[0] : c.channels) - 1, 8);
  if (c.tiled()) {
    for (std::size_t d = 1; d < c.dimensions(); ++d) put(7, 8 * static_cast<int>(d - 1), c.box[d] - 1, 8);
  } else {
    const int bits = corner_bits(c);
    for (std::size_t d = 0; d < c.corners(); ++d) {
      put(7, bits * static_cast<int>(d), c.lower[d], bits);
      put(7, 16 + bits * static_cast<int>(d), c.upper[d], bits);
    }
    put(7, 32, c.pixels - 1, 10);
  }
  put(8, 0, bytes(c), 32);
  m[9] = c.swizzle == 0 ? 0x10 : std::uint64_t{0x80} << c.swizzle;
  return m;
}

Map parsed(const std::string& text) {
  Map m{};
  std::istringstream words(text);
  std::string word;
  for (std::uint64_t& w : m) {
    words >> word;
    w = word == "-" ? 0 : std::stoull(word, nullptr, 16);
  }
  return m;
}

TEST(TensorMaps, AsTheDriverMakesThem) {
  std::ifstream file(WARPLENS_SOURCE_DIR "/tests/data/hardware/tensor_maps.jsonl");
  json call = json::object();
  int calls = 0;
  for (std::string line; std::getline(file, line); ++calls) {
    const json next = json::parse(line);
    call.update(next);
    if (call["result"] == -1) continue; // the driver crashed
    const Call c(call);
    const bool expected = call["result"] == 0;
    ASSERT_TRUE(expected || call["result"] == 1) << line;
    EXPECT_EQ(good(c), expected) << call;
    if (expected) {
      EXPECT_EQ(encoded(c), parsed(call["map"])) << call;
    }
  }
  EXPECT_GT(calls, 3000);
}

} // namespace
} // namespace warplens::tests
