// SPDX-License-Identifier: Apache-2.0
// Events: a mark in a stream that programs can wait for, and the time when it was reached.
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
  Event(Context& context, unsigned flags) : context_(context), flags_(flags) {}
  [[nodiscard]] Context& context() const { return context_; }
  [[nodiscard]] unsigned flags() const { return flags_; }

  /// The mark of the latest record; null if never recorded.
  [[nodiscard]] std::shared_ptr<Mark> mark() const {
    const std::lock_guard lock(mutex_);
    return mark_;
  }
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
  mutable std::mutex mutex_;
  Captured captured_;
  std::shared_ptr<Mark> mark_;
};

} // namespace warplens::runtime
