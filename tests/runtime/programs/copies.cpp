// SPDX-License-Identifier: Apache-2.0
// A program for `warplens exec --analyze-processes`. It launches kernels, prints what they leave in memory, and does
// what a copy of its process must not disturb.
//
//   copies [many | long [ROUNDS] | stop | wait | map | register | threads | reap | heap]
//
// many: launches whose counts depend on what earlier ones have left, also by the order of their blocks, and print.
// long: three launches of that many rounds. stop: the third launch reads outside its memory. wait: a kernel waits for
// the host. map, register: kernels change memory that processes share. threads: two threads with a stream each. reap:
// the program waits for any child while its launches are analysed. heap: a kernel allocates.
#include "runtime/abi/driver.hpp"
#include "tests/runtime/programs/check.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr const char* kPtx = R"(
.version 7.8
.target sm_80
.address_size 64
.extern .func (.param .b32 status) vprintf (.param .b64 format, .param .b64 arguments);
.extern .func (.param .b64 pointer) malloc (.param .b64 size);
.global .align 1 .b8 text[9] = {98, 108, 111, 99, 107, 32, 48, 10, 0};
// Every element gets one more, `rounds` times.
.visible .entry more(.param .u64 data, .param .u32 rounds)
{
  .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p;
  ld.param.u64 %d1, [data];
  ld.param.u32 %r5, [rounds];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r1, %r2, %r3, %r1;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d1, %d1, %d2;
again:
  ld.global.u32 %r4, [%d1];
  add.u32 %r4, %r4, 1;
  st.global.u32 [%d1], %r4;
  sub.u32 %r5, %r5, 1;
  setp.ne.u32 %p, %r5, 0;
  @%p bra again;
  ret;
}
// Each warp takes a place in the list, in the order in which they come, for its thread 0.
.visible .entry take(.param .u64 data, .param .u32 rounds)
{
  .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p;
  ld.param.u64 %d1, [data];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r1, %r2, %r3, %r1;
  and.b32 %r4, %r1, 31;
  setp.ne.u32 %p, %r4, 0;
  @%p bra done;
  atom.global.add.u32 %r5, [%d1], 1;
  mul.wide.u32 %d2, %r5, 4;
  add.u64 %d2, %d1, %d2;
  st.global.u32 [%d2+128], %r1;
done:
  ret;
}
// Thread t of the grid reads what its list names: the accesses depend on the order in which `take` made it.
.visible .entry follow(.param .u64 data, .param .u32 rounds)
{
  .reg .b32 %r<8>; .reg .b64 %d<6>;
  ld.param.u64 %d1, [data];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r1, %r2, %r3, %r1;
  shr.u32 %r4, %r1, 5;
  mad.lo.u32 %r4, %r1, 7, %r4;
  and.b32 %r4, %r4, 31;
  mul.wide.u32 %d2, %r4, 4;
  add.u64 %d2, %d1, %d2;
  ld.global.u32 %r5, [%d2+128];
  and.b32 %r5, %r5, 1023;
  mul.wide.u32 %d3, %r5, 4;
  add.u64 %d3, %d1, %d3;
  ld.global.u32 %r6, [%d3];
  mul.wide.u32 %d4, %r1, 4;
  add.u64 %d4, %d1, %d4;
  st.global.u32 [%d4+4096], %r6;
  ret;
}
.visible .entry say(.param .u64 data, .param .u32 rounds)
{
  .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
  or.b32 %r1, %r1, %r2;
  setp.ne.u32 %p, %r1, 0;
  @%p bra done;
  mov.u64 %d1, text;
  cvta.global.u64 %d1, %d1;
  {
    .param .b64 a; .param .b64 b; .param .b32 c;
    st.param.b64 [a], %d1;
    mov.u64 %d2, 0;
    st.param.b64 [b], %d2;
    call.uni (c), vprintf, (a, b);
  }
done:
  ret;
}
.visible .entry obtain(.param .u64 data, .param .u32 rounds)
{
  .reg .b32 %r<4>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [data];
  {
    .param .b64 a; .param .b64 b;
    mov.u64 %d2, 64;
    st.param.b64 [a], %d2;
    call.uni (b), malloc, (a);
    ld.param.b64 %d3, [b];
  }
  mov.u32 %r1, 5;
  st.u32 [%d3], %r1;
  ld.u32 %r2, [%d3];
  st.global.u32 [%d1], %r2;
  ret;
}
// Until the host has stored something.
.visible .entry wait(.param .u64 data, .param .u32 rounds)
{
  .reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %p;
  ld.param.u64 %d1, [data];
again:
  ld.volatile.global.u32 %r1, [%d1];
  setp.eq.u32 %p, %r1, 0;
  @%p bra again;
  st.global.u32 [%d1+4], %r1;
  ret;
}
)";

constexpr unsigned kBlocks = 16, kThreads = 64, kWords = 8192;

CUmodule module_ = nullptr;

