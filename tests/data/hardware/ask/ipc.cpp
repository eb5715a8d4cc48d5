// Asks a driver how memory and events are shared between processes (cuIpc*): a line "what: answer" each. The program
// starts itself as the other process.
//
//   g++ -std=c++20 -O1 -I. -o ipc tests/data/hardware/ask/ipc.cpp tests/data/hardware/ask/contexts/world.cpp -ldl
//   ./ipc libcuda.so.1 > tests/data/hardware/ipc.txt
#include "tests/data/hardware/ask/contexts/world.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace {

const char* library = nullptr;
constexpr std::size_t kBytes = 4096;

template <class Answer> void say(const char* what, Answer answer) {
  std::printf("%s: %lld\n", what, static_cast<long long>(answer));
}
#define SAY(what, function, ...) say(what, CALL(function, __VA_ARGS__))

std::string hex(const void* data, std::size_t size) {
  std::string text;
  char two[3];
  for (std::size_t i = 0; i < size; ++i) {
    std::snprintf(two, sizeof two, "%02x", static_cast<const unsigned char*>(data)[i]);
    text += two;
  }
  return text;
}

template <class Handle> Handle from_hex(const char* text) {
  Handle handle{};
  for (std::size_t i = 0; i < sizeof handle && text[2 * i] != 0; ++i)
    handle.reserved[i] = static_cast<char>(std::stoi(std::string(text + 2 * i, 2), nullptr, 16));
  return handle;
}

CUcontext start() {
  CUcontext context = nullptr;
  CALL(cuInit, 0);
  CALL(cuDevicePrimaryCtxRetain, &context, 0);
  CALL(cuCtxSetCurrent, context);
  return context;
}

/// Runs this program with a role in another process, which gets both ends of pipes: it writes to 3, and reads from 4.
struct Other {
  Other(const char* role, const std::string& handle) {
    std::fflush(stdout);
    int up[2], down[2];
    if (pipe(up) != 0 || pipe(down) != 0) std::abort();
    process = fork();
    if (process == 0) {
      dup2(up[1], 13), dup2(down[0], 14);
      dup2(13, 3), dup2(14, 4);
      for (int file = 5; file < 64; ++file) close(file);
      execl("/proc/self/exe", "ipc", library, role, handle.c_str(), nullptr);
      _exit(127);
    }
    close(up[1]), close(down[0]);
    from = up[0], to = down[1];
  }
  void wait_for_word() const {
    char word = 0;
    if (read(from, &word, 1) != 1) std::puts("the other process is gone");
  }
  void tell() const { (void)!write(to, "w", 1); }
  ~Other() {
    close(to);
    int status = 0;
    waitpid(process, &status, 0);
    close(from);
    if (status != 0) std::printf("status: %d\n", status);
  }
  pid_t process = 0;
  int from = -1, to = -1;
};
void tell_parent() {
  std::fflush(stdout);
  (void)!write(3, "w", 1);
}
void wait_for_parent() {
  char word = 0;
  (void)!read(4, &word, 1);
}

unsigned word_at(CUdeviceptr address) {
  unsigned word = 0;
  const int answer = CALL(cuMemcpyDtoH_v2, &word, address, sizeof word);
  return answer == 0 ? word : 1000000u + static_cast<unsigned>(answer);
}

std::string handle_of(CUdeviceptr address) {
  CUipcMemHandle handle{};
  SAY("get", cuIpcGetMemHandle, &handle, address);
  return hex(&handle, sizeof handle);
}

// ---- the other process ----

