/*
   The sweep engine that the KSP and the PC share
*/
#ifndef STRATA_JACOBIIMPL_H
#define STRATA_JACOBIIMPL_H

#include "../operator/operatorimpl.h"
#include "jacobi_adjoint_kernels.h"
#include "jacobi_kernels.h"
#include "jacobi_scale_kernels.h"

/* The rows of the matrix or of its transpose, divided by the diagonal; legs in arrays as kernels want them */
typedef struct {
  StrataCoefficients c; /* of the rows */
  PetscBool          built;
  int                form;
  PetscReal          leg[STRATA_LEGS];
  StrataArray        legs[STRATA_LEGS];
} StrataJacobiRows;

/* Steps of the estimate of eigenvalues, as many as KSPCHEBYSHEV does */
#define STRATA_JACOBI_STEPS 10

/* Vectors that are swept at once, the most: more take more work space, and no less time */
#define STRATA_JACOBI_VECTORS 32

/* Boxes that an owned box is cut into, an inner one and those at its sides */
#define STRATA_JACOBI_BOXES (1 + STRATA_LEGS)

/* The kernel for so many sweeps of a pass, or for so many cycles of them at once; sweeps 0: not used. Full and last passes, runs that are full and last
   are known at the same time; when there are more the last place is used again. */
#define STRATA_JACOBI_CHOICES 4
typedef struct {
  int               sweeps, cycles;
  StrataCycleKernel kernel;
} StrataJacobiChoice;

typedef struct _n_StrataJacobi *StrataJacobi;
struct _n_StrataJacobi {
  PetscObject owner;  /* the KSP or PC */
  const char *prefix; /* of its options */
  /* what was asked for */
  PetscInt         subiterations, cycles;                /* cycles from zero; 0: not of a fixed number */
  PetscInt         ntile, tile[3], noverlap, overlap[3]; /* an overlap of STRATA_EXACT: as wide as needed */
  HJacobiSchedule  schedule;
  PetscReal        omega, bounds[2]; /* bounds 0, 0: estimated */
  PetscInt         levels;
  HJacobiKernel    kernel;
  HJacobiPrecision precision;
  PetscInt         dim, N[3]; /* a grid for matrices without one; dim 0: not given */
  /* the matrix, as it was last looked at */
  StrataGrid         given; /* made from the sizes that were given */
  StrataGrid         grid;
  StrataCoefficients c;
  PetscObjectState   state;
  PetscScalar        scale, shift;
  PetscMemType       home; /* where rows are built */
  PetscScalar        number;
  PetscReal          unit;     /* single precision: a power of two near the largest of the diagonal if that is far from 1, else 1 */
  StrataArray        diagonal; /* of each row; no length where it is the same in all, then `number` */
  StrataJacobiRows   rows[2];  /* of the matrix, of its transpose */
  PetscInt           failedrow;
  const char        *failure;
  /* how it is swept */
  PetscBool    exact;           /* iterates are those of plain sweeps */
  PetscInt     most;            /* sweeps of one pass */
  PetscInt     wide;            /* a box so many times as wide as that is swept while its frames travel; tests make it smaller, not below 4 */
  StrataTiling tiling;          /* of a pass of that many */
  PetscInt     reduced;         /* the overlap was made narrower because a rank owns no more cells than this; 0: it was not */
  PetscInt     low[3], high[3]; /* frames of the array of this rank */
  PetscBool    frames;          /* does it have any? */
  int          n[3];            /* the array */
  ptrdiff_t    cells;           /* its size */
  StrataBox    own;             /* the owned box in it */
  StrataHalo   frame, face;     /* exchange of frames, and of the cells that the matrix needs */
  PetscInt     period;          /* cycles after which weights repeat */
  PetscReal   *weight;          /* of each sweep of a period */
  StrataArray  weights;         /* the same for kernels; no length if all are 1 */
  PetscReal    interval[2];     /* of the schedule */
  PetscInt     eigenvalues;     /* number of estimated ones, if the interval comes from them */
  PetscReal    re[STRATA_JACOBI_STEPS], im[STRATA_JACOBI_STEPS];
  /* work space, for so many vectors at once, and where the last work was done */
  int                vectors;
  StrataArray        b, array[2], vector, change, work;
  StrataArray        power, sums, update; /* in single precision: what right-hand sides are divided by, its making, the change times that */
  PetscMemType       worked;
  PetscBool          applied;
  PetscBool          travels, inside; /* frames of right-hand sides are on their way; the inner part of a box was swept while frames travelled */
  StrataJacobiChoice choice[STRATA_JACOBI_CHOICES];
  char               words[256]; /* about the kernel */
};

PETSC_INTERN PetscErrorCode StrataJacobiCreate(PetscObject owner, const char prefix[], StrataJacobi *);
PETSC_INTERN PetscErrorCode StrataJacobiReset(StrataJacobi);
PETSC_INTERN PetscErrorCode StrataJacobiDestroy(StrataJacobi *);
PETSC_INTERN PetscErrorCode StrataJacobiSetFromOptions(StrataJacobi, StrataOptionItems);
PETSC_INTERN PetscErrorCode StrataJacobiView(StrataJacobi, PetscViewer);

