// A histogram whose bins are distributed over the shared memories of a cluster: more bins than fit into one block.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ unsigned bin_of(unsigned value, unsigned bins) { return (value * 2654435761u >> 16) % bins; }

// The grid has one or more clusters; each block holds bins / (blocks of the cluster) bins.
__global__ void histogram(const unsigned* values, int count, unsigned bins, unsigned* result) {
  extern __shared__ unsigned own[];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned share = bins / cluster.num_blocks();
  for (unsigned i = threadIdx.x; i < share; i += blockDim.x) own[i] = 0;
  cluster.sync(); // no thread adds to bins that are not cleared yet

  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const unsigned bin = bin_of(values[i], bins);
    unsigned* const theirs = cluster.map_shared_rank(own, bin / share);
    atomicAdd(theirs + bin % share, 1u);
  }
  cluster.sync(); // the shared memory of a block is invalid after the block exits

  for (unsigned i = threadIdx.x; i < share; i += blockDim.x) atomicAdd(result + cluster.block_rank() * share + i, own[i]);
}
