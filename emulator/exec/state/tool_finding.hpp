// SPDX-License-Identifier: Apache-2.0
// What memcheck, racecheck, initcheck and synccheck find in a launch, as values.
//
//   worker.findings.add({ToolFinding::Kind::misaligned, {.instruction = 7, .cta = 0, .thread = 4, …}});
//   merged list of a launch:  {misaligned at instruction 7, first: thread 4 of CTA 0, 28 times, threads 4 to 31}
//
// Findings of the same kind at the same instructions are one entry, which counts them. The lists of workers merge to
// the same list for every assignment of CTAs to workers.
#pragma once

#include "emulator/exec/state/events.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace warplens::exec {

enum class Tool : std::uint8_t { memcheck, racecheck, initcheck, synccheck };

/// The tools of a launch.
struct Tools {
  bool memcheck = false, racecheck = false, initcheck = false, synccheck = false;
  [[nodiscard]] bool any() const { return memcheck || racecheck || initcheck || synccheck; }
  [[nodiscard]] bool has(Tool tool) const {
    return tool == Tool::memcheck    ? memcheck
           : tool == Tool::racecheck ? racecheck
           : tool == Tool::initcheck ? initcheck
                                     : synccheck;
  }
  friend auto operator<=>(const Tools&, const Tools&) = default;
};

/// A thread at an instruction, and what it accesses there.
struct ThreadAccess {
  std::uint32_t instruction = 0;         ///< index into the instructions of Program::function
  std::uint64_t cta = 0;                 ///< linear
  std::uint32_t thread = 0;              ///< linear in the CTA
  std::vector<std::uint32_t> calls = {}; ///< the instructions of the calls that led there, innermost first
  isa::Space space{};
  AccessKind access{};
  std::uint64_t bytes = 0;   ///< 0: no access to memory
  std::uint64_t address = 0; ///< shared and local: offset; registers: number in the function
  std::uint64_t launch = 0;  ///< LaunchOptions::number of another launch; 0: this one
  std::uint64_t whole = 0;   ///< of a read of bytes that nobody wrote: the bytes of the access, with the written ones
};

struct ToolFinding {
  enum class Kind : std::uint8_t {
#define WARPLENS_FINDING(id, tool, title) id,
#include "emulator/exec/state/tool_findings.def"
#undef WARPLENS_FINDING
  } kind{};
  ThreadAccess at;
  std::optional<ThreadAccess> other = {}; ///< of a race: the earlier access
  std::string detail = {};                ///< one line: what is missing, which mask, …
};

constexpr std::size_t kToolFindingKinds =
    std::initializer_list<std::string_view>{
#define WARPLENS_FINDING(id, tool, title) #id,
#include "emulator/exec/state/tool_findings.def"
#undef WARPLENS_FINDING
    }
        .size();

/// "memcheck"
std::string_view name_of(Tool tool);
Tool tool_of(ToolFinding::Kind kind);
/// "out_of_bounds"
std::string_view id_of(ToolFinding::Kind kind);
/// "Address out of bounds"
std::string_view title_of(ToolFinding::Kind kind);

/// The findings of one kind at one place.
struct ToolFindingGroup {
  /// A thread of the launch, in the order in which they are listed.
  using Thread = std::pair<std::uint64_t, std::uint32_t>; ///< CTA, thread in it
  ToolFinding first;                                      ///< of the lowest thread
  std::uint64_t count = 0;
  std::set<Thread> threads; ///< the lowest kMostThreads
  static constexpr std::size_t kMostThreads = 1024;
};

class ToolFindings {
public:
  void add(ToolFinding finding);
  /// Moves the findings of another worker here.
  void merge(ToolFindings&& other);
  [[nodiscard]] bool empty() const { return groups_.empty(); }
  /// Sorted by place.
  [[nodiscard]] std::vector<ToolFindingGroup> take();

private:
  /// Kind, instruction, calls, space, access, and the same of the other access.
  using Place = std::tuple<ToolFinding::Kind, std::uint32_t, std::vector<std::uint32_t>, isa::Space, AccessKind,
                           std::uint64_t, std::uint32_t, std::vector<std::uint32_t>>;
  static Place place_of(const ToolFinding& finding);
  std::map<Place, ToolFindingGroup> groups_;
};

} // namespace warplens::exec
