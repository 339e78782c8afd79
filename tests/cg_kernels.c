/*
   Fused passes of conjugate gradients against their parts: sums bit for bit against reductions of the vectors that a pass leaves, vectors bit for
   bit against loops, the one-pass iteration against operator and column solve to rounding, and the device against the host with ==
*/
/* sanitize */
#include "kernels.h"
#include "../src/cg/cg_cell.h"
#include "../src/cg/cg_pass_kernels.h"
#include "../src/operator/operator_cell.h"

/* Lengths: none, one, less than a row of lanes, about one chunk, several chunks */
static const ptrdiff_t lengths[] = {0, 1, 255, 257, 8191, 8192, 8193, 50001};

/* Grids with lines along each axis; longer than a strip, and not a multiple of it */
static const int grids[][3] = {{1, 1, 1}, {5, 1, 3}, {67, 9, 4}, {4, 70, 3}, {3, 5, 66}, {1, 8, 2}};

/* Operators: lean, lean with Dirichlet sides, periodic across lines, numbers of each cell */
enum { TENSOR, CONSTANT, ROUND, FACES, KINDS };

#define STRATA_TYPED "../../tests/cg_kernels_typed.h"
#include "../src/sys/typed.h"

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  vectors_d("fp64");
  vectors_f("fp32");
  passes_d("fp64", 1e-13);
  passes_f("fp32", 1e-4);
  return TapEnd();
}
