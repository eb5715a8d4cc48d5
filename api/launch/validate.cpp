// SPDX-License-Identifier: Apache-2.0
#include "api/launch/validate.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::api {

namespace {

constexpr std::uint64_t kMostOfCluster = 16; // 8 on every device of capability 9.0 or later; 16 if allowed

std::optional<Extent> required_cluster(const ir::Function& function) {
  const auto& c = function.bounds.required_cluster;
  if (c[0] == 0) return std::nullopt;
  return Extent{c[0], std::max(c[1], 1u), std::max(c[2], 1u)};
}

class Validation {
public:
  Validation(const LaunchRequest& request, const exec::Program& program)
      : request_(request), program_(program), function_(*request.kernel.function), limits_(request.device.limits) {}

  Diagnostics run() {
    grid();
    block();
    cluster();
    shared_memory();
    local_memory();
    registers();
    arguments();
    return std::move(errors_);
  }

private:
  template <class... Args> void error(fmt::format_string<Args...> format, Args&&... args) {
    errors_.error({}, fmt::format(format, std::forward<Args>(args)...));
  }

  static std::string show(const Extent& e) { return fmt::format("{} x {} x {}", e[0], e[1], e[2]); }

  // CUDA C Programming Guide, "Compute Capabilities": technical specifications per compute capability.
  void extents(std::string_view what, const Extent& e, const Extent& most) {
    for (int i = 0; i < 3; ++i) {
      if (e[i] == 0) error("the {} is {}: every extent must be at least 1", what, show(e));
      if (e[i] == 0) return;
      if (e[i] > most[i]) error("the {} is {}: {} allows {} in {}", what, show(e), device(), most[i], "xyz"[i]);
    }
  }

  void grid() {
    constexpr std::uint64_t kOld = 65535, kNew = 0x7fffffff;
    const bool flat = limits_.capability.major < 2; // two-dimensional grids only
    extents("grid", blocks_of(request_), {limits_.capability.major < 3 ? kOld : kNew, kOld, flat ? 1 : kOld});
  }

  void block() {
    const Extent& b = request_.block;
    const std::uint64_t most = limits_.capability.major < 2 ? 512 : 1024;
    const std::size_t before = errors_.error_count();
    extents("block", b, {most, most, 64});
    if (errors_.error_count() != before) return;
    const std::uint64_t threads = b[0] * b[1] * b[2];
    const auto allowed = static_cast<std::uint64_t>(limits_.threads_per_block);
    if (threads > allowed) error("the block has {} threads ({}): {} allows {}", threads, show(b), device(), allowed);
    const ir::LaunchBounds& bounds = function_.bounds;
    const auto bound = [](const auto& extent) {
      return std::uint64_t{std::max(extent[0], 1u)} * std::max(extent[1], 1u) * std::max(extent[2], 1u);
    };
    if (bounds.max_threads[0] != 0 && threads > bound(bounds.max_threads))
      error("the block has {} threads: kernel '{}' was compiled for at most {} (.maxntid)", threads, function_.name,
            bound(bounds.max_threads));
    const auto& required = bounds.required_threads;
    if (required[0] != 0 &&
        (b[0] != required[0] || b[1] != std::max(required[1], 1u) || b[2] != std::max(required[2], 1u)))
      error("the block is {}: kernel '{}' was compiled for exactly {} x {} x {} (.reqntid)", show(b), function_.name,
            required[0], std::max(required[1], 1u), std::max(required[2], 1u));
  }

  // Manual, 11.4.10 to 11.4.13, and the CUDA programming guide, "Thread Block Clusters".
  void cluster() {
    const ir::LaunchBounds& bounds = function_.bounds;
    const std::optional<Extent> cluster = cluster_of(request_);
    if (!cluster) {
      if (bounds.explicit_cluster)
        error("kernel '{}' requires clusters (.explicitcluster): specify the number of blocks per cluster",
              function_.name);
      return;
    }
    const Extent& c = *cluster;
    if (limits_.capability.major < 9) error("{} does not support clusters", device());
    const std::size_t before = errors_.error_count();
    extents("cluster", c, {kMostOfCluster, kMostOfCluster, kMostOfCluster});
    if (errors_.error_count() != before) return;
    const std::uint64_t blocks = c[0] * c[1] * c[2];
    if (blocks > kMostOfCluster)
      error("the cluster has {} blocks ({}): no device allows more than {}", blocks, show(c), kMostOfCluster);
    if (bounds.max_cluster_rank != 0 && blocks > bounds.max_cluster_rank)
      error("the cluster has {} blocks: kernel '{}' was compiled for at most {} (.maxclusterrank)", blocks,
            function_.name, bounds.max_cluster_rank);
    if (const std::optional<Extent> required = required_cluster(function_); required && *required != c)
      error("the cluster is {}: kernel '{}' was compiled for exactly {} (.reqnctapercluster)", show(c), function_.name,
            show(*required));
    const Extent grid = blocks_of(request_);
    for (std::size_t i = 0; i < 3; ++i)
      if (grid[i] % c[i] != 0)
        error("the grid is {}: it is not a multiple of the cluster ({}) in {}", show(grid), show(c), "xyz"[i]);
  }

  void shared_memory() {
    const auto allowed = static_cast<std::uint64_t>(limits_.shared_bytes_per_block);
    const std::uint64_t dynamic = request_.dynamic_shared_bytes;
    if (program_.shared_bytes > allowed || dynamic > allowed - program_.shared_bytes)
      error("the block needs {} bytes of static and {} bytes of dynamic shared memory: {} allows {} together",
            program_.shared_bytes, dynamic, device(), allowed);
  }

