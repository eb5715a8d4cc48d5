// Threads take tasks from the queue of their block, and from those of other blocks once it is empty. A task is a range
// of numbers; a long one is split, and its upper half put into the queue. Counts the primes below n, and how often each
// number was looked at. Queues are guarded by spin locks; a thread ends when no number is left anywhere.
constexpr unsigned kQueueSize = 1024, kLeaf = 8;

struct Queue {
  unsigned lock, size;
  uint2 tasks[kQueueSize];
};

__device__ void acquire(unsigned* lock) {
  while (atomicCAS(lock, 0u, 1u) != 0u) __nanosleep(20);
  __threadfence();
}
__device__ void release(unsigned* lock) {
  __threadfence();
  atomicExch(lock, 0u);
}

__device__ bool take(Queue* queue, uint2* task) {
  acquire(&queue->lock);
  const unsigned size = *static_cast<volatile unsigned*>(&queue->size);
  if (size != 0) {
    const volatile uint2* last = &queue->tasks[size - 1];
    *task = make_uint2(last->x, last->y);
    *static_cast<volatile unsigned*>(&queue->size) = size - 1;
  }
  release(&queue->lock);
  return size != 0;
}

// False where the queue is full: then the task is done at once.
__device__ bool put(Queue* queue, uint2 task) {
  acquire(&queue->lock);
  const unsigned size = *static_cast<volatile unsigned*>(&queue->size);
  if (size != kQueueSize) {
    volatile uint2* last = &queue->tasks[size];
    last->x = task.x;
    last->y = task.y;
    *static_cast<volatile unsigned*>(&queue->size) = size + 1;
  }
  release(&queue->lock);
  return size != kQueueSize;
}

__device__ bool is_prime(unsigned x) {
  if (x < 2) return false;
  for (unsigned d = 2; d * d <= x; ++d)
    if (x % d == 0) return false;
  return true;
}

// The queue of block 0 holds the task [0, n) at first; `left` is n.
extern "C" __global__ void work_stealing(Queue* queues, unsigned* left, unsigned* primes, unsigned* looked_at,
                                         unsigned* stolen) {
  unsigned victim = blockIdx.x;
  while (*static_cast<volatile unsigned*>(left) != 0) {
    uint2 task;
    if (!take(&queues[victim], &task)) {
      victim = (victim + 1) % gridDim.x;
      __nanosleep(100);
      continue;
    }
    if (victim != blockIdx.x) atomicAdd(stolen, 1u);
    victim = blockIdx.x;
    while (task.y - task.x > kLeaf) {
      const unsigned middle = task.x + (task.y - task.x) / 2;
      if (!put(&queues[blockIdx.x], make_uint2(middle, task.y))) break;
      task.y = middle;
    }
    unsigned found = 0;
    for (unsigned x = task.x; x < task.y; ++x) {
      found += is_prime(x) ? 1 : 0;
      atomicAdd(&looked_at[x], 1u);
    }
    atomicAdd(primes, found);
    atomicSub(left, task.y - task.x);
  }
}
