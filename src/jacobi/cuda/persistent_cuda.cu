/*
   Many cycles in one launch: which way for which grid
*/
#include "line_cuda.h"
#include "persistent_cuda.h"
#include <cstdio>

template <class T> bool persistent_fits(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, char no[], size_t length)
{
  if (legs_along_x<T>(s)) return persistent_lines_fit<T>(s, t, exact, no, length);
  if (s.dim == 2) return persistent_patches_fit<T>(s, t, exact, no, length);
  snprintf(no, length, "it is for 1D and 2D grids");
  return false;
}

template <class T> bool persistent_pays(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, int cycles)
{
  const int few = s.form == STRATA_SYSTEM_EQUAL ? 16 : 32; /* sweeps: a launch of those that stay on the chip takes longer */

  if (legs_along_x<T>(s)) return persistent_lines_pay<T>(s, t, exact, cycles);
  return exact ? (double)cycles * t.sweeps >= few : cycles > 1;
}

template <class T> ptrdiff_t persistent_work(const typename Typed<T>::System &s)
{
  return legs_along_x<T>(s) ? persistent_lines_work<T>() : persistent_patches_work<T>(s.n);
}

template <class T>
cudaError_t persistent_cycles(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, int cycles, const Run<T> &r, cudaStream_t stream)
{
  const int sweeps = cycles * t.sweeps;

  return legs_along_x<T>(s) ? persistent_lines<T>(s, t, exact, sweeps, r, stream) : persistent_patches<T>(s, t, exact, sweeps, r, stream);
}

#define INSTANCES(T)                                                                                                                                 \
  template bool        persistent_fits<T>(const typename Typed<T>::System &, const StrataTiling &, bool, char[], size_t);                            \
  template bool        persistent_pays<T>(const typename Typed<T>::System &, const StrataTiling &, bool, int);                                       \
  template ptrdiff_t   persistent_work<T>(const typename Typed<T>::System &);                                                                        \
  template cudaError_t persistent_cycles<T>(const typename Typed<T>::System &, const StrataTiling &, bool, int, const Run<T> &, cudaStream_t);
INSTANCES(double)
INSTANCES(float)