  void local_memory() {
    const std::uint64_t allowed = limits_.capability.major < 2 ? 16 << 10 : 512 << 10; // same table of the guide
    if (program_.local_bytes > allowed)
      error("a thread needs {} bytes of local memory: {} allows {}", program_.local_bytes, device(), allowed);
  }

  void registers() {
    const auto allowed = static_cast<std::uint32_t>(limits_.registers_per_thread);
    if (request_.options.registers && (*request_.options.registers == 0 || *request_.options.registers > allowed))
      error("{} registers per thread: {} allows 1 to {}", *request_.options.registers, device(), allowed);
  }

  void arguments() {
    const std::size_t given = request_.arguments.size(), wanted = function_.params.size();
    if (given != wanted) {
      std::string list;
      for (const ir::Variable& p : function_.params) list += fmt::format("{}{}", list.empty() ? "" : ", ", describe(p));
      errors_.error(
          {},
          fmt::format("kernel '{}' takes {} argument{}, got {}", function_.name, wanted, wanted == 1 ? "" : "s", given),
          list.empty() ? "" : "parameters: " + list);
      return;
    }
    for (std::size_t i = 0; i < given; ++i) argument(i, request_.arguments[i], function_.params[i]);
  }

  static std::string describe(const ir::Variable& p) {
    return p.extents.empty() ? fmt::format(".{} {}", isa::name(p.type), p.name)
                             : fmt::format(".{} {} ({} bytes)", isa::name(p.type), p.name, p.size);
  }

  /// A parameter of another type or size cannot hold the address of a buffer.
  static bool may_be_pointer(const ir::Variable& p) {
    return p.extents.empty() && p.size == 8 && !isa::is_float(p.type);
  }
  static constexpr std::string_view kPassABuffer =
      "; if it is a pointer, pass a buffer: --arg NAME:TYPE[COUNT], or { buffer = \"NAME\" } in a launch file";

  void argument(std::size_t index, const Argument& a, const ir::Variable& p) {
    const auto mismatch = [&](std::string_view got, std::string_view hint = {}) {
      errors_.error({}, fmt::format("argument {} is {}, but the parameter is {}", index, got, describe(p)),
                    std::string(hint));
    };
    const bool untyped = isa::info(p.type).kind == isa::Class::untyped || !p.extents.empty();
    switch (a.kind) {
    case Argument::Kind::scalar:
      if (a.bytes.size() != p.size) {
        mismatch(fmt::format("of type {} ({} bytes)", isa::name(a.type), a.bytes.size()),
                 fmt::format("it takes {} bytes{}", p.size, may_be_pointer(p) ? kPassABuffer : ""));
      } else if (!untyped && isa::info(a.type).kind != isa::Class::untyped &&
                 isa::is_float(a.type) != isa::is_float(p.type)) {
        mismatch(fmt::format("of type {}", isa::name(a.type)), fmt::format("write {} = …", isa::name(p.type)));
      }
      break;
    case Argument::Kind::buffer:
      if (isa::is_float(p.type) && !untyped)
        mismatch(fmt::format("the buffer '{}'", a.name));
      else if (p.size != 8 && p.size != 4)
        mismatch(fmt::format("the buffer '{}'", a.name), "addresses take 4 or 8 bytes");
      else if (p.size == 4 && fits_32_bits(a))
        break;
      else if (p.size == 4)
        mismatch(fmt::format("the buffer '{}' beyond the first 4 GiB", a.name));
      break;
    case Argument::Kind::texture:
      if (p.size != 8 || isa::is_float(p.type))
        mismatch(fmt::format("the texture '{}'", a.name), "handles take 8 bytes");
      break;
    case Argument::Kind::raw:
      if (a.bytes.size() != p.size)
        mismatch(fmt::format("{} bytes long", a.bytes.size()), fmt::format("it takes {} bytes", p.size));
      break;
    }
  }

  static bool fits_32_bits(const Argument& a) {
    return std::all_of(a.bytes.begin() + 4, a.bytes.end(), [](std::byte b) { return b == std::byte{}; });
  }

  [[nodiscard]] std::string device() const {
    return fmt::format("{} (compute capability {})", request_.device.name, to_string(limits_.capability));
  }

  const LaunchRequest& request_;
  const exec::Program& program_;
  const ir::Function& function_;
  const model::OccupancyLimits& limits_;
  Diagnostics errors_;
};

} // namespace

std::optional<Extent> cluster_of(const LaunchRequest& request) {
  return request.cluster ? request.cluster : required_cluster(*request.kernel.function);
}

Extent blocks_of(const LaunchRequest& request) {
  Extent blocks = request.grid;
  const std::optional<Extent> cluster = cluster_of(request);
  if (request.kernel.function->bounds.blocks_are_clusters && cluster)
    for (std::size_t i = 0; i < 3; ++i) blocks[i] *= (*cluster)[i];
  return blocks;
}

Diagnostics validate(const LaunchRequest& request, const exec::Program& program) {
  return Validation(request, program).run();
}

std::string hint_at_numbers(const LaunchRequest& request) {
  for (std::size_t i = 0; i < request.arguments.size(); ++i) {
    const Argument& a = request.arguments[i];
    if (a.kind != Argument::Kind::scalar || a.bytes.size() != 8 || isa::is_float(a.type)) continue;
    return fmt::format(
        "argument {} is a number; if the parameter is a pointer, pass a buffer: --arg NAME:TYPE[COUNT], or "
        "{{ buffer = \"NAME\" }} in a launch file",
        i);
  }
  return {};
}

} // namespace warplens::api
