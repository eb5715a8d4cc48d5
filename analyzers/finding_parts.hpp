// SPDX-License-Identifier: Apache-2.0
// What the findings about a kernel's instructions share.
//
//   Finding finding = at_row(row, names::kLocalMemory, Severity::note);
//   keep_evidence(finding, row, {MetricId::local_load});
#pragma once

#include "analyzers/findings.hpp"
#include "emulator/ir/opcode_parts.hpp"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace warplens::analyzers {

/// A finding about one instruction: where it is.
Finding at_row(const InstructionRow& row, std::string_view rule, Severity severity);
/// A note about requests that need not be; the remedy is also the advice.
Finding note_on_requests(const InstructionRow& row, std::string_view rule, std::string_view message,
                         std::string_view remedy);
/// The metrics of the row that exist become values of the finding.
void keep_evidence(Finding& finding, const InstructionRow& row, std::initializer_list<MetricKey> keys);

/// Bytes without the direction. Traces may have any distance: that of the lowest number is the highest.
constexpr std::int64_t magnitude(std::int64_t distance) {
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  return distance == kLowest ? std::numeric_limits<std::int64_t>::max() : distance < 0 ? -distance : distance;
}

/// Warp instructions.
double executed(const InstructionRow& row);

/// The register and the offset of an address in brackets.
using Address = std::pair<std::uint32_t, std::int64_t>;
std::optional<Address> address_of(const ir::Function& function, const ir::Instruction& instruction);

/// Whether threads of the kernel exchange data, or the order of their accesses matters: what one thread does cannot be
/// moved to another.
bool ties_threads(const ir::Function& kernel);

/// The instructions that compute with what some loads return.
struct DataUses {
  std::set<std::uint32_t> instructions; ///< without loads and stores among `accesses`
  bool branch = false;                  ///< one of them is a branch
};
/// `accesses`: loads and stores. Those stores use the data, but are not among the result.
DataUses uses_of_data(const Code& code, std::span<const InstructionRow* const> accesses);

/// The rows of a profile, by instruction.
std::map<std::uint32_t, const InstructionRow*> rows_by_instruction(const Profile& profile);

/// The range of the recorded addresses of an instruction in global memory, in the first block.
struct AddressRange {
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  [[nodiscard]] bool meets(const AddressRange& o) const { return low < o.high && o.low < high; }
};
AddressRange range_of(const InstructionRow& row);

/// Whether some threads load the halo of a tile, whose words other threads load: another load of words of the same size
/// is coalesced, loads at least twice as many of them, and visits the same range.
bool loads_halo(const InstructionRow& row, const Profile& profile);

/// Whether the kernel may load from global memory what it stores there.
bool loads_what_it_stores(const Profile& profile);

} // namespace warplens::analyzers
