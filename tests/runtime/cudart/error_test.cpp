// SPDX-License-Identifier: Apache-2.0
// Errors: names and texts, the thread that an error belongs to, and the messages of missing functions.
#include "runtime/abi/runtime_api.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

extern "C" cudaError_t cudaImportExternalMemory(void*, void*);

namespace error_test {

TEST(CudartErrors, HaveNamesAndTexts) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

TEST(CudartErrors, BelongToTheThread) {
  EXPECT_EQ(cudaSetDevice(7), cudaErrorInvalidDevice);
  std::thread([] { EXPECT_EQ(cudaGetLastError(), cudaSuccess); }).join();
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess) << "a success does not clear it";
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(CudartErrors, MissingFunctionsSayTheirName) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cudaImportExternalMemory(nullptr, nullptr), cudaErrorNotSupported);
  EXPECT_EQ(cudaImportExternalMemory(nullptr, nullptr), cudaErrorNotSupported);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "warplens: cudaImportExternalMemory is not supported\n")
      << "once";
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

} // namespace error_test
