// Reads a trace, and replays it: the shards are told what the emulator told the recorder.
//
//   auto reader = *Reader::open("t.h5");
//   reader.launches()[0].description
//   replay(reader, reader.launches()[0], limits, analysis);   // the Analysis is an exec::Watcher
#pragma once

#include "analyzers/trace/block.hpp"
#include "analyzers/trace/file.hpp"

namespace warplens::analyzers::trace {

struct Launch {
  std::string description;               ///< as it was given to Recorder::begin()
  std::optional<std::string> conclusion; ///< as it was given to Recorder::end(); missing: the run was cut off
  std::vector<exec::InstructionCount> counts;
  std::vector<BlockRow> blocks;
};

class Reader {
public:
  /// Errors: see File::open(); an index that contradicts itself.
  static Expected<Reader> open(const std::filesystem::path& path);
  [[nodiscard]] const std::vector<Launch>& launches() const { return launches_; }
  [[nodiscard]] const std::string& name() const { return file_->name(); }
  /// Error: the block is damaged, or not one of a launch with such limits.
  Expected<Block> read(const BlockRow& block, const Limits& limits) const;
  /// Only whose events there are. Error: the block is damaged.
  Expected<std::vector<SegmentRow>> segments(const BlockRow& block) const;

private:
  explicit Reader(std::unique_ptr<File> file) : file_(std::move(file)) {}
  Expected<void> read_index();
  Expected<std::string> text(std::uint64_t first, std::uint64_t size) const;

  std::unique_ptr<File> file_;
  std::vector<Launch> launches_;
};

/// Tells `watcher` of a whole launch, through one shard, and finishes it. Memory: a few blocks.
/// Error: see Reader::read(); the watcher is not finished then.
Expected<void> replay(const Reader& reader, const Launch& launch, const Limits& limits, exec::Watcher& watcher);

} // namespace warplens::analyzers::trace
