// Accel-Sim's traces, in and out. What is read becomes a launch like any other: the machine instructions of the kernel
// are written down as PTX that stands for them, one for one, and the events take the emulator's place.
//
//   AccelSimImport import;
//   for (const auto& file : *kernels_of("kernelslist.g")) {
//     Expected<LaunchRequest> request = import.read(file);
//     request->recorder = trace_writer;                      // or analyze
//     launch(*request);
//   }
//   import.warnings();                                       // opcodes that are not known
#pragma once

#include "analyzers/trace/accelsim_text.hpp"
#include "api/trace/trace_inspect.hpp"

#include <map>
#include <set>

namespace warplens::api {

/// The kernel files that a list names, in order, or the file itself where it is one. Error: it cannot be read.
Expected<std::vector<std::filesystem::path>> kernels_of(const std::filesystem::path& list_or_kernel);

class AccelSimImport {
public:
  /// Reads the file once, for its instructions; the second time is when the request is launched. The import must
  /// outlive that. Errors: no such file, no trace, a line that cannot be, an architecture that is not known.
  Expected<LaunchRequest> read(const std::filesystem::path& kernel_file, const std::optional<model::Device>& device);
  /// Opcodes that were left out, each once.
  [[nodiscard]] const Diagnostics& warnings() const { return warnings_; }

private:
  std::shared_ptr<Context> context_;
  std::vector<std::unique_ptr<EventSource>> sources_;
  std::set<std::string> unknown_;
  Diagnostics warnings_;
};

/// Writes kernel-1.traceg, … and kernelslist.g into a folder, which is made. A trace holds accesses, branches and
/// barriers; so do these files, and an EXIT for each warp: no arithmetic. One block is in memory at a time.
/// Errors: a file cannot be written; a damaged trace.
Expected<void> write_accelsim(const Trace& trace, const std::filesystem::path& folder);

} // namespace warplens::api
