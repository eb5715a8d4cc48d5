// SPDX-License-Identifier: Apache-2.0
// What decides the result of a run: its settings, the content of the files that it reads, the options, the version.
//
//   SweepInputs inputs({{"model", "sim"}});
//   inputs.add(settings);                 // reads the files of a configuration
//   inputs.head(settings).run             // a digest of all that
#pragma once

#include "api/sweep/sweep_table.hpp"

#include <map>
#include <string>

namespace warplens::tools {

class SweepInputs {
public:
  explicit SweepInputs(const std::map<std::string, std::string>& options);

  /// Reads the files that the configuration needs and that are not known: launch file, modules, libraries, arrays,
  /// device and rule files. UsageError, Diagnostics: a setting is invalid, or names an unknown device, rule or key.
  void add(const api::Settings& settings);

  /// For configurations whose values were in one that was added.
  [[nodiscard]] api::RecordHead head(const api::Settings& settings);

private:
  using Files = std::map<std::string, std::string>; ///< name -> digest
  Files files_of(const api::Settings& settings);
  std::string digest_of(const std::string& file);

  std::string common_;                                          ///< of options and version
  Files known_;                                                 ///< the digest is empty if there is no such file
  std::map<std::string, Files> of_launch_file_;                 ///< without settings
  bool settings_add_files_ = false;                             ///< such as --set module=a.ptx,b.ptx
  std::map<std::pair<std::string, std::string>, bool> checked_; ///< settings of the target
};

} // namespace warplens::tools
