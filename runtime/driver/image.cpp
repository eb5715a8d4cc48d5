#include "runtime/driver/image.hpp"

#include "runtime/driver/serve.hpp"
#include "runtime/fatbin/module_image.hpp"

namespace warplens::runtime {

std::vector<api::Source> ptx_of(const void* image, const model::Device& device) {
  require(image != nullptr);
  fatbin::LoadedCode code = fatbin::load_code(image, device.capability);
  if (!code)
    throw Failure{code.error().kind == fatbin::LoadError::Kind::no_ptx ? CUDA_ERROR_NO_BINARY_FOR_GPU
                                                                       : CUDA_ERROR_INVALID_IMAGE,
                  render(code.error().diagnostics, {})};
  for (const std::string& note : code->notes) tell(note);
  return std::move(code->sources);
}

} // namespace warplens::runtime
