/*
   The two passes of conjugate gradients over tiles: the reference on the host against operator, column solve and sums by themselves, and the device against
   the reference with ==
*/
/* sanitize: memcheck racecheck initcheck */
#include "kernels.h"
#include "../src/cg/cg_tiles_cell.h"

/* One cell, two and three around an axis, tiles that are full, cut and one column wide, each length of columns that has a kernel of its own */
static const int grids[][3] = {{1, 1, 1}, {2, 1, 3}, {3, 2, 8}, {33, 17, 9}, {64, 16, 20}, {65, 7, 21}, {31, 9, 40}, {37, 6, 41}, {5, 3, 64}};

#define STRATA_TYPED "../../tests/cg_tiles_kernels_typed.h"
#include "../src/sys/typed.h"

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  tiles_d("fp64", 1e-12);
  tiles_f("fp32", 1e-4);
  return TapEnd();
}
