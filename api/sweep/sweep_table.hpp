// SPDX-License-Identifier: Apache-2.0
// The table of a sweep in a file, to which runs are only appended: a line of JSON for each run. A line is complete in
// itself: it says which run it is, by a digest of all that decides the result, and ends with a digest of the line.
// Whatever is no such line, such as one that was cut off when its writer was killed, is not a result.
//
//   sweep_record(row, {run, scope, inputs})             ->  {"run":"6c62…","scope":"…",…,"check":"07bb…"}\n
//   const SweepTable table = read_sweep_tables(files)->finish();   // also while they grow
#pragma once

#include "api/sweep/sweep.hpp"

#include <map>

namespace warplens::api {

enum class RunState : std::uint8_t {
  done,
  failed, ///< it has no result: it was refused, or trapped
  lost    ///< its process died, or the time was over; it may have a result when it runs again
};

struct RecordHead {
  std::string run;    ///< digest of the settings and of `inputs`
  std::string scope;  ///< digest of the names of the input files: runs with the same one read the same files
  std::string inputs; ///< digest of the input files, the options and the version
  RunState state = RunState::done;
};

/// `lost` if the time was over before the row had a result.
RunState state_of(const SweepRow& row);

std::string sweep_record(const SweepRow& row, const RecordHead& head);
/// `line` without its newline. Nullopt: it is not complete, or was changed.
std::optional<RecordHead> record_head(std::string_view line);
/// The same, but believes the line without its digest.
std::optional<RecordHead> believed_head(std::string_view line);
/// Whether a file with this text may be a table. A table that is cut off anywhere still is one.
bool is_sweep_table(std::string_view text);

struct SweepTable {
  std::vector<SweepRow> rows; ///< sorted by their settings; numbers in these by value
  std::size_t damaged = 0;    ///< lines that are not a record
  std::size_t outdated = 0;   ///< runs with other inputs, options or another version than the last of their scope
  /// What is missing because of that; empty: nothing.
  [[nodiscard]] std::string note() const;
};

/// Of each run, the last record counts.
class SweepTableReader {
public:
  /// A line without its newline.
  void add(std::string_view line);
  /// Null: there is no record of this run.
  [[nodiscard]] const SweepRow* find(const std::string& run) const;
  SweepTable finish();

private:
  struct Run {
    SweepRow row;
    std::string scope, inputs;
  };
  std::map<std::string, Run> runs_;
  std::map<std::string, std::string> inputs_; ///< of the last record of each scope
  std::size_t damaged_ = 0;
};

/// Errors: a file that cannot be read, or is not a table.
Expected<SweepTableReader> read_sweep_tables(std::span<const std::string> files);

} // namespace warplens::api
