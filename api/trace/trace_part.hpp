// SPDX-License-Identifier: Apache-2.0
// The part of a trace that one of several processes writes: t.rank2.h5. When all are complete, rank 0 writes t.h5,
// which joins them (analyzers/trace/file.hpp).
//
//   TracePart part("t.h5", ranks);        // every function is called on all ranks, and gives all the same error
//   part.open("warplens 1.0");
//   Recorder::begin(part.file(), …);
//   part.end(recorder, conclusion);
//   part.close();                         // now there is t.h5
#pragma once

#include "analyzers/trace/recorder.hpp"
#include "api/files/output_file.hpp"
#include "emulator/exec/state/launch.hpp"

namespace warplens::api {

class TracePart {
public:
  TracePart(std::filesystem::path trace, exec::Ranks& ranks) : trace_(std::move(trace)), ranks_(ranks) {}

  /// Starts the ranks, and creates the file of this one, if they are not there yet.
  Expected<void> open(std::string_view creator);
  [[nodiscard]] analyzers::trace::File& file() { return *file_; }
  /// Whether what this process watches of the launch belongs to the trace.
  [[nodiscard]] bool records(const exec::Launch& launch) const;
  /// An error of any rank is one of all.
  Expected<void> agree(const Expected<void>& own);
  /// After a launch. `conclusion`: of rank 0.
  Expected<void> end(analyzers::trace::Recorder& recorder, std::string_view conclusion);
  /// Gives the files their names, that of the trace last. Until then, they keep their temporary ones if something
  /// fails.
  Expected<void> close(std::string_view creator);
  [[nodiscard]] bool is_first() const { return ranks_.is_first(); }

private:
  [[nodiscard]] std::string name_of(unsigned rank) const;
  Expected<void> join(std::string_view creator, const std::vector<exec::Bytes>& parts);

  std::filesystem::path trace_;
  exec::Ranks& ranks_;
  std::string run_;
  std::optional<PendingFile> pending_, joined_;
  std::unique_ptr<analyzers::trace::File> file_;
  std::vector<analyzers::trace::LaunchRow> launches_;
  std::vector<analyzers::trace::BlockRow> blocks_; ///< with the launches' numbers in the trace
  std::vector<analyzers::trace::EndRow> ends_;
};

} // namespace warplens::api
