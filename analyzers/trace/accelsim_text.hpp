// SPDX-License-Identifier: Apache-2.0
// Reads a kernel's trace in Accel-Sim's format (kernel-N.traceg, or the raw form before grouping), line by line,
// because files can have tens of gigabytes.
//
//   -kernel name = _Z3addPf
//   -grid dim = (2,1,1)
//   …
//   #BEGIN_TB
//   thread block = 0,0,0
//   warp = 0
//   insts = 12
//   0040 ffffffff 1 R2 LDG.E 1 R2 4 1 0x7f0000000000 4
//
// A line is: [source line] PC mask destinations … OPCODE sources … width [mode addresses]; the number of the source
// line is present with `-enable lineinfo = 1`. Modes: 0, an address for each active lane; 1, base and stride; 2, base
// and differences. The raw form begins each line with the block's x, y, z and the warp.
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/exec/state/events.hpp"

#include <optional>

#include <filesystem>
#include <fstream>
#include <string>
#include <unordered_set>
#include <vector>

namespace warplens::analyzers::trace {

struct AccelSimHeader {
  std::string kernel;
  std::uint32_t grid[3]{1, 1, 1}, block[3]{1, 1, 1};
  std::uint64_t shared_bytes = 0;
  std::uint32_t registers = 0;
  std::uint32_t binary_version = 0;              ///< 70 for sm_70
  std::uint64_t shared_base = 0, local_base = 0; ///< where generic addresses of these spaces begin; 0: not given
  bool line_info = false;
};

struct AccelSimInstruction {
  std::uint64_t cta = 0; ///< linear
  std::uint32_t warp = 0;
  std::uint32_t source_line = 0; ///< 0: not given
  std::uint64_t pc = 0;
  exec::Mask mask = 0;
  std::string_view opcode; ///< with its suffixes
  std::uint32_t width = 0; ///< bytes of a lane; 0: touches no memory
  bool addressed = false;  ///< whether there are addresses
  std::uint64_t addresses[exec::kWarpSize]{};
};

class AccelSimReader {
public:
  /// Reads the header. Errors: no such file, a compressed file, not a trace.
  static Expected<AccelSimReader> open(const std::filesystem::path& path);
  [[nodiscard]] const AccelSimHeader& header() const { return header_; }

  enum class Item : std::uint8_t { instruction, end_of_cta, end };
  /// Reads the next item; instruction() returns it. Errors, with line numbers: an invalid line, a truncated file.
  Expected<Item> next();
  [[nodiscard]] const AccelSimInstruction& instruction() const { return instruction_; }

private:
  AccelSimReader(std::string name, std::ifstream in) : name_(std::move(name)), in_(std::move(in)) {}
  Expected<void> read_header();
  bool header_line(std::string_view line);
  [[nodiscard]] Diagnostics wrong(std::string what) const;
  /// What comes is no instruction of the warp. Error: it has fewer or more than were announced.
  Expected<void> end_warp();
  /// False: there is no further line. A line without end comes in pieces.
  bool next_line();
  bool parse_instruction();
  bool parse_addresses(std::vector<std::string_view>::const_iterator word);

  std::string name_;
  std::ifstream in_;
  std::uint32_t line_number_ = 0;
  std::string line_;
  bool pending_ = false;                   ///< line_ has been read, not used
  bool grouped_ = false;                   ///< inside #BEGIN_TB
  std::optional<std::uint64_t> announced_; ///< instructions of the warp, of those that were not there yet
  std::unordered_set<std::uint64_t> seen_; ///< CTAs that have begun, where they are grouped
  AccelSimHeader header_;
  AccelSimInstruction instruction_;
  std::vector<std::string_view> words_;
};

} // namespace warplens::analyzers::trace
