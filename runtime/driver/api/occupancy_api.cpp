// SPDX-License-Identifier: Apache-2.0
// Occupancy: how many blocks of a kernel fit on a multiprocessor, and which block size gives the highest occupancy.
#include "runtime/driver/machine/module.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <algorithm>

using namespace warplens::runtime;

namespace {

constexpr int kWarp = 32;

CUresult active_blocks(int* blocks, CUfunction function, int threads, size_t shared, unsigned flags, const char* name) {
  return serve(
      [&](Context&) {
        require(blocks != nullptr && threads > 0 && (flags & ~unsigned{CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE}) == 0);
        *blocks = find_function(Machine::instance(), function)->resident_blocks(threads, shared);
      },
      name);
}

/// The largest block size, a multiple of the warp size, that gives the most resident threads.
CUresult potential_block_size(int* grid, int* block, CUfunction handle, CUoccupancyB2DSize shared_of, size_t shared,
                              int limit, const char* name) {
  return serve(
      [&](Context&) {
        require(grid != nullptr && block != nullptr && limit >= 0);
        const std::shared_ptr<Function> function = find_function(Machine::instance(), handle);
        const int most = limit == 0 ? function->most_threads() : std::min(limit, function->most_threads());
        int best_threads = 0, best_block = 0, best_blocks = 0;
        for (int size = (most + kWarp - 1) / kWarp * kWarp; size > 0; size -= kWarp) {
          const int threads = std::min(size, most);
          const size_t bytes = shared_of != nullptr ? shared_of(threads) : shared;
          const int blocks = function->resident_blocks(threads, bytes);
          if (blocks * threads <= best_threads) continue;
          best_threads = blocks * threads, best_block = threads, best_blocks = blocks;
        }
        *block = best_block;
        *grid = best_blocks * Machine::instance().device().multiprocessors;
      },
      name);
}

std::uint64_t cluster_blocks(const CUlaunchConfig& config, const Function& function) {
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (const CUlaunchAttribute& a = config.attrs[i]; a.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      return std::uint64_t{a.value.clusterDim.x} * a.value.clusterDim.y * a.value.clusterDim.z;
  const auto& required = function.kernel().function->bounds.required_cluster;
  return std::uint64_t{std::max(required[0], 1u)} * std::max(required[1], 1u) * std::max(required[2], 1u);
}

int resident_of(const CUlaunchConfig& config, const Function& function) {
  return function.resident_blocks(std::int64_t{config.blockDimX} * config.blockDimY * config.blockDimZ,
                                  config.sharedMemBytes);
}

} // namespace

extern "C" {

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads, size_t shared) {
  return active_blocks(blocks, function, threads, shared, 0, __func__);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int threads,
                                                              size_t shared, unsigned int flags) {
  return active_blocks(blocks, function, threads, shared, flags, __func__);
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function, CUoccupancyB2DSize shared_of,
                                          size_t shared, int limit) {
  return potential_block_size(grid, block, function, shared_of, shared, limit, __func__);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, size_t shared, int limit,
                                                   unsigned int flags) {
  if ((flags & ~unsigned{CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE}) != 0) return CUDA_ERROR_INVALID_VALUE;
  return potential_block_size(grid, block, function, shared_of, shared, limit, __func__);
}

// The largest dynamic shared memory size with which the given number of blocks fits.
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction handle, int blocks, int threads) {
  return serve([&](Context&) {
    require(bytes != nullptr && blocks > 0 && threads > 0);
    const std::shared_ptr<Function> function = find_function(Machine::instance(), handle);
    require(function->resident_blocks(threads, 0) >= blocks);
    std::uint64_t fits = 0;
    auto above = static_cast<std::uint64_t>(Machine::instance().device().limits.shared_bytes_per_block) + 1;
    while (above - fits > 1) {
      const std::uint64_t middle = fits + (above - fits) / 2;
      (function->resident_blocks(threads, middle) >= blocks ? fits : above) = middle;
    }
    *bytes = fits;
  });
}

// Every device with clusters supports 8 blocks; 16 if the function allows non-portable sizes.
CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction handle, const CUlaunchConfig* config) {
  if (size == nullptr || config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return serve_for(config->hStream, [&] {
    const std::shared_ptr<Function> function = find_function(Machine::instance(), handle);
    const bool clusters = Machine::instance().device().capability.major >= 9;
    const bool larger = function->attribute(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) != 0;
    *size = resident_of(*config, *function) == 0 ? 0 : !clusters ? 1 : larger ? 16 : 8;
  });
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction handle, const CUlaunchConfig* config) {
  if (clusters == nullptr || config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return serve_for(config->hStream, [&] {
    const std::shared_ptr<Function> function = find_function(Machine::instance(), handle);
    const std::uint64_t blocks = cluster_blocks(*config, *function);
    require(blocks >= 1 && blocks <= 16, CUDA_ERROR_INVALID_CLUSTER_SIZE);
    const auto resident = static_cast<std::uint64_t>(resident_of(*config, *function)) *
                          static_cast<std::uint64_t>(Machine::instance().device().multiprocessors);
    *clusters = static_cast<int>(resident / blocks);
  });
}

} // extern "C"
