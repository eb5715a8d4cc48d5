// Stands for CUDA's device runtime, which is for the newest devices: it is known by the system calls that it makes.
extern "C" __device__ void* cnpGetParameterBuffer(size_t alignment, size_t size);
extern "C" __device__ void* parameter_buffer(size_t alignment, size_t size) {
  return cnpGetParameterBuffer(alignment, size);
}
