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

/* Can these cycles run, and why not; numbers of work space; the cycles. exact: the tiles do not matter. */
template <class T> bool      persistent_fits(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, char no[], size_t length);
template <class T> ptrdiff_t persistent_work(const int n[]);
template <class T>
cudaError_t persistent_cycles(const typename Typed<T>::System &s, const StrataTiling &t, bool exact, int cycles, const Run<T> &r,
                              cudaStream_t stream);

#endif
