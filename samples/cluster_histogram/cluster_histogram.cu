// A histogram whose bins lie spread over the shared memories of a cluster: more bins than one block has room for.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ unsigned bin_of(unsigned value, unsigned bins) { return (value * 2654435761u >> 16) % bins; }

// The grid is one or more clusters; every block has bins / (blocks of the cluster) of the bins.
__global__ void histogram(const unsigned* values, int count, unsigned bins, unsigned* result) {
  extern __shared__ unsigned own[];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned share = bins / cluster.num_blocks();
  for (unsigned i = threadIdx.x; i < share; i += blockDim.x) own[i] = 0;
  cluster.sync(); // nobody adds to bins that are not cleared yet

  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const unsigned bin = bin_of(values[i], bins);
    unsigned* const theirs = cluster.map_shared_rank(own, bin / share);
    atomicAdd(theirs + bin % share, 1u);
  }
  cluster.sync(); // a block that has left takes its shared memory with it

  for (unsigned i = threadIdx.x; i < share; i += blockDim.x) atomicAdd(result + cluster.block_rank() * share + i, own[i]);
}
