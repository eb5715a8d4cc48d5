// SPDX-License-Identifier: Apache-2.0
// What this process may use of the machine.
//
//   usable_processors() == 16, memory_limits().front() == {8 GiB, "control group"}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::tools {

/// Those that the process may run on.
unsigned usable_processors();
/// Processors' worth of time that the control group allows; null: no limit.
std::optional<double> processor_quota();

struct MemoryLimit {
  std::uint64_t bytes = 0;
  std::string_view of; ///< "machine", "control group", "address space (ulimit -v)"
};
/// The smallest first; the machine's memory is always one of them.
std::vector<MemoryLimit> memory_limits();

/// "512.0 MiB"
std::string size_text(std::uint64_t bytes);

} // namespace warplens::tools
