// SPDX-License-Identifier: Apache-2.0
// Graphs that are built node by node: instantiation, launches and changes.
#include "tests/runtime/driver/program.hpp"

#include <cstdint>
#include <vector>

namespace warplens::runtime {
namespace graph_test {

class Graphs : public DriverProgram {
protected:
  static constexpr std::uint32_t kCount = 64;
  void SetUp() override {
    DriverProgram::SetUp();
    ASSERT_EQ(cuMemAlloc_v2(&data_, 4 * kCount), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32_v2(data_, 1, kCount), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphCreate(&graph_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (graph_ != nullptr) cuGraphDestroy(graph_);
    cuStreamDestroy_v2(stream_);
    cuMemFree_v2(data_);
    DriverProgram::TearDown();
  }

  /// data[i] *= factor. The arguments are copied when the node is made.
  CUDA_KERNEL_NODE_PARAMS scale(std::uint32_t factor) {
    factor_ = factor;
    CUDA_KERNEL_NODE_PARAMS p{};
    p.func = function("scale");
    p.gridDimX = 1, p.gridDimY = 1, p.gridDimZ = 1, p.blockDimX = kCount, p.blockDimY = 1, p.blockDimZ = 1;
    p.kernelParams = arguments_;
    return p;
  }
  CUgraphNode add_scale(std::uint32_t factor, std::vector<CUgraphNode> after = {}) {
    const CUDA_KERNEL_NODE_PARAMS p = scale(factor);
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddKernelNode_v2(&node, graph_, after.data(), after.size(), &p), CUDA_SUCCESS);
    return node;
  }
  CUgraphNode add_memset(std::uint32_t value, std::vector<CUgraphNode> after = {}) {
    const CUDA_MEMSET_NODE_PARAMS p{data_, 0, value, 4, kCount, 1};
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddMemsetNode(&node, graph_, after.data(), after.size(), &p, nullptr), CUDA_SUCCESS);
    return node;
  }
  CUgraphExec instantiate(CUgraph graph = nullptr) {
    CUgraphExec executable = nullptr;
    EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph != nullptr ? graph : graph_, 0), CUDA_SUCCESS);
    return executable;
  }
  std::uint32_t result_of(CUgraphExec executable) {
    EXPECT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
    return value();
  }
  std::uint32_t value() {
    std::uint32_t values[kCount];
    EXPECT_EQ(cuMemcpyDtoH_v2(values, data_, sizeof values), CUDA_SUCCESS);
    EXPECT_EQ(values[0], values[kCount - 1]);
    return values[kCount - 1];
  }

  CUdeviceptr data_ = 0;
  std::uint32_t factor_ = 0, count_ = kCount;
  void* arguments_[3] = {&data_, &factor_, &count_};
  CUgraph graph_ = nullptr;
  CUstream stream_ = nullptr;
};

TEST_F(Graphs, RunAgainAndAgainInTheOrderOfTheirEdges) {
  const CUgraphNode times_three = add_scale(3); // before the memset that it depends on
  const CUgraphNode set = add_memset(5);
  ASSERT_EQ(cuGraphAddDependencies_v2(graph_, &set, &times_three, nullptr, 1), CUDA_SUCCESS);
  add_scale(2, {times_three});
  const CUgraphExec executable = instantiate();
  EXPECT_EQ(result_of(executable), 30u);
  EXPECT_EQ(result_of(executable), 30u);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(executable, stream_), CUDA_ERROR_INVALID_VALUE) << "destroyed";
}

