#include "tests/data/hardware/ask/contexts/world.hpp"

#include <dlfcn.h>

namespace contexts {

namespace {

void* driver = nullptr;

constexpr std::size_t kBytes = 4096, kGranule = 2 << 20;

} // namespace

alignas(4096) char World::plain[8192];
alignas(4096) char World::registered[8192];

const char* World::program = R"(
.version 6.5
.target sm_75
.address_size 64
.global .align 4 .u32 variable[4];
.visible .entry set(.param .u64 address, .param .u32 value)
{
  .reg .b32 %r;
  .reg .b64 %d;
  ld.param.u64 %d, [address];
  ld.param.u32 %r, [value];
  cvta.to.global.u64 %d, %d;
  st.global.u32 [%d], %r;
  ret;
}
)";

const char* World::program_with_references = R"(
.version 6.5
.target sm_75
.address_size 64
.global .texref texture_reference;
.global .surfref surface_reference;
.visible .entry none()
{
  ret;
}
)";

void open(const char* library) {
  driver = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
  if (driver == nullptr) throw std::runtime_error(dlerror());
}

void* find(const char* function) {
  void* const found = dlsym(driver, function);
  if (found == nullptr) throw std::runtime_error(std::string(function) + " is not exported");
  return found;
}

// One after the other; what fails is told, and the rest is done all the same.
#define MAKE(function, ...)                                                                                            \
  if (const int answer = CALL(function, __VA_ARGS__); answer != 0 && failed.empty())                                   \
  failed = #function " " + std::to_string(answer)

