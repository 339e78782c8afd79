/*
   What PCCOLUMN is made of
*/
#ifndef STRATA_COLUMNIMPL_H
#define STRATA_COLUMNIMPL_H

#include "../operator/operatorimpl.h"
#include "column_other_kernels.h"
#include "column_pack_kernels.h"
#include "column_ring_kernels.h"
#include <petsc/private/pcimpl.h>
#include <petscsection.h>

/* What is known of all rows, of all ranks. Rows are global, -1 if there is none. */
typedef struct {
  PetscInt  zero, isolated, nonfinite; /* the first rows with a zero pivot, all zeros, NaN or infinity */
  PetscInt  singular;                  /* number of singular runs of cells */
  PetscBool mmatrix, symmetric;        /* legs <= 0 and excess >= 0 everywhere; is the matrix of every line symmetric? */
} PCColumnReport;

/* Periodic columns, see column_ring_kernels.h */
typedef struct {
  PetscBool   periodic, same;             /* same: all rings are the same, and the numbers are those of one */
  StrataArray lateral, level;             /* shared rows: those of the lines that stand for the rings, in tensor form */
  StrataArray number, inverse, column[2]; /* column[1]: of the transpose */
  PetscBool   ready[2];                   /* is column[] that of these rows, scale and shift? */
} PCColumnRings;

/* Columns in pieces on several ranks, see column_ranks.c; for the columns and for their transpose */
typedef struct {
  PetscBool    cut;
  MPI_Comm     comm;       /* the ranks of the columns that this rank has pieces of, in the order of the pieces */
  PetscMPIInt  rank, size; /* in it; the ranks before and after that have rows, MPI_PROC_NULL if there are none */
  PetscMPIInt  before, after;
  PetscInt     lines;
  StrataArray  lower;             /* legs of the rows after this rank's */
  StrataArray  state[2], through; /* where the factorization stands before this rank's rows; what goes through its piece */
  PetscScalar *all[2];            /* through, of all ranks */
  PetscBool    ready[2];          /* are they those of these rows, scale and shift? */
  StrataArray  out, in, gathered; /* numbers at the ends of pieces in a solve */
  StrataArray  plane, last;       /* of rings: numbers of a level of this rank, the solution in last cells */
} PCColumnRanks;

/* Columns that are listed, see column_list.c */
typedef struct {
  PetscSection section; /* what was asked for: lengths, and where in rows a column begins. NULL: nothing */
  IS           rows;
  int          n[3];                     /* the lines that they are put into, along the last axis, */
  StrataArray  cell;                     /* and for each of their cells the row of this rank, -1 behind the last column */
  PetscInt    *column, *place;           /* of each row */
  PetscInt     count, shortest, longest; /* of all ranks */
} PCColumnList;

/* Work spaces: of the solve of lines, of rings around it, of vectors in another precision around these */
enum { PC_COLUMN_LINES, PC_COLUMN_RINGS, PC_COLUMN_VECTORS, PC_COLUMN_POWERS, PC_COLUMN_SPACES };

