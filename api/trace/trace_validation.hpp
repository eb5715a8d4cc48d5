// What holds of a trace that has been opened: those who read it need not ask again. A trace comes from outside; what it
// says is checked here, once, but for the events, which are checked as each block of them is read
// (analyzers::trace::find_damage).
#pragma once

#include "api/trace/trace.hpp"

namespace warplens::api {

/// What the events of a launch may be: grid, warps, instructions and what each of them can do.
analyzers::trace::Limits limits_of(const exec::Program& program, const exec::LaunchShape& shape);

/// Errors, with the launch, unless
/// - every launch is one that its device takes (api/launch/validate.hpp), and its kernel can be run;
/// - the rows of no two blocks of events overlap, and a block has as many events as its segments;
/// - a CTA is one of the grid. It begins once, before its first event, and ends at most once, after its last; in a
///   launch that came to its end each that has begun has ended;
/// - there are counts of no instruction or of all. A warp has 32 lanes, guards hold in some of those that are active,
///   and all sums fit 64 bits.
Expected<void> validate_trace(const analyzers::trace::Reader& reader, const std::vector<TracedLaunch>& launches);

} // namespace warplens::api
