// SPDX-License-Identifier: Apache-2.0
// Limits on the resources that input can request. Each limit has a name, which its error message states. To change a
// limit, use `warplens --limit NAME=NUMBER COMMAND …` or the environment variable WARPLENS_LIMITS ("NAME=NUMBER,…").
//
//   if (!limits::kRegisterBytes.admits(bytes)) return failure(limits::kRegisterBytes.exceeded("kernel 'f'", bytes));
//   // kernel 'f' needs 12884901888 bytes of registers for a warp: the limit register-bytes is 268435456
#pragma once

#include "emulator/base/checked.hpp"

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace warplens {

/// All threads read it. Set it before anything is loaded.
class Limit {
public:
  constexpr Limit(std::string_view name, std::string_view of, std::uint64_t most) : name_(name), of_(of), most_(most) {}
  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] std::string_view of() const { return of_; } ///< "bytes of registers for a warp"
  [[nodiscard]] std::uint64_t most() const { return most_.load(std::memory_order_relaxed); }
  void set(std::uint64_t most) { most_.store(most, std::memory_order_relaxed); }

  [[nodiscard]] bool admits(Checked number) const { return number.at_most(most()); }
  /// "WHO needs N OF: the limit NAME is MOST".
  [[nodiscard]] std::string exceeded(std::string_view who, Checked number) const;
  /// How to raise it.
  [[nodiscard]] std::string hint() const;

private:
  std::string_view name_, of_;
  std::atomic<std::uint64_t> most_;
};

namespace limits {

inline Limit kRegisters{"registers", "registers in one module", 8u << 20};
inline Limit kRegisterBytes{"register-bytes", "bytes of registers for a warp", 256u << 20};
inline Limit kVariableBytes{"variable-bytes", "bytes for one variable", std::uint64_t{1} << 40};
inline Limit kInitialBytes{"initial-bytes", "bytes of initial values in one module", 256u << 20};
inline Limit kParameterBytes{"parameter-bytes", "bytes of parameters", 32764}; // from PTX 8.1 on
inline Limit kSharedBytes{"shared-bytes", "bytes of shared memory for a block", std::uint64_t{1} << 30};
inline Limit kLocalBytes{"local-bytes", "bytes of local memory for a thread", 16u << 20};

inline Limit kBlockDepth{"block-depth", "levels of nested blocks", 200};
inline Limit kRegisterNameBytes{"register-name-bytes", "bytes of register names in one module", 256u << 20};
/// A table counts once for every instruction that branches or calls through it.
inline Limit kTableTargets{"table-targets", "targets in the tables that it uses", 1u << 20};
inline Limit kCallTargets{"call-targets", "targets of all calls that it reaches", 1u << 20};
inline Limit kSavedRegisters{"saved-registers", "registers saved across calls that may be recursive", 1u << 24};
/// Launches, copies and fills that one grid requests.
inline Limit kDeviceOperations{"device-operations", "launches, copies and fills by one grid", 1u << 20};

inline Limit kBufferBytes{"buffer-bytes", "bytes of buffers for its launches", std::uint64_t{4} << 30};
inline Limit kInputBytes{"input-bytes", "bytes in an input file", std::uint64_t{2} << 30};
inline Limit kSettingsBytes{"settings-bytes", "bytes in a launch, device or rule file", 16u << 20};
/// A compressed piece may always expand to this size …
inline Limit kExpandedBytes{"expanded-bytes", "bytes for the contents of a compressed piece", 16u << 20};
/// … and beyond it to this multiple of its compressed size. Real PTX compresses by a factor of 10 to 30.
inline Limit kExpansion{"expansion", "times its compressed size", 256};
/// Later operations of a program are not in its timeline.
inline Limit kTimelineOperations{"timeline-operations", "operations in the timeline of a program", 1u << 20};
inline Limit kDescriptionBytes{"description-bytes", "bytes in the description of a traced launch", 64u << 20};

/// All limits, for help and documentation.
std::span<Limit* const> all();

} // namespace limits

/// Sets limits from "NAME=NUMBER,NAME=NUMBER". Returns the error message; empty on success.
std::string set_limits(std::string_view text);

} // namespace warplens
