/*
   The arithmetic of the partition method, shared by host and device like that of column_cell.h.

   The factorization of a line runs through numbers N and D with N_k / D_k = E_{k-1} / den_{k-1}, which it multiplies up instead of dividing
     E_k D_k = excess_k D_k - lower_k N_k = N_{k+1},   den_k D_k = N_{k+1} - upper_k D_k = D_{k+1},
   so that the reciprocals 1 / den_k = D_k (1 / D_{k+1}) do not wait for one another. Both are multiplied by a power of two after each row, which
   changes no bit of them and keeps D in [1, 2). With N / D known at its first row, a segment can be factored alone.

   With f_k = -lower_k / den_k and c_k = upper_k / den_k the solution is  carry_k = f_k carry_{k-1} + r_k / den_k,  z_k = carry_k - c_k z_{k+1}:
   two chains of linear functions, which can be composed in any grouping. Lines with shared rows are divided by their area.

   Where these are symmetric and of an M-matrix, with legs -g_k between the rows k - 1 and k, there is a shorter way. The numbers
     D_k = D_{k-1} + N_{k-1} / g_k,   N_k = N_{k-1} + excess_k D_k
   are sums of terms of one sign, and with G_k = g_{k+1} D_k + N_k = g_{k+1} D_{k+1} the solution is two running sums,
     F_k = F_{k-1} + D_k r_k,   w_k = w_{k+1} + F_k / (D_k G_k),   z_k = D_k w_k / area.
   Each segment begins with D = 1. The last row of a segment gives rho = g / G = D_k / D_{k+1}, which takes F to the units of the next segment,
   and w to those of this one. Within a segment D must stay in range: the set-up looks whether it does.
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

/* 1 / x, rounded as division rounds it, for x that is not near the ends of the range of numbers: without the branch for those */
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

STRATA_CELL int strata_join_groups(int chunks)
{
  return (chunks - 1) / strata_join_length(chunks) + 1;
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

/* For running sums, the numbers of the levels of a segment: four for each, padded so that the segments of a warp do not meet in a bank of
   shared memory. They follow on what is kept of the segments, and the last number of all tells whether the sums go out of range. */
enum { STRATA_SUMS_LEVEL = 4 };

STRATA_CELL int strata_sums_segment(const StrataPartition *p, size_t size)
{
  return STRATA_SUMS_LEVEL * p->room + (int)(16 / size);
}

STRATA_CELL ptrdiff_t strata_sums_table(const StrataPartition *p, ptrdiff_t lines)
{
  return (lines * p->segments * p->chunks + 3) / 4 * 4;
}

STRATA_CELL ptrdiff_t strata_sums_range(const StrataPartition *p, ptrdiff_t lines, size_t size)
{
  return strata_sums_table(p, lines) + (ptrdiff_t)strata_sums_segment(p, size) * p->segments * p->chunks;
}

/* The set-up of long lines, when there are few, is done in pieces of so many segments; at least 4, whose numbers hold a map for a while. The
   pieces are so many that to walk through one takes as long as to link them all. */
STRATA_CELL ptrdiff_t strata_partition_piece(const StrataPartition *p, int levels, ptrdiff_t lines)
{
  const ptrdiff_t segments = levels ? (levels - 1) / p->length + 1 : 1, most = 65536 / (lines ? lines : 1);
  ptrdiff_t       pieces = 1;

  while (pieces * pieces < 8 * (ptrdiff_t)levels) pieces *= 2;
  if (pieces > segments / 4) pieces = segments / 4;
  if (pieces > most) pieces = most;
  return pieces < 2 ? segments : (segments + pieces - 1) / pieces;
}

#define STRATA_TYPED "../column/column_cell_partition_typed.h"
#include "../sys/typed.h"

#endif
