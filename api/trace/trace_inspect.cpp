// SPDX-License-Identifier: Apache-2.0
#include "api/trace/trace_inspect.hpp"

#include "analyzers/counted_rules.hpp"
#include "analyzers/local_memory.hpp"
#include "api/launch/validate.hpp"
#include "api/trace/trace_validation.hpp"
#include "emulator/ir/print.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <deque>

namespace warplens::api {

namespace trace = analyzers::trace;

namespace {

using Json = nlohmann::ordered_json;

// A sequence of events of one CTA, and its position in the file.
struct Piece {
  std::uint64_t cta = 0;
  std::size_t block = 0;
  std::uint32_t segment = 0;
};

/// A cache of recently read blocks: CTAs that ran at the same time on several workers are in different blocks.
class Blocks {
public:
  struct Loaded {
    std::size_t number = 0;
    trace::Block block;
    std::vector<trace::Place> places;
  };
  Blocks(const trace::Reader& reader, const trace::Launch& launch, const trace::Limits& limits)
      : reader_(reader), launch_(launch), limits_(limits) {}

  Expected<const Loaded*> get(std::size_t number) {
    for (const Loaded& l : loaded_)
      if (l.number == number) return &l;
    Expected<trace::Block> block = reader_.read(launch_.blocks[number], limits_);
    if (!block) return failure(block.error());
    if (loaded_.size() == kMost) loaded_.pop_front();
    std::vector<trace::Place> places = trace::places(*block);
    loaded_.push_back({number, std::move(*block), std::move(places)});
    return &loaded_.back();
  }

private:
  static constexpr std::size_t kMost = 16;
  const trace::Reader& reader_;
  const trace::Launch& launch_;
  const trace::Limits& limits_;
  std::deque<Loaded> loaded_;
};

/// One for each address that the lanes of a request access.
std::uint32_t constant_passes(const exec::Access& a, const rules::Requests& requests) {
  std::uint32_t passes = 0;
  requests.for_each([&](exec::Mask lanes) {
    if ((lanes & a.mask) != 0)
      passes += analyzers::Footprint(a.addresses, lanes & a.mask, a.lane_bytes).distinct_addresses();
  });
  return passes;
}

} // namespace

Expected<TraceView> TraceView::open(const Trace& trace, std::size_t launch, const rules::RuleSet& rules) {
  if (launch >= trace.launches().size())
    return failure(fmt::format("the trace contains {} launches, counted from 0: launch {} does not exist",
                               trace.launches().size(), launch));
  const LaunchRequest& request = trace.launches()[launch].request;
  Module& module = *request.kernel.module;
  auto program = module.program(*request.kernel.function, true, request.options.level);
  if (!program) return failure(program.error());
  TraceView view;
  view.trace_ = &trace;
  view.launch_ = launch;
  view.program_ = std::move(*program);
  view.ptx_ = ir::print_lines(module.ir(), *view.program_->function);
  const Extent blocks = blocks_of(request);
  exec::LaunchShape shape;
  for (std::size_t i = 0; i < 3; ++i) {
    shape.grid[i] = static_cast<std::uint32_t>(blocks[i]);
    shape.block[i] = static_cast<std::uint32_t>(request.block[i]);
  }
  view.limits_ = limits_of(*view.program_, shape);
  view.coalescing_ = rules.coalescing.empty() ? request.device.coalescing_rule : rules.coalescing[0];
  view.banks_ = rules.banks.empty() ? request.device.bank_rule : rules.banks[0];
  return view;
}

// Fills in the event; the caller keeps its addresses.
void TraceView::see(const trace::Event& event, SeenEvent& seen) const {
  const ir::Function& function = *program_->function;
  const ir::Instruction& instruction = function.instructions[event.pattern->instruction];
  seen.launch = launch_;
  seen.of = event.of;
  seen.index = event.pattern->instruction;
  seen.instruction = &instruction;
  seen.ptx = ptx_[event.pattern->instruction];
  seen.source = source(seen.index);
  seen.kind = event.pattern->event;
  seen.transactions.clear();
  seen.passes.reset();
  seen.local_sectors.reset();
  seen.constant_passes.reset();
  switch (seen.kind) {
  case trace::EventKind::branch: seen.branch = event.branch(); return;
  case trace::EventKind::barrier: seen.barrier = event.barrier(); return;
  case trace::EventKind::access: break;
  }
  const exec::Access& a = seen.access;
  if (a.space == isa::Space::global)
    analyzers::transactions(coalescing_, a.addresses, a.mask, a.lane_bytes,
                            {a.kind, analyzers::elements_of(instruction)}, &seen.transactions);
  if (a.space == isa::Space::local) seen.local_sectors = analyzers::local_sectors(a.addresses, a.mask, a.lane_bytes);
  if (a.space == isa::Space::constant || a.space == isa::Space::param)
    seen.constant_passes = constant_passes(a, banks_.word(sizeof(std::uint32_t)).requests);
  if (a.space == isa::Space::shared && a.lane_bytes <= 16)
    seen.passes = analyzers::passes(banks_, a.addresses, a.mask, a.lane_bytes,
                                    {analyzers::kind_for_banks(function, a), analyzers::elements_of(instruction)});
}

Expected<void> TraceView::visit_events(const TraceQuery& query,
                                       const std::function<bool(const trace::Event&)>& see) const {
  const trace::Reader& reader = trace_->reader();
  const trace::Launch& launch = reader.launches()[launch_];
  std::vector<Piece> pieces;
  for (std::size_t b = 0; b < launch.blocks.size(); ++b) {
    const Expected<std::vector<trace::SegmentRow>> segments = reader.segments(launch.blocks[b]);
    if (!segments) return failure(segments.error());
    for (std::uint32_t s = 0; s < segments->size(); ++s) {
      const trace::SegmentRow& row = (*segments)[s];
      if (row.events != 0 && row.cta >= query.first_block && row.cta <= query.last_block)
        pieces.push_back({row.cta, b, s});
    }
  }
  // The blocks of one worker are in order, and each CTA has one worker.
  std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& x, const Piece& y) { return x.cta < y.cta; });
  std::vector<bool> wanted; // by instruction
  for (std::uint32_t i = 0; i < instructions(); ++i)
    wanted.push_back(query.lines.empty() ||
                     std::find(query.lines.begin(), query.lines.end(), line(i)) != query.lines.end());
  Blocks blocks(reader, launch, limits_);
  bool more = true;
  for (std::size_t i = 0; i < pieces.size() && more; ++i) {
    const Piece& piece = pieces[i];
    const Expected<const Blocks::Loaded*> loaded = blocks.get(piece.block);
    if (!loaded) return failure(loaded.error());
    const trace::Block& block = (*loaded)->block;
    trace::visit(block, block.segments[piece.segment], (*loaded)->places[piece.segment], [&](const trace::Event& e) {
      if (!more || e.of.warp < query.first_warp || e.of.warp > query.last_warp ||
          (e.pattern->event == trace::EventKind::branch && !query.branches) ||
          (e.pattern->event == trace::EventKind::barrier && !query.barriers) || !wanted[e.pattern->instruction])
        return;
      more = see(e);
    });
  }
  return {};
}

