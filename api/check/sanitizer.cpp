// SPDX-License-Identifier: Apache-2.0
#include "api/check/sanitizer.hpp"

#include "api/check/place.hpp"
#include "api/files/input_file.hpp"
#include "emulator/exec/grid/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace warplens::api {

using Kind = exec::ToolFinding::Kind;

namespace {

struct NamedTool {
  std::string_view name;
  bool exec::Tools::*flag;
};
constexpr NamedTool kTools[] = {{"memcheck", &exec::Tools::memcheck},
                                {"racecheck", &exec::Tools::racecheck},
                                {"initcheck", &exec::Tools::initcheck},
                                {"synccheck", &exec::Tools::synccheck}};
constexpr std::string_view kToolHint = "tools: memcheck, racecheck, initcheck, synccheck, all";

} // namespace

Expected<exec::Tools> parse_tools(const std::string& names) {
  exec::Tools tools;
  std::istringstream words(names);
  for (std::string name; std::getline(words, name, ',');) {
    const auto known =
        std::find_if(std::begin(kTools), std::end(kTools), [&](const auto& t) { return t.name == name; });
    if (name == "all") {
      for (const NamedTool& t : kTools) tools.*t.flag = true;
    } else if (known != std::end(kTools)) {
      tools.*known->flag = true;
    } else {
      return failure(fmt::format("there is no tool '{}'", name), std::string(kToolHint));
    }
  }
  if (!tools.any()) return failure("no tool", std::string(kToolHint));
  return tools;
}

std::string names_of(exec::Tools tools) {
  std::string names;
  for (const NamedTool& t : kTools)
    if (tools.*t.flag) names += (names.empty() ? "" : ",") + std::string(t.name);
  return names;
}

Expected<std::unique_ptr<Sanitizer>> Sanitizer::create(CheckOptions options) {
  std::unique_ptr<Sanitizer> made(new Sanitizer(std::move(options)));
  if (const std::string& name = made->options_.kernel_name; !name.empty()) {
    Expected<NamePattern> pattern = NamePattern::create(name);
    if (!pattern) return failure(pattern.error());
    made->pattern_ = std::move(*pattern);
  }
  if (const std::string& file = made->options_.suppressions; !file.empty()) {
    const Expected<std::string> text = read_file(file, limits::kInputBytes);
    if (!text) return failure(text.error());
    Expected<Suppressions> read = Suppressions::read(*text, file);
    if (!read) return failure(read.error());
    made->suppressions_ = std::move(*read);
  }
  return made;
}

Sanitizer::Sanitizer(CheckOptions options) : options_(std::move(options)), races_({options_.same_values}) {}

// ---- launches

exec::Tools Sanitizer::begin(Checked& launch, std::string_view kernel) {
  const std::lock_guard lock(mutex_);
  launch.selected = false;
  if (!pattern_ || pattern_->matches(kernel)) {
    const std::uint64_t i = matched_++;
    launch.selected = i >= options_.launch_skip && i - options_.launch_skip < options_.launch_count;
  }
  exec::Tools tools = options_.tools;
  if (!launch.selected) tools.memcheck = tools.synccheck = false; // the others must follow what all launches write
  return tools;
}

void Sanitizer::prepare(exec::Launch& launch, const exec::Tools& tools) {
  launch.tools = tools;
  launch.number = ++launches_;
  launch.schedule_seed = options_.schedule_seed;
  if (tools.initcheck) {
    settle();
    launch.checkers.push_back(&init_);
  }
  if (tools.synccheck && exec::CopyCheck::concerns(*launch.program)) launch.checkers.push_back(&copies_);
  if (!tools.racecheck) return;
  const std::lock_guard lock(mutex_);
  operations_[launch.number] = {launch.program, launch.shape, ""};
  launch.checkers.push_back(&races_);
}

// ---- the order of the host

void Sanitizer::begin_operation(HostOrder::StreamId stream, const std::set<HostOrder::StreamId>& after) {
  if (host_order_.all_known()) {
    races_.forget_operations();
    const std::lock_guard lock(mutex_);
    operations_.clear();
  }
  races_.begin(host_order_.submit(stream, after));
}

void Sanitizer::touched(const std::string& what, std::uint64_t address, std::uint64_t bytes, bool writes) {
  const std::uint64_t number = ++launches_;
  const Operation operation{nullptr, {}, what};
  {
    const std::lock_guard lock(mutex_);
    operations_[number] = operation;
  }
  exec::ToolFindings findings;
  races_.touch(number, address, bytes, writes, findings);
  report_touch(findings, operation);
}

