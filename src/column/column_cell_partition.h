/*
   The arithmetic of the partition method, shared by host and device like that of column_cell.h.

   The factorization of a line runs through numbers N and D with N_k / D_k = E_{k-1} / den_{k-1}, which it multiplies up instead of dividing
     E_k D_k = excess_k D_k - lower_k N_k = N_{k+1},   den_k D_k = N_{k+1} - upper_k D_k = D_{k+1},
   so that the reciprocals 1 / den_k = D_k (1 / D_{k+1}) do not wait for one another. Both are multiplied by a power of two after each row, which
   changes no bit of them and keeps D in [1, 2). With N / D known at its first row, a segment can be factored alone.

   With f_k = -lower_k / den_k and c_k = upper_k / den_k the solution is  carry_k = f_k carry_{k-1} + r_k / den_k,  z_k = carry_k - c_k z_{k+1}:
   two chains of linear functions, which can be composed in any grouping. Lines with shared rows are divided by their area.
*/
#ifndef STRATA_COLUMN_CELL_PARTITION_H
#define STRATA_COLUMN_CELL_PARTITION_H

#include "column_cell.h"
#include <string.h>

/* The power of two that brings x into [1, 2), for any x but the very largest and the denormal ones */
STRATA_CELL double strata_unit_d(double x)
{
  uint64_t bits;

  memcpy(&bits, &x, sizeof(x));
  bits = UINT64_C(0x7fe0000000000000) - (bits & UINT64_C(0x7ff0000000000000));
  memcpy(&x, &bits, sizeof(x));
  return x;
}

STRATA_CELL float strata_unit_f(float x)
{
  uint32_t bits;

  memcpy(&bits, &x, sizeof(x));
  bits = UINT32_C(0x7f000000) - (bits & UINT32_C(0x7f800000));
  memcpy(&x, &bits, sizeof(x));
  return x;
}

/* 1 / x for x in [1, 2), rounded as division rounds it. On the device without the branch that other numbers would need. */
STRATA_CELL double strata_reciprocal_d(double x)
{
#if defined(__CUDA_ARCH__)
  double y, e;

  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  e = fma(-x, y, 1.0);
  y = fma(y, fma(e, e, e), y);
  return fma(y, fma(-x, y, 1.0), y);
#else
  return 1 / x;
#endif
}

STRATA_CELL float strata_reciprocal_f(float x)
{
#if defined(__CUDA_ARCH__)
  float y;

  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return fmaf(y, fmaf(-x, y, 1.0f), y);
#else
  return 1 / x;
#endif
}

/* Lines whose chunks are joined by one thread have no more chunks than this; those of others are joined in so many groups */
enum { STRATA_JOIN_FEW = 64, STRATA_JOIN_GROUPS = 256 };

STRATA_CELL int strata_join_length(int chunks)
{
  return chunks <= STRATA_JOIN_FEW ? chunks : (chunks + STRATA_JOIN_GROUPS - 1) / STRATA_JOIN_GROUPS;
}

/* What is kept of the segments of line q: number m, N / D before its first row, is at m times the step. Nothing comes before the first
   segment: there the sum of the line's lateral legs is kept. */
STRATA_CELL ptrdiff_t strata_partition_start_of(const StrataPartition *p, ptrdiff_t q)
{
  return p->contiguous ? q * p->segments * p->chunks : q;
}

STRATA_CELL ptrdiff_t strata_partition_start_step(const StrataPartition *p, ptrdiff_t lines)
{
  return p->contiguous ? 1 : lines;
}

#define STRATA_TYPED "../column/column_cell_partition_typed.h"
#include "../sys/typed.h"

#endif
