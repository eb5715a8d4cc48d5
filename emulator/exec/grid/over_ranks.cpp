// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/grid/over_ranks.hpp"

#include "emulator/base/archive.hpp"
#include "emulator/exec/grid/changes.hpp"
#include "emulator/exec/grid/grid.hpp"
#include "emulator/exec/grid/time_limit.hpp"
#include "emulator/exec/grid/workers.hpp"

#include <algorithm>
#include <new>

namespace warplens::exec {

namespace {

/// Why blocks may depend on each other, as far as this is known before they run.
std::string why_alone(const Launch& launch) {
  const Program& program = *launch.program;
  if (launch.cooperative) return "it is a cooperative launch, whose blocks may wait for each other";
  if (program.cancels_blocks) return "its blocks cancel each other";
  if (program.block_dependence == ir::BlockDependence::waiting) return "its blocks may wait for each other";
  if (program.block_dependence == ir::BlockDependence::order)
    return "its blocks use results of atomic operations, or strong loads, of global memory";
  if (!program.reductions_commute)
    return "its atomic operations on global memory have other results in another order of the blocks";
  if (launch.tools.any() || !launch.checkers.empty()) return "a tool follows all its blocks";
  if (launch.watcher != nullptr && launch.sampling.how != BlockSampling::How::exact)
    return "the accesses of a sample of its blocks are counted";
  if (launch.schedule_seed != 0 || launch.host_pointers) return "the order of its blocks is given";
  return {};
}

/// What rank 0 tells before a launch.
struct News {
  std::vector<AddressRange> memory; ///< its allocations
  std::vector<std::byte> params;
  Bytes contents;     ///< what other ranks do not have yet
  bool reads = false; ///< whether rank 0 reads the memory of the others
  void fields(Archive& a) { a(memory, params, contents, reads); }

  explicit News(const Launch& launch) : params(launch.params) {
    for (const Allocation& a : launch.allocations) memory.push_back({a.begin, a.end});
  }
  [[nodiscard]] bool is_for(const News& other) const {
    const auto same = [](const AddressRange& a, const AddressRange& b) { return a.begin == b.begin && a.end == b.end; };
    return params == other.params &&
           std::equal(memory.begin(), memory.end(), other.memory.begin(), other.memory.end(), same);
  }
};

/// What a rank tells rank 0 of its part.
struct RankPart {
  std::string failure; ///< why this part cannot be combined with others
  std::optional<Trap> trap;
  std::uint64_t steps = 0;
  Bytes workers;
  void fields(Archive& a) { a(failure, trap, steps, workers); }
};

/// What rank 0 answers.
struct Verdict {
  std::string alone_because; ///< not empty: rank 0 runs the whole launch
  std::optional<Trap> trap;
  void fields(Archive& a) { a(alone_because, trap); }
};

template <class T> Bytes packed(T& value) {
  Archive a;
  a(value);
  return a.take();
}

template <class T> T unpacked(const Bytes& bytes, T value = {}) {
  Archive a(bytes);
  a(value);
  return value;
}

Bytes packed_workers(Workers& workers, std::string& failure) {
  Archive a;
  a.size(workers.size());
  for (const auto& worker : workers) a(*worker);
  if (!a.good()) failure = "an analyzer or recorder can only count in one process";
  return a.take();
}

void unpack_workers(const Launch& launch, const Bytes& bytes, Workers& workers) {
  Archive a(bytes);
  for (std::size_t left = a.size(0); left > 0 && a.good(); --left) {
    workers.push_back(
        std::make_unique<Worker>(launch, launch.watcher != nullptr ? launch.watcher->make_shard() : nullptr));
    workers.back()->watch.reset(); // it runs nothing
    a(*workers.back());
  }
}

const Trap* lowest(const std::vector<RankPart>& parts) {
  const Trap* trap = nullptr;
  for (const RankPart& part : parts)
    if (part.trap && (trap == nullptr || part.trap->cta < trap->cta)) trap = &*part.trap;
  return trap;
}

class OverRanks {
public:
  explicit OverRanks(const Launch& launch) : ranks_(*launch.ranks), launch_(launch) {
    launch_.ranks = nullptr;
    if (launch_.workers == 0) launch_.workers = std::max(1u, default_workers() / std::max(1u, ranks_.count_here()));
  }

