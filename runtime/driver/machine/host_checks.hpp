// SPDX-License-Identifier: Apache-2.0
// racecheck and initcheck in the order of the host. With them, each operation of a stream runs in the call that submits
// it, so that the order of the analysis, and with it the messages, are the same in each run; which operations happen
// before which follows from streams, events and synchronisation as if they ran at the same time.
//
//   if (HostChecks* checks = host_checks()) checks->synchronized(stream);
#pragma once

#include "runtime/driver/machine/stream.hpp"

#include <mutex>
#include <set>

namespace warplens::runtime {

class HostChecks {
public:
  /// Operations run one at a time. Those that call the program's functions are not in the way of others.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> turn(const Operation& operation);
  /// An operation begins; `after`: streams that the stream implicitly waits for.
  void begin(const Stream& stream, const std::set<std::uint64_t>& after, const Operation& operation);
  /// What a copy, fill, allocation or free accesses.
  void touch(const Copy& copy);
  void touch(const Fill& fill);
  void touch(const PoolAllocation& allocation);
  void touch(const PoolFree& free);
  /// The host has waited, for a stream or for the mark of an event.
  void synchronized(const Stream& stream);
  void synchronized(const Mark& mark);

  /// While an operation runs, its memory is open; afterwards, pages that the host must not access yet are closed.
  void open_pages();
  void close_pages();
  /// The program has accessed a closed page. False: it is not closed.
  bool accessed(std::uint64_t address, bool writes);

  /// The edges of a graph order its nodes, instead of the stream.
  class Graph {
  public:
    Graph(const Stream& stream, const std::set<std::uint64_t>& after);
    void begin(const void* node, const std::vector<const void*>& after) { launch_.begin(node, after); }
    void end(const void* node) { launch_.end(node); }

  private:
    std::unique_lock<std::recursive_mutex> lock_;
    api::HostOrder::GraphLaunch launch_;
  };

private:
  void touch(std::uint64_t address, std::uint64_t bytes, bool writes);
  std::recursive_mutex mutex_;
  std::set<std::uint64_t> closed_; ///< pages
};

/// Null without racecheck and initcheck.
HostChecks* host_checks();

/// The host has waited for a stream or an event: for racecheck, and for the log of operations.
void host_waited_for(const Stream& stream);
void host_waited_for(const Mark& mark);

} // namespace warplens::runtime
