// SPDX-License-Identifier: Apache-2.0
// Where versions 11, 12 and 13 differ: layouts and parameters.
#include "runtime/abi/runtime_api.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <string>

namespace versions_test {

// The structure layouts of the headers of 11.8, 12.9 and 13.0.
static_assert(sizeof(cudaDeviceProp_11) == 728);
static_assert(sizeof(cudaDeviceProp_12) == 1032);
static_assert(sizeof(cudaDeviceProp_13) == 1008);
static_assert(offsetof(cudaDeviceProp_12, clockRate) == 348);
static_assert(offsetof(cudaDeviceProp_13, totalConstMem) == 352);
static_assert(sizeof(cudaGraphNodeParams) == 256);
static_assert(sizeof(cudaResourceDesc) == 144);
static_assert(sizeof(cudaTextureDesc) == 72);
static_assert(sizeof(cudaMemcpy3DParms) == 160);

/// A function of one of the libraries.
template <class Function> Function* function(const char* library, const char* name) {
  void* handle = dlopen((std::string(WARPLENS_CUDA_DIRECTORY "/") + library).c_str(), RTLD_NOW | RTLD_LOCAL);
  return handle ? reinterpret_cast<Function*>(dlsym(handle, name)) : nullptr;
}

TEST(CudartVersions, SayTheirNumber) {
  int number = 0;
  for (const auto& [library, expected] : {std::pair("libcudart.so.11.0", 11080), std::pair("libcudart.so.12", 12090),
                                          std::pair("libcudart.so.13", 13000)}) {
    auto* get = function<cudaError_t(int*)>(library, "cudaRuntimeGetVersion");
    ASSERT_NE(get, nullptr);
    EXPECT_EQ(get(&number), cudaSuccess);
    EXPECT_EQ(number, expected);
  }
}

TEST(CudartVersions, PropertiesInEachLayout) {
  const auto get = [](const char* library, const char* name, auto* properties) {
    using Prop = std::remove_pointer_t<decltype(properties)>;
    auto* ask = function<cudaError_t(Prop*, int)>(library, name);
    return ask ? ask(properties, 0) : cudaErrorSymbolNotFound;
  };
  cudaDeviceProp_11 eleven{};
  cudaDeviceProp_12 twelve{};
  cudaDeviceProp_13 thirteen{};
  ASSERT_EQ(get("libcudart.so.11.0", "cudaGetDeviceProperties", &eleven), cudaSuccess);
  ASSERT_EQ(get("libcudart.so.12", "cudaGetDeviceProperties_v2", &twelve), cudaSuccess);
  ASSERT_EQ(get("libcudart.so.13", "cudaGetDeviceProperties", &thirteen), cudaSuccess);
  for (const char* name : {eleven.name, twelve.name, thirteen.name}) EXPECT_STREQ(name, "NVIDIA H200");
  EXPECT_EQ(eleven.multiProcessorCount, 132);
  EXPECT_EQ(twelve.multiProcessorCount, 132);
  EXPECT_EQ(thirteen.multiProcessorCount, 132);
  EXPECT_EQ(thirteen.major, 9);
  EXPECT_EQ(thirteen.minor, 0);
  EXPECT_EQ(thirteen.warpSize, 32);
  EXPECT_EQ(thirteen.maxThreadsDim[2], 64);
  EXPECT_EQ(thirteen.maxGridSize[0], 2147483647);
  EXPECT_EQ(thirteen.regsPerBlock, 65536);
  EXPECT_EQ(thirteen.sharedMemPerBlock, 49152u);
  EXPECT_EQ(thirteen.sharedMemPerBlockOptin, 232448u);
  EXPECT_EQ(thirteen.clusterLaunch, 1);
  EXPECT_EQ(eleven.clockRate, twelve.clockRate);
  EXPECT_GT(eleven.clockRate, 0);
  EXPECT_EQ(eleven.reservedSharedMemPerBlock, 1024u);
  EXPECT_GT(thirteen.totalGlobalMem, 0u);
  EXPECT_EQ(get("libcudart.so.13", "cudaGetDeviceProperties", &thirteen), cudaSuccess);
  auto* ask = function<cudaError_t(cudaDeviceProp_13*, int)>("libcudart.so.13", "cudaGetDeviceProperties");
  EXPECT_EQ(ask(&thirteen, 5), cudaErrorInvalidDevice);
}

/// A structure that was shorter is not written past its old end.
TEST(CudartVersions, ShorterStructuresStayShort) {
  auto* get = function<cudaError_t(cudaPointerAttributes*, const void*)>("libcudart.so.12", "cudaPointerGetAttributes");
  ASSERT_NE(get, nullptr);
  cudaPointerAttributes attributes;
  std::memset(&attributes, 0x77, sizeof attributes);
  ASSERT_EQ(get(&attributes, &attributes), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(attributes.reserved[0], 0x7777777777777777);
}

TEST(CudartVersions, InstantiateOf11HasItsOwnParameters) {
  auto* create = function<cudaError_t(cudaGraph_t*, unsigned)>("libcudart.so.11.0", "cudaGraphCreate");
  auto* instantiate = function<cudaError_t(cudaGraphExec_t*, cudaGraph_t, cudaGraphNode_t*, char*, std::size_t)>(
      "libcudart.so.11.0", "cudaGraphInstantiate");
  auto* launch = function<cudaError_t(cudaGraphExec_t, cudaStream_t)>("libcudart.so.11.0", "cudaGraphLaunch");
  ASSERT_NE(instantiate, nullptr);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  char log[8] = "before";
  ASSERT_EQ(create(&graph, 0), cudaSuccess);
  ASSERT_EQ(instantiate(&executable, graph, nullptr, log, sizeof log), cudaSuccess);
  EXPECT_STREQ(log, "");
  EXPECT_EQ(launch(executable, nullptr), cudaSuccess);
}

} // namespace versions_test
