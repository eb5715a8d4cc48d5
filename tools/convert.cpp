// SPDX-License-Identifier: Apache-2.0
// warplens convert: converts Accel-Sim traces to Warplens traces and back.
#include "api/trace/accelsim.hpp"
#include "tools/command_line.hpp"
#include "tools/limit_options.hpp"
#include "tools/output.hpp"
#include "tools/progress.hpp"
#include "tools/trace_options.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>

namespace warplens::tools {

namespace {

namespace po = boost::program_options;

constexpr std::string_view kConvertHelp = R"(usage: warplens convert kernelslist.g|kernel-N.traceg OUT.h5 [--device D]
       warplens convert TRACE.h5 FOLDER

Converts Accel-Sim traces, which are recorded on hardware, so that 'analyze' and 'inspect' can read them. Each machine
instruction becomes a PTX instruction that represents it. Also converts a Warplens trace to Accel-Sim's format, with one
file for each launch.

)";

constexpr std::string_view kConvertExamples = R"(
Examples:
  warplens convert traces/kernelslist.g t.h5 --device h200
  warplens analyze t.h5
  warplens convert t.h5 for_accelsim
Exit status: 0 success; 2 bad usage or input.
)";

po::options_description convert_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("device", po::value<std::string>()->value_name("NAME|FILE"),
      "the GPU on which the trace was recorded, for the analysis");
  add_limit_options(options);
  add("help,h", "show this help");
  return options;
}

int import(const std::string& from, const std::string& to, const std::string& device_name) {
  std::optional<model::Device> device;
  if (!device_name.empty()) device = value_or_throw(api::load_device(device_name));
  api::AccelSimImport import;
  std::unique_ptr<api::TraceWriter> writer;
  Progress progress;
  const std::vector<std::filesystem::path> files = value_or_throw(api::kernels_of(from));
  std::size_t done = 0;
  for (const std::filesystem::path& file : files) {
    progress.now(file.string(), done++, files.size());
    api::LaunchRequest request = value_or_throw(import.read(file, device));
    if (writer == nullptr) { // an invalid trace leaves no file behind
      std::error_code ignored;
      const bool is_file = std::filesystem::is_regular_file(device_name, ignored);
      writer = value_or_throw(
          api::TraceWriter::create(to, {}, is_file ? std::filesystem::path(device_name) : std::filesystem::path()));
    }
    request.options.recorder = writer.get();
    request.options.analyze = false;
    value_or_throw(api::launch(request));
  }
  value_or_throw(writer->close());
  print(import.warnings());
  return kFine;
}

} // namespace

int convert(const std::vector<std::string>& arguments) {
  const po::options_description visible = convert_options();
  const TraceCommand command = parse_trace_command(arguments, visible, 2, "warplens convert IN OUT");
  if (command.files.empty()) return show_help(kConvertHelp, visible, kConvertExamples);
  const LimitGuard guard(command.values);
  const std::string &from = command.files[0], &to = command.files[1];
  if (!from.ends_with(".h5"))
    return import(from, to, command.values.count("device") != 0 ? command.values["device"].as<std::string>() : "");
  if (command.values.count("device") != 0)
    throw UsageError{"--device is only for Accel-Sim traces: Warplens traces contain the device", ""};
  value_or_throw(api::write_accelsim(value_or_throw(api::Trace::open(from)), to));
  return kFine;
}

} // namespace warplens::tools