typedef struct {
  /* what was asked for */
  PetscInt          axis;      /* PETSC_DETERMINE: auto */
  PetscInt          several;   /* axes in turn: their number, PETSC_DETERMINE: all, 0: there is one axis */
  PetscInt          axes[3];   /* these */
  PetscInt          size;      /* rows of a line, for matrices without a grid; 0: not given */
  PetscInt          dim, N[3]; /* a grid for matrices without one; dim 0: not given */
  PCColumnList      list;
  PCColumnAlgorithm algorithm;
  PCColumnPrecision precision;
  PCColumnSweep     sweep; /* line relaxation: its order, weight and number of iterations */
  PetscReal         omega;
  PetscInt          its;
  /* the lines */
  StrataGrid         grid;
  PetscInt           along;        /* their axis */
  PetscBool          runs;         /* are they runs of rows? */
  StrataCoefficients c;            /* those of a Strata operator, else NULL */
  PetscObjectState   state;        /* of these, when they were last looked at */
  StrataArray        excess;       /* of the lines' rows, when legs are stored for each cell; without scale and shift */
  StrataArray        lower, upper; /* of an assembled matrix or of rings; upper has no length if the lines are symmetric */
  PCColumnRings      rings;
  PCColumnRanks      ranks;
  PetscMemType       home;                /* where all rows are looked at */
  PetscBool          divides;             /* can lines with shared rows be divided by their areas? */
  PCColumnReport     plain;               /* the rows without scale and shift */
  PetscScalar        scale, shift;        /* those that follow hold for */
  PetscInt           singular, failedrow; /* failedrow -1: none */
  const char        *failure;
  /* the partition method: where the factorization stands at the beginning of segments */
  StrataArray start;
  PetscBool   started; /* is it that of these rows, scale and shift? */
  int         sums;    /* are lines with shared rows solved by running sums? */
  /* single precision: the numbers of the lines, and those of rings */
  StrataArray single, singlenumber;
  PetscBool   narrowed; /* are they those of these rows? */
  /* work space, host and device, and where and how the last work was done */
  StrataArray       work[PC_COLUMN_SPACES][2];
  PetscMemType      worked;
  PetscBool         applied;
  PCColumnAlgorithm used;
  Vec               relax[3]; /* of line relaxation: correction, residual, result */
  PetscInt          turns;    /* axes in turn: their number, and for each a preconditioner of this type that solves its lines */
  PC                turn[3];
} PC_Column;

PETSC_INTERN void PCColumnNameAxes(const PC_Column *, char name[8]); /* the axes that were asked for, as the option wants them */

/* The lines as kernels want them, in one memory */
PETSC_INTERN PetscErrorCode PCColumnGetKernel(PC_Column *, PetscMemType, StrataLines_d *);

/* z = (add ? add : 0) + M r for arrays of nv vectors in one memory, M solves all columns or their transpose */
PETSC_INTERN PetscErrorCode PCColumnSolve(PC, PetscBool transpose, PetscInt nv, const PetscScalar *r, PetscInt ldr, const PetscScalar *add,
                                          PetscScalar *z, PetscInt ldz, PetscMemType);

/* The same by the partition method, times omega, for the lines of a colour; on others z = (add ? add : 0) */
PETSC_INTERN PetscErrorCode PCColumnSolveColor(PC, const StrataColor *, PetscReal omega, const PetscScalar *r, const PetscScalar *add, PetscScalar *z,
                                               PetscMemType);

PETSC_INTERN PetscErrorCode    PCColumnGetSingle(PC_Column *, const StrataLines_d *, PetscMemType, StrataLines_f *);
PETSC_INTERN PCColumnAlgorithm PCColumnChoose(const PC_Column *, PetscBool transpose, PetscMemType); /* how is it done? */
PETSC_INTERN PetscErrorCode    PCColumnGetWork(PC_Column *, int space, PetscMemType, size_t bytes, void *);
PETSC_INTERN PetscErrorCode    PCColumnNewArray(StrataArray *, size_t bytes, PetscMemType, void *); /* of so many bytes, and where to write it */

/* Columns in pieces on several ranks */
PETSC_INTERN PetscErrorCode PCColumnRanksFind(PC_Column *, PetscBool cut);
PETSC_INTERN PetscErrorCode PCColumnRanksDestroy(PC_Column *);
PETSC_INTERN PetscErrorCode PCColumnRanksCheck(PC_Column *, const StrataLines_d *, StrataLinesReport *);
PETSC_INTERN PetscErrorCode PCColumnRanksSolve(PC_Column *, const StrataLines_d *, PetscBool transpose, PetscInt nv, const PetscScalar *r,
                                               PetscInt ldr, const PetscScalar *add, PetscScalar *z, PetscInt ldz, PetscMemType);
