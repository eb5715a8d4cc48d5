// SPDX-License-Identifier: Apache-2.0
// The options that say how launches run and what is counted, as api::LaunchOptions has them. Commands that run, replay
// or trace launches share them.
#pragma once

#include "api/launch/launch.hpp"

#include <boost/program_options.hpp>

namespace warplens::tools {

/// --rule, --analyzers, --l1, --per-block, --registers: what to count in addition to the standard report.
void add_analysis_options(boost::program_options::options_description& options);
void add_sample_option(boost::program_options::options_description& options);
void add_strict_async_option(boost::program_options::options_description& options);
void add_compile_option(boost::program_options::options_description& options);
void add_max_steps_option(boost::program_options::options_description& options);
/// --device. `purpose` says what the device is for, `otherwise` which one is the default.
void add_device_option(boost::program_options::options_description& options, std::string_view purpose,
                       std::string_view otherwise = {});
/// --no-analyze, --max-steps, --threads, --strict-async, --compile, --level: how to emulate.
void add_emulation_options(boost::program_options::options_description& options);

/// The mode that --compile names, for this process. Throws UsageError.
void set_compile_mode(const std::string& word);

/// Those of the options that the command has. Error: an invalid rule. Throws UsageError.
Expected<api::LaunchOptions> launch_options(const boost::program_options::variables_map& values);

} // namespace warplens::tools
