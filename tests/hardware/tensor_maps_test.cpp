// SPDX-License-Identifier: Apache-2.0
// Which tensor maps a driver makes and what is in them, compared with tests/data/hardware/tensor_maps.jsonl, which
// ask/tensor_maps.cpp recorded.
#include "api/session/tensor_map.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

namespace warplens::tests {
namespace tensor_maps_test {

using nlohmann::json;
using Map = exec::TensorMap::Words;
using List = std::vector<std::int64_t>;

api::TensorMapRequest request_of(const json& j) {
  using Kind = api::TensorMapRequest::Kind;
  api::TensorMapRequest r;
  const std::string function = j["function"];
  r.kind = function == "tiled" ? Kind::tiled : function == "wide" ? Kind::im2col_wide : Kind::im2col;
  const auto copy = [&](const char* key, auto& to) {
    const List list = j[key].get<List>();
    for (std::size_t i = 0; i < std::min(list.size(), to.size()); ++i)
      to[i] = static_cast<std::remove_reference_t<decltype(to[i])>>(list[i]);
  };
  r.type = j["type"];
  r.rank = j["rank"];
  r.address = j["address"].get<std::uint64_t>();
  copy("sizes", r.sizes);
  copy("strides", r.strides);
  copy("steps", r.steps);
  if (r.kind == Kind::tiled) {
    copy("box", r.box);
  } else {
    copy("lower", r.lower);
    copy("upper", r.upper);
    r.channels = j["channels"];
    r.pixels = j["pixels"];
    r.mode = j["mode"];
  }
  r.interleave = j["interleave"];
  r.swizzle = j["swizzle"];
  r.promotion = j["promotion"];
  r.fill = j["fill"];
  return r;
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
  const json own_check = ""; // of the driver: a null pointer
  for (std::string line; std::getline(file, line); ++calls) {
    const json next = json::parse(line);
    call.update(next);
    if (call["result"] == -1) continue; // the driver crashed
    if (call["null"] != own_check) continue;
    const auto map = api::make_tensor_map(request_of(call));
    const bool expected = call["result"] == 0;
    ASSERT_TRUE(expected || call["result"] == 1) << line;
    ASSERT_EQ(map.has_value(), expected) << call;
    if (!expected) continue;
    const Map words = parsed(call["map"]);
    EXPECT_EQ(map->encoded(), words) << call;
    EXPECT_TRUE(exec::TensorMap::is_valid(words)) << call;
  }
  EXPECT_GT(calls, 3000);
}

} // namespace tensor_maps_test
} // namespace warplens::tests
