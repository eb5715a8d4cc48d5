// SPDX-License-Identifier: Apache-2.0
// A program that uses the driver API: launches a kernel N times, and ends as requested.
//
//   launches N [exit STATUS | abort | count | fork | fork-after | late | device | variable | wait | ragged]
//
// count: launches three million warp instructions and prints the result; exits with 1 if the launch failed.
// abort: after a launch that fails, and that has had time to. fork: children that launch 1 and 2 times, started before
// the parent uses the device. fork-after: a child, started when the parent has launched, that ends at once. late: a
// static object frees device memory when it is destroyed. device: only its name. variable: only the value of
// OWN_VARIABLE. wait: a launch of four seconds, on any machine. ragged: a launch of 20 threads, which has a finding.
#include "runtime/abi/driver.hpp"
#include "tests/runtime/programs/check.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

// scale(data): every element is doubled.
constexpr const char* kPtx = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 data)
{
  .reg .b32 %r<3>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d1, %d1, %d2;
  ld.global.u32 %r2, [%d1];
  add.u32 %r2, %r2, %r2;
  st.global.u32 [%d1], %r2;
  ret;
}
// count(data): a million rounds.
.visible .entry count(.param .u64 data)
{
  .reg .b32 %r<2>;
  .reg .pred %p;
  mov.u32 %r1, 0;
again:
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p, %r1, 1000000;
  @%p bra again;
  ret;
}
// wait(begin): block b ends 20 * b milliseconds after `begin`.
.visible .entry wait(.param .u64 begin)
{
  .reg .b32 %r<2>;
  .reg .b64 %d<4>;
  .reg .pred %p;
  ld.param.u64 %d1, [begin];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %d2, %r1, 20000000;
  add.u64 %d1, %d1, %d2;
again:
  mov.u64 %d3, %globaltimer;
  setp.lt.u64 %p, %d3, %d1;
  @%p bra again;
  ret;
}
)";

CUfunction load(const char* kernel = "scale") {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CHECK(cuInit(0));
  CHECK(cuDevicePrimaryCtxRetain(&context, 0));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoadData(&module, kPtx));
  CHECK(cuModuleGetFunction(&function, module, kernel));
  return function;
}

CUresult launch(CUfunction function, std::uint64_t argument, unsigned blocks = 1, unsigned threads = 32) {
  void* arguments[] = {&argument};
  return cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr);
}

/// Launches and shows the first and the last element.
CUfunction work(int launches) {
  const CUfunction function = load();
  CUdeviceptr data = 0;
  unsigned values[32];
  CHECK(cuMemAlloc_v2(&data, sizeof values));
  CHECK(cuMemsetD32_v2(data, 1, 32));
  for (int i = 0; i < launches; ++i) CHECK(launch(function, data));
  CHECK(cuMemcpyDtoH_v2(values, data, sizeof values));
  std::printf("%u %u\n", values[0], values[31]);
  std::fflush(stdout);
  return function;
}

struct FreesLate {
  CUdeviceptr data = 0;
  ~FreesLate() {
    if (data != 0) std::printf("freed: %d\n", static_cast<int>(cuMemFree_v2(data)));
  }
} late;

pid_t start_child(int launches) {
  const pid_t child = fork();
  if (child != 0) return child;
  if (launches != 0) work(launches);
  std::exit(0);
}

} // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  const int launches = std::atoi(words[1]);
  const std::string how = count > 2 ? words[2] : "";
  if (how == "device") {
    char name[100];
    CHECK(cuInit(0));
    CHECK(cuDeviceGetName(name, sizeof name, 0));
    std::puts(name);
    return 0;
  }
  if (how == "variable") {
    CHECK(cuInit(0));
    const char* const value = std::getenv("OWN_VARIABLE");
    std::puts(value != nullptr ? value : "lost");
    return 0;
  }
  if (how == "fork")
    for (const int n : {1, 2}) waitpid(start_child(n), nullptr, 0);
  const CUfunction function = work(launches);
  if (how == "fork-after") waitpid(start_child(0), nullptr, 0);
  if (how == "late") CHECK(cuMemAlloc_v2(&late.data, 64));
  if (how == "exit") std::exit(std::atoi(words[3]));
  if (how == "count") {
    CHECK(launch(load("count"), 0));
    CHECK(cuCtxSynchronize());
  }
  if (how == "wait") {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    CHECK(launch(load("wait"), static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count()), 200));
    CHECK(cuCtxSynchronize());
  }
  if (how == "ragged") {
    CUdeviceptr data = 0;
    CHECK(cuMemAlloc_v2(&data, 128));
    CHECK(launch(function, data, 1, 20));
    CHECK(cuCtxSynchronize());
  }
  if (how == "abort") {
    if (launch(function, 64) != CUDA_SUCCESS) std::abort();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (cuCtxSynchronize() != CUDA_SUCCESS) std::abort();
  }
  return 0;
}
