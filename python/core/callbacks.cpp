// SPDX-License-Identifier: Apache-2.0
#include "python/core/callbacks.hpp"

#include "emulator/exec/state/program.hpp"

#include <cstring>

namespace warplens::python {

namespace py = pybind11;

namespace columns {

constexpr std::size_t kBatchRows = std::size_t{1} << 14; // 4 MiB of addresses

/// A column of numbers that grows.
template <class Value> class Values {
public:
  void add(Value value) { values_.push_back(value); }
  void add(const Value* first, std::size_t count) { values_.insert(values_.end(), first, first + count); }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  /// The values as bytes that Python owns; the column is empty afterwards.
  py::object take() {
    Column column;
    column.bytes.resize(values_.size() * sizeof(Value));
    if (!values_.empty()) std::memcpy(column.bytes.data(), values_.data(), column.bytes.size());
    values_.clear();
    return py::memoryview(py::cast(std::move(column)));
  }

private:
  std::vector<Value> values_;
};

/// What all events have.
struct Common {
  Values<std::uint64_t> block;
  Values<std::uint32_t> warp, instruction, line, mask;
  void add(const exec::WarpId& of, std::uint32_t index, const std::vector<std::uint32_t>& lines, exec::Mask lanes) {
    block.add(of.cta);
    warp.add(of.warp);
    instruction.add(index);
    line.add(index < lines.size() ? lines[index] : 0);
    mask.add(lanes);
  }
  void take(py::dict& to) {
    to["block"] = block.take();
    to["warp"] = warp.take();
    to["instruction"] = instruction.take();
    to["line"] = line.take();
    to["mask"] = mask.take();
  }
};

} // namespace columns

class EventBatches::Shard final : public exec::Shard {
public:
  explicit Shard(EventBatches& owner) : owner_(owner) {}

  bool begin_cta(std::uint64_t /*cta*/) override { return owner_.each_; }
  [[nodiscard]] exec::EachWanted each_wanted() const override { return {.together = false}; }
  void access(const exec::Access& access) override {
    if (!owner_.each_) add({}, access);
  }
  void each_access(const exec::WarpId& of, const exec::Access& access) override { add(of, access); }
  void each_branch(const exec::WarpId& of, const exec::Branch& branch) override {
    branches_.add(of, branch.instruction, owner_.lines_, branch.active);
    taken_.add(branch.taken);
    if (taken_.size() == columns::kBatchRows) pass_branches();
  }
  void barrier(const exec::Barrier& barrier) override {
    if (!owner_.each_) return;
    barriers_.add(barrier.of, barrier.instruction, owner_.lines_, barrier.active);
    number_.add(barrier.number);
    if (number_.size() == columns::kBatchRows) pass_barriers();
  }

  void pass_all() {
    if (count_.size() != 0) pass_accesses();
    if (taken_.size() != 0) pass_branches();
    if (number_.size() != 0) pass_barriers();
  }

private:
  void add(const exec::WarpId& of, const exec::Access& access) {
    accesses_.add(of, access.instruction, owner_.lines_, access.mask);
    std::uint64_t lanes[exec::kWarpSize]{}; // inactive ones stay 0
    for (const int lane : exec::EachLane(access.mask)) lanes[lane] = access.addresses[lane];
    addresses_.add(lanes, exec::kWarpSize);
    count_.add(access.count);
    bytes_.add(access.lane_bytes);
    space_.add(static_cast<std::uint8_t>(access.space));
    kind_.add(static_cast<std::uint8_t>(access.kind));
    if (count_.size() == columns::kBatchRows) pass_accesses();
  }
  void pass_accesses() {
    const py::gil_scoped_acquire lock;
    py::dict batch;
    accesses_.take(batch);
    batch["addresses"] = addresses_.take();
    batch["count"] = count_.take();
    batch["lane_bytes"] = bytes_.take();
    batch["space"] = space_.take();
    batch["kind"] = kind_.take();
    owner_.pass("accesses", batch);
  }
  void pass_branches() {
    const py::gil_scoped_acquire lock;
    py::dict batch;
    branches_.take(batch);
    batch["taken"] = taken_.take();
    owner_.pass("branches", batch);
  }
  void pass_barriers() {
    const py::gil_scoped_acquire lock;
    py::dict batch;
    barriers_.take(batch);
    batch["number"] = number_.take();
    owner_.pass("barriers", batch);
  }

  EventBatches& owner_;
  columns::Common accesses_, branches_, barriers_;
  columns::Values<std::uint64_t> addresses_, count_;
  columns::Values<std::uint16_t> bytes_;
  columns::Values<std::uint8_t> space_, kind_;
  columns::Values<std::uint32_t> taken_, number_;
};

EventBatches::EventBatches(py::object function, std::vector<std::uint32_t> lines, bool each)
    : function_(std::move(function)), lines_(std::move(lines)), each_(each) {}

std::unique_ptr<exec::Shard> EventBatches::make_shard() { return std::make_unique<Shard>(*this); }

void EventBatches::finish(std::vector<std::unique_ptr<exec::Shard>> shards,
                          const std::vector<exec::InstructionCount>& /*counts*/) {
  for (const auto& shard : shards) static_cast<Shard&>(*shard).pass_all();
}

void EventBatches::pass(const char* kind, const py::dict& batch) {
  if (error_) return;
  try {
    function_(kind, batch);
  } catch (...) {
    error_ = std::current_exception();
  }
}

void EventBatches::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

Expected<exec::Watcher*> PythonRecorder::begin(const api::LaunchRequest& request, const exec::Launch& launch) {
  Expected<exec::Watcher*> first = nullptr;
  if (other_ != nullptr) first = other_->begin(request, launch);
  if (!first) return first;
  other_records_ = *first != nullptr;
  if (!request.launched_by.empty()) return first;
  std::vector<std::uint32_t> lines;
  for (const ir::Instruction& i : launch.program->function->instructions) lines.push_back(i.where.line);
  exec::Watcher* all = *first;
  for (const Function& f : functions_) {
    const py::gil_scoped_acquire lock; // for the counter of references
    watchers_.push_back(std::make_unique<EventBatches>(f.object, lines, f.each));
    all = pairs_.emplace_back(watchers_.back().get(), all).needed();
  }
  return all;
}

Expected<void> PythonRecorder::end(const api::LaunchReport& report) {
  if (!other_records_) return {};
  return other_->end(report);
}

void PythonRecorder::rethrow() const {
  for (const auto& watcher : watchers_) watcher->rethrow();
}

void add_columns(py::module_& module) {
  py::class_<Column>(module, "Column", py::buffer_protocol(), "Bytes of a batch of events.").def_buffer([](Column& c) {
    return py::buffer_info(c.bytes.data(), 1, "B", 1, {static_cast<py::ssize_t>(c.bytes.size())}, {1});
  });
}

} // namespace warplens::python
