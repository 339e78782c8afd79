/*
   Solves along lines as plain kernels: on the host against a reference in long double, on the device against the host with ==
*/
/* sanitize */
#include "kernels.h"
#include "../src/column/column_other_kernels.h"
#include "../src/column/column_pack_kernels.h"
#include "../src/column/column_ring_kernels.h"
#include "../src/operator/operator_cell.h"

typedef enum {
  CONSTANT,
  TENSOR,
  TENSOR_SYMMETRIC,
  TENSOR_STEEP,
  TENSOR_EQUAL,
  TENSOR_ACROSS,
  FACES,
  LEGS,
  CONSTANT_MASKED,
  TENSOR_MASKED,
  SINGULAR,
  PIECES,
  KINDS
} Kind;
static const char *const kinds[] = {"constant", "tensor", "tensor symmetric", "tensor steep",  "tensor equal", "tensor across",
                                    "faces",    "legs",   "constant masked",  "tensor masked", "singular",     "in pieces"};

/* Lengths 1, 2, 3, odd, across the widths of strips, tiles and blocks, and long enough for narrow strips */
#define SHAPES 8
static const int shapes[SHAPES][3] = {{1, 1, 1}, {2, 1, 3}, {3, 2, 1}, {67, 3, 2}, {7, 65, 3}, {5, 3, 130}, {17, 16, 15}, {530, 1, 2}};

#define STRATA_TYPED "../../tests/column_kernels_typed.h"
#include "../src/sys/typed.h"

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  for (int axis = 0; axis < 3; axis++)
    for (Kind kind = 0; kind < KINDS; kind++) {
      solves_d("fp64", kind, axis);
      solves_f("fp32", kind, axis);
      partitions_d("fp64", kind, axis);
      partitions_f("fp32", kind, axis);
      for (int pcr = 0; pcr < 2; pcr++) {
        others_d("fp64", kind, axis, pcr);
        others_f("fp32", kind, axis, pcr);
      }
      if (kind == CONSTANT || kind == TENSOR || kind == FACES) {
        large_d("fp64", kind, axis);
        large_f("fp32", kind, axis);
      }
      if (kind == CONSTANT || kind == TENSOR || kind == LEGS) {
        rings_d("fp64", kind, axis);
        rings_f("fp32", kind, axis);
      }
    }
  reciprocals_d("fp64");
  reciprocals_f("fp32");
  reports_d("fp64");
  reports_f("fp32");
  packs_d("fp64");
  packs_f("fp32");
  return TapEnd();
}
