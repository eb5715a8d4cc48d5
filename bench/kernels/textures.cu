// Typical uses of textures: an image rotation (linear filter, normalised coordinates that wrap), ray marching through a
// volume, and a bicubic filter of four linear fetches. Launch: grid (size/16, size/16), block (16, 16).
extern "C" __global__ void rotate(cudaTextureObject_t image, float* out, int size, float c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = x / (float)size - 0.5f, v = y / (float)size - 0.5f;
    float s = sqrtf(1 - c * c);
    out[y * size + x] = tex2D<float>(image, u * c - v * s + 0.5f, v * c + u * s + 0.5f);
}

extern "C" __global__ void march(cudaTextureObject_t volume, float* out, int size, float slope)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = x / (float)size, v = y / (float)size, light = 0, clear = 1;
    for (int i = 0; i < 64 && clear > 0.05f; ++i) {
        float t = i / 64.0f, density = tex3D<float>(volume, u + slope * t, v - slope * t, t) * 0.05f;
        light += clear * density;
        clear *= 1 - density;
    }
    out[y * size + x] = light;
}

__device__ float w0(float a) { return (a * (a * (-a + 3) - 3) + 1) / 6; }
__device__ float w1(float a) { return (a * a * (3 * a - 6) + 4) / 6; }
__device__ float w2(float a) { return (a * (a * (-3 * a + 3) + 3) + 1) / 6; }
__device__ float w3(float a) { return a * a * a / 6; }

extern "C" __global__ void bicubic(cudaTextureObject_t image, float* out, int size, float scale)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = x * scale, v = y * scale;
    float px = floorf(u), py = floorf(v), fx = u - px, fy = v - py;
    float gx = w0(fx) + w1(fx), gy = w0(fy) + w1(fy);
    float hx0 = px - 0.5f + w1(fx) / gx, hx1 = px + 1.5f + w3(fx) / (1 - gx);
    float hy0 = py - 0.5f + w1(fy) / gy, hy1 = py + 1.5f + w3(fy) / (1 - gy);
    out[y * size + x] = gy * (gx * tex2D<float>(image, hx0, hy0) + (1 - gx) * tex2D<float>(image, hx1, hy0)) +
                        (1 - gy) * (gx * tex2D<float>(image, hx0, hy1) + (1 - gx) * tex2D<float>(image, hx1, hy1));
}
