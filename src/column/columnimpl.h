/*
   What PCCOLUMN is made of
*/
#ifndef STRATA_COLUMNIMPL_H
#define STRATA_COLUMNIMPL_H

#include "../operator/operatorimpl.h"
#include "column_kernels.h"
#include <petsc/private/pcimpl.h>

/* What is known of all rows, of all ranks. Rows are global, -1 if there is none. */
typedef struct {
  PetscInt  zero, isolated, nonfinite; /* the first rows with a zero pivot, all zeros, NaN or infinity */
  PetscInt  singular;                  /* number of singular runs of cells */
  PetscBool mmatrix, symmetric;        /* legs <= 0 and excess >= 0 everywhere; is the matrix of every line symmetric? */
} PCColumnReport;

typedef struct {
  /* what was asked for */
  PetscInt          axis;      /* PETSC_DETERMINE: auto */
  PetscInt          several;   /* axes in turn: their number, PETSC_DETERMINE: all, 0: there is one axis */
  PetscInt          axes[3];   /* these */
  PetscInt          size;      /* rows of a line, for matrices without a grid; 0: not given */
  PetscInt          dim, N[3]; /* a grid for matrices without one; dim 0: not given */
  PCColumnAlgorithm algorithm;
  PCColumnSweep     sweep; /* line relaxation: its order, weight and number of iterations */
  PetscReal         omega;
  PetscInt          its;
  /* the lines */
  StrataGrid         grid;
  PetscInt           along;               /* their axis */
  PetscBool          runs, rows;          /* are they runs of rows? was the grid made of the rows, without a DM? */
  StrataCoefficients c;                   /* those of a Strata operator, else NULL */
  PetscObjectState   state;               /* of these, when they were last looked at */
  StrataArray        excess;              /* of the lines' rows, when legs are stored for each cell; without scale and shift */
  StrataArray        lower, upper;        /* of an assembled matrix; upper has no length if the lines are symmetric */
  PetscMemType       home;                /* where all rows are looked at */
  PCColumnReport     plain;               /* the rows without scale and shift */
  PetscScalar        scale, shift;        /* those that follow hold for */
  PetscInt           singular, failedrow; /* failedrow -1: none */
  const char        *failure;
  /* the partition method: where the factorization stands at the beginning of segments */
  StrataArray start;
  PetscBool   started; /* is it that of these rows, scale and shift? */
  /* work space, host and device, and where the last work was done */
  StrataArray  work[2];
  PetscMemType worked;
  PetscBool    applied, partition; /* partition: by this algorithm */
  Vec          relax[3];           /* of line relaxation: correction, residual, result */
  PetscInt     turns;              /* axes in turn: their number, and for each a preconditioner of this type that solves its lines */
  PC           turn[3];
} PC_Column;

PETSC_INTERN void PCColumnNameAxes(const PC_Column *, char name[8]); /* the axes that were asked for, as the option wants them */

PETSC_INTERN PetscErrorCode PCReset_Column(PC);
PETSC_INTERN PetscErrorCode PCSetFromOptions_Column(PC, StrataOptionItems);
PETSC_INTERN PetscErrorCode PCColumnCompose(PC, PetscBool); /* the functions of this type, composed with the object or taken from it */

PETSC_INTERN PetscErrorCode PCColumnApplyLines(PC, PetscBool transpose, Vec r, Vec add, Vec z);

PETSC_INTERN PetscErrorCode PCColumnCheckRanks(PC);
PETSC_INTERN PetscErrorCode PCColumnFindGrid(PC, StrataGrid *);
PETSC_INTERN PetscErrorCode PCView_Column(PC, PetscViewer);

/* Several axes in turn */
PETSC_INTERN PetscErrorCode PCColumnSetUpTurns(PC);
PETSC_INTERN PetscErrorCode PCColumnGetTurn(PC, PetscInt turn, PC *lines); /* the preconditioner itself if there is one axis */
PETSC_INTERN PetscErrorCode PCColumnViewTurns(PC, PetscViewer);

/* Line relaxation */
PETSC_INTERN PetscBool      PCColumnRelaxes(const PC_Column *);
PETSC_INTERN PetscErrorCode PCColumnRelax(PC, PetscBool transpose, Vec r, Vec add, Vec z);
PETSC_INTERN PetscErrorCode PCColumnCheckColors(PC, PC lines);
PETSC_INTERN PetscErrorCode PCColumnViewSweep(PC, PetscViewer);

#endif
