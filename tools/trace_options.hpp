// SPDX-License-Identifier: Apache-2.0
// --trace FILE.h5, and the options that restrict what the trace records.
#pragma once

#include "api/launch/launch.hpp"

#include <boost/program_options.hpp>

namespace warplens::tools {

void add_trace_options(boost::program_options::options_description& options);

/// For the libraries of `warplens exec`, which write the trace. UsageError: wrong options, or the file cannot be
/// written.
void pass_trace_options(const boost::program_options::variables_map& values);

/// Null without --trace. `device`: as the user named it, perhaps a file. `ranks`: those of the launches, or null.
std::unique_ptr<api::LaunchRecorder> trace_writer(const boost::program_options::variables_map& values,
                                                  const std::string& device, exec::Ranks* ranks);

/// The arguments of a command that takes a fixed number of files. Throws UsageError and what Boost throws.
struct TraceCommand {
  boost::program_options::variables_map values;
  std::vector<std::string> files; ///< empty with --help
};
TraceCommand parse_trace_command(const std::vector<std::string>& arguments,
                                 const boost::program_options::options_description& visible, std::size_t files,
                                 std::string_view usage);

/// "0-15", "7", "100-": first and last. `option` is for the message.
std::pair<std::uint64_t, std::uint64_t> parse_range(const std::string& text, std::string_view option);
/// "12,15,20-23".
std::vector<std::uint32_t> parse_lines(const std::string& text, std::string_view option);

} // namespace warplens::tools
