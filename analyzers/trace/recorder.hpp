// Writes the events of one launch to a trace file: a watcher like any analyzer.
//
//   auto recorder = *Recorder::begin(file, description, shape, {});
//   launch(…, recorder.get());
//   recorder->end(conclusion);            // Expected<void>: whether everything is in the file
//
// Each worker fills a block of its own; another thread compresses and writes it while the worker fills the next. So
// memory is bounded by two blocks a worker, and which worker ran a CTA changes where in the file its events are, not
// what they are.
#pragma once

#include "analyzers/trace/block.hpp"
#include "analyzers/trace/file.hpp"

#include <atomic>

namespace warplens::analyzers::trace {

/// Which events are kept.
struct Selection {
  std::uint64_t first_cta = 0, last_cta = ~std::uint64_t{0}; ///< linear, both included
  std::uint64_t every = 1;                                   ///< of these, each so-manyth
  std::vector<bool> instructions;                            ///< by index; empty: all
  [[nodiscard]] bool takes(std::uint64_t cta) const {
    return cta >= first_cta && cta <= last_cta && (cta - first_cta) % every == 0;
  }
};

class Recorder final : public exec::Watcher {
public:
  /// `description`: what a reader needs to know of the launch; any text, here JSON. Errors: a CTA with more warps than
  /// a trace can tell apart; see File::append().
  static Expected<std::unique_ptr<Recorder>> begin(File& file, std::string_view description,
                                                   const exec::LaunchShape& shape, Selection selection);
  ~Recorder() override;

  std::unique_ptr<exec::Shard> make_shard() override;
  void finish(std::vector<std::unique_ptr<exec::Shard>> shards,
              const std::vector<exec::InstructionCount>& counts) override;

  /// Says that the launch is complete. Error: the first one of all that was written.
  Expected<void> end(std::string_view conclusion);

  [[nodiscard]] std::uint64_t events() const { return events_; }

private:
  class Shard;
  Recorder(File& file, Selection selection) : file_(file), selection_(std::move(selection)) {}
  void write(const Block& block);
  Expected<void> try_to_write(const Block& block);

  File& file_;
  Selection selection_;
  std::uint32_t launch_ = 0;
  std::vector<exec::InstructionCount> counts_;
  std::atomic<std::uint64_t> events_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  Diagnostics error_;
};

} // namespace warplens::analyzers::trace