/* Settings, for setters of KSP and PC; what was found for other settings is forgotten */
PETSC_INTERN PetscErrorCode StrataJacobiOf(PetscObject, PetscBool needed, StrataJacobi *); /* the engine in a KSP or PC, NULL if it has none */
PETSC_INTERN PetscErrorCode StrataJacobiSetSubiterations(StrataJacobi, PetscInt);
PETSC_INTERN PetscErrorCode StrataJacobiSetCycles(StrataJacobi, PetscInt);
PETSC_INTERN PetscErrorCode StrataJacobiSetTile(StrataJacobi, PetscInt, const PetscInt[]);
PETSC_INTERN PetscErrorCode StrataJacobiSetOverlap(StrataJacobi, PetscInt, const PetscInt[]);
PETSC_INTERN PetscErrorCode StrataJacobiSetOmega(StrataJacobi, PetscReal);
PETSC_INTERN PetscErrorCode StrataJacobiSetSchedule(StrataJacobi, HJacobiSchedule);
PETSC_INTERN PetscErrorCode StrataJacobiSetBounds(StrataJacobi, PetscReal, PetscReal);
PETSC_INTERN PetscErrorCode StrataJacobiSetLevels(StrataJacobi, PetscInt);
PETSC_INTERN PetscErrorCode StrataJacobiSetKernel(StrataJacobi, HJacobiKernel);
PETSC_INTERN PetscErrorCode StrataJacobiSetPrecision(StrataJacobi, HJacobiPrecision);
PETSC_INTERN PetscErrorCode StrataJacobiSetGrid(StrataJacobi, PetscInt, const PetscInt[]);

/* Looks at the matrix; does nothing if neither matrix nor settings are others than before. A grid may come from one of the DMs. */
PETSC_INTERN PetscErrorCode StrataJacobiSetUp(StrataJacobi, Mat, Mat amat, DM, DM);
PETSC_INTERN PetscErrorCode StrataJacobiSymmetric(StrataJacobi, PetscBool *);

/* Arrays of vectors, in one memory. Cycles are counted from the start of the schedule.
   SetRHS: takes the right-hand side of the sweeps that follow; Sweep: y = x after some cycles, x NULL for zero, y another array, change
   NULL or the largest of the last sweep, stays NULL or where that of this rank is, in the memory of the vectors; Apply: y = add + the result
   of cycles from zero, in the precision that was asked for, y may be add; ApplyVectors: the same for many vectors; Residual: r = b - A x, r another
   array than x and b */
PETSC_INTERN PetscErrorCode StrataJacobiSetRHS(StrataJacobi, PetscBool transpose, PetscMemType, const PetscScalar *b);
PETSC_INTERN PetscErrorCode StrataJacobiSweep(StrataJacobi, PetscBool transpose, PetscMemType, PetscInt first, PetscInt cycles, const PetscScalar *x,
                                              PetscScalar *y, PetscReal *change, const PetscReal **stays);
PETSC_INTERN PetscErrorCode StrataJacobiApply(StrataJacobi, PetscBool transpose, PetscMemType, PetscInt first, PetscInt cycles, const PetscScalar *b,
                                              const PetscScalar *add, PetscScalar *y, PetscReal *change, const PetscReal **stays);
PETSC_INTERN PetscErrorCode StrataJacobiApplyVectors(StrataJacobi, PetscBool transpose, PetscMemType, PetscInt cycles, PetscInt nv,
                                                     const PetscScalar *b, PetscInt ldb, PetscScalar *y, PetscInt ldy);
/* Is the transpose of a cycle one of the transposed matrix? Else y = add + its result is made by this, in double precision on the host. */
PETSC_INTERN PetscErrorCode StrataJacobiTransposes(StrataJacobi, PetscBool *);
PETSC_INTERN PetscErrorCode StrataJacobiApplyAdjoint(StrataJacobi, PetscInt cycles, const PetscScalar *b, const PetscScalar *add, PetscScalar *y);
PETSC_INTERN PetscErrorCode StrataJacobiResidual(StrataJacobi, PetscBool transpose, Vec b, Vec x, Vec r);

/* Weights of sweeps */
PETSC_INTERN PetscErrorCode StrataChebyshevWeights(PetscInt k, PetscReal a, PetscReal b, PetscReal weight[]);
/* count 0: there is no such schedule */
PETSC_INTERN PetscErrorCode StrataRelaxationWeights(PetscInt levels, PetscReal a, PetscReal b, PetscInt k, PetscInt total, PetscInt *count,
                                                    PetscReal *weight[]);
/* Estimated eigenvalues of the matrix with rows divided by its diagonal */
PETSC_INTERN PetscErrorCode StrataSpectrum(Mat, const char prefix[], StrataGrid, PetscBool symmetric, PetscInt steps, PetscInt *count, PetscReal re[],
                                           PetscReal im[]);

#endif
