// SPDX-License-Identifier: Apache-2.0
// Feeds the accesses of the measured kernels, hand-written from their CUDA source, to all analyzers, and compares the
// results with the profiler's counters on compute capability 9.0.

#include "analyzers/analyzers.hpp"
#include "tests/analyzers/accesses.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <functional>
#include <map>
#include <optional>

namespace warplens::analyzers {
namespace hardware_counters_test {

using exec::AccessKind;
using isa::Space;
using testing::WarpAccess;

constexpr std::uint64_t kIn = 1 << 20, kOut = 1 << 28, kSums = 1 << 24; // where the buffers lie

struct Launch {
  std::string kernel, label;
  std::int64_t grid[2]{}, block[2]{};
  std::vector<std::int64_t> scalars; ///< the arguments by value
  std::map<std::string, double> counters;
};

std::vector<Launch> measured_launches() {
  std::ifstream file(WARPLENS_SOURCE_DIR "/tests/data/hardware/counters.jsonl");
  std::vector<Launch> result;
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line);
    Launch launch{json["kernel"],
                  json["label"],
                  {json["grid"][0], json["grid"][1]},
                  {json["block"][0], json["block"][1]},
                  {},
                  json["counters"].get<std::map<std::string, double>>()};
    for (const auto& argument : json["args"])
      if (argument.contains("s32")) launch.scalars.push_back(argument["s32"]);
    result.push_back(std::move(launch));
  }
  return result;
}

/// Runs over the blocks and warps of a launch and hands their accesses to all analyzers.
class Feeder {
public:
  explicit Feeder(const Launch& launch)
      : launch_(launch), analysis_(module_, function_, {}), shard_(analysis_.make_shard()) {}

  using Address = std::function<std::optional<std::int64_t>(std::int64_t thread)>;

  /// One instruction of all warps of a block: the address of each thread of the block, none where it takes no part.
  void block(AccessKind kind, Space space, std::uint16_t bytes, const Address& address) {
    for (std::int64_t first = 0; first < threads(); first += exec::kWarpSize) {
      exec::Mask mask = 0;
      WarpAccess access;
      access.lane_bytes = bytes;
      for (std::int64_t lane = 0; lane < exec::kWarpSize; ++lane)
        if (const auto place = address(first + lane)) {
          mask |= 1u << lane;
          access.addresses[static_cast<std::size_t>(lane)] = static_cast<std::uint64_t>(*place);
        }
      access.mask = mask;
      // One instruction for each kind and space: a row holds one kind.
      const auto instruction = static_cast<std::uint32_t>(kind) * 2 + (space == Space::shared);
      if (mask) shard_->access(access.event(kind, space, instruction));
    }
  }
  void load(std::uint16_t bytes, const Address& address) { block(AccessKind::load, Space::global, bytes, address); }
  void store(std::uint16_t bytes, const Address& address) { block(AccessKind::store, Space::global, bytes, address); }
  void load_shared(std::uint16_t bytes, const Address& a) { block(AccessKind::load, Space::shared, bytes, a); }
  void store_shared(std::uint16_t bytes, const Address& a) { block(AccessKind::store, Space::shared, bytes, a); }

  [[nodiscard]] std::int64_t threads() const { return launch_.block[0] * launch_.block[1]; }
  [[nodiscard]] std::int64_t blocks() const { return launch_.grid[0] * launch_.grid[1]; }

  Profile finish() {
    std::vector<std::unique_ptr<exec::Shard>> shards;
    shards.push_back(std::move(shard_));
    analysis_.finish(std::move(shards), {});
    return analysis_.profile();
  }

private:
  static ir::Function eight_instructions() {
    ir::Function function;
    function.instructions.resize(8);
    return function;
  }
  const Launch& launch_;
  ir::Module module_;
  ir::Function function_ = eight_instructions();
  Analysis analysis_;
  std::unique_ptr<exec::Shard> shard_;
};

// for (i = global thread [+ offset]; i < n; i += all threads) out[i] = in[i * stride];
void copy(Feeder& f, std::uint16_t bytes, std::int64_t offset, std::int64_t stride, std::int64_t n) {
  const std::int64_t all = f.blocks() * f.threads();
  for (std::int64_t b = 0; b < f.blocks(); ++b)
    for (std::int64_t start = b * f.threads() + offset; start < n; start += all) {
      const auto element = [&](std::int64_t base, std::int64_t step) {
        return [=](std::int64_t t) -> std::optional<std::int64_t> {
          if (start + t >= n) return std::nullopt;
          return base + (start + t) * step * bytes;
        };
      };
      f.load(bytes, element(kIn, stride));
      f.store(bytes, element(kOut, 1));
    }
}

void simple_transpose(Feeder& f, std::int64_t n) {
  for (std::int64_t b = 0; b < f.blocks(); ++b) {
    f.load(4, [&](std::int64_t t) { return kIn + (b * f.threads() + t) * 4; });
    f.store(4, [&](std::int64_t t) {
      const std::int64_t i = b * f.threads() + t;
      return kOut + (i % n * n + i / n) * 4;
    });
  }
}

