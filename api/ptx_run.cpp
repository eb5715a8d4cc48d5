// The entry point of programs written against gpuocelot: see warplens.h.
#include "api/warplens.h"

#include "api/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unordered_map>

using namespace warplens;

namespace {

/// The modules that have been run, by their text. Never freed: threads may still run kernels when the process ends.
class Modules {
public:
  static Modules& instance() {
    static Modules* const modules = new Modules;
    return *modules;
  }

  Expected<std::shared_ptr<api::Module>> get(const std::string& source) {
    const std::lock_guard lock(mutex_);
    if (const auto found = modules_.find(source); found != modules_.end()) return found->second;
    if (!context_) {
      Expected<std::shared_ptr<api::Context>> context = api::Context::create();
      if (!context) return failure(context.error());
      context_ = std::move(*context);
    }
    Expected<std::shared_ptr<api::Module>> module = api::Module::load(context_, source, "<ptx>");
    if (module) modules_.emplace(source, *module);
    return module;
  }

private:
  std::mutex mutex_;
  std::shared_ptr<api::Context> context_;
  std::unordered_map<std::string, std::shared_ptr<api::Module>> modules_;
};

/// The value itself lies in the pointer.
Expected<std::vector<api::Argument>> arguments_of(const ir::Function& kernel, int n_args, void** args) {
  std::vector<api::Argument> list;
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(n_args, 0)); ++i) {
    const std::size_t size = i < kernel.params.size() ? kernel.params[i].size : sizeof args[i];
    if (size > sizeof args[i])
      return failure(fmt::format("parameter {} of kernel '{}' has {} bytes: ptx_run passes {} at most", i, kernel.name,
                                 size, sizeof args[i]));
    std::byte value[sizeof args[i]];
    std::memcpy(value, &args[i], sizeof value);
    list.push_back(api::Argument::raw({value, size}));
  }
  return list;
}

Expected<api::LaunchReport> run(const std::string& source, int n_args, void** args, const int (&block)[3],
                                const int (&grid)[3], int shared_bytes) {
  Expected<std::shared_ptr<api::Module>> module = Modules::instance().get(source);
  if (!module) return failure(module.error());
  const std::vector<const ir::Function*> kernels = (*module)->kernels();
  if (kernels.empty()) return failure("the PTX has no kernel");
  Expected<std::vector<api::Argument>> arguments = arguments_of(*kernels.front(), n_args, args);
  if (!arguments) return failure(arguments.error());
  // The device with the widest limits: callers of ptx_run have no particular one in mind.
  Expected<model::Device> device = model::find_device("h200");
  if (!device) return failure(device.error());
  api::LaunchRequest request;
  request.kernel = {*module, kernels.front()};
  for (std::size_t i = 0; i < 3; ++i) {
    if (block[i] < 0 || grid[i] < 0) return failure("a negative extent of the grid or block");
    request.block[i] = static_cast<std::uint64_t>(block[i]);
    request.grid[i] = static_cast<std::uint64_t>(grid[i]);
  }
  if (shared_bytes < 0) return failure("a negative size of shared memory");
  request.dynamic_shared_bytes = static_cast<std::uint64_t>(shared_bytes);
  request.arguments = std::move(*arguments);
  request.device = std::move(*device);
  request.analyze = false;
  request.max_steps = 0;
  request.host_pointers = true;
  return api::launch(request);
}

void print(const std::string& text) { std::fprintf(stderr, "ptx_run: %s", text.c_str()); }

} // namespace

extern "C" void ptx_run(const char* source, int n_args, void** args, int block_x, int block_y, int block_z, int grid_x,
                        int grid_y, int grid_z, int shared_bytes) {
  try {
    if (source == nullptr || (n_args > 0 && args == nullptr)) return print("error: a null pointer\n");
    const std::string text(source);
    const Expected<api::LaunchReport> report =
        run(text, n_args, args, {block_x, block_y, block_z}, {grid_x, grid_y, grid_z}, shared_bytes);
    if (!report) return print(render(report.error(), text));
    std::fwrite(report->printed.data(), 1, report->printed.size(), stdout);
    if (!report->trap) return;
    Diagnostics why;
    why.error(report->trap->where, report->trap->message, report->trap->hint);
    why.in_file(report->trap->file);
    print(render(why, text));
  } catch (const std::exception& e) {
    print(fmt::format("internal error: {}\n", e.what()));
  }
}
