// The U-list phase of the fast multipole method, the kernel suite of A. Dasgupta (CUDA Performance Analyzer, Georgia
// Tech 2011, chapter 4): the potential at each target point is the sum of density / distance over all source points in
// the neighbouring boxes of an octree. One block processes one target box, a thread one point (ujam: two).
//
// The variants combine the same optimisations under the same names:
//   vecpack  a source is one float4 instead of an element in each of four arrays
//   shmem    the threads of a block load a tile of sources into shared memory together
//   trans    the tile is one array of float4 instead of four arrays
//   pref     the next source (shmem: the next tile) is loaded before the current one is used
//   ujam     each thread processes two targets while there are enough, so that a source is loaded once for both
//   rsqrt    density * rsqrt(r²) instead of density / sqrt(r²)
//   tight    float4 and float3 for the components; vecpack and pref always use them
//
// The points are also generated on the device: build_boxes, then fill_points.

enum Optimisation { kVecpack = 1, kShmem = 2, kTrans = 4, kPref = 8, kUjam = 16, kRsqrt = 32, kTight = 64 };

constexpr int kTargets = 2;  // targets per thread with ujam

// All points: four arrays, and for sources also one packed array. Boxes: index of the first point, number of points.
// The neighbours of box b are ulist[uptr[b]] to ulist[uptr[b + 1] - 1].
#define ARRAYS                                                                                                  \
  const float *tx, const float *ty, const float *tz, float *td, const float *sx, const float *sy, const float *sz, \
      const float *sd, const float4 *s, const int *tbptr, const int *tbn, const int *sbptr, const int *sbn,        \
      const int *uptr, const int *ulist
#define ALL_ARRAYS tx, ty, tz, td, sx, sy, sz, sd, s, tbptr, tbn, sbptr, sbn, uptr, ulist

// ---- The data -------------------------------------------------------------------------------------------------------

// A hash of two numbers in which all bits are well mixed (the finaliser of MurmurHash3).
static __device__ unsigned hash(unsigned a, unsigned b) {
  unsigned h = a * 0x9e3779b1u ^ (b + 0x7f4a7c15u) * 0x85ebca6bu;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}

// An octree whose leaves are 2^depth boxes along each side. All nodes are boxes, the root first; only leaves have
// points, from `fewest` to `most` of them. The U-list of a leaf: itself and the leaves that touch it. One thread.
extern "C" __global__ void build_boxes(int depth, int fewest, int most, int seed, int *tbptr, int *tbn, int *sbptr,
                                       int *sbn, int *uptr, int *ulist) {
  int inner = 0;
  for (int level = 0; level < depth; ++level) inner += 1 << 3 * level;
  const int side = 1 << depth, boxes = inner + side * side * side;
  int targets = 0, sources = 0, neighbours = 0;
  for (int box = 0; box < boxes; ++box) {
    const bool leaf = box >= inner;
    tbptr[box] = targets;
    sbptr[box] = sources;
    tbn[box] = leaf ? fewest + hash(seed, 2 * box) % (most - fewest + 1) : 0;
    sbn[box] = leaf ? fewest + hash(seed, 2 * box + 1) % (most - fewest + 1) : 0;
    targets += tbn[box];
    sources += sbn[box];
    uptr[box] = neighbours;
    if (!leaf) continue;
    const int at = box - inner, x = at % side, y = at / side % side, z = at / side / side;
    for (int k = max(z - 1, 0); k <= min(z + 1, side - 1); ++k)
      for (int j = max(y - 1, 0); j <= min(y + 1, side - 1); ++j)
        for (int i = max(x - 1, 0); i <= min(x + 1, side - 1); ++i)
          ulist[neighbours++] = inner + (k * side + j) * side + i;
  }
  uptr[boxes] = neighbours;
}

// A coordinate from 0 to 1: `from` is the left edge of a box of that size.
static __device__ float coordinate(unsigned h, int from, float size) {
  return (from + (h >> 8) * (1.0f / (1 << 24))) * size;
}

