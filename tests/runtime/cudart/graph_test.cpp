// SPDX-License-Identifier: Apache-2.0
// Graph nodes whose parameters change, in the graph and in the instantiated graph, and conditional nodes.
#include "tests/runtime/counting.hpp"
#include "tests/runtime/cudart/program.hpp"

#include <gtest/gtest.h>

#include <string>

// Their signatures depend on the version of the library: these are the signatures of 13.
extern "C" cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long flags);
extern "C" cudaError_t cudaGraphAddNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, const cudaGraphEdgeData*,
                                        std::size_t, cudaGraphNodeParams*);

namespace graph_test {

constexpr int kCount = 4;

class CudartGraph : public testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess); }
  void TearDown() override {
    if (executable_ != nullptr) {
      EXPECT_EQ(cudaGraphExecDestroy(executable_), cudaSuccess);
    }
    EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
    cudaGetLastError();
  }

  cudaGraphNode_t add(cudaGraphNodeParams parameters, std::vector<cudaGraphNode_t> after = {}) {
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddNode(&node, graph_, after.data(), nullptr, after.size(), &parameters), cudaSuccess);
    return node;
  }
  void instantiate() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    ASSERT_EQ(cudaGraphInstantiate(&executable_, graph_, 0), cudaSuccess);
  }
  std::vector<int> launched(const Buffer<int>& buffer) {
    EXPECT_EQ(cudaGraphLaunch(executable_, nullptr), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return buffer.read();
  }
  cudaError_t set(cudaGraphNode_t node, cudaGraphNodeParams parameters) {
    return cudaGraphNodeSetParams(node, &parameters);
  }
  cudaError_t set_in_executable(cudaGraphNode_t node, cudaGraphNodeParams parameters) {
    return cudaGraphExecNodeSetParams(executable_, node, &parameters);
  }
  // What is set in the graph counts for what is made of it later; what is set in that counts at once, and there alone.
  void set_and_set(cudaGraphNode_t node, const Buffer<int>& buffer, std::vector<int> first,
                   const cudaGraphNodeParams& of_graph, std::vector<int> second,
                   const cudaGraphNodeParams& of_executable, std::vector<int> third) {
    instantiate();
    EXPECT_EQ(launched(buffer), first);
    ASSERT_EQ(set(node, of_graph), cudaSuccess);
    EXPECT_EQ(launched(buffer), first);
    ASSERT_EQ(set_in_executable(node, of_executable), cudaSuccess);
    EXPECT_EQ(launched(buffer), third);
    instantiate();
    EXPECT_EQ(launched(buffer), second);
  }

  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

cudaGraphNodeParams fill(int* to, unsigned value) {
  cudaGraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_MEMSET;
  p.memset = {reinterpret_cast<CUdeviceptr>(to), 0, value, 4, kCount, 1};
  return p;
}
cudaGraphNodeParams copy(int* to, const int* from) {
  cudaGraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  p.memcpy.copyParams.srcPtr = {const_cast<int*>(from), sizeof(int) * kCount, kCount, 1};
  p.memcpy.copyParams.dstPtr = {to, sizeof(int) * kCount, kCount, 1};
  p.memcpy.copyParams.extent = {sizeof(int) * kCount, 1, 1};
  p.memcpy.copyParams.kind = cudaMemcpyDefault;
  return p;
}
cudaGraphNodeParams calls(void (*function)(void*), void* data) {
  cudaGraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_HOST;
  p.host = {function, data};
  return p;
}
cudaGraphNodeParams records(cudaGraphNodeType type, cudaEvent_t event) {
  cudaGraphNodeParams p{};
  p.type = type;
  p.event = event;
  return p;
}

TEST_F(CudartGraph, ParametersOfAFillChange) {
  const Buffer<int> data({0, 0, 0, 0});
  set_and_set(add(fill(data.get(), 1)), data, {1, 1, 1, 1}, fill(data.get(), 2), {2, 2, 2, 2}, fill(data.get(), 3),
              {3, 3, 3, 3});
}

TEST_F(CudartGraph, ParametersOfACopyChange) {
  const Buffer<int> ones({1, 2, 3, 4}), twos({2, 4, 6, 8}), threes({3, 6, 9, 12}), data({0, 0, 0, 0});
  set_and_set(add(copy(data.get(), ones.get())), data, {1, 2, 3, 4}, copy(data.get(), twos.get()), {2, 4, 6, 8},
              copy(data.get(), threes.get()), {3, 6, 9, 12});
}

TEST_F(CudartGraph, ParametersOfAKernelChange) {
  const Program program;
  const Buffer<int> data({0, 0, 0, 0});
  int *place = data.get(), value = 0;
  void* arguments[] = {&place, &value};
  const auto stores = [&](int what, int where) {
    value = what, place = data.get() + where; // the arguments are copied when the parameters are taken
    cudaGraphNodeParams p{};
    p.type = CU_GRAPH_NODE_TYPE_KERNEL;
    p.kernel = {const_cast<void*>(name_of(&store)), {1, 1, 1}, {1, 1, 1}, 0, arguments, nullptr};
    return p;
  };
  const cudaGraphNode_t first = add(fill(data.get(), 0));
  const cudaGraphNode_t node = add(stores(5, 0), {first});
  instantiate();
  EXPECT_EQ(launched(data), (std::vector<int>{5, 0, 0, 0}));
  ASSERT_EQ(set(node, stores(6, 1)), cudaSuccess);
  EXPECT_EQ(launched(data), (std::vector<int>{5, 0, 0, 0}));
  ASSERT_EQ(set_in_executable(node, stores(7, 2)), cudaSuccess);
  EXPECT_EQ(launched(data), (std::vector<int>{0, 0, 7, 0}));
  instantiate();
  EXPECT_EQ(launched(data), (std::vector<int>{0, 6, 0, 0}));
  cudaGraphNodeParams unknown = stores(1, 1);
  unknown.kernel.func = &value;
  EXPECT_EQ(set(node, unknown), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(set_in_executable(node, unknown), cudaErrorInvalidDeviceFunction);
}

TEST_F(CudartGraph, ParametersOfACallChange) {
  const Buffer<int> unused({0});
  int number = 0;
  const auto adding = [](void* to) { *static_cast<int*>(to) += 1; };
  const auto doubling = [](void* to) { *static_cast<int*>(to) *= 2; };
  const auto zeroing = [](void* to) { *static_cast<int*>(to) = 0; };
  const cudaGraphNode_t node = add(calls(adding, &number));
  instantiate();
  launched(unused);
  ASSERT_EQ(set(node, calls(zeroing, &number)), cudaSuccess);
  launched(unused);
  EXPECT_EQ(number, 2);
  ASSERT_EQ(set_in_executable(node, calls(doubling, &number)), cudaSuccess);
  launched(unused);
  EXPECT_EQ(number, 4);
  instantiate();
  launched(unused);
  EXPECT_EQ(number, 0);
}

TEST_F(CudartGraph, TheEventsOfNodesChange) {
  const Buffer<int> unused({0});
  cudaEvent_t first = nullptr, second = nullptr, third = nullptr;
  for (cudaEvent_t* event : {&first, &second, &third}) ASSERT_EQ(cudaEventCreate(event), cudaSuccess);
  const cudaGraphNode_t recording = add(records(CU_GRAPH_NODE_TYPE_EVENT_RECORD, first));
  const cudaGraphNode_t waiting = add(records(CU_GRAPH_NODE_TYPE_WAIT_EVENT, first), {recording});
  instantiate();
  ASSERT_EQ(set(recording, records(CU_GRAPH_NODE_TYPE_EVENT_RECORD, second)), cudaSuccess);
  ASSERT_EQ(set(waiting, records(CU_GRAPH_NODE_TYPE_WAIT_EVENT, third)), cudaSuccess);
  cudaEvent_t found = nullptr;
  ASSERT_EQ(cudaGraphEventRecordNodeGetEvent(recording, &found), cudaSuccess);
  EXPECT_EQ(found, second);
  ASSERT_EQ(cudaGraphEventWaitNodeGetEvent(waiting, &found), cudaSuccess);
  EXPECT_EQ(found, third);
  ASSERT_EQ(set_in_executable(recording, records(CU_GRAPH_NODE_TYPE_EVENT_RECORD, third)), cudaSuccess);
  ASSERT_EQ(set_in_executable(waiting, records(CU_GRAPH_NODE_TYPE_WAIT_EVENT, second)), cudaSuccess);
  launched(unused);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, third, third), cudaSuccess) << "it was recorded";
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, first, first), cudaErrorInvalidResourceHandle);
  for (const cudaEvent_t event : {first, second, third}) EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST_F(CudartGraph, AChildGraphChangesInWhatWasMadeOfIt) {
  const Buffer<int> data({0, 0, 0, 0});
  const auto child = [&](unsigned value) {
    cudaGraphNodeParams p{}, filling = fill(data.get(), value);
    p.type = CU_GRAPH_NODE_TYPE_GRAPH;
    EXPECT_EQ(cudaGraphCreate(&p.graph, 0), cudaSuccess);
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddNode(&node, p.graph, nullptr, nullptr, 0, &filling), cudaSuccess);
    return p;
  };
  const cudaGraphNodeParams one = child(1), two = child(2);
  const cudaGraphNode_t node = add(one);
  instantiate();
  EXPECT_EQ(launched(data), (std::vector<int>{1, 1, 1, 1}));
  EXPECT_EQ(set(node, two), cudaErrorInvalidValue) << "a graph's own nodes are changed in the child";
  ASSERT_EQ(set_in_executable(node, two), cudaSuccess);
  EXPECT_EQ(launched(data), (std::vector<int>{2, 2, 2, 2}));
  EXPECT_EQ(cudaGraphDestroy(one.graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(two.graph), cudaSuccess);
}

