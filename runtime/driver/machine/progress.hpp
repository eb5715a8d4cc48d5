// SPDX-License-Identifier: Apache-2.0
// A progress line on the terminal for launches that take longer than two seconds, for `warplens exec`.
//
//   const LaunchShown shown(request);   // until it is destroyed; sets LaunchOptions::progress
//
// Silent unless WARPLENS_PROGRESS is set and stderr is a terminal. The program's own output may stand between the
// lines: the line is erased when the launch ends.
#pragma once

#include "api/launch/launch.hpp"

namespace warplens::runtime {

class LaunchShown {
public:
  explicit LaunchShown(api::LaunchRequest& request);
  ~LaunchShown();
  LaunchShown(const LaunchShown&) = delete;
  LaunchShown& operator=(const LaunchShown&) = delete;

private:
  api::LaunchRequest& request_;
};

} // namespace warplens::runtime
