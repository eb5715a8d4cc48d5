// What a program may hold in a context, one object of each kind, and what the driver is asked with them.
//
//   World w;  w.make();                                    // in the current context
//   for (const Question& q : questions()) q.ask(w)         // cuMemFree_v2(w.memory), …: what it answers
#pragma once

#include "runtime/abi/driver.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace contexts {

/// Of the driver's library that is asked. Throws std::runtime_error: it has no such function.
void* find(const char* function);
void open(const char* library);

struct Question {
  const char* name;
  int (*ask)(struct World&);
  bool of_contexts = true; ///< its answer may depend on contexts
};
std::vector<Question> questions();
void add_memory_questions(std::vector<Question>& list);
void add_graph_questions(std::vector<Question>& list);

/// The driver's function.
#define CALL(function, ...) reinterpret_cast<decltype(&(function))>(contexts::find(#function))(__VA_ARGS__)
#define ASK(function, ...)                                                                                             \
  {                                                                                                                    \
#function, []([[maybe_unused]] World & w) -> int { return CALL(function, __VA_ARGS__); }                           \
  }
/// A second question to the same function: what is different in it.
#define ASK_WITH(what, function, ...)                                                                                  \
  {                                                                                                                    \
#function ":" what, []([[maybe_unused]] World & w) -> int { return CALL(function, __VA_ARGS__); }                  \
  }

struct World {
  void make();
  /// The step of make() that failed first, and its answer.
  std::string failed;

  CUcontext context = nullptr, other = nullptr;
  CUstream stream = nullptr, second_stream = nullptr;
  CUevent event = nullptr, second_event = nullptr;
  CUmodule module = nullptr, references = nullptr;
  CUfunction function = nullptr;
  CUtexref texture_reference = nullptr, own_reference = nullptr;
  CUsurfref surface_reference = nullptr;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUlinkState link = nullptr;
  CUdeviceptr memory = 0, source = 0, managed = 0, asynchronous = 0;
  void* host = nullptr;
  CUarray array = nullptr, line = nullptr, second_line = nullptr;
  CUmipmappedArray mipmapped = nullptr;
  CUtexObject texture = 0;
  CUsurfObject surface = 0;
  CUmemoryPool pool = nullptr;
  CUmemGenericAllocationHandle physical = 0;
  CUdeviceptr mapped = 0, reserved = 0;
  CUgraph graph = nullptr, child = nullptr, alloc_graph = nullptr;
  CUgraphNode kernel_node = nullptr, memcpy_node = nullptr, memset_node = nullptr, host_node = nullptr,
              child_node = nullptr, empty_node = nullptr, record_node = nullptr, wait_node = nullptr,
              alloc_node = nullptr, second_empty_node = nullptr;
  CUgraphExec executable = nullptr;

  // What calls take and leave.
  char text[4096] = {};
  alignas(4096) static char plain[8192], registered[8192];
  unsigned number = 0;
  int integer = 0, other_integer = 0;
  unsigned long long id = 0;
  std::size_t size = 4, pitch = 0;
  void* pointer = nullptr;
  const char* name = nullptr;
  float real = 0, other_real = 0, reals[4] = {};
  CUcontext context_out = nullptr;
  CUdeviceptr address = 0;
  CUjit_option* no_options = nullptr;
  unsigned argument_value = 1;
  CUdeviceptr argument_address = 0;
  void* arguments[2] = {};
  CUlaunchConfig config{};
  CUlaunchAttributeValue attribute{};
  CUDA_MEMCPY2D copy_2d{};
  CUDA_MEMCPY3D copy_3d{};
  CUDA_MEMCPY3D_PEER copy_peer{};
  CUDA_ARRAY_DESCRIPTOR array_description{};
  CUDA_ARRAY3D_DESCRIPTOR array_3d_description{};
  CUDA_RESOURCE_DESC resource{};
  CUDA_RESOURCE_VIEW_DESC view{};
  CUDA_TEXTURE_DESC texture_description{};
  CUmemAllocationProp allocation{};
  CUmemAccessDesc access{};
  CUmemLocation location{};
  CUmemPoolProps pool_properties{};
  CUDA_KERNEL_NODE_PARAMS kernel_parameters{};
  CUDA_MEMSET_NODE_PARAMS memset_parameters{};
  CUDA_HOST_NODE_PARAMS host_parameters{};
  CUDA_MEM_ALLOC_NODE_PARAMS alloc_parameters{};
  CUgraphNodeParams node_parameters{};
  CUDA_GRAPH_INSTANTIATE_PARAMS instantiate_parameters{};
  CUgraphExecUpdateResultInfo update_result{};
  CUstreamBatchMemOpParams operation{};
  CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  CUstreamCaptureStatus capture_status{};
  CUpointer_attribute pointer_attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  CUarray_format format{};
  CUaddress_mode address_mode{};
  CUfilter_mode filter_mode{};

  /// PTX: set(address, value) stores; __device__ variable; a texture and a surface reference in a module of their own.
  static const char* program;
  static const char* program_with_references;
  static void nothing(void*) {}
  static void nothing_of_stream(CUstream, CUresult, void*) {}
  static std::size_t no_shared(int) { return 0; }
};

} // namespace contexts