void ask_importer(const char* text) {
  const auto handle = from_hex<CUipcMemHandle>(text);
  CUdeviceptr a = 0, b = 0, own = 0, base = 0;
  std::size_t size = 0;
  SAY("open before cuInit", cuIpcOpenMemHandle_v2, &a, handle, 1u);
  CALL(cuInit, 0);
  SAY("open without context", cuIpcOpenMemHandle_v2, &a, handle, 1u);
  start();
  SAY("open, flags 0", cuIpcOpenMemHandle_v2, &a, handle, 0u);
  SAY("open, flags 2", cuIpcOpenMemHandle_v2, &a, handle, 2u);
  SAY("open, flags 3", cuIpcOpenMemHandle_v2, &a, handle, 3u);
  SAY("open to null", cuIpcOpenMemHandle_v2, nullptr, handle, 1u);
  SAY("open", cuIpcOpenMemHandle_v2, &a, handle, 1u);
  SAY("open again", cuIpcOpenMemHandle_v2, &b, handle, 1u);
  say("the same address", a == b);
  say("word 0", word_at(a));
  say("word 5", word_at(a + 20));
  SAY("set word 1", cuMemsetD32_v2, a + 4, 77u, std::size_t{1});
  SAY("range", cuMemGetAddressRange_v2, &base, &size, a + 100);
  say("range begins there", base == a);
  say("range size", size);
  unsigned number = 9;
  SAY("attribute: memory type", cuPointerGetAttribute, &number, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a);
  say("is", number);
  SAY("attribute: legacy IPC", cuPointerGetAttribute, &number, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, a);
  say("is", number);
  SAY("attribute: managed", cuPointerGetAttribute, &number, CU_POINTER_ATTRIBUTE_IS_MANAGED, a);
  say("is", number);
  SAY("attribute: mapped", cuPointerGetAttribute, &number, CU_POINTER_ATTRIBUTE_MAPPED, a);
  say("is", number);
  SAY("attribute: range size", cuPointerGetAttribute, &size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, a);
  say("is", size);
  CUipcMemHandle of_opened{};
  SAY("handle of what was opened", cuIpcGetMemHandle, &of_opened, a);
  SAY("free what was opened", cuMemFree_v2, a);
  SAY("close inside", cuIpcCloseMemHandle, a + 256);
  SAY("close null", cuIpcCloseMemHandle, CUdeviceptr{0});
  SAY("allocate", cuMemAlloc_v2, &own, kBytes);
  SAY("close own memory", cuIpcCloseMemHandle, own);
  const std::string own_handle = handle_of(own);
  SAY("open own handle", cuIpcOpenMemHandle_v2, &b, from_hex<CUipcMemHandle>(own_handle.c_str()), 1u);
  SAY("close", cuIpcCloseMemHandle, a);
  say("word 0", word_at(a));
}

void ask_closer(const char* text) {
  const auto handle = from_hex<CUipcMemHandle>(text);
  CUdeviceptr a = 0;
  start();
  SAY("open", cuIpcOpenMemHandle_v2, &a, handle, 1u);
  say("word 1", word_at(a + 4));
  SAY("close", cuIpcCloseMemHandle, a);
  std::size_t size = 0;
  CUdeviceptr base = 0;
  SAY("range after close", cuMemGetAddressRange_v2, &base, &size, a);
  SAY("close again", cuIpcCloseMemHandle, a);
  SAY("open", cuIpcOpenMemHandle_v2, &a, handle, 1u);
  SAY("open again", cuIpcOpenMemHandle_v2, &a, handle, 1u);
  SAY("close", cuIpcCloseMemHandle, a);
  SAY("range", cuMemGetAddressRange_v2, &base, &size, a);
  SAY("close", cuIpcCloseMemHandle, a);
  SAY("range", cuMemGetAddressRange_v2, &base, &size, a);
}

void ask_forger(const char* text) {
  const auto handle = from_hex<CUipcMemHandle>(text);
  start();
  CUdeviceptr a = 0;
  SAY("open zeros", cuIpcOpenMemHandle_v2, &a, CUipcMemHandle{}, 1u);
  CUipcMemHandle ones;
  std::memset(&ones, 0xff, sizeof ones);
  SAY("open ones", cuIpcOpenMemHandle_v2, &a, ones, 1u);
  SAY("open", cuIpcOpenMemHandle_v2, &a, handle, 1u);
  SAY("close", cuIpcCloseMemHandle, a);
}

void ask_survivor(const char* text) {
  const auto handle = from_hex<CUipcMemHandle>(text);
  CUdeviceptr a = 0;
  start();
  SAY("open", cuIpcOpenMemHandle_v2, &a, handle, 1u);
  say("word 5", word_at(a + 20));
  tell_parent();
  wait_for_parent();
  CUdeviceptr b = 0;
  SAY("open what was freed, and is open", cuIpcOpenMemHandle_v2, &b, handle, 1u);
  SAY("close what was freed", cuIpcCloseMemHandle, a);
}

