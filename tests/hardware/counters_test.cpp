// SPDX-License-Identifier: Apache-2.0
// Every launch of tests/data/hardware/counters.jsonl: the emulator leaves the same bytes in every buffer as an H200
// did, and counts the requests, sectors, wavefronts and conflicts that its profiler counted.
#include "analyzers/analyzers.hpp"
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <sstream>

namespace warplens {
namespace counters_test {

using nlohmann::json;

// The generator and the kinds of contents are described in tests/data/hardware/README.md.
std::vector<std::uint32_t> contents(const json& argument) {
  const std::string kind = argument["buf"];
  const std::size_t bytes = argument["bytes"];
  const std::uint32_t mod = argument["mod"];
  std::uint64_t state = 1234567 + bytes;
  const auto rnd = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state >> 33);
  };
  std::vector<std::uint32_t> words(bytes / 4);
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    if (kind == "iota")
      words[i] = i;
    else if (kind == "mod")
      words[i] = i % mod;
    else if (kind == "rmod")
      words[i] = rnd() % mod;
    else if (kind == "f32")
      words[i] = std::bit_cast<std::uint32_t>(static_cast<float>(rnd() % 100000) / 1000.f - 50.f);
    else
      EXPECT_EQ(kind, "zero");
  }
  return words;
}

std::string fnv(std::uint64_t address, std::size_t bytes) {
  std::uint64_t hash = 1469598103934665603u;
  const auto* p = reinterpret_cast<const unsigned char*>(address);
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ p[i]) * 1099511628211u;
  return std::to_string(hash);
}

std::vector<json> launches() {
  std::vector<json> list;
  std::istringstream lines(tests::data_file("hardware/counters.jsonl"));
  for (std::string line; std::getline(lines, line);) list.push_back(json::parse(line));
  return list;
}

class Counters : public testing::TestWithParam<json> {
protected:
  static tests::Emulated& emulated() {
    static tests::Emulated e(tests::data_file("hardware/kernels.ptx"), "kernels.ptx");
    return e;
  }
};

constexpr const char* kExact[] = {
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
};

// Counts of machine instructions. In scan3 the assembler made predicated code of the branches, so that warps without an
// active lane count there too.
constexpr const char* kInstructions[] = {"smsp__inst_executed_op_shared_ld.sum",
                                         "smsp__inst_executed_op_shared_st.sum"};

TEST_P(Counters, AsOnHardware) {
  const json& launch = GetParam();
  tests::Emulated& e = emulated();
  tests::Emulated::Request request;
  request.kernel = launch["kernel"];
  for (int i = 0; i < 3; ++i) {
    request.shape.grid[i] = launch["grid"][i];
    request.shape.block[i] = launch["block"][i];
  }
  std::vector<std::pair<std::uint64_t, std::size_t>> buffers;
  for (const json& a : launch["args"]) {
    if (a.contains("buf")) {
      buffers.emplace_back(e.buffer(contents(a)), a["bytes"]);
      request.arguments.push_back({buffers.back().first, 8});
    } else {
      request.arguments.push_back({a["s32"].get<std::uint32_t>(), 4});
    }
  }
  analyzers::Analysis analysis(e.module(), *e.module().find(request.kernel), request.shape);
  request.watcher = &analysis;
  request.workers = 2;
  EXPECT_EQ(e.run(request), "");
  for (std::size_t b = 0; b < buffers.size(); ++b)
    EXPECT_EQ(fnv(buffers[b].first, buffers[b].second), launch["fnv"][b].get<std::string>()) << "buffer " << b;
  const analyzers::Profile profile = analysis.profile();
  for (const char* name : kExact)
    EXPECT_EQ(profile.integer(name), launch["counters"][name].get<std::uint64_t>()) << name;
  for (const char* name : kInstructions) {
    if (request.kernel == "scan3")
      EXPECT_LT(profile.integer(name), launch["counters"][name].get<std::uint64_t>()) << name;
    else
      EXPECT_EQ(profile.integer(name), launch["counters"][name].get<std::uint64_t>()) << name;
  }
  e.free_buffers();
}

INSTANTIATE_TEST_SUITE_P(H200, Counters, testing::ValuesIn(launches()), [](const auto& one) {
  return one.param["kernel"].template get<std::string>() + "_" + std::to_string(one.index);
});

} // namespace counters_test
} // namespace warplens
