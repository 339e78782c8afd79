/*
   Exact sweeps of 2D grids in registers, in double precision
*/
#include "register_rows_cuda.h"
#include "register_cuda.h"

template <> int rows_depth<double>(const StrataSystem_d &s, int sweeps)
{
  return sweeps >= 8 && s.form != STRATA_SYSTEM_VARIABLE   ? 8
         : sweeps >= 6 && s.form == STRATA_SYSTEM_VARIABLE ? 6
         : sweeps >= 4                                     ? 4
         : sweeps >= 2                                     ? 2
                                                           : 0;
}

template <> cudaError_t rows_sweeps<double>(const StrataSystem_d &s, const Pass<double> &p, cudaStream_t stream)
{
  if (s.form == STRATA_SYSTEM_VARIABLE)
    return p.sweeps == 6   ? rows_kind<double, 6, STRATA_SYSTEM_VARIABLE>(s, p, stream)
           : p.sweeps == 4 ? rows_kind<double, 4, STRATA_SYSTEM_VARIABLE>(s, p, stream)
                           : rows_kind<double, 2, STRATA_SYSTEM_VARIABLE>(s, p, stream);
  return p.sweeps == 8 ? rows_form<double, 8>(s, p, stream) : p.sweeps == 4 ? rows_form<double, 4>(s, p, stream) : rows_form<double, 2>(s, p, stream);
}