void Sanitizer::host_touched(std::uint64_t address, bool writes) {
  races_.begin(host_order_.access());
  touched("the program itself", address, 1, writes);
}

void Sanitizer::report_touch(exec::ToolFindings& findings, const Operation& operation) {
  for (exec::ToolFindingGroup& group : findings.take()) {
    CheckMessage m;
    m.kind = group.first.kind;
    m.title = std::string(exec::title_of(m.kind));
    m.detail = group.first.detail + "; the second access is that of " + operation.what;
    m.at.emplace();
    m.at->access = group.first.at.access == exec::AccessKind::load ? "read" : "write";
    m.at->space = "global";
    m.at->bytes = group.first.at.bytes;
    m.at->address = group.first.at.address;
    m.other = side_of(*group.first.other, m);
    if (const std::optional<Origin> origin = origin_of(group.first.at.address))
      m.memory = memory_at(group.first.at.address, *origin);
    m.host_frames = HostStack::here().frames();
    m.call = operation.what;
    m.order = next_order();
    add(std::move(m));
  }
}

// The earlier access of a race: of this launch, of another one, or of another operation.
CheckThreads Sanitizer::side_of(const exec::ThreadAccess& access, CheckMessage& message) const {
  const std::lock_guard lock(mutex_);
  const auto found = operations_.find(access.launch);
  if (found != operations_.end() && found->second.program)
    return threads_of(*found->second.program, found->second.shape, access);
  CheckThreads side;
  side.access = access.access == exec::AccessKind::load ? "read" : "write";
  side.space = "global";
  side.bytes = access.bytes;
  if (found != operations_.end()) message.detail += "; the first access is that of " + found->second.what;
  return side;
}

void Sanitizer::finish(const exec::Launch& launch, const Checked& checked, exec::LaunchResult& result) {
  name_blocks(launch);
  const auto stops_there = [&](const exec::ToolFindingGroup& g) {
    return g.first.at.instruction == result.trap->instruction &&
           g.threads.contains({result.trap->cta, result.trap->thread});
  };
  const bool told =
      checked.selected && result.trap && std::any_of(result.findings.begin(), result.findings.end(), stops_there);
  if (checked.selected)
    for (const exec::ToolFindingGroup& group : result.findings) add(message_of(launch, checked, group));
  if (!result.trap || told) return;
  exec::ToolFindingGroup stop;
  stop.first.kind = Kind::stopped;
  stop.first.at.instruction = result.trap->instruction;
  stop.first.at.cta = result.trap->cta;
  stop.first.at.thread = result.trap->thread;
  stop.first.at.calls = result.trap->calls;
  stop.count = 1;
  const std::string why = exec::describe(*result.trap, launch).message;
  stop.first.detail = why.substr(0, why.find('\n'));
  add(message_of(launch, checked, stop));
}

/// Keeps where this launch allocated the blocks that remain on the device's heap.
void Sanitizer::name_blocks(const exec::Launch& launch) {
  if (launch.heap == nullptr) return;
  for (const exec::HeapBlock& block : launch.heap->blocks()) {
    if (block.allocated.launch != launch.number) continue;
    exec::ThreadAccess user;
    user.instruction = block.allocated.instruction;
    user.cta = block.allocated.cta;
    user.thread = block.allocated.thread;
    CheckThreads threads = threads_of(*launch.program, launch.shape, user);
    threads.of_blocks = thread_ranges({{user.cta, user.thread}});
    const std::lock_guard lock(mutex_);
    users_[block.begin] = std::move(threads);
  }
}

