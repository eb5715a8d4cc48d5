// Runs the launches of tests/hardware/counted_copies.cpp on a GPU of compute capability 9.0, for a profiler:
// ask/counted_copies.py does that.
//
//   g++ -std=c++20 -O1 -I. -o ask_counted_copies tests/data/hardware/ask/counted_copies.cpp
//   tests/hardware/counted_copies.cpp -ldl
//   ./ask_counted_copies NUMBER…         launches these, from 0; "NUMBER ERROR" on standard error where one fails
//   ./ask_counted_copies --list          writes "GROUP NUMBER NAME" lines instead, which needs no GPU
//   ./ask_counted_copies --print FOLDER  writes the kernels instead, for ptxas to check; that needs no GPU
#include "tests/hardware/counted_copies.hpp"

using namespace warplens::tests;

namespace {

int launch(const CountedCopy& copy) {
  CountedCopy c = copy;
  const gpu::Pointer memory = gpu::Gpu::copied(counted_memory(c));
  gpu::TensorMap map{};
  if (c.group == "tensor") {
    c.tensor.address += memory;
    const int corners[3] = {0, 0, 0};
    const int error = c.im2col ? gpu::encode_im2col(&map, c.tensor, corners, corners, c.channels, c.pixels)
                               : gpu::encode_tiled(&map, c.tensor, c.box.data());
    if (error != 0) return -error;
  }
  void *module = nullptr, *function = nullptr;
  const std::string text = counted_kernel(c);
  gpu::must("cuModuleLoadData", &module, static_cast<const void*>(text.c_str()));
  gpu::must("cuModuleGetFunction", &function, module, "k");
  gpu::must("cuFuncSetAttribute", function, 8, static_cast<int>(kCountedShared));
  const void* arguments[] = {&map, &memory};
  int error = gpu::call("cuLaunchKernel", function, static_cast<unsigned>(c.blocks), 1u, 1u,
                        static_cast<unsigned>(c.threads), 1u, 1u, kCountedShared, static_cast<void*>(nullptr),
                        static_cast<const void**>(arguments), static_cast<void**>(nullptr));
  if (error == 0) error = gpu::call("cuCtxSynchronize");
  gpu::call("cuModuleUnload", module);
  gpu::call("cuMemFree_v2", memory);
  return error;
}

} // namespace

int main(int count, char** arguments) {
  const std::vector<CountedCopy> copies = counted_copies();
  const std::string first = count > 1 ? arguments[1] : "";
  for (std::size_t i = 0; i < copies.size() && first == "--list"; ++i)
    std::printf("%s %zu %s\n", copies[i].group.c_str(), i, copies[i].name.c_str());
  for (std::size_t i = 0; i < copies.size() && first == "--print" && count > 2; ++i)
    std::ofstream(std::string(arguments[2]) + "/" + std::to_string(i) + ".ptx") << counted_kernel(copies[i]);
  if (first.starts_with("--")) return 0;
  gpu::Gpu::make_context();
  for (int i = 1; i < count; ++i) {
    const int error = launch(copies.at(std::stoul(arguments[i])));
    if (error != 0) std::fprintf(stderr, "%s %d\n", arguments[i], error);
  }
}
