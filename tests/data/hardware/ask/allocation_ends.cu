// What a GPU lets pass around an allocation: how far past its end and before its begin loads, stores, atomics and
// vectors go, what they give, and what is left of memory that was freed. Each question is asked in a process of its
// own, as a fault ends the context.
//
//   nvcc -std=c++20 -arch=sm_90 -o ends allocation_ends.cu && ./ends | sort > allocation_ends.jsonl
//
// A line: `kind` of memory, its `size`, the `direction` ("after", "before": distances count from the end, or from the
// begin; "inside": from the begin), `op`, `passed`: the largest distance that passed, `faulted`: the first one that did
// not (-1: none did), `error`: CUDA's code, `nonzero`: the number of accesses that gave something else than 0,
// `block`: the address modulo 2 MiB, `kept`: of stores, those that a load saw afterwards.
#include <cuda.h>
#include <cuda_runtime.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

using Distances = std::vector<long long>;

struct Log {
  int progress;
  int kept, nonzero, done;
};

enum Op { kLoad, kLoad1, kLoad16, kStore, kStore16, kAtomic, kReduction, kLoadGlobal };
const char* const kOps[] = {"ld.u32",    "ld.u8",        "ld.v4.u32",   "st.u32",
                            "st.v4.u32", "atom.add.u32", "red.add.u32", "ld.global.u32"};

__global__ void walk(char* from, const long long* distances, int count, int op, volatile Log* log) {
  for (int i = 0; i < count; ++i) {
    log->progress = i;
    __threadfence_system();
    char* const p = from + distances[i];
    unsigned a = 0, b = 0, c = 0, d = 0;
    const unsigned value = 0x1234u + i;
    switch (op) {
    case kLoad: asm volatile("ld.volatile.u32 %0, [%1];" : "=r"(a) : "l"(p) : "memory"); break;
    case kLoadGlobal: asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(a) : "l"(p) : "memory"); break;
    case kLoad1: asm volatile("ld.volatile.u8 %0, [%1];" : "=r"(a) : "l"(p) : "memory"); break;
    case kLoad16:
      asm volatile("ld.volatile.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p) : "memory");
      break;
    case kStore:
      asm volatile("st.volatile.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
      __threadfence_system();
      asm volatile("ld.volatile.u32 %0, [%1];" : "=r"(b) : "l"(p) : "memory");
      if (b == value) log->kept = log->kept + 1;
      break;
    case kStore16:
      asm volatile("st.volatile.v4.u32 [%0], {%1,%1,%1,%1};" ::"l"(p), "r"(value) : "memory");
      __threadfence_system();
      asm volatile("ld.volatile.u32 %0, [%1+12];" : "=r"(b) : "l"(p) : "memory");
      if (b == value) log->kept = log->kept + 1;
      break;
    case kAtomic: asm volatile("atom.add.u32 %0, [%1], 0;" : "=r"(a) : "l"(p) : "memory"); break;
    case kReduction:
      asm volatile("red.add.u32 [%0], 7;" ::"l"(p) : "memory");
      __threadfence_system();
      asm volatile("ld.volatile.u32 %0, [%1];" : "=r"(b) : "l"(p) : "memory");
      break;
    }
    if (op == kLoad || op == kLoad1 || op == kLoadGlobal || op == kAtomic || op == kLoad16)
      if ((a | b | c | d) != 0) log->nonzero = log->nonzero + 1;
    __threadfence_system();
  }
  log->done = 1;
}

__constant__ int constant_word[64];
__device__ int global_word[3];

// Stores where PTX allows none.
__global__ void odd_stores(const __grid_constant__ int parameter, int which, volatile Log* log) {
  unsigned long long address = 0;
  int back = -1;
  log->progress = 1;
  __threadfence_system();
  switch (which) {
  case 0: // a parameter, by its generic address
    address = (unsigned long long)&parameter;
    asm volatile("st.volatile.u32 [%0], 77;" ::"l"(address) : "memory");
    __threadfence_system();
    asm volatile("ld.volatile.u32 %0, [%1];" : "=r"(back) : "l"(address) : "memory");
    break;
  case 1: // a constant, by its generic address
    address = (unsigned long long)&constant_word[3];
    asm volatile("st.volatile.u32 [%0], 77;" ::"l"(address) : "memory");
    __threadfence_system();
    asm volatile("ld.volatile.u32 %0, [%1];" : "=r"(back) : "l"(address) : "memory");
    break;
  case 2:
    address = (unsigned long long)&constant_word[3];
    asm volatile("atom.add.u32 %0, [%1], 5;" : "=r"(back) : "l"(address) : "memory");
    break;
  case 3:
    address = (unsigned long long)&parameter;
    asm volatile("atom.add.u32 %0, [%1], 5;" : "=r"(back) : "l"(address) : "memory");
    break;
  case 4: // loads of the same, generic
    address = (unsigned long long)&constant_word[3];
    asm volatile("ld.volatile.u32 %0, [%1];" : "=r"(back) : "l"(address) : "memory");
    break;
  case 5:
    address = (unsigned long long)&parameter;
    asm volatile("ld.volatile.u32 %0, [%1];" : "=r"(back) : "l"(address) : "memory");
    break;
  }
  __threadfence_system();
  log->kept = back;
  log->done = 1;
}

__global__ void walk_shared(const long long* distances, int count, volatile Log* log) {
  __shared__ int words[25];
  words[threadIdx.x] = 0;
  const unsigned at = (unsigned)__cvta_generic_to_shared(words);
  for (int i = 0; i < count; ++i) {
    log->progress = i;
    __threadfence_system();
    unsigned a;
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(a) : "r"(at + (unsigned)distances[i]) : "memory");
    if (a != 0) log->nonzero = log->nonzero + 1;
    __threadfence_system();
  }
  log->done = 1;
}

