// SPDX-License-Identifier: Apache-2.0
// A sweep: one launch under many configurations. A configuration is a list of settings, each as the user wrote it.
// Configurations that differ only in the GPU share one emulation.
//
//   Settings a{{"launch", "samples/transpose/launch.toml"}, {"block", "16x16"}, {"device", "gtx480"}};
//   Settings b{{"launch", "samples/transpose/launch.toml"}, {"block", "16x16"}, {"device", "c1060"}};
//   std::vector<SweepRow> rows = run_configurations({{a, b}}, {});
//   rows[0].number("milliseconds"), rows[0].bound, rows[1].failure …
#pragma once

#include "api/plan/plan.hpp"

namespace warplens::api {

/// Name and value, in the order of the columns. Names:
///   launch    the launch file; required
///   index     number of the launch in the file, from 0; default: the last. Earlier launches run too, for their results
///   kernel    another kernel of the module
///   block     "64", "16x16", "8x8x4"
///   grid      blocks; or "fixed": those of the file. Default: as many as the threads of the grid need
///   total     threads of the grid; default: those of the file
///   shared    dynamic bytes per block
///   registers per thread
///   device    name or file
///   rule      for global or shared memory, in place of the device's: a name or file
///   l1        off, on, enlarged
/// and any path of an override (see launch_file.hpp), such as "buffer.x.count" or "arg.0.s32".
using Settings = std::vector<std::pair<std::string, std::string>>;

/// The value of a setting; null: not set.
const std::string* setting(const Settings& settings, std::string_view name);
/// "block 16x16, device gtx480"
std::string text_of(const Settings& settings);

/// A kernel of a program, in a sweep of programs.
struct SweepKernel {
  std::string name;
  std::size_t launches = 0;
  double milliseconds = 0; ///< predicted for all of them
  std::string bound;       ///< of the first launch
};

struct SweepRow {
  Settings settings;
  std::string failure; ///< why there is no result: refused, or trapped. Empty: everything below is set
  std::string kernel, device, device_id;
  Extent grid{}, block{};
  std::string model, bound, mwp_bound;        ///< of the prediction that ranks the row
  std::string occupancy_bound;                ///< "registers", or several: "warps, blocks"
  std::vector<analyzers::NamedValue> metrics; ///< milliseconds, occupancy, transactions, …, MODEL.milliseconds for each
                                              ///< model, then the metrics of the launch
  model::KernelStatistics statistics; ///< the input of the models
  /// Of a program, by name: then `kernel` and `bound` are those of the kernel that takes the most time, the
  /// milliseconds those of all launches, and there are no statistics.
  std::vector<SweepKernel> kernels{};

  /// A metric by name; empty: the row does not have it.
  [[nodiscard]] std::optional<double> number(std::string_view name) const;
};

struct SweepOptions {
  std::string model;    ///< that ranks the rows; empty: see ranking_prediction()
  LaunchOptions launch; ///< of every configuration; its settings replace rules, registers and first level
  /// As in PlanOptions, for the device of the configuration.
  std::function<Expected<std::vector<Source>>(const std::filesystem::path&, model::ComputeCapability)> read_module;
};

/// The plan of a configuration and the number of its selected launch. Errors: those of read_launch_file(); an invalid
/// setting.
struct SweepPlan {
  Plan plan;
  std::size_t launch = 0;
};
Expected<SweepPlan> sweep_plan(const Settings& settings);

/// "16x16" as an extent. Errors: not one to three whole numbers.
Expected<Extent> parse_shape(std::string_view text);

/// Whether a setting says how an emulation is evaluated, not what runs: device, rule, first-level cache, registers.
bool is_of_target(std::string_view name);
/// Whether the emulation may depend on the device: a module is not plain PTX, or reads %smid, %nsmid or %nwarpid.
bool device_matters(const Plan& plan);

/// Groups of configurations (as indices) that share an emulation: those that differ only in device, rule, first-level
/// cache and registers. Exceptions: the module may depend on the device, or reads %smid, %nsmid or %nwarpid.
std::vector<std::vector<std::size_t>> share_emulations(std::span<const Settings> all);

/// The default number of processes of a sweep: the number of processors that this process may use.
unsigned default_jobs();

/// Runs configurations that form one group of share_emulations(). Returns a row for each, in their order. Never fails:
/// errors are in the rows.
std::vector<SweepRow> run_configurations(std::span<const Settings> configurations, const SweepOptions& options);

} // namespace warplens::api
