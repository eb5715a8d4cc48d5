// SPDX-License-Identifier: Apache-2.0
#include "api/trace/trace.hpp"

#include "api/files/input_file.hpp"
#include "api/trace/trace_description.hpp"
#include "api/trace/trace_validation.hpp"
#include "emulator/base/archive.hpp"
#include "emulator/exec/state/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::api {

namespace trace = analyzers::trace;

namespace {

std::string creator() { return fmt::format("warplens {}", version()); }

} // namespace

Expected<std::unique_ptr<TraceWriter>> TraceWriter::create(const std::filesystem::path& path, TraceFilter filter,
                                                           const std::filesystem::path& device_file,
                                                           exec::Ranks* ranks) {
  std::string device_text;
  if (!device_file.empty()) {
    Expected<std::string> text = read_file(device_file, limits::kSettingsBytes);
    if (!text) return failure(text.error());
    device_text = std::move(*text);
  }
  std::unique_ptr<TraceWriter> writer(new TraceWriter(std::move(filter), std::move(device_text)));
  if (ranks != nullptr) {
    if (const Expected<void> writable = check_output(path); !writable) return failure(writable.error());
    writer->part_ = std::make_unique<TracePart>(path, *ranks);
    return writer;
  }
  Expected<PendingFile> pending = PendingFile::create(path);
  if (!pending) return failure(pending.error());
  auto file = trace::File::create(pending->temporary(), creator());
  if (!file) return failure(file.error());
  writer->pending_ = std::move(*pending);
  writer->file_ = std::move(*file);
  return writer;
}

Expected<std::vector<bool>> TraceWriter::kept_instructions(const exec::Program& program) const {
  std::vector<bool> kept;
  if (filter_.lines.empty()) return kept;
  for (const ir::Instruction& i : program.function->instructions)
    kept.push_back(std::find(filter_.lines.begin(), filter_.lines.end(), i.where.line) != filter_.lines.end());
  if (std::find(kept.begin(), kept.end(), true) == kept.end())
    return failure(fmt::format("none of the lines to trace has an instruction of kernel '{}'", program.function->name));
  return kept;
}

Expected<exec::Watcher*> TraceWriter::begin(const LaunchRequest& request, const exec::Launch& launch) {
  recorder_.reset();
  if (!filter_.kernel.empty() && filter_.kernel != request.kernel.function->name) return nullptr;
  Expected<std::vector<bool>> instructions = kept_instructions(*launch.program);
  if (!instructions) return failure(instructions.error());
  std::optional<std::size_t> same_module;
  for (std::size_t i = 0; i < modules_.size() && !same_module; ++i)
    if (modules_[i].lock() == request.kernel.module) same_module = i;
  const std::string text = describe_launch(request, filter_, device_text_, same_module);
  trace::Selection selection{filter_.first_block, filter_.last_block, filter_.every, std::move(*instructions)};
  if (part_) {
    if (const Expected<void> opened = part_->open(creator()); !opened) return failure(opened.error());
    if (!part_->records(launch)) selection.every = 0;
  }
  auto recorder = trace::Recorder::begin(part_ ? part_->file() : *file_, text, launch.shape, std::move(selection));
  if (part_) {
    const Expected<void> begun = part_->agree(recorder ? Expected<void>() : failure(recorder.error()));
    if (!begun) return failure(begun.error());
  }
  if (!recorder) return failure(recorder.error());
  modules_.push_back(request.kernel.module);
  recorder_ = std::move(*recorder);
  return recorder_.get();
}

Expected<void> TraceWriter::end(const LaunchReport& report) {
  if (part_) {
    const bool first = part_->is_first();
    return part_->end(*recorder_, first ? describe_end(report, recorder_->totals()) : std::string());
  }
  Expected<void> ended = recorder_->end(describe_end(report, recorder_->totals()));
  if (!ended) pending_->keep();
  return ended;
}

Expected<void> TraceWriter::close() {
  if (part_) return part_->close(creator());
  if (Expected<void> closed = file_->close(); !closed) {
    pending_->keep();
    return closed;
  }
  return pending_->commit();
}

Expected<Trace> Trace::open(const std::filesystem::path& path) {
  Expected<trace::Reader> reader = trace::Reader::open(path);
  if (!reader) return failure(reader.error());
  Trace result;
  result.reader_ = std::make_shared<trace::Reader>(std::move(*reader));
  Expected<std::vector<TracedLaunch>> launches = read_launches(*result.reader_);
  if (!launches) return failure(launches.error());
  result.launches_ = std::move(*launches);
  if (const Expected<void> valid = validate_trace(*result.reader_, result.launches_); !valid)
    return failure(valid.error());
  return result;
}

