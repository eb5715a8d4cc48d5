// SPDX-License-Identifier: Apache-2.0
// warplens demo: analyses a sample that is compiled in.
#include "tools/demo.hpp"

#include "api/files/npy.hpp"
#include "api/plan/launch_file.hpp"
#include "api/report/report_text.hpp"
#include "tools/command_line.hpp"
#include "tools/embedded.hpp"
#include "tools/launch_options.hpp"
#include "tools/output.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include <unistd.h>

#include <cstring>
#include <filesystem>

namespace warplens::tools {

namespace {

namespace fs = std::filesystem;
namespace po = boost::program_options;

constexpr std::string_view kSample = "samples/vector_add/";
constexpr std::string_view kResult = "c"; // a[i] = i, b[i] = 2 i: c[i] = 3 i

constexpr std::string_view kDemoHelp = R"(usage: warplens demo [--device NAME|FILE] [--save FOLDER]

Emulates a sample kernel that is built in, c[i] = a[i] + b[i], and shows the report.

)";
constexpr std::string_view kDemoExamples = R"(
Examples:
  warplens demo
  warplens demo --device h200
  warplens demo --save vector_add      then change the files, and: warplens run vector_add
)";

std::string_view sample_text(std::string_view file) { return embedded_text(fmt::format("{}{}", kSample, file)); }

const api::Buffer& result_of(const api::PlanReport& report) {
  for (std::size_t i = 0; i < report.buffers.size(); ++i)
    if (report.buffers[i].name == kResult) return *report.contents[i];
  throw std::logic_error("the sample has no result");
}

/// Writes the sample as a folder for `warplens run`.
void save(const fs::path& folder, const api::PlanReport& report) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw UsageError{fmt::format("--save: cannot create '{}': {}", folder.string(), error.message()), ""};
  if (const fs::path launch = folder / "launch.toml"; fs::exists(launch))
    throw UsageError{fmt::format("--save: '{}' exists", launch.string()), "choose another folder"};
  for (const char* file : {"vector_add.cu", "vector_add.ptx", "launch.toml"})
    write_file((folder / file).string(), sample_text(file));
  write_file((folder / "c.npy").string(), api::encode_npy(api::Type::f32, result_of(report).bytes()));
}

std::string next_steps(const std::string& saved) {
  const std::string_view sample = saved.empty() ? "warplens demo --save vector_add" : "warplens run ";
  return fmt::format(
      "\nNext steps:\n"
      "  {:<57}  {}{}\n"
      "  {:<57}  warplens explain UncoalescedGlobalAccess\n"
      "  {:<57}  warplens run FILE.cu --kernel NAME --grid 40 --block 256 --arg …\n",
      saved.empty() ? "get the files of this sample, to change them and run it:" : "run the saved files:", sample,
      saved, "look up a name in a report:", "run your own kernel (warplens run --help):");
}

} // namespace

Expected<api::PlanReport> run_sample(const std::string& device) {
  Expected<api::Plan> plan = api::parse_launch_file(sample_text("launch.toml"), "launch.toml", {});
  if (!plan) return failure(plan.error());
  for (api::BufferPlan& buffer : plan->buffers) buffer.expect.reset(); // the file is not there
  if (!device.empty()) plan->device = device;
  api::PlanOptions options;
  options.read_module = [](const fs::path& file) -> Expected<std::vector<api::Source>> {
    return std::vector<api::Source>{{std::string(sample_text(file.string())), file.string()}};
  };
  return api::run_plan(*plan, options);
}

bool sample_is_right(const api::PlanReport& report) {
  if (report.trapped()) return false;
  const auto bytes = result_of(report).bytes();
  for (std::size_t i = 0; i * sizeof(float) < bytes.size(); ++i) {
    float value = 0;
    std::memcpy(&value, &bytes[i * sizeof value], sizeof value);
    if (value != 3 * static_cast<float>(i)) return false;
  }
  return !bytes.empty();
}

int demo(const std::vector<std::string>& arguments) {
  po::options_description visible("Options");
  auto add = visible.add_options();
  add_device_option(visible, "the GPU to emulate", "Tesla C1060");
  add("save", po::value<std::string>()->value_name("FOLDER"),
      "also write the files of the sample into this folder, for 'warplens run'");
  add("help,h", "show this help");
  const CommandLine line = parse_command_line(arguments, visible);
  if (line.values.count("help") != 0) return show_help(kDemoHelp, visible, kDemoExamples);
  if (!line.inputs.empty())
    throw UsageError{fmt::format("unexpected argument '{}'", line.inputs.front()), "the sample is built in"};
  const std::string device = line.values.count("device") != 0 ? line.values["device"].as<std::string>() : "";
  const std::string folder = line.values.count("save") != 0 ? line.values["save"].as<std::string>() : "";
  const api::PlanReport report = value_or_throw(run_sample(device));
  if (report.trapped()) {
    print(*report.launches.back().trap);
    return kFound;
  }
  const Style style = style_for(STDOUT_FILENO);
  api::TextOptions text = api::text_options_for(STDOUT_FILENO);
  text.sources["vector_add.cu"] = sample_text("vector_add.cu");
  const bool right = sample_is_right(report);
  if (!folder.empty() && right) save(folder, report);
  write(value_or_throw(text_report(report.launches, style, text)));
  write(fmt::format("\n{}{}{}: {}\n", right ? style.green : style.red, kResult, style.reset,
                    right ? "as expected, 3 i" : "not as expected"));
  if (right) write(next_steps(folder));
  return right ? kFine : kFound;
}

} // namespace warplens::tools
