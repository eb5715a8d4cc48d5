// SPDX-License-Identifier: Apache-2.0
// Stream capture into graphs, and its rules.
#include "tests/runtime/driver/program.hpp"

#include <cstdint>
#include <thread>

namespace warplens::runtime {
namespace capture_test {

class Capturing : public DriverProgram {
protected:
  static constexpr std::uint32_t kCount = 32;
  void SetUp() override {
    DriverProgram::SetUp();
    ASSERT_EQ(cuMemAlloc_v2(&data_, 4 * kCount), CUDA_SUCCESS);
    for (CUstream* stream : {&a_, &b_}) ASSERT_EQ(cuStreamCreate(stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    for (CUevent* event : {&e_, &f_}) ASSERT_EQ(cuEventCreate(event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  }
  void TearDown() override {
    CUgraph left = nullptr;
    cuStreamEndCapture(a_, &left);
    for (CUstream stream : {a_, b_}) cuStreamDestroy_v2(stream);
    for (CUevent event : {e_, f_}) cuEventDestroy_v2(event);
    cuMemFree_v2(data_);
    DriverProgram::TearDown();
  }

  void begin(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    ASSERT_EQ(cuStreamBeginCapture_v2(a_, mode), CUDA_SUCCESS);
  }
  CUresult launch(CUstream stream, std::uint32_t factor) {
    std::uint32_t count = kCount;
    void* arguments[] = {&data_, &factor, &count};
    return cuLaunchKernel(function("scale"), 1, 1, 1, kCount, 1, 1, 0, stream, arguments, nullptr);
  }
  CUstreamCaptureStatus status(CUstream stream) {
    CUstreamCaptureStatus s{};
    EXPECT_EQ(cuStreamIsCapturing(stream, &s), CUDA_SUCCESS);
    return s;
  }
  std::uint32_t value() {
    std::uint32_t values[kCount];
    EXPECT_EQ(cuMemcpyDtoH_v2(values, data_, sizeof values), CUDA_SUCCESS);
    return values[kCount - 1];
  }

  CUdeviceptr data_ = 0;
  CUstream a_ = nullptr, b_ = nullptr;
  CUevent e_ = nullptr, f_ = nullptr;
};

TEST_F(Capturing, KeepsWhatTheStreamWouldHaveDone) {
  ASSERT_EQ(cuMemsetD32_v2(data_, 1, kCount), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  begin();
  EXPECT_EQ(status(a_), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  ASSERT_EQ(launch(a_, 2), CUDA_SUCCESS);
  ASSERT_EQ(launch(a_, 3), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  ASSERT_EQ(cuStreamEndCapture(a_, &graph), CUDA_SUCCESS);
  EXPECT_EQ(status(a_), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(value(), 1u) << "nothing has run yet";
  std::size_t edges = 0;
  ASSERT_EQ(cuGraphGetEdges_v2(graph, nullptr, nullptr, nullptr, &edges), CUDA_SUCCESS);
  EXPECT_EQ(edges, 1u);
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(cuGraphLaunch(executable, a_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(a_), CUDA_SUCCESS);
  EXPECT_EQ(value(), 36u);
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
}

TEST_F(Capturing, ForksAndJoinsByEvents) {
  begin();
  ASSERT_EQ(launch(a_, 2), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(e_, a_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(b_, e_, 0), CUDA_SUCCESS);
  EXPECT_EQ(status(b_), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  ASSERT_EQ(launch(b_, 3), CUDA_SUCCESS);
  ASSERT_EQ(launch(a_, 5), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(f_, b_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(a_, f_, 0), CUDA_SUCCESS);
  CUstreamCaptureStatus s{};
  cuuint64_t id = 0;
  CUgraph inside = nullptr;
  const CUgraphNode* last = nullptr;
  std::size_t count = 0;
  ASSERT_EQ(cuStreamGetCaptureInfo_v3(a_, &s, &id, &inside, &last, nullptr, &count), CUDA_SUCCESS);
  EXPECT_NE(id, 0u);
  EXPECT_EQ(count, 2u) << "the next node would come after both branches";
  ASSERT_EQ(launch(a_, 7), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  ASSERT_EQ(cuStreamEndCapture(a_, &graph), CUDA_SUCCESS);
  EXPECT_EQ(graph, inside);
  EXPECT_EQ(status(b_), CU_STREAM_CAPTURE_STATUS_NONE);
  std::size_t nodes = 0, edges = 0;
  ASSERT_EQ(cuGraphGetNodes(graph, nullptr, &nodes), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphGetEdges_v2(graph, nullptr, nullptr, nullptr, &edges), CUDA_SUCCESS);
  EXPECT_EQ(nodes, 4u);
  EXPECT_EQ(edges, 4u);
  cuGraphDestroy(graph);
}

TEST_F(Capturing, ALaunchedGraphBecomesAChild) {
  begin();
  ASSERT_EQ(launch(a_, 2), CUDA_SUCCESS);
  CUgraph graph = nullptr, outer = nullptr;
  ASSERT_EQ(cuStreamEndCapture(a_, &graph), CUDA_SUCCESS);
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
  begin();
  ASSERT_EQ(cuGraphLaunch(executable, a_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamEndCapture(a_, &outer), CUDA_SUCCESS);
  CUgraphNode node = nullptr;
  std::size_t count = 1;
  ASSERT_EQ(cuGraphGetNodes(outer, &node, &count), CUDA_SUCCESS);
  CUgraphNodeType type{};
  ASSERT_EQ(cuGraphNodeGetType(node, &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_GRAPH);
  cuGraphDestroy(outer);
  cuGraphDestroy(graph);
  cuGraphExecDestroy(executable);
}

TEST_F(Capturing, RefusesToBeginOrEndInTheWrongPlace) {
  CUgraph graph = nullptr;
  EXPECT_EQ(cuStreamBeginCapture_v2(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
      << "the legacy default stream";
  EXPECT_EQ(cuStreamEndCapture(a_, &graph), CUDA_ERROR_ILLEGAL_STATE) << "not begun";
  begin();
  EXPECT_EQ(cuStreamBeginCapture_v2(a_, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_ILLEGAL_STATE) << "begun twice";
  ASSERT_EQ(cuEventRecord(e_, a_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(b_, e_, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamEndCapture(b_, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
  std::thread([&] {
    cuCtxSetCurrent(context);
    EXPECT_EQ(cuStreamEndCapture(a_, &graph), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  }).join();
  EXPECT_EQ(cuStreamEndCapture(a_, &graph), CUDA_SUCCESS);
  cuGraphDestroy(graph);
}

TEST_F(Capturing, BranchesHaveToBeJoined) {
  begin();
  ASSERT_EQ(launch(a_, 2), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(e_, a_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(b_, e_, 0), CUDA_SUCCESS);
  ASSERT_EQ(launch(b_, 3), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  EXPECT_EQ(cuStreamEndCapture(a_, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(status(b_), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(Capturing, SynchronisingInvalidates) {
  begin();
  ASSERT_EQ(launch(a_, 2), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(a_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(status(a_), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  EXPECT_EQ(launch(a_, 2), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CUgraph graph = nullptr;
  EXPECT_EQ(cuStreamEndCapture(a_, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(launch(a_, 2), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(a_), CUDA_SUCCESS);
}

TEST_F(Capturing, UnsafeCallsAreForbiddenByMode) {
  CUdeviceptr memory = 0;
  CUgraph graph = nullptr;
  begin(CU_STREAM_CAPTURE_MODE_RELAXED);
  ASSERT_EQ(cuMemAlloc_v2(&memory, 100), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamEndCapture(a_, &graph), CUDA_SUCCESS);
  cuGraphDestroy(graph);
  cuMemFree_v2(memory);
  begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
  std::thread([&] {
    cuCtxSetCurrent(context);
    EXPECT_EQ(cuMemAlloc_v2(&memory, 100), CUDA_SUCCESS) << "another thread";
  }).join();
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  ASSERT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  CUdeviceptr more = 0;
  EXPECT_EQ(cuMemAlloc_v2(&more, 100), CUDA_SUCCESS) << "the thread has said that it knows what it does";
  ASSERT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc_v2(&more, 100), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cuStreamEndCapture(a_, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  cuMemFree_v2(memory);
  cuMemFree_v2(more);
}

TEST_F(Capturing, TheLegacyStreamMayNotWaitForIt) {
  CUstream blocking = nullptr;
  CUgraph graph = nullptr;
  ASSERT_EQ(cuStreamCreate(&blocking, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(launch(nullptr, 1), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(cuStreamEndCapture(blocking, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(launch(nullptr, 1), CUDA_SUCCESS);
  cuStreamDestroy_v2(blocking);
}

TEST_F(Capturing, MemoryInStreamOrderBecomesTheGraphs) {
  begin();
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAllocAsync(&memory, 4 * kCount, a_), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(memory, 6, kCount, a_), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoDAsync_v2(data_, memory, 4 * kCount, a_), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFreeAsync(memory, a_), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  ASSERT_EQ(cuStreamEndCapture(a_, &graph), CUDA_SUCCESS);
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(cuGraphLaunch(executable, a_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(a_), CUDA_SUCCESS);
  EXPECT_EQ(value(), 6u);
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
}

// An event whose record was refused is as before: waiting for it does not wait for a record that never comes.
TEST_F(Capturing, ARefusedRecordLeavesTheEventAsItWas) {
  CUstream blocking = nullptr;
  CUgraph graph = nullptr;
  ASSERT_EQ(cuStreamCreate(&blocking, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(e_, nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(cuStreamEndCapture(blocking, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cuEventQuery(e_), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(e_), CUDA_SUCCESS);
  cuStreamDestroy_v2(blocking);
}

TEST_F(Capturing, EventsDoNotCrossItsBorder) {
  ASSERT_EQ(cuEventRecord(e_, b_), CUDA_SUCCESS);
  begin();
  EXPECT_EQ(cuStreamWaitEvent(a_, e_, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  CUgraph graph = nullptr;
  EXPECT_EQ(cuStreamEndCapture(a_, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

  begin();
  ASSERT_EQ(cuStreamBeginCapture_v2(b_, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(f_, b_), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(f_), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(cuEventSynchronize(f_), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(cuStreamWaitEvent(a_, f_, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
  EXPECT_EQ(cuStreamEndCapture(a_, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cuStreamEndCapture(b_, &graph), CUDA_SUCCESS);
  cuGraphDestroy(graph);
}

} // namespace capture_test
} // namespace warplens::runtime
