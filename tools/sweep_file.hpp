// SPDX-License-Identifier: Apache-2.0
// The table from which a sweep can resume: a header, then a line for each row, written as soon as the row is complete.
// A killed sweep leaves complete rows; a truncated last line is ignored.
//
//   SweepFile file("sweep.jsonl", identity);        // reads existing rows
//   if (const api::SweepRow* row = file.find(settings)) …
//   file.append(row);
#pragma once

#include "api/sweep/sweep_json.hpp"

#include <map>
#include <string>

namespace warplens::tools {

class SweepFile {
public:
  /// Reads the file, or creates it. UsageError: it cannot be read or written; it is not such a table; its inputs,
  /// options or version differ; another sweep is using it.
  SweepFile(std::string name, const api::SweepIdentity& identity);
  ~SweepFile();
  SweepFile(const SweepFile&) = delete;
  SweepFile& operator=(const SweepFile&) = delete;

  /// Null: there is no such row yet.
  [[nodiscard]] const api::SweepRow* find(const api::Settings& settings) const;
  /// UsageError: it cannot be written.
  void append(const api::SweepRow& row);

private:
  void read(const std::string& text, const api::SweepIdentity& identity);
  void write(std::string_view text) const;
  [[noreturn]] void fail(const std::string& why) const;

  std::string name_;
  int file_ = -1;
  std::map<api::Settings, api::SweepRow> rows_;
};

/// The inputs of these configurations: their launch files, modules, devices and rules.
api::SweepIdentity identity_of(const std::vector<api::Settings>& configurations,
                               std::map<std::string, std::string> options);

} // namespace warplens::tools
