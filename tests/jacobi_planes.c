/*
   Exact sweeps of 3D grids with the same legs in all cells, by the kernel that streams planes through registers, against the host's with ==
*/
/* sanitize: memcheck initcheck */
/* racecheck follows the barriers for the lane that arrives at them, not for the other 31 of its warp, which meet it by __syncwarp() before: it reports
   races of these alone. Why there are none: register_planes_cuda.cu. */
#include "kernels.h"

#if STRATA_HAVE_CUDA
#include "jacobi_cycles.h"
#endif

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
#if STRATA_HAVE_CUDA
  if (TapHasDevice()) {
    for (int form = 0; form < FORMS; form++) {
      if (!StreamsPlanes(STRATA_KERNEL_REGISTER, 3, form)) continue;
      cycles_d("fp64", STRATA_KERNEL_REGISTER, 3, form);
      cycles_f("fp32", STRATA_KERNEL_REGISTER, 3, form);
    }
    return TapEnd();
  }
#endif
  skip("no GPU");
  return TapEnd();
}
