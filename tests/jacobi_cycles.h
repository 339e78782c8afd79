/*
   Jacobi cycles on the device against the host's with ==, for all kernels, forms and sides. Included where STRATA_HAVE_CUDA.
*/
#ifndef STRATA_TESTS_JACOBI_CYCLES_H
#define STRATA_TESTS_JACOBI_CYCLES_H

#include "kernels.h"
#include "../src/jacobi/jacobi_kernels.h"

static const char *const forms[] = {"equal legs", "constant legs", "variable legs", "lines"}, *const kernels[] = {"auto", "classic", "shared",
                                                                                                                  "register"};

enum { LINES = STRATA_SYSTEM_VARIABLE + 1, FORMS }; /* constant legs along x alone */

#define SHAPES 6
static const int shapes[3][SHAPES][3] = {{{1, 1, 1}, {2, 1, 1}, {33, 1, 1}, {1000, 1, 1}, {1025, 1, 1}, {2600, 1, 1}},
                                         {{1, 1, 1}, {5, 40, 1}, {124, 9, 1}, {131, 67, 1}, {300, 83, 1}, {1, 90, 1}},
                                         {{1, 1, 1}, {7, 31, 3}, {3, 2, 50}, {67, 41, 19}, {132, 85, 12}, {130, 35, 9}}};

/* The grid ends, the array goes on, or here this and there that */
enum { ENDS, GOES_ON, MIXED, SIDES };

static int Between(int low, int high)
{
  const int n = low + (int)Random(0, high - low + 1);

  return n > high ? high : n;
}

/* The kernel that streams planes is tested by jacobi_planes.c */
static inline int StreamsPlanes(int kernel, int dim, int form)
{
  return kernel == STRATA_KERNEL_REGISTER && dim == 3 && form != STRATA_SYSTEM_VARIABLE && form != LINES;
}

#define STRATA_TYPED "../../tests/jacobi_cycles_typed.h"
#include "../src/sys/typed.h"

#endif
