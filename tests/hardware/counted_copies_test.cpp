// SPDX-License-Identifier: Apache-2.0
// What analyzers count of loads and stores of matrices, asynchronous copies and products of warp groups, compared with
// the counters of an H200's profiler: tests/data/hardware/counted_copies.jsonl, from ask/counted_copies.py.
#include "tests/hardware/counted_copies.hpp"

#include "analyzers/analyzers.hpp"
#include "api/session/tensor_map.hpp"
#include "model/matrix_work.hpp"
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

namespace warplens::tests {
namespace counted_copies_test {

using nlohmann::json;

exec::TensorMap::Words map_of(const CountedCopy& c, std::uint64_t memory) {
  if (c.group != "tensor") return {};
  api::TensorMapRequest r;
  r.kind = c.im2col ? api::TensorMapRequest::Kind::im2col : api::TensorMapRequest::Kind::tiled;
  r.type = static_cast<int>(c.tensor.type);
  r.rank = static_cast<int>(c.tensor.sizes.size());
  r.address = memory + c.tensor.address;
  std::copy(c.tensor.sizes.begin(), c.tensor.sizes.end(), r.sizes.begin());
  std::copy_n(c.tensor.strides.begin(), r.rank - 1, r.strides.begin());
  std::copy_n(c.tensor.steps.begin(), r.rank, r.steps.begin());
  std::copy(c.box.begin(), c.box.end(), r.box.begin());
  r.channels = c.channels;
  r.pixels = c.pixels;
  r.interleave = static_cast<int>(c.tensor.interleave);
  r.swizzle = static_cast<int>(c.tensor.swizzle);
  r.promotion = c.tensor.promotion;
  const auto map = api::make_tensor_map(r);
  EXPECT_TRUE(map.has_value());
  return map ? map->encoded() : exec::TensorMap::Words{};
}

analyzers::Profile counted(const CountedCopy& c) {
  Emulated machine(counted_kernel(c), "counted.ptx");
  const std::uint64_t memory = machine.buffer(counted_memory(c));
  const exec::TensorMap::Words map = map_of(c, memory);
  Emulated::Request request;
  request.kernel = "k";
  request.shape.grid[0] = request.shape.cluster[0] = static_cast<std::uint32_t>(c.blocks);
  request.shape.block[0] = static_cast<std::uint32_t>(c.threads);
  request.shape.shared_dynamic = kCountedShared;
  request.arguments = {{0, sizeof map, map.data()}, {memory, 8}};
  analyzers::Analysis analysis(machine.module(), *machine.module().find("k"), request.shape);
  request.watcher = &analysis;
  EXPECT_EQ(machine.run(request), "");
  return analysis.profile();
}

struct Recorded {
  CountedCopy copy;
  json counters;
  [[nodiscard]] std::uint64_t of(const std::string& name) const {
    return counters.value(name + ".sum", std::uint64_t{0});
  }
};

std::vector<Recorded> recorded(const std::string& group) {
  std::map<std::string, json> answers;
  std::ifstream file(WARPLENS_SOURCE_DIR "/tests/data/hardware/counted_copies.jsonl");
  for (std::string line; std::getline(file, line);) {
    const json answer = json::parse(line);
    if (answer["group"] == group) answers[answer["name"]] = answer["counters"];
  }
  std::vector<Recorded> list;
  for (const CountedCopy& copy : counted_copies())
    if (copy.group == group && answers.contains(copy.name)) list.push_back({copy, answers[copy.name]});
  return list;
}

TEST(CountedCopies, MatricesTakeTheSamePasses) {
  const std::vector<Recorded> all = recorded("matrices");
  EXPECT_EQ(all.size(), 163u);
  for (const Recorded& r : all) {
    SCOPED_TRACE(r.copy.name);
    const analyzers::Profile profile = counted(r.copy);
    for (const std::string name :
         {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st",
          "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld",
          "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st"})
      EXPECT_EQ(profile.integer(name + ".sum"), r.of(name)) << name;
  }
}

void expect_bulk(const Recorded& r) {
  SCOPED_TRACE(r.copy.group + " " + r.copy.name);
  const analyzers::Profile profile = counted(r.copy);
  const auto here = [&](const std::string& name) { return profile.integer(name); };
  // The store by which a kernel tells that its mbarrier expects other bytes than the copy of an interleaved tensor has.
  const std::uint64_t told = r.copy.bytes == 0 ? 0 : here("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum");
  const std::string loaded = "l1tex__m_xbar2l1tex_read_", stored = "l1tex__m_l1tex2xbar_write_";
  const bool between_blocks = r.copy.name.starts_with("to the other block"); // counts as a load and a store there
  for (const std::string what : {"sectors", "bytes"}) {
    if (between_blocks) continue;
    EXPECT_EQ(here(loaded + what + "_mem_global_op_tma_ld.sum"), r.of(loaded + what));
    EXPECT_EQ(here(stored + what + "_mem_global_op_tma_st.sum") + here(stored + what + "_mem_global_op_tma_red.sum") +
                  told * (what == "bytes" ? 32 : 1),
              r.of(stored + what));
  }
  // The second-level cache sometimes serves two pieces of a load with one sector, also of what lies beyond a tensor,
  // and fetches more of a map with a promotion to 256 bytes.
  const std::uint64_t once = r.of("lts__t_sectors_srcunit_tex_op_read") + r.of("lts__t_sectors_srcunit_tex_op_write") +
                             r.of("lts__t_sectors_srcunit_tex_op_red") - told;
  if (r.copy.tensor.promotion != 3) {
    EXPECT_LE(once, std::max(here("tma_sectors"), r.of(loaded + "sectors") / static_cast<unsigned>(r.copy.blocks)));
  }
  EXPECT_GE(once, here("tma_sectors_ideal"));
  if (r.copy.bytes == 0 || r.of(loaded + "sectors") == 0) {
    EXPECT_EQ(once, here("tma_sectors"));
  }
  // An access to an mbarrier is one to two banks, and the profiler counts up to four accesses of each block.
  const auto slack = r.copy.bytes == 0 ? 0u : 4u * static_cast<unsigned>(r.copy.blocks);
  EXPECT_LE(here("tma_shared_bytes_read") / 4, r.of("l1tex__data_bank_reads"));
  EXPECT_GE(here("tma_shared_bytes_read") / 4 + slack, r.of("l1tex__data_bank_reads"));
  EXPECT_LE(here("tma_shared_bytes_written") / 4, r.of("l1tex__data_bank_writes"));
  EXPECT_GE(here("tma_shared_bytes_written") / 4 + slack, r.of("l1tex__data_bank_writes"));
}

TEST(CountedCopies, BulkCopiesMoveTheSameSectors) {
  const std::vector<Recorded> all = recorded("bulk");
  EXPECT_EQ(all.size(), 105u);
  for (const Recorded& r : all) expect_bulk(r);
}

TEST(CountedCopies, CopiesByTensorMapMoveTheSameSectors) {
  const std::vector<Recorded> all = recorded("tensor");
  EXPECT_EQ(all.size(), 164u);
  for (const Recorded& r : all) expect_bulk(r);
}

// A copy of lanes fetches the sectors of a load; of .cg, those of lanes whose destinations are not next to each other
// again. Besides, the kernels load 4 sectors of offsets. The bank conflicts of .ca are those of a store by the lanes,
// where the destination needs more passes than the source has lines; .cg has none.
constexpr std::uint64_t kOffsets = 4; // sectors of the lanes' offsets

TEST(CountedCopies, CopiesByLanesFetchTheSameSectors) {
  const std::vector<Recorded> all = recorded("cp.async");
  EXPECT_EQ(all.size(), 32u);
  for (const Recorded& r : all) {
    SCOPED_TRACE(r.copy.name);
    const analyzers::Profile profile = counted(r.copy);
    const bool bypasses = r.copy.name.find(".cg") != std::string::npos;
    EXPECT_EQ(bypasses ? profile.integer("lane_copy_sectors") + kOffsets
                       : profile.integer("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
              r.of("lts__t_sectors_srcunit_tex_op_read"));
    const std::uint64_t conflicts = profile.integer("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum");
    const std::uint64_t there = r.of("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts");
    if (bypasses) {
      EXPECT_EQ(there, 0u);
    } else if (conflicts != 0 || r.copy.name.ends_with("4, 4 bytes apart, from 4")) {
      EXPECT_EQ(conflicts, there);
    }
  }
}

// Of 16 bytes whose addresses do not follow each other: what .cg fetches depends on source and destination together.
TEST(CountedCopies, ScatteredCopiesByLanesFetchASectorForEachPairOfSectors) {
  const std::vector<Recorded> all = recorded("scattered");
  EXPECT_EQ(all.size(), 176u);
  for (const Recorded& r : all) {
    SCOPED_TRACE(r.copy.name);
    const analyzers::Profile profile = counted(r.copy);
    EXPECT_EQ(profile.integer("lane_copy_sectors") + kOffsets, r.of("l1tex__m_xbar2l1tex_read_sectors"));
    EXPECT_EQ(profile.integer("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
              r.of("l1tex__t_sectors_pipe_lsu_mem_global_op_ld"));
    EXPECT_EQ(r.of("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts"), 0u);
  }
}

// The operations by type, and the cycles of the four matrix units of a multiprocessor: the rates of the device file.
TEST(CountedCopies, ProductsKeepTheMatrixUnitsBusyAsLong) {
  const std::vector<Recorded> all = recorded("products");
  EXPECT_EQ(all.size(), 23u);
  const model::Device device = *model::find_device("h200");
  for (const Recorded& r : all) {
    SCOPED_TRACE(r.copy.name);
    const analyzers::Profile profile = counted(r.copy);
    std::uint64_t operations = 0;
    for (const char* type : {"fp16", "bf16_dst_fp32", "tf32_dst_fp32", "fp8", "int8"})
      operations += r.of(std::string("sm__ops_path_tensor_src_") + type);
    if (operations != 0) { // of single bits, there is no counter
      EXPECT_EQ(profile.integer("matrix_operations"), operations);
    }
    model::KernelStatistics s;
    s.threads_per_block = 32;
    s.blocks = 1;
    const auto of = [&](const std::string& rate) {
      return static_cast<double>(profile.integer("matrix_operations_" + rate));
    };
    s.matrix_half = of("half");
    s.matrix_bfloat16 = of("bfloat16");
    s.matrix_tf32 = of("tf32");
    s.matrix_fp8 = of("fp8");
    s.matrix_int8 = of("int8");
    const double cycles = model::matrix_work(s, device).milliseconds * 1e6 * device.clock_ghz * device.multiprocessors;
    EXPECT_NEAR(4 * cycles, static_cast<double>(r.of("sm__pipe_tensor_cycles_active")), 1e-6);
  }
}

} // namespace counted_copies_test
} // namespace warplens::tests
