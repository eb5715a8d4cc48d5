// SPDX-License-Identifier: Apache-2.0
#include "python/core/session.hpp"

#include "api/session/kernel_name.hpp"

#include <fmt/format.h>

#include <mutex>

namespace warplens::python {

const std::shared_ptr<api::Context>& context() {
  static std::mutex mutex;
  static std::shared_ptr<api::Context> made;
  refuse_forks();
  const std::lock_guard lock(mutex);
  if (!made) {
    made = value_or_throw(api::Context::create(), "Error");
    note_use();
  }
  return made;
}

std::string Parameter::text() const {
  return fmt::format("parameter {}{}", name, source_type.empty() ? "" : " (" + source_type + ")");
}

namespace {

/// "float const*" is a pointer to a const float. The demangler writes `const` after the type.
void read_pointer(Parameter& parameter) {
  std::string_view type = parameter.source_type;
  if (type.ends_with(" __restrict__")) type.remove_suffix(std::string_view(" __restrict__").size());
  if (type.ends_with(" restrict")) type.remove_suffix(std::string_view(" restrict").size());
  if (!type.ends_with('*')) return;
  type.remove_suffix(1);
  while (type.ends_with(" const") || type.ends_with(" volatile")) {
    parameter.is_const |= type.ends_with(" const");
    type = type.substr(0, type.rfind(' '));
  }
  parameter.pointee = type;
}

std::vector<Parameter> parameters_of(const ir::Function& kernel) {
  std::vector<std::string> types = api::source_parameters(kernel.name);
  std::vector<Parameter> list;
  for (const ir::Variable& v : kernel.params) {
    Parameter p;
    p.name = v.name;
    p.type = v.type;
    p.size = v.size;
    p.is_struct = !v.extents.empty();
    if (types.size() == kernel.params.size()) p.source_type = types[list.size()];
    read_pointer(p);
    list.push_back(std::move(p));
  }
  return list;
}

} // namespace

LoadedKernel::LoadedKernel(api::Kernel kernel)
    : kernel_(std::move(kernel)), name_(kernel_.function->name), parameters_(parameters_of(*kernel_.function)) {}

const api::Kernel& LoadedKernel::open() const {
  refuse_forks();
  if (!kernel_.module) throw Failure("ClosedError", fmt::format("the module of kernel {} is closed", name_));
  return kernel_;
}

LoadedModule LoadedModule::load(const std::vector<api::Source>& sources) {
  LoadedModule loaded;
  loaded.module_ = value_or_throw(api::Module::load(context(), sources), "ParseError", sources);
  return loaded;
}

std::shared_ptr<LoadedKernel> LoadedModule::kernel(const std::string& name) {
  Expected<api::Kernel> found = open().kernel(name);
  if (!found) throw Failure("InputError", found.error());
  for (const auto& known : kernels_)
    if (known->open().function == found->function) return known;
  return kernels_.emplace_back(std::make_shared<LoadedKernel>(std::move(*found)));
}

std::vector<std::string> LoadedModule::kernel_names() const {
  std::vector<std::string> names;
  for (const ir::Function* f : open().kernels()) names.emplace_back(f->name);
  return names;
}

api::Module& LoadedModule::open() const {
  refuse_forks();
  if (!module_) throw Failure("ClosedError", "the module is closed");
  return *module_;
}

void LoadedModule::close() {
  for (const auto& kernel : kernels_) kernel->close();
  kernels_.clear();
  module_.reset();
}

DeviceMemory::DeviceMemory(std::uint64_t bytes, std::string name, std::string format, std::uint64_t item_bytes)
    : buffer_(value_or_throw(api::Buffer::allocate(context(), bytes, std::move(name)), "Error")),
      format_(std::move(format)), item_bytes_(item_bytes) {}

api::Buffer& DeviceMemory::open() const {
  refuse_forks();
  if (!buffer_) throw Failure("ClosedError", "the memory of this DeviceArray has been freed");
  return *buffer_;
}

} // namespace warplens::python
