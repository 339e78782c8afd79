/*
   The legs of a lane's cells in a 2D tile, for all sweeps of a cycle: those to the north in registers, the others in shared memory, where a lane
   finds nothing but its own
*/
#ifndef STRATA_HELD_LEGS_CUDA_H
#define STRATA_HELD_LEGS_CUDA_H

#include "cycle_cuda.h"

/* OWN rows of W columns; where all cells have the same legs there is nothing to hold */
template <class T, int FORM, int OWN, int W> struct HeldLegs {
  static constexpr int BYTES = 0; /* of shared memory a warp */

  __device__ __forceinline__ void place(char *)
  {
  }
  __device__ __forceinline__ void load(const typename Typed<T>::System &, int, ptrdiff_t, int)
  {
  }
  __device__ __forceinline__ void take(const typename Typed<T>::System &s, int, T (&leg)[W][4]) const
  {
#pragma unroll
    for (int i = 0; i < W; i++)
#pragma unroll
      for (int l = 0; l < 4; l++) leg[i][l] = s.leg[l];
  }
};

template <class T, int OWN, int W> struct HeldLegs<T, STRATA_SYSTEM_VARIABLE, OWN, W> {
  static constexpr int STORED = 3, BYTES = STORED * OWN * W * WARP * (int)sizeof(T);

  Pack<T, 2> *at; /* of the lane */
  T           north[OWN][W];

  /* memory: of the block, for all its warps */
  __device__ __forceinline__ void place(char *memory)
  {
    at = (Pack<T, 2> *)(memory + threadIdx.x / WARP * BYTES) + threadIdx.x % WARP;
  }
  /* Those of row o, from cell id of the array on; so many cells there are, beyond them legs are zero */
  __device__ __forceinline__ void load(const typename Typed<T>::System &s, int o, ptrdiff_t id, int cells)
  {
#pragma unroll
    for (int q = 0; q < W / 2; q++)
#pragma unroll
      for (int l = 0; l < 4; l++) {
        Pack<T, 2> p;

#pragma unroll
        for (int m = 0; m < 2; m++) p.v[m] = 2 * q + m < cells ? s.legs[l][id + 2 * q + m] : 0;
        if (l == STRATA_NORTH) {
          north[o][2 * q] = p.v[0];
          north[o][2 * q + 1] = p.v[1];
        } else
          at[((l * OWN + o) * (W / 2) + q) * WARP] = p;
      }
  }
  __device__ __forceinline__ void take(const typename Typed<T>::System &, int o, T (&leg)[W][4]) const
  {
#pragma unroll
    for (int q = 0; q < W / 2; q++)
#pragma unroll
      for (int l = 0; l < 4; l++) {
        if (l == STRATA_NORTH) {
          leg[2 * q][l] = north[o][2 * q];
          leg[2 * q + 1][l] = north[o][2 * q + 1];
        } else {
          const Pack<T, 2> p = at[((l * OWN + o) * (W / 2) + q) * WARP];

          leg[2 * q][l] = p.v[0];
          leg[2 * q + 1][l] = p.v[1];
        }
      }
  }
};

#endif
