// SPDX-License-Identifier: Apache-2.0
// Shows the events of selected lines, blocks and warps of a trace, and the transactions of each access.
//
//   Expected<TraceView> view = TraceView::open(trace, 0, rules);
//   view->visit({.first_block = 3, .last_block = 3}, [](const SeenEvent& e) { … return true; });
#pragma once

#include "analyzers/banks.hpp"
#include "analyzers/coalescing.hpp"
#include "api/trace/trace.hpp"

#include <functional>

namespace warplens::api {

struct TraceQuery {
  std::uint64_t first_block = 0, last_block = ~std::uint64_t{0};
  std::uint32_t first_warp = 0, last_warp = ~std::uint32_t{0};
  std::vector<std::uint32_t> lines; ///< of the PTX; empty: all
  bool branches = true, barriers = true;
};

/// An event with all its details. Valid during the call that shows it.
struct SeenEvent {
  std::size_t launch = 0;
  exec::WarpId of;
  std::uint32_t index = 0; ///< of the instruction in the kernel
  const ir::Instruction* instruction = nullptr;
  std::string_view ptx;               ///< the instruction as text
  std::string source;                 ///< "saxpy.cu:5", or empty
  analyzers::trace::EventKind kind{}; ///< which of the three below it is
  exec::Access access;
  exec::Branch branch;
  exec::Barrier barrier;
  /// Of accesses to global memory: under the coalescing rule.
  std::vector<analyzers::Transaction> transactions;
  /// Of accesses to shared memory: under the bank rule.
  std::optional<analyzers::Passes> passes;
  /// Of accesses to local memory; of loads of constants and parameters, whose requests are those of the bank rule.
  std::optional<std::uint32_t> local_sectors, constant_passes;
};

class TraceView {
public:
  /// Uses the first rule of each kind, or else the rule of the launch's device. Errors: no such launch; unsupported
  /// instructions in the kernel.
  static Expected<TraceView> open(const Trace& trace, std::size_t launch, const rules::RuleSet& rules);
  /// Calls `show` for each event that matches the query, until it returns false. The events are in the order of the
  /// blocks and, within a block, in the order of execution. Error: a damaged trace.
  Expected<void> visit(const TraceQuery& query, const std::function<bool(const SeenEvent&)>& show) const;
  /// The same for many events: without the details. Addresses: Event::access().
  Expected<void> visit_events(const TraceQuery& query,
                              const std::function<bool(const analyzers::trace::Event&)>& see) const;

  [[nodiscard]] std::uint64_t events() const;                            ///< of all kinds, of the launch
  [[nodiscard]] std::size_t instructions() const { return ptx_.size(); } ///< of the kernel
  [[nodiscard]] std::string_view ptx(std::uint32_t instruction) const { return ptx_[instruction]; }
  [[nodiscard]] std::uint32_t line(std::uint32_t instruction) const; ///< of the PTX
  [[nodiscard]] std::string source(std::uint32_t instruction) const; ///< "saxpy.cu:5", or empty
  [[nodiscard]] std::uint64_t static_shared_bytes() const { return program_->shared_bytes; }
  [[nodiscard]] const rules::CoalescingRule& coalescing_rule() const { return coalescing_; }
  [[nodiscard]] const rules::BankRule& bank_rule() const { return banks_; }

private:
  TraceView() = default;
  void see(const analyzers::trace::Event& event, SeenEvent& seen) const;

  const Trace* trace_ = nullptr;
  std::size_t launch_ = 0;
  std::shared_ptr<const exec::Program> program_;
  analyzers::trace::Limits limits_;
  std::vector<std::string> ptx_; ///< by instruction
  rules::CoalescingRule coalescing_;
  rules::BankRule banks_;
};

/// "load", "store", "atomic" or "reduction".
std::string_view name(exec::AccessKind kind);

/// The event as a line of JSON that ends with a newline: docs/trace-format.md, "inspect".
std::string json_line(const SeenEvent& event);

} // namespace warplens::api