void ask_late(const char* text) {
  start();
  CUdeviceptr a = 0;
  SAY("open late", cuIpcOpenMemHandle_v2, &a, from_hex<CUipcMemHandle>(text), 1u);
}

void ask_inside(const char* text) {
  start();
  CUdeviceptr a = 0, base = 0;
  std::size_t size = 0;
  SAY("open", cuIpcOpenMemHandle_v2, &a, from_hex<CUipcMemHandle>(text), 1u);
  say("word", word_at(a));
  SAY("range", cuMemGetAddressRange_v2, &base, &size, a);
  say("offset in the range", a - base);
  say("range size", size);
  CUcontext context = nullptr;
  CALL(cuCtxPopCurrent_v2, &context);
  SAY("close, none current", cuIpcCloseMemHandle, a);
  CUcontext other = nullptr;
  CUdeviceptr b = 0;
  CALL(cuCtxCreate_v2, &other, 0u, 0);
  SAY("open in another context", cuIpcOpenMemHandle_v2, &b, from_hex<CUipcMemHandle>(text), 1u);
  say("the same address", a == b);
  SAY("close in another context", cuIpcCloseMemHandle, a);
  CALL(cuCtxDestroy_v2, other);
  CALL(cuCtxSetCurrent, context);
  SAY("close", cuIpcCloseMemHandle, a);
}

void ask_late_event(const char* text) {
  start();
  CUevent event = nullptr;
  SAY("open late", cuIpcOpenEventHandle, &event, from_hex<CUipcEventHandle>(text));
}

/// Makes memory and an event, and ends.
void give_and_end(const char*) {
  start();
  CUdeviceptr a = 0;
  CUevent event = nullptr;
  CUipcMemHandle handle{};
  CUipcEventHandle of_event{};
  CALL(cuMemAlloc_v2, &a, kBytes);
  CALL(cuIpcGetMemHandle, &handle, a);
  CALL(cuEventCreate, &event, unsigned{CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING});
  CALL(cuIpcGetEventHandle, &of_event, event);
  (void)!write(3, &handle, sizeof handle);
  (void)!write(3, &of_event, sizeof of_event);
}

void ask_events(const char* text) {
  const auto handle = from_hex<CUipcEventHandle>(text);
  CUevent event = nullptr, again = nullptr, timed = nullptr;
  SAY("open before cuInit", cuIpcOpenEventHandle, &event, handle);
  CALL(cuInit, 0);
  SAY("open without context", cuIpcOpenEventHandle, &event, handle);
  start();
  SAY("open to null", cuIpcOpenEventHandle, nullptr, handle);
  SAY("open zeros", cuIpcOpenEventHandle, &event, CUipcEventHandle{});
  SAY("open", cuIpcOpenEventHandle, &event, handle);
  SAY("query, never recorded", cuEventQuery, event);
  SAY("open again", cuIpcOpenEventHandle, &again, handle);
  say("the same event", event == again);
  CUipcEventHandle of_opened{};
  SAY("handle of what was opened", cuIpcGetEventHandle, &of_opened, event);
  tell_parent();
  wait_for_parent(); // it records, behind a kernel that waits
  SAY("query, pending", cuEventQuery, event);
  SAY("wait in a stream", cuStreamWaitEvent, nullptr, event, 0u);
  SAY("query stream", cuStreamQuery, nullptr);
  tell_parent();
  SAY("synchronize", cuEventSynchronize, event);
  SAY("query, reached", cuEventQuery, event);
  SAY("synchronize stream", cuStreamSynchronize, nullptr);
  CALL(cuEventCreate, &timed, 0u);
  CALL(cuEventRecord, timed, nullptr);
  float milliseconds = 0;
  SAY("elapsed", cuEventElapsedTime, &milliseconds, timed, event);
  SAY("record", cuEventRecord, event, nullptr);
  SAY("synchronize", cuEventSynchronize, event);
  SAY("destroy", cuEventDestroy_v2, event);
  SAY("destroy the second", cuEventDestroy_v2, again);
}

// ---- this process ----

