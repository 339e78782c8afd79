/*
   A piece of a line along x in the registers of neighbouring lanes, W columns each
*/
#ifndef STRATA_LINES_CUDA_H
#define STRATA_LINES_CUDA_H

#include "cycle_cuda.h"

/* Do the legs along x alone matter? */
template <class T> static inline bool lines_alone(const typename Typed<T>::System &s)
{
  bool others = s.form == STRATA_SYSTEM_VARIABLE && s.dim > 1;

  for (int l = 2; l < 2 * s.dim; l++) others = others || s.leg[l] != 0;
  return !others;
}

template <class T, int FORM, int W> struct Line {
  static constexpr bool LEGS = FORM == STRATA_SYSTEM_VARIABLE;

  T                       u[W], b[W], west[LEGS ? W : 1], east[LEGS ? W : 1];
  T                       frame[2];    /* what is next to the piece at either end, if it ends in this lane */
  bool                    first, last; /* does it at the lane's end? */
  int                     inside;      /* columns of the lane that are in the piece; masked: frame[1] is in the others */
  int                     own[2];      /* those own[0] <= i < own[1] are written */
  typename Typed<T>::Bits most;

  template <bool WEIGHTS, bool MASKED, bool CHANGE> __device__ __forceinline__ void sweep(const typename Typed<T>::System &s, T weight)
  {
    T left = __shfl_up_sync(~0u, u[W - 1], 1), right = __shfl_down_sync(~0u, u[0], 1);

    if (first) left = frame[0];
    if (last) right = frame[1];
#pragma unroll
    for (int i = 0; i < W; i++) {
      const T v[2] = {left, i < W - 1 ? u[i < W - 1 ? i + 1 : i] : right};
      const T leg[2] = {LEGS ? west[LEGS ? i : 0] : s.leg[STRATA_WEST], LEGS ? east[LEGS ? i : 0] : s.leg[STRATA_EAST]};
      T       r = jacobi_value<1, FORM>(leg, b[i], v);

      if (WEIGHTS) r = strata_jacobi_damped(weight, u[i], r);
      if (MASKED && i >= inside) r = frame[1];
      if (CHANGE && i >= own[0] && i < own[1]) most = max(most, change_bits(r, u[i]));
      left = u[i];
      u[i] = r;
    }
  }
};

#endif