namespace {

std::string title_of(const exec::Launch& launch, const exec::ToolFinding& f) {
  const auto access = [&] { return access_name(*launch.program, launch.shape, f.at); };
  switch (f.kind) {
  case Kind::out_of_bounds:
  case Kind::use_after_free:
  case Kind::exited_block:
  case Kind::misaligned: return fmt::format("Invalid {} of size {} bytes", access(), f.at.bytes);
  case Kind::uninitialized: { // atomic operations read, too
    if (f.at.space == isa::Space::reg)
      return fmt::format("Uninitialized register {} read of size {} bytes",
                         launch.program->function->registers[f.at.address].name, f.at.bytes);
    const std::string name = access();
    return fmt::format("Uninitialized {} memory read of size {} bytes", name.substr(0, name.find(' ')), f.at.whole);
  }
  default: return std::string(exec::title_of(f.kind));
  }
}

/// The allocation in which the address is, or the nearest one.
const exec::Allocation* nearest(const exec::Launch& launch, std::uint64_t address) {
  const exec::Allocation* best = nullptr;
  std::uint64_t least = ~std::uint64_t{0};
  for (const exec::Allocation& a : launch.allocations) {
    const std::uint64_t away = address < a.begin ? a.begin - address : address >= a.end ? address - a.end : 0;
    if (best != nullptr && (away > least || (away == least && address < a.begin))) continue;
    best = &a;
    least = away;
  }
  return best;
}

CheckMemory relation(std::string name, std::uint64_t begin, std::uint64_t size, std::uint64_t address) {
  CheckMemory m;
  m.name = std::move(name);
  m.begin = begin;
  m.size = size;
  const auto away = [](std::uint64_t a, std::uint64_t b) { return static_cast<std::int64_t>(a - b); };
  m.where = address < begin          ? CheckMemory::Where::before
            : address < begin + size ? CheckMemory::Where::inside
                                     : CheckMemory::Where::behind;
  m.distance = m.where == CheckMemory::Where::behind ? away(address, begin + size) : away(address, begin);
  return m;
}

bool is_in_memory(isa::Space space) {
  return space == isa::Space::global || space == isa::Space::constant || space == isa::Space::texture;
}

/// How much of an access is uninitialized, if it is not all.
std::string unwritten_part(const exec::ToolFinding& f) {
  if (f.at.bytes >= f.at.whole) return f.detail;
  return fmt::format("{} of these bytes are uninitialized, the first one at {:#x}{}{}", f.at.bytes, f.at.address,
                     f.detail.empty() ? "" : ". ", f.detail);
}

} // namespace

CheckMessage Sanitizer::message_of(const exec::Launch& launch, const Checked& checked,
                                   const exec::ToolFindingGroup& group) const {
  const exec::ToolFinding& f = group.first;
  CheckMessage m;
  m.kind = f.kind;
  m.title = title_of(launch, f);
  m.detail = f.kind == Kind::uninitialized ? unwritten_part(f) : f.detail;
  m.at = threads_of(*launch.program, launch.shape, f.at);
  m.at->of_blocks = thread_ranges(group.threads);
  if (f.kind == Kind::forged_handle && m.at->space.empty()) m.at->space = "code";
  if (f.other)
    m.other = f.other->launch == 0 ? threads_of(*launch.program, launch.shape, *f.other) : side_of(*f.other, m);
  m.count = group.count;
  m.order = checked.order;
  m.host_frames = checked.host.frames();
  if (is_in_memory(f.at.space)) describe_memory(launch, f.at, m);
  if (f.kind == Kind::uninitialized && f.other) describe_memory(launch, *f.other, m); // where a copy read it
  return m;
}

void Sanitizer::describe_memory(const exec::Launch& launch, const exec::ThreadAccess& at, CheckMessage& m) const {
  const exec::Heap* const heap = launch.blocks != nullptr ? launch.blocks : launch.heap;
  if (heap != nullptr && heap->range().overlaps(at.address, at.address + 1)) {
    auto block = heap->block(at.address);
    const bool freed = !block && heap->freed(at.address);
    if (freed) block = heap->freed(at.address);
    if (!block) block = heap->nearest(at.address);
    if (!block) return;
    m.memory = relation("block of the device heap", block->begin, block->size, at.address);
    const std::lock_guard lock(mutex_);
    if (const auto user = users_.find(block->begin); user != users_.end())
      m.memory->allocated_by = fmt::format("malloc() of thread {} in block {} of kernel {}", user->second.thread,
                                           user->second.block, user->second.kernel);
    if (freed) m.memory->freed_by = "free() of the device";
    return;
  }
  if (m.kind == Kind::use_after_free || m.kind == Kind::double_free) {
    const std::lock_guard lock(mutex_);
    const auto after = freed_.upper_bound(at.address);
    if (after != freed_.begin()) m.memory = memory_at(at.address, std::prev(after)->second);
    if (m.memory) return;
  }
  const exec::Allocation* const a = nearest(launch, at.address);
  if (a == nullptr) return;
  m.memory = relation(a->name, a->begin, a->size(), at.address);
  const std::lock_guard lock(mutex_);
  if (const auto known = live_.find(a->begin); known != live_.end()) m.memory = memory_at(at.address, known->second);
}

