// SPDX-License-Identifier: Apache-2.0
#include "api/launch/overruns.hpp"

#include "api/session/environment.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace warplens::api {

Overruns& Overruns::instance() {
  static Overruns& all = *new Overruns; // never destroyed: threads may still run kernels when the process ends
  return all;
}

std::vector<std::string> Overruns::fresh(const LaunchReport& report, std::string_view source) {
  std::vector<std::string> list;
  const std::lock_guard lock(mutex_);
  for (const LaunchReport::Overrun& o : report.overruns) {
    count_ += o.count;
    const Diagnostic& w = o.warning;
    if (!told_.insert(fmt::format("{} {}:{}:{}", report.kernel, w.file, w.where.line, w.where.column)).second) continue;
    Diagnostics one;
    one.warning(w.where, w.message, fmt::format("use --strict or {}=1 to make this a fault", environment::kStrict));
    one.in_file(w.file);
    list.push_back(render(one, source));
  }
  return list;
}

std::string Overruns::summary() const {
  const std::lock_guard lock(mutex_);
  if (count_ == 0) return {};
  return fmt::format("{} access{} of {} instruction{} went past the end of an allocation, as a GPU allows", count_,
                     count_ == 1 ? "" : "es", told_.size(), told_.size() == 1 ? "" : "s");
}

} // namespace warplens::api
