// SPDX-License-Identifier: Apache-2.0
// Replaces the trace commands and options in builds without traces (-DWARPLENS_TRACES=OFF).
#include "tools/output.hpp"
#include "tools/trace_options.hpp"

#include <fmt/format.h>

namespace warplens::tools {

namespace {
[[noreturn]] int no_traces(std::string_view command) {
  throw UsageError{fmt::format("this build of warplens has no command '{}'", command),
                   "it was built without traces: configure with -DWARPLENS_TRACES=ON"};
}
} // namespace

int analyze(const std::vector<std::string>&) { no_traces("analyze"); }
int inspect(const std::vector<std::string>&) { no_traces("inspect"); }
int convert(const std::vector<std::string>&) { no_traces("convert"); }

void add_trace_options(boost::program_options::options_description&) {}
void pass_trace_options(const boost::program_options::variables_map&) {}
std::unique_ptr<api::LaunchRecorder> trace_writer(const boost::program_options::variables_map&, const std::string&,
                                                  exec::Ranks*) {
  return nullptr;
}

} // namespace warplens::tools