// The points of box blockIdx.x: targets with a potential of 0, sources with a density from 0 to 1.
extern "C" __global__ void fill_points(int depth, int seed, float *tx, float *ty, float *tz, float *td, float *sx,
                                       float *sy, float *sz, float *sd, float4 *s, const int *tbptr, const int *tbn,
                                       const int *sbptr, const int *sbn) {
  int inner = 0;
  for (int level = 0; level < depth; ++level) inner += 1 << 3 * level;
  const int side = 1 << depth, box = blockIdx.x, at = box - inner;
  const int x = at % side, y = at / side % side, z = at / side / side;
  const float size = 1.0f / side;
  for (int i = threadIdx.x; i < tbn[box]; i += blockDim.x) {
    const int t = tbptr[box] + i;
    tx[t] = coordinate(hash(seed + 1, t), x, size);
    ty[t] = coordinate(hash(seed + 2, t), y, size);
    tz[t] = coordinate(hash(seed + 3, t), z, size);
    td[t] = 0;
  }
  for (int i = threadIdx.x; i < sbn[box]; i += blockDim.x) {
    const int p = sbptr[box] + i;
    const float4 v = make_float4(coordinate(hash(seed + 4, p), x, size), coordinate(hash(seed + 5, p), y, size),
                                 coordinate(hash(seed + 6, p), z, size), coordinate(hash(seed + 7, p), 0, 1));
    sx[p] = v.x;
    sy[p] = v.y;
    sz[p] = v.z;
    sd[p] = v.w;
    s[p] = v;
  }
}

// ---- The kernels ----------------------------------------------------------------------------------------------------

template <int options>
static __device__ __forceinline__ float4 source(ARRAYS, int i) {
  if (options & kVecpack) return s[i];
  return make_float4(sx[i], sy[i], sz[i], sd[i]);
}

// Adds a source's contribution to the potentials of a thread's targets.
template <int options, int targets>
static __device__ __forceinline__ void interact(const float (&x)[targets], const float (&y)[targets],
                                                const float (&z)[targets], float (&sum)[targets], float4 from) {
#pragma unroll
  for (int t = 0; t < targets; ++t) {
    float r2;
    if (options & (kTight | kVecpack | kPref)) {
      const float3 d = make_float3(x[t] - from.x, y[t] - from.y, z[t] - from.z);
      r2 = d.x * d.x + d.y * d.y + d.z * d.z;
    } else {
      const float dx = x[t] - from.x;
      const float dy = y[t] - from.y;
      const float dz = z[t] - from.z;
      r2 = dx * dx + dy * dy + dz * dz;
    }
    if (options & kRsqrt)
      sum[t] += from.w * rsqrtf(r2);
    else
      sum[t] += from.w / sqrtf(r2);
  }
}

// A tile of as many sources as the block has threads.
template <int options>
static __device__ __forceinline__ void store_tile(float *tile, int lane, int width, float4 v) {
  if (options & kTrans) {
    reinterpret_cast<float4 *>(tile)[lane] = v;
    return;
  }
  tile[lane] = v.x;
  tile[lane + width] = v.y;
  tile[lane + 2 * width] = v.z;
  tile[lane + 3 * width] = v.w;
}

template <int options>
static __device__ __forceinline__ float4 from_tile(const float *tile, int i, int width) {
  if (options & kTrans) return reinterpret_cast<const float4 *>(tile)[i];
  return make_float4(tile[i], tile[i + width], tile[i + 2 * width], tile[i + 3 * width]);
}

// Sources begin to end - 1; each thread loads them itself.
template <int options, int targets>
static __device__ __forceinline__ void one_by_one(ARRAYS, int begin, int end, const float (&x)[targets],
                                                  const float (&y)[targets], const float (&z)[targets],
                                                  float (&sum)[targets]) {
  if (options & kPref) {
    // The load after the last one reads the array's padding of one point.
    float4 next;
    if (begin < end) next = source<options>(ALL_ARRAYS, begin);
#pragma unroll 1
    for (int i = begin; i < end;) {
      const float4 now = next;
      ++i;
      next = source<options>(ALL_ARRAYS, i);
      interact<options>(x, y, z, sum, now);
    }
  } else {
#pragma unroll 1
    for (int i = begin; i < end; ++i) interact<options>(x, y, z, sum, source<options>(ALL_ARRAYS, i));
  }
}

