// SPDX-License-Identifier: Apache-2.0
// Modules, kernels and device memory, as Python holds them.
//
//   LoadedModule module = LoadedModule::load({{ptx, "saxpy.ptx"}});
//   const LoadedKernel kernel = module.kernel("saxpy");
//   kernel.parameters()[2].pointee == "float", .is_const
//   DeviceMemory x(4096, "x", "f", 4);
#pragma once

#include "api/session/session.hpp"
#include "python/core/failure.hpp"

#include <memory>
#include <string>
#include <vector>

namespace warplens::python {

/// The device memory of this process, made on first use. Throws ForkError after a fork.
const std::shared_ptr<api::Context>& context();

/// What is known of a parameter of a kernel.
struct Parameter {
  std::string name;        ///< in the PTX
  std::string source_type; ///< in the CUDA source: "float const*"; empty: the kernel's name does not say
  isa::Type type{};
  std::uint64_t size = 0;
  bool is_struct = false; ///< an array of bytes in the PTX
  std::string pointee;    ///< of a pointer, without `const`: "float"; empty: no pointer, or not known
  bool is_const = false;  ///< the kernel promises not to write there
  /// "parameter saxpy_param_2 (float const*)"
  [[nodiscard]] std::string text() const;
};

/// A kernel of a module; keeps the module alive until that is closed.
class LoadedKernel {
public:
  explicit LoadedKernel(api::Kernel kernel);
  /// Throws ClosedError if the module has been closed.
  [[nodiscard]] const api::Kernel& open() const;
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  void close() { kernel_ = {}; }

private:
  api::Kernel kernel_;
  std::string name_; ///< in the PTX
  std::vector<Parameter> parameters_;
};

class LoadedModule {
public:
  /// Links several sources. Errors: as api::Module::load().
  static LoadedModule load(const std::vector<api::Source>& sources);
  /// Errors: no such kernel; the module has been closed.
  std::shared_ptr<LoadedKernel> kernel(const std::string& name);
  [[nodiscard]] std::vector<std::string> kernel_names() const; ///< in the PTX
  [[nodiscard]] api::Module& open() const;
  [[nodiscard]] bool is_open() const { return module_ != nullptr; }
  void close();

private:
  std::shared_ptr<api::Module> module_;
  std::vector<std::shared_ptr<LoadedKernel>> kernels_; ///< that were asked for
};

/// A block of device memory with the type of its elements. Several objects can share the memory.
class DeviceMemory {
public:
  /// `format`: of an element, as in Python's module struct; `item_bytes`: its size.
  DeviceMemory(std::uint64_t bytes, std::string name, std::string format, std::uint64_t item_bytes);
  /// Throws ClosedError after close().
  [[nodiscard]] api::Buffer& open() const;
  [[nodiscard]] const std::shared_ptr<api::Buffer>& share() const {
    static_cast<void>(open());
    return buffer_;
  }
  [[nodiscard]] bool is_open() const { return buffer_ != nullptr; }
  [[nodiscard]] const std::string& format() const { return format_; }
  [[nodiscard]] std::uint64_t item_bytes() const { return item_bytes_; }
  void close() { buffer_.reset(); }

private:
  std::shared_ptr<api::Buffer> buffer_;
  std::string format_;
  std::uint64_t item_bytes_;
};

} // namespace warplens::python
