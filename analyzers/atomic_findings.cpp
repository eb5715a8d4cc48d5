// SPDX-License-Identifier: Apache-2.0
// Atomics that wait for each other: the lanes of a warp update one word, or all blocks the same few of global memory.
#include "analyzers/code_findings.hpp"
#include "analyzers/compiled_atomics.hpp"
#include "analyzers/finding_kinds.hpp"
#include "analyzers/finding_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warplens::analyzers {

namespace {

using ir::Instruction;

// A warp combines 32 values in five steps, each a shuffle and an operation; then one lane is chosen.
constexpr double kCombineInstructions = 12;
// For each word of a block's copy: an index, a comparison and a store before, and these with a load and an atomic
// after.
constexpr double kCopyInstructions = 10;
// What a block has without asking for more.
constexpr std::uint64_t kSharedBytes = 48 << 10;
// Updates of a word by a block, from which on a copy for each block is worth a finding.
constexpr double kLeastUpdates = 4;

class AtomicFindings {
public:
  AtomicFindings(const Profile& profile, const Code& code, std::vector<Finding>& findings)
      : profile_(profile), code_(code), findings_(findings) {}

  void find() {
    for (const InstructionRow& row : profile_.instructions) {
      if (row.metrics.integer(MetricId::shared_requests_atom) != 0) in_shared_memory(row);
      const bool atomic = row.counts.of_global(exec::AccessKind::atomic).requests != 0;
      if (!atomic && row.counts.of_global(exec::AccessKind::reduction).requests == 0) continue;
      if (row.pattern.ends_with("broadcast"))
        of_a_warp(row, atomic);
      else if (!atomic)
        of_all_blocks(row);
    }
  }

private:
  [[nodiscard]] const Instruction& of(const InstructionRow& row) const {
    return code_.function->instructions[row.instruction];
  }
  [[nodiscard]] bool of_integers(const InstructionRow& row) const {
    return of(row).opcode.find(".f") == std::string_view::npos && of(row).opcode.find(".bf") == std::string_view::npos;
  }
  static double sectors_of(const InstructionRow& row) {
    return static_cast<double>(row.metrics.integer(MetricId::global_sectors_atom) +
                               row.metrics.integer(MetricId::global_sectors_red));
  }
  static double lanes_of(const InstructionRow& row) {
    return static_cast<double>(row.metrics.integer(MetricId::thread_instructions_on));
  }

  /// Of one address for all lanes. ptxas combines the lanes of integer additions without a result itself.
  void of_a_warp(const InstructionRow& row, bool atomic) {
    const bool integer_add = has_part(of(row), "add") && !has_part(of(row), "f32") && !has_part(of(row), "f64");
    if (integer_add && !atomic) return;
    Finding finding = at_row(row, names::kContendedAtomics, Severity::warning);
    finding.message = "the threads of a warp update the same word, one after the other";
    finding.remedy = "combine the values of the warp with shuffles or __reduce_add_sync, and let one thread of it do "
                     "the atomic";
    finding.advice = "combine the values of the warp or the block first, or give each block its own copy and combine "
                     "the copies at the end";
    finding.excess = lanes_of(row) - executed(row);
    if (const double sectors = sectors_of(row); sectors > executed(row))
      finding.changes.accesses.push_back({row.instruction, executed(row) / sectors});
    finding.changes.instructions = -kCombineInstructions * executed(row);
    tell(finding, row);
  }

  /// Of one address for all lanes, where each update repeats a compare-and-swap. The units of shared memory serve a
  /// lane in each cycle (tests/data/hardware/serialised.jsonl): combining what they can update saves nothing.
  void in_shared_memory(const InstructionRow& row) {
    const double lanes = lanes_of(row);
    if (!row.pattern.ends_with("broadcast") || !repeats_swaps(of(row)) || lanes <= executed(row)) return;
    Finding finding = at_row(row, names::kContendedAtomics, Severity::warning);
    finding.message = "the threads of a warp update the same word of shared memory, one after the other: shared memory "
                      "has no unit for this type, so that each update repeats a compare-and-swap";
    finding.remedy = "combine the values of the warp with shuffles, and let one thread of it do the atomic";
    finding.advice = "combine the values of the warp or the block first, or give each warp its own copy and combine "
                     "the copies at the end";
    finding.excess = lanes - executed(row);
    finding.only_if_faster = true;
    finding.changes.accesses.push_back({.instruction = row.instruction, .requests = executed(row) / lanes});
    finding.changes.instructions = -kCombineInstructions * executed(row);
    tell(finding, row);
  }

