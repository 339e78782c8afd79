/*
   Jacobi cycles on the device against the host's with ==: all kernels, forms and sides, sizes around the widths of warps, strips and blocks
*/
/* sanitize */
#include "kernels.h"

#if STRATA_HAVE_CUDA
#include "jacobi_cycles.h"

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
          if ((form == LINES && dim == 1) || StreamsPlanes(kernel, dim, form)) continue;
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