const char* const kWait = R"(
.version 6.5
.target sm_75
.address_size 64
.visible .entry wait(.param .u64 flag)
{
  .reg .pred %p;
  .reg .b32 %r;
  .reg .b64 %d;
  ld.param.u64 %d, [flag];
again:
  ld.volatile.global.u32 %r, [%d];
  setp.eq.u32 %p, %r, 0;
  @%p bra again;
  ret;
}
)";

void ask_handles() {
  CUdeviceptr a = 0, managed = 0, pooled = 0, variable = 0, opened = 0;
  void* pinned = nullptr;
  int host = 0;
  CUipcMemHandle first{}, second{}, freed{};
  SAY("get before cuInit", cuIpcGetMemHandle, &first, CUdeviceptr{4096});
  CALL(cuInit, 0);
  SAY("get without context", cuIpcGetMemHandle, &first, CUdeviceptr{4096});
  CUcontext context = start();
  int supported = 9;
  SAY("events supported", cuDeviceGetAttribute, &supported, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 0);
  say("is", supported);
  CALL(cuMemAlloc_v2, &a, kBytes);
  SAY("get", cuIpcGetMemHandle, &first, a);
  SAY("get again", cuIpcGetMemHandle, &second, a);
  say("the same handle", std::memcmp(&first, &second, sizeof first) == 0);
  SAY("get inside", cuIpcGetMemHandle, &second, a + 256);
  SAY("get to null", cuIpcGetMemHandle, nullptr, a);
  SAY("get of null", cuIpcGetMemHandle, &second, CUdeviceptr{0});
  SAY("get of host memory", cuIpcGetMemHandle, &second, reinterpret_cast<CUdeviceptr>(&host));
  CALL(cuMemHostAlloc, &pinned, kBytes, 0u);
  SAY("get of pinned memory", cuIpcGetMemHandle, &second, reinterpret_cast<CUdeviceptr>(pinned));
  CALL(cuMemAllocManaged, &managed, kBytes, 1u);
  SAY("get of managed memory", cuIpcGetMemHandle, &second, managed);
  CALL(cuMemAllocAsync, &pooled, kBytes, nullptr);
  CALL(cuStreamSynchronize, nullptr);
  SAY("get of memory of a pool", cuIpcGetMemHandle, &second, pooled);
  CUmodule module = nullptr;
  CALL(cuModuleLoadData, &module, contexts::World::program);
  std::size_t size = 0;
  CALL(cuModuleGetGlobal_v2, &variable, &size, module, "variable");
  SAY("get of a variable", cuIpcGetMemHandle, &second, variable);
  unsigned capable = 9;
  SAY("attribute: legacy IPC", cuPointerGetAttribute, &capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, a);
  say("is", capable);
  SAY("of pinned memory", cuPointerGetAttribute, &capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
      reinterpret_cast<CUdeviceptr>(pinned));
  say("is", capable);
  SAY("of managed memory", cuPointerGetAttribute, &capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, managed);
  say("is", capable);
  SAY("of memory of a pool", cuPointerGetAttribute, &capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, pooled);
  say("is", capable);
  SAY("open own", cuIpcOpenMemHandle_v2, &opened, first, 1u);
  CALL(cuCtxSetCurrent, nullptr);
  SAY("get, none current", cuIpcGetMemHandle, &second, a);
  CALL(cuCtxSetCurrent, context);
  SAY("free", cuMemFree_v2, a);
  SAY("get of freed memory", cuIpcGetMemHandle, &freed, a);
  CUdeviceptr next = 0;
  CALL(cuMemAlloc_v2, &next, kBytes);
  SAY("get of the next", cuIpcGetMemHandle, &freed, next);
  say("another handle", std::memcmp(&first, &freed, sizeof first) != 0);
}

