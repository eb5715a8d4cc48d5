// SPDX-License-Identifier: Apache-2.0
// The messages of memcheck, racecheck, initcheck and synccheck as values, and their three forms.
//
//   ========= Invalid __global__ write of size 4 bytes
//   =========     at fill() in memory.cu:14
//   =========     by thread (4,0,0) in block (3,0,0)
//   =========     Address 0x50000190 is out of bounds
//   =========     and is 1 bytes after the nearest allocation at 0x50000000 of size 400 bytes
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/exec/state/tool_finding.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::api {

/// A line of a function.
struct CheckFrame {
  std::string function;       ///< as in the source: source_name(); empty: inlined into the next frame
  std::string file;           ///< of the source; of the PTX if the source is unknown
  std::uint32_t line = 0;     ///< 0: unknown
  std::uint32_t ptx_line = 0; ///< 0: unknown
  friend bool operator==(const CheckFrame&, const CheckFrame&) = default;
};

/// Threads of a launch that did the same.
struct CheckThreads {
  std::string kernel;             ///< name in the PTX
  std::vector<CheckFrame> frames; ///< innermost first: the line, where it was inlined, who called
  std::string thread, block;      ///< the first one: "(4,0,0)"
  /// All of them, by linear number of the block: {3, "4-31"}. At most ToolFindingGroup::kMostThreads threads.
  std::vector<std::pair<std::uint64_t, std::string>> of_blocks;
  std::string access;                   ///< "read", "write", "atomic"; empty: none
  std::string space;                    ///< "global", …
  std::uint64_t bytes = 0;              ///< of the access; of a leak: all
  std::optional<std::uint64_t> address; ///< the first thread's; shared and local: an offset
};

/// Memory that a message is about.
struct CheckMemory {
  std::string name;
  std::uint64_t begin = 0, size = 0;
  std::int64_t distance = 0; ///< of the address behind the end; inside: from the begin; before: negative
  enum class Where : std::uint8_t { before, inside, behind } where{};
  std::string allocated_by, freed_by;              ///< functions of the API, or "malloc() of thread … of kernel …"
  std::vector<std::string> allocated_at, freed_at; ///< host frames
};

struct CheckMessage {
  exec::ToolFinding::Kind kind{};
  std::string title;
  std::string detail; ///< empty: the title says it all
  std::optional<CheckThreads> at, other;
  std::optional<CheckMemory> memory;
  std::string call;                     ///< the function of the API that failed
  int error = 0;                        ///< its result
  std::vector<std::string> host_frames; ///< of that call, or of the launch
  std::uint64_t count = 1;              ///< errors that this message stands for
  std::uint64_t order = 0;              ///< launches and calls of the API, in the order in which the host made them
};

/// Sorts by the order of the host, then by place.
void sort_messages(std::vector<CheckMessage>& messages);

/// What the messages say at the end.
struct CheckSummary {
  std::uint64_t errors = 0, printed = 0, messages = 0, suppressed = 0, leaked_bytes = 0, leaks = 0;
};

/// One message, without a colour, every line after "========= ".
std::string message_text(const CheckMessage& message);
std::string summary_text(const CheckSummary& summary, std::string_view tools);
/// All messages as compute-sanitizer's --xml, and as JSON, which suppressions_from() reads.
std::string messages_xml(std::span<const CheckMessage> messages);
std::string messages_json(std::span<const CheckMessage> messages);

/// Which messages are known and accepted: a file of messages_json(), or a part of it. A message is suppressed by an
/// entry whose fields it has: kind, kernel, function, file, line, call.
class Suppressions {
public:
  static Expected<Suppressions> read(const std::string& text, const std::string& file);
  [[nodiscard]] bool covers(const CheckMessage& message) const;

private:
  struct Entry {
    std::string kind, kernel, function, file, call;
    std::uint32_t line = 0;
  };
  std::vector<Entry> entries_;
};

} // namespace warplens::api
