// SPDX-License-Identifier: Apache-2.0
// A program whose worker, in which LLVM makes machine code, does not do what it should.
#include "tests/tools/program.hpp"

#include <sys/stat.h>

namespace warplens::testing {
namespace compiled_kernels_test {

namespace fs = std::filesystem;

// Copies of the program and of its library, with another worker.
class WithWorker {
public:
  explicit WithWorker(std::string_view worker) {
    const fs::path library = WARPLENS_COMPILER_LIBRARY;
    fs::copy(WARPLENS_PROGRAM, folder_.path() / "warplens");
    fs::copy(library, folder_.path() / library.filename());
    use(worker);
  }
  void use(std::string_view worker) const {
    const std::string file = folder_.write("warplens_compile_worker", worker);
    chmod(file.c_str(), 0755);
  }
  [[nodiscard]] Output run() const {
    return run_command({"env", "WARPLENS_CACHE=" + (folder_.path() / "cache").string(),
                        (folder_.path() / "warplens").string(), "run", "--compile", "always", "--explain-compiled",
                        WARPLENS_SAMPLES "/vector_add/launch.toml"});
  }

private:
  Folder folder_;
};

TEST(CompiledKernels, RunInTheInterpreterIfLlvmCrashes) {
  const Output interpreted = run_program({"run", "--compile", "off", WARPLENS_SAMPLES "/vector_add/launch.toml"});
  const WithWorker program("#!/bin/sh\nkill -SEGV $$\n");
  const Output crashed = program.run();
  EXPECT_EQ(crashed.status, 0) << crashed.err;
  EXPECT_EQ(crashed.out, interpreted.out);
  EXPECT_NE(crashed.err.find("LLVM crashed"), std::string::npos) << crashed.err;
  // It is not tried again, with this library.
  program.use("#!/bin/sh\ntouch \"${0%/*}/tried\"\n");
  const Output again = program.run();
  EXPECT_EQ(again.out, interpreted.out);
  EXPECT_NE(again.err.find("LLVM crashed"), std::string::npos) << again.err;
}

} // namespace compiled_kernels_test
} // namespace warplens::testing
