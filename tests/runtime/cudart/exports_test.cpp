// SPDX-License-Identifier: Apache-2.0
// Each library exports the same symbols as NVIDIA's, with the library's name as symbol version. exports_13.txt has the
// exports of libcudart.so.13 of CUDA 13.0; exports_12.txt and exports_11.txt are the functions of the manuals of
// 12.0 to 12.9 and 11.4 to 11.8, their per-thread forms, and what nvcc's host code calls.
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <fstream>
#include <ostream>
#include <string>

namespace exports_test {

struct Library {
  const char *name, *list;
  friend std::ostream& operator<<(std::ostream& out, const Library& l) { return out << l.name; }
};

class CudartExports : public testing::TestWithParam<Library> {};

TEST_P(CudartExports, AreAllThereWithTheirVersion) {
  const Library& library = GetParam();
  void* handle = dlopen((std::string(WARPLENS_CUDA_DIRECTORY "/") + library.name).c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  std::ifstream list(std::string(WARPLENS_SOURCE_DIR "/tests/runtime/cudart/") + library.list);
  int count = 0;
  for (std::string name; std::getline(list, name); ++count)
    EXPECT_NE(dlvsym(handle, name.c_str(), library.name), nullptr) << name;
  EXPECT_GT(count, 300);
  EXPECT_EQ(dlvsym(handle, "_ZN8warplens6cudart10initializeEv", library.name), nullptr) << "our own names are hidden";
}

INSTANTIATE_TEST_SUITE_P(Versions, CudartExports,
                         testing::Values(Library{"libcudart.so.13", "exports_13.txt"},
                                         Library{"libcudart.so.12", "exports_12.txt"},
                                         Library{"libcudart.so.11.0", "exports_11.txt"}),
                         [](const auto& which) { return "Cuda" + std::string(which.param.list, 8, 2); });

} // namespace exports_test
