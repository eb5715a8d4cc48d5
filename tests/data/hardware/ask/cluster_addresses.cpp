// Asks a GPU of compute capability 9.0 which addresses shared memory has in a cluster, and which of them work: writes
// cluster_addresses.txt.
//
//   g++ -std=c++20 -O1 -I. -o ask_cluster_addresses tests/data/hardware/ask/cluster_addresses.cpp \
//       tests/hardware/cluster_questions.cpp -ldl
//   ./ask_cluster_addresses > tests/data/hardware/cluster_addresses.txt
//
// A line per cluster and question: the shape of the cluster ("none": a launch without one), the question, and after "="
// %v of each block in the order of ranks, in hexadecimal; or "error" and the CUresult of the kernel.
// tests/hardware/cluster_questions.hpp says what the statements mean.
#include "tests/hardware/cluster_questions.hpp"
#include "tests/programs/hopper/gpu.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace {

using warplens::tests::ClusterShape;

std::string answer(const ClusterShape& shape, const std::string& question) {
  const std::string line = shape.name + ": " + question;
  gpu::Gpu::make_context();
  void *module = nullptr, *function = nullptr;
  const std::string text = warplens::tests::cluster_kernel(shape, question);
  if (const int error = gpu::call("cuModuleLoadData", &module, static_cast<const void*>(text.c_str())); error != 0)
    return line + " refused " + std::to_string(error);
  gpu::must("cuModuleGetFunction", &function, module, "k");
  gpu::Pointer out = gpu::Gpu::zeros(4096);
  gpu::Pointer in = gpu::Gpu::copied(std::vector<std::uint32_t>(64, 0x300));
  void* arguments[] = {&out, &in};
  int error = gpu::call("cuLaunchKernel", function, shape.x, shape.y, shape.z, 32u, 1u, 1u, 0u,
                        static_cast<void*>(nullptr), static_cast<void**>(arguments), static_cast<void**>(nullptr));
  if (error == 0) error = gpu::call("cuCtxSynchronize");
  if (error != 0) return line + " error " + std::to_string(error);
  std::string values;
  for (const std::uint32_t v : gpu::Gpu::back<std::uint32_t>(out, shape.x * shape.y * shape.z)) {
    char digits[16];
    std::snprintf(digits, sizeof digits, " %x", v);
    values += digits;
  }
  return line + " =" + values;
}

} // namespace

int main(int count, char** arguments) {
  int i = 0;
  for (const ClusterShape& shape : warplens::tests::cluster_shapes())
    for (const std::string& question : warplens::tests::cluster_questions()) {
      if (count > 2 && std::strcmp(arguments[1], "--print") == 0) { // the kernels, for ptxas to check
        std::ofstream(std::string(arguments[2]) + "/" + std::to_string(i++) + ".ptx")
            << warplens::tests::cluster_kernel(shape, question);
        continue;
      }
      std::fflush(stdout);
      const pid_t child = fork(); // each in a process of its own: an error ends a context
      if (child == 0) {
        alarm(20);
        std::puts(answer(shape, question).c_str());
        std::fflush(stdout);
        _exit(0);
      }
      int status = 0;
      waitpid(child, &status, 0);
      if (WIFSIGNALED(status)) std::printf("%s: %s no end in 20 seconds\n", shape.name.c_str(), question.c_str());
    }
}
