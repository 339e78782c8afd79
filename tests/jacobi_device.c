/*
   Jacobi cycles on the device against the host's with ==: all kernels, forms and sides, sizes around the widths of warps, strips and blocks
*/
/* sanitize */
#include "kernels.h"
#include "../src/jacobi/jacobi_kernels.h"

#if STRATA_HAVE_CUDA
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

#define STRATA_TYPED "../../tests/jacobi_device_typed.h"
#include "../src/sys/typed.h"
#endif

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
#if STRATA_HAVE_CUDA
  if (TapHasDevice()) {
    for (int kernel = STRATA_KERNEL_CLASSIC; kernel <= STRATA_KERNEL_REGISTER; kernel++)
      for (int dim = 1; dim <= 3; dim++)
        for (int form = 0; form < FORMS; form++) {
          if (form == LINES && dim == 1) continue;
          cycles_d("fp64", kernel, dim, form);
          cycles_f("fp32", kernel, dim, form);
        }
    nan_d("fp64");
    nan_f("fp32");
    choices_d("fp64");
    choices_f("fp32");
    runs_d("fp64");
    runs_f("fp32");
    overflows_d("fp64");
    overflows_f("fp32");
    runchoices_d("fp64");
    runchoices_f("fp32");
    return TapEnd();
  }
#endif
  skip("no GPU");
  return TapEnd();
}
