#include "tools/analysis_options.hpp"

#include "tools/output.hpp"

#include <fmt/format.h>

#include <sstream>

namespace warplens::tools {

namespace {

namespace po = boost::program_options;
using Strings = std::vector<std::string>;

Strings analyzer_names(const po::variables_map& values) {
  Strings names;
  if (values.count("analyzers") == 0) return names;
  std::istringstream list(values["analyzers"].as<std::string>());
  for (std::string name; std::getline(list, name, ',');) names.push_back(name);
  if (names.empty()) throw UsageError{"--analyzers: expected names", ""};
  return names;
}

api::FirstLevel first_level(const po::variables_map& values) {
  if (values.count("l1") == 0) return api::FirstLevel::device;
  const std::string word = values["l1"].as<std::string>();
  if (word == "off") return api::FirstLevel::off;
  if (word == "on") return api::FirstLevel::on;
  if (word == "enlarged") return api::FirstLevel::enlarged;
  throw UsageError{fmt::format("--l1 {}: expected off, on or enlarged", word), ""};
}

} // namespace

void add_analysis_options(po::options_description& options) {
  auto add = options.add_options();
  add("rule", po::value<Strings>()->value_name("NAME|FILE"),
      "count under this rule too: see 'warplens list rules', or a rule file of your own; may be repeated");
  add("analyzers", po::value<std::string>()->value_name("NAME[,NAME…]"),
      "count more, which takes longer: caches, reuse_distance, … or all; see 'warplens list analyzers'");
  add("l1", po::value<std::string>()->value_name("off|on|enlarged"),
      "whether loads of global memory use the first-level cache; else as the device does");
  add("per-block", "counters of memory and branches of each block, too; takes several times as long");
}

Expected<AnalysisChoice> analysis_choice(const po::variables_map& values) {
  AnalysisChoice choice{{}, analyzer_names(values), first_level(values), values.count("per-block") != 0};
  Expected<rules::RuleSet> rules =
      api::load_rules(values.count("rule") != 0 ? values["rule"].as<Strings>() : Strings{});
  if (!rules) return failure(rules.error());
  choice.rules = std::move(*rules);
  return choice;
}

} // namespace warplens::tools
