// SPDX-License-Identifier: Apache-2.0
// Device-side use of the driver: launches, and conditions of graph nodes.
#include "tests/runtime/counting.hpp"
#include "tests/runtime/driver/program.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace warplens::runtime {
namespace device_side_test {

/// parent(data): launches child(data + block, block) for each of its blocks. child(data, block): *data += 10 + block.
const std::string kDeviceSide = R"(
.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 grid[12],
                                                             .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 buffer, .param .b64 stream);
.visible .entry child(.param .u64 data, .param .u32 block)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<2>;
  ld.param.u64 %d1, [data];
  ld.param.u32 %r1, [block];
  ld.u32 %r2, [%d1];
  add.u32 %r2, %r2, 10;
  add.u32 %r2, %r2, %r1;
  st.u32 [%d1], %r2;
  ret;
}
.visible .entry parent(.param .u64 data)
{
  .reg .b32 %r<3>;
  .reg .b64 %d<5>;
  .param .b64 f;
  .param .align 4 .b8 grid[12];
  .param .align 4 .b8 block[12];
  .param .b32 shared;
  .param .b64 buffer;
  .param .b64 stream;
  .param .b32 error;
  mov.u32 %r1, %ctaid.x;
  ld.param.u64 %d1, [data];
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d1, %d1, %d2;
  mov.u64 %d3, child;
  st.param.b64 [f], %d3;
  st.param.b32 [grid], 1;
  st.param.b32 [grid+4], 1;
  st.param.b32 [grid+8], 1;
  st.param.b32 [block], 1;
  st.param.b32 [block+4], 1;
  st.param.b32 [block+8], 1;
  st.param.b32 [shared], 0;
  call.uni (buffer), __cudaCDP2GetParameterBufferV2, (f, grid, block, shared);
  ld.param.b64 %d4, [buffer];
  st.u64 [%d4], %d1;
  st.u32 [%d4+8], %r1;
  st.param.b64 [stream], 0;
  call.uni (error), __cudaCDP2LaunchDeviceV2, (buffer, stream);
  ret;
}
)" + std::string(kCounting);

class DeviceSide : public DriverProgram {
protected:
  void SetUp() override {
    DriverProgram::SetUp();
    ASSERT_EQ(cuModuleLoadData(&code_, kDeviceSide.c_str()), CUDA_SUCCESS);
    data_ = allocate(16);
    ASSERT_EQ(cuMemsetD32_v2(data_, 3, 4), CUDA_SUCCESS);
  }
  void TearDown() override {
    cuMemFree_v2(data_);
    cuModuleUnload(code_);
    DriverProgram::TearDown();
  }
  CUfunction kernel(const char* name) {
    CUfunction found = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&found, code_, name), CUDA_SUCCESS);
    return found;
  }
  std::vector<std::uint32_t> data() {
    std::vector<std::uint32_t> values(4);
    EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), data_, 16), CUDA_SUCCESS);
    return values;
  }

  CUmodule code_ = nullptr;
  CUdeviceptr data_ = 0;
};

TEST_F(DeviceSide, WhatAKernelLaunchesHasEndedWhenItHas) {
  void* arguments[] = {&data_};
  ASSERT_EQ(cuLaunchKernel(kernel("parent"), 4, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(data(), (std::vector<std::uint32_t>{13, 14, 15, 16}));
}

TEST_F(DeviceSide, AFaultOfALaunchedKernelIsOneOfTheContext) {
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
  CUmodule code = nullptr;
  ASSERT_EQ(cuModuleLoadData(&code, kDeviceSide.c_str()), CUDA_SUCCESS);
  CUfunction parent = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&parent, code, "parent"), CUDA_SUCCESS);
  CUdeviceptr nowhere = 0;
  void* arguments[] = {&nowhere};
  ASSERT_EQ(cuLaunchKernel(parent, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuCtxDestroy_v2(context), CUDA_SUCCESS);
}

/// A graph with a conditional node whose bodies count data_[body] down, and set the condition to what is left of it.
class ConditionalNodes : public DeviceSide {
protected:
  void SetUp() override {
    DeviceSide::SetUp();
    ASSERT_EQ(cuGraphCreate(&graph_, 0), CUDA_SUCCESS);
  }
  void TearDown() override {
    cuGraphDestroy(graph_);
    DeviceSide::TearDown();
  }

  CUgraphNode add(CUgraphConditionalNodeType type, unsigned bodies, unsigned first) {
    const CUgraphNode node = add_empty(type, bodies, first);
    for (unsigned i = 0; i < bodies; ++i) add_count(bodies_[i], data_ + 4 * i);
    return node;
  }
  CUgraphNode add_empty(CUgraphConditionalNodeType type, unsigned bodies, unsigned first) {
    EXPECT_EQ(cuGraphConditionalHandleCreate(&handle_, graph_, nullptr, first, CU_GRAPH_COND_ASSIGN_DEFAULT),
              CUDA_SUCCESS);
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    parameters.conditional = {handle_, type, bodies, nullptr, nullptr};
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddNode_v2(&node, graph_, nullptr, nullptr, 0, &parameters), CUDA_SUCCESS);
    bodies_ = parameters.conditional.phGraph_out;
    return node;
  }
  void add_count(CUgraph graph, CUdeviceptr word) {
    void* arguments[] = {&word, &handle_};
    CUDA_KERNEL_NODE_PARAMS p{};
    p.func = kernel("count");
    p.gridDimX = 1, p.gridDimY = 1, p.gridDimZ = 1, p.blockDimX = 1, p.blockDimY = 1, p.blockDimZ = 1;
    p.kernelParams = arguments;
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &p), CUDA_SUCCESS);
  }
  std::vector<std::uint32_t> launched(int times) {
    CUgraphExec executable = nullptr;
    EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph_, 0), CUDA_SUCCESS);
    for (int i = 0; i < times; ++i) EXPECT_EQ(cuGraphLaunch(executable, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
    return data();
  }

  CUgraph graph_ = nullptr;
  CUgraphConditionalHandle handle_ = 0;
  CUgraph* bodies_ = nullptr;
};

