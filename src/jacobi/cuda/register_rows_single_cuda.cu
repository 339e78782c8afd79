/*
   Exact sweeps of 2D grids in registers, in single precision
*/
#include "register_rows_cuda.h"
#include "register_cuda.h"

template <> int rows_depth<float>(const StrataSystem_f &s, int sweeps)
{
  return sweeps >= 12 ? 12 : sweeps >= 8 ? 8 : sweeps >= 4 ? 4 : sweeps >= 2 ? 2 : 0;
}

template <> cudaError_t rows_sweeps<float>(const StrataSystem_f &s, const Pass<float> &p, cudaStream_t stream)
{
  if (s.form == STRATA_SYSTEM_VARIABLE)
    return p.sweeps == 12  ? rows_kind<float, 12, STRATA_SYSTEM_VARIABLE>(s, p, stream)
           : p.sweeps == 8 ? rows_kind<float, 8, STRATA_SYSTEM_VARIABLE>(s, p, stream)
           : p.sweeps == 4 ? rows_kind<float, 4, STRATA_SYSTEM_VARIABLE>(s, p, stream)
                           : rows_kind<float, 2, STRATA_SYSTEM_VARIABLE>(s, p, stream);
  return p.sweeps == 12  ? rows_form<float, 12>(s, p, stream)
         : p.sweeps == 8 ? rows_form<float, 8>(s, p, stream)
         : p.sweeps == 4 ? rows_form<float, 4>(s, p, stream)
                         : rows_form<float, 2>(s, p, stream);
}
