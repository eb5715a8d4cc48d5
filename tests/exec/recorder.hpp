// SPDX-License-Identifier: Apache-2.0
// A watcher that writes down what it is told, to compare two runs of a kernel:
//
//   Recorder recorder;  request.watcher = &recorder;  machine.run(request);  recorder.text ...
#pragma once

#include "emulator/exec/state/events.hpp"

#include <bit>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace warplens::tests {

/// What a watcher is told, as text: how often each event came. Analyzers must not depend on the order of warps, nor on
/// which of several equivalent accesses stands for all.
class Recorder final : public exec::Watcher {
public:
  /// `rows`: gets irregular accesses together; the text is the same.
  explicit Recorder(bool rows = false) : rows_(rows) {}
  using Events = std::map<std::string, std::uint64_t>;
  struct Shard final : exec::Shard {
    explicit Shard(bool rows) : wanted{.rows = rows} {}
    Events events;
    exec::EachWanted wanted;
    [[nodiscard]] exec::EachWanted each_wanted() const override { return wanted; }
    void access(const exec::Access& a) override {
      std::ostringstream line;
      const std::uint64_t first = a.addresses[std::countr_zero(a.mask)];
      line << a.instruction << ' ' << int(a.space) << ' ' << int(a.kind) << ' ' << int(a.shape) << ' ' << a.lane_bytes
           << ' ' << a.mask << ' ' << a.stride << ' ' << (a.halves != nullptr) << ' ' << first % exec::kAlignmentPeriod
           << ':';
      for (const int lane : exec::EachLane(a.mask)) line << ' ' << a.addresses[lane] - first;
      events[line.str()] += a.count;
    }
    void branch(const exec::Branch& b) override {
      std::ostringstream line;
      line << "branch " << b.instruction << ' ' << b.active << ' ' << b.taken;
      events[line.str()] += b.count;
    }
    void special_operands(const exec::SpecialOperands& s) override {
      std::ostringstream line;
      line << "special " << s.instruction; // of compiled code, the lanes are unknown
      events[line.str()] += s.count;
    }
    void lane_copy(const exec::LaneCopy& c) override {
      std::ostringstream line;
      line << "copy " << c.instruction << ' ' << c.sectors << ' ' << c.fetched << ' ' << c.looked_up;
      events[line.str()] += c.count;
    }
    void barrier(const exec::Barrier& b) override {
      std::ostringstream line;
      line << "barrier " << b.instruction << ' ' << b.active << ' ' << b.number << ' ' << b.of.cta << ' ' << b.of.warp
           << ' ' << b.steps;
      ++events[line.str()];
    }
  };
  std::unique_ptr<exec::Shard> make_shard() override { return std::make_unique<Shard>(rows_); }
  void finish(std::vector<std::unique_ptr<exec::Shard>> shards,
              const std::vector<exec::InstructionCount>& counts) override {
    for (const auto& shard : shards)
      for (const auto& [event, count] : static_cast<Shard&>(*shard).events) events[event] += count;
    for (const auto& [event, count] : events) text += event + " x " + std::to_string(count) + '\n';
    by_instruction = counts;
    for (const exec::InstructionCount& c : counts)
      text += std::to_string(c.warps) + ' ' + std::to_string(c.lanes) + ' ' + std::to_string(c.lanes_on) + '\n';
  }
  Events events;
  std::string text;
  std::vector<exec::InstructionCount> by_instruction;

private:
  bool rows_;
};

} // namespace warplens::tests
