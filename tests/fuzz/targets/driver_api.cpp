// SPDX-License-Identifier: Apache-2.0
// The driver API as a sequence of calls, through the exported functions of libcuda. Handles can be destroyed ones, of
// another context, or null; host memory is valid, as the API demands.
#include "tests/fuzz/calls.hpp"
#include "tests/fuzz/target.hpp"

#include "runtime/abi/driver.hpp"

#include <array>

namespace warplens::fuzz {

namespace {

constexpr const char* kPtx[] = {
    R"(.version 7.8
.target sm_80
.address_size 64
.global .align 4 .u32 table[4] = {10, 20, 30, 40};
.visible .entry scale(.param .u64 data, .param .u32 factor) {
  .reg .b32 %r<4>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [data];
  ld.param.u32 %r1, [factor];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %d2, %r2, 4;
  add.u64 %d1, %d1, %d2;
  ld.global.u32 %r3, [%d1];
  mul.lo.u32 %r3, %r3, %r1;
  st.global.u32 [%d1], %r3;
  ret;
}
.visible .entry nothing() { ret; }
.visible .entry stops() { trap; }
)",
    "not PTX"};
constexpr const char* kNames[] = {"scale", "nothing", "table", "stops", "", "cuMemAlloc", "cuLaunchKernel"};
constexpr std::size_t kHostBytes = 4096;

struct World {
  explicit World(std::string_view input) : calls(input) {}
  Calls calls;
  std::vector<CUcontext> contexts;
  std::vector<CUstream> streams;
  std::vector<CUevent> events;
  std::vector<CUmodule> modules;
  std::vector<CUfunction> functions;
  std::vector<CUdeviceptr> memory, reserved;
  std::vector<CUgraph> graphs;
  std::vector<CUgraphNode> nodes;
  std::vector<CUgraphExec> executables;
  std::vector<CUmemoryPool> pools;
  std::vector<CUarray> arrays;
  std::vector<CUmemGenericAllocationHandle> handles;
  std::array<unsigned char, kHostBytes> host{};
  unsigned factor = 3;
  CUdeviceptr argument = 0;
  void* arguments[2] = {&argument, &factor};

