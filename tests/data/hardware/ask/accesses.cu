// Makes each access of patterns.txt (accesses.py) in a launch of its own, to be counted by a profiler:
//   nvcc -arch=sm_90 -o accesses accesses.cu
//   ncu --csv --metrics <wavefronts, bank conflicts, requests, sectors> ./accesses patterns.txt 1
// The answers of an H200 are tests/data/vectors/h200_accesses.txt, a line per pattern in the same order.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cstdint>
struct P { unsigned off[32]; unsigned mask; };
template<int K,int B> __global__ void k(P p, char* g, unsigned* out, int R) {
  extern __shared__ __align__(128) char s[];
  unsigned lane = threadIdx.x;
  unsigned acc = 0;
  unsigned o = p.off[lane];
  bool on = p.mask >> lane & 1;
  unsigned sa = (unsigned)__cvta_generic_to_shared(s) + o;
  char* ga = g + o;
  long long t0 = clock64();
  if (on) {
    for (int r = 0; r < R; r++) {
      unsigned a=0,b=0,c=0,d=0;
      if constexpr (K==0) {
        if constexpr (B==1) asm volatile("ld.shared.u8 %0,[%1];":"=r"(a):"r"(sa):"memory");
        if constexpr (B==2) { unsigned short h; asm volatile("ld.shared.u16 %0,[%1];":"=h"(h):"r"(sa):"memory"); a=h; }
        if constexpr (B==4) asm volatile("ld.shared.u32 %0,[%1];":"=r"(a):"r"(sa):"memory");
        if constexpr (B==8) asm volatile("ld.shared.v2.u32 {%0,%1},[%2];":"=r"(a),"=r"(b):"r"(sa):"memory");
        if constexpr (B==16) asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3},[%4];":"=r"(a),"=r"(b),"=r"(c),"=r"(d):"r"(sa):"memory");
      } else if constexpr (K==1) {
        if constexpr (B==1) asm volatile("st.shared.u8 [%0],%1;"::"r"(sa),"r"(lane):"memory");
        if constexpr (B==2) asm volatile("st.shared.u16 [%0],%1;"::"r"(sa),"h"((unsigned short)lane):"memory");
        if constexpr (B==4) asm volatile("st.shared.u32 [%0],%1;"::"r"(sa),"r"(lane):"memory");
        if constexpr (B==8) asm volatile("st.shared.v2.u32 [%0],{%1,%1};"::"r"(sa),"r"(lane):"memory");
        if constexpr (B==16) asm volatile("st.shared.v4.u32 [%0],{%1,%1,%1,%1};"::"r"(sa),"r"(lane):"memory");
      } else if constexpr (K==2) {
        if constexpr (B==1) asm volatile("ld.global.u8 %0,[%1];":"=r"(a):"l"(ga):"memory");
        if constexpr (B==2) { unsigned short h; asm volatile("ld.global.u16 %0,[%1];":"=h"(h):"l"(ga):"memory"); a=h; }
        if constexpr (B==4) asm volatile("ld.global.u32 %0,[%1];":"=r"(a):"l"(ga):"memory");
        if constexpr (B==8) asm volatile("ld.global.v2.u32 {%0,%1},[%2];":"=r"(a),"=r"(b):"l"(ga):"memory");
        if constexpr (B==16) asm volatile("ld.global.v4.u32 {%0,%1,%2,%3},[%4];":"=r"(a),"=r"(b),"=r"(c),"=r"(d):"l"(ga):"memory");
      } else if constexpr (K==3) {
        if constexpr (B==1) asm volatile("st.global.u8 [%0],%1;"::"l"(ga),"r"(lane):"memory");
        if constexpr (B==2) asm volatile("st.global.u16 [%0],%1;"::"l"(ga),"h"((unsigned short)lane):"memory");
        if constexpr (B==4) asm volatile("st.global.u32 [%0],%1;"::"l"(ga),"r"(lane):"memory");
        if constexpr (B==8) asm volatile("st.global.v2.u32 [%0],{%1,%1};"::"l"(ga),"r"(lane):"memory");
        if constexpr (B==16) asm volatile("st.global.v4.u32 [%0],{%1,%1,%1,%1};"::"l"(ga),"r"(lane):"memory");
      } else if constexpr (K==4) {
        if constexpr (B==4) asm volatile("atom.global.add.u32 %0,[%1],%2;":"=r"(a):"l"(ga),"r"(lane):"memory");
        if constexpr (B==8) { unsigned long long q; asm volatile("atom.global.add.u64 %0,[%1],%2;":"=l"(q):"l"(ga),"l"((unsigned long long)lane):"memory"); a=(unsigned)q; }
      } else if constexpr (K==5) {
        if constexpr (B==4) asm volatile("red.global.add.u32 [%0],%1;"::"l"(ga),"r"(lane):"memory");
        if constexpr (B==8) asm volatile("red.global.add.u64 [%0],%1;"::"l"(ga),"l"((unsigned long long)lane):"memory");
      } else if constexpr (K==6) {
        if constexpr (B==4) asm volatile("atom.shared.add.u32 %0,[%1],%2;":"=r"(a):"r"(sa),"r"(lane):"memory");
        if constexpr (B==8) { unsigned long long q; asm volatile("atom.shared.exch.b64 %0,[%1],%2;":"=l"(q):"r"(sa),"l"((unsigned long long)lane):"memory"); a=(unsigned)q; }
      }
      acc ^= a^b^c^d;
    }
  }
  long long t1 = clock64();
  if (acc == 0x12345678) g[0] = 1;
  if (R > 1 && lane == 0) out[0] = (unsigned)(t1 - t0);
}
int main(int argc, char** argv) {
  int R = atoi(argv[2]);
  FILE* f = fopen(argv[1], "r");
  char* g; unsigned* out; cudaMalloc(&g, 1<<24); cudaMalloc(&out, 4);
  int kind, bytes; P p; int n=0;
  while (fscanf(f, "%d %d %u", &kind, &bytes, &p.mask) == 3) {
    for (auto& o : p.off) if (fscanf(f, "%u", &o) != 1) return 3;
#define L(K,B) if (kind==K && bytes==B) { k<K,B><<<1,32,32768>>>(p,g,out,R); if (R>1) k<K,B><<<1,32,32768>>>(p,g,out,R); }
#define L5(K) L(K,1) L(K,2) L(K,4) L(K,8) L(K,16)
    L5(0) L5(1) L5(2) L5(3) L(4,4) L(4,8) L(5,4) L(5,8) L(6,4) L(6,8)
    if (R>1) { unsigned t; cudaMemcpy(&t,out,4,cudaMemcpyDeviceToHost); printf("%d %u\n", n, t); }
    n++;
  }
  auto e = cudaDeviceSynchronize(); fprintf(stderr, "%d patterns %s\n", n, cudaGetErrorString(e));
}
