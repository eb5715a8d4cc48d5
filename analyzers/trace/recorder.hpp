// SPDX-License-Identifier: Apache-2.0
// Writes the events of one launch to a trace file: a watcher like any analyzer.
//
//   auto recorder = *Recorder::begin(file, description, shape, {});
//   launch(…, recorder.get());
//   recorder->end(conclusion);            // Expected<void>: whether everything is in the file
//
// Each worker fills its own block; another thread compresses and writes it while the worker fills the next one. Memory
// is therefore bounded by two blocks per worker. The worker that runs a CTA determines only the position of its events
// in the file.
//
// Of several processes that run a launch together, each has its own recorder and file. The shards of the first one get
// the totals of the others.
#pragma once

#include "analyzers/trace/block.hpp"
#include "analyzers/trace/file.hpp"
#include "analyzers/trace/totals.hpp"

#include <array>
#include <atomic>
#include <map>
#include <tuple>

namespace warplens::analyzers::trace {

/// The events to record.
struct Selection {
  std::uint64_t first_cta = 0, last_cta = ~std::uint64_t{0}; ///< linear, inclusive
  std::uint64_t every = 1;                                   ///< record every n-th of these; 0: none
  std::vector<bool> instructions;                            ///< by index; empty: all
  [[nodiscard]] bool takes(std::uint64_t cta) const {
    return every != 0 && cta >= first_cta && cta <= last_cta && (cta - first_cta) % every == 0;
  }
};

/// A bulk copy without its count.
class CopyKey {
public:
  explicit CopyKey(const exec::BulkCopy& copy) : of_(copy) { of_.count = 1; }
  [[nodiscard]] const exec::BulkCopy& copy() const { return of_; }
  bool operator<(const CopyKey& other) const {
    const auto tie = [](const exec::BulkCopy& c) {
      return std::tie(c.instruction, c.kind, c.bytes, c.sectors, c.received, c.shared_read, c.shared_written, c.blocks);
    };
    return tie(of_) < tie(other.of_);
  }

private:
  exec::BulkCopy of_;
};

class Recorder final : public exec::Watcher {
public:
  /// `description`: the information about the launch that readers need; any text, here JSON. Errors: a CTA has more
  /// than kMostWarps warps; see File::append().
  static Expected<std::unique_ptr<Recorder>> begin(File& file, std::string_view description,
                                                   const exec::LaunchShape& shape, Selection selection);
  ~Recorder() override;

  std::unique_ptr<exec::Shard> make_shard() override;
  void finish(std::vector<std::unique_ptr<exec::Shard>> shards,
              const std::vector<exec::InstructionCount>& counts) override;

  /// Begins again: of the events until now, nothing is left but their place in the file.
  void in_vain() override;

  /// Marks the launch as complete. Error: the first error of all writes.
  Expected<void> end(std::string_view conclusion);
  /// The same without the row in the table `ends`, which belongs into the file that joins those of several processes.
  Expected<EndRow> conclude(std::string_view conclusion);
  /// Error: the first error of all writes.
  [[nodiscard]] Expected<void> written() const { return failed_ ? Expected<void>(failure(error_)) : Expected<void>(); }
  /// In the tables `launches` and `blocks` of the file.
  [[nodiscard]] const LaunchRow& launch_row() const { return row_; }
  [[nodiscard]] const std::vector<BlockRow>& block_rows() const { return blocks_; }

  [[nodiscard]] std::uint64_t events() const { return events_; }
  /// For the conclusion.
  [[nodiscard]] Totals totals() const;

private:
  class Shard;
  Recorder(File& file, Selection selection) : file_(file), selection_(std::move(selection)) {}
  void write(const Block& block);
  Expected<void> try_to_write(const Block& block);
  Expected<void> begin_launch();
  void fail(Diagnostics error);
  void add(const Totals& totals);

  File& file_;
  Selection selection_;
  LaunchRow row_;
  std::uint32_t launch_ = 0;
  std::vector<BlockRow> blocks_; ///< under mutex_
  /// Multiply-adds by instruction, type of A, and whether sums are of half precision.
  using Products = std::map<std::tuple<std::uint32_t, exec::MatrixElement, bool>, std::uint64_t>;
  using Copies = std::map<CopyKey, std::uint64_t>;
  /// Copies by lanes: instruction, sectors, fetched, looked up.
  using LaneCopies = std::map<std::array<std::uint32_t, 4>, std::uint64_t>;
  using SpecialOperands = std::map<std::uint32_t, std::uint64_t>; ///< warps, by instruction
  static Totals totals_of(const Products& products, const Copies& copies, const LaneCopies& lane_copies,
                          const SpecialOperands& special_operands);
  std::vector<exec::InstructionCount> counts_;
  Products products_;
  Copies copies_;
  LaneCopies lane_copies_;
  SpecialOperands special_operands_;
  std::map<std::pair<std::uint32_t, std::uint8_t>, exec::AsyncWaits> waits_; ///< by instruction and kind
  std::atomic<std::uint64_t> events_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  Diagnostics error_;
};

} // namespace warplens::analyzers::trace
