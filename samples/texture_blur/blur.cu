// A binomial blur (1 2 1 in both directions) of an image of 8-bit numbers. The texture unit does most of it: between four
// texels, linear filtering gives their average, and the average of four such points has the weights 1 2 1.
extern "C" __global__ void blur(cudaTextureObject_t image, float *out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float sum = tex2D<float>(image, x, y) + tex2D<float>(image, x + 1, y) + tex2D<float>(image, x, y + 1) +
                    tex2D<float>(image, x + 1, y + 1);
  out[y * width + x] = sum * 0.25f;
}