TEST_F(CudartGraph, ParametersOfAnotherKindAreRefused) {
  const Buffer<int> data({0, 0, 0, 0});
  const cudaGraphNode_t node = add(fill(data.get(), 1));
  instantiate();
  EXPECT_EQ(set(node, copy(data.get(), data.get())), cudaErrorInvalidValue);
  EXPECT_EQ(set_in_executable(node, copy(data.get(), data.get())), cudaErrorInvalidValue);
  cudaGraphNodeParams empty{};
  empty.type = CU_GRAPH_NODE_TYPE_EMPTY;
  EXPECT_EQ(set(node, empty), cudaErrorInvalidValue);
  EXPECT_EQ(set_in_executable(node, empty), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphNodeSetParams(node, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecNodeSetParams(executable_, node, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(launched(data), (std::vector<int>{1, 1, 1, 1}));
}

TEST_F(CudartGraph, AWhileIsDoneUntilItsConditionIsZero) {
  const std::string code = std::string(".version 8.0\n.target sm_75\n.address_size 64\n") + kCounting;
  cudaLibrary_t library = nullptr;
  ASSERT_EQ(cudaLibraryLoadData(&library, code.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0), cudaSuccess);
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(cudaLibraryGetKernel(&kernel, library, "count"), cudaSuccess);
  const Buffer<int> data({3, 0});
  int* place = data.get();
  CUgraphConditionalHandle handle = 0;
  ASSERT_EQ(cudaGraphConditionalHandleCreate(&handle, graph_, 1, CU_GRAPH_COND_ASSIGN_DEFAULT), cudaSuccess);
  cudaGraphNodeParams conditional{};
  conditional.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  conditional.conditional = {handle, CU_GRAPH_COND_TYPE_WHILE, 1, nullptr, nullptr};
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddNode(&node, graph_, nullptr, nullptr, 0, &conditional), cudaSuccess);
  void* arguments[] = {&place, &handle};
  cudaGraphNodeParams counts{};
  counts.type = CU_GRAPH_NODE_TYPE_KERNEL;
  counts.kernel = {kernel, {1, 1, 1}, {1, 1, 1}, 0, arguments, nullptr};
  ASSERT_EQ(cudaGraphAddNode(&node, conditional.conditional.phGraph_out[0], nullptr, nullptr, 0, &counts), cudaSuccess);
  instantiate();
  EXPECT_EQ(launched(data), (std::vector<int>{0, 0}));
  EXPECT_EQ(cudaGraphConditionalHandleCreate(nullptr, graph_, 0, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphConditionalHandleCreate(&handle, graph_, 0, 2), cudaErrorInvalidValue);
  EXPECT_EQ(cudaLibraryUnload(library), cudaSuccess);
}

} // namespace graph_test
