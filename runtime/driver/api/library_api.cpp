// SPDX-License-Identifier: Apache-2.0
// Libraries: code that is loaded for all contexts, and their kernels.
#include "runtime/driver/machine/image.hpp"
#include "runtime/driver/machine/jit_log.hpp"
#include "runtime/driver/machine/module.hpp"
#include "runtime/driver/machine/serve.hpp"

using namespace warplens::runtime;

namespace {

std::shared_ptr<Library> find(CUlibrary handle) { return object_of(Machine::instance().libraries, handle); }
std::shared_ptr<Kernel> find(CUkernel handle) { return object_of(Machine::instance().kernels, handle); }

/// `image`: as passed by the program, or the contents of a file. `max_registers`: 0: as when it was linked.
template <class Image> CUlibrary load(const Image& image, unsigned max_registers = 0) {
  Machine& machine = Machine::instance();
  Code code = ptx_of(image, machine.device());
  if (max_registers != 0) code.max_registers = max_registers;
  return machine.libraries.add(std::make_shared<Library>(Module::load(machine, code, &machine)));
}

CUkernel kernel_of(const std::shared_ptr<Library>& library, const std::string& name) {
  const std::shared_ptr<Kernel> kernel = library->kernel(name);
  require(kernel != nullptr, CUDA_ERROR_NOT_FOUND);
  return Registry<Kernel, CUkernel>::handle(kernel.get());
}

void find_variable(CUdeviceptr* address, size_t* bytes, CUlibrary library, const char* name, bool managed) {
  require(name != nullptr && (address != nullptr || bytes != nullptr));
  const warplens::api::Module& module = find(library)->module()->api();
  const warplens::api::Buffer* const variable = module.variable(name);
  require(variable != nullptr, CUDA_ERROR_NOT_FOUND);
  if (managed) {
    const std::optional<Allocation> found = Machine::instance().memory().find(variable->address());
    require(found && found->kind == Allocation::Kind::managed, CUDA_ERROR_NOT_FOUND);
  }
  if (address != nullptr) *address = variable->address();
  if (bytes != nullptr) *bytes = variable->bytes().size();
}

} // namespace

extern "C" {

CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option* options, void** values,
                           unsigned int count, CUlibraryOption*, void**, unsigned int) {
  return serve([&](Machine&) {
    require(library != nullptr);
    const JitLog jit(count, options, values);
    jit.collect([&] { *library = load(image, jit.max_registers()); });
  });
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option*, void**, unsigned int,
                               CUlibraryOption*, void**, unsigned int) {
  return serve([&](Machine&) {
    require(library != nullptr);
    *library = load(std::string_view(read_code(path)));
  });
}

CUresult cuLibraryUnload(CUlibrary handle) {
  return serve([&](Machine& machine) {
    find(handle);
    for (const auto& context : machine.contexts.all()) context->synchronize(); // running kernels may use it
    machine.libraries.remove(handle);
  });
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return serve([&](Machine&) {
    require(kernel != nullptr && name != nullptr);
    *kernel = kernel_of(find(library), name);
  });
}

CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary library) {
  return serve([&](Machine&) {
    require(count != nullptr);
    *count = static_cast<unsigned>(find(library)->module()->function_names().size());
  });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int count, CUlibrary library) {
  return serve([&](Machine&) {
    require(kernels != nullptr && count > 0);
    const std::shared_ptr<Library> found = find(library);
    for (const std::string& name : found->module()->function_names())
      if (count-- > 0) *kernels++ = kernel_of(found, name);
  });
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return serve([&](Context&) {
    require(module != nullptr);
    const std::shared_ptr<Library> found = find(library);
    *module = Registry<Module, CUmodule>::handle(found->module().get());
    Machine::instance().modules.add(found->module());
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary library, const char* name) {
  return serve([&](Context&) { find_variable(address, bytes, library, name, false); });
}

CUresult cuLibraryGetManaged(CUdeviceptr* address, size_t* bytes, CUlibrary library, const char* name) {
  return serve([&](Machine&) { find_variable(address, bytes, library, name, true); });
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return serve([&](Context&) {
    require(function != nullptr);
    *function = Registry<Function, CUfunction>::handle(find(kernel)->function().get());
  });
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return serve([&](Machine&) {
    require(library != nullptr);
    *library = Registry<Library, CUlibrary>::handle(find(kernel)->library().get());
  });
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  return serve([&](Machine&) {
    require(value != nullptr);
    require(device == kDevice, CUDA_ERROR_INVALID_DEVICE);
    *value = find(kernel)->function()->attribute(attribute);
  });
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  return serve([&](Machine&) {
    require(device == kDevice, CUDA_ERROR_INVALID_DEVICE);
    find(kernel)->function()->set_attribute(attribute, value);
  });
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache, CUdevice device) {
  return serve([&](Machine&) {
    require(device == kDevice, CUDA_ERROR_INVALID_DEVICE);
    find(kernel);
  });
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return serve([&](Machine&) {
    require(name != nullptr);
    *name = find(kernel)->function()->name().c_str();
  });
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* size) {
  return serve([&](Context&) {
    const std::shared_ptr<Function> function = find(kernel)->function();
    require(offset != nullptr && index < function->parameters().size());
    *offset = function->parameters()[index].offset;
    if (size != nullptr) *size = function->parameters()[index].size;
  });
}

} // extern "C"
