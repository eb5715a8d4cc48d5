// SPDX-License-Identifier: Apache-2.0
// Describes what the warps of a CTA wait for when it makes no progress:
//
//   warp 0 lanes 0-15 wait at barrier 1 (line 12), warp 0 lanes 16-31 repeat lines 20-23, warp 3 waits at barrier 2
//   (line 30)
#include "emulator/exec/block/cluster.hpp"
#include "emulator/exec/block/faults.hpp"
#include "emulator/exec/block/membermasks.hpp"
#include "emulator/exec/block/sync_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::exec {

namespace {

constexpr std::size_t kMostEntries = 16;

class Account {
public:
  explicit Account(Cta& cta) : cta_(cta) {}

  void add(Warp& warp) {
    if (warp.state == WarpState::at_barrier)
      enter(warp, warp.live, warp.next - 1,
            fmt::format("warp {} waits at barrier {} (line {})", warp.index, warp.barrier, line(warp.next - 1)));
    else if (warp.state == WarpState::in_group)
      enter(warp, warp.live, warp.next - 1,
            fmt::format("warp {} waits for its warp group (line {})", warp.index, line(warp.next - 1)));
    else if (warp.state != WarpState::done)
      paths(warp);
  }

  Trap trap() && {
    trap_.kind = Trap::Kind::deadlock;
    trap_.cta = cta_.number;
    if (entries_ > kMostEntries) trap_.detail += fmt::format(", and {} more", entries_ - kMostEntries);
    return std::move(trap_);
  }

private:
  [[nodiscard]] bool allocates_tensor_memory(const Op* op) const {
    const ir::Instruction& at = cta_.program.function->instructions[op->instruction];
    return at.form != ir::kNone &&
           cta_.program.module->spellings[at.form].entry->family == isa::Family::tensor_allocation;
  }

  [[nodiscard]] std::uint32_t line(const Op* op) const {
    return cta_.program.function->instructions[op->instruction].where.line;
  }

  void enter(const Warp& warp, Mask lanes, const Op* op, const std::string& text) {
    if (++entries_ > kMostEntries) return;
    if (!trap_.finding && cta_.worker.launch.tools.synccheck) trap_.finding = kind_of_wait(warp, op, op);
    if (entries_ == 1) {
      trap_.instruction = op->instruction;
      trap_.thread = warp.index * kWarpSize + static_cast<std::uint32_t>(__builtin_ctz(lanes));
    }
    trap_.detail += (entries_ == 1 ? "" : ", ") + text;
  }

  // The running path first, then the waiting paths from the top.
  void paths(Warp& warp) {
    const Paths before = *warp.paths;
    const Mask active = warp.active;
    const bool has_turn = active != 0 && !cta_.independent;
    if (active != 0) repeating(warp, {warp.next, before.rejoin, active});
    Mask above = active;
    for (auto p = before.waiting.rbegin(); p != before.waiting.rend(); ++p) {
      Path path = *p;
      path.mask &= warp.live & ~above;
      above |= path.mask;
      if (path.mask == 0) continue;
      if (path.wait != Wait::none)
        parked(warp, path);
      else if (has_turn)
        enter(warp, path.mask, path.next,
              fmt::format("{} {} at line {} and {} no turn on targets before sm_70 while {} {}", who(warp, path.mask),
                          verb(path.mask, "wait"), line(path.next), verb(path.mask, "get"), lanes_of(active),
                          verb(active, "run")));
      else
        repeating(warp, path);
    }
  }

  void parked(const Warp& warp, const Path& path) {
    std::string text = fmt::format("{} {} at ", who(warp, path.mask), verb(path.mask, "wait"));
    if (path.wait == Wait::members)
      text += fmt::format("{} (line {}) for {}", cta_.program.function->instructions[path.next->instruction].opcode,
                          line(path.next), lanes_of(named_by(&warp, path) & warp.live & ~path.mask));
    else
      text += fmt::format("barrier {} (line {})", path.barrier, line(path.next));
    enter(warp, path.mask, path.next, text);
  }

  // Runs one iteration of the path. The warp's state is not used any more afterwards.
  void repeating(Warp& warp, const Path& path) {
    if (handler_of(path.next, &warp) == cluster_wait)
      return enter(warp, path.mask, path.next,
                   fmt::format("{} of block {} of the cluster {} at the cluster barrier (line {})",
                               who(warp, path.mask), cta_.rank, verb(path.mask, "wait"), line(path.next)));
    if (allocates_tensor_memory(path.next))
      return enter(warp, path.mask, path.next,
                   fmt::format("{} {} for columns of tensor memory (line {})", who(warp, path.mask),
                               verb(path.mask, "wait"), line(path.next)));
    constexpr int kLongest = 10'000; // instructions
    const std::optional<Trap> trap = cta_.worker.trap;
    ToolFindings findings = cta_.worker.findings;
    const WarpState state = warp.state;
    const Mask live = warp.live;
    warp.state = WarpState::ready;
    warp.budget = warp.turn = 1'000'000'000;
    warp.paths->clear();
    warp.paths->rejoin = path.rejoin;
    activate(&warp, path.mask);
    const Op* op = path.next;
    const Op* first = op;
    const Op* last = op;
    for (int i = 0; i < kLongest; ++i) {
      const Handler run = handler_of(op, &warp);          // compiled code would run up to the end of a turn
      if (run == barrier || run == barrier_of_cta) break; // they concern other warps
      const Op* const next = run(op, &warp);
      op = next != nullptr ? next : warp.state == WarpState::ready ? warp.next : nullptr;
      if (op == path.next || op == nullptr) break;
      first = std::min(first, op);
      last = std::max(last, op);
    }
    cta_.worker.trap = trap;
    cta_.worker.findings = std::move(findings);
    warp.state = state;
    warp.live = live;
    if (!trap_.finding && warp.worker->launch.tools.synccheck) trap_.finding = kind_of_wait(warp, first, last);
    std::string lines = line(first) == line(last) ? fmt::format("line {}", line(first))
                                                  : fmt::format("lines {}-{}", line(first), line(last));
    enter(warp, path.mask, first, fmt::format("{} {} {}", who(warp, path.mask), verb(path.mask, "repeat"), lines));
  }

  static std::string who(const Warp& warp, Mask lanes) {
    return fmt::format("warp {} {}", warp.index, lanes_of(lanes));
  }
  static std::string verb(Mask lanes, const char* plural) {
    return __builtin_popcount(lanes) == 1 ? fmt::format("{}s", plural) : plural;
  }

  Cta& cta_;
  Trap trap_;
  std::size_t entries_ = 0;
};

} // namespace

void Cta::report_deadlock() {
  Account account(*this);
  for (std::uint32_t i = 0; i < warp_count_; ++i) account.add(warp(i));
  Trap trap = std::move(account).trap();
  record_stop(worker, trap, 0);
  worker.trapped(std::move(trap));
}

} // namespace warplens::exec