// 32x8 threads move a tile of 32x32 words through shared memory.
void fast_transpose(Feeder& f, const Launch& launch, std::int64_t n) {
  for (std::int64_t by = 0; by < launch.grid[1]; ++by)
    for (std::int64_t bx = 0; bx < launch.grid[0]; ++bx) {
      for (std::int64_t row = 0; row < 32; row += 8) {
        f.load(4, [&](std::int64_t t) { return kIn + ((by * 32 + t / 32 + row) * n + bx * 32 + t % 32) * 4; });
        f.store_shared(4, [&](std::int64_t t) { return (t / 32 + row) * 128 + t % 32 * 4; });
      }
      for (std::int64_t row = 0; row < 32; row += 8) {
        f.load_shared(4, [&](std::int64_t t) { return t % 32 * 128 + (t / 32 + row) * 4; });
        f.store(4, [&](std::int64_t t) { return kOut + ((bx * 32 + t / 32 + row) * n + by * 32 + t % 32) * 4; });
      }
    }
}

void shared_stride(Feeder& f, std::int64_t stride, std::int64_t steps) {
  for (std::int64_t b = 0; b < f.blocks(); ++b) {
    for (std::int64_t i = 0; i < 2048; i += f.threads()) f.store_shared(4, [&](std::int64_t t) { return (i + t) * 4; });
    for (std::int64_t k = 0; k < steps; ++k)
      f.load_shared(4, [&](std::int64_t t) { return (t * stride + k) * 4 & 8188; });
    f.store(4, [&](std::int64_t t) { return kOut + (b * f.threads() + t) * 4; });
  }
}

// Blelloch's scan in global memory: up-sweep and down-sweep by the threads that end a run of 2, 4, … 256.
void scan_global(Feeder& f) {
  for (std::int64_t b = 0; b < f.blocks(); ++b) {
    const auto word = [&](std::int64_t run, std::int64_t back) {
      return [=](std::int64_t t) -> std::optional<std::int64_t> {
        if ((t & (run - 1)) != run - 1) return std::nullopt;
        return kOut + (b * 256 + t - back) * 4;
      };
    };
    f.load(4, [&](std::int64_t t) { return kIn + (b * 256 + t) * 4; });
    f.store(4, word(1, 0));
    for (std::int64_t run = 2; run <= 256; run *= 2) {
      f.load(4, word(run, 0));
      f.load(4, word(run, run / 2));
      f.store(4, word(run, 0));
    }
    f.load(4, word(256, 0));
    f.store(4, [&](std::int64_t t) { return t == 255 ? std::optional(kSums + b * 4) : std::nullopt; });
    f.store(4, word(256, 0));
    for (std::int64_t run = 256; run >= 2; run /= 2) {
      f.load(4, word(run, run / 2));
      f.load(4, word(run, 0));
      f.store(4, word(run, run / 2));
      f.store(4, word(run, 0));
    }
  }
}

// The same in shared memory, by the first threads of the block. The assembler joins the two loads of the first step,
// words 2t and 2t+1, to one load of 8 bytes.
void scan_shared(Feeder& f, std::int64_t n) {
  for (std::int64_t b = 0; b < f.blocks(); ++b) {
    const auto element = [&](std::int64_t base) {
      return [=](std::int64_t t) { return b * 256 + t < n ? std::optional(base + (b * 256 + t) * 4) : std::nullopt; };
    };
    const auto word = [](std::int64_t run, std::int64_t back) {
      return [=](std::int64_t t) -> std::optional<std::int64_t> {
        const std::int64_t last = (t + 1) * run - 1;
        if (last > 255) return std::nullopt;
        return (last - back) * 4;
      };
    };
    const auto first_thread = [](std::int64_t address) {
      return [=](std::int64_t t) { return t == 0 ? std::optional(address) : std::nullopt; };
    };
    f.load(4, element(kIn));
    f.store_shared(4, [](std::int64_t t) { return t * 4; });
    for (std::int64_t run = 2; run <= 256; run *= 2) {
      if (run == 2)
        f.load_shared(8, word(2, 1));
      else {
        f.load_shared(4, word(run, 0));
        f.load_shared(4, word(run, run / 2));
      }
      f.store_shared(4, word(run, 0));
    }
    f.load_shared(4, first_thread(1020));
    f.store(4, first_thread(static_cast<std::int64_t>(kSums) + b * 4));
    f.store_shared(4, first_thread(1020));
    for (std::int64_t run = 256; run >= 2; run /= 2) {
      f.load_shared(4, word(run, run / 2));
      f.load_shared(4, word(run, 0));
      f.store_shared(4, word(run, run / 2));
      f.store_shared(4, word(run, 0));
    }
    f.load_shared(4, [&](std::int64_t t) { return b * 256 + t < n ? std::optional(t * 4) : std::nullopt; });
    f.store(4, element(kOut));
  }
}

