// Modules, their functions and variables, and libraries: code that was loaded once for all contexts.
//
//   auto module = Module::load(machine, image, context);      // PTX text, a fat binary, …
//   module->function("saxpy")->kernel().function->params
//
// The bytes that a program hands over become PTX in ptx_of() (image.hpp); from there on there is api::Module only.
#pragma once

#include "api/launch/launch.hpp"
#include "runtime/abi/driver.hpp"

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

/// What cuFuncSetBlockShape(), cuFuncSetSharedSize() and cuParamSet…() have set for the next cuLaunch().
struct OldLaunch {
  std::array<unsigned, 3> block{1, 1, 1};
  unsigned shared_bytes = 0;
  std::size_t parameter_bytes = 0;
  std::vector<std::byte> parameters{};
};

/// A kernel as the program holds it, with the attributes that it may set.
class Function {
public:
  Function(std::weak_ptr<Module> module, api::Kernel kernel, const model::Device& device);

  [[nodiscard]] const api::Kernel& kernel() const { return kernel_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::shared_ptr<Module> module() const { return module_.lock(); }

  /// Errors: CUDA_ERROR_INVALID_VALUE for an attribute that there is not.
  [[nodiscard]] int attribute(CUfunction_attribute attribute) const;
  /// Errors: CUDA_ERROR_INVALID_VALUE for an attribute that cannot be set, or a value that the device does not allow.
  void set_attribute(CUfunction_attribute attribute, int value);

  /// Bytes of dynamic shared memory that a launch may ask for.
  [[nodiscard]] std::uint64_t most_dynamic_shared() const;
  /// The most threads that a block may have.
  [[nodiscard]] int most_threads() const;
  /// Found when first asked for. Throws Failure: an instruction that cannot be run.
  [[nodiscard]] const api::Resources& resources() const;

  /// A request of the kernel and the device, with what is the same for every launch; given back, it is used again.
  api::LaunchRequest borrow_request();
  void return_request(api::LaunchRequest request);

  /// Blocks of that size that a multiprocessor holds; 0: none fits.
  [[nodiscard]] int resident_blocks(std::int64_t threads, std::uint64_t dynamic_shared) const;

  /// Where parameter i lies in the parameter buffer, and how many bytes it has.
  struct Parameter {
    std::size_t offset, size;
  };
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  [[nodiscard]] std::size_t parameter_bytes() const { return parameter_bytes_; }

  OldLaunch old_launch{}; ///< one thread at a time, as the interface demands

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
  std::map<CUfunction_attribute, std::atomic<int>> settings_; ///< those that can be set
};

class Module : public std::enable_shared_from_this<Module> {
public:
  /// Throws Failure: CUDA_ERROR_INVALID_PTX, CUDA_ERROR_OUT_OF_MEMORY; the diagnostics are its text. `owner`: what
  /// its variables belong to. `max_registers`: that kernels may use, where they do not say themselves; 0: all.
  static std::shared_ptr<Module> load(Machine& machine, std::span<const api::Source> sources, const void* owner,
                                      unsigned max_registers = 0);
  ~Module();

  /// Null: there is no such kernel.
  std::shared_ptr<Function> function(const std::string& name);
  [[nodiscard]] std::vector<std::string> function_names() const;
  [[nodiscard]] const api::Module& api() const { return *module_; }
  [[nodiscard]] api::Module& api() { return *module_; }
  [[nodiscard]] const void* owner() const { return owner_; }
  [[nodiscard]] unsigned max_registers() const { return max_registers_; }
  /// For what a kernel's PTX was made: 90 for sm_90. Libraries choose their code by it.
  [[nodiscard]] int target(std::string_view kernel) const;
  /// All functions that were asked for so far.
  [[nodiscard]] std::vector<std::shared_ptr<Function>> functions() const;

private:
  Module(Machine& machine, std::shared_ptr<api::Module> module, const void* owner);
  Machine& machine_;
  std::shared_ptr<api::Module> module_;
  const void* owner_;
  unsigned max_registers_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Function>> functions_;
  std::map<std::string, int, std::less<>> targets_; ///< by kernel, where files were linked
};

/// A kernel of a library. It has no context; ours needs none, so it only names its function.
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
  /// Null: there is no such kernel.
  std::shared_ptr<Kernel> kernel(const std::string& name);

private:
  std::shared_ptr<Module> module_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Kernel>> kernels_;
};

/// The function that a program names by its CUfunction or its CUkernel. Throws Failure CUDA_ERROR_INVALID_HANDLE.
std::shared_ptr<Function> find_function(Machine& machine, CUfunction handle);

} // namespace warplens::runtime
