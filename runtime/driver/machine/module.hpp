// SPDX-License-Identifier: Apache-2.0
// Modules, their functions and variables, and libraries, which are loaded once for all contexts.
//
//   auto module = Module::load(machine, image, context);      // PTX text, a fat binary, …
//   module->function("saxpy")->kernel().function->params
//
// ptx_of() (image.hpp) converts the program's bytes to PTX; after that, only api::Module is used.
#pragma once

#include "api/launch/launch.hpp"
#include "runtime/abi/driver.hpp"
#include "runtime/driver/machine/image.hpp"

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace warplens::runtime {

class Library;
class Machine;
class Module;

/// Settings of cuFuncSetBlockShape(), cuFuncSetSharedSize() and cuParamSet…() for the next cuLaunch().
struct OldLaunch {
  std::array<unsigned, 3> block{1, 1, 1};
  unsigned shared_bytes = 0;
  std::size_t parameter_bytes = 0;
  std::vector<std::byte> parameters{};
};

/// A kernel as seen by the program, with the attributes that the program can set.
class Function {
public:
  Function(std::weak_ptr<Module> module, api::Kernel kernel, const model::Device& device);

  [[nodiscard]] const api::Kernel& kernel() const { return kernel_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::shared_ptr<Module> module() const { return module_.lock(); }

  /// Errors: CUDA_ERROR_INVALID_VALUE for an unknown attribute.
  [[nodiscard]] int attribute(CUfunction_attribute attribute) const;
  /// Errors: CUDA_ERROR_INVALID_VALUE for an attribute that cannot be set, or a value that the device does not allow.
  void set_attribute(CUfunction_attribute attribute, int value);

  /// Maximum dynamic shared memory of a launch, in bytes.
  [[nodiscard]] std::uint64_t most_dynamic_shared() const;
  /// Maximum number of threads per block.
  [[nodiscard]] int most_threads() const;
  /// Computed on first use. Throws Failure for an instruction that cannot be run.
  [[nodiscard]] const api::Resources& resources() const;

  /// A request for the kernel and the device, with the fields common to all launches; returned requests are reused.
  api::LaunchRequest borrow_request();
  void return_request(api::LaunchRequest request);

  /// Resident blocks of that size per multiprocessor; 0 if none fits.
  [[nodiscard]] int resident_blocks(std::int64_t threads, std::uint64_t dynamic_shared) const;

  /// The offset of parameter i in the parameter buffer, and its size in bytes.
  struct Parameter {
    std::size_t offset, size;
  };
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  [[nodiscard]] std::size_t parameter_bytes() const { return parameter_bytes_; }

  OldLaunch old_launch{};                  ///< one thread at a time, as the interface requires
  std::atomic<double> steps_of_thread{-1}; ///< warp instructions of its last launch, for each thread; -1: none yet

private:
  std::weak_ptr<Module> module_;
  api::Kernel kernel_; ///< keeps the api::Module alive
  std::string name_;
  const model::Device& device_;
  std::vector<Parameter> parameters_;
  std::size_t parameter_bytes_ = 0;
  std::mutex spare_mutex_;
  std::vector<api::LaunchRequest> spare_requests_;
  mutable std::once_flag resources_once_;
  mutable api::Resources resources_;
  std::map<CUfunction_attribute, std::atomic<int>> settings_; ///< those that the program can set
};

class Module : public std::enable_shared_from_this<Module> {
public:
  /// Throws Failure: CUDA_ERROR_INVALID_PTX, CUDA_ERROR_OUT_OF_MEMORY; its text has the diagnostics. `owner`: the owner
  /// of its variables. The code's register limit is for kernels without their own limit.
  static std::shared_ptr<Module> load(Machine& machine, const Code& code, const void* owner);
  ~Module();

  /// Null if there is no such kernel.
  std::shared_ptr<Function> function(const std::string& name);
  [[nodiscard]] std::vector<std::string> function_names() const;
  [[nodiscard]] const api::Module& api() const { return *module_; }
  [[nodiscard]] api::Module& api() { return *module_; }
  [[nodiscard]] const void* owner() const { return owner_; }
  [[nodiscard]] unsigned max_registers() const { return max_registers_; }
  /// The target of a kernel's PTX: 90 for sm_90. Libraries select their code by it.
  [[nodiscard]] int target(std::string_view kernel) const;

private:
  Module(Machine& machine, std::shared_ptr<api::Module> module, const void* owner);
  Machine& machine_;
  std::shared_ptr<api::Module> module_;
  const void* owner_;
  unsigned max_registers_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Function>> functions_;
  std::map<std::string, int, std::less<>> targets_; ///< by kernel, if files were linked
};

/// A kernel of a library. It has no context; ours needs none, so it only refers to its function.
class Kernel {
public:
  Kernel(std::weak_ptr<Library> library, std::shared_ptr<Function> function)
      : library_(std::move(library)), function_(std::move(function)) {}
  [[nodiscard]] const std::shared_ptr<Function>& function() const { return function_; }
  [[nodiscard]] std::shared_ptr<Library> library() const { return library_.lock(); }

private:
  std::weak_ptr<Library> library_;
  std::shared_ptr<Function> function_;
};

class Library : public std::enable_shared_from_this<Library> {
public:
  explicit Library(std::shared_ptr<Module> module) : module_(std::move(module)) {}
  ~Library();
  [[nodiscard]] const std::shared_ptr<Module>& module() const { return module_; }
  /// Null if there is no such kernel.
  std::shared_ptr<Kernel> kernel(const std::string& name);

private:
  std::shared_ptr<Module> module_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Kernel>> kernels_;
};

/// Throws Failure CUDA_ERROR_INVALID_HANDLE.
std::shared_ptr<Module> find_module(CUmodule handle);
/// The function for a CUfunction or a CUkernel handle. Throws Failure CUDA_ERROR_INVALID_HANDLE.
std::shared_ptr<Function> find_function(Machine& machine, CUfunction handle);

} // namespace warplens::runtime
