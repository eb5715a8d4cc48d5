// SPDX-License-Identifier: Apache-2.0
#include "tools/launch_options.hpp"

#include "api/launch/compiled.hpp"
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
  const auto level = api::parse_first_level(values["l1"].as<std::string>());
  if (!level) throw UsageError{"--" + level.error().list().front().message, ""};
  return *level;
}

exec::BlockSampling sampling(const po::variables_map& values) {
  if (values.count("sample") == 0) return {};
  const auto result = api::parse_sampling(values["sample"].as<std::string>());
  if (!result) throw UsageError{"--" + result.error().list().front().message, ""};
  if (result->how != exec::BlockSampling::How::exact && values.count("per-block") != 0)
    throw UsageError{"--sample cannot be combined with --per-block, which counts each block", ""};
  return *result;
}

} // namespace

void set_compile_mode(const std::string& word) {
  if (!api::set_compile_mode(word))
    throw UsageError{fmt::format("--compile {}: expected off, auto or always", word), ""};
}

void add_analysis_options(po::options_description& options) {
  auto add = options.add_options();
  add("rule", po::value<Strings>()->value_name("NAME|FILE"),
      "also count under this rule: a name from 'warplens list rules' or a rule file; may be repeated");
  add("analyzers", po::value<std::string>()->value_name("NAME[,NAME…]"),
      "run further analyzers, which takes longer: caches, reuse_distance, … or all; see 'warplens list analyzers'");
  add("l1", po::value<std::string>()->value_name("off|on|enlarged"),
      "whether global loads use the first-level cache; the default is the device's setting");
  add("per-block", "also report the memory and branch counters of each block; takes several times as long");
  add("registers", po::value<std::uint32_t>()->value_name("N"),
      "registers per thread, for the occupancy; the default is .maxnreg or an estimate");
}

void add_sample_option(po::options_description& options) {
  options.add_options()("sample", po::value<std::string>()->value_name("exact|auto|FRACTION"),
                        "the blocks whose accesses are counted: all, as many as the error demands, or this fraction; "
                        "the others also run, "
                        "and their counts are extrapolated; the default is exact");
}

void add_strict_async_option(po::options_description& options) {
  options.add_options()("strict-async",
                        "a kernel fails if it uses operands or results of an asynchronous copy or matrix "
                        "product too early; by default, these operations are complete at once");
}

void add_compile_option(po::options_description& options) {
  options.add_options()(
      "compile", po::value<std::string>()->value_name("off|auto|always"),
      "compile kernels to machine code: none, those that run long, or all; the default is WARPLENS_COMPILE, or auto");
  options.add_options()("explain-compiled", "show what --compile has compiled, and what it has not");
}

void add_device_option(po::options_description& options, std::string_view purpose, std::string_view otherwise) {
  const std::string text = fmt::format("{}: a name from 'warplens list devices' or a device file{}{}", purpose,
                                       otherwise.empty() ? "" : "; the default is the ", otherwise);
  options.add_options()("device", po::value<std::string>()->value_name("NAME|FILE"), text.c_str());
}

void add_max_steps_option(po::options_description& options) {
  options.add_options()("max-steps", po::value<std::uint64_t>()->value_name("N")->default_value(api::kDefaultMaxSteps),
                        "stop a launch after N warp instructions; 0: no limit");
}

void add_emulation_options(po::options_description& options) {
  auto add = options.add_options();
  add("no-analyze", "only run, as fast as possible");
  add_max_steps_option(options);
  add("threads", po::value<unsigned>()->value_name("N")->default_value(0),
      "number of emulator threads; 0: as many as the machine has");
  add_strict_async_option(options);
  add_compile_option(options);
  add("level", po::value<std::string>()->value_name("NAME"),
      "x86-64-v2, x86-64-v3 or x86-64-v4; the default is the best that this machine supports");
}

Expected<api::LaunchOptions> launch_options(const po::variables_map& values) {
  api::LaunchOptions options;
  options.analyze = values.count("no-analyze") == 0;
  for (const char* of_analysis : {"rule", "per-block", "analyzers", "sample"})
    if (!options.analyze && values.count(of_analysis) != 0)
      throw UsageError{fmt::format("--{} cannot be combined with --no-analyze", of_analysis), ""};
  Expected<rules::RuleSet> rules =
      api::load_rules(values.count("rule") != 0 ? values["rule"].as<Strings>() : Strings{});
  if (!rules) return failure(rules.error());
  options.rules = std::move(*rules);
  options.analyzers = analyzer_names(values);
  options.keep_accesses = values.count("html") != 0; // its pictures show them
  options.first_level = first_level(values);
  options.per_block = values.count("per-block") != 0;
  options.sampling = sampling(values);
  if (values.count("registers") != 0) options.registers = values["registers"].as<std::uint32_t>();
  if (values.count("threads") != 0) options.workers = values["threads"].as<unsigned>();
  if (options.workers > 1024) throw UsageError{"--threads: expected 0 to 1024", ""};
  if (values.count("max-steps") != 0) options.max_steps = values["max-steps"].as<std::uint64_t>();
  options.strict_async = values.count("strict-async") != 0;
  if (values.count("compile") != 0) set_compile_mode(values["compile"].as<std::string>());
  if (values.count("level") != 0) options.level = values["level"].as<std::string>();
  return options;
}

} // namespace warplens::tools
