// Asks a driver how the launches of before CUDA 4 (cuParamSet*, cuLaunch*), cuCtxAttach and cuCtxDetach, and the limit
// of registers of the just-in-time compiler behave: a line "what: answer" each.
//
//   g++ -std=c++20 -O1 -I. -o old_launches tests/data/hardware/ask/old_launches.cpp
//   tests/data/hardware/ask/contexts/world.cpp -ldl
//   ./old_launches libcuda.so.1 > tests/data/hardware/old_launches.txt
#include "tests/data/hardware/ask/contexts/world.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace {

/// add(out, value, factor): out[i] = value + factor * i + dynamic shared bytes given, i the thread in the grid.
constexpr const char* kAdd = R"(
.version 6.5
.target sm_75
.address_size 64
.visible .entry add(.param .u64 out, .param .u32 value, .param .f32 factor)
{
  .reg .b32 %r<8>;
  .reg .f32 %f<3>;
  .reg .b64 %d<3>;
  ld.param.u64 %d1, [out];
  ld.param.u32 %r1, [value];
  ld.param.f32 %f1, [factor];
  cvta.to.global.u64 %d1, %d1;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  mul.wide.u32 %d2, %r2, 4;
  add.u64 %d1, %d1, %d2;
  cvt.rzi.u32.f32 %r5, %f1;
  mad.lo.u32 %r1, %r2, %r5, %r1;
  mov.u32 %r6, %dynamic_smem_size;
  add.u32 %r1, %r1, %r6;
  st.global.u32 [%d1], %r1;
  ret;
}
)";

/// Two texture references, one of which a kernel fetches from.
constexpr const char* kFetch = R"(
.version 6.5
.target sm_75
.address_size 64
.global .texref used;
.global .texref unused;
.visible .entry none()
{
  ret;
}
.visible .entry fetches(.param .u64 out)
{
  .reg .b32 %r<5>;
  .reg .b64 %d;
  ld.param.u64 %d, [out];
  cvta.to.global.u64 %d, %d;
  mov.u32 %r4, 0;
  tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [used, {%r4}];
  st.global.u32 [%d], %r0;
  ret;
}
)";

/// A kernel that holds `live` values at a time.
std::string busy(int live, const char* directives) {
  std::string text = ".version 6.5\n.target sm_75\n.address_size 64\n.visible .entry busy(.param .u64 p)\n";
  text += directives;
  text += "\n{\n.reg .b32 %r<300>;\n.reg .b64 %d<3>;\nld.param.u64 %d1, [p];\ncvta.to.global.u64 %d1, %d1;\n";
  for (int i = 0; i < live; ++i)
    text += "ld.volatile.global.u32 %r" + std::to_string(i) + ", [%d1+" + std::to_string(4 * i) + "];\n";
  for (int i = 0; i < live; ++i)
    text +=
        "st.volatile.global.u32 [%d1+" + std::to_string(4 * i) + "], %r" + std::to_string((i * 7 + 3) % live) + ";\n";
  return text + "ret;\n}\n";
}

/// say{"what", first, second}: braces, so that the values are asked for in this order.
struct say {
  template <class... Values> say(const char* what, Values... values) {
    std::printf("%s:", what);
    (std::printf(" %lld", static_cast<long long>(values)), ...);
    std::printf("\n");
    std::fflush(stdout);
  }
};

