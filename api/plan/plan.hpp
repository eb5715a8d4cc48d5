// SPDX-License-Identifier: Apache-2.0
// A plan: buffers, and the launches that run on them in order. It comes from a launch file (api/plan/launch_file.hpp)
// or from a command line.
//
//   Plan plan = *read_launch_file("samples/transpose/launch.toml", {});
//   Expected<PlanReport> report = run_plan(plan, {});
#pragma once

#include "api/launch/launch.hpp"
#include "api/session/tensor_map.hpp"

#include <functional>

namespace warplens::api {

/// A place in a file, for messages about a part of a plan.
struct Origin {
  std::string file; ///< empty: the command line
  SourceLocation where;
};

/// What a buffer holds before the first launch.
struct Initial {
  enum class Kind : std::uint8_t { zeros, fill, iota, random, file } kind = Kind::zeros;
  Number first = std::int64_t{0};  ///< the value of fill, the start of iota, the low end of random
  Number second = std::int64_t{1}; ///< the step of iota, the high end of random
  std::uint64_t seed = 0;          ///< of random
  std::filesystem::path file;      ///< .npy
};

struct BufferPlan {
  std::string name;
  Type type = Type::f32;
  std::optional<std::uint64_t> count; ///< elements; without it, the number in the file
  Initial initial;
  std::optional<std::filesystem::path> save, expect; ///< .npy
  double tolerance = 0;                              ///< of `expect`: largest allowed absolute difference
  Origin origin;
};

/// A texture or surface that views a buffer, or a sampler; image and sampler without the address.
struct TexturePlan {
  std::string name;
  std::string buffer;       ///< empty: a sampler
  std::optional<Type> type; ///< of a channel; without it, the type of the buffer's elements
  exec::Image image;
  exec::Sampler sampler;
  Origin origin;
};

/// A tensor map of a buffer, which has the address.
struct TensorMapPlan {
  std::string name;
  std::string buffer;
  TensorMapRequest request;
  bool typed = false;      ///< otherwise, the type is that of the buffer's elements
  std::size_t strides = 0; ///< that are given; others follow from the sizes
  Origin origin;
};

struct ScalarPlan {
  Type type{};
  Number value;
};
struct HandlePlan {
  exec::BoundTexture::Kind kind{};
  std::string name; ///< of a texture
};
struct TensorMapName {
  std::string name;
};
struct ArgumentPlan {
  /// A scalar, the name of a buffer, a handle, or a tensor map.
  std::variant<ScalarPlan, std::string, HandlePlan, TensorMapName> value;
  Origin origin;
};

struct LaunchPlan {
  std::filesystem::path module;                 ///< PTX
  std::vector<std::filesystem::path> libraries; ///< further PTX files that are linked with it
  std::string kernel;
  Extent grid{1, 1, 1}, block{1, 1, 1};
  std::optional<Extent> cluster;          ///< blocks
  std::optional<Extent> total;            ///< threads of the grid, if the file has this instead of `grid`
  std::uint64_t shared = 0;               ///< dynamic bytes
  std::uint64_t shared_per_thread = 0;    ///< additional dynamic bytes per thread of the block
  std::optional<std::uint32_t> registers; ///< per thread, if the file gives them
  bool cooperative = false;               ///< see LaunchRequest
  std::vector<ArgumentPlan> arguments;
  Origin origin;
};

/// The number of blocks needed for the threads, in each dimension. For an empty block, the number of threads.
Extent blocks_for(const Extent& total, const Extent& block);

struct Plan {
  std::string device; ///< name or file; empty: depends on the module
  std::vector<BufferPlan> buffers;
  std::vector<TexturePlan> textures; ///< bound to the module's variable of the same name, if any
  std::vector<TensorMapPlan> tensor_maps;
  std::vector<LaunchPlan> launches;
};

struct PlanOptions {
  LaunchOptions launch; ///< of every launch; `registers` overrides the plan
  /// Analyses only this launch, for each of the targets. Earlier launches only run; later launches do not run.
  std::optional<std::size_t> only;
  /// Returns the targets of `only` for the device of the plan.
  std::function<std::vector<TargetDevice>(const model::Device&)> targets;
  /// Reads the file of a module that may not be PTX text.
  std::function<Expected<std::vector<Source>>(const std::filesystem::path&)> read_module;
  /// Called before each launch with its number, from 0.
  std::function<void(std::size_t, const LaunchPlan&)> before_launch;
};

/// A buffer that differs from its expected content.
struct Mismatch {
  std::string buffer;
  std::string expected_file;
  std::uint64_t differing = 0, count = 0; ///< elements
  std::uint64_t first = 0;                ///< index of the first one that differs
  std::string expected, got;              ///< its values
};

struct PlanReport {
  model::Device device;
  std::vector<LaunchReport> launches;          ///< up to the first that trapped; if `only` is given, those before it
  std::vector<Expected<LaunchReport>> targets; ///< the report of `only` for each of the targets
  std::vector<Mismatch> mismatches;
  std::vector<BufferPlan> buffers;               ///< as in the plan
  std::vector<std::shared_ptr<Buffer>> contents; ///< by index into `buffers`, after the last launch
  Diagnostics warnings;                          ///< of the modules

  [[nodiscard]] bool trapped() const { return !launches.empty() && launches.back().trap; }
};

/// Loads the modules, fills the buffers, runs the launches, then saves and compares. Errors: unreadable or
/// unwritable files, and refused launches. A trap ends the run: then nothing is saved or compared.
Expected<PlanReport> run_plan(const Plan& plan, const PlanOptions& options);

} // namespace warplens::api
