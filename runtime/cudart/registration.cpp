// SPDX-License-Identifier: Apache-2.0
// The functions that nvcc's host code calls for each translation unit, as in crt/host_runtime.h of CUDA 11 to 13.
#include "runtime/cudart/registration.hpp"

#include "runtime/cudart/call.hpp"

#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace warplens::cudart {
namespace {

struct FatBinary;

struct Function {
  FatBinary* binary;
  const void* host;
  std::string name;
  CUkernel kernel = nullptr; ///< set when the binary is loaded
};

struct Variable {
  FatBinary* binary;
  const void* host;
  std::string name;
  void** managed = nullptr; ///< for managed variables, where the program keeps the address
};

struct FatBinary {
  explicit FatBinary(const void* registered) : wrapper(registered) {}

  const void* wrapper; ///< as the program registered it; the driver reads it
  std::list<Function> functions;
  std::list<Variable> variables;
  CUlibrary library = nullptr;
  std::optional<cudaError_t> loaded; ///< the result of loading

  cudaError_t load();
  cudaError_t load_managed_variables();
  void unload();
};

/// Everything that is registered. It is never destroyed: programs unregister from exit handlers.
struct Registry {
  std::mutex mutex;
  std::list<FatBinary> binaries;
  std::unordered_map<const void*, Function*> functions; ///< by host address, and by the address of the record
  std::unordered_map<const void*, Variable*> variables; ///< by host address, and by the address of managed memory
};

Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

cudaError_t FatBinary::load() {
  if (!loaded) {
    loaded = to_error(cuLibraryLoadData(&library, wrapper, nullptr, nullptr, 0, nullptr, nullptr, 0));
    if (*loaded == cudaSuccess) loaded = load_managed_variables();
  }
  return *loaded;
}

cudaError_t FatBinary::load_managed_variables() {
  for (Variable& variable : variables) {
    if (!variable.managed) continue;
    CUdeviceptr pointer = 0;
    std::size_t size = 0;
    TRY(cuLibraryGetManaged(&pointer, &size, library, variable.name.c_str()));
    *variable.managed = reinterpret_cast<void*>(pointer);
    registry().variables[*variable.managed] = &variable;
  }
  return cudaSuccess;
}

void FatBinary::unload() {
  if (library) cuLibraryUnload(library);
  library = nullptr;
  loaded.reset();
  for (Function& function : functions) function.kernel = nullptr;
  for (Variable& variable : variables)
    if (variable.managed && *variable.managed) {
      registry().variables.erase(*variable.managed);
      *variable.managed = nullptr;
    }
}

cudaError_t load_kernel(Function& function) {
  if (function.kernel) return cudaSuccess;
  TRY(function.binary->load());
  const CUresult result = cuLibraryGetKernel(&function.kernel, function.binary->library, function.name.c_str());
  return result == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidDeviceFunction : to_error(result);
}

} // namespace

cudaError_t find_kernel(const void* handle, CUkernel* kernel) {
  {
    const std::lock_guard lock(registry().mutex);
    if (const auto found = registry().functions.find(handle); found != registry().functions.end()) {
      TRY(load_kernel(*found->second));
      *kernel = found->second->kernel;
      return cudaSuccess;
    }
  }
  *kernel = static_cast<CUkernel>(const_cast<void*>(handle)); // the driver checks whether it is one
  CUfunction function = nullptr;
  return handle && cuKernelGetFunction(&function, *kernel) == CUDA_SUCCESS ? cudaSuccess
                                                                           : cudaErrorInvalidDeviceFunction;
}

cudaError_t find_function(const void* handle, CUfunction* function) {
  CUkernel kernel = nullptr;
  TRY(find_kernel(handle, &kernel));
  return to_error(cuKernelGetFunction(function, kernel));
}

void* host_function_of(CUfunction function, CUkernel kernel) {
  const std::lock_guard lock(registry().mutex);
  for (const auto& [address, registered] : registry().functions) {
    if (!registered->kernel) continue;
    CUfunction own = nullptr;
    if (registered->kernel == kernel ||
        (cuKernelGetFunction(&own, registered->kernel) == CUDA_SUCCESS && own == function))
      return const_cast<void*>(registered->host);
  }
  return kernel;
}

cudaError_t find_variable(const void* symbol, CUdeviceptr* pointer, std::size_t* size) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().variables.find(symbol);
  if (found == registry().variables.end()) return cudaErrorInvalidSymbol;
  const Variable& variable = *found->second;
  TRY(variable.binary->load());
  const CUresult result = cuLibraryGetGlobal(pointer, size, variable.binary->library, variable.name.c_str());
  return result == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : to_error(result);
}

cudaError_t find_part(const void* symbol, std::size_t offset, std::size_t size, void** pointer) {
  CUdeviceptr start = 0;
  std::size_t whole = 0;
  TRY(find_variable(symbol, &start, &whole));
  if (offset > whole || size > whole - offset) return cudaErrorInvalidValue;
  *pointer = reinterpret_cast<void*>(start + offset);
  return cudaSuccess;
}

void unload_all() {
  const std::lock_guard lock(registry().mutex);
  for (FatBinary& binary : registry().binaries) binary.unload();
}

} // namespace warplens::cudart

using namespace warplens::cudart;

namespace {
FatBinary& binary_of(void** handle) { return *reinterpret_cast<FatBinary*>(handle); }

void add_variable(void** handle, const void* host, const char* name, void** managed) {
  const std::lock_guard lock(registry().mutex);
  Variable& variable = binary_of(handle).variables.emplace_back(Variable{&binary_of(handle), host, name, managed});
  registry().variables[host] = &variable;
}
} // namespace

CUDART void** __cudaRegisterFatBinary(void* wrapper) {
  const std::lock_guard lock(registry().mutex);
  return reinterpret_cast<void**>(&registry().binaries.emplace_back(wrapper));
}

CUDART void __cudaRegisterFatBinaryEnd(void**) {}

CUDART void __cudaUnregisterFatBinary(void** handle) {
  const std::lock_guard lock(registry().mutex);
  FatBinary& binary = binary_of(handle);
  binary.unload();
  for (const Function& function : binary.functions) {
    registry().functions.erase(function.host);
    registry().functions.erase(&function);
  }
  for (const Variable& variable : binary.variables) registry().variables.erase(variable.host);
  registry().binaries.remove_if([&](const FatBinary& other) { return &other == &binary; });
}

CUDART void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*,
                                   dim3*, int*) {
  const std::lock_guard lock(registry().mutex);
  Function& function = binary_of(handle).functions.emplace_back(Function{&binary_of(handle), host, name});
  registry().functions[host] = &function;
  registry().functions[&function] = &function;
}

CUDART void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t, int, int) {
  add_variable(handle, host, name, nullptr);
}
CUDART void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int, size_t, int, int) {
  add_variable(handle, host, name, host);
}

/// Called before the host first accesses a managed variable.
CUDART char __cudaInitModule(void** handle) {
  return call([&] {
           const std::lock_guard lock(registry().mutex);
           return binary_of(handle).load();
         }) == cudaSuccess;
}

/// The result is for __cudaLaunchKernel alone. It is the record itself: if a binary cannot be loaded, the launch
/// returns the error, where programs check for it.
CUDART cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().functions.find(host);
  if (found == registry().functions.end()) return record(cudaErrorInvalidDeviceFunction);
  *kernel = reinterpret_cast<cudaKernel_t>(found->second);
  return cudaSuccess;
}

CUDART cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  return call([&] { return find_kernel(host, kernel); });
}
CUDART cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* host) {
  return call([&] { return find_function(host, function); });
}
