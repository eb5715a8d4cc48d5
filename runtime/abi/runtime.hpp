// SPDX-License-Identifier: Apache-2.0
/// @file
/// The memory layout of the types of CUDA's runtime API, under NVIDIA's names, from its manual ("CUDA Runtime API",
/// versions 11.8, 12.9, 13.0). Handles are those of the driver, so that programs can mix both APIs. Where the layout
/// changed between major versions this is the newest one; `runtime/cudart/version.hpp` has the older sizes.
///
///     cudaMemcpy3DParms copy{};
///     copy.extent = {16, 4, 1};
#pragma once

#include "runtime/abi/driver.hpp"

#include <cstddef>

enum cudaError_t : int {
#define ERROR(name, number, text) name = (number),
#include "runtime/abi/runtime_errors.def"
#undef ERROR
};

using cudaStream_t = CUstream;
using cudaEvent_t = CUevent;
using cudaArray_t = CUarray;
using cudaMipmappedArray_t = CUmipmappedArray;
using cudaGraph_t = CUgraph;
using cudaGraphNode_t = CUgraphNode;
using cudaGraphExec_t = CUgraphExec;
using cudaUserObject_t = CUuserObject;
using cudaMemPool_t = CUmemoryPool;
using cudaKernel_t = CUkernel;
using cudaLibrary_t = CUlibrary;
using cudaFunction_t = CUfunction;
using cudaTextureObject_t = CUtexObject;
using cudaSurfaceObject_t = CUsurfObject;
using cudaUUID_t = CUuuid;
using cudaHostFn_t = CUhostFn;
using cudaStreamCallback_t = void (*)(cudaStream_t stream, cudaError_t status, void* data);
using cudaLaunchAttribute = CUlaunchAttribute;
using cudaLaunchAttributeID = CUlaunchAttributeID;
using cudaLaunchAttributeValue = CUlaunchAttributeValue;
using cudaGraphEdgeData = CUgraphEdgeData;

// Enumerations with the same values as in the driver API.
using cudaDeviceAttr = CUdevice_attribute;
using cudaDeviceP2PAttr = CUdevice_P2PAttribute;
using cudaFuncAttribute = CUfunction_attribute;
using cudaFuncCache = CUfunc_cache;
using cudaSharedMemConfig = CUsharedconfig;
using cudaLimit = CUlimit;
using cudaMemoryAdvise = CUmem_advise;
using cudaMemRangeAttribute = CUmem_range_attribute;
using cudaMemPoolAttr = CUmemPool_attribute;
using cudaStreamCaptureMode = CUstreamCaptureMode;
using cudaStreamCaptureStatus = CUstreamCaptureStatus;
using cudaGraphNodeType = CUgraphNodeType;
using cudaGraphExecUpdateResult = CUgraphExecUpdateResult;
using cudaGraphExecUpdateResultInfo = CUgraphExecUpdateResultInfo;
using cudaGraphInstantiateParams = CUDA_GRAPH_INSTANTIATE_PARAMS;
using cudaMemLocation = CUmemLocation;
using cudaMemPoolProps = CUmemPoolProps;
using cudaMemAccessDesc = CUmemAccessDesc;
using cudaMemsetParams = CUDA_MEMSET_NODE_PARAMS;
using cudaHostNodeParams = CUDA_HOST_NODE_PARAMS;
using cudaMemAllocNodeParams = CUDA_MEM_ALLOC_NODE_PARAMS;

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
};

enum cudaMemcpyKind : int {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4,
};

enum cudaMemoryType : int {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3,
};

enum cudaChannelFormatKind : int {
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindFloat = 2,
  cudaChannelFormatKindNone = 3,
  cudaChannelFormatKindNV12 = 4,
  cudaChannelFormatKindUnsignedNormalized8X1 = 5, // the normalized and compressed kinds follow, up to 31
};

struct cudaChannelFormatDesc {
  int x, y, z, w; ///< bits of each component
  cudaChannelFormatKind f;
};
struct cudaPitchedPtr {
  void* ptr;
  std::size_t pitch, xsize, ysize;
};
struct cudaExtent {
  std::size_t width, height, depth;
};
struct cudaPos {
  std::size_t x, y, z;
};
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};
struct cudaMemcpy3DPeerParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  int srcDevice;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  int dstDevice;
  cudaExtent extent;
};

struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
  long reserved[8]; ///< since CUDA 13
};
struct cudaFuncAttributes {
  std::size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes,
      preferredShmemCarveout;
  // Since CUDA 12.
  int clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight, requiredClusterDepth,
      clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed, reserved[16];
};

enum cudaResourceType : int {
  cudaResourceTypeArray = 0,
  cudaResourceTypeMipmappedArray = 1,
  cudaResourceTypeLinear = 2,
  cudaResourceTypePitch2D = 3,
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      cudaMipmappedArray_t mipmap;
    } mipmap;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t width, height, pitchInBytes;
    } pitch2D;
    struct {
      int reserved[32]; ///< since CUDA 13
    } reserved;
  } res;
  unsigned flags; ///< since CUDA 13
};
struct cudaResourceViewDesc {
  int format;
  std::size_t width, height, depth;
  unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
  unsigned reserved[16]; ///< since CUDA 13
};
struct cudaTextureDesc {
  int addressMode[3], filterMode, readMode, sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  int mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization;
  int seamlessCubemap; ///< since CUDA 12, and in 11.8's cudaTextureDesc_v2
};

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};
struct cudaKernelNodeParams {
  void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};
struct cudaMemcpyNodeParams {
  int flags;
  int reserved[3];
  cudaMemcpy3DParms copyParams;
};
struct cudaGraphNodeParams {
  cudaGraphNodeType type;
  int reserved0[3];
  union {
    long long reserved1[29];
    cudaKernelNodeParams kernel;
    cudaMemcpyNodeParams memcpy;
    cudaMemsetParams memset;
    cudaHostNodeParams host;
    cudaGraph_t graph;
    cudaEvent_t event; ///< for an event wait or an event record
    cudaMemAllocNodeParams alloc;
    void* free;
    CUDA_CONDITIONAL_NODE_PARAMS conditional;
  };
  long long reserved2;
};

// The three versions of cudaDeviceProp, from one list.
#define FIELD(type, name, array, ...) type name array;
#define FIELD_UNTIL_12(type, name, array, ...) type name array;
#define FIELD_SINCE_12(type, name, array, ...)
#define FIELD_12(type, name, array, ...)
#define FIELD_13(type, name, array, ...)
struct cudaDeviceProp_11 {
#include "runtime/abi/device_properties.def"
};
#undef FIELD_SINCE_12
#undef FIELD_12
#define FIELD_SINCE_12(type, name, array, ...) type name array;
#define FIELD_12(type, name, array, ...) type name array;
struct cudaDeviceProp_12 {
#include "runtime/abi/device_properties.def"
};
#undef FIELD_UNTIL_12
#undef FIELD_12
#undef FIELD_13
#define FIELD_UNTIL_12(type, name, array, ...)
#define FIELD_12(type, name, array, ...)
#define FIELD_13(type, name, array, ...) type name array;
struct cudaDeviceProp_13 {
#include "runtime/abi/device_properties.def"
};
#undef FIELD
#undef FIELD_UNTIL_12
#undef FIELD_SINCE_12
#undef FIELD_12
#undef FIELD_13
