// SPDX-License-Identifier: Apache-2.0
#include "tools/trace_options.hpp"

#include "api/session/environment.hpp"
#include "api/trace/trace.hpp"
#include "tools/command_line.hpp"
#include "tools/output.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <optional>

namespace warplens::tools {

namespace {

namespace po = boost::program_options;
namespace environment = api::environment;

bool read(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

} // namespace

void add_trace_options(po::options_description& options) {
  auto add = options.add_options();
  add("trace", po::value<std::string>()->value_name("FILE.h5"),
      "record every access, branch and barrier of every warp in a file for 'warplens analyze' and 'warplens inspect'");
  add("trace-kernel", po::value<std::string>()->value_name("NAME"), "only launches of this kernel");
  add("trace-blocks", po::value<std::string>()->value_name("FIRST[-LAST]"),
      "only these blocks, by linear index (x varies fastest)");
  add("trace-every", po::value<std::uint64_t>()->value_name("N"), "only one block in N");
  add("trace-lines", po::value<std::string>()->value_name("L[,L-L…]"), "only these lines of the PTX");
}

TraceCommand parse_trace_command(const std::vector<std::string>& arguments, const po::options_description& visible,
                                 std::size_t files, std::string_view usage) {
  CommandLine line = parse_command_line(arguments, visible);
  TraceCommand command{std::move(line.values), {}};
  if (command.values.count("help") != 0) return command;
  command.files = std::move(line.inputs);
  if (command.files.size() != files)
    throw UsageError{fmt::format("expected {}, got {}", files == 1 ? "one trace" : "two files", command.files.size()),
                     std::string(usage)};
  return command;
}

std::pair<std::uint64_t, std::uint64_t> parse_range(const std::string& text, std::string_view option) {
  const std::size_t dash = text.find('-');
  std::uint64_t first = 0, last = ~std::uint64_t{0};
  const bool open = dash != text.npos && dash + 1 == text.size();
  bool fine = read(std::string_view(text).substr(0, dash), first);
  if (dash == text.npos)
    last = first;
  else if (!open)
    fine = fine && read(std::string_view(text).substr(dash + 1), last);
  if (!fine || last < first)
    throw UsageError{fmt::format("{}: expected a number or a range such as 0-15, got '{}'", option, text), ""};
  return {first, last};
}

std::vector<std::uint32_t> parse_lines(const std::string& text, std::string_view option) {
  constexpr std::uint64_t kMost = 10'000'000;
  std::vector<std::uint32_t> lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const auto [first, last] = parse_range(text.substr(at, comma - at), option);
    if (last > kMost || last - first + lines.size() > kMost)
      throw UsageError{fmt::format("{}: too many lines", option), ""};
    for (std::uint64_t line = first; line <= last; ++line) lines.push_back(static_cast<std::uint32_t>(line));
    at = comma + 1;
  }
  return lines;
}

namespace {

/// Empty without --trace.
std::optional<api::TraceFilter> trace_filter(const po::variables_map& values) {
  if (values.count("trace") == 0) {
    po::options_description options;
    add_trace_options(options);
    refuse_without(values, options, "--trace FILE.h5", "");
    return std::nullopt;
  }
  api::TraceFilter filter;
  if (values.count("trace-kernel") != 0) filter.kernel = values["trace-kernel"].as<std::string>();
  if (values.count("trace-blocks") != 0)
    std::tie(filter.first_block, filter.last_block) =
        parse_range(values["trace-blocks"].as<std::string>(), "--trace-blocks");
  if (values.count("trace-every") != 0) filter.every = values["trace-every"].as<std::uint64_t>();
  if (filter.every == 0) throw UsageError{"--trace-every: expected 1 or more", ""};
  if (values.count("trace-lines") != 0)
    filter.lines = parse_lines(values["trace-lines"].as<std::string>(), "--trace-lines");
  return filter;
}

} // namespace

void pass_trace_options(const po::variables_map& values) {
  const std::optional<api::TraceFilter> filter = trace_filter(values);
  if (!filter) return;
  const auto& file = values["trace"].as<std::string>();
  if (file == "-") throw UsageError{"--trace: expected a file, got '-'", ""};
  check_writable(file);
  setenv(environment::kTrace, std::filesystem::absolute(file).c_str(), 1);
  setenv(environment::kTraceFilter, api::filter_text(*filter).c_str(), 1);
}

std::unique_ptr<api::LaunchRecorder> trace_writer(const po::variables_map& values, const std::string& device,
                                                  exec::Ranks* ranks) {
  std::optional<api::TraceFilter> filter = trace_filter(values);
  if (!filter) return nullptr;
  std::error_code ignored;
  const bool device_is_file = std::filesystem::is_regular_file(device, ignored);
  Expected<std::unique_ptr<api::TraceWriter>> writer =
      api::TraceWriter::create(values["trace"].as<std::string>(), std::move(*filter),
                               device_is_file ? std::filesystem::path(device) : std::filesystem::path(), ranks);
  if (!writer) throw UsageError{writer.error().list().front().message, writer.error().list().front().hint};
  return std::move(*writer);
}

} // namespace warplens::tools
