// SPDX-License-Identifier: Apache-2.0
#include "runtime/abi/driver.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace export_tables_test {

CUuuid id_of(const unsigned char (&bytes)[16]) {
  CUuuid id;
  std::memcpy(id.bytes, bytes, sizeof id.bytes);
  return id;
}

// NVIDIA's runtime requests this table first, and fails without it.
constexpr unsigned char kRuntimeInterface[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                                 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

TEST(ExportTables, WhoBringsNvidiasRuntimeIsTold) {
  const void* table = &table;
  const CUuuid runtime = id_of(kRuntimeInterface), unknown = id_of({0xab, 1, 2, 3});
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuGetExportTable(&table, &runtime), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(table, nullptr);
  const std::string advice = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(advice.find("runtime_driver_tests contains NVIDIA's CUDA runtime"), std::string::npos) << advice;
  EXPECT_NE(advice.find("nvcc -cudart shared"), std::string::npos) << advice;
  EXPECT_EQ(cuGetExportTable(&table, &unknown), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuGetExportTable(nullptr, &unknown), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetExportTable(&table, nullptr), CUDA_ERROR_INVALID_VALUE);
}

} // namespace export_tables_test
