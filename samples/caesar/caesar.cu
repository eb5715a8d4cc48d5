// CME 213 (E. Darve, Stanford 2019), homework 3: shifts every character of a text by the same amount. Each thread
// processes one, two, four or eight characters.

extern "C" __global__ void shift_char(const unsigned char* in, unsigned char* out, int shift, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + shift;
}

// The same amount in every byte of a word. No byte carries into the next, because all characters stay below 128.
template <typename Word>
static __device__ void shift_words(const Word* in, Word* out, int shift, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / (int)sizeof(Word)) out[i] = in[i] + (Word)(0x0101010101010101ull * shift);
}

extern "C" __global__ void shift_2(const unsigned short* in, unsigned short* out, int shift, int n) {
  shift_words(in, out, shift, n);
}
extern "C" __global__ void shift_4(const unsigned* in, unsigned* out, int shift, int n) {
  shift_words(in, out, shift, n);
}
extern "C" __global__ void shift_8(const unsigned long long* in, unsigned long long* out, int shift, int n) {
  shift_words(in, out, shift, n);
}
