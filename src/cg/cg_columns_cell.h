/*
   The arithmetic of a chunk of levels in the two passes along columns, shared by host and device like that of column_cell.h.

   A column divided by its area has the rows  -g_k z_{k-1} + (e_k + g_k + g_{k+1}) z_k - g_{k+1} z_{k+1} = r_k / area,  all numbers positive. With
     D_k = D_{k-1} + N_{k-1} / g_k,  N_k = N_{k-1} + e_k D_k,  c_k = 1 / (D_k (g_{k+1} D_k + N_k))
   its solution is two running sums:  F_k = F_{k-1} + D_k r_k  upwards,  w_k = w_{k+1} + c_k F_k  downwards, z_k = D_k w_k / area, and
   (r,z) is the sum of c_k F_k^2 / area. Nothing cancels. Each chunk starts anew with D = 1: rho = 1 / D of the next chunk's first level takes N, F
   and w across.
*/
#ifndef STRATA_CG_COLUMNS_CELL_H
#define STRATA_CG_COLUMNS_CELL_H

#include "cg_cell.h"
#include "cg_columns_kernels.h"
#include "../column/column_cell_partition.h"

#if defined(__CUDACC__)
#define STRATA_UNROLL _Pragma("unroll")
#else
#define STRATA_UNROLL
#endif

#define STRATA_TYPED "../cg/cg_columns_cell_typed.h"
#include "../sys/typed.h"

/* (z,Az) of a column, from the sum of strata_cell_faces() or strata_cell_energy() */
STRATA_CELL double strata_column_delta(int energy, double area, double gamma, double sum)
{
  return fma(area, energy ? sum : 2 * sum, energy ? 0 : gamma);
}

#endif