  CUstream stream() { return calls.of(streams); }
  CUdeviceptr address() { return calls.of(memory) + (calls.one_in(3) ? calls.byte() : 0); }
  /// Within the host's memory.
  std::size_t bytes() { return calls.one_in(2) ? calls.byte() : calls.size() % (kHostBytes + 1); }
  /// Of device memory.
  std::size_t device_bytes() {
    const std::uint64_t size = calls.size();
    return size > (1u << 24) && size < (std::uint64_t{1} << 42) ? 1u << 22 : size;
  }
  const char* name() { return kNames[calls.below(std::size(kNames))]; }
  unsigned extent() {
    return calls.one_in(8) ? static_cast<unsigned>(calls.size()) : 1 + static_cast<unsigned>(calls.below(4));
  }
};

template <class Handle, class Make> void keep(std::vector<Handle>& list, Make&& make) {
  Handle made{};
  if (list.size() < 32 && make(&made) == CUDA_SUCCESS) list.push_back(made);
}

// ---- contexts, streams, events

void contexts(World& w) {
  switch (w.calls.below(8)) {
  case 0: return keep(w.contexts, [&](CUcontext* c) { return cuCtxCreate_v2(c, w.calls.byte() % 16, 0); });
  case 1:
    return keep(w.contexts,
                [&](CUcontext* c) { return cuDevicePrimaryCtxRetain(c, static_cast<int>(w.calls.below(3)) - 1); });
  case 2: static_cast<void>(cuCtxSetCurrent(w.calls.of(w.contexts))); return;
  case 3: static_cast<void>(cuCtxPushCurrent_v2(w.calls.of(w.contexts))); return;
  case 4: {
    CUcontext popped = nullptr;
    static_cast<void>(cuCtxPopCurrent_v2(&popped));
    return;
  }
  case 5: static_cast<void>(cuCtxDestroy_v2(w.calls.of(w.contexts))); return;
  case 6: static_cast<void>(cuCtxSetLimit(static_cast<CUlimit>(w.calls.below(8)), w.device_bytes())); return;
  default: static_cast<void>(w.calls.one_in(4) ? cuDevicePrimaryCtxReset_v2(0) : cuCtxSynchronize());
  }
}

void streams(World& w) {
  switch (w.calls.below(6)) {
  case 0: return keep(w.streams, [&](CUstream* s) { return cuStreamCreate(s, w.calls.byte() % 3); });
  case 1: static_cast<void>(cuStreamDestroy_v2(w.stream())); return;
  case 2: static_cast<void>(cuStreamSynchronize(w.stream())); return;
  case 3: static_cast<void>(cuStreamQuery(w.stream())); return;
  case 4: static_cast<void>(cuStreamWaitEvent(w.stream(), w.calls.of(w.events), w.calls.byte() % 3)); return;
  default: {
    CUcontext of = nullptr;
    static_cast<void>(cuStreamGetCtx(w.stream(), &of));
  }
  }
}

void events(World& w) {
  float time = 0;
  switch (w.calls.below(6)) {
  case 0: return keep(w.events, [&](CUevent* e) { return cuEventCreate(e, w.calls.byte() % 8); });
  case 1: static_cast<void>(cuEventDestroy_v2(w.calls.of(w.events))); return;
  case 2: static_cast<void>(cuEventSynchronize(w.calls.of(w.events))); return;
  case 3: static_cast<void>(cuEventElapsedTime(&time, w.calls.of(w.events), w.calls.of(w.events))); return;
  case 4: static_cast<void>(cuEventQuery(w.calls.of(w.events))); return;
  default: static_cast<void>(cuEventRecord(w.calls.of(w.events), w.stream()));
  }
}

// ---- modules and launches

void modules(World& w) {
  std::size_t bytes = 0;
  CUdeviceptr at = 0;
  int value = 0;
  switch (w.calls.below(6)) {
  case 0: return keep(w.modules, [&](CUmodule* m) { return cuModuleLoadData(m, kPtx[w.calls.one_in(8) ? 1 : 0]); });
  case 1:
  case 2:
    return keep(w.functions, [&](CUfunction* f) { return cuModuleGetFunction(f, w.calls.of(w.modules), w.name()); });
  case 3: static_cast<void>(cuModuleGetGlobal_v2(&at, &bytes, w.calls.of(w.modules), w.name())); return;
  case 4:
    static_cast<void>(
        cuFuncGetAttribute(&value, static_cast<CUfunction_attribute>(w.calls.below(16)), w.calls.of(w.functions)));
    return;
  default: static_cast<void>(cuModuleUnload(w.calls.of(w.modules)));
  }
}

void launch(World& w) {
  w.argument = w.address();
  static_cast<void>(cuLaunchKernel(w.calls.of(w.functions), w.extent(), w.extent(), 1, w.extent(), w.extent(), 1,
                                   w.calls.one_in(6) ? static_cast<unsigned>(w.calls.size()) : 0, w.stream(),
                                   w.arguments, nullptr));
}

// ---- memory

void memory(World& w) {
  std::size_t bytes = 0, pitch = 0;
  CUdeviceptr base = 0;
  switch (w.calls.below(9)) {
  case 0:
  case 1: return keep(w.memory, [&](CUdeviceptr* p) { return cuMemAlloc_v2(p, w.device_bytes()); });
  case 2: static_cast<void>(cuMemFree_v2(w.address())); return;
  case 3: return keep(w.memory, [&](CUdeviceptr* p) { return cuMemAllocAsync(p, w.device_bytes(), w.stream()); });
  case 4: static_cast<void>(cuMemFreeAsync(w.address(), w.stream())); return;
  case 5: static_cast<void>(cuMemGetAddressRange_v2(&base, &bytes, w.address())); return;
  case 6:
    return keep(w.memory, [&](CUdeviceptr* p) {
      return cuMemAllocPitch_v2(p, &pitch, w.device_bytes(), w.calls.byte(), 4u << w.calls.below(3));
    });
  case 7:
    return keep(w.memory, [&](CUdeviceptr* p) { return cuMemAllocManaged(p, w.device_bytes(), w.calls.byte() % 4); });
  default: {
    std::uint64_t value = 0;
    static_cast<void>(cuPointerGetAttribute(&value, static_cast<CUpointer_attribute>(w.calls.below(12)), w.address()));
  }
  }
}

void copies(World& w) {
  switch (w.calls.below(9)) {
  case 0: static_cast<void>(cuMemcpyHtoD_v2(w.address(), w.host.data(), w.bytes())); return;
  case 1: static_cast<void>(cuMemcpyDtoH_v2(w.host.data(), w.address(), w.bytes())); return;
  case 2: static_cast<void>(cuMemcpyDtoD_v2(w.address(), w.address(), w.device_bytes())); return;
  case 3: static_cast<void>(cuMemcpyHtoDAsync_v2(w.address(), w.host.data(), w.bytes(), w.stream())); return;
  case 4: static_cast<void>(cuMemcpyDtoDAsync_v2(w.address(), w.address(), w.device_bytes(), w.stream())); return;
  case 5: static_cast<void>(cuMemsetD8_v2(w.address(), w.calls.byte(), w.device_bytes())); return;
  case 6: static_cast<void>(cuMemsetD32Async(w.address(), w.calls.byte(), w.device_bytes(), w.stream())); return;
  case 7: static_cast<void>(cuMemsetD2D16_v2(w.address(), w.calls.size(), 7, w.calls.byte(), w.calls.byte())); return;
  default: {
    CUDA_MEMCPY3D c{};
    c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    c.srcDevice = w.address(), c.dstDevice = w.address();
    if (w.calls.one_in(2)) c.dstMemoryType = CU_MEMORYTYPE_ARRAY, c.dstArray = w.calls.of(w.arrays);
    c.srcPitch = w.calls.size(), c.dstPitch = w.calls.size(), c.srcHeight = w.calls.size(),
    c.dstHeight = w.calls.size();
    c.WidthInBytes = w.calls.size(), c.Height = w.calls.size(), c.Depth = w.calls.size();
    c.srcXInBytes = w.calls.one_in(4) ? w.calls.size() : 0, c.dstY = w.calls.one_in(4) ? w.calls.size() : 0;
    static_cast<void>(cuMemcpy3DAsync_v2(&c, w.stream()));
  }
  }
}

void virtual_memory(World& w) {
  CUmemAllocationProp property{};
  property.type = static_cast<decltype(property.type)>(w.calls.one_in(8) ? 0 : 1);
  property.location.type = static_cast<decltype(property.location.type)>(1);
  CUmemAccessDesc access{};
  access.location = property.location;
  access.flags = static_cast<decltype(access.flags)>(3);
  constexpr std::size_t kUnit = 2u << 20;
  const std::size_t size = w.calls.one_in(6) ? w.calls.size() : kUnit * (1 + w.calls.below(3));
  const CUdeviceptr at = w.calls.of(w.reserved) + (w.calls.one_in(3) ? kUnit : 0);
  switch (w.calls.below(7)) {
  case 0: return keep(w.reserved, [&](CUdeviceptr* p) { return cuMemAddressReserve(p, size, 0, 0, 0); });
  case 1: return keep(w.handles, [&](CUmemGenericAllocationHandle* h) { return cuMemCreate(h, size, &property, 0); });
  case 2: static_cast<void>(cuMemMap(at, size, w.calls.one_in(8) ? kUnit : 0, w.calls.of(w.handles), 0)); return;
  case 3:
    if (cuMemSetAccess(at, size, &access, 1) == CUDA_SUCCESS) w.memory.push_back(at);
    return;
  case 4: static_cast<void>(cuMemUnmap(at, size)); return;
  case 5: static_cast<void>(cuMemRelease(w.calls.of(w.handles))); return;
  default: static_cast<void>(cuMemAddressFree(at, size));
  }
}

void pools(World& w) {
  CUmemPoolProps properties{};
  properties.allocType = static_cast<decltype(properties.allocType)>(1);
  properties.location.type = static_cast<decltype(properties.location.type)>(1);
  switch (w.calls.below(4)) {
  case 0: return keep(w.pools, [&](CUmemoryPool* p) { return cuMemPoolCreate(p, &properties); });
  case 1:
    return keep(w.memory, [&](CUdeviceptr* p) {
      return cuMemAllocFromPoolAsync(p, w.device_bytes(), w.calls.of(w.pools), w.stream());
    });
  case 2: static_cast<void>(cuMemPoolTrimTo(w.calls.of(w.pools), w.calls.size())); return;
  default: static_cast<void>(cuMemPoolDestroy(w.calls.of(w.pools)));
  }
}

void arrays(World& w) {
  CUDA_ARRAY3D_DESCRIPTOR d{};
  d.Width = w.calls.one_in(8) ? w.calls.size() : 1 + w.calls.below(64);
  d.Height = w.calls.one_in(8) ? w.calls.size() : w.calls.below(16);
  d.Depth = w.calls.one_in(8) ? w.calls.size() : w.calls.below(3);
  constexpr int kFormats[] = {1, 2, 3, 8, 16, 32, 0, 77};
  d.Format = static_cast<decltype(d.Format)>(kFormats[w.calls.below(std::size(kFormats))]);
  d.NumChannels = static_cast<unsigned>(w.calls.below(6));
  d.Flags = w.calls.byte() % 16;
  if (d.Width > 4096 || d.Height > 4096 || d.Depth > 64) d.Width |= std::uint64_t{1} << 50; // refused, not allocated
  switch (w.calls.below(3)) {
  case 0: return keep(w.arrays, [&](CUarray* a) { return cuArray3DCreate_v2(a, &d); });
  case 1: static_cast<void>(cuArrayDestroy(w.calls.of(w.arrays))); return;
  default: static_cast<void>(cuMemcpyHtoA_v2(w.calls.of(w.arrays), w.calls.size(), w.host.data(), w.bytes()));
  }
}

// ---- graphs

void add_node(World& w) {
  const CUgraph graph = w.calls.of(w.graphs);
  const CUgraphNode after[2] = {w.calls.of(w.nodes), w.calls.of(w.nodes)};
  const std::size_t count = w.calls.below(3);
  const CUcontext context = w.calls.of(w.contexts);
  CUDA_MEMSET_NODE_PARAMS fill{w.address(),    w.calls.size(), w.calls.byte(), 1u << w.calls.below(4),
                               w.calls.size(), w.calls.size()};
  CUDA_KERNEL_NODE_PARAMS_v1 kernel{
      w.calls.of(w.functions), w.extent(), 1, 1, w.extent(), 1, 1, 0, w.arguments, nullptr};
  keep(w.nodes, [&](CUgraphNode* n) {
    switch (w.calls.below(5)) {
    case 0: return cuGraphAddMemsetNode(n, graph, after, count, &fill, context);
    case 1: return cuGraphAddKernelNode(n, graph, after, count, &kernel);
    case 2: return cuGraphAddChildGraphNode(n, graph, after, count, w.calls.of(w.graphs));
    case 3: return cuGraphAddEventRecordNode(n, graph, after, count, w.calls.of(w.events));
    default: return cuGraphAddEmptyNode(n, graph, after, count);
    }
  });
}

void graphs(World& w) {
  const CUgraphNode from = w.calls.of(w.nodes), to = w.calls.of(w.nodes);
  std::size_t count = 8;
  CUgraphNode found[8];
  switch (w.calls.below(14)) {
  case 0: return keep(w.graphs, [&](CUgraph* g) { return cuGraphCreate(g, w.calls.byte() % 2); });
  case 1: static_cast<void>(cuGraphDestroy(w.calls.of(w.graphs))); return;
  case 2:
  case 3: return add_node(w);
  case 4: static_cast<void>(cuGraphAddDependencies(w.calls.of(w.graphs), &from, &to, 1)); return;
  case 5: static_cast<void>(cuGraphRemoveDependencies(w.calls.of(w.graphs), &from, &to, 1)); return;
  case 6:
    return keep(w.executables, [&](CUgraphExec* e) {
      return cuGraphInstantiateWithFlags(e, w.calls.of(w.graphs), w.calls.byte() % 4);
    });
  case 7: static_cast<void>(cuGraphLaunch(w.calls.of(w.executables), w.stream())); return;
  case 8: static_cast<void>(cuGraphExecDestroy(w.calls.of(w.executables))); return;
  case 9: static_cast<void>(cuGraphDestroyNode(from)); return;
  case 10: return keep(w.graphs, [&](CUgraph* g) { return cuGraphClone(g, w.calls.of(w.graphs)); });
  case 11: static_cast<void>(cuGraphGetNodes(w.calls.of(w.graphs), found, &count)); return;
  case 12:
    static_cast<void>(cuStreamBeginCapture_v2(w.stream(), static_cast<CUstreamCaptureMode>(w.calls.below(4))));
    return;
  default: return keep(w.graphs, [&](CUgraph* g) { return cuStreamEndCapture(w.stream(), g); });
  }
}

void run(std::string_view input) {
  if (cuInit(0) != CUDA_SUCCESS) wrong("cuInit fails");
  World w(input);
  keep(w.contexts, [&](CUcontext* c) { return cuDevicePrimaryCtxRetain(c, 0); });
  static_cast<void>(cuCtxSetCurrent(w.contexts.front()));
  constexpr void (*kCalls[])(World&) = {contexts, streams,        events, modules, launch, memory,
                                        copies,   virtual_memory, pools,  arrays,  graphs, graphs};
  for (int n = 0; n < 100 && w.calls.more(); ++n) kCalls[w.calls.below(std::size(kCalls))](w);
  // What was left is destroyed; a destroyed context takes what it has with it.
  for (const CUgraphExec e : w.executables) static_cast<void>(cuGraphExecDestroy(e));
  for (const CUgraph g : w.graphs) static_cast<void>(cuGraphDestroy(g));
  for (const CUdeviceptr a : w.memory) static_cast<void>(cuMemFree_v2(a)); // memory of pools is of no context
  for (const CUcontext c : w.contexts) static_cast<void>(cuCtxDestroy_v2(c));
  for (const CUmemoryPool p : w.pools) static_cast<void>(cuMemPoolDestroy(p));
  for (const CUmemGenericAllocationHandle h : w.handles) static_cast<void>(cuMemRelease(h));
  static_cast<void>(cuDevicePrimaryCtxReset_v2(0));
  CUcontext popped = nullptr;
  while (cuCtxPopCurrent_v2(&popped) == CUDA_SUCCESS && popped != nullptr) popped = nullptr;
}

} // namespace

const Target target::driver_api{"driver_api", run, mutate_bytes};

} // namespace warplens::fuzz
