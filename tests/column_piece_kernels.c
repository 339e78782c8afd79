/*
   Pieces of lines and corrections of colours as plain kernels: pieces against whole lines on the host, the device against the host, all with ==
*/
/* sanitize */
#include "kernels.h"
#include "../src/column/column_cell.h"
#include "../src/column/column_piece_kernels.h"
#include "../src/column/column_sweep_kernels.h"

typedef enum { CONSTANT, TENSOR, ARRAYS, SINGULAR, KINDS } Kind;
static const char *const kinds[] = {"constant", "tensor", "arrays", "singular"};

#define STRATA_TYPED "../../tests/column_piece_kernels_typed.h"
#include "../src/sys/typed.h"

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  for (int axis = 0; axis < 3; axis++) {
    for (Kind kind = 0; kind < KINDS; kind++) {
      pieces_d("fp64", kind, axis);
      pieces_f("fp32", kind, axis);
    }
    rings_d("fp64", axis);
    rings_f("fp32", axis);
    colors_d("fp64", axis);
    colors_f("fp32", axis);
  }
  return TapEnd();
}
