// SPDX-License-Identifier: Apache-2.0
// A CUDA program that does what its arguments say, one step each, through the driver API: the host part of the cases in
// this folder. It needs no header of NVIDIA, and runs on NVIDIA's driver and on ours.
//
//   play LIBCUDA MODULE 'alloc a 128' 'launch fill 1 32 a' 'want a 31 31' 'free a'
//
// A call that fails is told on stderr, and the steps go on, as in a program that ignores errors. The exit status is 0
// if all calls succeeded and all wanted values were there, otherwise 1; 2: the steps are wrong.
//
// Steps; NAME stands for what a step has made, ADDRESS for NAME, NAME+BYTES, NAME-BYTES or a number:
//   alloc NAME BYTES, managed NAME BYTES, pinned NAME BYTES, host NAME BYTES (of malloc), alloc-async NAME BYTES STREAM
//   register NAME BYTES                    whole pages of the host, registered
//   global NAME VARIABLE BYTES             the address of a variable of the module
//   free ADDRESS, free-async ADDRESS STREAM, free-host ADDRESS
//   set ADDRESS VALUE BYTES [STREAM]       cuMemsetD8
//   iota NAME COUNT                        copies 0, 1, 2, ... to the device, as 32-bit numbers
//   to-device, to-host, copy TO FROM BYTES [STREAM]
//   poke NAME INDEX VALUE, peek NAME INDEX the host accesses a 32-bit number: of host, pinned or managed memory
//   want NAME INDEX VALUE                  a 32-bit number that must be there; copies it from device memory
//   launch KERNEL GRID BLOCK ARGUMENT...   ARGUMENT: ADDRESS, u32:N, u64:N, or an option: shared=BYTES, cluster=N,
//                                          stream=NAME, cooperative
//   stream NAME, nonblocking NAME, event NAME, record EVENT [STREAM], wait STREAM EVENT, sync [STREAM]
//   destroy-stream NAME
//   capture STREAM, end-capture STREAM GRAPH, graph NAME, play GRAPH [STREAM]
//   node GRAPH NAME AFTER launch..., node GRAPH NAME AFTER set...   AFTER: names with commas between, or -
//   heap BYTES, stack BYTES                limits of the context
//   texture NAME ADDRESS COUNT, surface NAME WIDTH   of 32-bit numbers; NAME is a handle then
//   map NAME ADDRESS WIDTH HEIGHT BOX-WIDTH BOX-HEIGHT   a tensor map of 32-bit numbers, in device memory
//   cudaMalloc NAME BYTES, cudaFree ADDRESS          of libcudart, which must be found by the dynamic linker
//   free-rest                              frees and destroys what the steps made and did not free
#include "runtime/abi/driver.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void* driver = nullptr;

void* find(const char* function) {
  void* const found = dlsym(driver, function);
  if (found == nullptr) throw std::runtime_error(std::string(function) + " is not exported");
  return found;
}

#define CALL(function, ...) reinterpret_cast<decltype(&(function))>(find(#function))(__VA_ARGS__)
#define ASK(function, ...) told(#function, CALL(function, __VA_ARGS__))

using Words = std::vector<std::string>;

struct Memory {
  CUdeviceptr address = 0;
  void* host = nullptr;                                     ///< of memory that the host can access
  enum Kind { kNotOurs, kDevice, kPinned } kind = kNotOurs; ///< how it must be freed
};

/// A launch as its step describes it.
struct Launch {
  CUfunction function = nullptr;
  unsigned grid = 1, block = 1, shared = 0, cluster = 0;
  CUstream stream = nullptr;
  bool cooperative = false;
  std::vector<unsigned long long> values;
  std::vector<void*> arguments;
};