// ---- memory

void Sanitizer::allocated(Origin origin) {
  const std::lock_guard lock(mutex_);
  if (const auto old = live_.find(origin.begin); old != live_.end()) lost_.push_back(std::move(old->second));
  live_[origin.begin] = std::move(origin);
}

void Sanitizer::dying(std::uint64_t begin) {
  HostStack stack = HostStack::here();
  const std::lock_guard lock(mutex_);
  if (const auto found = live_.find(begin); found != live_.end()) found->second.freed = std::move(stack);
}

void Sanitizer::freed(std::uint64_t begin) {
  HostStack stack = HostStack::here();
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(begin);
  if (found == live_.end()) return;
  if (found->second.freed.empty()) found->second.freed = std::move(stack);
  if (options_.tools.initcheck)
    events_.push_back({MemoryEvent::Kind::freed, begin, found->second.size, false, found->second, next_order()});
  freed_.insert_or_assign(begin, std::move(found->second));
  live_.erase(found);
}

std::optional<Sanitizer::Origin> Sanitizer::origin_of(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  for (const auto* list : {&live_, &freed_}) {
    const auto after = list->upper_bound(address);
    if (after == list->begin()) continue;
    const Origin& o = std::prev(after)->second;
    if (address - o.begin < std::max<std::uint64_t>(o.size, 1)) return o;
  }
  return std::nullopt;
}

CheckMemory Sanitizer::memory_at(std::uint64_t address, const Origin& o) {
  CheckMemory m = relation(o.name, o.begin, o.size, address);
  m.allocated_by = o.allocated.caller();
  m.allocated_at = o.allocated.frames();
  m.freed_by = o.freed.caller();
  if (!o.freed.empty() && m.freed_by.empty()) m.freed_by = "a free in the order of a stream";
  m.freed_at = o.freed.frames();
  return m;
}

void Sanitizer::report_leaks(const exec::Heap* heap) {
  if (!options_.leak_check || !options_.tools.memcheck) return;
  std::vector<Origin> leaked;
  {
    const std::lock_guard lock(mutex_);
    leaked.swap(lost_);
    for (auto& [begin, origin] : live_) leaked.push_back(std::move(origin));
    live_.clear();
  }
  for (const Origin& origin : leaked) {
    if (!origin.freed.empty()) continue; // pending
    CheckMessage m;
    m.kind = Kind::leak;
    m.title = fmt::format("Leaked {} bytes at {:#x}", origin.size, origin.begin);
    m.memory = memory_at(origin.begin, origin);
    m.order = next_order();
    add(std::move(m));
  }
  if (heap == nullptr) return;
  for (const exec::HeapBlock& block : heap->blocks()) {
    if (block.allocated.launch == 0) continue;
    CheckMessage m;
    m.kind = Kind::leak;
    m.title = fmt::format("Leaked {} bytes at {:#x} on the device heap", block.size, block.begin);
    m.memory = relation("block of the device heap", block.begin, block.size, block.begin);
    m.order = next_order();
    {
      const std::lock_guard lock(mutex_);
      if (const auto user = users_.find(block.begin); user != users_.end()) m.at = user->second;
    }
    add(std::move(m));
  }
}

void Sanitizer::add(CheckMessage message) {
  const std::lock_guard lock(mutex_);
  if (messages_.size() < kMostMessages) return messages_.push_back(std::move(message));
  count(message);
}

void Sanitizer::count(const CheckMessage& message) {
  if (suppressions_ && suppressions_->covers(message)) {
    ++summary_.suppressed;
    return;
  }
  summary_.errors += message.count;
  ++summary_.messages;
  if (message.kind != Kind::leak || !message.memory) return;
  ++summary_.leaks;
  summary_.leaked_bytes += message.memory->size;
}

std::vector<CheckMessage> Sanitizer::take() {
  const std::lock_guard lock(mutex_);
  std::vector<CheckMessage> list = std::move(messages_);
  messages_.clear();
  const auto covered = [&](const CheckMessage& m) { return suppressions_ && suppressions_->covers(m); };
  summary_.suppressed += std::erase_if(list, covered);
  sort_messages(list);
  for (const CheckMessage& m : list) count(m);
  return list;
}

CheckSummary Sanitizer::summary() const {
  const std::lock_guard lock(mutex_);
  return summary_;
}

} // namespace warplens::api
