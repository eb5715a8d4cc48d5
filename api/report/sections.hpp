// SPDX-License-Identifier: Apache-2.0
// The sections of the text report that --details shows, in the order of Nsight Compute's.
//
//   Sections asked = *parse_sections({"memory", "source"});
//   asked.has(Section::memory)
#pragma once

#include "emulator/base/expected.hpp"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace warplens::api {

enum class Section : std::uint8_t {
  speed_of_light,
  memory,
  warp_state,
  instructions,
  launch,
  occupancy,
  workload,
  source,
  findings
};

struct SectionInfo {
  Section section{};
  std::string_view name;  ///< on the command line
  std::string_view shows; ///< for --help and the documentation
};
constexpr SectionInfo kSections[] = {
    {Section::speed_of_light, "speed-of-light", "the predictions of all models, and what each says limits the launch"},
    {Section::memory, "memory", "requests and transactions of each memory; caches, reuse and partitions"},
    {Section::warp_state, "warp-state", "loads in flight and barriers"},
    {Section::instructions, "instructions", "executed instructions by class, and active lanes"},
    {Section::launch, "launch", "grid, block, registers and memory of the launch"},
    {Section::occupancy, "occupancy", "resident warps and what limits them"},
    {Section::workload, "workload", "counters per block (with --per-block)"},
    {Section::source, "source", "branches, and the instructions with the highest cost"},
    {Section::findings, "findings", "all findings with advice"}};
constexpr std::string_view kAllSections = "all";

/// A set of sections.
class Sections {
public:
  Sections() = default;
  static Sections all() {
    Sections s;
    for (const SectionInfo& info : kSections) s.add(info.section);
    return s;
  }
  void add(Section s) { bits_ |= 1u << static_cast<unsigned>(s); }
  [[nodiscard]] bool has(Section s) const { return (bits_ >> static_cast<unsigned>(s) & 1u) != 0; }
  [[nodiscard]] bool empty() const { return bits_ == 0; }
  /// "memory,source"; parse_sections() reads it again.
  [[nodiscard]] std::string text() const;

private:
  unsigned bits_ = 0;
};

/// Each text has one or more names, separated by commas. Error: an unknown name; the hint suggests one.
Expected<Sections> parse_sections(std::span<const std::string> texts);

} // namespace warplens::api