namespace {

std::string kept(const TraceFilter& f) {
  std::string text;
  const auto add = [&](std::string part) { text += (text.empty() ? "" : ", ") + std::move(part); };
  if (f.first_block != 0 || f.last_block != ~std::uint64_t{0})
    add(f.last_block == ~std::uint64_t{0} ? fmt::format("blocks from {}", f.first_block)
                                          : fmt::format("blocks {} to {}", f.first_block, f.last_block));
  if (f.every != 1) add(fmt::format("one block in {}", f.every));
  if (!f.lines.empty()) add(fmt::format("lines {}", fmt::join(f.lines, ", ")));
  return text;
}

/// The events of one launch of a trace.
class Replay final : public EventSource {
public:
  Replay(const trace::Reader& reader, const trace::Launch& launch, const TracedLaunch& traced)
      : reader_(reader), launch_(launch), traced_(traced) {}
  Expected<exec::LaunchResult> run(const exec::Launch& launch) override {
    exec::LaunchResult result;
    result.printed = traced_.printed;
    if (launch.watcher == nullptr) return result;
    if (kept(traced_.filter).empty()) { // of the whole launch
      result.longest = traced_.longest;
      result.swaps = traced_.swaps;
    }
    if (result.longest) launch.watcher->longest_warps(*result.longest);
    const trace::Limits limits = limits_of(*launch.program, launch.shape);
    const bool alone = launch.ranks == nullptr;
    Expected<void> done = alone ? trace::replay(reader_, launch_, limits, *launch.watcher, traced_.totals)
                                : over_ranks(*launch.ranks, limits, *launch.watcher, result.alone_because);
    if (!done) return failure(done.error());
    if (launch.footprint && kept(traced_.filter).empty()) result.footprint = traced_.footprint; // of the whole launch
    return result;
  }

private:
  /// Each rank replays a part, and rank 0 merges what they have counted.
  Expected<void> over_ranks(exec::Ranks& ranks, const trace::Limits& limits, exec::Watcher& watcher, std::string& why) {
    std::vector<std::unique_ptr<exec::Shard>> shards;
    shards.push_back(watcher.make_shard());
    std::string damage, alone;
    const trace::Part part = trace::Part::of(ranks.rank(), ranks.count(), limits.ctas);
    if (const Expected<void> done = trace::deliver(reader_, launch_, limits, part, *shards.front()); !done)
      damage = done.error().list().front().message;
    Archive own;
    own(damage);
    if (damage.empty() && !ranks.is_first()) shards.front()->fields(own);
    if (!own.good()) alone = "an analyzer can only count in one process";
    Archive head;
    head(alone);
    exec::Bytes bytes = head.take();
    const exec::Bytes rest = own.take();
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    const std::vector<exec::Bytes> parts = ranks.to_first(std::move(bytes));
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      Archive in(parts[rank]);
      std::string its_damage, its_alone;
      in(its_alone, its_damage);
      if (damage.empty()) damage = its_damage;
      if (alone.empty()) alone = its_alone;
      if (rank == 0 || !damage.empty() || !alone.empty()) continue;
      shards.push_back(watcher.make_shard());
      shards.back()->fields(in);
      if (!in.good() || in.more()) alone = "what another rank has counted cannot be read";
    }
    Archive verdict;
    verdict(damage, alone);
    const exec::Bytes all = ranks.from_first(verdict.take());
    Archive answer(all);
    answer(damage, alone);
    why = alone;
    if (!damage.empty()) return failure(damage);
    if (!ranks.is_first()) return {};
    if (!alone.empty()) return trace::replay(reader_, launch_, limits, watcher, traced_.totals);
    traced_.totals.tell(*shards.front());
    watcher.finish(std::move(shards), trace::counts_of(launch_, limits));
    return {};
  }

  const trace::Reader& reader_;
  const trace::Launch& launch_;
  const TracedLaunch& traced_;
};

} // namespace

Expected<LaunchReport> Trace::analyze(std::size_t index, const ReplayOptions& options) {
  const TracedLaunch& traced = launches_[index];
  LaunchRequest request = traced.request;
  request.options = options.launch;
  request.options.analyze = !traced.trap;
  if (!request.options.registers) request.options.registers = traced.request.options.registers;
  if (options.device) request.device = *options.device;
  Replay events(*reader_, reader_->launches()[index], traced);
  request.events = &events;
  Expected<LaunchReport> report = launch(request);
  if (!report) return report;
  report->trap = traced.trap;
  if (traced.trap) return report;
  if (const std::string only = kept(traced.filter); !only.empty())
    report->partial.push_back(fmt::format("the trace contains only {}: counts of accesses cover only these", only));
  if (reader_->is_part())
    report->partial.push_back("the file has only what one rank recorded: counts of accesses cover only its blocks, and "
                              "it is unknown how often each instruction ran");
  else if (!traced.complete)
    report->partial.push_back(
        "the run that wrote the trace was interrupted: the counts cover only its beginning, and it is "
        "unknown how often each instruction ran");
  return report;
}

} // namespace warplens::api
