// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#include "runtime/cudart/call.hpp"

using namespace warplens::cudart;

CUDART cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call([&] { return cuStreamCreate(stream, flags); });
}
CUDART cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, 0); }
CUDART cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return call([&] { return cuStreamCreateWithPriority(stream, flags, priority); });
}
CUDART cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&] { return cuStreamDestroy_v2(stream); });
}
CUDART cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&] { return cuStreamSynchronize(stream); });
}
CUDART cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call([&] { return cuStreamQuery(stream); });
}
CUDART cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return call([&] { return cuStreamWaitEvent(stream, event, flags); });
}
CUDART cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                         unsigned flags) {
  // The driver passes a CUresult, which has the numbers of cudaError_t.
  return call([&] { return cuStreamAddCallback(stream, reinterpret_cast<CUstreamCallback>(callback), data, flags); });
}
CUDART cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return call([&] { return cuStreamGetPriority(stream, priority); });
}
CUDART cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return call([&] { return cuStreamGetFlags(stream, flags); });
}
CUDART cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return call([&] { return cuStreamGetId(stream, id); });
}
CUDART cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return call([&] { return cuStreamGetDevice(stream, device); });
}
CUDART cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return call([&] { return cuStreamCopyAttributes(to, from); });
}
CUDART cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                          cudaLaunchAttributeValue* value) {
  return call([&] { return cuStreamGetAttribute(stream, attribute, value); });
}
CUDART cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                          const cudaLaunchAttributeValue* value) {
  return call([&] { return cuStreamSetAttribute(stream, attribute, value); });
}

CUDART cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&] { return cuEventCreate(event, flags); });
}
CUDART cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
CUDART cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&] { return cuEventDestroy_v2(event); });
}
CUDART cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&] { return cuEventRecord(event, stream); });
}
CUDART cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return call([&] { return cuEventRecordWithFlags(event, stream, flags); });
}
CUDART cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&] { return cuEventQuery(event); });
}
CUDART cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&] { return cuEventSynchronize(event); });
}
CUDART cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call([&] { return cuEventElapsedTime_v2(milliseconds, start, end); });
}
