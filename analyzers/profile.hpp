// SPDX-License-Identifier: Apache-2.0
// The results of the analyzers for one launch: metrics of the whole grid, and of every instruction that has any.
//
//   profile.integer(MetricId::global_sectors_ld) == 32768
//   profile.instructions[0].ptx == "ld.global.u32 %r10, [%rd5];", .pattern == "stride 2048 bytes"
#pragma once

#include "analyzers/metrics.hpp"
#include "analyzers/recorded_accesses.hpp"
#include "analyzers/rule_counts.hpp"
#include "analyzers/sampling.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::analyzers {

/// A line of CUDA source.
struct SourceFrame {
  std::string file;
  std::uint32_t line = 0;
  bool operator==(const SourceFrame&) const = default;
};

struct InstructionRow {
  std::uint32_t instruction = 0; ///< index into ir::Function::instructions
  std::uint32_t line = 0;        ///< in the PTX text
  std::string ptx;               ///< the instruction as text
  /// Of the CUDA source; empty when unknown. For code inlined from another file than the kernel's, such as a header of
  /// CUDA, the innermost call in the kernel's file.
  std::string source_file;
  std::uint32_t source_line = 0;
  std::vector<SourceFrame> inlined; ///< from the instruction's own line up to the kernel; empty if not inlined
  std::string pattern;     ///< of its memory accesses: "broadcast", "unit stride", "stride 8 bytes", "irregular", …
  std::int64_t stride = 0; ///< bytes from lane to lane, if the pattern is a stride
  std::uint32_t lane_bytes = 0; ///< that each lane accesses; 0 if not a memory instruction
  Metrics metrics;
  /// Of a branch: it diverges only where lanes above or below a bound skip something; no two paths run one after the
  /// other.
  bool bounds_check = false;
  bool one_sided = false; ///< of a divergent branch: one of its paths does nothing
  bool of_boxes = false;  ///< of a divergent branch: boxes of threads take one of its paths, wherever it diverges
  RuleCounts counts;      ///< under the rules of the device
  std::uint64_t passes_if_shared = 0;   ///< of a load of constants: over the banks, if the words lay in shared memory
  std::vector<RecordedAccess> recorded; ///< a few of its accesses
};

/// Counts of blocks: a column for each counter.
struct BlockTable {
  struct Row {
    std::uint64_t cta = 0;             ///< linear
    std::vector<std::uint64_t> values; ///< by column; missing ones at the end are 0
    /// 0 if the column is missing.
    [[nodiscard]] std::uint64_t at(std::size_t column) const { return column < values.size() ? values[column] : 0; }
    void fields(Archive& a) { a(cta, values); }
  };
  std::vector<MetricKey> columns;
  std::vector<Row> rows;

  /// A block and its counts; ratios are left out.
  void add(std::uint64_t cta, const Metrics& metrics);
  void merge(const BlockTable& other);
  /// Columns by name, rows by block.
  void sort();
  void fields(Archive& a) { a(columns, rows); }

private:
  std::size_t column(const MetricKey& key, std::size_t likely);
};

struct Profile {
  std::string kernel;
  Metrics metrics;
  RuleCounts counts;                        ///< under the rules of the device
  BlockTable blocks;                        ///< empty unless requested: see block_counts.hpp
  std::vector<InstructionRow> instructions; ///< ascending; only those with a metric
  std::optional<SampleReport> sample;       ///< none: all blocks were watched

  [[nodiscard]] std::uint64_t integer(const MetricKey& key) const { return metrics.integer(key); }
  [[nodiscard]] std::uint64_t integer(std::string_view name) const { return metrics.integer(name); }
};

} // namespace warplens::analyzers