void World::make() {
  MAKE(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  MAKE(cuStreamCreate, &second_stream, CU_STREAM_NON_BLOCKING);
  MAKE(cuEventCreate, &event, 0);
  MAKE(cuEventCreate, &second_event, 0);
  MAKE(cuEventRecord, event, stream);
  MAKE(cuEventRecord, second_event, stream);
  MAKE(cuModuleLoadData, &module, program);
  MAKE(cuModuleGetFunction, &function, module, "set");
  MAKE(cuModuleLoadData, &references, program_with_references);
  MAKE(cuModuleGetTexRef, &texture_reference, references, "texture_reference");
  MAKE(cuModuleGetSurfRef, &surface_reference, references, "surface_reference");
  MAKE(cuTexRefCreate, &own_reference);
  MAKE(cuLibraryLoadData, &library, program, nullptr, nullptr, 0, nullptr, nullptr, 0);
  MAKE(cuLibraryGetKernel, &kernel, library, "set");
  MAKE(cuLinkCreate_v2, 0, nullptr, nullptr, &link);

  MAKE(cuMemAlloc_v2, &memory, kBytes);
  MAKE(cuMemAlloc_v2, &source, kBytes);
  MAKE(cuMemAllocManaged, &managed, kBytes, CU_MEM_ATTACH_GLOBAL);
  MAKE(cuMemHostAlloc, &host, kBytes, CU_MEMHOSTALLOC_DEVICEMAP);
  MAKE(cuMemHostRegister_v2, registered, kBytes, 0);
  MAKE(cuMemAllocAsync, &asynchronous, kBytes, stream);
  pool_properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  pool_properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  MAKE(cuMemPoolCreate, &pool, &pool_properties);
  allocation.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  allocation.location = location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  access = {location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  MAKE(cuMemCreate, &physical, kGranule, &allocation, 0);
  MAKE(cuMemAddressReserve, &reserved, kGranule, 0, 0, 0);
  MAKE(cuMemAddressReserve, &mapped, kGranule, 0, 0, 0);
  MAKE(cuMemMap, mapped, kGranule, 0, physical, 0);
  MAKE(cuMemSetAccess, mapped, kGranule, &access, 1);

  array_description = {16, 16, CU_AD_FORMAT_FLOAT, 1};
  array_3d_description = {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
  MAKE(cuArray3DCreate_v2, &array, &array_3d_description);
  CUDA_ARRAY_DESCRIPTOR flat{64, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1};
  MAKE(cuArrayCreate_v2, &line, &flat);
  MAKE(cuArrayCreate_v2, &second_line, &flat);
  MAKE(cuMipmappedArrayCreate, &mipmapped, &array_3d_description, 2);
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  MAKE(cuTexObjectCreate, &texture, &resource, &texture_description, nullptr);
  MAKE(cuSurfObjectCreate, &surface, &resource);
  MAKE(cuTexRefSetArray, own_reference, array, CU_TRSA_OVERRIDE_FORMAT);
  MAKE(cuSurfRefSetArray, surface_reference, array, 0);

  argument_address = memory;
  arguments[0] = &argument_address;
  arguments[1] = &argument_value;
  config = {1, 1, 1, 1, 1, 1, 0, stream, nullptr, 0};
  copy_2d.srcMemoryType = copy_2d.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy_2d.srcDevice = source;
  copy_2d.dstDevice = memory;
  copy_2d.srcPitch = copy_2d.dstPitch = 64;
  copy_2d.WidthInBytes = copy_2d.Height = 8;
  copy_3d.srcMemoryType = copy_3d.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy_3d.srcDevice = source;
  copy_3d.dstDevice = memory;
  copy_3d.srcPitch = copy_3d.dstPitch = 64;
  copy_3d.srcHeight = copy_3d.dstHeight = 8;
  copy_3d.WidthInBytes = copy_3d.Height = 8;
  copy_3d.Depth = 1;
  copy_peer.srcMemoryType = copy_peer.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy_peer.srcDevice = source;
  copy_peer.dstDevice = memory;
  copy_peer.srcContext = copy_peer.dstContext = context;
  copy_peer.srcPitch = copy_peer.dstPitch = 64;
  copy_peer.srcHeight = copy_peer.dstHeight = 8;
  copy_peer.WidthInBytes = copy_peer.Height = 8;
  copy_peer.Depth = 1;
  operation.writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, memory, {1}, 0, 0};

  kernel_parameters.func = function;
  kernel_parameters.gridDimX = kernel_parameters.gridDimY = kernel_parameters.gridDimZ = 1;
  kernel_parameters.blockDimX = kernel_parameters.blockDimY = kernel_parameters.blockDimZ = 1;
  kernel_parameters.kernelParams = arguments;
  memset_parameters = {memory, 64, 1, 1, 8, 1};
  host_parameters = {nothing, nullptr};
  alloc_parameters.poolProps = pool_properties;
  alloc_parameters.bytesize = kBytes;
  node_parameters.type = CU_GRAPH_NODE_TYPE_HOST;
  node_parameters.host = {nothing, nullptr};
  MAKE(cuGraphCreate, &graph, 0);
  MAKE(cuGraphCreate, &child, 0);
  MAKE(cuGraphAddEmptyNode, &empty_node, graph, nullptr, 0);
  MAKE(cuGraphAddEmptyNode, &second_empty_node, graph, &empty_node, 1);
  MAKE(cuGraphAddKernelNode_v2, &kernel_node, graph, nullptr, 0, &kernel_parameters);
  MAKE(cuGraphAddMemcpyNode, &memcpy_node, graph, nullptr, 0, &copy_3d, context);
  MAKE(cuGraphAddMemsetNode, &memset_node, graph, nullptr, 0, &memset_parameters, context);
  MAKE(cuGraphAddHostNode, &host_node, graph, nullptr, 0, &host_parameters);
  MAKE(cuGraphAddChildGraphNode, &child_node, graph, nullptr, 0, child);
  MAKE(cuGraphAddEventRecordNode, &record_node, graph, nullptr, 0, event);
  MAKE(cuGraphAddEventWaitNode, &wait_node, graph, nullptr, 0, second_event);
  MAKE(cuGraphInstantiateWithFlags, &executable, graph, 0);
  MAKE(cuGraphCreate, &alloc_graph, 0);
  MAKE(cuGraphAddMemAllocNode, &alloc_node, alloc_graph, nullptr, 0, &alloc_parameters);
  MAKE(cuStreamSynchronize, stream);
  MAKE(cuCtxSynchronize);
}

} // namespace contexts
