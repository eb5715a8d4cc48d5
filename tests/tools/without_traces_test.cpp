// SPDX-License-Identifier: Apache-2.0
// Builds without optional parts: see the options at the top of CMakeLists.txt.
#include "tests/tools/program.hpp"

namespace warplens::testing {
namespace without_traces_test {

TEST(WithoutTraces, CommandsOfTracesSayWhy) {
  for (const char* command : {"analyze", "inspect", "convert"}) {
    const Output o = run_program({command, "t.h5"});
    EXPECT_EQ(o.status, 2) << o.err;
    EXPECT_NE(o.err.find("no command '" + std::string(command) + "'"), o.err.npos) << o.err;
    EXPECT_NE(o.err.find("WARPLENS_TRACES"), o.err.npos) << o.err;
  }
}

TEST(WithoutTraces, AllElseIsThere) {
  const Output o = run_program({"run", WARPLENS_SOURCE_DIR "/samples/vector_add/launch.toml", "--details", "memory"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.out.find("transactions"), o.out.npos) << o.out;
  const Output trace = run_program({"run", WARPLENS_SOURCE_DIR "/samples/vector_add/launch.toml", "--trace", "t.h5"});
  EXPECT_EQ(trace.status, 2) << trace.err;
}

TEST(WithoutTraces, NothingNeedsHdf5) {
  const Folder folder;
  const std::string list = (folder.path() / "libraries").string();
  ASSERT_EQ(std::system(("ldd '" WARPLENS_PROGRAM "' >'" + list + "'").c_str()), 0);
  EXPECT_NE(read_text(list).find("libc.so"), std::string::npos);
  EXPECT_EQ(read_text(list).find("hdf5"), std::string::npos) << read_text(list);
}

// Before the launch, so that no time is lost.
TEST(WithoutPage, SaysWhatIsMissingBeforeTheRun) {
  const Folder folder;
  const std::string page = (folder.path() / "page.html").string();
  const std::string sample = WARPLENS_SOURCE_DIR "/samples/vector_add";
  for (const std::vector<std::string>& command : {std::vector<std::string>{"run", sample, "--html", page},
                                                  {"sweep", sample, "--html", page, "--block", "32,64"},
                                                  {"exec", "--html", page, "--", "/bin/true"}}) {
    const Output o = run_program(command);
    EXPECT_EQ(o.status, 2) << o.err;
    EXPECT_EQ(o.out, "");
    EXPECT_NE(o.err.find("made with -DWARPLENS_HTML=OFF"), o.err.npos) << o.err;
    EXPECT_NE(o.err.find("-DWARPLENS_HTML=ON"), o.err.npos) << o.err;
    EXPECT_FALSE(std::filesystem::exists(page));
  }
}

// CMake cannot find the libraries that the core does not need.
TEST(CoreAlone, ConfiguresWithoutTheLibrariesOfTheRest) {
  const Folder folder;
  const std::string log = (folder.path() / "log").string();
  const std::string command =
      "'" WARPLENS_CMAKE "' -G Ninja -S '" WARPLENS_SOURCE_DIR "' -B '" + (folder.path() / "build").string() +
      "' -DCMAKE_CXX_COMPILER='" WARPLENS_CXX "' -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON "
      "-DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON -DWARPLENS_HDF5=NOTFOUND -DWARPLENS_ISAL=NOTFOUND "
      "-DWARPLENS_TRACES=OFF -DWARPLENS_RUNTIME=OFF -DWARPLENS_TESTS=OFF -DWARPLENS_BENCHMARKS=OFF";
  EXPECT_EQ(std::system((command + " >'" + log + "' 2>&1").c_str()), 0) << read_text(log);
  EXPECT_EQ(std::system((command + " -DWARPLENS_HTML=OFF >'" + log + "' 2>&1").c_str()), 0) << read_text(log);
  EXPECT_NE(std::system((command + " -DWARPLENS_HTML=ON >'" + log + "' 2>&1").c_str()), 0);
  EXPECT_NE(read_text(log).find("WARPLENS_HTML=ON lacks"), std::string::npos) << read_text(log);
  EXPECT_NE(std::system((command + " -DWARPLENS_TESTS=ON >'" + log + "' 2>&1").c_str()), 0);
  EXPECT_NE(read_text(log).find("require traces and the runtime"), std::string::npos) << read_text(log);
}

} // namespace without_traces_test
} // namespace warplens::testing
