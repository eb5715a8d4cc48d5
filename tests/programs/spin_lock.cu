// Every thread of the grid takes one lock, in a loop that its siblings cannot leave while it holds it, and adds to a
// sum that nothing else protects. Legal since Volta only: threads of a warp are scheduled independently.
extern "C" __global__ void spin_lock(unsigned* lock, unsigned long long* sum, unsigned* order) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  while (atomicCAS(lock, 0u, 1u) != 0u) {
  }
  __threadfence();
  volatile unsigned long long* total = sum;
  order[static_cast<unsigned>(total[1])] = thread;
  total[0] = total[0] + thread;
  total[1] = total[1] + 1;
  __threadfence();
  atomicExch(lock, 0u);
}
