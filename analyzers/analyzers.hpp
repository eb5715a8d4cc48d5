// SPDX-License-Identifier: Apache-2.0
// All analyzers together, as `warplens run` and the API pass them to the emulator.
//
//   Analysis analysis(module, function, shape, {.named = {"caches"}, .board = board});
//   launch(…, &analysis);                 // the Analysis is an exec::Watcher
//   Profile profile = analysis.profile(rules_of_the_device);
//   std::vector<Finding> findings = find_problems(profile, rules_of_the_device);
#pragma once

#include "analyzers/analyzer.hpp"
#include "analyzers/board.hpp"
#include "analyzers/counted_rules.hpp"
#include "emulator/base/diagnostic.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace warplens::analyzers {

/// Every analyzer, in the order of the report: for `warplens list analyzers`.
std::span<const AnalyzerInfo* const> analyzers();

/// What to analyse in addition to the contents of every report.
struct AnalysisOptions {
  rules::RuleSet rules{};             ///< counted in addition, as rule.NAME.…
  std::vector<DeviceRules> devices{}; ///< devices for which profile() is called; none: the usual rules
  std::vector<std::string> named{};   ///< analyzers to run on request; "all" for all of them
  Board board{};                      ///< properties of the GPU for the analyzers that need them
  bool per_block = false;             ///< fills Profile::blocks; takes several times as long as the emulation
};

/// Errors: unknown names; the hint suggests a similar name.
Diagnostics check_names(const std::vector<std::string>& named);

/// Watches one launch with every analyzer of small cost, and with those that the options request. `module` and
/// `function` must outlive it.
class Analysis final : public exec::Watcher, private exec::SampledWatcher {
public:
  Analysis(const ir::Module& module, const ir::Function& function, const exec::LaunchShape& shape,
           AnalysisOptions options = {});
  ~Analysis() override;

  std::unique_ptr<exec::Shard> make_shard() override;
  void longest_warps(const exec::LongestWarps& longest) override;
  exec::SampledWatcher* sampled() override { return this; }
  void finish(std::vector<std::unique_ptr<exec::Shard>> shards,
              const std::vector<exec::InstructionCount>& counts) override;

  /// The results, after finish(), for a device with these rules, which must be among the devices of the options. They
  /// do not depend on the number of shards.
  [[nodiscard]] Profile profile(const DeviceRules& device = DeviceRules::usual()) const;

  struct Parts;

private:
  [[nodiscard]] bool needs(std::uint64_t cta) const override;
  [[nodiscard]] double error_of(const exec::Sample& sample) override;
  void finish_sample(const exec::Sample& sample) override;
  [[nodiscard]] std::unique_ptr<Parts> estimate(const exec::Sample& sample, std::size_t left_out) const;
  [[nodiscard]] Metrics metrics_of(const Parts& parts, const DeviceRules& device,
                                   std::vector<InstructionRow>& rows) const;
  [[nodiscard]] std::vector<MetricError> errors(const Metrics& metrics, const DeviceRules& device) const;

  const ir::Module& module_;
  const ir::Function& function_;
  exec::LaunchShape shape_;
  std::unique_ptr<Parts> parts_;
  std::optional<exec::LongestWarps> longest_;
  // Of a sampled launch:
  std::optional<SampleReport> sample_;
  double fraction_ = 1;
  std::vector<std::unique_ptr<Parts>> without_; ///< each group of drawn blocks
};

} // namespace warplens::analyzers