  /// The recorded updates of one block.
  struct OfBlock {
    std::uint64_t low = ~std::uint64_t{0}, high = 0;
    double requests = 0, lanes_of_word = 0; ///< the latter: in a request, of the word with the most; summed
  };
  static OfBlock of_block(const InstructionRow& row, std::uint64_t cta) {
    OfBlock block;
    for (const RecordedAccess& a : row.recorded) {
      if (a.space != isa::Space::global || a.cta != cta) continue;
      std::map<std::uint64_t, int> words;
      int most = 0;
      for (const int lane : exec::EachLane(a.mask)) {
        const std::uint64_t address = a.addresses[static_cast<std::size_t>(lane)];
        block.low = std::min(block.low, address);
        block.high = std::max(block.high, address + row.lane_bytes);
        most = std::max(most, ++words[address]);
      }
      ++block.requests;
      block.lanes_of_word += most;
    }
    return block;
  }

  /// Of words that first and last block have in common, and that fit into shared memory. Shared memory has units for
  /// integers only.
  void of_all_blocks(const InstructionRow& row) {
    const double blocks = static_cast<double>(profile_.integer(MetricId::blocks_launched));
    if (blocks < 2 || !of_integers(row) || row.lane_bytes != 4) return;
    const OfBlock first = of_block(row, 0), last = of_block(row, static_cast<std::uint64_t>(blocks) - 1);
    if (first.requests == 0 || last.requests == 0 || first.low >= last.high || last.low >= first.high) return;
    const std::uint64_t bytes = std::max(first.high, last.high) - std::min(first.low, last.low);
    const double words = static_cast<double>(bytes) / row.lane_bytes, updates = lanes_of(row) / blocks;
    if (bytes > kSharedBytes || updates < kLeastUpdates * words) return;
    Finding finding = at_row(row, names::kContendedAtomics, Severity::note);
    finding.message = fmt::format("all blocks update the same {:.4g} words of global memory, each block {:.3g} times "
                                  "each on average",
                                  words, updates / words);
    finding.remedy = fmt::format("let each block update a copy of the {:.4g} words in shared memory, and add its copy "
                                 "to global memory at the end",
                                 words);
    finding.advice = finding.remedy;
    finding.excess = lanes_of(row) - words * blocks;
    finding.only_if_faster = true;
    const double ideal = static_cast<double>(row.metrics.integer(MetricId::global_sectors_ideal)),
                 remaining = sectors_of(row) > 0 ? std::min(1.0, ideal / sectors_of(row)) : 1;
    finding.changes.accesses.push_back({row.instruction, remaining, words / updates});
    const double passes = (first.lanes_of_word + last.lanes_of_word) / (first.requests + last.requests);
    finding.changes.bank_passes = -(passes - 1) * executed(row);
    finding.changes.instructions = -kCopyInstructions * blocks * std::ceil(words / exec::kWarpSize);
    finding.changes.barriers = -2.0 * static_cast<double>(profile_.integer(MetricId::warps_launched));
    tell(finding, row);
  }

  void tell(Finding& finding, const InstructionRow& row) {
    finding.unit = "atomics";
    keep_evidence(finding, row,
                  {MetricId::global_requests_atom, MetricId::global_requests_red, MetricId::shared_requests_atom});
    findings_.push_back(std::move(finding));
  }

  const Profile& profile_;
  const Code& code_;
  std::vector<Finding>& findings_;
};

} // namespace

void find_contended_atomics(const Profile& profile, const Code& code, std::vector<Finding>& findings) {
  if (code.function != nullptr) AtomicFindings(profile, code, findings).find();
}

} // namespace warplens::analyzers
