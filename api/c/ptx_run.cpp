// SPDX-License-Identifier: Apache-2.0
// The entry point for programs written against gpuocelot: see warplens.h.
#include "api/warplens.h"

#include "api/c/last_error.hpp"
#include "api/launch/launch.hpp"
#include "api/launch/overruns.hpp"
#include "api/session/environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

using namespace warplens;

namespace {

/// A text that was run, and its loaded module. Never destroyed: threads may still run kernels when the process ends.
class Cached {
public:
  explicit Cached(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] const std::string& text() const { return text_; }

  /// The first kernel, ready for a grid and arguments; loaded once. After a failure the next call tries again, because
  /// memory may have become free.
  Expected<const api::LaunchRequest*> request() {
    if (const api::LaunchRequest* const known = ready_.load(std::memory_order_acquire)) return known;
    const std::lock_guard lock(mutex_);
    if (ready_.load(std::memory_order_relaxed) == nullptr) {
      if (Diagnostics errors = load(); errors.has_errors()) return failure(std::move(errors));
      ready_.store(&request_, std::memory_order_release);
    }
    return &request_;
  }

private:
  Diagnostics load();

  const std::string text_;
  std::mutex mutex_;
  api::LaunchRequest request_;
  std::atomic<const api::LaunchRequest*> ready_{nullptr};
};

void print(const std::string& text) { std::fprintf(stderr, "ptx_run: %s", text.c_str()); }

/// Whether the process ends after a failure.
bool aborts() {
  const char* const value = std::getenv(api::environment::kPtxRun);
  const std::string_view wanted = value != nullptr ? value : "continue";
  if (wanted != "abort" && wanted != "continue")
    print(fmt::format("{} is '{}': expected 'abort' or 'continue'\n", api::environment::kPtxRun, wanted));
  return wanted == "abort";
}

void fail(std::string message) {
  print(message);
  if (aborts()) {
    std::fflush(stdout); // what kernels printed
    std::abort();
  }
  c::last_error() = std::move(message);
}

Expected<std::shared_ptr<api::Context>> shared_context() {
  static std::mutex mutex;
  static std::shared_ptr<api::Context>* context = nullptr;
  const std::lock_guard lock(mutex);
  if (context == nullptr) {
    Expected<std::shared_ptr<api::Context>> made = api::Context::create();
    if (!made) return made;
    if (const std::string remark = (*made)->arena().remark(); !remark.empty()) print(remark + "\n");
    context = new std::shared_ptr<api::Context>(std::move(*made));
  }
  return *context;
}

Diagnostics Cached::load() {
  Expected<std::shared_ptr<api::Context>> context = shared_context();
  if (!context) return context.error();
  Expected<std::shared_ptr<api::Module>> module = api::Module::load(std::move(*context), text_, "<ptx>");
  if (!module) return module.error();
  const std::vector<const ir::Function*> kernels = (*module)->kernels();
  Diagnostics errors;
  if (kernels.empty()) {
    errors.error({}, "the PTX has no kernel");
    return errors;
  }
  static const auto& device = *new Expected<model::Device>(api::device_or_default({}));
  if (!device) return device.error();
  const auto program = (*module)->program(*kernels.front(), false, "");
  if (!program) return program.error();
  // Only cooperative launches set this register, which locates the grid's barrier.
  request_.cooperative = std::any_of((*program)->specials.begin(), (*program)->specials.end(),
                                     [](const auto& row) { return row.special == isa::Special::envreg2; });
  request_.kernel = {std::move(*module), kernels.front()};
  request_.device = *device;
  request_.options.analyze = false;
  request_.options.max_steps = 0;
  request_.host_pointers = true;
  request_.past_ends = !api::environment::is_on(api::environment::kStrict);
  request_.options.strict_async = api::environment::is_on(api::environment::kStrictAsync);
  return errors;
}

/// All texts that were run, by content. A call compares its text with the one that was last run from the same
/// address, because the text there may have changed. Only a different text is hashed.
class Cache {
public:
  static Cache& instance() {
    static Cache* const cache = new Cache;
    return *cache;
  }

