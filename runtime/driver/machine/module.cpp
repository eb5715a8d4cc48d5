// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/module.hpp"

#include "runtime/driver/machine/limits.hpp"

#include "runtime/driver/machine/serve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace warplens::runtime {

namespace {

constexpr std::uint64_t kDefaultShared = 48 << 10; ///< bytes per block, unless the program requests more

/// For a variable of a module.
Allocation::Kind kind_of(const ir::Variable& v) {
  return v.managed ? Allocation::Kind::managed : Allocation::Kind::module;
}

/// 90 for `.target sm_90a` or `compute_90`; 0 if there is none.
int target_of(std::string_view ptx) {
  const std::size_t directive = ptx.find(".target"), number = ptx.find('_', directive);
  return directive == ptx.npos || number == ptx.npos ? 0 : std::atoi(std::string(ptx.substr(number + 1, 4)).c_str());
}

/// The targets of kernels, each from its own file: linked files can have several.
std::map<std::string, int, std::less<>> targets_of(std::span<const api::Source> sources) {
  std::map<std::string, int, std::less<>> targets;
  constexpr std::string_view kEntry = ".entry";
  for (const api::Source& source : sources) {
    const std::string_view text = source.text;
    const int target = target_of(text);
    for (std::size_t at = text.find(kEntry); at != text.npos; at = text.find(kEntry, at + 1)) {
      const std::size_t begin = text.find_first_not_of(" \t\r\n", at + kEntry.size());
      if (begin == text.npos) break;
      targets.emplace(text.substr(begin, text.find_first_of(" \t\r\n({", begin) - begin), target);
    }
  }
  return targets;
}

} // namespace

