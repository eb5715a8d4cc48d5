// SPDX-License-Identifier: Apache-2.0
// Reads and writes Accel-Sim traces. An imported trace becomes an ordinary launch: each machine instruction of the
// kernel is represented by one PTX instruction, and the events of the trace take the place of the emulator.
//
//   AccelSimImport import;
//   for (const auto& file : *kernels_of("kernelslist.g")) {
//     Expected<LaunchRequest> request = import.read(file);
//     request->options.recorder = trace_writer;                      // or analyze
//     launch(*request);
//   }
//   import.warnings();                                       // unknown opcodes
#pragma once

#include "analyzers/trace/accelsim_text.hpp"
#include "api/trace/trace_inspect.hpp"

#include <map>
#include <set>

namespace warplens::api {

/// The kernel files in a list, in order, or the file itself if it is a kernel file. Error: it cannot be read.
Expected<std::vector<std::filesystem::path>> kernels_of(const std::filesystem::path& list_or_kernel);

class AccelSimImport {
public:
  /// Reads the instructions of the file. The launch of the request reads the file again, and the import must outlive
  /// the launch. Errors: no such file, not a trace, an invalid line, an unknown architecture.
  Expected<LaunchRequest> read(const std::filesystem::path& kernel_file, const std::optional<model::Device>& device);
  /// Ignored opcodes, each once.
  [[nodiscard]] const Diagnostics& warnings() const { return warnings_; }

private:
  std::shared_ptr<Context> context_;
  std::vector<std::unique_ptr<EventSource>> sources_;
  std::set<std::string> unknown_;
  Diagnostics warnings_;
};

/// Writes kernel-1.traceg, … and kernelslist.g into a folder, and creates the folder. Like the trace, the files contain
/// accesses, branches and barriers, but no arithmetic; each warp ends with an EXIT. One block is in memory at a time.
/// Errors: a file cannot be written; a damaged trace.
Expected<void> write_accelsim(const Trace& trace, const std::filesystem::path& folder);

} // namespace warplens::api
