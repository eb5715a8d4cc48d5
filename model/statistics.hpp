// SPDX-License-Identifier: Apache-2.0
// The counts of a launch that the analytical models need, from the emulator, from a profiler or entered by hand. All
// models use this struct. Each model declares the fields that it needs; fields that were not measured are empty. All
// are declared in model/statistics.def.
//
//   KernelStatistics tiled;                 // the matrix multiplication of Hong & Kim, section 3.5
//   tiled.threads_per_block = 128;
//   tiled.blocks = 80;
//   tiled.resident_blocks = 5;
//   tiled.instructions = 33;                // 27 computations and 6 loads, by each warp
//   tiled.uncoalesced_requests = 6;
//   …
//
// "Per warp" is a dynamic average: the total of the launch divided by the number of its warps (blocks times warps per
// block). A warp instruction counts once for any number of active lanes; both sides of a divergent branch count.
#pragma once

#include "emulator/base/expected.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace warplens::model {

/// Instructions that occupy the issue port longer than others.
enum class IssueClass : std::uint8_t {
#define ISSUE_CLASS(name, meaning) name,
#include "model/statistics.def"
};
#define ISSUE_CLASS(name, meaning) #name,
constexpr std::size_t kIssueClasses =
    std::initializer_list<std::string_view>{
#include "model/statistics.def"
    }
        .size();
/// The name in device files and fields: "square_root".
std::string_view to_string(IssueClass issue_class);
/// Whether the special-function units execute all or most of it: reciprocal, roots, division, transcendental functions.
bool runs_on_special_units(IssueClass issue_class);

/// What fields describe together.
enum class Aspect : std::uint8_t {
#define ASPECT(name, text) name,
#include "model/statistics.def"
};
struct AspectInfo {
  Aspect aspect;
  std::string_view text; ///< "memory transactions per warp"
};
constexpr AspectInfo kAspects[] = {
#define ASPECT(name, text) {Aspect::name, text},
#include "model/statistics.def"
};

/// An absent number counts as none.
inline double value_of(const std::optional<double>& field) { return field.value_or(0); }

struct KernelStatistics {
  using Field = std::optional<double>;

#define STATISTIC(name, aspect, unit, meaning) Field name;
#include "model/statistics.def"
  /// Warp instructions by IssueClass, per warp; 0 unless given. All are part of `instructions`.
  std::array<Field, kIssueClasses> by_class{};
};

/// A field of KernelStatistics. Files, messages and lists of fields use the same table.
struct StatisticField {
  std::string_view name; ///< "transactions_32"
  Aspect aspect;
  std::string_view unit; ///< "per warp"
  std::string_view meaning;
  std::optional<double>& (*get)(KernelStatistics&);
};
const std::vector<StatisticField>& statistic_fields();

/// The cycles of a warp alone: of an average warp, or of those that execute the most.
struct CriticalPath {
  KernelStatistics::Field* l2;     ///< where the L2 cache serves what misses the L1 cache
  KernelStatistics::Field* memory; ///< where device memory does
};
std::array<CriticalPath, 3> critical_paths(KernelStatistics& statistics);

double warps_per_block(const KernelStatistics& statistics); ///< needs threads_per_block
double total_warps(const KernelStatistics& statistics);     ///< needs threads_per_block and blocks
/// Transactions of all sizes per warp, and their bytes. Need the transactions of each size.
double transactions(const KernelStatistics& statistics);
double transaction_bytes(const KernelStatistics& statistics);

/// Whether the statistics are valid and sufficient for a model. Errors: a missing field that the model needs (the hint
/// names the models that do not need it); a value that is negative, infinite or not a number; parts larger than their
/// whole; requests without instructions, transactions or bytes.
Diagnostics check_statistics(const KernelStatistics& statistics, std::string_view model_id);

} // namespace warplens::model
