// SPDX-License-Identifier: Apache-2.0
// The memory layout of the driver API's structures (CUDA Driver API reference, "Data structures"; version 13). Of a
// structure with several versions, this is the one that the current name in the header refers to.
#pragma once

#include "runtime/abi/driver_enums.hpp"
#include "runtime/abi/driver_errors.hpp"

#include <cstddef>
#include <cstdint>

using cuuint32_t = std::uint32_t;
using cuuint64_t = std::uint64_t;
using CUdeviceptr = unsigned long long;
struct alignas(64) CUtensorMap {
  cuuint64_t opaque[16];
};
using CUdevice = int;
using CUtexObject = unsigned long long;
using CUsurfObject = unsigned long long;
using CUgraphConditionalHandle = cuuint64_t;
using CUmemGenericAllocationHandle = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUlibrary = struct CUlib_st*;
using CUkernel = struct CUkern_st*;
using CUarray = struct CUarray_st*;
using CUmipmappedArray = struct CUmipmappedArray_st*;
using CUtexref = struct CUtexref_st*;
using CUsurfref = struct CUsurfref_st*;
using CUevent = struct CUevent_st*;
using CUstream = struct CUstream_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphNode = struct CUgraphNode_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;
using CUuserObject = struct CUuserObject_st*;
using CUgraphDeviceNode = struct CUgraphDeviceUpdatableNode_st*;
using CUlinkState = struct CUlinkState_st*;

/// The default streams, and the markers in the `extra` argument of cuLaunchKernel.
#define CU_STREAM_LEGACY (reinterpret_cast<CUstream>(0x1))
#define CU_STREAM_PER_THREAD (reinterpret_cast<CUstream>(0x2))
#define CU_LAUNCH_PARAM_END (reinterpret_cast<void*>(0x00))
#define CU_LAUNCH_PARAM_BUFFER_POINTER (reinterpret_cast<void*>(0x01))
#define CU_LAUNCH_PARAM_BUFFER_SIZE (reinterpret_cast<void*>(0x02))

constexpr unsigned CU_MEMHOSTALLOC_PORTABLE = 1, CU_MEMHOSTALLOC_DEVICEMAP = 2, CU_MEMHOSTALLOC_WRITECOMBINED = 4;
constexpr unsigned CU_MEMHOSTREGISTER_PORTABLE = 1, CU_MEMHOSTREGISTER_DEVICEMAP = 2, CU_MEMHOSTREGISTER_IOMEMORY = 4,
                   CU_MEMHOSTREGISTER_READ_ONLY = 8;
constexpr unsigned CUDA_ARRAY3D_LAYERED = 1, CUDA_ARRAY3D_SURFACE_LDST = 2, CUDA_ARRAY3D_CUBEMAP = 4,
                   CUDA_ARRAY3D_TEXTURE_GATHER = 8, CUDA_ARRAY3D_SPARSE = 0x40, CUDA_ARRAY3D_DEFERRED_MAPPING = 0x80;
constexpr unsigned CU_TRSA_OVERRIDE_FORMAT = 1, CU_TRSF_READ_AS_INTEGER = 1, CU_TRSF_NORMALIZED_COORDINATES = 2,
                   CU_TRSF_SRGB = 0x10, CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION = 0x20, CU_TRSF_SEAMLESS_CUBEMAP = 0x40;
constexpr CUdevice CU_DEVICE_CPU = -1, CU_DEVICE_INVALID = -2;

using CUhostFn = void (*)(void*);
using CUstreamCallback = void (*)(CUstream, CUresult, void*);
using CUoccupancyB2DSize = size_t (*)(int);
using CUkernelNodeAttrID = CUlaunchAttributeID;
using CUstreamAttrID = CUlaunchAttributeID;

struct CUuuid {
  char bytes[16];
};

struct CUipcMemHandle {
  char reserved[64];
};

struct CUipcEventHandle {
  char reserved[64];
};

union CUstreamBatchMemOpParams {
  CUstreamBatchMemOpType operation;
  struct {
    CUstreamBatchMemOpType operation;
    CUdeviceptr address;
    union {
      cuuint32_t value;
      cuuint64_t value64;
    };
    unsigned int flags;
    CUdeviceptr alias;
  } waitValue;
  struct {
    CUstreamBatchMemOpType operation;
    CUdeviceptr address;
    union {
      cuuint32_t value;
      cuuint64_t value64;
    };
    unsigned int flags;
    CUdeviceptr alias;
  } writeValue;
  struct {
    CUstreamBatchMemOpType operation;
    unsigned int flags;
  } flushRemoteWrites;
  struct {
    CUstreamBatchMemOpType operation;
    unsigned int flags;
  } memoryBarrier;
  cuuint64_t pad[6];
};

struct CUdevprop {
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], sharedMemPerBlock, totalConstantMemory, SIMDWidth, memPitch,
      regsPerBlock, clockRate, textureAlign;
};

struct CUaccessPolicyWindow {
  void* base_ptr;
  size_t num_bytes;
  float hitRatio;
  CUaccessProperty hitProp, missProp;
};

struct CUlaunchMemSyncDomainMap {
  unsigned char default_, remote;
};

