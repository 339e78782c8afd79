/*
   Cycles of Jacobi sweeps on the array of one rank, as plain numbers: the array is cut into tiles, each is swept several times on
   its own. The arithmetic of a cell is in jacobi_cell.h; host and device results are equal bit for bit.
*/
#ifndef STRATA_JACOBI_KERNELS_H
#define STRATA_JACOBI_KERNELS_H

#include "../operator/operator_kernels.h"

/* The coefficients of a system */
enum {
  STRATA_SYSTEM_EQUAL,    /* one number for all legs along the axes that the grid has */
  STRATA_SYSTEM_CONSTANT, /* one number for each leg */
  STRATA_SYSTEM_VARIABLE  /* an array for each leg */
};

/* How tiles are laid out in the box that is written: tile b of a direction computes the cells [b (t - o), b (t - o) + t), counted from
   the box' low side less o/2 where the array goes on there, and writes those of them that are o/2 or more from its ends, except that the
   first and the last tile write to the ends of the box. Where o >= 2 (k - 1) in all directions (exact), the result does not depend on
   the tiles, and a kernel may choose its own. */
typedef struct {
  int tile[3], overlap[3]; /* cells computed, and shared with the next tile, in each direction; 1 and 0 in those that the grid lacks */
  int sweeps;              /* k, sweeps of one cycle */
} StrataTiling;

/* The kernels that run cycles on the device */
typedef enum {
  STRATA_KERNEL_AUTO,
  STRATA_KERNEL_CLASSIC,   /* one sweep a launch */
  STRATA_KERNEL_SHARED,    /* a block sweeps a tile in shared memory */
  STRATA_KERNEL_REGISTER,  /* warps stream through the array with several sweeps in registers */
  STRATA_KERNEL_PERSISTENT /* the array stays on the chip for many cycles */
} StrataCycleKernel;

#define STRATA_TYPED "../jacobi/jacobi_kernels_typed.h"
#include "../sys/typed.h"

#endif
