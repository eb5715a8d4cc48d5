// SPDX-License-Identifier: Apache-2.0
#include "analyzers/trace/recorder.hpp"

#include "analyzers/pipelines.hpp"

#include <fmt/format.h>

#include <future>
#include <new>

namespace warplens::analyzers::trace {

namespace {

template <class Row> std::span<const std::byte> bytes_of(const std::vector<Row>& rows) {
  return std::as_bytes(std::span(rows));
}
template <class Row> std::span<const std::byte> bytes_of(const Row& row) {
  return std::as_bytes(std::span<const Row, 1>(&row, 1));
}
std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

} // namespace

class Recorder::Shard final : public exec::Shard {
public:
  explicit Shard(Recorder& recorder) : recorder_(recorder) {}
  ~Shard() override { flush(); }

  bool begin_cta(std::uint64_t cta) override {
    if (!selected(cta)) return false;
    make_room();
    builder_.begin_cta(cta);
    return true;
  }
  void end_cta(std::uint64_t cta) override {
    if (steps_) steps_->end_cta(cta);
    if (!selected(cta)) return;
    make_room();
    builder_.end_cta(cta);
  }
  [[nodiscard]] exec::EachWanted each_wanted() const override {
    return {.addresses = false, .together = false, .rows = true};
  }
  void each_access(const exec::WarpId& of, const exec::Access& access) override {
    if (takes(of.cta, access.instruction)) builder_.access(of, access);
  }
  void each_branch(const exec::WarpId& of, const exec::Branch& branch) override {
    if (takes(of.cta, branch.instruction)) builder_.branch(of, branch);
  }
  void barrier(const exec::Barrier& barrier) override {
    if (takes(barrier.of.cta, barrier.instruction)) builder_.barrier(barrier);
  }

  void product(const exec::SizedProduct& p) override {
    products_[{p.instruction, p.element, p.half_sums}] += p.multiply_adds;
  }

  void bulk_copy(const exec::BulkCopy& copy) override { copies_[CopyKey(copy)] += copy.count; }
  void lane_copy(const exec::LaneCopy& copy) override {
    lane_copies_[{copy.instruction, copy.sectors, copy.fetched, copy.looked_up}] += copy.count;
  }
  void special_operands(const exec::SpecialOperands& special) override {
    special_operands_[special.instruction] += special.count;
  }
  void async_step(const exec::AsyncStep& step) override { steps(step.instruction).async_step(step); }
  void phase_step(const exec::PhaseStep& step) override { steps(step.instruction).phase_step(step); }

  /// What this shard has counted, or that of another process.
  [[nodiscard]] Totals totals() const {
    Totals all = totals_of(products_, copies_, lane_copies_, special_operands_);
    if (steps_) all.waits = steps_->found();
    return all;
  }
  [[nodiscard]] const std::optional<Totals>& received() const { return received_; }
  void fields(Archive& a) override {
    if (a.reads()) {
      a(received_.emplace());
      return;
    }
    flush();
    Totals own = totals();
    a(own);
  }
  void flush() {
    if (!builder_.empty()) write();
    if (pending_.valid()) pending_.get();
  }

private:
  [[nodiscard]] bool selected(std::uint64_t cta) const { return recorder_.selection_.takes(cta) && !recorder_.failed_; }
  bool takes(std::uint64_t cta, std::uint32_t instruction) {
    const std::vector<bool>& kept = recorder_.selection_.instructions;
    if (cta != last_cta_) { // only one division in Selection::takes() for consecutive events of a CTA
      last_cta_ = cta;
      last_selected_ = selected(cta);
    }
    if (!last_selected_ || (!kept.empty() && !kept[instruction])) return false;
    make_room();
    return true;
  }
  void make_room() {
    if (builder_.full()) write();
  }
  void write() {
    if (pending_.valid()) pending_.get();
    // Without `launch::async`, get() writes if no thread can be created. The task is copied, because std::async()
    // would move from it before it tries.
    const auto task = [this, block = std::make_shared<const Block>(builder_.take())] { recorder_.write(*block); };
    pending_ = std::async(task);
  }

  Recorder& recorder_;
  BlockBuilder builder_;
  // Asynchronous work in flight, as the analyzer finds it.
  struct Steps final : PipelineShard {
    Steps() : PipelineShard(1) {}
    void make_room(std::uint32_t instruction) {
      if (instruction + 1 >= rows_.size()) rows_.resize(std::size_t{instruction} + 2);
    }
  };
  Steps& steps(std::uint32_t instruction) {
    if (!steps_) steps_ = std::make_unique<Steps>();
    steps_->make_room(instruction);
    return *steps_;
  }

