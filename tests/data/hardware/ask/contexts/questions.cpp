// What is asked of devices, contexts, code, launches, streams, events and memory.
#include "tests/data/hardware/ask/contexts/world.hpp"

namespace contexts {

namespace {

/// 0: no context is current; 1: the one in which everything was made; 2: another.
int current(const World& w) {
  CUcontext context = nullptr;
  if (const int answer = CALL(cuCtxGetCurrent, &context); answer != 0) return -answer;
  return context == nullptr ? 0 : context == w.context ? 1 : 2;
}

/// These need no context at all.
const Question kDevices[] = {
    ASK(cuInit, 0),
    ASK(cuDriverGetVersion, &w.integer),
    ASK(cuGetErrorName, CUDA_ERROR_INVALID_VALUE, &w.name),
    ASK(cuGetErrorString, CUDA_ERROR_INVALID_VALUE, &w.name),
    ASK(cuGetProcAddress_v2, "cuInit", &w.pointer, 13000, 0, nullptr),
    ASK(cuGetProcAddress, "cuInit", &w.pointer, 11030, 0),
    ASK(cuDeviceGet, &w.integer, 0),
    ASK(cuDeviceGetCount, &w.integer),
    ASK(cuDeviceGetName, w.text, 100, 0),
    ASK(cuDeviceGetUuid, reinterpret_cast<CUuuid*>(w.text), 0),
    ASK(cuDeviceGetUuid_v2, reinterpret_cast<CUuuid*>(w.text), 0),
    ASK(cuDeviceTotalMem_v2, &w.size, 0),
    ASK(cuDeviceGetTexture1DLinearMaxWidth, &w.size, CU_AD_FORMAT_FLOAT, 1, 0),
    ASK(cuDeviceGetAttribute, &w.integer, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0),
    ASK(cuDeviceGetProperties, reinterpret_cast<CUdevprop*>(w.text), 0),
    ASK(cuDeviceComputeCapability, &w.integer, &w.other_integer, 0),
    ASK(cuDeviceGetExecAffinitySupport, &w.integer, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0),
    ASK(cuDeviceGetByPCIBusId, &w.integer, "ffff:ff:ff.0"),
    ASK(cuDeviceGetPCIBusId, w.text, 100, 0),
    ASK(cuDeviceCanAccessPeer, &w.integer, 0, 0),
    ASK(cuDeviceGetP2PAttribute, &w.integer, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0),
    ASK(cuDeviceGetDefaultMemPool, reinterpret_cast<CUmemoryPool*>(&w.pointer), 0),
    ASK(cuDeviceGetMemPool, reinterpret_cast<CUmemoryPool*>(&w.pointer), 0),
};

const Question kContexts[] = {
    ASK(cuDeviceSetMemPool, 0, w.pool),
    ASK(cuDevicePrimaryCtxRetain, &w.context_out, 0),
    ASK(cuDevicePrimaryCtxRelease_v2, 0),
    ASK(cuDevicePrimaryCtxReset_v2, 0),
    ASK(cuDevicePrimaryCtxSetFlags_v2, 0, CU_CTX_SCHED_YIELD),
    ASK(cuDevicePrimaryCtxGetState, 0, &w.number, &w.integer),
    ASK(cuCtxCreate_v2, &w.context_out, 0, 0),
    ASK(cuCtxCreate_v3, &w.context_out, nullptr, 0, 0, 0),
    ASK(cuCtxCreate_v4, &w.context_out, nullptr, 0, 0),
    ASK(cuCtxDestroy_v2, w.context),
    ASK(cuCtxPushCurrent_v2, w.context),
    ASK(cuCtxPopCurrent_v2, &w.context_out),
    ASK(cuCtxSetCurrent, w.context),
    ASK_WITH("none", cuCtxSetCurrent, nullptr),
    ASK(cuCtxGetCurrent, &w.context_out),
    {"current", [](World& w) { return current(w); }},
    {"current:after_destroy",
     [](World& w) {
       CALL(cuCtxDestroy_v2, w.context);
       return current(w);
     }},
    {"current:after_push",
     [](World& w) {
       CALL(cuCtxPushCurrent_v2, w.context);
       return current(w);
     }},
    {"current:after_pop",
     [](World& w) {
       CALL(cuCtxPopCurrent_v2, &w.context_out);
       return current(w);
     }},
    {"current:after_set",
     [](World& w) {
       CALL(cuCtxSetCurrent, w.context);
       return current(w);
     }},
    {"current:after_reset",
     [](World& w) {
       CALL(cuDevicePrimaryCtxReset_v2, 0);
       return current(w);
     }},
    ASK(cuCtxGetDevice, &w.integer),
    ASK(cuCtxGetDevice_v2, &w.integer, w.context),
    ASK_WITH("current", cuCtxGetDevice_v2, &w.integer, nullptr),
    ASK(cuCtxGetId, w.context, &w.id),
    ASK_WITH("current", cuCtxGetId, nullptr, &w.id),
    ASK(cuCtxGetFlags, &w.number),
    ASK(cuCtxSetFlags, CU_CTX_SCHED_YIELD),
    ASK(cuCtxSynchronize),
    ASK(cuCtxSynchronize_v2, w.context),
    ASK_WITH("current", cuCtxSynchronize_v2, nullptr),
    ASK(cuCtxGetLimit, &w.size, CU_LIMIT_STACK_SIZE),
    ASK(cuCtxSetLimit, CU_LIMIT_STACK_SIZE, 2048),
    ASK(cuCtxGetCacheConfig, reinterpret_cast<CUfunc_cache*>(&w.integer)),
    ASK(cuCtxSetCacheConfig, CU_FUNC_CACHE_PREFER_L1),
    ASK(cuCtxGetSharedMemConfig, reinterpret_cast<CUsharedconfig*>(&w.integer)),
    ASK(cuCtxSetSharedMemConfig, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE),
    ASK(cuCtxGetApiVersion, w.context, &w.number),
    ASK_WITH("current", cuCtxGetApiVersion, nullptr, &w.number),
    ASK(cuCtxGetStreamPriorityRange, &w.integer, &w.other_integer),
    ASK(cuCtxResetPersistingL2Cache),
    ASK(cuCtxEnablePeerAccess, w.context, 0),
    ASK(cuCtxDisablePeerAccess, w.context),
    ASK(cuProfilerStart),
    ASK(cuProfilerStop),
};

const Question kCode[] = {
    ASK(cuModuleLoadData, &w.module, World::program),
    ASK(cuModuleLoadDataEx, &w.module, World::program, 0, nullptr, nullptr),
    ASK(cuModuleLoadFatBinary, &w.module, World::program),
    ASK(cuModuleLoad, &w.module, "/no/such/file"),
    ASK(cuModuleUnload, w.module),
    ASK(cuModuleGetLoadingMode, reinterpret_cast<CUmoduleLoadingMode*>(&w.integer)),
    ASK(cuModuleGetFunction, &w.function, w.module, "set"),
    ASK(cuModuleGetFunctionCount, &w.number, w.module),
    ASK(cuModuleEnumerateFunctions, &w.function, 1, w.module),
    ASK(cuModuleGetGlobal_v2, &w.address, &w.size, w.module, "variable"),
    ASK(cuModuleGetTexRef, &w.texture_reference, w.references, "texture_reference"),
    ASK(cuModuleGetSurfRef, &w.surface_reference, w.references, "surface_reference"),
    ASK(cuLinkCreate_v2, 0, nullptr, nullptr, &w.link),
    ASK(cuLinkAddData_v2, w.link, CU_JIT_INPUT_PTX, const_cast<char*>(World::program),
        __builtin_strlen(World::program) + 1, "set", 0, nullptr, nullptr),
    ASK(cuLinkAddFile_v2, w.link, CU_JIT_INPUT_PTX, "/no/such/file", 0, nullptr, nullptr),
    ASK(cuLinkComplete, w.link, &w.pointer, &w.size),
    ASK(cuLinkDestroy, w.link),
    ASK(cuLibraryLoadData, &w.library, World::program, nullptr, nullptr, 0, nullptr, nullptr, 0),
    ASK(cuLibraryLoadFromFile, &w.library, "/no/such/file", nullptr, nullptr, 0, nullptr, nullptr, 0),
    ASK(cuLibraryUnload, w.library),
    ASK(cuLibraryGetKernel, &w.kernel, w.library, "set"),
    ASK(cuLibraryGetKernelCount, &w.number, w.library),
    ASK(cuLibraryEnumerateKernels, &w.kernel, 1, w.library),
    ASK(cuLibraryGetModule, &w.module, w.library),
    ASK(cuLibraryGetGlobal, &w.address, &w.size, w.library, "variable"),
    ASK(cuLibraryGetManaged, &w.address, &w.size, w.library, "none"),
    ASK(cuKernelGetFunction, &w.function, w.kernel),
    ASK(cuKernelGetLibrary, &w.library, w.kernel),
    ASK(cuKernelGetAttribute, &w.integer, CU_FUNC_ATTRIBUTE_NUM_REGS, w.kernel, 0),
    ASK(cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, w.kernel, 0),
    ASK(cuKernelSetCacheConfig, w.kernel, CU_FUNC_CACHE_PREFER_L1, 0),
    ASK(cuKernelGetName, &w.name, w.kernel),
    ASK(cuKernelGetParamInfo, w.kernel, 0, &w.size, &w.pitch),
    ASK(cuFuncGetAttribute, &w.integer, CU_FUNC_ATTRIBUTE_NUM_REGS, w.function),
    ASK(cuFuncSetAttribute, w.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024),
    ASK(cuFuncSetCacheConfig, w.function, CU_FUNC_CACHE_PREFER_L1),
    ASK(cuFuncSetSharedMemConfig, w.function, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE),
    ASK(cuFuncGetModule, &w.module, w.function),
    ASK(cuFuncGetName, &w.name, w.function),
    ASK(cuFuncGetParamInfo, w.function, 0, &w.size, &w.pitch),
    ASK(cuFuncIsLoaded, reinterpret_cast<CUfunctionLoadingState*>(&w.integer), w.function),
    ASK(cuFuncLoad, w.function),
    ASK(cuOccupancyMaxActiveBlocksPerMultiprocessor, &w.integer, w.function, 32, 0),
    ASK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, &w.integer, w.function, 32, 0, 0),
    ASK(cuOccupancyMaxPotentialBlockSize, &w.integer, &w.other_integer, w.function, World::no_shared, 0, 0),
    ASK(cuOccupancyMaxPotentialBlockSizeWithFlags, &w.integer, &w.other_integer, w.function, World::no_shared, 0, 0, 0),
    ASK(cuOccupancyAvailableDynamicSMemPerBlock, &w.size, w.function, 1, 32),
    ASK(cuOccupancyMaxPotentialClusterSize, &w.integer, w.function, &w.config),
    ASK(cuOccupancyMaxActiveClusters, &w.integer, w.function, &w.config),
};

const Question kStreams[] = {
    ASK(cuLaunchKernel, w.function, 1, 1, 1, 1, 1, 1, 0, w.stream, w.arguments, nullptr),
    ASK_WITH("default", cuLaunchKernel, w.function, 1, 1, 1, 1, 1, 1, 0, nullptr, w.arguments, nullptr),
    ASK_WITH("per_thread", cuLaunchKernel, w.function, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_PER_THREAD, w.arguments, nullptr),
    ASK_WITH("kernel", cuLaunchKernel, reinterpret_cast<CUfunction>(w.kernel), 1, 1, 1, 1, 1, 1, 0, w.stream,
             w.arguments, nullptr),
    ASK(cuLaunchKernelEx, &w.config, w.function, w.arguments, nullptr),
    ASK(cuLaunchCooperativeKernel, w.function, 1, 1, 1, 1, 1, 1, 0, w.stream, w.arguments),
    ASK(cuLaunchHostFunc, w.stream, World::nothing, nullptr),
    ASK_WITH("default", cuLaunchHostFunc, nullptr, World::nothing, nullptr),
    ASK(cuStreamCreate, &w.stream, 0),
    ASK(cuStreamCreateWithPriority, &w.stream, 0, 0),
    ASK(cuStreamDestroy_v2, w.stream),
    ASK(cuStreamSynchronize, w.stream),
    ASK_WITH("default", cuStreamSynchronize, nullptr),
    ASK(cuStreamQuery, w.stream),
    ASK_WITH("default", cuStreamQuery, nullptr),
    ASK(cuStreamWaitEvent, w.stream, w.event, 0),
    ASK_WITH("default", cuStreamWaitEvent, nullptr, w.event, 0),
    ASK(cuStreamAddCallback, w.stream, World::nothing_of_stream, nullptr, 0),
    ASK(cuStreamGetPriority, w.stream, &w.integer),
    ASK_WITH("default", cuStreamGetPriority, nullptr, &w.integer),
    ASK(cuStreamGetFlags, w.stream, &w.number),
    ASK_WITH("default", cuStreamGetFlags, nullptr, &w.number),
    ASK(cuStreamGetId, w.stream, &w.id),
    ASK(cuStreamGetCtx, w.stream, &w.context_out),
    ASK_WITH("default", cuStreamGetCtx, nullptr, &w.context_out),
    ASK(cuStreamGetDevice, w.stream, &w.integer),
    ASK(cuStreamAttachMemAsync, w.stream, w.managed, 0, CU_MEM_ATTACH_SINGLE),
    ASK(cuStreamCopyAttributes, w.second_stream, w.stream),
    ASK(cuStreamGetAttribute, w.stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &w.attribute),
    ASK(cuStreamSetAttribute, w.stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &w.attribute),
    ASK(cuStreamWaitValue32_v2, w.stream, w.memory, 0, CU_STREAM_WAIT_VALUE_GEQ),
    ASK(cuStreamWaitValue64_v2, w.stream, w.memory, 0, CU_STREAM_WAIT_VALUE_GEQ),
    ASK(cuStreamWriteValue32_v2, w.stream, w.memory, 1, 0),
    ASK(cuStreamWriteValue64_v2, w.stream, w.memory, 1, 0),
    ASK(cuStreamBatchMemOp_v2, w.stream, 1, &w.operation, 0),
    ASK(cuEventCreate, &w.event, 0),
    ASK(cuEventDestroy_v2, w.event),
    ASK(cuEventRecord, w.event, w.stream),
    ASK_WITH("default", cuEventRecord, w.event, nullptr),
    ASK(cuEventRecordWithFlags, w.event, w.stream, 0),
    ASK(cuEventQuery, w.event),
    ASK(cuEventSynchronize, w.event),
    ASK(cuEventElapsedTime, &w.real, w.event, w.second_event),
    ASK(cuEventElapsedTime_v2, &w.real, w.event, w.second_event),
    ASK(cuThreadExchangeStreamCaptureMode, &w.capture_mode),
    ASK(cuStreamBeginCapture, w.stream),
    ASK(cuStreamBeginCapture_v2, w.stream, CU_STREAM_CAPTURE_MODE_RELAXED),
    ASK(cuStreamBeginCaptureToGraph, w.stream, w.graph, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED),
    ASK(cuStreamEndCapture, w.stream, &w.graph),
    ASK(cuStreamIsCapturing, w.stream, &w.capture_status),
    ASK_WITH("default", cuStreamIsCapturing, nullptr, &w.capture_status),
    ASK(cuStreamGetCaptureInfo, w.stream, &w.capture_status, reinterpret_cast<cuuint64_t*>(&w.id)),
    ASK(cuStreamGetCaptureInfo_v2, w.stream, &w.capture_status, nullptr, nullptr, nullptr, nullptr),
    ASK(cuStreamGetCaptureInfo_v3, w.stream, &w.capture_status, nullptr, nullptr, nullptr, nullptr, nullptr),
    ASK(cuStreamUpdateCaptureDependencies, w.stream, nullptr, 0, 0),
    ASK(cuStreamUpdateCaptureDependencies_v2, w.stream, nullptr, nullptr, 0, 0),
};

template <std::size_t N> void add(std::vector<Question>& list, const Question (&more)[N]) {
  list.insert(list.end(), more, more + N);
}

} // namespace

std::vector<Question> questions() {
  std::vector<Question> list;
  add(list, kDevices);
  for (Question& q : list) q.of_contexts = false;
  add(list, kContexts);
  add(list, kCode);
  add(list, kStreams);
  add_memory_questions(list);
  add_graph_questions(list);
  return list;
}

} // namespace contexts