union CUlaunchAttributeValue {
  char pad[64];
  CUaccessPolicyWindow accessPolicyWindow;
  int cooperative;
  CUsynchronizationPolicy syncPolicy;
  struct {
    unsigned int x, y, z;
  } clusterDim;
  CUclusterSchedulingPolicy clusterSchedulingPolicyPreference;
  int programmaticStreamSerializationAllowed;
  struct {
    CUevent event;
    int flags, triggerAtBlockStart;
  } programmaticEvent;
  struct {
    CUevent event;
    int flags;
  } launchCompletionEvent;
  int priority;
  CUlaunchMemSyncDomainMap memSyncDomainMap;
  CUlaunchMemSyncDomain memSyncDomain;
  struct {
    unsigned int x, y, z;
  } preferredClusterDim;
  struct {
    int deviceUpdatable;
    CUgraphDeviceNode devNode;
  } deviceUpdatableKernelNode;
  unsigned int sharedMemCarveout, nvlinkUtilCentricScheduling;
};

using CUkernelNodeAttrValue = CUlaunchAttributeValue;
using CUstreamAttrValue = CUlaunchAttributeValue;

struct CUlaunchAttribute {
  CUlaunchAttributeID id;
  char pad[8 - sizeof(CUlaunchAttributeID)];
  CUlaunchAttributeValue value;
};

struct CUlaunchConfig {
  unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute* attrs;
  unsigned int numAttrs;
};

struct CUexecAffinitySmCount {
  unsigned int val;
};

struct CUexecAffinityParam {
  CUexecAffinityType type;
  union {
    CUexecAffinitySmCount smCount;
  } param;
};

struct CUctxCigParam {
  CUcigDataType sharedDataType;
  void* sharedData;
};

struct CUctxCreateParams {
  CUexecAffinityParam* execAffinityParams;
  int numExecAffinityParams;
  CUctxCigParam* cigParams;
};

struct CUDA_MEMCPY2D {
  size_t srcXInBytes, srcY;
  CUmemorytype srcMemoryType;
  const void* srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  size_t srcPitch, dstXInBytes, dstY;
  CUmemorytype dstMemoryType;
  void* dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  size_t dstPitch, WidthInBytes, Height;
};

struct CUDA_MEMCPY3D {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  CUmemorytype srcMemoryType;
  const void* srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  void* reserved0;
  size_t srcPitch, srcHeight, dstXInBytes, dstY, dstZ, dstLOD;
  CUmemorytype dstMemoryType;
  void* dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  void* reserved1;
  size_t dstPitch, dstHeight, WidthInBytes, Height, Depth;
};

struct CUDA_MEMCPY3D_PEER {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  CUmemorytype srcMemoryType;
  const void* srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  CUcontext srcContext;
  size_t srcPitch, srcHeight, dstXInBytes, dstY, dstZ, dstLOD;
  CUmemorytype dstMemoryType;
  void* dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  CUcontext dstContext;
  size_t dstPitch, dstHeight, WidthInBytes, Height, Depth;
};

struct CUDA_ARRAY_DESCRIPTOR {
  size_t Width, Height;
  CUarray_format Format;
  unsigned int NumChannels;
};

struct CUDA_ARRAY3D_DESCRIPTOR {
  size_t Width, Height, Depth;
  CUarray_format Format;
  unsigned int NumChannels, Flags;
};

struct CUDA_RESOURCE_DESC {
  CUresourcetype resType;
  union {
    struct {
      CUarray hArray;
    } array;
    struct {
      CUmipmappedArray hMipmappedArray;
    } mipmap;
    struct {
      CUdeviceptr devPtr;
      CUarray_format format;
      unsigned int numChannels;
      size_t sizeInBytes;
    } linear;
    struct {
      CUdeviceptr devPtr;
      CUarray_format format;
      unsigned int numChannels;
      size_t width, height, pitchInBytes;
    } pitch2D;
    struct {
      int reserved[32];
    } reserved;
  } res;
  unsigned int flags;
};

struct CUDA_TEXTURE_DESC {
  CUaddress_mode addressMode[3];
  CUfilter_mode filterMode;
  unsigned int flags, maxAnisotropy;
  CUfilter_mode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp, borderColor[4];
  int reserved[12];
};

struct CUDA_RESOURCE_VIEW_DESC {
  CUresourceViewFormat format;
  size_t width, height, depth;
  unsigned int firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer, reserved[16];
};

struct CUmemLocation {
  CUmemLocationType type;
  int id;
};

struct CUmemAllocationProp {
  CUmemAllocationType type;
  CUmemAllocationHandleType requestedHandleTypes;
  CUmemLocation location;
  void* win32HandleMetaData;
  struct {
    unsigned char compressionType, gpuDirectRDMACapable;
    unsigned short usage;
    unsigned char reserved[4];
  } allocFlags;
};

struct CUmemAccessDesc {
  CUmemLocation location;
  CUmemAccess_flags flags;
};

struct CUmemPoolProps {
  CUmemAllocationType allocType;
  CUmemAllocationHandleType handleTypes;
  CUmemLocation location;
  void* win32SecurityAttributes;
  size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};
