// SPDX-License-Identifier: Apache-2.0
// The part of synccheck that follows asynchronous copies: accesses to bytes that a copy still reads or writes, missing
// fences between the proxies, and stores over valid mbarriers. Products of warp groups (wgmma) are such copies that
// read shared memory, and they use registers, too. Kernels without such instructions do not need it.
//
//   CopyCheck copies;
//   if (CopyCheck::concerns(*launch.program)) launch.checkers.push_back(&copies);
//
// What is pending depends on the order of one CTA's events only, so that findings are the same for any number of
// workers. A wait of one thread completes a copy for all: whether the others know of it, racecheck says.
#pragma once

#include "emulator/exec/state/checker.hpp"

namespace warplens::exec {

struct Program;

class CopyCheck final : public LaunchChecker {
public:
  /// Whether a kernel has asynchronous copies, mbarriers or products of warp groups.
  static bool concerns(const Program& program);
  std::unique_ptr<Checker> make(const Launch& launch) override;
};

} // namespace warplens::exec
