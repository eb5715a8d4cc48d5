// SPDX-License-Identifier: Apache-2.0
// Warnings for accesses past the end of an allocation: one per place and process, and a summary when the process ends.
//
//   for (const std::string& text : Overruns::instance().fresh(report, source)) …print it…
//   Overruns::instance().summary()   // "24 accesses of 2 instructions went past …"; empty: no such access
#pragma once

#include "api/launch/launch.hpp"

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::api {

/// Thread-safe.
class Overruns {
public:
  static Overruns& instance();
  /// The rendered warnings of places that have not been reported yet. `source` is the text of the module.
  std::vector<std::string> fresh(const LaunchReport& report, std::string_view source);
  [[nodiscard]] std::string summary() const;

private:
  mutable std::mutex mutex_;
  std::set<std::string> told_; ///< kernel, file and line
  std::uint64_t count_ = 0;
};

} // namespace warplens::api
