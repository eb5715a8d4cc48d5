// SPDX-License-Identifier: Apache-2.0
// Traces: files with the events of every warp in a launch, for later analyses without an emulation.
//
//   auto writer = *TraceWriter::create("t.h5", {});
//   launch({…, .options = {.recorder = writer.get()}});
//   writer->close();
//
//   Trace trace = *Trace::open("t.h5");
//   Expected<LaunchReport> report = trace.analyze(0, {});   // the report of the launch, byte for byte
//
// The format: docs/trace-format.md.
#pragma once

#include "analyzers/trace/reader.hpp"
#include "analyzers/trace/recorder.hpp"
#include "api/files/output_file.hpp"
#include "api/launch/launch.hpp"
#include "api/trace/trace_part.hpp"

namespace warplens::api {

/// Which events a trace keeps.
struct TraceFilter {
  std::string kernel; ///< empty: all
  std::uint64_t first_block = 0, last_block = ~std::uint64_t{0};
  std::uint64_t every = 1;          ///< every nth of these blocks
  std::vector<std::uint32_t> lines; ///< of the PTX; empty: all
};

/// The filter as one line of text, to pass it to another process, and back. Errors: not such a text.
std::string filter_text(const TraceFilter& filter);
Expected<TraceFilter> parse_filter(std::string_view text);

class TraceWriter final : public LaunchRecorder {
public:
  /// The file has a temporary name (see api/files/output_file.hpp) until close(). If this process is killed or the
  /// disk is full, the temporary file remains and is readable up to that point. `device_file`: the file of the
  /// launches' device, if it is not a built-in device. `ranks`: those of the launches; each writes a file of its own
  /// (api/trace/trace_part.hpp). Errors: the file cannot be written.
  static Expected<std::unique_ptr<TraceWriter>> create(const std::filesystem::path& path, TraceFilter filter,
                                                       const std::filesystem::path& device_file = {},
                                                       exec::Ranks* ranks = nullptr);
  Expected<exec::Watcher*> begin(const LaunchRequest& request, const exec::Launch& launch) override;
  Expected<void> end(const LaunchReport& report) override;
  Expected<void> close() override;

private:
  TraceWriter(TraceFilter filter, std::string device_text)
      : filter_(std::move(filter)), device_text_(std::move(device_text)) {}
  [[nodiscard]] Expected<std::vector<bool>> kept_instructions(const exec::Program& program) const;

  std::optional<PendingFile> pending_;
  std::unique_ptr<analyzers::trace::File> file_;
  std::unique_ptr<TracePart> part_; ///< in place of these, over ranks
  TraceFilter filter_;
  std::string device_text_;
  std::unique_ptr<analyzers::trace::Recorder> recorder_;
  std::vector<std::weak_ptr<Module>> modules_; ///< by launch, so that a module's text is written once
};

/// Options of analyze().
struct ReplayOptions {
  std::optional<model::Device> device; ///< replaces the launch's device
  LaunchOptions launch;                ///< `registers` replaces that of the launch
};

/// A launch of a trace, which can be launched again.
struct TracedLaunch {
  LaunchRequest request;
  TraceFilter filter;
  bool complete = false; ///< false: the run was interrupted; execution counts are unknown
  std::string printed;   ///< by printf() in the kernel
  std::optional<Diagnostic> trap;
  std::optional<exec::Footprint> footprint;
  std::optional<exec::Swaps> swaps;
  std::optional<exec::LongestWarps> longest;
  analyzers::trace::Totals totals;
  std::shared_ptr<Buffer> pointed_to; ///< by an argument; as large as the original memory
};

class Trace {
public:
  /// Errors: not a trace, damaged, of another version; the PTX in it cannot be loaded. See also
  /// api/trace/trace_validation.hpp.
  static Expected<Trace> open(const std::filesystem::path& path);

  [[nodiscard]] const std::vector<TracedLaunch>& launches() const { return launches_; }
  /// The report of a launch, from its events. Errors: as launch(); a damaged trace.
  Expected<LaunchReport> analyze(std::size_t launch, const ReplayOptions& options);

  [[nodiscard]] const analyzers::trace::Reader& reader() const { return *reader_; }

private:
  Trace() = default;
  std::shared_ptr<analyzers::trace::Reader> reader_;
  std::vector<TracedLaunch> launches_;
};

} // namespace warplens::api
