// SPDX-License-Identifier: Apache-2.0
// Reads and replays a trace: the shards receive the events that the emulator sent to the recorder.
//
//   auto reader = *Reader::open("t.h5");
//   reader.launches()[0].description
//   replay(reader, reader.launches()[0], limits, analysis);   // the Analysis is an exec::Watcher
#pragma once

#include "analyzers/trace/block.hpp"
#include "analyzers/trace/file.hpp"
#include "analyzers/trace/totals.hpp"

namespace warplens::analyzers::trace {

struct Launch {
  std::string description;               ///< as passed to Recorder::begin()
  std::optional<std::string> conclusion; ///< as passed to Recorder::end(); missing if the run was interrupted
  std::vector<exec::InstructionCount> counts;
  std::vector<BlockRow> blocks;
};

class Reader {
public:
  /// Errors: see File::open(); an inconsistent index.
  static Expected<Reader> open(const std::filesystem::path& path);
  [[nodiscard]] const std::vector<Launch>& launches() const { return launches_; }
  [[nodiscard]] const std::string& name() const { return file_->name(); }
  /// Whether the file has what one process of several has recorded.
  [[nodiscard]] bool is_part() const { return file_->is_part(); }
  /// Error: the block is damaged, or invalid for a launch with these limits.
  Expected<Block> read(const BlockRow& block, const Limits& limits) const;
  /// Reads only the segments of the block. Error: the block is damaged.
  Expected<std::vector<SegmentRow>> segments(const BlockRow& block) const;

private:
  explicit Reader(std::unique_ptr<File> file) : file_(std::move(file)) {}
  Expected<void> read_index();
  Expected<std::string> text(std::uint64_t first, std::uint64_t size) const;

  std::unique_ptr<File> file_;
  std::vector<Launch> launches_;
};

/// The CTAs that one of several processes replays: pieces of neighbouring CTAs, in turns with the others.
struct Part {
  std::size_t index = 0, count = 1;
  std::uint64_t piece = 1; ///< CTAs
  /// `index` of `count`, of so many CTAs.
  static Part of(std::size_t index, std::size_t count, std::uint64_t ctas);
  [[nodiscard]] bool owns(std::uint64_t cta) const { return cta / piece % count == index; }
};

/// Replays a part of a launch to a shard. Reads the blocks that have events of the part, and needs memory for a few of
/// them. Error: see Reader::read().
Expected<void> deliver(const Reader& reader, const Launch& launch, const Limits& limits, const Part& part,
                       exec::Shard& shard);

/// How often each instruction ran, as far as it is known.
std::vector<exec::InstructionCount> counts_of(const Launch& launch, const Limits& limits);

/// Replays a whole launch to `watcher` through one shard, and finishes it. Needs memory for a few blocks. `totals`:
/// those of the launch's conclusion. Error: see Reader::read(); the watcher is then not finished.
Expected<void> replay(const Reader& reader, const Launch& launch, const Limits& limits, exec::Watcher& watcher,
                      const Totals& totals = {});

} // namespace warplens::analyzers::trace