Function::Function(std::weak_ptr<Module> module, api::Kernel kernel, const model::Device& device)
    : module_(std::move(module)), kernel_(std::move(kernel)), name_(kernel_.function->name), device_(device) {
  const std::vector<std::uint32_t> offsets = exec::parameter_layout(*kernel_.function);
  for (std::size_t i = 0; i < kernel_.function->params.size(); ++i) {
    parameters_.push_back({offsets[i], kernel_.function->params[i].size});
    parameter_bytes_ = parameters_.back().offset + parameters_.back().size;
  }
  settings_[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = -1; // 48 KiB minus static shared memory
  settings_[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = -1;
  settings_[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = 0;
  settings_[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT] = 0;
  settings_[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH] = 0;
  settings_[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED] = 0;
  settings_[CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE] = 0;
}

const api::Resources& Function::resources() const {
  std::call_once(resources_once_, [&] {
    const auto program = kernel_.module->program(*kernel_.function, false, {});
    if (!program) throw Failure{CUDA_ERROR_INVALID_PTX, render(program.error(), {})};
    resources_ = api::resources(*kernel_.module, **program, std::nullopt);
    resources_.registers =
        std::min(resources_.registers, static_cast<std::uint32_t>(device_.limits.registers_per_thread));
    // The kernel's own directives take precedence, and at least 24 remain: tests/data/hardware/old_launches.txt.
    constexpr unsigned kFewestRegisters = 24;
    const std::shared_ptr<Module> module = module_.lock();
    const ir::LaunchBounds& bounds = kernel_.function->bounds;
    if (module && module->max_registers() != 0 && bounds.max_registers == 0 && bounds.max_threads[0] == 0 &&
        bounds.required_threads[0] == 0)
      resources_.registers = std::min(resources_.registers, std::max(module->max_registers(), kFewestRegisters));
  });
  return resources_;
}

std::uint64_t Function::most_dynamic_shared() const {
  const std::uint64_t fixed = resources().static_shared_bytes;
  const int asked = settings_.at(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  if (asked >= 0) return static_cast<std::uint64_t>(asked);
  return kDefaultShared - std::min(fixed, kDefaultShared);
}

int Function::most_threads() const {
  const ir::LaunchBounds& bounds = kernel_.function->bounds;
  const auto product = [](const auto& e) { return static_cast<int>(e[0] * std::max(e[1], 1u) * std::max(e[2], 1u)); };
  int most = device_.limits.threads_per_block;
  if (bounds.max_threads[0] != 0) most = std::min(most, product(bounds.max_threads));
  if (bounds.required_threads[0] != 0) most = std::min(most, product(bounds.required_threads));
  return most;
}

api::LaunchRequest Function::borrow_request() {
  {
    const std::lock_guard lock(spare_mutex_);
    if (!spare_requests_.empty()) {
      api::LaunchRequest request = std::move(spare_requests_.back());
      spare_requests_.pop_back();
      return request;
    }
  }
  api::LaunchRequest request;
  request.kernel = kernel_;
  request.device = device_;
  request.options.max_steps = max_steps();
  return request;
}

void Function::return_request(api::LaunchRequest request) {
  constexpr std::size_t kMost = 4; // streams that launch it concurrently
  const std::lock_guard lock(spare_mutex_);
  if (spare_requests_.size() < kMost) spare_requests_.push_back(std::move(request));
}

int Function::resident_blocks(std::int64_t threads, std::uint64_t dynamic_shared) const {
  const api::Resources& r = resources();
  if (threads > most_threads()) return 0;
  model::OccupancyQuery query;
  query.capability = device_.capability;
  query.threads = threads;
  query.registers = r.registers;
  query.shared_bytes = static_cast<std::int64_t>(r.static_shared_bytes + dynamic_shared);
  const Expected<model::Occupancy> occupancy = model::occupancy(query);
  return occupancy ? occupancy->blocks : 0;
}

int Function::attribute(CUfunction_attribute attribute) const {
  const auto& required = kernel_.function->bounds.required_cluster;
  const auto set_or = [&](std::uint32_t fixed) {
    const int set = settings_.at(attribute);
    return set != 0 ? set : static_cast<int>(fixed);
  };
  const int capability = device_.capability.major * 10 + device_.capability.minor;
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return most_threads();
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: return static_cast<int>(resources().static_shared_bytes);
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: {
    std::uint64_t bytes = 0;
    for (const ir::Variable& v : kernel_.module->ir().variables)
      if (v.space == isa::Space::constant) bytes += v.size;
    return static_cast<int>(bytes);
  }
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: return static_cast<int>(resources().local_bytes);
  case CU_FUNC_ATTRIBUTE_NUM_REGS: return static_cast<int>(resources().registers);
  case CU_FUNC_ATTRIBUTE_PTX_VERSION: {
    const std::shared_ptr<Module> module = module_.lock();
    return module ? module->target(name_) : kernel_.module->ir().sm;
  }
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION: return capability;
  case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: return 0;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: return static_cast<int>(most_dynamic_shared());
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return settings_.at(attribute);
  case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: return kernel_.function->bounds.explicit_cluster ? 1 : 0;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: return set_or(required[0]);
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: return set_or(required[1]);
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: return set_or(required[2]);
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
  case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: return settings_.at(attribute);
  default: throw Failure{CUDA_ERROR_INVALID_VALUE, {}};
  }
}

void Function::set_attribute(CUfunction_attribute attribute, int value) {
  const auto found = settings_.find(attribute);
  require(found != settings_.end());
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    const auto most = static_cast<std::uint64_t>(device_.limits.shared_bytes_per_block);
    require(value >= 0 && static_cast<std::uint64_t>(value) + resources().static_shared_bytes <= most);
  } else if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
    require(value >= -1 && value <= 100);
  } else {
    require(value >= 0);
  }
  found->second = value;
}

Module::Module(Machine& machine, std::shared_ptr<api::Module> module, const void* owner)
    : machine_(machine), module_(std::move(module)), owner_(owner) {}

std::shared_ptr<Module> Module::load(Machine& machine, const Code& code, const void* owner) {
  const std::vector<api::Source>& sources = code.sources;
  Expected<std::shared_ptr<api::Module>> loaded = api::Module::load(machine.api(), sources);
  if (!loaded) {
    const std::string text = sources.size() == 1 ? sources.front().text : std::string();
    throw Failure{CUDA_ERROR_INVALID_PTX, render(loaded.error(), text)};
  }
  std::shared_ptr<Module> module(new Module(machine, std::move(*loaded), owner));
  module->max_registers_ = code.max_registers;
  if (sources.size() > 1) module->targets_ = targets_of(sources);
  for (const ir::Variable& v : module->module_->ir().variables)
    if (const api::Buffer* const memory = module->module_->variable(v.name))
      machine.memory().add({kind_of(v), memory->address(), v.size, 0, 0, owner, nullptr});
  return module;
}

int Module::target(std::string_view kernel) const {
  const auto found = targets_.find(kernel);
  return found == targets_.end() ? module_->ir().sm : found->second;
}

Module::~Module() {
  for (const ir::Variable& v : module_->ir().variables)
    if (const api::Buffer* const memory = module_->variable(v.name))
      machine_.memory().free(memory->address(), kind_of(v));
  for (const auto& [name, function] : functions_)
    machine_.functions.remove(Registry<Function, CUfunction>::handle(function.get()));
}

std::shared_ptr<Function> Module::function(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto found = functions_.find(name); found != functions_.end()) return found->second;
  Expected<api::Kernel> kernel = module_->kernel(name);
  if (!kernel) return nullptr;
  // The Function keeps the api::Module alive; an api::Kernel stored in the api::Module would keep itself alive.
  auto function = std::make_shared<Function>(weak_from_this(), std::move(*kernel), machine_.device());
  functions_.emplace(name, function);
  machine_.functions.add(function);
  return function;
}

std::vector<std::string> Module::function_names() const {
  std::vector<std::string> names;
  for (const ir::Function* const f : module_->kernels()) names.emplace_back(f->name);
  return names;
}

std::shared_ptr<Kernel> Library::kernel(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto found = kernels_.find(name); found != kernels_.end()) return found->second;
  std::shared_ptr<Function> function = module_->function(name);
  if (!function) return nullptr;
  auto kernel = std::make_shared<Kernel>(weak_from_this(), std::move(function));
  kernels_.emplace(name, kernel);
  Machine::instance().kernels.add(kernel);
  return kernel;
}

Library::~Library() {
  Machine& machine = Machine::instance();
  for (const auto& [name, kernel] : kernels_) machine.kernels.remove(Registry<Kernel, CUkernel>::handle(kernel.get()));
  machine.modules.remove(Registry<Module, CUmodule>::handle(module_.get())); // if cuLibraryGetModule requested it
}

std::shared_ptr<Module> find_module(CUmodule handle) {
  std::shared_ptr<Module> module = Machine::instance().modules.find(handle);
  require(module != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return module;
}

std::shared_ptr<Function> find_function(Machine& machine, CUfunction handle) {
  if (std::shared_ptr<Function> function = machine.functions.find(handle)) return function;
  const std::shared_ptr<Kernel> kernel = machine.kernels.find(reinterpret_cast<CUkernel>(handle));
  require(kernel != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return kernel->function();
}

} // namespace warplens::runtime