/* The same for rings: cuts them, looks at them, and z = (add ? add : 0) + M r */
PETSC_INTERN PetscErrorCode PCColumnRanksCutRings(PC_Column *, const StrataCoef_d *);
PETSC_INTERN PetscErrorCode PCColumnRanksCheckRings(PC_Column *, const StrataLines_d *, StrataLinesReport *);
PETSC_INTERN PetscErrorCode PCColumnRanksSolveRings(PC_Column *, const StrataLines_d *, PetscBool transpose, PetscInt nv, const PetscScalar *r,
                                                    PetscInt ldr, const PetscScalar *add, PetscScalar *z, PetscInt ldz, PetscMemType);

/* Rings: cuts them, the lines given with scale 1 and shift 0; replaces shared rows by those of the lines that stand for rings; finds their pivots,
   for the scale and shift of the lines, and adds what is found to the report */
PETSC_INTERN PetscErrorCode PCColumnRingsCut(PC_Column *, const StrataLines_d *, PetscBool shared);
PETSC_INTERN PetscErrorCode PCColumnRingsGetShared(PC_Column *, PetscMemType, StrataCoef_d *);
PETSC_INTERN PetscErrorCode PCColumnRingsCheck(PC_Column *, const StrataLines_d *, StrataLinesReport *);
PETSC_INTERN PetscErrorCode PCColumnRingsDestroy(PC_Column *);
PETSC_INTERN void PCColumnRingsReport(const StrataLines_d *, int level, ptrdiff_t count, const PetscScalar *number, const PetscScalar *inverse,
                                      unsigned long long many, StrataLinesReport *);

/* In words what PCCOLUMN does besides one solve of lines with two ends, in the precision of the vectors; NULL if it does nothing else */
PETSC_INTERN PetscErrorCode PCColumnGetMore(PC, const char **);

PETSC_INTERN PetscErrorCode PCReset_Column(PC);
PETSC_INTERN PetscErrorCode PCSetFromOptions_Column(PC, StrataOptionItems);
PETSC_INTERN PetscErrorCode PCColumnCompose(PC, PetscBool); /* the functions of this type, composed with the object or taken from it */

PETSC_INTERN PetscErrorCode PCColumnApplyLines(PC, PetscBool transpose, Vec r, Vec add, Vec z);
PETSC_INTERN PetscErrorCode PCColumnCorrectLines(PC, PetscBool transpose, const StrataColor *, PetscReal omega, Vec r, Vec add, Vec z,
                                                 PetscBool *done);

PETSC_INTERN PetscErrorCode PCColumnCheckRanks(PC);
PETSC_INTERN PetscErrorCode PCColumnFindGrid(PC, StrataGrid *);
PETSC_INTERN PetscErrorCode PCView_Column(PC, PetscViewer);

/* Several axes in turn */
PETSC_INTERN PetscErrorCode PCColumnSetUpTurns(PC);
PETSC_INTERN PetscErrorCode PCColumnGetTurn(PC, PetscInt turn, PC *lines); /* the preconditioner itself if there is one axis */
PETSC_INTERN PetscErrorCode PCColumnViewTurns(PC, PetscViewer);

/* Columns that are listed */
PETSC_INTERN PetscErrorCode PCColumnListFind(PC);
PETSC_INTERN PetscErrorCode PCColumnListReadMatrix(PC, PetscInt *nonfinite);
PETSC_INTERN PetscErrorCode PCColumnListRowWords(PC_Column *, PetscInt row, char words[], size_t len);
PETSC_INTERN PetscErrorCode PCColumnListReset(PC_Column *);

/* Line relaxation */
PETSC_INTERN PetscBool      PCColumnRelaxes(const PC_Column *);
PETSC_INTERN PetscErrorCode PCColumnRelax(PC, PetscBool transpose, Vec r, Vec add, Vec z);
PETSC_INTERN PetscErrorCode PCColumnCheckColors(PC, PC lines);
PETSC_INTERN PetscErrorCode PCColumnViewSweep(PC, PetscViewer);

#endif
