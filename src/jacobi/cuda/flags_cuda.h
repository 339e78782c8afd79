/*
   Blocks that wait for each other within a launch: flags that count, and numbers that go from block to block
*/
#ifndef STRATA_FLAGS_CUDA_H
#define STRATA_FLAGS_CUDA_H

constexpr int FLAG = 8; /* from one flag to the next */

/* A block that sees a flag raised reads what was written before. All such reads are strong ones, which the second-level cache serves: none needs what
   would make ordinary ones see it, the emptying of the first-level cache. */
static __device__ __forceinline__ void raise(unsigned *flag, unsigned to)
{
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(to) : "memory");
}

static __device__ __forceinline__ unsigned await(const unsigned *flag, unsigned to)
{
  unsigned now;

  do asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(flag) : "memory");
  while (now < to);
  return now;
}

/* A number to another block or from one */
static __device__ __forceinline__ void send(double *to, double a)
{
  asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(to), "d"(a) : "memory");
}

static __device__ __forceinline__ void send(float *to, float a)
{
  asm volatile("st.relaxed.gpu.global.f32 [%0], %1;" ::"l"(to), "f"(a) : "memory");
}

static __device__ __forceinline__ double fetch(const double *from)
{
  double a;

  asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(a) : "l"(from) : "memory");
  return a;
}

static __device__ __forceinline__ float fetch(const float *from)
{
  float a;

  asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(a) : "l"(from) : "memory");
  return a;
}

/* Two numbers, if wanted */
static __device__ __forceinline__ void send(double *to, unsigned wanted, double a, double b)
{
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p st.relaxed.gpu.global.v2.f64 [%2], {%0, %1}; }" ::"d"(a), "d"(b), "l"(to), "r"(wanted)
               : "memory");
}

static __device__ __forceinline__ void send(float *to, unsigned wanted, float a, float b)
{
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p st.relaxed.gpu.global.v2.f32 [%2], {%0, %1}; }" ::"f"(a), "f"(b), "l"(to), "r"(wanted)
               : "memory");
}

static __device__ __forceinline__ void fetch(const double *from, unsigned wanted, double &a, double &b)
{
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2]; }"
               : "+d"(a), "+d"(b)
               : "l"(from), "r"(wanted)
               : "memory");
}

static __device__ __forceinline__ void fetch(const float *from, unsigned wanted, float &a, float &b)
{
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p ld.relaxed.gpu.global.v2.f32 {%0, %1}, [%2]; }"
               : "+f"(a), "+f"(b)
               : "l"(from), "r"(wanted)
               : "memory");
}

#endif
