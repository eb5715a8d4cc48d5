// SPDX-License-Identifier: Apache-2.0
// Events: a mark in a stream that programs can wait for, and the time when it was reached. Those for several processes
// count their records in memory that the processes share.
#pragma once

#include "runtime/driver/machine/operation.hpp"

#include <mutex>
#include <vector>

namespace warplens::runtime {

class Capture;
class Context;
class Node;

class Event {
public:
  /// `shared`: of an event for several processes, what they share.
  Event(Context& context, unsigned flags, std::shared_ptr<Shared> shared = nullptr)
      : context_(context), flags_(flags), shared_(std::move(shared)) {}
  [[nodiscard]] Context& context() const { return context_; }
  [[nodiscard]] unsigned flags() const { return flags_; }

  [[nodiscard]] const std::shared_ptr<Shared>& shared() const { return shared_; } ///< null: of this process only

  /// The mark of the latest record, which another process may have made; null if never recorded.
  [[nodiscard]] std::shared_ptr<Mark> mark() const;
  /// A mark for the next record. It must be reached, also if the stream refuses the record: others may wait for it.
  [[nodiscard]] std::shared_ptr<Mark> next_mark() const;
  /// From now on the event refers to this mark.
  void set_mark(std::shared_ptr<Mark> mark) {
    const std::lock_guard lock(mutex_);
    mark_ = std::move(mark);
  }

  /// For an event recorded in a captured stream, the graph nodes that it represents. Otherwise the capture is null.
  struct Captured {
    std::weak_ptr<Capture> capture = {};
    std::vector<Node*> nodes = {};
  };
  [[nodiscard]] Captured captured() const {
    const std::lock_guard lock(mutex_);
    return captured_;
  }
  void set_captured(Captured captured) {
    const std::lock_guard lock(mutex_);
    captured_ = std::move(captured);
  }

private:
  Context& context_;
  unsigned flags_;
  std::shared_ptr<Shared> shared_;
  mutable std::mutex mutex_;
  Captured captured_;
  std::shared_ptr<Mark> mark_;
};

} // namespace warplens::runtime