  Products products_;
  Copies copies_;
  LaneCopies lane_copies_;
  SpecialOperands special_operands_;
  std::unique_ptr<Steps> steps_;
  std::optional<Totals> received_;
  std::future<void> pending_;
  std::uint64_t last_cta_ = ~std::uint64_t{0};
  bool last_selected_ = false;
};

Recorder::~Recorder() = default;

Expected<std::unique_ptr<Recorder>> Recorder::begin(File& file, std::string_view description,
                                                    const exec::LaunchShape& shape, Selection selection) {
  if (shape.warps() > kMostWarps)
    return failure(fmt::format("blocks of {} warps cannot be traced: a trace supports {} warps per block",
                               shape.warps(), kMostWarps));
  const Expected<std::uint64_t> text = file.append(Table::text, bytes_of(description));
  if (!text) return failure(text.error());
  std::unique_ptr<Recorder> recorder(new Recorder(file, std::move(selection)));
  recorder->row_ = {*text, description.size()};
  if (const Expected<void> begun = recorder->begin_launch(); !begun) return failure(begun.error());
  return recorder;
}

Expected<void> Recorder::begin_launch() {
  const Expected<std::uint64_t> row = file_.append_row(Table::launches, bytes_of(row_));
  if (!row) return failure(row.error());
  launch_ = static_cast<std::uint32_t>(*row);
  return {};
}

// A launch of its own for the file that has these blocks: it stays a valid trace.
void Recorder::in_vain() {
  blocks_.clear();
  events_ = 0;
  if (failed_) return;
  if (Expected<void> begun = begin_launch(); !begun) fail(std::move(begun.error()));
}

std::unique_ptr<exec::Shard> Recorder::make_shard() { return std::make_unique<Shard>(*this); }

void Recorder::finish(std::vector<std::unique_ptr<exec::Shard>> shards,
                      const std::vector<exec::InstructionCount>& counts) {
  for (const auto& shard : shards) {
    auto& own = static_cast<Shard&>(*shard);
    own.flush();
    add(own.received() ? *own.received() : own.totals());
  }
  counts_ = counts;
}

void Recorder::add(const Totals& totals) {
  for (const exec::SizedProduct& p : totals.products)
    products_[{p.instruction, p.element, p.half_sums}] += p.multiply_adds;
  for (const exec::BulkCopy& copy : totals.copies) copies_[CopyKey(copy)] += copy.count;
  for (const exec::LaneCopy& c : totals.lane_copies)
    lane_copies_[{c.instruction, c.sectors, c.fetched, c.looked_up}] += c.count;
  for (const exec::SpecialOperands& special : totals.special_operands)
    special_operands_[special.instruction] += special.count;
  for (const exec::AsyncWaits& found : totals.waits) {
    exec::AsyncWaits& all = waits_[{found.instruction, found.work}];
    all = {found.instruction, found.work, all.count + found.count, all.in_flight + found.in_flight,
           std::max(all.most, found.most)};
  }
}

Totals Recorder::totals_of(const Products& products, const Copies& copies, const LaneCopies& lane_copies,
                           const SpecialOperands& special_operands) {
  Totals totals;
  for (const auto& [of, multiply_adds] : products)
    totals.products.push_back({std::get<0>(of), std::get<1>(of), multiply_adds, std::get<2>(of)});
  for (const auto& [copy, count] : copies) {
    totals.copies.push_back(copy.copy());
    totals.copies.back().count = count;
  }
  for (const auto& [c, count] : lane_copies) totals.lane_copies.push_back({c[0], c[1], c[2], c[3], count});
  for (const auto& [instruction, count] : special_operands) totals.special_operands.push_back({instruction, 0, count});
  return totals;
}

Totals Recorder::totals() const {
  Totals totals = totals_of(products_, copies_, lane_copies_, special_operands_);
  for (const auto& [of, found] : waits_) totals.waits.push_back(found);
  return totals;
}

Expected<void> Recorder::try_to_write(const Block& block) {
  BlockRow row;
  row.launch = launch_;
  row.events = static_cast<std::uint32_t>(block.pattern.size());
  row.offsets = static_cast<std::uint32_t>(block.offsets.size());
  row.patterns = static_cast<std::uint32_t>(block.patterns.size());
  row.segments = static_cast<std::uint32_t>(block.segments.size());
  // The three columns of the events have the same rows: one block is a piece of each.
  const File::Rows tables[] = {{Table::patterns, bytes_of(block.patterns)}, {Table::segments, bytes_of(block.segments)},
                               {Table::offsets, bytes_of(block.offsets)},   {Table::warp, bytes_of(block.warp)},
                               {Table::base, bytes_of(block.base)},         {Table::pattern, bytes_of(block.pattern)}};
  std::uint64_t* const firsts[] = {&row.first_pattern, &row.first_segment, &row.first_offset,
                                   &row.first_event,   &row.first_event,   &row.first_event};
  const Expected<std::vector<std::uint64_t>> first = file_.append(tables);
  if (!first) return failure(first.error());
  for (std::size_t i = 0; i < std::size(tables); ++i) *firsts[i] = (*first)[i];
  const Expected<std::uint64_t> committed = file_.append_row(Table::blocks, bytes_of(row));
  if (!committed) return failure(committed.error());
  events_ += block.pattern.size();
  const std::lock_guard lock(mutex_);
  blocks_.push_back(row);
  return {};
}

void Recorder::write(const Block& block) {
  if (failed_) return;
  // No exception leaves a task: of two tasks that fail, the first one's would be under way when the second one ends.
  try {
    if (Expected<void> written = try_to_write(block); !written) fail(std::move(written.error()));
  } catch (const std::bad_alloc&) {
    fail(failure("the trace cannot be written: out of memory").value());
  }
}

void Recorder::fail(Diagnostics error) {
  const std::lock_guard lock(mutex_);
  if (!failed_) error_ = std::move(error);
  failed_ = true;
}

Expected<EndRow> Recorder::conclude(std::string_view conclusion) {
  if (failed_) return failure(error_);
  const Expected<std::uint64_t> text = file_.append(Table::text, bytes_of(conclusion));
  if (!text) return failure(text.error());
  const Expected<std::uint64_t> counts = file_.append(Table::counts, bytes_of(counts_));
  if (!counts) return failure(counts.error());
  return EndRow{*text, conclusion.size(), *counts, counts_.size(), launch_, 0};
}

Expected<void> Recorder::end(std::string_view conclusion) {
  const Expected<EndRow> row = conclude(conclusion);
  if (!row) return failure(row.error());
  const Expected<std::uint64_t> committed = file_.append_row(Table::ends, bytes_of(*row));
  if (!committed) return failure(committed.error());
  return {};
}

} // namespace warplens::analyzers::trace