__global__ void walk_local(const long long* distances, int count, volatile Log* log) {
  volatile int words[25];
  for (int i = 0; i < 25; ++i) words[i] = 0;
  unsigned at;
  asm("{.reg .u64 t; cvta.to.local.u64 t, %1; cvt.u32.u64 %0, t;}" : "=r"(at) : "l"((unsigned long long)words));
  for (int i = 0; i < count; ++i) {
    log->progress = i;
    __threadfence_system();
    unsigned a;
    asm volatile("{.reg .u64 t; cvt.u64.u32 t, %1; ld.local.u32 %0, [t];}"
                 : "=r"(a)
                 : "r"(at + (unsigned)distances[i])
                 : "memory");
    if (a != 0) log->nonzero = log->nonzero + 1;
    __threadfence_system();
  }
  log->done = 1;
}

static Log* new_log() {
  Log* log = nullptr;
  cudaHostAlloc(&log, sizeof *log, cudaHostAllocMapped);
  std::memset(log, 0, sizeof *log);
  return log;
}

static void say(const std::string& question, const Distances& d, const Log& log, cudaError_t error,
                unsigned long long at) {
  const bool faulted = log.done == 0;
  const long long passed = faulted ? (log.progress > 0 ? d[log.progress - 1] : -1) : d.back();
  char line[1024];
  const int n = std::snprintf(
      line, sizeof line,
      "{%s, \"passed\": %lld, \"faulted\": %lld, \"error\": %d, \"nonzero\": %d, \"kept\": %d, \"block\": %llu}\n",
      question.c_str(), passed, faulted ? d[log.progress] : -1LL, (int)error, log.nonzero, log.kept, at % (2ull << 20));
  (void)!write(1, line, n);
}

static const long long* on_device(const Distances& d) {
  long long* p = nullptr;
  cudaHostAlloc(&p, d.size() * sizeof d[0], cudaHostAllocMapped);
  std::memcpy(p, d.data(), d.size() * sizeof d[0]);
  return p;
}

// Multiples of 16 as far as `most`, sparser the farther.
static Distances steps(long long most) {
  Distances d;
  for (long long at = 0; at < most; at += at < 1024          ? 16
                                          : at < 8192        ? 256
                                          : at < (256 << 10) ? 4096
                                          : at < (8 << 20)   ? (64 << 10)
                                                             : (2 << 20))
    d.push_back(at);
  return d;
}

