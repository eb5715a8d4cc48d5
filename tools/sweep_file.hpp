// The table that a sweep can be resumed from: a header, then a line for each row, written as soon as it is known. A
// sweep that is killed leaves whole rows; a line that was cut off is not taken.
//
//   SweepFile file("sweep.jsonl", identity);        // reads what is there
//   if (const api::SweepRow* row = file.find(settings)) …
//   file.append(row);
#pragma once

#include "api/sweep/sweep_json.hpp"

#include <map>
#include <string>

namespace warplens::tools {

class SweepFile {
public:
  /// Reads the file, or makes one. UsageError: it cannot be read or written; it is not such a table, or one of other
  /// inputs, options or version; another sweep is at it.
  SweepFile(std::string name, const api::SweepIdentity& identity);
  ~SweepFile();
  SweepFile(const SweepFile&) = delete;
  SweepFile& operator=(const SweepFile&) = delete;

  /// Null: not there yet.
  [[nodiscard]] const api::SweepRow* find(const api::Settings& settings) const;
  /// UsageError: it cannot be written.
  void append(const api::SweepRow& row);

private:
  void read(const std::string& text, const api::SweepIdentity& identity);
  [[noreturn]] void fail(const std::string& why) const;

  std::string name_;
  int file_ = -1;
  std::map<api::Settings, api::SweepRow> rows_;
};

/// What the rows of these configurations rest on: their launch files, modules, devices and rules.
api::SweepIdentity identity_of(const std::vector<api::Settings>& configurations,
                               std::map<std::string, std::string> options);

} // namespace warplens::tools
