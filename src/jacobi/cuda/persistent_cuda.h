/*
   Many cycles in one launch, with the grid on the chip
*/
#ifndef STRATA_PERSISTENT_CUDA_H
#define STRATA_PERSISTENT_CUDA_H

#include "cycle_cuda.h"

/* y = x after all cycles, in the whole array */
template <class T> struct Run {
  const T *weight; /* of each sweep of a period; NULL: all are 1 */
  int      first, period;
  const T *b, *x;
  T       *y, *change, *work; /* change may be NULL */
};

/* Can these cycles run, and why not; is it worth it where it can; numbers of work space; the cycles. exact: the tiles do not matter. */
template <class T> bool      persistent_fits(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, char no[], size_t length);
template <class T> bool      persistent_pays(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, int cycles);
template <class T> ptrdiff_t persistent_work(const typename Typed<T>::System &s);
template <class T>
cudaError_t persistent_cycles(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, int cycles, const Run<T> &r,
                              cudaStream_t stream);

/* The same, all sweeps, for grids of which only the legs along x matter */
template <class T> bool      persistent_lines_fit(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, char no[], size_t length);
template <class T> bool      persistent_lines_pay(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, int cycles);
template <class T> ptrdiff_t persistent_lines_work(void);
template <class T>
cudaError_t persistent_lines(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, int sweeps, const Run<T> &r, cudaStream_t stream);

/* 2D */
template <class T> bool      persistent_patches_fit(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, char no[], size_t length);
template <class T> ptrdiff_t persistent_patches_work(const int n[]);
template <class T>
cudaError_t persistent_patches(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, int sweeps, const Run<T> &r,
                               cudaStream_t stream);

#endif
