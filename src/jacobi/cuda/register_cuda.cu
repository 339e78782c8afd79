/*
   Exact sweeps in registers: which way for which grid
*/
#include "register_cuda.h"

/* Do the legs along x alone matter? */
template <class T> static bool lines(const typename Typed<T>::System &s)
{
  bool others = s.form == STRATA_SYSTEM_VARIABLE && s.dim > 1;

  for (int l = 2; l < 2 * s.dim; l++) others = others || s.leg[l] != 0;
  return !others;
}

template <class T> int register_depth(const typename Typed<T>::System &s, int sweeps)
{
  return lines<T>(s) ? lines_depth<T>(s, sweeps) : s.dim == 2 ? rows_depth<T>(s, sweeps) : planes_depth<T>(s, sweeps);
}

/* Strips and bands have a fixed size, of which narrow grids leave much idle */
template <class T> bool register_pays(const typename Typed<T>::System &s)
{
  constexpr int COLUMNS = 128, ROWS = 24, SHARED = 4; /* at either end, about */
  const int     strips = (s.n[0] + 2 * SHARED + COLUMNS - 2 * SHARED - 1) / (COLUMNS - 2 * SHARED);
  const int     bands = (s.n[1] + 2 + ROWS - SHARED - 1) / (ROWS - SHARED);

  if (lines<T>(s)) return true;
  if (s.dim == 2) return s.n[0] >= COLUMNS - SHARED;
  return (double)s.n[0] * s.n[1] >= 0.45 * strips * COLUMNS * (double)bands * ROWS;
}

template <class T> cudaError_t register_sweeps(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  return lines<T>(s) ? lines_sweeps<T>(s, p, stream) : s.dim == 2 ? rows_sweeps<T>(s, p, stream) : planes_sweeps<T>(s, p, stream);
}

template int         register_depth<double>(const StrataSystem_d &, int);
template int         register_depth<float>(const StrataSystem_f &, int);
template bool        register_pays<double>(const StrataSystem_d &);
template bool        register_pays<float>(const StrataSystem_f &);
template cudaError_t register_sweeps<double>(const StrataSystem_d &, const Pass<double> &, cudaStream_t);
template cudaError_t register_sweeps<float>(const StrataSystem_f &, const Pass<float> &, cudaStream_t);
