// SPDX-License-Identifier: Apache-2.0
// A PTX file loaded into the emulator, with buffers and launches, for the tests against hardware.
#pragma once

#include "emulator/exec/decode/decode.hpp"
#include "emulator/exec/grid/grid.hpp"
#include "emulator/ir/module.hpp"

#include <optional>
#include <string>
#include <vector>

namespace warplens::tests {

/// The text of a file under tests/data; throws if it cannot be read.
std::string data_file(const std::string& name);

class Emulated {
public:
  /// Parses and checks; throws the diagnostics on failure.
  Emulated(const std::string& ptx, const std::string& name);

  std::uint64_t buffer(const std::vector<std::uint32_t>& words);
  void free_buffers();

  struct Argument {
    std::uint64_t value;
    std::size_t bytes;
    const void* data = nullptr; ///< of arguments longer than `value`
  };
  struct Request {
    std::string kernel;
    exec::LaunchShape shape;
    std::vector<Argument> arguments;
    const exec::Level* level = nullptr;
    unsigned workers = 1;
    exec::Watcher* watcher = nullptr;
    std::uint64_t max_steps = 0;
    bool cooperative = false;
    bool host_pointers = false;
    bool past_ends = false;
    exec::Textures textures;
    exec::Heap* heap = nullptr; ///< of the device
    exec::Tools tools{};
    std::uint64_t schedule_seed = 0;
    std::vector<exec::LaunchChecker*> checkers{};
  };
  /// Runs a kernel; returns the reason why it stopped, or an empty string on success.
  std::string run(const Request& request);
  /// For the last run: "COUNT MESSAGE" for each instruction that accessed memory past the end of an allocation.
  [[nodiscard]] const std::vector<std::string>& overruns() const { return overruns_; }
  /// Of the tools in the last run.
  [[nodiscard]] const std::vector<exec::ToolFindingGroup>& findings() const { return findings_; }
  exec::Arena& arena() { return *arena_; }

  [[nodiscard]] const ir::Module& module() const { return module_; }

private:
  ir::Module module_;
  std::vector<exec::ToolFindingGroup> findings_;
  std::unique_ptr<exec::Arena> arena_;
  std::vector<std::uint64_t> buffers_;
  std::vector<std::string> overruns_;
};

} // namespace warplens::tests
