/*
   Cycles of Jacobi sweeps as plain kernels: against plain sweeps over the whole array, and against tiles by their definition, with ==
*/
/* sanitize */
#include "kernels.h"
#include "../src/jacobi/jacobi_cell.h"

static const char *const forms[] = {"equal legs", "constant legs", "variable legs"};

/* Sizes 1 and 2, primes, many tiles; directions that a grid lacks become 1 */
#define SHAPES 7
static const int shapes[SHAPES][3] = {{1, 1, 1}, {2, 1, 3}, {67, 5, 2}, {7, 31, 3}, {13, 11, 17}, {40, 16, 8}, {101, 3, 5}};

/* Of each dimension one that is swept in several strips */
static const int wides[3][3] = {{9000, 1, 1}, {2500, 23, 1}, {330, 101, 5}};

/* What lies beyond the sides: the grid ends everywhere, the array goes on everywhere, or here this and there that */
enum { ENDS, GOES_ON, MIXED, SIDES };
static const char *const sides[] = {"the grid ends", "the array goes on", "mixed sides"};

static int Between(int low, int high)
{
  const int n = low + (int)Random(0, high - low + 1);

  return n > high ? high : n;
}

#define STRATA_TYPED "../../tests/jacobi_kernels_typed.h"
#include "../src/sys/typed.h"

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  for (int dim = 1; dim <= 3; dim++)
    for (int form = 0; form < 3; form++)
      for (int side = 0; side < SIDES; side++) {
        cycles_d("fp64", dim, form, side);
        cycles_f("fp32", dim, form, side);
        vectors_d("fp64", dim, form, side);
        vectors_f("fp32", dim, form, side);
      }
  for (int dim = 1; dim <= 3; dim++)
    for (int side = 0; side < SIDES; side++) {
      strips_d("fp64", dim, side);
      strips_f("fp32", dim, side);
    }
  nan_d("fp64");
  nan_f("fp32");
  return TapEnd();
}