// Each block clears 256 bins in shared memory, counts (atomics, which have counters of their own), adds them up.
void histogram(Feeder& f, std::int64_t n) {
  for (std::int64_t b = 0; b < f.blocks(); ++b) {
    f.store_shared(4, [](std::int64_t t) { return t * 4; });
    for (std::int64_t i = b * 256; i < n; i += f.blocks() * 256)
      f.load(4, [&](std::int64_t t) { return kIn + (i + t) * 4; });
    f.load_shared(4, [](std::int64_t t) { return t * 4; });
  }
}

void matrix_vector(Feeder& f, std::int64_t n) {
  for (std::int64_t b = 0; b < f.blocks(); ++b) {
    for (std::int64_t column = 0; column < n; ++column) {
      f.load(4, [&](std::int64_t) { return kSums + column * 4; });
      f.load(4, [&](std::int64_t t) { return kIn + ((b * f.threads() + t) * n + column) * 4; });
    }
    f.store(4, [&](std::int64_t t) { return kOut + (b * f.threads() + t) * 4; });
  }
}

bool feed(Feeder& f, const Launch& launch) {
  const std::map<std::string, std::uint16_t> sizes = {
      {"uchar", 1}, {"short", 2}, {"float", 4}, {"double", 8}, {"float4", 16}};
  const std::string& kernel = launch.kernel;
  const auto& scalars = launch.scalars;
  const std::string type = kernel.substr(kernel.find('_') + 1);
  if (kernel.starts_with("offsetCopy"))
    copy(f, sizes.at(type), scalars[0], 1, scalars[1]);
  else if (kernel.starts_with("stridedCopy"))
    copy(f, sizes.at(type), 0, scalars[0], scalars[1]);
  else if (kernel == "simpleTranspose")
    simple_transpose(f, scalars[0]);
  else if (kernel == "fastTranspose")
    fast_transpose(f, launch, scalars[0]);
  else if (kernel == "smemStride")
    shared_stride(f, scalars[0], scalars[1]);
  else if (kernel == "branching")
    copy(f, 4, 0, 1, scalars[0]);
  else if (kernel == "scan1")
    scan_global(f);
  else if (kernel == "scan3")
    scan_shared(f, scalars[0]);
  else if (kernel == "hist")
    histogram(f, scalars[0]);
  else if (kernel == "matvec")
    matrix_vector(f, scalars[0]);
  else
    return false;
  return true;
}

TEST(HardwareCounters, EveryLaunch) {
  const std::string exact[] = {
      "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
      "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
      "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
      "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
  };
  const auto launches = measured_launches();
  ASSERT_EQ(launches.size(), 85u);
  for (const Launch& launch : launches) {
    SCOPED_TRACE(launch.kernel + " " + launch.label);
    Feeder feeder(launch);
    ASSERT_TRUE(feed(feeder, launch)) << "no accesses are written down for this kernel";
    const Profile profile = feeder.finish();
    for (const std::string& name : exact)
      EXPECT_EQ(static_cast<double>(profile.integer(name)), launch.counters.at(name)) << name;
    // The machine code of scan3 guards its accesses instead of branching, and counts warps whose guards are all false.
    if (launch.kernel == "scan3") continue;
    for (const char* name : {"smsp__inst_executed_op_shared_ld.sum", "smsp__inst_executed_op_shared_st.sum"})
      EXPECT_EQ(static_cast<double>(profile.integer(name)), launch.counters.at(name)) << name;
  }
}

// Sectors of atomics: most are exact, the rest within two.
TEST(HardwareCounters, SectorsOfAtomics) {
  int checked = 0, equal = 0;
  for (const auto& [operation, access, requests, sectors] : testing::measured_accesses()) {
    const bool atomic = operation == "global_atom";
    if (!atomic && operation != "global_red") continue;
    ir::Module module;
    ir::Function function;
    function.instructions.resize(1);
    Analysis analysis(module, function, {});
    std::vector<std::unique_ptr<exec::Shard>> shards;
    shards.push_back(analysis.make_shard());
    shards[0]->access(access.event(atomic ? AccessKind::atomic : AccessKind::reduction, Space::global));
    analysis.finish(std::move(shards), {});
    const std::string end = atomic ? "_pipe_lsu_mem_global_op_atom.sum" : "_pipe_lsu_mem_global_op_red.sum";
    const Profile profile = analysis.profile();
    EXPECT_EQ(profile.integer("l1tex__t_requests" + end), requests);
    EXPECT_NEAR(static_cast<double>(profile.integer("l1tex__t_sectors" + end)), sectors, 2);
    equal += profile.integer("l1tex__t_sectors" + end) == sectors;
    ++checked;
  }
  EXPECT_EQ(checked, 68);
  EXPECT_EQ(equal, 65);
}

} // namespace hardware_counters_test
} // namespace warplens::analyzers
