/*
   Sweeps in registers: which way for which grid
*/
#include "line_cuda.h"
#include "register_cuda.h"
#include <cstdio>

template <class T> int register_depth(const typename Typed<T>::System &s, int sweeps)
{
  if (legs_along_x<T>(s)) return lines_depth<T>(s, sweeps);
  if (s.dim == 2) return rows_depth<T>(s, sweeps);
  return s.form == STRATA_SYSTEM_VARIABLE ? records_depth<T>(s, sweeps) : planes_depth<T>(s, sweeps);
}

/* Strips have a fixed width, of which narrow grids leave much idle */
template <class T> bool register_pays(const typename Typed<T>::System &s)
{
  constexpr int COLUMNS = 124;

  if (legs_along_x<T>(s)) return true;
  if (s.dim == 2) return s.n[0] >= COLUMNS;
  return s.form == STRATA_SYSTEM_VARIABLE ? records_pay<T>(s) : planes_pays<T>(s);
}

template <class T> cudaError_t register_sweeps(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  if (legs_along_x<T>(s)) return lines_sweeps<T>(s, p, stream);
  if (s.dim == 2) return rows_sweeps<T>(s, p, stream);
  return s.form == STRATA_SYSTEM_VARIABLE ? records_sweeps<T>(s, p, stream) : planes_sweeps<T>(s, p, stream);
}

static bool within(const int n[3], const StrataTiling &t, const int cells[2])
{
  return (t.tile[0] < n[0] ? t.tile[0] : n[0]) <= cells[0] && (t.tile[1] < n[1] ? t.tile[1] : n[1]) <= cells[1];
}

template <class T> bool register_tiles_fit(const typename Typed<T>::System &s, const StrataTiling &t, char no[], size_t length)
{
  const bool along = legs_along_x<T>(s);
  int        cells[2];

  no[0] = 0;
  if (along) {
    cells[0] = line_tiles_limit<T>(s);
    if ((t.tile[0] < s.n[0] ? t.tile[0] : s.n[0]) > cells[0])
      snprintf(no, length, "where tiles overlap less than %d it holds at most %d cells of one along x", 2 * (t.sweeps - 1), cells[0]);
  } else if (s.dim == 3)
    snprintf(no, length, "where tiles overlap less than %d it has none in 3D", 2 * (t.sweeps - 1));
  else {
    tiles_limit<T>(s, cells);
    if (!within(s.n, t, cells))
      snprintf(no, length, "where tiles overlap less than %d it holds at most %d x %d cells of one", 2 * (t.sweeps - 1), cells[0], cells[1]);
  }
  return !no[0];
}

/* Is most of a warp or of a block busy? Legs of its own that a cell has must be loaded too, for which few sweeps do not pay in double precision. */
template <class T> bool register_tiles_pay(const typename Typed<T>::System &s, const StrataTiling &t)
{
  constexpr int   MANY = 12;
  const ptrdiff_t cells = (ptrdiff_t)t.tile[0] * t.tile[1];
  const bool      legs = s.form == STRATA_SYSTEM_VARIABLE;
  int             warp[2], block[2];

  if (legs_along_x<T>(s)) return true;
  small_limit<T>(warp);
  tiles_limit<T>(s, block);
  if (within(s.n, t, warp)) return legs && sizeof(T) == 8 ? t.sweeps >= MANY && 8 * cells >= 7 * warp[0] * warp[1] : 3 * cells >= warp[0] * warp[1];
  return 5 * cells >= 3 * block[0] * block[1];
}

template <class T> cudaError_t register_tiles_sweeps(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream)
{
  int warp[2];

  small_limit<T>(warp);
  if (legs_along_x<T>(s)) return line_tiles_sweeps<T>(s, t, p, stream);
  return within(s.n, t, warp) ? small_sweeps<T>(s, t, p, stream) : tiles_sweeps<T>(s, t, p, stream);
}

template int         register_depth<double>(const StrataSystem_d &, int);
template int         register_depth<float>(const StrataSystem_f &, int);
template bool        register_pays<double>(const StrataSystem_d &);
template bool        register_pays<float>(const StrataSystem_f &);
template cudaError_t register_sweeps<double>(const StrataSystem_d &, const Pass<double> &, cudaStream_t);
template cudaError_t register_sweeps<float>(const StrataSystem_f &, const Pass<float> &, cudaStream_t);
template bool        register_tiles_fit<double>(const StrataSystem_d &, const StrataTiling &, char[], size_t);
template bool        register_tiles_fit<float>(const StrataSystem_f &, const StrataTiling &, char[], size_t);
template bool        register_tiles_pay<double>(const StrataSystem_d &, const StrataTiling &);
template bool        register_tiles_pay<float>(const StrataSystem_f &, const StrataTiling &);
template cudaError_t register_tiles_sweeps<double>(const StrataSystem_d &, const StrataTiling &, const Pass<double> &, cudaStream_t);
template cudaError_t register_tiles_sweeps<float>(const StrataSystem_f &, const StrataTiling &, const Pass<float> &, cudaStream_t);
