// All analyzers together: what `warplens run` and the API hand to the emulator.
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
#include <vector>

namespace warplens::analyzers {

/// Every analyzer, in the order of the report: for `warplens list analyzers`.
std::span<const AnalyzerInfo* const> analyzers();

/// What a launch is watched for besides what every report has.
struct AnalysisOptions {
  rules::RuleSet rules{};             ///< counted in addition, as rule.NAME.…
  std::vector<DeviceRules> devices{}; ///< whose profiles will be asked for; none: the usual rules
  std::vector<std::string> named{};   ///< analyzers that cost more than most; "all" for all of them
  Board board{};                      ///< what the named ones need to know of the GPU
  bool per_block = false;             ///< fills Profile::blocks; costs several times what the emulation does
};

/// Errors: names that no analyzer has; the hint says what may have been meant.
Diagnostics check_names(const std::vector<std::string>& named);

/// Watches one launch with every analyzer of small cost, and what the options ask for. `module` and `function` must
/// outlive it.
class Analysis final : public exec::Watcher {
public:
  Analysis(const ir::Module& module, const ir::Function& function, const exec::LaunchShape& shape,
           AnalysisOptions options = {});
  ~Analysis() override;

  std::unique_ptr<exec::Shard> make_shard() override;
  void finish(std::vector<std::unique_ptr<exec::Shard>> shards,
              const std::vector<exec::InstructionCount>& counts) override;

  /// What was found, after finish(), on a device of these rules, one of those in the options; the same for any number
  /// of shards.
  [[nodiscard]] Profile profile(const DeviceRules& device = DeviceRules::usual()) const;

  struct Parts;

private:
  const ir::Module& module_;
  const ir::Function& function_;
  std::uint32_t warps_; ///< of a block
  std::unique_ptr<Parts> parts_;
};

} // namespace warplens::analyzers