  Cached& get(const char* source) {
    std::atomic<Cached*>& recent = recent_[std::hash<const void*>{}(source) % recent_.size()];
    Cached* const last = recent.load(std::memory_order_acquire);
    if (last != nullptr && std::strcmp(last->text().c_str(), source) == 0) return *last;
    Cached& found = by_content(source);
    recent.store(&found, std::memory_order_release);
    return found;
  }

private:
  Cached& by_content(std::string_view source) {
    const std::lock_guard lock(mutex_);
    if (const auto found = all_.find(source); found != all_.end()) return *found->second;
    auto made = std::make_unique<Cached>(std::string(source));
    const std::string_view key = made->text();
    return *all_.emplace(key, std::move(made)).first->second;
  }

  std::array<std::atomic<Cached*>, 509> recent_{}; ///< a prime: addresses are multiples of powers of two
  std::mutex mutex_;
  std::unordered_map<std::string_view, std::unique_ptr<Cached>> all_;
};

/// The pointer contains the value itself.
Expected<std::vector<api::Argument>> arguments_of(const ir::Function& kernel, int n_args, void** args) {
  std::vector<api::Argument> list;
  list.reserve(static_cast<std::size_t>(std::max(n_args, 0)));
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(n_args, 0)); ++i) {
    const std::size_t size = i < kernel.params.size() ? kernel.params[i].size : sizeof args[i];
    if (size > sizeof args[i])
      return failure(fmt::format("parameter {} of kernel '{}' has {} bytes: ptx_run passes at most {}", i, kernel.name,
                                 size, sizeof args[i]));
    std::byte value[sizeof args[i]];
    std::memcpy(value, &args[i], sizeof value);
    list.push_back(api::Argument::raw({value, size}));
  }
  return list;
}

Expected<api::LaunchReport> run(Cached& cached, int n_args, void** args, const int (&block)[3], const int (&grid)[3],
                                int shared_bytes) {
  const Expected<const api::LaunchRequest*> prepared = cached.request();
  if (!prepared) return failure(prepared.error());
  api::LaunchRequest request = **prepared;
  Expected<std::vector<api::Argument>> arguments = arguments_of(*request.kernel.function, n_args, args);
  if (!arguments) return failure(arguments.error());
  for (std::size_t i = 0; i < 3; ++i) {
    if (block[i] < 0 || grid[i] < 0) return failure("the grid or the block has a negative extent");
    request.block[i] = static_cast<std::uint64_t>(block[i]);
    request.grid[i] = static_cast<std::uint64_t>(grid[i]);
  }
  if (shared_bytes < 0) return failure("the size of shared memory is negative");
  request.dynamic_shared_bytes = static_cast<std::uint64_t>(shared_bytes);
  request.arguments = std::move(*arguments);
  return api::launch(request);
}

void tell_overruns(const api::LaunchReport& report, std::string_view source) {
  if (report.overruns.empty()) return;
  for (const std::string& warning : api::Overruns::instance().fresh(report, source)) print(warning);
  [[maybe_unused]] static const int registered = std::atexit([] { print(api::Overruns::instance().summary() + "\n"); });
}

} // namespace

extern "C" void ptx_run(const char* source, int n_args, void** args, int block_x, int block_y, int block_z, int grid_x,
                        int grid_y, int grid_z, int shared_bytes) {
  try {
    c::last_error().clear();
    if (source == nullptr || (n_args > 0 && args == nullptr)) return fail("error: null pointer\n");
    Cached& cached = Cache::instance().get(source);
    Expected<api::LaunchReport> report =
        run(cached, n_args, args, {block_x, block_y, block_z}, {grid_x, grid_y, grid_z}, shared_bytes);
    if (!report) return fail(render(report.error(), cached.text()));
    const std::vector<api::LaunchReport> all = api::with_children(std::move(*report));
    for (const api::LaunchReport& one : all) {
      std::fwrite(one.printed.data(), 1, one.printed.size(), stdout);
      tell_overruns(one, cached.text());
    }
    const std::optional<Diagnostic>& trap = all.back().trap;
    if (!trap) return;
    Diagnostics why;
    why.error(trap->where, trap->message, trap->hint);
    why.in_file(trap->file);
    fail(render(why, cached.text()));
  } catch (const std::exception& e) {
    fail(fmt::format("internal error: {}\n", e.what()));
  }
}
