// SPDX-License-Identifier: Apache-2.0
// Stores of a warp that follow each other and fill the same sectors: a GPU with caches joins them before they reach the
// second cache, as the three stores of an array of structures.
//
//   const std::map<std::uint32_t, double> shares = fresh_store_sectors(profile, kernel);
//   shares.at(7) == 0      // the stores just before instruction 7 have touched all of its sectors
#pragma once

#include "analyzers/profile.hpp"
#include "emulator/ir/module.hpp"

#include <cstdint>
#include <map>

namespace warplens::api {

/// By instruction: of the sectors of its recorded stores to global memory, the share that no earlier store of the same
/// warp has touched in the same execution of its basic block, since the last load, barrier, fence or atomic.
std::map<std::uint32_t, double> fresh_store_sectors(const analyzers::Profile& profile, const ir::Function& kernel);

} // namespace warplens::api
