// What the analyzers found out about one launch: metrics of the whole grid, and of every instruction that has any.
//
//   profile.integer("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") == 32768
//   profile.instructions[0].ptx == "ld.global.u32 %r10, [%rd5];", .pattern == "stride 2048 bytes"
#pragma once

#include "analyzers/rule_counts.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace warplens::analyzers {

/// Counts are exact; ratios are doubles.
using Value = std::variant<std::uint64_t, double>;

struct Metric {
  std::string name;
  Value value;
  [[nodiscard]] double number() const;
};

/// An ordered list of metrics, without duplicates.
class Metrics {
public:
  void add(std::string_view name, std::uint64_t count) { list_.push_back({std::string(name), count}); }
  /// Adds nothing when there is nothing to divide by.
  void add_ratio(std::string_view name, double numerator, double denominator);

  [[nodiscard]] const Metric* find(std::string_view name) const;
  /// 0 where there is no such count.
  [[nodiscard]] std::uint64_t integer(std::string_view name) const;
  [[nodiscard]] const std::vector<Metric>& list() const { return list_; }
  /// Adds the counts of `other`, by name, in its order; leaves out ratios.
  void accumulate(const Metrics& other);

private:
  std::vector<Metric> list_;
};

struct InstructionRow {
  std::uint32_t instruction = 0; ///< index into ir::Function::instructions
  std::uint32_t line = 0;        ///< in the PTX text
  std::string ptx;               ///< the instruction as text
  std::string source_file;       ///< of the CUDA source; empty when unknown
  std::uint32_t source_line = 0;
  std::string pattern;     ///< of its memory accesses: "broadcast", "unit stride", "stride 8 bytes", "irregular", …
  std::int64_t stride = 0; ///< bytes from lane to lane, where the pattern is a stride
  std::uint32_t lane_bytes = 0; ///< that each lane asks for; 0 where it is no memory instruction
  Metrics metrics;
  RuleCounts counts; ///< under the rules of the device
};

/// The counts of all instructions of one line of CUDA source.
struct SourceRow {
  std::string file;
  std::uint32_t line = 0;
  Metrics metrics;
};

/// Counts of blocks: a column for each counter.
struct BlockTable {
  struct Row {
    std::uint64_t cta = 0;             ///< linear
    std::vector<std::uint64_t> values; ///< by name; missing ones at the end are 0
    /// 0 where the column is missing.
    [[nodiscard]] std::uint64_t at(std::size_t column) const { return column < values.size() ? values[column] : 0; }
  };
  std::vector<std::string> names;
  std::vector<Row> rows;

  /// A block and its counts; ratios are left out.
  void add(std::uint64_t cta, const Metrics& metrics);
  void merge(const BlockTable& other);
  /// Columns by name, rows by block.
  void sort();

private:
  std::size_t column(std::string_view name, std::size_t likely);
};

struct Profile {
  std::string kernel;
  Metrics metrics;
  RuleCounts counts;                        ///< under the rules of the device
  BlockTable blocks;                        ///< empty unless asked for: see block_counts.hpp
  std::vector<InstructionRow> instructions; ///< ascending; only those with a metric

  [[nodiscard]] std::uint64_t integer(std::string_view name) const { return metrics.integer(name); }
  /// Sums per CUDA line, by file and line; instructions without a position are left out.
  [[nodiscard]] std::vector<SourceRow> by_source_line() const;
};

} // namespace warplens::analyzers
