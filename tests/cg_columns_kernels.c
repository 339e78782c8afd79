/*
   The two passes of conjugate gradients along columns: the reference on the host against operator, column solve and sums by themselves, and the
   device against the reference with ==
*/
/* sanitize: memcheck initcheck */
/* racecheck does not see that bulk copies into shared memory wait for the barriers that threads have arrived at */
#include "kernels.h"
#include "../src/cg/cg_columns_cell.h"
#include "../src/operator/operator_cell.h"

/* One cell, less than a chunk of levels, whole chunks, tiles that are full, cut and one column wide */
static const int grids[][3] = {{1, 1, 1}, {2, 1, 3}, {3, 5, 8}, {33, 17, 9}, {32, 16, 24}, {65, 6, 21}};

/* Operators: tensor without flux through the sides; constant with Dirichlet sides and a shift; tensor with hardly anything of its own */
enum { TENSOR, CONSTANT, STIFF, KINDS };

#define STRATA_TYPED "../../tests/cg_columns_kernels_typed.h"
#include "../src/sys/typed.h"

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  columns_d("fp64", 1e-12);
  columns_f("fp32", 1e-4);
  refused_d("fp64");
  refused_f("fp32");
  return TapEnd();
}
