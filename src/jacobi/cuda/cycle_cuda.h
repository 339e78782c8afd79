/*
   What the kernels of Jacobi cycles on the device share. Every kernel takes a pass: some sweeps from one array to another.
*/
#ifndef STRATA_CYCLE_CUDA_H
#define STRATA_CYCLE_CUDA_H

#include "../jacobi_cell.h"
#include <cuda_runtime.h>

template <class T> struct Typed;
template <> struct Typed<double> {
  typedef StrataSystem_d     System;
  typedef unsigned long long Bits;
};
template <> struct Typed<float> {
  typedef StrataSystem_f System;
  typedef unsigned       Bits;
};

/* y = x after k sweeps, in the cells of the box */
template <class T> struct Pass {
  int       sweeps;
  StrataBox box;
  const T  *weight; /* of the first sweep; NULL: all are 1 */
  const T  *b, *x;
  T        *y, *change; /* change: NULL, or zero before the pass */
};

/* Multiprocessors of the device, and the shared memory that a block may have */
struct Device {
  int processors, shared;
};

static inline cudaError_t device_limits(Device *d)
{
  int         device;
  cudaError_t err = cudaGetDevice(&device);

  if (err == cudaSuccess) err = cudaDeviceGetAttribute(&d->processors, cudaDevAttrMultiProcessorCount, device);
  if (err == cudaSuccess) err = cudaDeviceGetAttribute(&d->shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return err;
}

/* Do all rows of all arrays begin where 16 bytes can be taken at once? */
template <class T> static inline bool wide_rows(const typename Typed<T>::System &s, const Pass<T> &p)
{
  uintptr_t all = (uintptr_t)p.b | (uintptr_t)p.x | (uintptr_t)p.y | s.n[0] * sizeof(T);

  for (int l = 0; l < 2 * s.dim && s.form == STRATA_SYSTEM_VARIABLE; l++) all |= (uintptr_t)s.legs[l];
  return all % 16 == 0;
}

/* One sweep over a pass' box; any box of any system */
template <class T> cudaError_t classic_sweep(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream);

/* All sweeps of a pass by tiles in shared memory, which take so many bytes */
template <class T> size_t      shared_bytes(const typename Typed<T>::System &s, const StrataTiling &t, const StrataBox &box);
template <class T> cudaError_t shared_sweeps(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream);

#if defined(__CUDACC__)

constexpr int WARP = 32;

template <class T, int V> struct __align__(sizeof(T) * V) Pack
{
  T v[V];
};

static __device__ __forceinline__ double fused(double a, double b, double c)
{
  return fma(a, b, c);
}

static __device__ __forceinline__ float fused(float a, float b, float c)
{
  return fmaf(a, b, c);
}

/* The largest change, as bits: for numbers without a sign their order is that of the numbers, and NaN is the largest */
static __device__ __forceinline__ unsigned long long change_bits(double a, double b)
{
  return (unsigned long long)__double_as_longlong(a - b) & 0x7fffffffffffffffULL;
}

static __device__ __forceinline__ unsigned change_bits(float a, float b)
{
  return (unsigned)__float_as_int(a - b) & 0x7fffffffU;
}

/* Joins the changes of a warp to the result; all its lanes call this */
template <class T> static __device__ __forceinline__ void join_change(typename Typed<T>::Bits most, T *change)
{
  typename Typed<T>::Bits *to = reinterpret_cast<typename Typed<T>::Bits *>(change);

#pragma unroll
  for (int m = WARP / 2; m; m /= 2) most = max(most, __shfl_xor_sync(~0u, most, m));
  if ((threadIdx.x + blockDim.x * threadIdx.y) % WARP == 0 && most > *(volatile typename Typed<T>::Bits *)to) atomicMax(to, most);
}

/* The Jacobi value of a cell; leg: its coefficients, for equal legs only the first */
template <int DIM, int FORM, class T> static __device__ __forceinline__ T jacobi_value(const T leg[], T b, const T v[])
{
  return FORM == STRATA_SYSTEM_EQUAL ? strata_jacobi_equal(DIM, leg[0], b, v) : strata_jacobi_legs(DIM, leg, b, v);
}

#endif
#endif
