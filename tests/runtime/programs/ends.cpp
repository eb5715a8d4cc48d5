// SPDX-License-Identifier: Apache-2.0
// A program that uses the driver API and ends in an unusual way, with status 7 unless stated otherwise:
//
//   ends thread-exit        a thread calls exit while the first one waits for a kernel
//   ends thread-_exit       the same with _exit
//   ends first-thread       the first thread ends; another one launches and then calls exit
//   ends quick_exit
//   ends signal NUMBER      by a signal that it sends itself, while a kernel runs
//   ends crash              by writing to address 0, in a thread, while a kernel runs
//   ends terminate          by an exception that nobody catches
//   ends exec PROGRAM ARG…  by becoming another program, after a launch
//   ends daemon FILE        at once, with status 0; its grandchild launches in a session of its own and writes to FILE
//   ends children           after 20 children that it starts while another thread launches
//   ends libraries SEED     after opening and closing the libraries of CUDA in any order, while threads launch
#include "runtime/abi/driver.hpp"
#include "tests/runtime/programs/check.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kStatus = 7;

// once(data): adds one to data. forever(data): until data is 1000.
constexpr const char* kPtx = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry once(.param .u64 data)
{
  .reg .b64 %d<2>;
  ld.param.u64 %d1, [data];
  red.global.add.u32 [%d1], 1;
  ret;
}
.visible .entry forever(.param .u64 data)
{
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  .reg .pred %p;
  ld.param.u64 %d1, [data];
again:
  ld.volatile.global.u32 %r1, [%d1];
  setp.ne.u32 %p, %r1, 1000;
  @%p bra again;
  ret;
}
)";

/// The device as one thread uses it.
class Device {
public:
  Device() {
    CUcontext context = nullptr;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module_, kPtx));
    CHECK(cuMemAlloc_v2(&data_, 4));
    CHECK(cuMemsetD32_v2(data_, 0, 1));
  }
  void launch(const char* kernel) {
    CUfunction function = nullptr;
    CHECK(cuModuleGetFunction(&function, module_, kernel));
    void* arguments[] = {&data_};
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  }
  /// How often `once` has run.
  unsigned count() {
    unsigned value = 0;
    CHECK(cuMemcpyDtoH_v2(&value, data_, sizeof value));
    return value;
  }

private:
  CUmodule module_ = nullptr;
  CUdeviceptr data_ = 0;
};

void pause_briefly() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

/// Runs `end` in a thread while this one waits for a kernel that does not end.
template <typename End> [[noreturn]] void during_a_kernel(End end) {
  Device device;
  device.launch("once");
  (void)device.count();
  std::thread([end] {
    pause_briefly();
    end();
  }).detach();
  device.launch("forever");
  (void)cuCtxSynchronize();
  for (;;) pause();
}

[[noreturn]] void first_thread() {
  std::thread([] {
    pause_briefly();
    Device device;
    device.launch("once");
    std::exit(device.count() == 1 ? kStatus : 1);
  }).detach();
  pthread_exit(nullptr);
}

[[noreturn]] void daemon(const char* file) {
  if (fork() != 0) _exit(0);
  (void)setsid();
  if (fork() != 0) _exit(0);
  Device device;
  device.launch("once");
  std::FILE* const out = std::fopen(file, "w");
  if (out == nullptr) std::exit(1);
  std::fprintf(out, "%u\n", device.count());
  std::fclose(out);
  std::exit(0);
}

[[noreturn]] void children() {
  Device device;
  std::atomic<bool> stop = false;
  std::thread thread([&] {
    Device own;
    for (unsigned launches = 1; !stop; ++launches) {
      own.launch("once");
      if (own.count() != launches) std::_Exit(1);
    }
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      if (i % 2 == 0) std::exit(i); // runs what is registered for the end, too
      std::_Exit(i);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != i) std::_Exit(2);
  }
  stop = true;
  thread.join();
  device.launch("once");
  std::exit(device.count() == 1 ? kStatus : 3);
}

[[noreturn]] void libraries(unsigned seed) {
  std::minstd_rand random(seed);
  std::atomic<bool> stop = false;
  std::atomic<unsigned> all = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      Device device;
      for (unsigned launches = 1; !stop; ++launches) {
        device.launch("once");
        if (device.count() != launches) std::_Exit(1);
        ++all;
      }
    });
  constexpr std::array kNames = {"libcuda.so.1", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0",
                                 "libm.so.6"};
  std::vector<void*> open;
  for (int i = 0; i < 200 || all < 20; ++i) {
    if (open.empty() || random() % 2 == 0) {
      void* const library = dlopen(kNames[random() % kNames.size()], random() % 2 == 0 ? RTLD_NOW : RTLD_LAZY);
      if (library != nullptr) open.push_back(library);
    } else {
      std::swap(open[random() % open.size()], open.back());
      void* const library = open.back();
      open.pop_back();
      if (auto* const ask = reinterpret_cast<int (*)(int*)>(dlsym(library, "cudaGetDevice")); ask != nullptr) {
        int device = -1;
        if (ask(&device) != 0 || device != 0) std::_Exit(2);
      }
      if (dlclose(library) != 0) std::_Exit(3);
    }
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  std::exit(kStatus);
}

} // namespace

int main(int count, char** words) {
  const std::string how = count > 1 ? words[1] : "";
  if (how == "thread-exit") during_a_kernel([] { std::exit(kStatus); });
  if (how == "thread-_exit") during_a_kernel([] { std::_Exit(kStatus); });
  if (how == "first-thread") first_thread();
  if (how == "children") children();
  if (how == "crash") during_a_kernel([] { *static_cast<volatile int*>(nullptr) = 0; });
  if (how == "signal" && count == 3) {
    const int signal = std::atoi(words[2]);
    during_a_kernel([signal] { (void)kill(getpid(), signal); });
  }
  if (how == "daemon" && count == 3) daemon(words[2]);
  if (how == "libraries" && count == 3) libraries(static_cast<unsigned>(std::atoi(words[2])));
  Device device;
  device.launch("once");
  if (device.count() != 1) return 1;
  if (how == "quick_exit") std::quick_exit(kStatus);
  if (how == "terminate") throw std::runtime_error("nobody catches this");
  if (how == "exec" && count > 2) execvp(words[2], words + 2);
  return 2;
}