  LaunchResult run() {
    News own(launch_);
    own.reads = ranks_.can_read();
    if (ranks_.is_first()) own.contents = contents_of(ranks_.unsent);
    const News news = unpacked<News>(ranks_.from_first(packed(own)), own);
    same_memory_ = news.is_for(own);
    if (!ranks_.is_first() && same_memory_) take_over(news.contents);
    ranks_.unsent.clear();
    reads_ = news.reads;
    // Heaps must stay the same everywhere. The order of these blocks is fixed.
    if (launch_.program->uses_heap) return exec::run(launch_);
    std::string why = why_alone(launch_);
    if (why.empty()) {
      if (std::optional<LaunchResult> result = together(why)) return std::move(*result);
    }
    return alone(std::move(why));
  }

private:
  /// Nothing if the launch must run on one rank; memory is then as before.
  std::optional<LaunchResult> together(std::string& why) {
    Launch own = launch_;
    own.share = {ranks_.rank(), ranks_.count()};
    if (own.progress != nullptr) own.progress->all = own.share.size(own.shape.clusters());
    RankPart part;
    if (!same_memory_) part.failure = "another rank has other arguments, or its memory at other addresses";
    Workers workers;
    std::optional<WrittenPages> written;
    try {
      if (same_memory_) own.written = &written.emplace(own.allocations);
      if (same_memory_) workers = run_blocks(own);
    } catch (const std::bad_alloc&) {
      part.failure = "there is not enough memory to find what its blocks write";
    }
    if (written) written->stop();
    for (const auto& worker : workers) {
      worker->watch.reset(); // its tables, which are large, can then be those of the next worker
      part.steps += worker->steps;
      if (worker->trap && (!part.trap || worker->trap->cta < part.trap->cta)) part.trap = worker->trap;
    }
    if (!ranks_.is_first()) {
      if (part.failure.empty()) part.workers = packed_workers(workers, part.failure);
    }
    std::vector<RankPart> parts;
    for (const Bytes& bytes : ranks_.to_first(packed(part))) parts.push_back(unpacked<RankPart>(bytes));
    const bool sends = !ranks_.is_first() && part.failure.empty() && !part.trap;
    const std::vector<Bytes> changes = ranks_.to_first(sends ? changes_of(*written, reduces(), !reads_) : Bytes());
    Verdict verdict;
    if (ranks_.is_first()) {
      if (const Trap* const trap = lowest(parts)) verdict.trap = *trap;
      verdict.alone_because = combine(parts, changes, written ? &*written : nullptr);
    }
    verdict = unpacked<Verdict>(ranks_.from_first(packed(verdict)));
    if (!verdict.alone_because.empty()) {
      if (written) written->restore();
      workers.clear();
      if (launch_.watcher != nullptr) launch_.watcher->in_vain();
      why = std::move(verdict.alone_because);
      return std::nullopt;
    }
    LaunchResult result;
    if (ranks_.is_first()) {
      for (std::size_t rank = 1; rank < parts.size(); ++rank) unpack_workers(launch_, parts[rank].workers, workers);
      result = merged(launch_, workers);
    }
    result.trap = std::move(verdict.trap);
    return result;
  }

  /// Combines memory. Returns why this is impossible.
  std::string combine(const std::vector<RankPart>& parts, const std::vector<Bytes>& changes,
                      const WrittenPages* written) {
    std::uint64_t steps = launch_.steps_before;
    bool limited = false;
    for (const RankPart& part : parts) {
      if (!part.failure.empty()) return part.failure;
      steps += part.steps;
      limited = limited || (part.trap && part.trap->kind == Trap::Kind::step_limit && part.trap->detail != kOutOfTime);
    }
    // One process stops earlier, and at another place.
    if (limited || (launch_.max_steps != 0 && steps > launch_.max_steps)) return "it reaches the limit of instructions";
    if (lowest(parts) != nullptr) return {};
    Combination all(*written, reduces());
    for (unsigned rank = 1; rank < changes.size(); ++rank) {
      const auto read = [&](std::span<const std::uint64_t> pages, std::byte* to) {
        return ranks_.read_pages(rank, pages, to);
      };
      all.add(changes[rank], reads_ ? PageSource(read) : PageSource());
      if (!all.conflict().empty()) return all.conflict();
    }
    ranks_.unsent = all.pages();
    return {};
  }

  /// Whether there may be atomic operations on global memory.
  [[nodiscard]] bool reduces() const {
    const auto& sites = launch_.program->sites;
    return std::any_of(sites.begin(), sites.end(), [](const MemorySite& site) {
      return site.space != isa::Space::shared &&
             (site.kind == AccessKind::atomic || site.kind == AccessKind::reduction);
    });
  }

  LaunchResult alone(std::string why) {
    LaunchResult result;
    Verdict verdict;
    if (ranks_.is_first()) {
      WrittenPages written(launch_.allocations);
      result = exec::run(launch_);
      written.stop();
      ranks_.unsent = Combination(written, false).pages();
      result.alone_because = std::move(why);
      verdict.trap = result.trap;
    }
    verdict = unpacked<Verdict>(ranks_.from_first(packed(verdict)));
    result.trap = std::move(verdict.trap);
    return result;
  }

  Ranks& ranks_;
  Launch launch_;
  bool same_memory_ = true; ///< as rank 0
  bool reads_ = false;      ///< News::reads
};

} // namespace

LaunchResult run_over_ranks(const Launch& launch) { return OverRanks(launch).run(); }

} // namespace warplens::exec
