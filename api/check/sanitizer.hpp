// SPDX-License-Identifier: Apache-2.0
// The tools of a process: their options, the launches and the memory that they know, and their messages. `warplens
// run`, the drop-in libraries and the C API share it.
//
//   Sanitizer tools({.tools = {.memcheck = true}});
//   request.options.sanitizer = &tools;   launch(request);
//   for (const CheckMessage& m : tools.take()) …
#pragma once

#include "api/check/host_order.hpp"
#include "api/check/host_stack.hpp"
#include "api/check/message.hpp"
#include "api/session/kernel_name.hpp"
#include "api/session/session.hpp"
#include "emulator/exec/checks/copy_check.hpp"
#include "emulator/exec/checks/init_check.hpp"
#include "emulator/exec/checks/race_check.hpp"
#include "emulator/exec/state/launch.hpp"

#include <limits>
#include <map>
#include <mutex>

namespace warplens::api {

struct CheckOptions {
  exec::Tools tools;
  bool leak_check = false;
  std::uint64_t print_limit = 100;
  int error_exitcode = 1; ///< of a run that succeeded, but has errors
  std::string kernel_name;
  std::uint64_t launch_skip = 0, launch_count = std::numeric_limits<std::uint64_t>::max();
  bool track_unused = false;       ///< initcheck also reports memory that is never written
  bool same_values = true;         ///< racecheck also reports stores of the value that is there
  std::uint64_t schedule_seed = 0; ///< order of blocks and warps: exec::Launch::schedule_seed
  std::string save;                ///< a file
  bool xml = false;
  std::string suppressions; ///< a file
  std::string sarif, junit; ///< files
};

/// "memcheck", …, "all", or several with commas between. Error: an unknown tool.
Expected<exec::Tools> parse_tools(const std::string& names);
std::string names_of(exec::Tools tools);

/// Thread-safe.
class Sanitizer {
public:
  /// `options` must be valid: a regular expression and a file of suppressions that can be read.
  static Expected<std::unique_ptr<Sanitizer>> create(CheckOptions options);
  [[nodiscard]] const CheckOptions& options() const { return options_; }
  [[nodiscard]] const exec::Tools& tools() const { return options_.tools; }

  /// The place of a launch or a call of the API in the order of the host.
  std::uint64_t next_order() { return ++order_; }

  // ---- launches
  /// Of a launch, between prepare() and finish().
  struct Checked {
    std::uint64_t order = 0;
    HostStack host;
    bool selected = false;
  };
  /// Counts the launch, and says which tools are on for it.
  exec::Tools begin(Checked& launch, std::string_view kernel);
  /// Sets what the tools need of a launch.
  void prepare(exec::Launch& launch, const exec::Tools& tools);
  void finish(const exec::Launch& launch, const Checked& checked, exec::LaunchResult& result);

  // ---- the order of the host, with racecheck
  /// The next operation of a stream, which then runs at once: a launch, or touched().
  void begin_operation(HostOrder::StreamId stream, const std::set<HostOrder::StreamId>& after);
  /// An access of the operation. `what`: the function that the program called.
  void touched(const std::string& what, std::uint64_t address, std::uint64_t bytes, bool writes);
  /// The program itself reads or writes at an address.
  void host_touched(std::uint64_t address, bool writes);
  /// Pages of an allocation with accesses that the host has not waited for.
  [[nodiscard]] std::vector<exec::RaceCheck::InFlight> in_flight(std::uint64_t begin, std::uint64_t bytes) {
    return races_.in_flight(begin, bytes, host_order_.unknown());
  }
  /// Memory that is given anew.
  void forget_accesses(std::uint64_t begin, std::uint64_t bytes) { races_.forget(begin, bytes); }
  /// Not thread-safe.
  HostOrder& host_order() { return host_order_; }