// Processes full tiles of the sources from `begin`; returns where the rest begins.
template <int options, int targets>
static __device__ __forceinline__ int by_tiles(ARRAYS, int begin, int end, const float (&x)[targets],
                                               const float (&y)[targets], const float (&z)[targets],
                                               float (&sum)[targets]) {
  extern __shared__ __align__(16) float tile[];
  const int width = blockDim.x, lane = threadIdx.x;
  float4 next;
  if ((options & kPref) && begin + width <= end) next = source<options>(ALL_ARRAYS, begin + lane);
  int at = begin;
#pragma unroll 1
  for (; at + width <= end; at += width) {
    __syncthreads();
    store_tile<options>(tile, lane, width, (options & kPref) ? next : source<options>(ALL_ARRAYS, at + lane));
    __syncthreads();
    if ((options & kPref) && at + 2 * width <= end) next = source<options>(ALL_ARRAYS, at + width + lane);
#pragma unroll 1
    for (int i = 0; i < width; ++i) interact<options>(x, y, z, sum, from_tile<options>(tile, i, width));
  }
  return at;
}

// The targets first, first + blockDim.x, … of this thread; targets from `end` on do not exist.
template <int options, int targets>
static __device__ __forceinline__ void sum_over_neighbours(ARRAYS, int box, int first, int end) {
  float x[targets], y[targets], z[targets], sum[targets];
#pragma unroll
  for (int t = 0; t < targets; ++t) {
    const int id = first + t * blockDim.x;
    const bool there = !(options & kShmem) || id < end;  // with shmem, threads without a target still load sources
    x[t] = there ? tx[id] : 0;
    y[t] = there ? ty[id] : 0;
    z[t] = there ? tz[id] : 0;
    sum[t] = 0;
  }
#pragma unroll 1
  for (int k = uptr[box]; k < uptr[box + 1]; ++k) {
    const int neighbour = ulist[k];
    int begin = sbptr[neighbour];
    const int past = begin + sbn[neighbour];
    if (options & kShmem) begin = by_tiles<options>(ALL_ARRAYS, begin, past, x, y, z, sum);
    one_by_one<options>(ALL_ARRAYS, begin, past, x, y, z, sum);
  }
#pragma unroll
  for (int t = 0; t < targets; ++t) {
    const int id = first + t * blockDim.x;
    if (!(options & kShmem) || id < end) td[id] = 0.079577472f * sum[t];  // 1 / 4π
  }
}

template <int options>
static __device__ __forceinline__ void potentials(ARRAYS) {
  const int box = blockIdx.x, width = blockDim.x, lane = threadIdx.x;
  int begin = tbptr[box];
  const int end = begin + tbn[box];
  if (options & kUjam)
#pragma unroll 1
    for (; begin + kTargets * width <= end; begin += kTargets * width)
      sum_over_neighbours<options, kTargets>(ALL_ARRAYS, box, begin + lane, end);
  if (options & kShmem) {
#pragma unroll 1
    for (; begin < end; begin += width) sum_over_neighbours<options, 1>(ALL_ARRAYS, box, begin + lane, end);
  } else {
#pragma unroll 1
    for (int target = begin + lane; target < end; target += width)
      sum_over_neighbours<options, 1>(ALL_ARRAYS, box, target, end);
  }
}

#define KERNEL(name, options) \
  extern "C" __global__ void name(ARRAYS) { potentials<options>(ALL_ARRAYS); }
// Each of the other variants with and without rsqrt and ujam.
#define WITH_RSQRT(name, options) KERNEL(name, options) KERNEL(name##_rsqrt, (options) | kRsqrt)
#define WITH_UJAM(name, options) WITH_RSQRT(name, options) WITH_RSQRT(name##_ujam, (options) | kUjam)
#define WITH_PREF(name, options) WITH_UJAM(name, options) WITH_UJAM(name##_pref, (options) | kPref)

WITH_PREF(cuda, 0)
WITH_PREF(cuda_shmem, kShmem)
WITH_PREF(cuda_shmem_trans, kShmem | kTrans)
WITH_PREF(cuda_vecpack, kVecpack)
WITH_PREF(cuda_vecpack_shmem, kVecpack | kShmem)
WITH_PREF(cuda_vecpack_shmem_trans, kVecpack | kShmem | kTrans)
// The other variants always have vectors of components.
KERNEL(cuda_tight, kTight)
KERNEL(cuda_shmem_tight, kShmem | kTight)
KERNEL(cuda_shmem_trans_tight, kShmem | kTrans | kTight)
KERNEL(cuda_ujam_tight, kUjam | kTight)