static void go(const std::string& kind, long long size, const char* direction, Op op, char* from, Distances d) {
  Log* const log = new_log();
  const long long* const list = on_device(d);
  walk<<<1, 1>>>(from, list, (int)d.size(), op, log);
  const cudaError_t error = cudaDeviceSynchronize();
  say("\"kind\": \"" + kind + "\", \"size\": " + std::to_string(size) + ", \"direction\": \"" + direction +
          "\", \"op\": \"" + kOps[op] + "\"",
      d, *log, error, (unsigned long long)from);
}

static void after(const std::string& kind, char* p, long long size, Op op, long long most = 80ll << 20) {
  const long long end = (size + 15) / 16 * 16;
  Distances d = steps(most);
  go(kind, size, "after", op, p + end, d);
}
static void before(const std::string& kind, char* p, long long size, Op op) {
  Distances d = steps(80ll << 20);
  for (long long& x : d) x = -16 - x;
  go(kind, size, "before", op, p, d);
}
static void inside(const std::string& kind, char* p, long long size, Op op) {
  go(kind, size, "inside", op, p, steps(size));
}

static char* device(size_t size) {
  void* p = nullptr;
  if (cudaMalloc(&p, size) != cudaSuccess) std::printf("{\"kind\": \"cudaMalloc failed\"}\n");
  return (char*)p;
}
static char* pooled(size_t size) {
  void* p = nullptr;
  cudaMallocAsync(&p, size, 0);
  cudaDeviceSynchronize();
  return (char*)p;
}
static char* pinned(size_t size) {
  void* p = nullptr;
  cudaHostAlloc(&p, size, cudaHostAllocMapped);
  return (char*)p;
}
static char* managed(size_t size) {
  void* p = nullptr;
  cudaMallocManaged(&p, size);
  return (char*)p;
}

template <class F> static F driver(const char* name) {
  void* f = nullptr;
  cudaDriverEntryPointQueryResult result;
  cudaGetDriverEntryPointByVersion(name, &f, 12000, cudaEnableDefault, &result);
  return (F)f;
}
static char* mapped(size_t size, size_t reserved) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr p = 0;
  cudaFree(0);
  driver<decltype(&cuMemAddressReserve)>("cuMemAddressReserve")(&p, reserved, 0, 0, 0);
  driver<decltype(&cuMemCreate)>("cuMemCreate")(&handle, size, &prop, 0);
  driver<decltype(&cuMemMap)>("cuMemMap")(p, size, 0, handle, 0);
  CUmemAccessDesc access{};
  access.location = prop.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  driver<decltype(&cuMemSetAccess)>("cuMemSetAccess")(p, size, &access, 1);
  return (char*)p;
}

static std::string hex(unsigned long long v) {
  char b[32];
  std::snprintf(b, sizeof b, "\"%#llx\"", v);
  return b;
}
static void layout(const char* kind, const std::function<char*(size_t)>& allocate, const std::vector<size_t>& sizes) {
  std::string line = std::string("{\"kind\": \"layout of ") + kind + "\", \"sizes\": [", addresses;
  for (size_t i = 0; i < sizes.size(); ++i) {
    line += (i ? ", " : "") + std::to_string(sizes[i]);
    addresses += (i ? ", " : "") + hex((unsigned long long)allocate(sizes[i]));
  }
  line += "], \"addresses\": [" + addresses + "]}\n";
  (void)!write(1, line.data(), line.size());
}

static void odd(int which, const char* name) {
  Log* const log = new_log();
  odd_stores<<<1, 1>>>(41, which, log);
  const cudaError_t error = cudaDeviceSynchronize();
  int constant = -1;
  if (error == cudaSuccess) cudaMemcpyFromSymbol(&constant, constant_word, 4, 12);
  char line[256];
  const int n = std::snprintf(line, sizeof line,
                              "{\"kind\": \"%s\", \"error\": %d, \"done\": %d, \"read_back\": %d, \"constant\": %d}\n",
                              name, (int)error, log->done, log->kept, constant);
  (void)!write(1, line, n);
}

