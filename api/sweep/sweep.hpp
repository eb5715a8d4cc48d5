// A sweep: one launch under many configurations. A configuration is a list of settings, each as the user wrote it;
// those that differ in nothing but the GPU share one emulation.
//
//   Settings a{{"launch", "samples/transpose/launch.toml"}, {"block", "16x16"}, {"device", "gtx480"}};
//   Settings b{{"launch", "samples/transpose/launch.toml"}, {"block", "16x16"}, {"device", "c1060"}};
//   std::vector<SweepRow> rows = run_configurations({{a, b}}, {});
//   rows[0].number("milliseconds"), rows[0].bound, rows[1].failure …
#pragma once

#include "api/plan/plan.hpp"

namespace warplens::api {

/// Name and value, in the order of the columns. Names:
///   launch    the launch file; needed
///   index     which of its launches, from 0; without it, the last. Those before it run too, for what they write
///   kernel    another kernel of the module
///   block     "64", "16x16", "8x8x4"
///   grid      blocks; or "fixed": those of the file. Without it, as many as the threads of the grid need, which are
///   total     threads of the grid, or else those of the file
///   shared    dynamic bytes of a block
///   registers of a thread
///   device    name or file
///   rule      of global or shared memory, instead of the device's: a name or file
///   l1        off, on, enlarged
/// and any path of an override (see launch_file.hpp), such as "buffer.x.count" or "arg.0.s32".
using Settings = std::vector<std::pair<std::string, std::string>>;

/// The value of a setting; null: it is not among them.
const std::string* setting(const Settings& settings, std::string_view name);
/// "block 16x16, device gtx480"
std::string text_of(const Settings& settings);

struct SweepRow {
  Settings settings;
  std::string failure; ///< why there is no result: refused, or trapped. Empty: everything below is filled
  std::string kernel, device, device_id;
  Extent grid{}, block{};
  std::string model, bound, mwp_bound;    ///< of the prediction that the row is ranked by
  std::string occupancy_bound;            ///< "registers", or several: "warps, blocks"
  std::vector<analyzers::Metric> metrics; ///< milliseconds, occupancy, transactions, …, MODEL.milliseconds for each
                                          ///< model, then the metrics of the launch
  model::KernelStatistics statistics;     ///< what the models were given

  /// A metric by name; empty: the row has none.
  [[nodiscard]] std::optional<double> number(std::string_view name) const;
};

struct SweepOptions {
  std::string model; ///< that ranks; empty: see ranking_prediction()
  std::vector<std::string> analyzers;
  unsigned workers = 1;
  std::uint64_t max_steps = kDefaultMaxSteps;
  /// As in PlanOptions, for the device of the configuration.
  std::function<Expected<std::vector<Source>>(const std::filesystem::path&, model::ComputeCapability)> read_module;
};

/// The plan of a configuration, and which of its launches is meant. Errors: those of read_launch_file(); a setting that
/// cannot be read.
struct SweepPlan {
  Plan plan;
  std::size_t launch = 0;
};
Expected<SweepPlan> sweep_plan(const Settings& settings);

/// "16x16" as an extent. Errors: not one to three whole numbers.
Expected<Extent> parse_shape(std::string_view text);

/// Configurations in groups, each of which is emulated once, as indices: those that differ in device, rule, first level
/// and registers only, unless the module may be another one for each device, or asks which multiprocessor it is on.
std::vector<std::vector<std::size_t>> share_emulations(std::span<const Settings> all);

/// How many processes a sweep has where nobody says how many: as many as the processors that this one may use.
unsigned default_jobs();

/// Runs configurations of which share_emulations() says that they may share. A row for each, in their order; never
/// fails, for what goes wrong is in the rows.
std::vector<SweepRow> run_configurations(std::span<const Settings> configurations, const SweepOptions& options);

/// The prediction that speaks for a launch: by the model of that name, or else by the first of dasgupta, which alone of
/// the old ones knows how large transactions are, sim, hong-kim and throughput-latency that has parameters for the
/// device, then of any other that says a time, then a lower bound. Null: there is none.
const model::Prediction* ranking_prediction(std::span<const model::Prediction> predictions, std::string_view model);

} // namespace warplens::api
