// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/machine.hpp"

#include "api/launch/overruns.hpp"
#include "api/session/environment.hpp"
#include "api/session/freed_memory.hpp"
#include "runtime/driver/machine/array.hpp"
#include "runtime/driver/machine/checks.hpp"
#include "runtime/driver/machine/ending.hpp"
#include "runtime/driver/machine/event.hpp"
#include "runtime/driver/machine/limits.hpp"
#include "runtime/driver/machine/module.hpp"
#include "runtime/driver/machine/pool.hpp"
#include "runtime/driver/machine/report.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>

namespace warplens::runtime {

namespace {

std::uint64_t host_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
}

/// At process exit, waits for pending work: the libraries below are destroyed next. Work that does not end (a kernel
/// that waits for the host) ends with the process.
void finish(int status, void*) {
  Machine& machine = Machine::instance();
  if (!machine.initialised()) return; // a child of fork()
  const bool is_idle = machine.finish_work();
  if (const std::string text = api::Overruns::instance().summary(); !text.empty()) tell(text);
  finish_tools();
  explain_compiled();
  if (is_idle) return;
  write_reports();
  std::fflush(nullptr);
  _exit(status);
}

} // namespace

Machine& Machine::instance() {
  static Machine* const machine = new Machine;
  return *machine;
}

bool Machine::initialised() const { return process_.load(std::memory_order_acquire) == getpid(); }

CUresult Machine::initialise() {
  const std::lock_guard lock(mutex_);
  if (process_ == getpid()) return CUDA_SUCCESS;
  if (process_ != 0) return CUDA_ERROR_NOT_INITIALIZED; // the worker threads stayed in the parent
  const char* const wanted = std::getenv(api::environment::kDevice);
  Expected<model::Device> device = api::device_or_default(wanted != nullptr ? wanted : "");
  if (!device) throw Failure{CUDA_ERROR_NO_DEVICE, "WARPLENS_DEVICE: " + render(device.error(), {})};
  Expected<std::shared_ptr<api::Context>> api = api::Context::create();
  if (!api) throw Failure{CUDA_ERROR_OUT_OF_MEMORY, render(api.error(), {})};
  device_ = std::move(*device);
  api_ = std::move(*api);
  if (const std::string remark = api_->arena().remark(); !remark.empty()) tell(remark);
  total_memory_ = std::min(host_memory() / 4 * 3, api_->arena().size());
  memory_ = std::make_unique<Memory>(api_, total_memory_);
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, kDevice};
  default_pool_ = current_pool_ = std::make_shared<Pool>(properties);
  pools.add(default_pool_);
  std::shared_ptr<Observer> observer = observer_from_environment(device_);
  const bool reports = observer != nullptr;
  set_observer(std::move(observer));
  start_tools();
  if (reports || sanitizer() != nullptr || std::getenv(environment::kExplainCompiled) != nullptr) write_at_other_ends();
  hold_limits();
  api::keep_freed_memory();
  process_.store(getpid(), std::memory_order_release);
  on_exit(finish, nullptr);
  return CUDA_SUCCESS;
}

bool Machine::finish_work() {
  constexpr auto kPatience = std::chrono::seconds(10);
  const auto until = std::chrono::steady_clock::now() + kPatience;
  for (const auto& context : contexts.all())
    while (!context->idle()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  return true;
}

std::shared_ptr<Context> Machine::retain_primary() {
  const std::lock_guard lock(mutex_);
  if (!primary_) {
    primary_ = std::make_shared<Context>(primary_flags_);
    contexts.add(primary_);
  } else if (primary_->destroyed()) {
    primary_->revive(primary_flags_);
    contexts.revived(*primary_);
  }
  ++primary_uses_;
  return primary_;
}

void Machine::release_primary() {
  {
    const std::lock_guard lock(mutex_);
    require(primary_uses_ > 0, CUDA_ERROR_INVALID_CONTEXT);
    if (--primary_uses_ > 0) return;
  }
  reset_primary();
}

void Machine::reset_primary() {
  if (const std::shared_ptr<Context> context = primary()) destroy_context(context);
}

std::shared_ptr<Context> Machine::primary() const {
  const std::lock_guard lock(mutex_);
  return primary_ && !primary_->destroyed() ? primary_ : nullptr;
}

bool Machine::is_primary(const Context& context) const {
  const std::lock_guard lock(mutex_);
  return primary_.get() == &context;
}

std::shared_ptr<Pool> Machine::current_pool() const {
  const std::lock_guard lock(mutex_);
  return current_pool_;
}

void Machine::set_current_pool(std::shared_ptr<Pool> pool) {
  const std::lock_guard lock(mutex_);
  current_pool_ = std::move(pool);
}

void Machine::destroy_context(const std::shared_ptr<Context>& context) {
  context->destroy();
  contexts.destroyed(*context);
  const auto is_of = [&](const auto& object) { return &object.context() == context.get(); };
  streams.bury(is_of);
  events.bury(is_of);
  bury_arrays_of(*context);
  modules.bury([&](const Module& module) { return module.owner() == context.get(); });
  memory().free_all_of(context.get());
}

} // namespace warplens::runtime