Expected<void> TraceView::visit(const TraceQuery& query, const std::function<bool(const SeenEvent&)>& show) const {
  SeenEvent seen;
  return visit_events(query, [&](const trace::Event& e) {
    std::uint64_t lanes[exec::kWarpSize];
    if (e.pattern->event == trace::EventKind::access) seen.access = e.access(lanes);
    see(e, seen);
    return show(seen);
  });
}

std::uint64_t TraceView::events() const {
  std::uint64_t sum = 0;
  for (const trace::BlockRow& block : trace_->reader().launches()[launch_].blocks) sum += block.events;
  return sum;
}

std::uint32_t TraceView::line(std::uint32_t instruction) const {
  return program_->function->instructions[instruction].where.line;
}

std::string TraceView::source(std::uint32_t instruction) const {
  const ir::SourcePosition& at = program_->function->instructions[instruction].source;
  if (at.line == 0) return {};
  for (const ir::SourceFile& file : trace_->launches()[launch_].request.kernel.module->ir().files)
    if (file.number == at.file) return fmt::format("{}:{}", file.name, at.line);
  return {};
}

std::string_view name(exec::AccessKind kind) {
  constexpr std::string_view names[] = {"load", "store", "atomic", "reduction"};
  return names[static_cast<int>(kind)];
}

std::string json_line(const SeenEvent& e) {
  Json json = {{"launch", e.launch},
               {"block", e.of.cta},
               {"warp", e.of.warp},
               {"line", e.instruction->where.line},
               {"source", e.source.empty() ? Json() : Json(e.source)},
               {"ptx", e.ptx}};
  switch (e.kind) {
  case trace::EventKind::branch:
    json["event"] = "branch";
    json["mask"] = fmt::format("{:08x}", e.branch.active);
    json["taken"] = fmt::format("{:08x}", e.branch.taken);
    break;
  case trace::EventKind::barrier:
    json["event"] = "barrier";
    json["mask"] = fmt::format("{:08x}", e.barrier.active);
    json["barrier"] = e.barrier.number;
    break;
  case trace::EventKind::access: {
    const exec::Access& a = e.access;
    json["event"] = name(a.kind);
    json["space"] = isa::name(a.space);
    json["lane_bytes"] = a.lane_bytes;
    json["mask"] = fmt::format("{:08x}", a.mask);
    Json addresses = Json::array();
    for (int lane = 0; lane < exec::kWarpSize; ++lane)
      if ((a.mask >> lane & 1) != 0) addresses.push_back(a.addresses[lane]);
    json["addresses"] = std::move(addresses);
    if (a.space == isa::Space::global) {
      json["transactions"] = Json::array();
      for (const analyzers::Transaction& t : e.transactions)
        json["transactions"].push_back(
            {{"address", t.base}, {"bytes", t.bytes}, {"lanes", fmt::format("{:08x}", t.lanes)}});
    }
    if (e.passes) json["passes"] = e.passes->passes, json["ways"] = e.passes->ways;
    if (e.local_sectors) json["sectors"] = *e.local_sectors;
    if (e.constant_passes) json["passes"] = *e.constant_passes;
  }
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace warplens::api
