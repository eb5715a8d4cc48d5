// What programs are told of their accesses past the ends of allocations: a warning for each place, once in a process,
// and a count when it ends.
//
//   for (const std::string& text : Overruns::instance().fresh(report, source)) …print it…
//   Overruns::instance().summary()   // "24 accesses of 2 instructions went past …"; empty: none did
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
  /// Warnings of places that have not been told of yet, rendered; `source` is the text of the module, for the line.
  std::vector<std::string> fresh(const LaunchReport& report, std::string_view source);
  [[nodiscard]] std::string summary() const;

private:
  mutable std::mutex mutex_;
  std::set<std::string> told_; ///< kernel, file and line
  std::uint64_t count_ = 0;
};

/// Whether the environment says that such accesses are faults.
bool strict_by_environment();

} // namespace warplens::api