CUresult launch(const char* kernel, std::uint64_t data, unsigned rounds = 1, unsigned blocks = kBlocks,
                unsigned threads = kThreads, CUstream stream = nullptr) {
  CUfunction function = nullptr;
  CHECK(cuModuleGetFunction(&function, module_, kernel));
  void* arguments[] = {&data, &rounds};
  return cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, nullptr);
}

CUdeviceptr zeros() {
  CUdeviceptr data = 0;
  CHECK(cuMemAlloc_v2(&data, kWords * 4));
  CHECK(cuMemsetD32_v2(data, 0, kWords));
  return data;
}

void show(CUdeviceptr data) {
  std::vector<unsigned> words(kWords);
  CHECK(cuMemcpyDtoH_v2(words.data(), data, kWords * 4));
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < kWords; ++i) sum = sum * 31 + words[i];
  std::printf("%u %u %016llx\n", words[0], words[63], static_cast<unsigned long long>(sum));
  std::fflush(stdout);
}

void many() {
  const CUdeviceptr data = zeros();
  std::fputs("begin\n", stdout); // stays in the buffer: a copy must not write it
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(launch("more", data, i + 1));
    CHECK(cuMemsetD32_v2(data, 0, 1));
    CHECK(launch("take", data));
    CHECK(launch("say", data));
    CHECK(launch("follow", data, 1, 4 * kBlocks));
  }
  show(data);
}

void map() {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemGenericAllocationHandle memory = 0;
  CUdeviceptr data = 0;
  constexpr std::size_t kSize = 2 << 20;
  CHECK(cuMemCreate(&memory, kSize, &properties, 0));
  CHECK(cuMemAddressReserve(&data, kSize, 0, 0, 0));
  CHECK(cuMemMap(data, kSize, 0, memory, 0));
  CUmemAccessDesc access{};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CHECK(cuMemSetAccess(data, kSize, &access, 1));
  for (int i = 0; i < 5; ++i) CHECK(launch("more", data, 3));
  show(data);
}

void registered() {
  void* const place = reinterpret_cast<void*>(0x1000'0000'0000); // the same in each run: reports have addresses
  void* const memory =
      mmap(place, kWords * 4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  CHECK(cuMemHostRegister_v2(memory, kWords * 4, CU_MEMHOSTREGISTER_DEVICEMAP));
  CUdeviceptr data = 0;
  CHECK(cuMemHostGetDevicePointer_v2(&data, memory, 0));
  for (int i = 0; i < 5; ++i) CHECK(launch("more", data, 3));
  CHECK(cuCtxSynchronize());
  const auto* const words = static_cast<const unsigned*>(memory);
  std::printf("%u %u\n", words[0], words[kBlocks * kThreads - 1]);
}

void wait() {
  unsigned* flag = nullptr;
  CHECK(cuMemAllocHost_v2(reinterpret_cast<void**>(&flag), 64));
  flag[0] = flag[1] = 0;
  CHECK(launch("wait", reinterpret_cast<std::uint64_t>(flag), 1, 1, 1));
  usleep(200'000);
  std::atomic_ref(flag[0]).store(7);
  CHECK(cuCtxSynchronize());
  std::printf("%u\n", flag[1]);
}

void in_threads(CUcontext context) {
  std::atomic<bool> ends = false;
  // Its locks are held most of the time.
  std::thread allocates([&] {
    cuCtxSetCurrent(context);
    while (!ends) {
      CUdeviceptr data = 0;
      CHECK(cuMemAlloc_v2(&data, 4096));
      std::vector<std::string> texts(100, std::string(100, 'x'));
      CHECK(cuMemFree_v2(data));
    }
  });
  const auto work = [&](int) {
    cuCtxSetCurrent(context);
    CUstream stream = nullptr;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    const CUdeviceptr data = zeros();
    for (int i = 0; i < 20; ++i) CHECK(launch("more", data, 20, kBlocks, kThreads, stream));
    CHECK(cuStreamSynchronize(stream));
    unsigned first = 0;
    CHECK(cuMemcpyDtoH_v2(&first, data, 4));
    if (first != 400) std::printf("wrong: %u\n", first);
  };
  std::thread a(work, 1), b(work, 2);
  a.join();
  b.join();
  ends = true;
  allocates.join();
  std::puts("done");
}

} // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "many";
  CUcontext context = nullptr;
  CHECK(cuInit(0));
  CHECK(cuDevicePrimaryCtxRetain(&context, 0));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoadData(&module_, kPtx));
  if (how == "many") many();
  if (how == "map") map();
  if (how == "register") registered();
  if (how == "wait") wait();
  if (how == "threads") in_threads(context);
  if (how == "heap" || how == "stop" || how == "long" || how == "reap") {
    const CUdeviceptr data = zeros();
    const unsigned rounds = how == "long" && argc > 2 ? static_cast<unsigned>(std::stoul(argv[2])) : 2;
    for (int i = 0; i < 3; ++i)
      CHECK(launch(how == "heap" ? "obtain" : "more", how == "stop" && i == 2 ? 64 : data, rounds));
    if (how == "reap")
      while (::wait(nullptr) > 0) {
      }
    show(data);
  }
  return 0;
}
