// SPDX-License-Identifier: Apache-2.0
// Passes the events of a launch to functions of Python, in batches of arrays.
//
//   EventBatches watcher(function, launch, {.each = true});
//   launch.watcher = &watcher;      // function(kind, columns, done) is called with the interpreter's lock
//
// Errors of the function are kept, and thrown after the launch: the emulator's code cannot be left by an exception.
#pragma once

#include "api/launch/launch.hpp"
#include "api/launch/two_watchers.hpp"

#include <pybind11/pybind11.h>

#include <deque>
#include <exception>
#include <memory>
#include <vector>

namespace warplens::python {

/// Bytes that a function of Python owns after the call, as a buffer.
struct Column {
  std::vector<std::byte> bytes;
};

class EventBatches final : public exec::Watcher {
public:
  /// `each`: every event with its block and warp, in the order of execution, with branches and barriers. Otherwise only
  /// accesses, of which similar ones are passed once, with their number.
  EventBatches(pybind11::object function, std::vector<std::uint32_t> lines, bool each);

  std::unique_ptr<exec::Shard> make_shard() override;
  void finish(std::vector<std::unique_ptr<exec::Shard>> shards,
              const std::vector<exec::InstructionCount>& counts) override;
  /// Throws what the function has thrown.
  void rethrow() const;

private:
  class Shard;
  void pass(const char* kind, const pybind11::dict& batch);

  pybind11::object function_;
  std::vector<std::uint32_t> lines_; ///< of the PTX, by instruction
  bool each_;
  std::exception_ptr error_;
};

/// Records a launch for functions of Python and, if given, for another recorder. Kernels that kernels launch are only
/// recorded by the other one.
class PythonRecorder final : public api::LaunchRecorder {
public:
  explicit PythonRecorder(api::LaunchRecorder* other) : other_(other) {}
  void add(pybind11::object function, bool each) { functions_.push_back({std::move(function), each}); }
  [[nodiscard]] bool empty() const { return functions_.empty(); }

  Expected<exec::Watcher*> begin(const api::LaunchRequest& request, const exec::Launch& launch) override;
  Expected<void> end(const api::LaunchReport& report) override;
  Expected<void> close() override { return {}; }
  void rethrow() const;

private:
  struct Function {
    pybind11::object object;
    bool each = false;
  };
  std::vector<Function> functions_;
  api::LaunchRecorder* other_;
  bool other_records_ = false;
  std::vector<std::unique_ptr<EventBatches>> watchers_;
  std::deque<api::TwoWatchers> pairs_;
};

void add_columns(pybind11::module_& module);

} // namespace warplens::python
