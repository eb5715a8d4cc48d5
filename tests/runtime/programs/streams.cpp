// SPDX-License-Identifier: Apache-2.0
// A program with streams, events and a graph, for the timeline of reports. Each kernel is one block, which leaves most
// of a GPU free.
//
//   streams overlap    two streams copy to the device, launch, and copy back
//   streams serial     the same work in one stream
//   streams event      the second stream waits for an event after the launch of the first
//   streams host       the host waits for the first stream before it submits to the second
//   streams graph      a graph: a fill, then two launches that do not wait for each other, then one that waits for both
//   streams legacy     two streams, and between them a launch to the default stream
#include "runtime/abi/driver.hpp"
#include "tests/runtime/programs/check.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr const char* kPtx = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry work(.param .u64 data, .param .u32 rounds)
{
  .reg .b32 %r<5>;
  .reg .b64 %d<4>;
  .reg .pred %p;
  ld.param.u64 %d1, [data];
  ld.param.u32 %r3, [rounds];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d1, %d1, %d2;
  ld.global.u32 %r2, [%d1];
  mov.u32 %r4, 0;
again:
  mad.lo.u32 %r2, %r2, %r2, 1;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p, %r4, %r3;
  @%p bra again;
  st.global.u32 [%d1], %r2;
  ret;
}
)";

constexpr std::size_t kBytes = 1 << 20;

struct Lane {
  CUstream stream = nullptr;
  CUdeviceptr device = 0;
  void* host = nullptr;

  Lane() {
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc_v2(&device, kBytes));
    CHECK(cuMemAllocHost_v2(&host, kBytes));
  }
  void to_device() const { CHECK(cuMemcpyHtoDAsync_v2(device, host, kBytes, stream)); }
  void to_host() const { CHECK(cuMemcpyDtoHAsync_v2(host, device, kBytes, stream)); }
};

CUfunction function;

void launch(const Lane& lane, CUstream stream) {
  CUdeviceptr data = lane.device;
  unsigned rounds = 10000;
  void* arguments[] = {&data, &rounds};
  CHECK(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr));
}

CUgraphNode launch_node(CUgraph graph, const Lane& lane, const CUgraphNode* after, std::size_t count) {
  CUdeviceptr data = lane.device;
  unsigned rounds = 10000;
  void* arguments[] = {&data, &rounds};
  CUDA_KERNEL_NODE_PARAMS_v1 p{};
  p.func = function;
  p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimY = p.blockDimZ = 1;
  p.blockDimX = 128;
  p.kernelParams = arguments;
  CUgraphNode node = nullptr;
  CHECK(cuGraphAddKernelNode(&node, graph, after, count, &p));
  return node;
}

void run_graph(const Lane& a, const Lane& b, CUcontext context) {
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  CHECK(cuGraphCreate(&graph, 0));
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = a.device;
  fill.elementSize = 4;
  fill.width = kBytes / 4;
  fill.height = 1;
  CUgraphNode first = nullptr;
  CHECK(cuGraphAddMemsetNode(&first, graph, nullptr, 0, &fill, context));
  const CUgraphNode both[] = {launch_node(graph, a, &first, 1), launch_node(graph, b, &first, 1)};
  launch_node(graph, a, both, 2);
  CHECK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  CHECK(cuGraphLaunch(executable, a.stream));
}

} // namespace

int main(int count, char** words) {
  const std::string how = count > 1 ? words[1] : "";
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CHECK(cuInit(0));
  CHECK(cuDevicePrimaryCtxRetain(&context, 0));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoadData(&module, kPtx));
  CHECK(cuModuleGetFunction(&function, module, "work"));
  Lane a, b;
  if (how == "serial") b.stream = a.stream;
  if (how == "legacy") {
    CHECK(cuStreamCreate(&a.stream, CU_STREAM_DEFAULT));
    CHECK(cuStreamCreate(&b.stream, CU_STREAM_DEFAULT));
  }
  if (how == "graph") {
    run_graph(a, b, context);
  } else if (how == "legacy") {
    launch(a, a.stream);
    launch(a, nullptr);
    launch(b, b.stream);
  } else {
    a.to_device();
    launch(a, a.stream);
    if (how == "event") {
      CUevent event = nullptr;
      CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
      CHECK(cuEventRecord(event, a.stream));
      CHECK(cuStreamWaitEvent(b.stream, event, 0));
    }
    a.to_host();
    if (how == "host") CHECK(cuStreamSynchronize(a.stream));
    b.to_device();
    launch(b, b.stream);
    b.to_host();
  }
  CHECK(cuCtxSynchronize());
  std::puts("done");
  return 0;
}