int main() {
  using Question = std::function<void()>;
  std::vector<Question> all;
  const long long K = 1024, M = 1024 * K;
  const std::vector<size_t> mixed = {1,
                                     12,
                                     256,
                                     257,
                                     512,
                                     513,
                                     1000,
                                     4096,
                                     100 * 1024,
                                     1,
                                     1 << 20,
                                     1,
                                     (1 << 20) - 512,
                                     (1 << 20) + 1,
                                     1,
                                     2 << 20,
                                     1,
                                     (2 << 20) + 1,
                                     1,
                                     3 << 20,
                                     1,
                                     64 << 20,
                                     1};
  for (long long size : {1ll, 12ll, 256ll, 1000ll, 4096ll, 100 * K, 1 * M, 2 * M, 2 * M + 1, 3 * M, 64 * M}) {
    all.push_back([=] { after("cudaMalloc", device(size), size, kLoad); });
    all.push_back([=] { before("cudaMalloc", device(size), size, kLoad); });
    all.push_back([=] { after("cudaMalloc", device(size), size, kStore); });
  }
  for (Op op : {kLoad1, kLoad16, kStore16, kAtomic, kReduction, kLoadGlobal})
    for (long long size : {12ll, 3 * M}) all.push_back([=] { after("cudaMalloc", device(size), size, op); });
  for (long long size : {12ll, 100 * K, 3 * M}) {
    for (Op op : {kLoad, kStore}) {
      all.push_back([=] { after("cudaMallocAsync", pooled(size), size, op); });
      all.push_back([=] { after("cudaHostAlloc", pinned(size), size, op); });
      all.push_back([=] { after("cudaMallocManaged", managed(size), size, op); });
      all.push_back([=] {
        after(
            "managed, touched by the host",
            [=] {
              char* p = managed(size);
              std::memset(p, 0, size);
              return p;
            }(),
            size, op);
      });
    }
    all.push_back([=] { before("cudaMallocAsync", pooled(size), size, kLoad); });
    all.push_back([=] { before("cudaHostAlloc", pinned(size), size, kLoad); });
    all.push_back([=] { before("cudaMallocManaged", managed(size), size, kLoad); });
  }
  all.push_back([=] { after("cuMemMap, 2 MiB of 8", mapped(2 * M, 8 * M), 2 * M, kLoad); });
  all.push_back([=] { after("cuMemMap, 2 MiB of 8", mapped(2 * M, 8 * M), 2 * M, kStore); });
  all.push_back([=] { before("cuMemMap, 2 MiB of 8", mapped(2 * M, 8 * M), 2 * M, kLoad); });
  for (const auto& [which, name] : std::vector<std::pair<int, const char*>>{{0, "st to a parameter, generic"},
                                                                            {1, "st to a constant, generic"},
                                                                            {2, "atom on a constant, generic"},
                                                                            {3, "atom on a parameter, generic"},
                                                                            {4, "ld of a constant, generic"},
                                                                            {5, "ld of a parameter, generic"}})
    all.push_back([=] { odd(which, name); });
  // Neighbours: what a load past the end gives.
  all.push_back([=] {
    char* a = device(12);
    char* b = device(12);
    cudaMemset(b, 0x5a, 12);
    go("neighbour of cudaMalloc, filled", 12, "inside", kLoad, b > a ? b : a, {0, 4, 8});
    go("between neighbours", 12, "after", kLoad, (b > a ? a : b) + 16, [&] {
      Distances d;
      for (long long x = 0; x < std::llabs(b - a); x += 16) d.push_back(x);
      return d;
    }());
  });
  // Freed memory: its neighbour in the same block lives; alone in its block.
  for (Op op : {kLoad, kStore}) {
    all.push_back([=] {
      char* a = device(1000);
      char* b = device(1000);
      cudaMemset(a, 0x5a, 1000);
      cudaDeviceSynchronize();
      cudaFree(a);
      (void)b;
      inside("freed, a neighbour lives", a, 1000, op);
    });
    all.push_back([=] {
      char* a = device(1000);
      cudaMemset(a, 0x5a, 1000);
      cudaDeviceSynchronize();
      cudaFree(a);
      inside("freed, small, alone", a, 1000, op);
    });
    all.push_back([=] {
      char* a = device(64 * M);
      cudaMemset(a, 0x5a, 64 * M);
      cudaDeviceSynchronize();
      cudaFree(a);
      inside("freed, 64 MiB", a, 64 * M, op);
    });
    all.push_back([=] {
      char* a = device(3 * M);
      cudaFree(a);
      inside("freed, 3 MiB", a, 3 * M, op);
    });
    all.push_back([=] {
      char* a = pooled(1000);
      cudaMemset(a, 0x5a, 1000);
      cudaFreeAsync(a, 0);
      cudaDeviceSynchronize();
      inside("freed to the pool, alone", a, 1000, op);
    });
    all.push_back([=] {
      char* a = pooled(1000);
      char* b = pooled(1000);
      (void)b;
      cudaMemset(a, 0x5a, 1000);
      cudaFreeAsync(a, 0);
      cudaDeviceSynchronize();
      inside("freed to the pool, a neighbour lives", a, 1000, op);
    });
    all.push_back([=] {
      char* a = pinned(100 * K);
      cudaFreeHost(a);
      inside("freed, cudaHostAlloc", a, 100 * K, op);
    });
    all.push_back([=] {
      char* a = managed(100 * K);
      cudaFree(a);
      inside("freed, cudaMallocManaged", a, 100 * K, op);
    });
  }
  all.push_back([=] { go("null", 0, "inside", kLoad, nullptr, steps(64 * K)); });
  all.push_back([=] {
    char* p = nullptr;
    cudaGetSymbolAddress((void**)&p, global_word);
    after("variable of a module", p, 12, kLoad);
  });
  all.push_back([=] {
    char* p = (char*)std::malloc(4096);
    std::memset(p, 1, 4096);
    go("malloc of the host", 4096, "inside", kLoad, p, steps(4096));
  });
  all.push_back([=] {
    Distances d = steps(400 * K);
    Log* const log = new_log();
    walk_shared<<<1, 1>>>(on_device(d), (int)d.size(), log);
    const cudaError_t error = cudaDeviceSynchronize();
    say("\"kind\": \"shared\", \"size\": 100, \"direction\": \"inside\", \"op\": \"ld.shared.u32\"", d, *log, error, 0);
  });
  all.push_back([=] {
    Distances d = steps(4 * M);
    Log* const log = new_log();
    walk_local<<<1, 1>>>(on_device(d), (int)d.size(), log);
    const cudaError_t error = cudaDeviceSynchronize();
    say("\"kind\": \"local\", \"size\": 100, \"direction\": \"inside\", \"op\": \"ld.local.u32\"", d, *log, error, 0);
  });
  all.push_back([=] { layout("cudaMalloc", device, mixed); });
  all.push_back([=] { layout("cudaMallocAsync", pooled, mixed); });
  all.push_back([=] { layout("cudaHostAlloc", pinned, {1, 12, 256, 513, 4096, 100 * 1024, 1}); });
  all.push_back([=] { layout("cudaMallocManaged", managed, {1, 12, 256, 513, 4096, 100 * 1024, 1, 3 << 20, 1}); });
  all.push_back([=] {
    layout("cudaMalloc after a free",
           [](size_t n) {
             static char* last = nullptr;
             if (n == 7) {
               cudaFree(last);
               return (char*)nullptr;
             }
             return last = device(n);
           },
           {12, 12, 12, 7, 12, 1000, 7, 12});
  });
  all.push_back([=] {
    int pageable = -1, tables = -1, driver_version = 0;
    cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, 0);
    cudaDeviceGetAttribute(&tables, cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0);
    cudaDriverGetVersion(&driver_version);
    std::printf("{\"kind\": \"machine\", \"pageable\": %d, \"host_page_tables\": %d, \"driver\": %d}\n", pageable,
                tables, driver_version);
    std::fflush(stdout);
  });
  int running = 0;
  const auto one_less = [&] {
    int status = 0;
    wait(&status);
    --running;
  };
  for (const Question& q : all) {
    if (running == 14) one_less();
    if (fork() == 0) {
      alarm(60);
      q();
      _exit(0);
    }
    ++running;
  }
  while (running > 0) one_less();
}
