// SPDX-License-Identifier: Apache-2.0
// warplens occupancy: how many blocks and warps fit on a multiprocessor.
#include "api/launch/launch.hpp"
#include "api/report/table.hpp"
#include "tools/command_line.hpp"
#include "tools/launch_options.hpp"
#include "tools/output.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>

namespace warplens::tools {

namespace {

namespace po = boost::program_options;

constexpr std::string_view kOccupancyHelp =
    R"(usage: warplens occupancy --device D | --cc X.Y  --block N [--regs R] [--smem S]

Shows how many blocks and warps of a launch are resident on one multiprocessor, and which resource limits them.

)";
constexpr std::string_view kOccupancyExamples = R"(
Examples:
  warplens occupancy --device c1060 --block 256 --regs 17
  warplens occupancy --cc 1.3 --block 16,16 --regs 10 --smem 4096
)";

model::OccupancyQuery query_of(const po::variables_map& values, std::string& device_name) {
  if ((values.count("device") != 0) == (values.count("cc") != 0))
    throw UsageError{"expected either --device or --cc", "warplens occupancy --help shows examples"};
  if (values.count("block") == 0) throw UsageError{"--block is missing", "--block 256"};
  const auto fail = [](const Diagnostics& errors) {
    throw UsageError{errors.list().front().message, errors.list().front().hint};
  };
  model::OccupancyQuery query;
  if (values.count("device") != 0) {
    const Expected<model::Device> device = api::load_device(values["device"].as<std::string>());
    if (!device) fail(device.error());
    query.capability = device->capability;
    device_name = device->name;
  } else {
    const Expected<model::ComputeCapability> capability =
        model::parse_compute_capability(values["cc"].as<std::string>());
    if (!capability) fail(capability.error());
    query.capability = *capability;
  }
  query.threads = 1;
  for (const std::uint64_t extent : parse_extents(values["block"].as<std::string>(), "--block"))
    if (__builtin_mul_overflow(query.threads, extent, &query.threads)) throw UsageError{"the block is too large", ""};
  query.registers = values["regs"].as<std::int64_t>();
  query.shared_bytes = values["smem"].as<std::int64_t>();
  return query;
}

std::string text(const model::OccupancyQuery& query, const model::OccupancyLimits& limits, const model::Occupancy& o,
                 const std::string& device, const Style& style) {
  const std::int64_t needed = (query.threads + model::kWarpSize - 1) / model::kWarpSize;
  const auto bound = [&](model::OccupancyLimiter l) {
    return std::find(o.bound_by.begin(), o.bound_by.end(), l) != o.bound_by.end() ? "<- limit" : "";
  };
  using enum model::OccupancyLimiter;
  api::Table t({{"resource"},
                {"per block", api::Table::right},
                {"per multiprocessor", api::Table::right},
                {"blocks that fit", api::Table::right},
                {""}});
  t.row({"warps of 32 threads", fmt::format("{}", needed), fmt::format("{}", limits.warps),
         fmt::format("{}", o.limit_warps), bound(warps)});
  t.row({"block slots", "1", fmt::format("{}", limits.blocks), fmt::format("{}", o.limit_blocks), bound(blocks)});
  t.row({"registers", query.registers == 0 ? "not given" : fmt::format("{} per thread", query.registers),
         fmt::format("{}", limits.registers), fmt::format("{}", o.limit_registers), bound(registers)});
  t.row({"shared memory, bytes", fmt::format("{}", query.shared_bytes), fmt::format("{}", limits.shared_bytes),
         fmt::format("{}", o.limit_shared), bound(shared)});
  return fmt::format("{}{}compute capability {}{}: block of {} threads\n\n{}\n"
                     "{}occupancy {:.4g} %{}: {} block{} and {} of {} warps resident on a multiprocessor\n",
                     device, device.empty() ? "" : ", ", to_string(query.capability), "", query.threads,
                     t.text(style.dim, style.reset), style.bold, 100 * o.ratio, style.reset, o.blocks,
                     o.blocks == 1 ? "" : "s", o.warps, limits.warps);
}

} // namespace

int occupancy(const std::vector<std::string>& arguments) {
  po::options_description options("Options");
  auto add = options.add_options();
  add_device_option(options, "the device");
  add("cc", po::value<std::string>()->value_name("X.Y"), "a compute capability instead of a device");
  add("block", po::value<std::string>()->value_name("X[,Y[,Z]]"), "block size in threads");
  add("regs", po::value<std::int64_t>()->value_name("N")->default_value(0),
      "registers per thread; 0: registers are no limit");
  add("smem", po::value<std::int64_t>()->value_name("N")->default_value(0),
      "static and dynamic shared memory per block, in bytes; on 1.x, add the arguments and 16 bytes");
  add("help,h", "show this help");
  po::variables_map values;
  po::store(parse_options(po::command_line_parser(arguments).options(options).positional({}), options), values);
  po::notify(values);
  if (values.count("help") != 0) return show_help(kOccupancyHelp, options, kOccupancyExamples);
  std::string device;
  const model::OccupancyQuery query = query_of(values, device);
  const model::OccupancyLimits limits = value_or_throw(model::find_occupancy_limits(query.capability));
  write(text(query, limits, value_or_throw(model::occupancy(query)), device, style_for(STDOUT_FILENO)));
  return kFine;
}

} // namespace warplens::tools
