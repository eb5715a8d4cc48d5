// The linker: PTX in, an image out that cuModuleLoadData takes. Nothing is translated: the image holds the sources, and
// loading it links them.
#include "runtime/driver/image.hpp"
#include "runtime/driver/jit_options.hpp"
#include "runtime/driver/module.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

using namespace warplens::runtime;
namespace api = warplens::api;

namespace warplens::runtime {

class Linker {
public:
  explicit Linker(JitOptions options) : options_(options) {}

  void add(const void* data, CUjitInputType type, const char* name) {
    require(data != nullptr);
    require(type != CU_JIT_INPUT_CUBIN && type != CU_JIT_INPUT_NVVM, CUDA_ERROR_NO_BINARY_FOR_GPU,
            [] { return "machine code cannot be linked: Warplens runs PTX"; });
    std::vector<api::Source> sources = ptx_of(data, Machine::instance().device());
    for (api::Source& source : sources) {
      if (name != nullptr && *name != '\0') source.file = name;
      sources_.push_back(std::move(source));
    }
  }

  /// Loads the sources once, so that errors come where a linker tells them.
  const std::string& complete() {
    with_error_log(options_, [&] { return Module::load(Machine::instance(), sources_, this); });
    image_ = image_of(sources_);
    return image_;
  }

  [[nodiscard]] const JitOptions& options() const { return options_; }

private:
  JitOptions options_;
  std::vector<api::Source> sources_;
  std::string image_;
};

} // namespace warplens::runtime

namespace {

Registry<Linker, CUlinkState>& linkers() {
  static auto& registry = *new Registry<Linker, CUlinkState>;
  return registry;
}

std::shared_ptr<Linker> find(CUlinkState state) {
  std::shared_ptr<Linker> linker = linkers().find(state);
  require(linker != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return linker;
}

} // namespace

extern "C" {

CUresult cuLinkCreate_v2(unsigned int count, CUjit_option* options, void** values, CUlinkState* state) {
  return serve([&](Context&) {
    require(state != nullptr);
    *state = linkers().add(std::make_shared<Linker>(JitOptions{count, options, values}));
  });
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name,
                          unsigned int, CUjit_option*, void**) {
  return serve([&](Context&) {
    require(data != nullptr && size != 0);
    // PTX need not end with a zero here.
    const std::string copy(static_cast<const char*>(data), size);
    find(state)->add(copy.c_str(), type, name);
  });
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned int, CUjit_option*,
                          void**) {
  return serve([&](Context&) {
    require(path != nullptr);
    std::ifstream in(path, std::ios::binary);
    require(in.is_open(), CUDA_ERROR_FILE_NOT_FOUND, [&] { return fmt::format("cannot read '{}'", path); });
    const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    find(state)->add(bytes.c_str(), type, path);
  });
}

// The image lives as long as the linker.
CUresult cuLinkComplete(CUlinkState state, void** image, size_t* size) {
  return serve([&](Context&) {
    require(image != nullptr);
    const std::string& made = find(state)->complete();
    *image = const_cast<char*>(made.data());
    if (size != nullptr) *size = made.size();
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return serve([&](Machine&) { require(linkers().remove(state) != nullptr, CUDA_ERROR_INVALID_HANDLE); });
}

} // extern "C"