TEST_F(Graphs, TellTheirShape) {
  const CUgraphNode a = add_memset(1), b = add_scale(2, {a}), c = add_scale(3, {a, b});
  std::size_t count = 0;
  ASSERT_EQ(cuGraphGetNodes(graph_, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 3u);
  CUgraphNode list[4] = {};
  count = 4;
  ASSERT_EQ(cuGraphGetNodes(graph_, list, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(list[0], a);
  EXPECT_EQ(list[3], nullptr);
  count = 4;
  ASSERT_EQ(cuGraphGetRootNodes(graph_, list, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1u);
  count = 4;
  ASSERT_EQ(cuGraphNodeGetDependencies_v2(c, list, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2u);
  count = 4;
  ASSERT_EQ(cuGraphNodeGetDependentNodes_v2(a, list, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2u);
  CUgraphNode from[4] = {}, to[4] = {};
  count = 4;
  ASSERT_EQ(cuGraphGetEdges_v2(graph_, from, to, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(from[0], a);
  EXPECT_EQ(to[0], b);
  CUgraphNodeType type{};
  ASSERT_EQ(cuGraphNodeGetType(b, &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_KERNEL);
  ASSERT_EQ(cuGraphDestroyNode(b), CUDA_SUCCESS);
  count = 4;
  ASSERT_EQ(cuGraphGetEdges_v2(graph_, from, to, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(cuGraphNodeGetType(b, &type), CUDA_ERROR_INVALID_VALUE) << "destroyed";
}

TEST_F(Graphs, RefuseWhatCannotBe) {
  const CUgraphNode a = add_memset(1), b = add_scale(2, {a});
  EXPECT_EQ(cuGraphAddDependencies_v2(graph_, &a, &b, nullptr, 1), CUDA_ERROR_INVALID_VALUE) << "there already";
  EXPECT_EQ(cuGraphAddDependencies_v2(graph_, &a, &a, nullptr, 1), CUDA_ERROR_INVALID_VALUE) << "itself";
  EXPECT_EQ(cuGraphRemoveDependencies_v2(graph_, &b, &a, nullptr, 1), CUDA_ERROR_INVALID_VALUE) << "not there";
  ASSERT_EQ(cuGraphAddDependencies_v2(graph_, &b, &a, nullptr, 1), CUDA_SUCCESS);
  CUgraphExec executable = nullptr;
  EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph_, 0), CUDA_ERROR_INVALID_VALUE) << "a cycle";
  CUDA_KERNEL_NODE_PARAMS p = scale(2);
  p.blockDimX = 5000;
  CUgraphNode node = nullptr;
  EXPECT_EQ(cuGraphAddKernelNode_v2(&node, graph_, nullptr, 0, &p), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMSET_NODE_PARAMS fill{data_, 0, 0, 4, kCount + 1, 1};
  EXPECT_EQ(cuGraphAddMemsetNode(&node, graph_, nullptr, 0, &fill, nullptr), CUDA_ERROR_INVALID_VALUE) << "too long";
  EXPECT_EQ(cuGraphAddEmptyNode(&node, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graphs, ExecutablesAreChangedNodeByNode) {
  const CUgraphNode set = add_memset(5), times = add_scale(3, {set});
  const CUgraphExec executable = instantiate();
  CUDA_KERNEL_NODE_PARAMS p{};
  ASSERT_EQ(cuGraphKernelNodeGetParams_v2(times, &p), CUDA_SUCCESS);
  EXPECT_EQ(*static_cast<std::uint32_t*>(p.kernelParams[1]), 3u);
  p = scale(10);
  ASSERT_EQ(cuGraphExecKernelNodeSetParams_v2(executable, times, &p), CUDA_SUCCESS);
  EXPECT_EQ(result_of(executable), 50u);
  ASSERT_EQ(cuGraphNodeSetEnabled(executable, times, 0), CUDA_SUCCESS);
  EXPECT_EQ(result_of(executable), 5u);
  unsigned enabled = 1;
  ASSERT_EQ(cuGraphNodeGetEnabled(executable, times, &enabled), CUDA_SUCCESS);
  EXPECT_EQ(enabled, 0u);
  EXPECT_EQ(result_of(instantiate()), 15u) << "the graph itself has not changed";
  const CUDA_MEMSET_NODE_PARAMS fill{data_, 0, 7, 4, kCount, 1};
  ASSERT_EQ(cuGraphMemsetNodeSetParams(set, &fill), CUDA_SUCCESS);
  EXPECT_EQ(result_of(executable), 5u) << "nor has the executable now";
  EXPECT_EQ(cuGraphExecMemsetNodeSetParams(executable, times, &fill, nullptr), CUDA_ERROR_INVALID_VALUE)
      << "another type";
}

TEST_F(Graphs, ExecutablesAreUpdatedFromAnotherGraph) {
  const CUgraphNode set = add_memset(5);
  add_scale(3, {set});
  const CUgraphExec executable = instantiate();
  ASSERT_EQ(cuGraphDestroy(graph_), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphCreate(&graph_, 0), CUDA_SUCCESS);
  const CUgraphNode again = add_memset(2), times = add_scale(4, {again});
  CUgraphExecUpdateResultInfo info{};
  ASSERT_EQ(cuGraphExecUpdate_v2(executable, graph_, &info), CUDA_SUCCESS);
  EXPECT_EQ(result_of(executable), 8u);
  add_scale(5, {times});
  EXPECT_EQ(cuGraphExecUpdate_v2(executable, graph_, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  EXPECT_EQ(result_of(executable), 8u);
}

TEST_F(Graphs, ClonesAndChildren) {
  const CUgraphNode set = add_memset(5);
  add_scale(3, {set});
  CUgraph clone = nullptr, outer = nullptr, inside = nullptr;
  ASSERT_EQ(cuGraphClone(&clone, graph_), CUDA_SUCCESS);
  CUgraphNode same = nullptr, child = nullptr;
  ASSERT_EQ(cuGraphNodeFindInClone(&same, set, clone), CUDA_SUCCESS);
  EXPECT_NE(same, set);
  const CUDA_MEMSET_NODE_PARAMS fill{data_, 0, 7, 4, kCount, 1};
  ASSERT_EQ(cuGraphMemsetNodeSetParams(same, &fill), CUDA_SUCCESS);
  EXPECT_EQ(result_of(instantiate(clone)), 21u);
  EXPECT_EQ(result_of(instantiate()), 15u);
  ASSERT_EQ(cuGraphCreate(&outer, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddChildGraphNode(&child, outer, nullptr, 0, clone), CUDA_SUCCESS);
  std::swap(graph_, outer);
  add_scale(2, {child});
  const CUgraphExec executable = instantiate();
  EXPECT_EQ(result_of(executable), 42u);
  ASSERT_EQ(cuGraphExecChildGraphNodeSetParams(executable, child, outer), CUDA_SUCCESS);
  EXPECT_EQ(result_of(executable), 30u);
  ASSERT_EQ(cuGraphChildGraphNodeGetGraph(child, &inside), CUDA_SUCCESS);
  EXPECT_NE(inside, clone) << "a copy of its own";
  EXPECT_EQ(cuGraphDestroy(clone), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(outer), CUDA_SUCCESS);
}

TEST_F(Graphs, HostNodesCopiesAndEvents) {
  std::uint32_t host[kCount] = {};
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy.srcDevice = data_;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = host;
  copy.WidthInBytes = sizeof host, copy.Height = 1, copy.Depth = 1;
  CUevent event = nullptr;
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  const CUgraphNode set = add_memset(9);
  CUgraphNode copied = nullptr, called = nullptr, recorded = nullptr;
  ASSERT_EQ(cuGraphAddMemcpyNode(&copied, graph_, &set, 1, &copy, nullptr), CUDA_SUCCESS);
  const CUDA_HOST_NODE_PARAMS call{[](void* data) { static_cast<std::uint32_t*>(data)[1] += 100; }, host};
  ASSERT_EQ(cuGraphAddHostNode(&called, graph_, &copied, 1, &call), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEventRecordNode(&recorded, graph_, &called, 1, event), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(instantiate(), stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  EXPECT_EQ(host[0], 9u);
  EXPECT_EQ(host[1], 109u);
  CUevent of_node = nullptr;
  ASSERT_EQ(cuGraphEventRecordNodeGetEvent(recorded, &of_node), CUDA_SUCCESS);
  EXPECT_EQ(of_node, event);
  cuEventDestroy_v2(event);
}

TEST_F(Graphs, MemoryOfAGraphIsThereFromLaunchToFree) {
  CUDA_MEM_ALLOC_NODE_PARAMS p{};
  p.bytesize = 4 * kCount;
  CUgraphNode allocated = nullptr, freed = nullptr;
  ASSERT_EQ(cuGraphAddMemAllocNode(&allocated, graph_, nullptr, 0, &p), CUDA_SUCCESS);
  ASSERT_NE(p.dptr, 0u);
  const CUDA_MEMSET_NODE_PARAMS fill{p.dptr, 0, 9, 4, kCount, 1};
  CUgraphNode filled = nullptr;
  ASSERT_EQ(cuGraphAddMemsetNode(&filled, graph_, &allocated, 1, &fill, nullptr), CUDA_SUCCESS);
  const CUgraphExec executable = instantiate();
  ASSERT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  std::uint32_t value = 0;
  ASSERT_EQ(cuMemcpyDtoH_v2(&value, p.dptr + 4 * kCount - 4, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 9u);
  EXPECT_EQ(cuGraphLaunch(executable, stream_), CUDA_ERROR_INVALID_VALUE) << "not freed yet";
  CUgraph second = nullptr;
  ASSERT_EQ(cuGraphCreate(&second, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddMemFreeNode(&freed, second, nullptr, 0, p.dptr), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(instantiate(second), stream_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(p.dptr), CUDA_SUCCESS) << "the program may free it, too";
  EXPECT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(instantiate(second), stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  cuGraphDestroy(second);
}

} // namespace graph_test
} // namespace warplens::runtime
