// What is to be counted besides what every report has: --rule, --analyzers, --l1, --per-block. The same for a run and
// for a trace.
#pragma once

#include "api/launch/launch.hpp"

#include <boost/program_options.hpp>

namespace warplens::tools {

void add_analysis_options(boost::program_options::options_description& options);

struct AnalysisChoice {
  rules::RuleSet rules;
  std::vector<std::string> analyzers;
  api::FirstLevel first_level = api::FirstLevel::device;
  bool per_block = false;
};

/// Error: a rule that cannot be read. Throws UsageError.
Expected<AnalysisChoice> analysis_choice(const boost::program_options::variables_map& values);

} // namespace warplens::tools
