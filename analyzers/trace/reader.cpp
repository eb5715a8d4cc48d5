// SPDX-License-Identifier: Apache-2.0
#include "analyzers/trace/reader.hpp"

#include "emulator/base/limits.hpp"

#include <fmt/format.h>

#include <deque>
#include <future>
#include <thread>

namespace warplens::analyzers::trace {

namespace {

template <class Row> Expected<std::vector<Row>> read_all(File& file, Table table) {
  return file.read<Row>(table, 0, *file.rows(table));
}

} // namespace

Expected<Reader> Reader::open(const std::filesystem::path& path) {
  Expected<std::unique_ptr<File>> file = File::open(path);
  if (!file) return failure(file.error());
  Reader reader(std::move(*file));
  if (Expected<void> index = reader.read_index(); !index) return failure(index.error());
  return reader;
}

Expected<std::string> Reader::text(std::uint64_t first, std::uint64_t size) const {
  if (const Limit& limit = limits::kDescriptionBytes; !limit.admits(size))
    return failure(limit.exceeded(fmt::format("the trace '{}'", name()), size), limit.hint());
  const Expected<std::vector<char>> text = file_->read<char>(Table::text, first, size);
  if (!text) return failure(text.error());
  return std::string(text->begin(), text->end());
}

Expected<void> Reader::read_index() {
  const auto launches = read_all<LaunchRow>(*file_, Table::launches);
  if (!launches) return failure(launches.error());
  const auto blocks = read_all<BlockRow>(*file_, Table::blocks);
  if (!blocks) return failure(blocks.error());
  const auto ends = read_all<EndRow>(*file_, Table::ends);
  if (!ends) return failure(ends.error());
  const auto damaged = [&](std::string_view what) {
    return failure(fmt::format("the trace '{}' is damaged: {}", name(), what));
  };
  for (const LaunchRow& row : *launches) {
    Expected<std::string> description = text(row.text, row.text_size);
    if (!description) return failure(description.error());
    launches_.push_back({std::move(*description), {}, {}, {}});
  }
  for (const BlockRow& row : *blocks) {
    if (row.launch >= launches_.size()) return damaged("events of a missing launch");
    // An access adds up to 62 offsets to a block that is not yet full.
    if (row.events > kBlockEvents || row.offsets > kBlockOffsets + 2 * exec::kWarpSize ||
        row.patterns > kBlockPatterns || row.segments > kBlockEvents + 1)
      return damaged("a block that is too large");
    launches_[row.launch].blocks.push_back(row);
  }
  for (const EndRow& row : *ends) {
    if (row.launch >= launches_.size()) return damaged("the end of a missing launch");
    Launch& launch = launches_[row.launch];
    if (launch.conclusion) return damaged("a launch that ends twice");
    Expected<std::string> conclusion = text(row.text, row.text_size);
    if (!conclusion) return failure(conclusion.error());
    launch.conclusion = std::move(*conclusion);
    Expected<std::vector<exec::InstructionCount>> counts =
        file_->read<exec::InstructionCount>(Table::counts, row.first_count, row.counts);
    if (!counts) return failure(counts.error());
    launch.counts = std::move(*counts);
  }
  return {};
}

Expected<Block> Reader::read(const BlockRow& row, const Limits& limits) const {
  Block block;
  Diagnostics error;
  const auto take = [&](auto& rows, Table table, std::uint64_t first, std::uint64_t count) {
    using Row = typename std::remove_reference_t<decltype(rows)>::value_type;
    if (error.has_errors()) return;
    Expected<std::vector<Row>> read = file_->read<Row>(table, first, count);
    if (read)
      rows = std::move(*read);
    else
      error = read.error();
  };
  take(block.pattern, Table::pattern, row.first_event, row.events);
  take(block.warp, Table::warp, row.first_event, row.events);
  take(block.base, Table::base, row.first_event, row.events);
  take(block.offsets, Table::offsets, row.first_offset, row.offsets);
  take(block.patterns, Table::patterns, row.first_pattern, row.patterns);
  take(block.segments, Table::segments, row.first_segment, row.segments);
  if (error.has_errors()) return failure(std::move(error));
  if (const std::string damage = find_damage(block, limits); !damage.empty())
    return failure(fmt::format("the trace '{}' is damaged: {}", name(), damage));
  return block;
}

Expected<std::vector<SegmentRow>> Reader::segments(const BlockRow& row) const {
  return file_->read<SegmentRow>(Table::segments, row.first_segment, row.segments);
}

Part Part::of(std::size_t index, std::size_t count, std::uint64_t ctas) {
  constexpr std::uint64_t kPieces = 8; // of each process
  return {index, count, std::max<std::uint64_t>(1, ctas / (kPieces * count))};
}

Expected<void> deliver(const Reader& reader, const Launch& launch, const Limits& limits, const Part& part,
                       exec::Shard& shard) {
  const auto owns = [&](std::uint64_t cta) { return part.owns(cta); };
  std::vector<const BlockRow*> rows;
  for (const BlockRow& row : launch.blocks) {
    if (part.count > 1) {
      const Expected<std::vector<SegmentRow>> segments = reader.segments(row);
      if (!segments) return failure(segments.error());
      if (std::none_of(segments->begin(), segments->end(), [&](const SegmentRow& s) { return owns(s.cta); })) continue;
    }
    rows.push_back(&row);
  }
  Deliverer deliverer(shard);
  // Blocks are read ahead while the shard processes one.
  const std::size_t ahead = std::max(1u, std::thread::hardware_concurrency());
  std::deque<std::future<Expected<Block>>> blocks;
  for (std::size_t next = 0; next < rows.size() || !blocks.empty();) {
    while (next < rows.size() && blocks.size() < ahead)
      blocks.push_back( // in get() if no thread can be created
          std::async([&reader, &limits, row = rows[next++]] { return reader.read(*row, limits); }));
    const Expected<Block> block = blocks.front().get();
    blocks.pop_front();
    if (!block) return failure(block.error());
    deliverer.deliver(*block, owns);
  }
  return {};
}

std::vector<exec::InstructionCount> counts_of(const Launch& launch, const Limits& limits) {
  std::vector<exec::InstructionCount> counts = launch.counts;
  counts.resize(limits.instructions);
  return counts;
}

Expected<void> replay(const Reader& reader, const Launch& launch, const Limits& limits, exec::Watcher& watcher,
                      const Totals& totals) {
  std::vector<std::unique_ptr<exec::Shard>> shards;
  shards.push_back(watcher.make_shard());
  if (Expected<void> done = deliver(reader, launch, limits, {}, *shards.front()); !done) return done;
  totals.tell(*shards.front());
  watcher.finish(std::move(shards), counts_of(launch, limits));
  return {};
}

} // namespace warplens::analyzers::trace
