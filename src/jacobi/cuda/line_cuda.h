/*
   A line of cells in the registers of neighbouring lanes, W columns in each, which is swept as a whole
*/
#ifndef STRATA_LINE_CUDA_H
#define STRATA_LINE_CUDA_H

#include "cycle_cuda.h"

/* Columns of a lane at most: legs of their own need registers too */
template <int FORM> constexpr int LINE_COLUMNS = FORM == STRATA_SYSTEM_VARIABLE ? 16 : 32;

/* Do the legs along x alone matter? */
template <class T> static inline bool legs_along_x(const typename Typed<T>::System &s)
{
  bool others = s.form == STRATA_SYSTEM_VARIABLE && s.dim > 1;

  for (int l = 2; l < 2 * s.dim; l++) others = others || s.leg[l] != 0;
  return !others;
}

template <class T, int FORM, int W> struct Line {
  static constexpr bool LEGS = FORM == STRATA_SYSTEM_VARIABLE;

  T                       u[W], b[W], west[LEGS ? W : 1], east[LEGS ? W : 1];
  T                       low, high;     /* beside the line, for lanes that have no neighbour there */
  bool                    before, after; /* is there a neighbour in the next lanes? */
  int                     inside;        /* columns of the lane that are swept; others keep their values if there are masks */
  unsigned                writes;
  typename Typed<T>::Bits most;

  template <bool FULL, bool MASKED, bool CHANGE> __device__ __forceinline__ void sweep(const typename Typed<T>::System &s, T weight)
  {
    T       left = __shfl_up_sync(~0u, u[W - 1], 1);
    const T next = __shfl_down_sync(~0u, u[0], 1), right = after ? next : high;

    if (!before) left = low;
#pragma unroll
    for (int i = 0; i < W; i++) {
      const T v[2] = {left, i < W - 1 ? u[i < W - 1 ? i + 1 : i] : right};
      const T leg[2] = {LEGS ? west[LEGS ? i : 0] : s.leg[STRATA_WEST], LEGS ? east[LEGS ? i : 0] : s.leg[STRATA_EAST]};
      T       r = jacobi_value<1, FORM>(leg, b[i], v);

      if (FULL) r = strata_jacobi_damped(weight, u[i], r);
      if (MASKED && i >= inside) r = u[i];
      if (CHANGE && (writes >> i & 1)) most = max(most, change_bits(r, u[i]));
      left = u[i];
      u[i] = r;
    }
  }
};

#endif