/// In a process of its own, with a context.
template <class Body> void apart(const char* name, Body&& body) {
  std::fflush(stdout);
  const pid_t process = fork();
  if (process == 0) {
    alarm(30);
    std::printf("# %s\n", name);
    CUcontext context = nullptr;
    if (CALL(cuInit, 0) != 0 || CALL(cuCtxCreate_v2, &context, 0, 0) != 0) std::printf("no context\n"), _exit(1);
    body(context);
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(process, &status, 0);
  if (WIFSIGNALED(status)) std::printf("signal: %d\n", WTERMSIG(status));
}

struct Add {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr out = 0;
  unsigned results[64] = {};
  Add() {
    CALL(cuModuleLoadData, &module, kAdd);
    CALL(cuModuleGetFunction, &function, module, "add");
    CALL(cuMemAlloc_v2, &out, sizeof results);
    CALL(cuMemsetD32_v2, out, 0, 64);
  }
  void set() {
    say{"setv", CALL(cuParamSetv, function, 0, &out, 8)};
    say{"seti", CALL(cuParamSeti, function, 8, 100)};
    say{"setf", CALL(cuParamSetf, function, 12, 3.0f)};
    say{"size", CALL(cuParamSetSize, function, 16)};
  }
  void show(const char* what) {
    const int answer = CALL(cuCtxSynchronize);
    CALL(cuMemcpyDtoH_v2, results, out, sizeof results);
    say{what, answer, results[0], results[1], results[2], results[31], results[32], results[33], results[63]};
    CALL(cuMemsetD32_v2, out, 0, 64);
  }
};

void registers(const char* name, int live, const char* directives, CUjit_option option, unsigned limit) {
  CUmodule module = nullptr;
  CUjit_option options[] = {option};
  void* values[] = {reinterpret_cast<void*>(static_cast<std::uintptr_t>(limit))};
  const std::string text = busy(live, directives);
  const int loaded = CALL(cuModuleLoadDataEx, &module, text.c_str(), option == CU_JIT_TARGET ? 0 : 1, options, values);
  if (loaded != 0) return void(say{name, live, limit, loaded});
  CUfunction f = nullptr;
  CALL(cuModuleGetFunction, &f, module, "busy");
  int count = -1, local = -1, threads = -1, blocks = -1, potential = -1, grid = -1;
  CALL(cuFuncGetAttribute, &count, CU_FUNC_ATTRIBUTE_NUM_REGS, f);
  CALL(cuFuncGetAttribute, &local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f);
  CALL(cuFuncGetAttribute, &threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f);
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks, f, 256, 0);
  CALL(cuOccupancyMaxPotentialBlockSize, &grid, &potential, f, contexts::World::no_shared, 0, 0);
  say{name, live, limit, loaded, count, local, threads, blocks, potential};
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  contexts::open(argv[1]);
  apart("nothing was set", [](CUcontext) {
    Add a;
    say{"cuLaunch", CALL(cuLaunch, a.function)};
    a.show("results");
  });
  apart("parameters only", [](CUcontext) {
    Add a;
    a.set();
    say{"cuLaunch", CALL(cuLaunch, a.function)};
    a.show("results");
  });
  apart("all", [](CUcontext) {
    Add a;
    a.set();
    say{"shape", CALL(cuFuncSetBlockShape, a.function, 32, 1, 1)};
    say{"cuLaunch", CALL(cuLaunch, a.function)};
    a.show("results");
    say{"cuLaunchGrid", CALL(cuLaunchGrid, a.function, 2, 1)};
    a.show("results");
    say{"shared", CALL(cuFuncSetSharedSize, a.function, 1024)};
    say{"cuLaunchGridAsync", CALL(cuLaunchGridAsync, a.function, 2, 1, nullptr)};
    a.show("results");
    unsigned value = 7;
    float factor = 2;
    void* arguments[] = {&a.out, &value, &factor};
    say{"cuLaunchKernel between", CALL(cuLaunchKernel, a.function, 1, 1, 1, 2, 1, 1, 16, nullptr, arguments, nullptr)};
    a.show("results");
    say{"cuLaunch again", CALL(cuLaunch, a.function)};
    a.show("results");
    say{"seti only", CALL(cuParamSeti, a.function, 8, 200)};
    say{"cuLaunch again", CALL(cuLaunch, a.function)};
    a.show("results");
    CUfunction same = nullptr;
    CALL(cuModuleGetFunction, &same, a.module, "add");
    say{"cuModuleGetFunction again: same handle, cuLaunch", same == a.function, CALL(cuLaunch, same)};
    a.show("results");
  });
  for (const int size : {0, 4, 12, 15, 16, 17, 64, 4096, 4097, 1 << 20})
    apart("a size", [&](CUcontext) {
      Add a;
      a.set();
      CALL(cuFuncSetBlockShape, a.function, 2, 1, 1);
      say{"size is", size, CALL(cuParamSetSize, a.function, size)};
      say{"cuLaunch", CALL(cuLaunch, a.function)};
      a.show("results");
    });
  apart("sizes without parameters", [](CUcontext) {
    Add a;
    say{"setv", CALL(cuParamSetv, a.function, 0, &a.out, 8)};
    say{"cuLaunch", CALL(cuLaunch, a.function)};
    a.show("results");
  });
  for (const int offset : {0, 1, 3, 4, 8, 12, 16, 20, 4088, 4089, 4092, 4093, 4096, 5000, 1 << 20})
    apart("an offset", [&](CUcontext) {
      Add a;
      say{"offset", offset, CALL(cuParamSeti, a.function, offset, 1)};
      say{"offset", offset, CALL(cuParamSetf, a.function, offset, 1.0f)};
      say{"offset", offset, CALL(cuParamSetv, a.function, offset, &a.out, 8)};
    });
  apart("odd offsets", [](CUcontext) {
    Add a;
    char one = 1;
    say{"setv nothing", CALL(cuParamSetv, a.function, 0, &a.out, 0)};
    a.set();
    say{"setv of one byte", CALL(cuParamSetv, a.function, 9, &one, 1)};
    say{"cuLaunch", CALL(cuLaunch, a.function)};
    a.show("results");
  });
  apart("shapes", [](CUcontext) {
    Add a;
    for (const int x : {-1, 0, 1, 1024, 1025, 1 << 20}) {
      say{"shape", x, CALL(cuFuncSetBlockShape, a.function, x, 1, 1), CALL(cuFuncSetBlockShape, a.function, 1, x, 1),
          CALL(cuFuncSetBlockShape, a.function, 1, 1, x)};
    }
    say{"shape 32 32 2", CALL(cuFuncSetBlockShape, a.function, 32, 32, 2)};
    for (const unsigned bytes : {0u, 1u, 48u << 10, (48u << 10) + 1, 227u << 10, 1u << 20, ~0u})
      say{"shared", bytes, CALL(cuFuncSetSharedSize, a.function, bytes)};
  });
  apart("grids", [](CUcontext) {
    Add a;
    a.set();
    CALL(cuFuncSetBlockShape, a.function, 2, 1, 1);
    for (const int x : {-1, 0, 65535, 65536})
      say{"grid", x, CALL(cuLaunchGrid, a.function, x, 1), CALL(cuLaunchGrid, a.function, 1, x)};
    CALL(cuFuncSetSharedSize, a.function, 60000);
    say{"too much shared", CALL(cuLaunchGrid, a.function, 1, 1)};
    say{"null function", CALL(cuLaunch, nullptr), CALL(cuParamSeti, nullptr, 0, 0),
        CALL(cuFuncSetBlockShape, nullptr, 1, 1, 1)};
  });
  apart("too large blocks", [](CUcontext) {
    Add a;
    a.set();
    CALL(cuFuncSetBlockShape, a.function, 32, 32, 2);
    say{"cuLaunch", CALL(cuLaunch, a.function)};
  });
  apart("texture references of the module", [](CUcontext) {
    CUmodule module = nullptr;
    CUfunction none = nullptr, fetches = nullptr;
    CUtexref used = nullptr, unused = nullptr;
    say{"module", CALL(cuModuleLoadData, &module, kFetch)};
    say{"none", CALL(cuModuleGetFunction, &none, module, "none")};
    say{"fetches", CALL(cuModuleGetFunction, &fetches, module, "fetches")};
    say{"used", CALL(cuModuleGetTexRef, &used, module, "used")};
    say{"unused", CALL(cuModuleGetTexRef, &unused, module, "unused")};
    for (const int unit : {-2, -1, 0, 1}) {
      say{"used, none", unit, CALL(cuParamSetTexRef, none, unit, used)};
      say{"used, fetches", unit, CALL(cuParamSetTexRef, fetches, unit, used)};
      say{"unused, none", unit, CALL(cuParamSetTexRef, none, unit, unused)};
      say{"unused, fetches", unit, CALL(cuParamSetTexRef, fetches, unit, unused)};
    }
  });
  apart("texture references", [](CUcontext) {
    Add a;
    CUtexref reference = nullptr;
    CALL(cuTexRefCreate, &reference);
    for (const int unit : {-2, -1, 0, 1, 5}) say{"unit", unit, CALL(cuParamSetTexRef, a.function, unit, reference)};
    say{"null reference", CALL(cuParamSetTexRef, a.function, -1, nullptr)};
  });
  apart("attach and detach", [](CUcontext context) {
    CUcontext got = nullptr, now = nullptr;
    unsigned version = 0;
    say{"attach", CALL(cuCtxAttach, &got, 0), got == context};
    say{"attach with a flag", CALL(cuCtxAttach, &got, 1)};
    say{"attach null", CALL(cuCtxAttach, nullptr, 0)};
    say{"detach", CALL(cuCtxDetach, context), CALL(cuCtxGetCurrent, &now), now == context};
    say{"detach", CALL(cuCtxDetach, context), CALL(cuCtxGetCurrent, &now), now == context};
    say{"lives", CALL(cuCtxGetApiVersion, context, &version)};
  });
  apart("detach at once", [](CUcontext context) {
    CUcontext now = nullptr;
    say{"detach", CALL(cuCtxDetach, context), CALL(cuCtxGetCurrent, &now), now == nullptr};
    say{"synchronize", CALL(cuCtxSynchronize)};
  });
  apart("attached, and destroyed", [](CUcontext context) {
    CUcontext got = nullptr, now = nullptr;
    say{"attach", CALL(cuCtxAttach, &got, 0)};
    say{"destroy", CALL(cuCtxDestroy_v2, context), CALL(cuCtxGetCurrent, &now), now == context};
    say{"synchronize", CALL(cuCtxSynchronize)};
  });
  apart("the primary context", [](CUcontext context) {
    CUcontext primary = nullptr, got = nullptr;
    CALL(cuDevicePrimaryCtxRetain, &primary, 0);
    CALL(cuCtxSetCurrent, primary);
    say{"attach", CALL(cuCtxAttach, &got, 0), got == primary};
    say{"detach", CALL(cuCtxDetach, primary)};
    say{"destroy", CALL(cuCtxDestroy_v2, primary)};
    say{"detach of another", CALL(cuCtxDetach, context)};
    say{"detach null", CALL(cuCtxDetach, nullptr)};
  });
  // What a caller of before CUDA 13 leaves in the second register.
  static char zeros[8192];
  const std::uintptr_t garbage[] = {1, 5, 0x1000, reinterpret_cast<std::uintptr_t>(zeros), ~std::uintptr_t{0}};
  for (const std::uintptr_t value : garbage) {
    apart("not a context", [&](CUcontext) {
      int device = -1;
      say{"cuCtxGetDevice_v2", CALL(cuCtxGetDevice_v2, &device, reinterpret_cast<CUcontext>(value)), device};
    });
    apart("not a context", [&](CUcontext) {
      say{"cuCtxSynchronize_v2", CALL(cuCtxSynchronize_v2, reinterpret_cast<CUcontext>(value))};
    });
  }
  apart("entry points", [](CUcontext) {
    for (const char* name :
         {"cuCtxGetDevice", "cuCtxGetDevice_v2", "cuCtxSynchronize_v2", "cuMemAlloc_v2", "cuMemAlloc"})
      for (const int version : {2000, 3020, 12000, 13000}) {
        void* found = nullptr;
        const int answer = CALL(cuGetProcAddress_v2, name, &found, version, 0, nullptr);
        const std::string symbol = std::strstr(name, "_v2") != nullptr ? name : std::string(name) + "_v2";
        std::printf("%s of %d: %d %s\n", name, version, answer,
                    found == nullptr                          ? "null"
                    : found == contexts::find(symbol.c_str()) ? "v2"
                                                              : "v1");
      }
  });
  apart(
      "registers: live, limit, cuModuleLoadDataEx, registers, local bytes, threads, blocks of 256, potential",
      [](CUcontext) {
        for (const int live : {4, 60, 150})
          for (const unsigned limit : {0u, 1u, 16u, 23u, 24u, 25u, 32u, 33u, 64u, 100u, 128u, 200u, 255u, 256u, 1000u})
            registers("CU_JIT_MAX_REGISTERS", live, "", CU_JIT_MAX_REGISTERS, limit);
        for (const int live : {4, 60, 150}) registers("none", live, "", CU_JIT_TARGET, 0);
        for (const unsigned limit : {1u, 32u, 64u, 256u, 512u, 1000u, 1024u, 2048u})
          registers("CU_JIT_THREADS_PER_BLOCK", 150, "", CU_JIT_THREADS_PER_BLOCK, limit);
        for (const char* directives : {".maxnreg 40", ".maxntid 1024", ".maxntid 256\n.minnctapersm 4", ".reqntid 128"})
          for (const unsigned limit : {0u, 32u, 64u, 200u}) {
            std::printf("%s ", std::strtok(std::string(directives).data(), "\n"));
            registers("CU_JIT_MAX_REGISTERS", 150, directives, CU_JIT_MAX_REGISTERS, limit);
          }
      });
}