TEST_F(ConditionalNodes, AWhileIsDoneAsLongAsItsConditionHolds) {
  add(CU_GRAPH_COND_TYPE_WHILE, 1, 1);
  EXPECT_EQ(launched(1), (std::vector<std::uint32_t>{0, 3, 3, 3}));
}

TEST_F(ConditionalNodes, AnIfHasTwoBodies) {
  CUgraphNodeType type{};
  EXPECT_EQ(cuGraphNodeGetType(add(CU_GRAPH_COND_TYPE_IF, 2, 0), &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_CONDITIONAL);
  EXPECT_EQ(launched(2), (std::vector<std::uint32_t>{3, 1, 3, 3})); // each launch begins with the value 0
}

TEST_F(ConditionalNodes, ASwitchTakesTheBodyOfThatNumberOrNone) {
  add(CU_GRAPH_COND_TYPE_SWITCH, 3, 2);
  EXPECT_EQ(launched(1), (std::vector<std::uint32_t>{3, 3, 2, 3}));
  cuGraphDestroy(graph_);
  ASSERT_EQ(cuGraphCreate(&graph_, 0), CUDA_SUCCESS);
  add(CU_GRAPH_COND_TYPE_SWITCH, 3, 3);
  EXPECT_EQ(launched(1), (std::vector<std::uint32_t>{3, 3, 2, 3}));
}

TEST_F(ConditionalNodes, BodiesAreCapturedToo) {
  add_empty(CU_GRAPH_COND_TYPE_WHILE, 1, 1);
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamBeginCaptureToGraph(stream, bodies_[0], nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_GLOBAL),
            CUDA_SUCCESS);
  void* arguments[] = {&data_, &handle_};
  EXPECT_EQ(cuLaunchKernel(kernel("count"), 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamEndCapture(stream, nullptr), CUDA_SUCCESS) << "the program has the graph already";
  EXPECT_EQ(launched(1), (std::vector<std::uint32_t>{0, 3, 3, 3}));
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamEndCapture(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
}

TEST_F(ConditionalNodes, RefuseWhatCannotBe) {
  EXPECT_EQ(cuGraphConditionalHandleCreate(nullptr, graph_, nullptr, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphConditionalHandleCreate(&handle_, graph_, nullptr, 0, 2), CUDA_ERROR_INVALID_VALUE);
  const auto adding = [&](CUgraphConditionalHandle handle, CUgraphConditionalNodeType type, unsigned bodies) {
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    parameters.conditional = {handle, type, bodies, nullptr, nullptr};
    CUgraphNode node = nullptr;
    return cuGraphAddNode_v2(&node, graph_, nullptr, nullptr, 0, &parameters);
  };
  EXPECT_EQ(adding(data_, CU_GRAPH_COND_TYPE_IF, 1), CUDA_ERROR_INVALID_VALUE); // no handle
  ASSERT_EQ(cuGraphConditionalHandleCreate(&handle_, graph_, nullptr, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(adding(handle_, CU_GRAPH_COND_TYPE_WHILE, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(adding(handle_, CU_GRAPH_COND_TYPE_SWITCH, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(adding(handle_, CU_GRAPH_COND_TYPE_IF, 1), CUDA_SUCCESS);
}

} // namespace device_side_test
} // namespace warplens::runtime
