// SPDX-License-Identifier: Apache-2.0
// A program that shows the addresses of its device memory, and the effect of accesses past the end.
//
//   places [addresses | heap | past N]
//
// addresses: of the first allocation, then what a 32-bit module stores there; heap: the same after a large heap has
// grown. past: N launches of a kernel whose 32 threads each load a word from twelve bytes, and their sum.
#include "runtime/abi/driver.hpp"
#include "tests/runtime/programs/check.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr const char* kNarrow = R"(
.version 3.2
.target sm_20
.address_size 32
.visible .entry store(.param .u32 data)
{
  .reg .u32 %r<3>;
  ld.param.u32 %r1, [data];
  mov.u32 %r2, 42;
  st.global.u32 [%r1], %r2;
  ret;
}
)";

constexpr const char* kPast = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry past(.param .u64 data)
{
  .reg .b32 %r<3>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d2, %d1, %d2;
  ld.global.u32 %r2, [%d2];
  red.global.add.u32 [%d1], %r2;
  ret;
}
)";

CUfunction load(const char* text, const char* name) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CHECK(cuModuleLoadData(&module, text));
  CHECK(cuModuleGetFunction(&function, module, name));
  return function;
}

void show_addresses() {
  CUdeviceptr data = 0;
  CHECK(cuMemAlloc_v2(&data, 4));
  auto narrow = static_cast<unsigned>(data);
  void* arguments[] = {&narrow};
  CHECK(cuLaunchKernel(load(kNarrow, "store"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  unsigned stored = 0;
  CHECK(cuMemcpyDtoH_v2(&stored, data, 4));
  std::printf("%#llx %u\n", static_cast<unsigned long long>(data), stored);
}

void read_past(int launches) {
  CUdeviceptr data = 0;
  CHECK(cuMemAlloc_v2(&data, 12));
  CHECK(cuMemsetD32_v2(data, 1, 3));
  const CUfunction function = load(kPast, "past");
  void* arguments[] = {&data};
  for (int i = 0; i < launches; ++i) CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  unsigned sum = 0;
  CHECK(cuMemcpyDtoH_v2(&sum, data, 4));
  std::printf("%u\n", sum);
}

} // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "addresses";
  std::vector<void*> heap;
  for (int i = 0; what == "heap" && i < 2000; ++i) heap.push_back(std::malloc(100'000));
  CUcontext context = nullptr;
  CHECK(cuInit(0));
  CHECK(cuDevicePrimaryCtxRetain(&context, 0));
  CHECK(cuCtxSetCurrent(context));
  if (what == "past")
    read_past(std::atoi(words[2]));
  else
    show_addresses();
  for (void* p : heap) std::free(p);
}
