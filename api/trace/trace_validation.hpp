// SPDX-License-Identifier: Apache-2.0
// Validates a trace once when it is opened, because a trace may come from an untrusted source. Code that reads it need
// not check again. Events are checked later, when each block of them is read (analyzers::trace::find_damage).
#pragma once

#include "api/trace/trace.hpp"

namespace warplens::api {

/// The limits of a launch's events: grid, warps, instructions and the possible events of each.
analyzers::trace::Limits limits_of(const exec::Program& program, const exec::LaunchShape& shape);

/// Returns an error with the launch, unless:
/// - each device accepts its launch (api/launch/validate.hpp), and the kernel can be run;
/// - the rows of no two blocks of events overlap, and a block has as many events as its segments together;
/// - each CTA is in the grid. It begins once, before its first event, and ends at most once, after its last. In a
///   launch that came to its end, each CTA that has begun has ended;
/// - there are counts for no instruction or for all. A warp has at most 32 lanes, guards are true in a subset of the
///   active lanes, and all sums fit in 64 bits.
Expected<void> validate_trace(const analyzers::trace::Reader& reader, const std::vector<TracedLaunch>& launches);

} // namespace warplens::api
