// SPDX-License-Identifier: Apache-2.0
// Modules: loading code, finding its functions and variables.
#include "runtime/driver/machine/image.hpp"
#include "runtime/driver/machine/jit_log.hpp"
#include "runtime/driver/machine/module.hpp"
#include "runtime/driver/machine/serve.hpp"

using namespace warplens::runtime;

namespace {

/// `image`: as passed by the program, or the contents of a file. `max_registers`: 0: as when it was linked.
template <class Image> CUmodule load(Context& context, const Image& image, unsigned max_registers = 0) {
  Machine& machine = Machine::instance();
  context.flush_printed();
  Code code = ptx_of(image, machine.device());
  if (max_registers != 0) code.max_registers = max_registers;
  return machine.modules.add(Module::load(machine, code, &context));
}

} // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return serve([&](Context& context) {
    require(module != nullptr);
    *module = load(context, image);
  });
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int count, CUjit_option* options,
                            void** values) {
  return serve([&](Context& context) {
    require(module != nullptr);
    const JitLog jit(count, options, values);
    jit.collect([&] { *module = load(context, image, jit.max_registers()); });
  });
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) { return cuModuleLoadData(module, image); }

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return serve([&](Context& context) {
    require(module != nullptr);
    *module = load(context, std::string_view(read_code(path)));
  });
}

CUresult cuModuleUnload(CUmodule handle) {
  return serve_for(handle, [&] {
    if (Context* const context = context_of(handle)) context->synchronize(); // running kernels may use it
    Machine::instance().modules.remove(handle);
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return serve_for(module, [&] {
    require(function != nullptr && name != nullptr && *name != '\0');
    const std::shared_ptr<Function> found = find_module(module)->function(name);
    require(found != nullptr, CUDA_ERROR_NOT_FOUND);
    *function = Registry<Function, CUfunction>::handle(found.get());
  });
}

CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule module) {
  return serve_for(module, [&] {
    require(count != nullptr);
    *count = static_cast<unsigned>(find_module(module)->function_names().size());
  });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int count, CUmodule module) {
  return serve_for(module, [&] {
    require(functions != nullptr && count > 0);
    const std::shared_ptr<Module> found = find_module(module);
    for (const std::string& name : found->function_names())
      if (count-- > 0) *functions++ = Registry<Function, CUfunction>::handle(found->function(name).get());
  });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name) {
  return serve_for(module, [&] {
    require(name != nullptr && (address != nullptr || bytes != nullptr));
    const warplens::api::Buffer* const variable = find_module(module)->api().variable(name);
    require(variable != nullptr, CUDA_ERROR_NOT_FOUND);
    if (address != nullptr) *address = variable->address();
    if (bytes != nullptr) *bytes = variable->bytes().size();
  });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return serve([&](Machine&) {
    require(mode != nullptr);
    *mode = CU_MODULE_EAGER_LOADING;
  });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return serve_for(function, [&] {
    require(value != nullptr);
    *value = find_function(Machine::instance(), function)->attribute(attribute);
  });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return serve_for(function, [&] { find_function(Machine::instance(), function)->set_attribute(attribute, value); });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return serve_for(function, [&] {
    require(name != nullptr);
    *name = find_function(Machine::instance(), function)->name().c_str();
  });
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return serve_for(function, [&] {
    require(module != nullptr);
    *module = Registry<Module, CUmodule>::handle(find_function(Machine::instance(), function)->module().get());
  });
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* size) {
  return serve_for(function, [&] {
    const std::shared_ptr<Function> found = find_function(Machine::instance(), function);
    require(offset != nullptr && index < found->parameters().size());
    *offset = found->parameters()[index].offset;
    if (size != nullptr) *size = found->parameters()[index].size;
  });
}

// Cache and bank settings do not change the results of a kernel.
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  return serve_for(function, [&] { find_function(Machine::instance(), function); });
}

CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig) {
  return serve_for(function, [&] { find_function(Machine::instance(), function); });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return serve_for(function, [&] {
    require(state != nullptr);
    find_function(Machine::instance(), function);
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
  });
}

CUresult cuFuncLoad(CUfunction function) {
  return serve_for(function, [&] { find_function(Machine::instance(), function); });
}

} // extern "C"
