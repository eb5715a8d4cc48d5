// Virtual functions: the lanes of a warp have objects of different classes; a table of functions; a large switch.
struct Shape {
  int size;
  __device__ explicit Shape(int s) : size(s) {}
  __device__ virtual int area() const = 0;
  __device__ virtual int scaled(int by) const { return area() * by; }
};
struct Square : Shape {
  using Shape::Shape;
  __device__ int area() const override { return size * size; }
};
struct Strip : Shape {
  using Shape::Shape;
  __device__ int area() const override { return size * 3; }
  __device__ int scaled(int by) const override { return area() + by; }
};
struct Ring : Shape {
  using Shape::Shape;
  __device__ int area() const override {
    int sum = 0;
    for (int i = 1; i <= size % 9; ++i) sum += i * Strip(i).area();
    return sum;
  }
};

typedef int (*Step)(int);
static __device__ __noinline__ int increase(int x) { return x + 1; }
static __device__ __noinline__ int twice(int x) { return 2 * x; }
static __device__ __noinline__ int square(int x) { return x * x; }
static __device__ __noinline__ int negate(int x) { return -x; }
static __device__ Step steps[] = {increase, twice, square, negate};

static __device__ __noinline__ int interpret(const unsigned char* code, int length, int x) {
  for (int i = 0; i < length; ++i) {
    switch (code[i]) {
    case 0: x += 7; break;
    case 1: x *= 3; break;
    case 2: x ^= 0x55; break;
    case 3: x = steps[i % 4](x); break;
    case 4: x -= i; break;
    case 5: return x;
    case 6: x = x / 3 + i; break;
    case 7: x = __popc(x); break;
    default: x = 1; break;
    }
  }
  return -x;
}

extern "C" __global__ void shapes(int* out, const unsigned char* code, int length) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  Square square_(thread);
  Strip strip(thread);
  Ring ring(thread);
  const Shape* const all[] = {&square_, &strip, &ring};
  const Shape* const mine = all[thread * 5 % 3];
  int sum = mine->area() + mine->scaled(thread % 4);
  sum = steps[sum & 3](sum);
  out[thread] = sum + interpret(code + thread * length, length, thread);
}