class Player {
public:
  explicit Player(const char* module) {
    ASK(cuInit, 0);
    ASK(cuDevicePrimaryCtxRetain, &context_, 0);
    ASK(cuCtxSetCurrent, context_);
    std::ifstream file(module, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    if (ASK(cuModuleLoadData, &module_, text.str().c_str()) != 0) throw std::runtime_error("no module");
  }

  void play(const std::string& step) {
    step_ = step;
    std::istringstream in(step);
    Words words;
    for (std::string word; in >> word;) words.push_back(word);
    if (words.empty()) throw std::runtime_error("an empty step");
    const std::string verb = words[0];
    words.erase(words.begin());
    const auto found = verbs().find(verb);
    if (found == verbs().end()) throw std::runtime_error("no step is called " + verb);
    if (words.size() < found->second.words) throw std::runtime_error("too few words: " + step);
    (this->*found->second.action)(words);
  }

  [[nodiscard]] bool failed() const { return failed_; }

private:
  using Action = void (Player::*)(const Words&);
  struct Verb {
    Action action;
    std::size_t words; ///< at least
  };
  static const std::map<std::string, Verb>& verbs();

  int told(const char* function, int answer) {
    if (answer == 0) return 0;
    failed_ = true;
    std::fprintf(stderr, "play: %s answered %d: %s\n", function, answer, step_.c_str());
    return answer;
  }

  static unsigned long long number(const std::string& word) {
    std::size_t used = 0;
    const unsigned long long value = std::stoull(word, &used, 0);
    if (used != word.size()) throw std::runtime_error("not a number: " + word);
    return value;
  }
  CUdeviceptr address(const std::string& word) const {
    const std::size_t sign = word.find_first_of("+-");
    const std::string name = word.substr(0, sign);
    const auto found = memory_.find(name);
    if (found == memory_.end()) return number(word);
    if (sign == word.npos) return found->second.address;
    const unsigned long long distance = number(word.substr(sign + 1));
    return word[sign] == '+' ? found->second.address + distance : found->second.address - distance;
  }
  void* host(const std::string& word) const {
    const auto found = memory_.find(word);
    return found != memory_.end() && found->second.host != nullptr ? found->second.host
                                                                   : reinterpret_cast<void*>(address(word));
  }
  CUstream stream(const Words& words, std::size_t at) const {
    return words.size() > at ? streams_.at(words[at]) : nullptr;
  }

  // ---- memory
  Memory& made(const std::string& name, Memory::Kind kind) {
    memory_[name] = {};
    memory_[name].kind = kind;
    return memory_[name];
  }
  void forget(CUdeviceptr address) {
    for (auto& [name, memory] : memory_)
      if (memory.address == address) memory.kind = Memory::kNotOurs;
  }
  void alloc(const Words& w) { ASK(cuMemAlloc_v2, &made(w[0], Memory::kDevice).address, number(w[1])); }
  void managed(const Words& w) {
    Memory& m = made(w[0], Memory::kDevice);
    ASK(cuMemAllocManaged, &m.address, number(w[1]), CU_MEM_ATTACH_GLOBAL);
    m.host = reinterpret_cast<void*>(m.address);
  }
  void pinned(const Words& w) {
    Memory& m = made(w[0], Memory::kPinned);
    ASK(cuMemHostAlloc, &m.host, number(w[1]), CU_MEMHOSTALLOC_DEVICEMAP);
    ASK(cuMemHostGetDevicePointer_v2, &m.address, m.host, 0);
  }
  void of_host(const Words& w) {
    Memory& m = memory_[w[0]];
    m.host = std::calloc(1, number(w[1]));
    m.address = reinterpret_cast<CUdeviceptr>(m.host);
  }
  void of_host_registered(const Words& w) {
    constexpr std::size_t kPage = 4096;
    const std::size_t bytes = (number(w[1]) + kPage - 1) / kPage * kPage;
    Memory& m = memory_[w[0]];
    m.host = std::aligned_alloc(kPage, bytes);
    std::memset(m.host, 0, bytes);
    ASK(cuMemHostRegister_v2, m.host, bytes, CU_MEMHOSTREGISTER_DEVICEMAP);
    ASK(cuMemHostGetDevicePointer_v2, &m.address, m.host, 0);
  }
  void alloc_async(const Words& w) {
    ASK(cuMemAllocAsync, &made(w[0], Memory::kDevice).address, number(w[1]), streams_.at(w[2]));
  }
  void global(const Words& w) {
    std::size_t bytes = 0;
    ASK(cuModuleGetGlobal_v2, &memory_[w[0]].address, &bytes, module_, w[1].c_str());
    if (bytes != number(w[2])) throw std::runtime_error(w[1] + " has another size");
  }
  void free(const Words& w) {
    if (ASK(cuMemFree_v2, address(w[0])) == 0) forget(address(w[0]));
  }
  void free_async(const Words& w) {
    if (ASK(cuMemFreeAsync, address(w[0]), streams_.at(w[1])) == 0) forget(address(w[0]));
  }
  void free_host(const Words& w) {
    if (ASK(cuMemFreeHost, host(w[0])) == 0) forget(address(w[0]));
  }
  void free_rest(const Words&) {
    for (const CUtexObject texture : textures_) ASK(cuTexObjectDestroy, texture);
    for (const CUsurfObject surface : surfaces_) ASK(cuSurfObjectDestroy, surface);
    for (const CUarray array : arrays_) ASK(cuArrayDestroy, array);
    for (auto& [name, memory] : memory_) {
      if (memory.kind == Memory::kDevice && memory.address != 0) ASK(cuMemFree_v2, memory.address);
      if (memory.kind == Memory::kPinned && memory.host != nullptr) ASK(cuMemFreeHost, memory.host);
      memory.kind = Memory::kNotOurs;
    }
  }

  void set(const Words& w) {
    const auto value = static_cast<unsigned char>(number(w[1]));
    if (w.size() > 3)
      ASK(cuMemsetD8Async, address(w[0]), value, number(w[2]), stream(w, 3));
    else
      ASK(cuMemsetD8_v2, address(w[0]), value, number(w[2]));
  }
  void iota(const Words& w) {
    std::vector<unsigned> values(number(w[1]));
    for (unsigned i = 0; i < values.size(); ++i) values[i] = i;
    ASK(cuMemcpyHtoD_v2, address(w[0]), values.data(), values.size() * sizeof(unsigned));
  }
  void to_device(const Words& w) {
    if (w.size() > 3)
      ASK(cuMemcpyHtoDAsync_v2, address(w[0]), host(w[1]), number(w[2]), stream(w, 3));
    else
      ASK(cuMemcpyHtoD_v2, address(w[0]), host(w[1]), number(w[2]));
  }
  void to_host(const Words& w) {
    if (w.size() > 3)
      ASK(cuMemcpyDtoHAsync_v2, host(w[0]), address(w[1]), number(w[2]), stream(w, 3));
    else
      ASK(cuMemcpyDtoH_v2, host(w[0]), address(w[1]), number(w[2]));
  }
  void copy(const Words& w) {
    if (w.size() > 3)
      ASK(cuMemcpyDtoDAsync_v2, address(w[0]), address(w[1]), number(w[2]), stream(w, 3));
    else
      ASK(cuMemcpyDtoD_v2, address(w[0]), address(w[1]), number(w[2]));
  }
  volatile unsigned* element(const Words& w) const { return static_cast<unsigned*>(host(w[0])) + number(w[1]); }
  void poke(const Words& w) { *element(w) = static_cast<unsigned>(number(w[2])); }
  void peek(const Words& w) { seen_ = *element(w); }
  void want(const Words& w) {
    unsigned found = 0;
    if (memory_.at(w[0]).host != nullptr)
      found = *element(w);
    else if (ASK(cuMemcpyDtoH_v2, &found, address(w[0]) + 4 * number(w[1]), sizeof found) != 0)
      return;
    if (found == number(w[2])) return;
    failed_ = true;
    std::fprintf(stderr, "play: found %u: %s\n", found, step_.c_str());
  }

  // ---- launches
  Launch read_launch(const Words& w) {
    Launch launch;
    ASK(cuModuleGetFunction, &launch.function, module_, w[0].c_str());
    launch.grid = static_cast<unsigned>(number(w[1]));
    launch.block = static_cast<unsigned>(number(w[2]));
    for (std::size_t i = 3; i < w.size(); ++i) {
      const std::string& word = w[i];
      const std::string value = word.substr(word.find_first_of("=:") + 1);
      if (word.starts_with("shared="))
        launch.shared = static_cast<unsigned>(number(value));
      else if (word.starts_with("cluster="))
        launch.cluster = static_cast<unsigned>(number(value));
      else if (word.starts_with("stream="))
        launch.stream = streams_.at(value);
      else if (word == "cooperative")
        launch.cooperative = true;
      else
        launch.values.push_back(word.starts_with("u32:") || word.starts_with("u64:") ? number(value) : address(word));
    }
    for (unsigned long long& value : launch.values) launch.arguments.push_back(&value);
    if (launch.shared > 48 * 1024)
      ASK(cuFuncSetAttribute, launch.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
          static_cast<int>(launch.shared));
    return launch;
  }
  void launch(const Words& w) {
    Launch l = read_launch(w);
    std::vector<CUlaunchAttribute> attributes;
    if (l.cluster != 0) {
      CUlaunchAttribute a{};
      a.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      a.value.clusterDim = {l.cluster, 1, 1};
      attributes.push_back(a);
    }
    if (l.cooperative) {
      CUlaunchAttribute a{};
      a.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      a.value.cooperative = 1;
      attributes.push_back(a);
    }
    if (attributes.empty()) {
      ASK(cuLaunchKernel, l.function, l.grid, 1, 1, l.block, 1, 1, l.shared, l.stream, l.arguments.data(), nullptr);
      return;
    }
    const CUlaunchConfig config{
        l.grid, 1, 1, l.block, 1, 1, l.shared, l.stream, attributes.data(), static_cast<unsigned>(attributes.size())};
    ASK(cuLaunchKernelEx, &config, l.function, l.arguments.data(), nullptr);
  }

  // ---- order
  void make_stream(const Words& w) { ASK(cuStreamCreate, &streams_[w[0]], CU_STREAM_DEFAULT); }
  void make_nonblocking(const Words& w) { ASK(cuStreamCreate, &streams_[w[0]], CU_STREAM_NON_BLOCKING); }
  void destroy_stream(const Words& w) { ASK(cuStreamDestroy_v2, streams_.at(w[0])); }
  void make_event(const Words& w) { ASK(cuEventCreate, &events_[w[0]], CU_EVENT_DISABLE_TIMING); }
  void record(const Words& w) { ASK(cuEventRecord, events_.at(w[0]), stream(w, 1)); }
  void wait(const Words& w) { ASK(cuStreamWaitEvent, streams_.at(w[0]), events_.at(w[1]), 0); }
  void sync(const Words& w) {
    if (w.empty())
      ASK(cuCtxSynchronize);
    else
      ASK(cuStreamSynchronize, streams_.at(w[0]));
  }

  // ---- graphs
  void capture(const Words& w) { ASK(cuStreamBeginCapture_v2, streams_.at(w[0]), CU_STREAM_CAPTURE_MODE_RELAXED); }
  void end_capture(const Words& w) { ASK(cuStreamEndCapture, streams_.at(w[0]), &graphs_[w[1]]); }
  void graph(const Words& w) { ASK(cuGraphCreate, &graphs_[w[0]], 0); }
  void node(const Words& w) {
    std::vector<CUgraphNode> after;
    std::istringstream names(w[2] == "-" ? "" : w[2]);
    for (std::string name; std::getline(names, name, ',');) after.push_back(nodes_.at(name));
    const CUgraph graph = graphs_.at(w[0]);
    CUgraphNode& made = nodes_[w[1]];
    const Words rest(w.begin() + 4, w.end());
    if (w[3] == "launch") {
      Launch l = read_launch(rest);
      CUDA_KERNEL_NODE_PARAMS p{};
      p.func = l.function;
      p.gridDimX = l.grid;
      p.blockDimX = l.block;
      p.gridDimY = p.gridDimZ = p.blockDimY = p.blockDimZ = 1;
      p.sharedMemBytes = l.shared;
      p.kernelParams = l.arguments.data();
      ASK(cuGraphAddKernelNode_v2, &made, graph, after.data(), after.size(), &p);
    } else if (w[3] == "set") {
      CUDA_MEMSET_NODE_PARAMS p{address(rest.at(0)), 0, static_cast<unsigned>(number(rest.at(1))), 1,
                                number(rest.at(2)),  1};
      ASK(cuGraphAddMemsetNode, &made, graph, after.data(), after.size(), &p, context_);
    } else {
      throw std::runtime_error("no node is called " + w[3]);
    }
  }
  void play_graph(const Words& w) {
    CUgraphExec executable = nullptr;
    if (ASK(cuGraphInstantiateWithFlags, &executable, graphs_.at(w[0]), 0) != 0) return;
    ASK(cuGraphLaunch, executable, stream(w, 1));
  }

  // ---- other
  void heap(const Words& w) { ASK(cuCtxSetLimit, CU_LIMIT_MALLOC_HEAP_SIZE, number(w[0])); }
  void stack(const Words& w) { ASK(cuCtxSetLimit, CU_LIMIT_STACK_SIZE, number(w[0])); }
  void texture(const Words& w) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = address(w[1]);
    resource.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = 4 * number(w[2]);
    CUDA_TEXTURE_DESC description{};
    description.flags = CU_TRSF_READ_AS_INTEGER;
    if (ASK(cuTexObjectCreate, &memory_[w[0]].address, &resource, &description, nullptr) == 0)
      textures_.push_back(memory_[w[0]].address);
  }
  void surface(const Words& w) {
    CUDA_ARRAY3D_DESCRIPTOR shape{number(w[1]), 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    if (ASK(cuArray3DCreate_v2, &resource.res.array.hArray, &shape) != 0) return;
    arrays_.push_back(resource.res.array.hArray);
    if (ASK(cuSurfObjectCreate, &memory_[w[0]].address, &resource) == 0) surfaces_.push_back(memory_[w[0]].address);
  }
  void map(const Words& w) {
    const cuuint64_t sizes[] = {number(w[2]), number(w[3])}, strides[] = {4 * sizes[0]};
    const cuuint32_t box[] = {static_cast<cuuint32_t>(number(w[4])), static_cast<cuuint32_t>(number(w[5]))},
                     steps[] = {1, 1};
    CUtensorMap map{};
    ASK(cuTensorMapEncodeTiled, &map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, reinterpret_cast<void*>(address(w[1])), sizes,
        strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    Memory& m = made(w[0], Memory::kDevice);
    ASK(cuMemAlloc_v2, &m.address, sizeof map);
    ASK(cuMemcpyHtoD_v2, m.address, &map, sizeof map);
  }
  static void* runtime(const char* function) {
    static void* library = nullptr;
    for (const char* name : {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"})
      if (library == nullptr) library = dlopen(name, RTLD_NOW);
    void* const found = library == nullptr ? nullptr : dlsym(library, function);
    if (found == nullptr) throw std::runtime_error(std::string("no runtime with ") + function);
    return found;
  }
  void runtime_malloc(const Words& w) {
    told("cudaMalloc", reinterpret_cast<int (*)(CUdeviceptr*, std::size_t)>(runtime("cudaMalloc"))(
                           &made(w[0], Memory::kDevice).address, number(w[1])));
  }
  void runtime_free(const Words& w) {
    if (told("cudaFree", reinterpret_cast<int (*)(CUdeviceptr)>(runtime("cudaFree"))(address(w[0]))) == 0)
      forget(address(w[0]));
  }

  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
  std::map<std::string, Memory> memory_;
  std::map<std::string, CUstream> streams_;
  std::map<std::string, CUevent> events_;
  std::map<std::string, CUgraph> graphs_;
  std::map<std::string, CUgraphNode> nodes_;
  std::vector<CUtexObject> textures_;
  std::vector<CUsurfObject> surfaces_;
  std::vector<CUarray> arrays_;
  std::string step_;
  volatile unsigned seen_ = 0;
  bool failed_ = false;
};

const std::map<std::string, Player::Verb>& Player::verbs() {
  static const std::map<std::string, Verb> list = {
      {"alloc", {&Player::alloc, 2}},
      {"managed", {&Player::managed, 2}},
      {"pinned", {&Player::pinned, 2}},
      {"host", {&Player::of_host, 2}},
      {"register", {&Player::of_host_registered, 2}},
      {"alloc-async", {&Player::alloc_async, 3}},
      {"global", {&Player::global, 3}},
      {"free", {&Player::free, 1}},
      {"free-async", {&Player::free_async, 2}},
      {"free-host", {&Player::free_host, 1}},
      {"free-rest", {&Player::free_rest, 0}},
      {"set", {&Player::set, 3}},
      {"iota", {&Player::iota, 2}},
      {"to-device", {&Player::to_device, 3}},
      {"to-host", {&Player::to_host, 3}},
      {"copy", {&Player::copy, 3}},
      {"poke", {&Player::poke, 3}},
      {"peek", {&Player::peek, 2}},
      {"want", {&Player::want, 3}},
      {"launch", {&Player::launch, 3}},
      {"stream", {&Player::make_stream, 1}},
      {"nonblocking", {&Player::make_nonblocking, 1}},
      {"destroy-stream", {&Player::destroy_stream, 1}},
      {"event", {&Player::make_event, 1}},
      {"record", {&Player::record, 1}},
      {"wait", {&Player::wait, 2}},
      {"sync", {&Player::sync, 0}},
      {"capture", {&Player::capture, 1}},
      {"end-capture", {&Player::end_capture, 2}},
      {"graph", {&Player::graph, 1}},
      {"node", {&Player::node, 6}},
      {"play", {&Player::play_graph, 1}},
      {"heap", {&Player::heap, 1}},
      {"stack", {&Player::stack, 1}},
      {"texture", {&Player::texture, 3}},
      {"surface", {&Player::surface, 2}},
      {"map", {&Player::map, 6}},
      {"cudaMalloc", {&Player::runtime_malloc, 2}},
      {"cudaFree", {&Player::runtime_free, 1}},
  };
  return list;
}

} // namespace

int main(int count, char** words) try {
  if (count < 4) return 2;
  driver = dlopen(words[1], RTLD_NOW | RTLD_GLOBAL);
  if (driver == nullptr) throw std::runtime_error(dlerror());
  Player player(words[2]);
  for (int i = 3; i < count; ++i) player.play(words[i]);
  return player.failed() ? 1 : 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "play: %s\n", e.what());
  return 2;
}
