// SPDX-License-Identifier: Apache-2.0
#include "api/trace/trace_validation.hpp"

#include "api/launch/validate.hpp"
#include "emulator/base/checked.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::api {

namespace trace = analyzers::trace;

namespace {

using Range = std::pair<std::uint64_t, std::uint64_t>; ///< first row, rows

bool overlap(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end());
  Checked end = 0;
  for (const auto& [first, count] : ranges) {
    if (count == 0) continue;
    if (!end.at_most(first)) return true;
    end = Checked(first) + count;
  }
  return false;
}

/// Why two blocks exclude each other; empty: they do not.
std::string_view damage_of_rows(const std::vector<trace::Launch>& launches) {
  std::vector<Range> events, offsets, patterns, segments;
  for (const trace::Launch& launch : launches)
    for (const trace::BlockRow& row : launch.blocks) {
      events.emplace_back(row.first_event, row.events);
      offsets.emplace_back(row.first_offset, row.offsets);
      patterns.emplace_back(row.first_pattern, row.patterns);
      segments.emplace_back(row.first_segment, row.segments);
    }
  const bool wrong = overlap(std::move(events)) || overlap(std::move(offsets)) || overlap(std::move(patterns)) ||
                     overlap(std::move(segments));
  return wrong ? "two blocks have the same rows" : "";
}

std::string damage_of_counts(const std::vector<exec::InstructionCount>& counts, std::size_t instructions) {
  if (!counts.empty() && counts.size() != instructions)
    return fmt::format("it counts {} instructions, but the kernel has {}", counts.size(), instructions);
  Checked lanes;
  for (const exec::InstructionCount& c : counts) {
    if (c.lanes_on > c.lanes || !(Checked(c.warps) * exec::kWarpSize).valid() || c.lanes > c.warps * exec::kWarpSize)
      return fmt::format("{} lanes, {} of them on, in {} warps", c.lanes, c.lanes_on, c.warps);
    lanes += Checked(c.warps) * exec::kWarpSize;
  }
  return lanes.valid() ? std::string() : "the sum of its counts is more than 2^64";
}

/// The segments of a launch; those of each CTA are in order.
class Segments {
public:
  /// Errors: the segments cannot be read; their event count differs from the block's.
  Expected<void> read(const trace::Reader& reader, const trace::Launch& launch) {
    for (const trace::BlockRow& block : launch.blocks) {
      const Expected<std::vector<trace::SegmentRow>> rows = reader.segments(block);
      if (!rows) return failure(rows.error());
      std::uint64_t events = 0;
      for (const trace::SegmentRow& row : *rows) events += row.events; // 32 bits each
      if (events != block.events) return failure("the events of a block do not match its segments");
      all_.insert(all_.end(), rows->begin(), rows->end());
    }
    std::stable_sort(all_.begin(), all_.end(), [](const auto& a, const auto& b) { return a.cta < b.cta; });
    return {};
  }

  [[nodiscard]] std::string damage(std::uint64_t ctas, bool all_end) const {
    constexpr std::uint32_t kBegins = trace::SegmentRow::kBegins, kEnds = trace::SegmentRow::kEnds;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const trace::SegmentRow& row = all_[i];
      const bool first = i == 0 || all_[i - 1].cta != row.cta,
                 last = i + 1 == all_.size() || all_[i + 1].cta != row.cta;
      if (row.cta >= ctas) return fmt::format("block {} of a grid of {}", row.cta, ctas);
      if ((row.flags & ~(kBegins | kEnds)) != 0) return "a segment with unknown flags";
      if (first != ((row.flags & kBegins) != 0))
        return fmt::format("block {} {}", row.cta, first ? "has events before it begins" : "begins twice");
      if ((row.flags & kEnds) != 0 && !last) return fmt::format("block {} has events after its end", row.cta);
      if (last && all_end && (row.flags & kEnds) == 0) return fmt::format("block {} does not end", row.cta);
    }
    return {};
  }

private:
  std::vector<trace::SegmentRow> all_;
};

template <class Enum> constexpr std::uint8_t bit(Enum value) {
  return static_cast<std::uint8_t>(1u << static_cast<unsigned>(value));
}

/// Derived from the opcode. Data movement other than ld, st, atom and red may make any access.
trace::Allowed allowed(std::string_view opcode) {
  using exec::AccessKind;
  using isa::Space;
  if (opcode.starts_with("bar")) return {.events = bit(trace::EventKind::barrier)};
  const std::string_view word = opcode.substr(0, opcode.find('.'));
  trace::Allowed result{.events = bit(trace::EventKind::access),
                        .kinds = 0xff,
                        .spaces = ~0u,
                        .whole_warps = opcode.find(".bulk") != opcode.npos};
  if (word == "ld" || word == "ldu")
    result.kinds = bit(AccessKind::load);
  else if (word == "st")
    result.kinds = bit(AccessKind::store);
  else if (word == "atom" || word == "red")
    result.kinds = static_cast<std::uint8_t>(bit(AccessKind::atomic) | bit(AccessKind::reduction));
  else
    return result;
  constexpr std::pair<std::string_view, Space> kSpaces[] = {
      {".global", Space::global}, {".shared", Space::shared}, {".local", Space::local}, {".const", Space::constant}};
  for (const auto& [suffix, space] : kSpaces)
    if (opcode.find(suffix) != opcode.npos) result.spaces = std::uint32_t{1} << static_cast<unsigned>(space);
  return result;
}

Expected<void> validate_launch(const trace::Reader& reader, const trace::Launch& launch, const TracedLaunch& traced) {
  const LaunchRequest& request = traced.request;
  const auto program = request.kernel.module->program(*request.kernel.function, true, request.options.level);
  if (!program) return failure(program.error());
  if (Diagnostics errors = validate(request, **program); errors.has_errors()) return failure(std::move(errors));
  if (std::string damage = damage_of_counts(launch.counts, (*program)->function->instructions.size()); !damage.empty())
    return failure(std::move(damage));
  Segments segments;
  if (Expected<void> read = segments.read(reader, launch); !read) return read;
  const Extent blocks = blocks_of(request); // validated: the product fits
  if (std::string damage = segments.damage(blocks[0] * blocks[1] * blocks[2], traced.complete && !traced.trap);
      !damage.empty())
    return failure(std::move(damage));
  return {};
}

} // namespace

trace::Limits limits_of(const exec::Program& program, const exec::LaunchShape& shape) {
  const ir::Function& function = *program.function;
  trace::Limits limits{
      shape.ctas(), shape.warps(), static_cast<std::uint32_t>(function.instructions.size()), shape.threads(), {}};
  for (const ir::Instruction& i : function.instructions) limits.allowed.push_back(allowed(i.opcode));
  for (const std::uint32_t branch : program.branches)
    limits.allowed[branch] = {.events = bit(trace::EventKind::branch)};
  return limits;
}

Expected<void> validate_trace(const trace::Reader& reader, const std::vector<TracedLaunch>& launches) {
  const auto damaged = [&](std::string_view what) {
    return failure(fmt::format("the trace '{}' is damaged: {}", reader.name(), what));
  };
  if (const std::string_view damage = damage_of_rows(reader.launches()); !damage.empty()) return damaged(damage);
  for (std::size_t i = 0; i < launches.size(); ++i)
    if (const Expected<void> valid = validate_launch(reader, reader.launches()[i], launches[i]); !valid)
      return damaged(fmt::format("launch {}: {}", i, valid.error().list().front().message));
  return {};
}

} // namespace warplens::api
