// SPDX-License-Identifier: Apache-2.0
// Local memory in the L1 cache: compared with the counters of an H100 in tests/data/hardware/local.jsonl.
#include "analyzers/analyzers.hpp"
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace warplens {
namespace local_test {

using nlohmann::json;

const std::string kLocal = "l1tex__t_sectors_pipe_lsu_mem_local_op_";
constexpr std::uint32_t kArray = 1 << 20; // words

/// The board of model/devices/h100.toml, with the maximum number of resident blocks.
analyzers::Board h100(std::uint32_t threads) {
  using Store = analyzers::CacheGeometry::Store;
  return {.multiprocessors = 132,
          .resident_ctas = std::min(32u, 2048 / threads),
          .l1 = analyzers::CacheGeometry{262144, 128, 32, 512, Store::update},
          .l2 = analyzers::CacheGeometry{52428800, 128, 32, 16, Store::back},
          .l1_local = Store::keep};
}

analyzers::Profile emulate(const json& launch) {
  static tests::Emulated emulated(tests::data_file("hardware/local.ptx"), "local.ptx");
  tests::Emulated::Request request;
  request.kernel = launch["kernel"];
  request.shape.grid[0] = launch["grid"];
  request.shape.block[0] = launch["block"];
  const std::vector<std::uint32_t> zeros(kArray);
  request.arguments.push_back({emulated.buffer(zeros), 8});
  for (const json& a : launch["args"])
    request.arguments.push_back(a.is_null() ? tests::Emulated::Argument{emulated.buffer(zeros), 8}
                                            : tests::Emulated::Argument{a.get<std::uint32_t>(), 4});
  analyzers::Analysis analysis(emulated.module(), *emulated.module().find(request.kernel), request.shape,
                               {.named = {"caches"}, .board = h100(launch["block"])});
  request.watcher = &analysis;
  request.workers = 2;
  EXPECT_EQ(emulated.run(request), "");
  emulated.free_buffers();
  return analysis.profile();
}

/// Of the lines that a multiprocessor touches: of local memory, and of others that are loaded.
std::uint64_t bytes_touched(const json& launch) {
  const std::uint64_t warps = launch["block"].get<std::uint64_t>() / 32, words = launch["args"][0];
  const std::uint64_t blocks =
      std::min<std::uint64_t>((launch["grid"].get<std::uint64_t>() + 131) / 132, h100(launch["block"]).resident_ctas);
  const std::uint64_t others = launch["kernel"] == "beside_global" ? launch["args"][1].get<std::uint64_t>() : 0;
  return 128 * (blocks * warps * words + others);
}

/// Sectors that are stored in parts, where hits depend on what came when.
bool stores_parts(const json& launch) {
  return launch["kernel"] == "widths" || (launch["kernel"] == "scattered" && launch["args"][1] == 1);
}

std::vector<json> launches() {
  std::istringstream lines(tests::data_file("hardware/local.jsonl"));
  std::vector<json> list;
  std::string line;
  std::getline(lines, line); // the device
  while (std::getline(lines, line))
    if (list.emplace_back(json::parse(line))["kernel"] == "global_stores") list.pop_back();
  return list;
}

class Local : public testing::TestWithParam<json> {};

TEST_P(Local, AsOnHardware) {
  const json& launch = GetParam();
  const json& measured = launch["counters"];
  const analyzers::Profile profile = emulate(launch);
  const auto ours = [&](const std::string& name) { return profile.metrics.integer(name); };
  const auto theirs = [&](const std::string& name) { return measured[name].get<std::uint64_t>(); };
  for (const std::string op : {"ld", "st"}) EXPECT_EQ(ours(kLocal + op + ".sum"), theirs(kLocal + op + ".sum")) << op;
  constexpr std::uint64_t kSure = 208 * 1024, kWithConflicts = 128 * 1024;
  if (stores_parts(launch) || bytes_touched(launch) > kSure) return;
  const bool waves = launch["grid"].get<std::uint64_t>() > 132 * h100(launch["block"]).resident_ctas;
  if (launch["block"] == 32 && launch["grid"] == 1) {
    for (const char* end : {"ld_lookup_hit.sum", "ld_lookup_miss.sum", "st_lookup_hit.sum", "st_lookup_miss.sum"})
      EXPECT_EQ(ours(kLocal + end), theirs(kLocal + end)) << end;
    EXPECT_EQ(ours("lts__t_sectors_op_write.sum"), theirs("l1tex__m_l1tex2xbar_write_sectors_mem_lg_op_st.sum"));
  } else if (launch["kernel"] == "reuse") { // the second wave hits
    EXPECT_NEAR(static_cast<double>(theirs("lts__t_sectors_srcunit_tex_op_read.sum")) /
                    static_cast<double>(ours("lts__t_sectors_op_read.sum")),
                1, waves ? 0.13 : 1e-9);
  } else if (bytes_touched(launch) <= kWithConflicts) {
    const auto hits = [&](const auto& side) {
      return static_cast<double>(side(kLocal + "ld_lookup_hit.sum")) / static_cast<double>(side(kLocal + "ld.sum"));
    };
    EXPECT_NEAR(hits(ours), hits(theirs), 0.08);
  }
}

INSTANTIATE_TEST_SUITE_P(H100, Local, testing::ValuesIn(launches()), [](const auto& one) {
  return one.param["kernel"].template get<std::string>() + "_" + std::to_string(one.index);
});

} // namespace local_test
} // namespace warplens
