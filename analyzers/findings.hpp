// SPDX-License-Identifier: Apache-2.0
// Findings for the author of a kernel, from its profile: which line wastes what, why, and how to improve it.
//
//   UncoalescedGlobalAccess, warning, transpose.cu:34: "4-byte stores touch 32 sectors per request (ideal 4):
//   neighbouring threads are 2048 bytes apart"; excess 229376 sectors
//
// Findings use the units of the device's rules: on a Tesla C1060, the same store "moves 1024 bytes per request (ideal
// 128)".
#pragma once

#include "analyzers/counted_rules.hpp"
#include "analyzers/profile.hpp"
#include "emulator/base/diagnostic.hpp"
#include "emulator/ir/module.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::analyzers {

/// What a remedy changes in the counts of a launch. Everything else remains as it was counted.
struct Changes {
  /// Of an instruction's requests to global memory, and of the transactions of each, those that remain: 0 to 1. Below
  /// 1, `remaining` is the share that a perfect access needs. Of an atomic of shared memory, `requests` are its lanes.
  struct Access {
    std::uint32_t instruction = 0;
    double remaining = 1;
    double requests = 1;
    double wider = 1;         ///< bytes and transactions of each request that remains
    bool from_shared = false; ///< a load whose words come from shared memory instead
  };
  std::vector<Access> accesses;
  /// More of them, which the findings of many instructions have in common. Null: none.
  std::shared_ptr<const std::vector<Access>> common;
  double bank_passes = 0;     ///< passes over the banks of shared memory that are saved; below 0: added
  double constant_passes = 0; ///< passes over constant memory that are saved
  double instructions = 0;    ///< warp instructions that are saved, likewise
  double barriers = 0;        ///< warps that no longer wait at a barrier, likewise
  double doubles = 0;         ///< warp instructions that compute in single instead of double precision
  double conversions = 0;     ///< warp instructions that no longer convert from or to a 64-bit type
  double missed = 0;          ///< sectors of loads that hit the first-level cache instead
  double threads = 1;         ///< share of the threads that remain, each doing the work of several
  bool local = false;         ///< no instruction accesses local memory any more
  [[nodiscard]] bool any() const {
    return !accesses.empty() || common || bank_passes != 0 || constant_passes != 0 || instructions != 0 ||
           barriers != 0 || doubles != 0 || conversions != 0 || missed != 0 || threads != 1 || local;
  }
  [[nodiscard]] bool are_common() const; ///< nothing else changes
  void add(const Changes& other);
  /// The accesses of both.
  template <class F> void for_each_access(F&& f) const {
    for (const Access& access : accesses) f(access);
    if (common)
      for (const Access& access : *common) f(access);
  }
};

struct Finding {
  std::string_view rule; ///< one of names::… in analyzers/finding_kinds.hpp
  /// Warning if at least half is wasted, unless the remedy is predicted to save less than `kWorthwhile`; otherwise
  /// note.
  Severity severity = Severity::warning;
  std::string message;
  std::string advice;
  std::vector<std::uint32_t> lines; ///< in the PTX text, ascending; empty: the whole launch
  std::string source_file;          ///< of the CUDA source; empty when unknown
  std::uint32_t source_line = 0;
  std::vector<Metric> values;  ///< the evidence: inputs of the finding, summed over the lines
  double excess = 0;           ///< what a perfect access would save, over all lines
  std::string_view unit;       ///< of the excess: sectors, transactions, bytes, passes, branches, lane slots
  std::string remedy;          ///< one imperative sentence, chosen from the evidence; `advice` lists what else may help
  Changes changes;             ///< of the counts of the launch, if the remedy is applied
  bool only_if_faster = false; ///< no finding if the model to trust predicts that the remedy saves nothing
  std::optional<double> speedup; ///< of the launch, then: predicted by the model to trust, at least 1. Set by
                                 ///< api/launch/, because analyzers know no models
  std::string page;              ///< of docs/, with its anchor: "findings.md#blocksize"
};

/// The remedy is predicted to save less than `kWorthwhile`. Such a finding is a note, comes after the others, and no
/// report tells its speedup.
bool saves_little(const Finding& finding);

/// The kernel, for findings and remedies that follow from its instructions; null: not known.
struct Code {
  const ir::Module* module = nullptr;
  const ir::Function* function = nullptr;
};

/// Ordered by rule, within a rule by excess, largest first. `rules`: the device's rules, under which the profile was
/// made. PTX lines of one line of CUDA source with the same message share a finding.
std::vector<Finding> find_problems(const Profile& profile, const DeviceRules& rules, const Code& code = {});

} // namespace warplens::analyzers
