// SPDX-License-Identifier: Apache-2.0
// Linking at run time: collects PTX and fat binaries into one image, which cuModuleLoadData accepts.
#include "runtime/driver/machine/image.hpp"
#include "runtime/driver/machine/jit_log.hpp"
#include "runtime/driver/machine/module.hpp"

#include <fmt/format.h>

#include <filesystem>

using namespace warplens;
using namespace warplens::runtime;

namespace {

struct LinkState {
  JitLog log;
  Code code;
  std::string image; ///< set by cuLinkComplete()
};

Registry<LinkState, CUlinkState>& states() {
  static auto& instance = *new Registry<LinkState, CUlinkState>; // threads may use it at process exit
  return instance;
}

std::shared_ptr<LinkState> find(CUlinkState handle) { return object_of(states(), handle); }

void add(LinkState& state, CUjitInputType type, std::span<const char> data, const std::string& name) {
  switch (type) {
  case CU_JIT_INPUT_PTX: {
    std::string text(data.begin(), data.end());
    text.resize(std::min(text.find('\0'), text.size())); // the size can include the zero byte
    state.code.sources.push_back({std::move(text), name});
    return;
  }
  case CU_JIT_INPUT_CUBIN:
  case CU_JIT_INPUT_FATBINARY:
    for (api::Source& source : ptx_of(std::string_view(data.data(), data.size()), Machine::instance().device()).sources)
      state.code.sources.push_back(std::move(source));
    return;
  case CU_JIT_INPUT_LIBRARY:
    // The device runtime: the emulator provides the functions that it supports, and calls of others are reported.
    if (std::filesystem::path(name).filename() == "libcudadevrt.a") return;
    [[fallthrough]];
  case CU_JIT_INPUT_OBJECT:
    throw Failure{CUDA_ERROR_NOT_SUPPORTED,
                  fmt::format("linking the host object or library '{}' is not supported", name)};
  case CU_JIT_INPUT_NVVM: throw Failure{CUDA_ERROR_NOT_SUPPORTED, "linking NVVM code is not supported"};
  default: require(false);
  }
}

} // namespace

extern "C" {

CUresult cuLinkCreate_v2(unsigned count, CUjit_option* options, void** values, CUlinkState* handle) {
  return serve([&](Context&) {
    require(handle != nullptr);
    auto state = std::make_shared<LinkState>();
    state->log = JitLog(count, options, values);
    state->code.max_registers = state->log.max_registers();
    *handle = states().add(std::move(state));
  });
}

CUresult cuLinkAddData_v2(CUlinkState handle, CUjitInputType type, void* data, size_t size, const char* name, unsigned,
                          CUjit_option*, void**) {
  return serve([&](Machine&) {
    const std::shared_ptr<LinkState> state = find(handle);
    require(data != nullptr && size > 0 && state->image.empty());
    state->log.collect([&] {
      add(*state, type, {static_cast<const char*>(data), size}, name != nullptr && *name != '\0' ? name : "<ptx>");
    });
  });
}

CUresult cuLinkAddFile_v2(CUlinkState handle, CUjitInputType type, const char* path, unsigned, CUjit_option*, void**) {
  return serve([&](Machine&) {
    const std::shared_ptr<LinkState> state = find(handle);
    require(state->image.empty());
    const std::string bytes = read_code(path);
    state->log.collect([&] { add(*state, type, bytes, path); });
  });
}

CUresult cuLinkComplete(CUlinkState handle, void** image, size_t* size) {
  return serve([&](Machine& machine) {
    const std::shared_ptr<LinkState> state = find(handle);
    require(image != nullptr && !state->code.sources.empty());
    // Loaded once here, so that errors are reported where CUDA reports them.
    state->log.collect([&] { Module::load(machine, state->code, &machine); });
    state->image = linked_image(state->code);
    *image = state->image.data();
    if (size != nullptr) *size = state->image.size();
  });
}

CUresult cuLinkDestroy(CUlinkState handle) {
  return serve([&](Machine&) {
    find(handle);
    states().remove(handle);
  });
}

} // extern "C"
