// SPDX-License-Identifier: Apache-2.0
// Hand-written accesses of many warps, one by one, for the analyzers that depend on order.
//
//   WarpStreams warps(analyzer, shape);            // shards get the blocks in round-robin order
//   warps.load(0, 3, 4096);                        // block 0, warp 3: 128 bytes from 4096 on
//   const Metrics metrics = warps.finish();
#pragma once

#include "analyzers/streams.hpp"
#include "tests/analyzers/accesses.hpp"

namespace warplens::testing {

class WarpStreams {
public:
  explicit WarpStreams(analyzers::StreamAnalyzer& analyzer, std::size_t shards = 1) : analyzer_(analyzer) {
    for (std::size_t i = 0; i < shards; ++i) shards_.push_back(analyzer.make_shard());
  }

  void access(std::uint64_t cta, std::uint32_t warp, const WarpAccess& lanes,
              exec::AccessKind kind = exec::AccessKind::load, std::uint32_t instruction = 0,
              isa::Space space = isa::Space::global) {
    exec::Shard& shard = *shards_[cta % shards_.size()];
    const exec::Access event = lanes.event(kind, space, instruction);
    shard.access(event);
    if (begun_.emplace(cta, shard.begin_cta(cta)).first->second) shard.each_access({cta, warp}, event);
  }
  /// 32 words of 4 bytes, `stride` bytes apart.
  void load(std::uint64_t cta, std::uint32_t warp, std::uint64_t base, std::uint64_t stride = 4,
            exec::AccessKind kind = exec::AccessKind::load, std::uint32_t instruction = 0) {
    access(cta, warp, WarpAccess(~0u, 4, [&](int lane) { return base + stride * static_cast<std::uint64_t>(lane); }),
           kind, instruction);
  }
  void store(std::uint64_t cta, std::uint32_t warp, std::uint64_t base, std::uint64_t stride = 4) {
    load(cta, warp, base, stride, exec::AccessKind::store, 1);
  }
  /// The same word of each lane's local memory.
  void local(std::uint64_t cta, std::uint32_t warp, std::uint64_t word, exec::AccessKind kind) {
    access(cta, warp, WarpAccess(~0u, 4, [&](int) { return 4 * word; }), kind, kind == exec::AccessKind::load ? 2 : 3,
           isa::Space::local);
  }

  analyzers::Metrics finish() {
    analyzer_.finish(std::move(shards_), {});
    analyzers::Metrics metrics;
    rows.resize(4);
    analyzer_.report(metrics, rows);
    return metrics;
  }
  std::vector<analyzers::InstructionRow> rows; ///< per instruction, after finish()

private:
  analyzers::StreamAnalyzer& analyzer_;
  std::vector<std::unique_ptr<exec::Shard>> shards_;
  std::map<std::uint64_t, bool> begun_;
};

inline double number(const analyzers::Metrics& metrics, std::string_view name) {
  const analyzers::Metric* const found = metrics.find(name);
  return found == nullptr ? -1 : found->number();
}

} // namespace warplens::testing
