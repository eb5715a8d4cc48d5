// SPDX-License-Identifier: Apache-2.0
// The file of `sweep --results`: several sweeps may append to it at the same time, also on several machines.
//
//   SweepFile file("rows.jsonl");
//   if (!file.find(run) && file.claim(key)) …      // nobody else runs it: run it
//   file.append(api::sweep_record(…));
//
// Locks of byte ranges of the file (far behind its end) keep sweeps apart. The system releases them when a process
// ends, however it ends, and network file systems know them.
#pragma once

#include "api/files/digest.hpp"
#include "api/sweep/sweep_table.hpp"

#include <string>
#include <vector>

namespace warplens::tools {

class SweepFile {
public:
  /// Opens or creates it, and reads which runs it has. UsageError: it cannot be read or written, or is no such file.
  explicit SweepFile(std::string name);
  ~SweepFile();
  SweepFile(const SweepFile&) = delete;
  SweepFile& operator=(const SweepFile&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// How this run ended, if the file had it when it was opened or refreshed; the runs that this object appended are not
  /// known.
  [[nodiscard]] std::optional<api::RunState> find(std::string_view run) const;
  /// Reads what others have appended; whether there was anything.
  bool refresh();

  /// From now on, only this process runs `key`, until it releases it. False: another one runs it.
  bool claim(std::uint64_t key);
  void release(std::uint64_t key);

  /// Appends complete records with one write. UsageError: it cannot be written.
  void append(std::string_view records);
  /// Waits until the disk has everything. UsageError: it has not.
  void flush();

private:
  [[noreturn]] void fail(const std::string& why, const std::string& hint = "") const;
  bool lock(short type, std::uint64_t at, bool wait);
  bool ends_in_newline(std::uint64_t size) const;

  std::string name_;
  int file_ = -1;
  std::uint64_t read_ = 0;                        ///< bytes of the file that are known: whole lines
  std::vector<api::Digest::Value> done_, failed_; ///< sorted; 16 bytes a run
};

} // namespace warplens::tools