  // ---- memory
  struct Origin {
    std::uint64_t begin = 0, size = 0, order = 0;
    std::string name;
    HostStack allocated, freed;
    bool is_host = false;
    bool is_counted = false; ///< among memory that may be unused
  };
  void allocated(Origin origin);
  /// A stream will free it: the caller's stack is that of the free.
  void dying(std::uint64_t begin);
  void freed(std::uint64_t begin);
  /// The allocation that contains the address, also a freed one; empty: none.
  [[nodiscard]] std::optional<Origin> origin_of(std::uint64_t address) const;
  [[nodiscard]] static CheckMemory memory_at(std::uint64_t address, const Origin& origin);
  /// What remains at the end becomes messages: with --leak-check, allocations that nobody has freed, and with
  /// --track-unused-memory, those that nobody has written.
  void conclude(const exec::Heap* heap);

  // ---- what is written, with initcheck; the last three are operations, which take turns with launches
  /// Memory whose contents are undefined, after allocated(). `of_host`: the program can write it directly.
  void given(std::uint64_t begin, std::uint64_t bytes, bool of_host);
  /// Memory whose contents are defined, or that does not exist any more.
  void not_given(std::uint64_t begin, std::uint64_t bytes);
  void filled(std::uint64_t begin, std::uint64_t bytes);
  void copied(const std::string& what, std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  /// A copy to the host reads these ranges. `what`: the function that the program called.
  void host_reads(const std::string& what, const std::vector<exec::InitCheck::Range>& ranges);

  /// Memory that racecheck and initcheck take for what they know of global memory.
  [[nodiscard]] std::size_t shadow_bytes() const { return races_.shadow_bytes() + init_.shadow_bytes(); }

  /// A program may repeat its errors without end: later messages than these are counted, but not kept.
  static constexpr std::size_t kMostMessages = 10'000;
  void add(CheckMessage message);
  /// The messages since the last call, sorted, without suppressed ones.
  std::vector<CheckMessage> take();
  /// Of all messages so far; `printed` is up to the caller.
  [[nodiscard]] CheckSummary summary() const;

private:
  explicit Sanitizer(CheckOptions options);
  /// What a number of a launch stands for: a launch, or another operation of the host.
  struct Operation {
    std::shared_ptr<const exec::Program> program;
    exec::LaunchShape shape;
    std::string what;
  };
  [[nodiscard]] CheckThreads side_of(const exec::ThreadAccess& access, CheckMessage& message) const;
  void report_touch(exec::ToolFindings& findings, const Operation& operation);
  CheckMessage message_of(const exec::Launch& launch, const Checked& checked,
                          const exec::ToolFindingGroup& group) const;
  void describe_memory(const exec::Launch& launch, const exec::ThreadAccess& at, CheckMessage& message) const;
  void name_blocks(const exec::Launch& launch);
  void report_leaks(const exec::Heap* heap);
  void report_unused();
  /// What happened to memory since the last operation.
  void settle();
  struct MemoryEvent {
    enum class Kind : std::uint8_t { given, not_given, freed } kind{};
    std::uint64_t begin = 0, bytes = 0;
    bool of_host = false;
    std::optional<Origin> origin = {}; ///< of memory that is freed
    std::uint64_t order = 0;           ///< of the free
  };
  void add_unused(const Origin& origin, std::uint64_t order);
  /// In the summary; the caller has locked.
  void count(const CheckMessage& message);

  CheckOptions options_;
  std::optional<NamePattern> pattern_;
  std::optional<Suppressions> suppressions_;
  std::atomic<std::uint64_t> order_{0}, launches_{0};
  mutable std::mutex mutex_;
  std::uint64_t matched_ = 0;
  exec::RaceCheck races_;
  exec::InitCheck init_;
  std::vector<MemoryEvent> events_; ///< with initcheck: since the last operation
  exec::CopyCheck copies_;
  HostOrder host_order_;
  std::map<std::uint64_t, Operation> operations_; ///< with racecheck, by number
  std::vector<CheckMessage> messages_;
  CheckSummary summary_;
  std::map<std::uint64_t, Origin> live_, freed_; ///< by begin
  std::vector<Origin> lost_;                     ///< that ended with their context
  std::map<std::uint64_t, CheckThreads> users_;  ///< of the blocks of the device's heap, by begin: who allocated
};

} // namespace warplens::api
