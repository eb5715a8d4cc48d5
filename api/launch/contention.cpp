// SPDX-License-Identifier: Apache-2.0
#include "api/launch/contention.hpp"

#include "analyzers/compiled_atomics.hpp"

#include <algorithm>
#include <set>

namespace warplens::api {

namespace {

/// What the recorded accesses of one block update, in lanes and in sectors.
struct OfBlock {
  double lanes = 0, sectors = 0;
  std::map<std::uint64_t, double> words, half_lines, quarters; ///< of a kilobyte
  std::map<std::uint64_t, double> turns; ///< by sector: of each request, the lanes of the word that most of them update

  void add(const analyzers::RecordedAccess& access) {
    std::set<std::uint64_t> touched;
    std::map<std::uint64_t, double> lanes_of_word;
    for (const int lane : exec::EachLane(access.mask)) {
      const std::uint64_t address = access.addresses[static_cast<std::size_t>(lane)];
      ++lanes;
      ++words[address];
      ++lanes_of_word[address];
      touched.insert(address / 32);
    }
    std::map<std::uint64_t, double> most_of_sector;
    for (const auto& [address, count] : lanes_of_word)
      most_of_sector[address / 32] = std::max(most_of_sector[address / 32], count);
    for (const auto& [sector, count] : most_of_sector) turns[sector] += count;
    for (const std::uint64_t sector : touched) {
      ++sectors;
      ++half_lines[sector / 2];
      ++quarters[sector / 8];
    }
  }
};

/// Adds the share that every block has of an address.
void add_shares(const std::map<std::uint64_t, OfBlock>& blocks, std::map<std::uint64_t, double> OfBlock::*counts,
                double OfBlock::*all, double updates, std::map<std::uint64_t, double>& sums) {
  for (const auto& [address, count] : blocks.begin()->second.*counts) {
    double share = 1;
    for (const auto& [cta, block] : blocks) {
      const auto found = (block.*counts).find(address);
      share = found == (block.*counts).end() ? 0 : std::min(share, found->second / (block.*all));
    }
    if (share > 0) sums[address] += share * updates;
  }
}

double most(const std::map<std::uint64_t, double>& updates) {
  double result = 0;
  for (const auto& [address, count] : updates) result = std::max(result, count);
  return result;
}

/// A kilobyte may begin at any multiple of 256 bytes, as allocations do.
double most_in_kilobyte(const std::map<std::uint64_t, double>& quarters) {
  double result = 0;
  for (auto first = quarters.begin(); first != quarters.end(); ++first) {
    double sum = 0;
    for (auto i = first; i != quarters.end() && i->first < first->first + 4; ++i) sum += i->second;
    result = std::max(result, sum);
  }
  return result;
}

} // namespace

void Contention::add(const analyzers::InstructionRow& row, const ir::Instruction& instruction, double sectors) {
  std::map<std::uint64_t, OfBlock> blocks;
  for (const analyzers::RecordedAccess& access : row.recorded)
    if (access.space == isa::Space::global) blocks[access.cta].add(access);
  if (blocks.empty()) return;
  const bool of_floats = instruction.opcode.find(".f") != std::string_view::npos;
  if (of_floats)
    add_shares(blocks, &OfBlock::turns, &OfBlock::lanes, sectors, float_sectors_);
  else
    add_shares(blocks, &OfBlock::half_lines, &OfBlock::sectors, sectors, half_lines_);
  add_shares(blocks, &OfBlock::quarters, &OfBlock::sectors, sectors, quarters_);
}

void Contention::add_shared(const analyzers::InstructionRow& row, const ir::Instruction& instruction, double lanes) {
  if (!analyzers::repeats_swaps(instruction)) return;
  std::map<std::uint64_t, OfBlock> blocks;
  for (const analyzers::RecordedAccess& access : row.recorded)
    if (access.space == isa::Space::shared) blocks[access.cta].add(access);
  for (const auto& [cta, block] : blocks)
    for (const auto& [address, count] : block.words)
      shared_swaps_[address] += lanes * count / (block.lanes * static_cast<double>(blocks.size()));
}

void Contention::put_into(model::KernelStatistics& statistics) const {
  statistics.half_line_updates = most(half_lines_);
  statistics.word_float_updates = most(float_sectors_);
  statistics.kilobyte_updates = most_in_kilobyte(quarters_);
  statistics.shared_word_swaps = most(shared_swaps_);
}

} // namespace warplens::api