void ask_memory() {
  start();
  CUdeviceptr before = 0, a = 0;
  CALL(cuMemAlloc_v2, &before, std::size_t{1000}); // so that the memory does not begin a page
  CALL(cuMemAlloc_v2, &a, kBytes);
  unsigned words[kBytes / 4];
  for (unsigned i = 0; i < kBytes / 4; ++i) words[i] = 100 + i;
  CALL(cuMemcpyHtoD_v2, a, words, kBytes);
  const std::string handle = handle_of(a);
  say("word 0", word_at(a));
  CUipcMemHandle of_inside{};
  { const Other other("import", handle); }
  say("word 1", word_at(a + 4));
  { const Other other("close", handle); }
  { const Other other("forge", handle); }
  if (CALL(cuIpcGetMemHandle, &of_inside, a + 400) == 0) {
    say("of inside, the same handle", hex(&of_inside, sizeof of_inside) == handle);
    const Other other("inside", hex(&of_inside, sizeof of_inside));
  }
  {
    const Other other("survive", handle);
    other.wait_for_word();
    SAY("free", cuMemFree_v2, a);
    other.tell();
  }
  { const Other other("late", handle); }
  CUipcMemHandle of_dead{};
  CUipcEventHandle event_of_dead{};
  {
    const Other other("end", "");
    if (read(other.from, &of_dead, sizeof of_dead) != sizeof of_dead ||
        read(other.from, &event_of_dead, sizeof event_of_dead) != sizeof event_of_dead)
      std::puts("no handle");
  }
  std::puts("# the process has ended");
  { const Other other("late", hex(&of_dead, sizeof of_dead)); }
  { const Other other("late_event", hex(&event_of_dead, sizeof event_of_dead)); }
}

void ask_event() {
  start();
  CUevent event = nullptr, plain = nullptr, opened = nullptr;
  CUipcEventHandle handle{}, again{};
  SAY("create, with timing", cuEventCreate, &event, unsigned{CU_EVENT_INTERPROCESS});
  SAY("create", cuEventCreate, &event, unsigned{CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING});
  CALL(cuEventCreate, &plain, unsigned{CU_EVENT_DISABLE_TIMING});
  SAY("get of a plain event", cuIpcGetEventHandle, &handle, plain);
  SAY("get to null", cuIpcGetEventHandle, nullptr, event);
  SAY("get", cuIpcGetEventHandle, &handle, event);
  SAY("get again", cuIpcGetEventHandle, &again, event);
  say("the same handle", std::memcmp(&handle, &again, sizeof handle) == 0);
  SAY("open own", cuIpcOpenEventHandle, &opened, handle);
  CUcontext context = nullptr;
  CALL(cuCtxGetCurrent, &context);
  CALL(cuCtxSetCurrent, nullptr);
  SAY("get, none current", cuIpcGetEventHandle, &handle, event);
  CALL(cuCtxSetCurrent, context);
  CUmodule module = nullptr;
  CUfunction wait = nullptr;
  void* flag = nullptr;
  CALL(cuModuleLoadData, &module, kWait);
  CALL(cuModuleGetFunction, &wait, module, "wait");
  CALL(cuMemHostAlloc, &flag, kBytes, 0u);
  *static_cast<volatile unsigned*>(flag) = 0;
  void* parameters[] = {&flag};
  {
    const Other other("events", hex(&handle, sizeof handle));
    other.wait_for_word();
    CALL(cuLaunchKernel, wait, 1u, 1u, 1u, 1u, 1u, 1u, 0u, nullptr, parameters, nullptr);
    SAY("record here", cuEventRecord, event, nullptr);
    std::fflush(stdout);
    other.tell();
    other.wait_for_word();
    *static_cast<volatile unsigned*>(flag) = 1;
  }
  SAY("query here", cuEventQuery, event);
  SAY("destroy", cuEventDestroy_v2, event);
}

} // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  library = arguments[1];
  contexts::open(library);
  const std::string role = count > 3 ? arguments[2] : count > 2 ? "" : "all";
  const std::pair<const char*, void (*)(const char*)> roles[] = {
      {"import", ask_importer},       {"close", ask_closer},  {"forge", ask_forger},
      {"survive", ask_survivor},      {"inside", ask_inside}, {"late", ask_late},
      {"late_event", ask_late_event}, {"end", give_and_end},  {"events", ask_events}};
  for (const auto& [name, ask] : roles)
    if (role == name) ask(arguments[3]);
  if (role != "all") return 0;
  std::puts("# handles");
  ask_handles();
  std::puts("# memory");
  ask_memory();
  std::puts("# events");
  ask_event();
}
