// Events: a mark in a stream that can be waited for, and the time at which it was reached.
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

  /// The mark of the latest record; null: never recorded.
  [[nodiscard]] std::shared_ptr<Mark> mark() const {
    const std::lock_guard lock(mutex_);
    return mark_;
  }
  /// From now on the event means this mark.
  void set_mark(std::shared_ptr<Mark> mark) {
    const std::lock_guard lock(mutex_);
    mark_ = std::move(mark);
  }

  /// Recorded in a stream that is being captured: the event stands for nodes of a graph. No capture: it was not.
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
