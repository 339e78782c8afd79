/*
   What the fused conjugate gradient method is made of
*/
#ifndef STRATA_CGIMPL_H
#define STRATA_CGIMPL_H

#include "../operator/operatorimpl.h"
#include "cg_pass_kernels.h"
#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>

/* How much of an iteration is done together */
typedef enum {
  CGFUSED_NOTHING,  /* each operation by itself, for vectors that are no plain arrays */
  CGFUSED_VECTORS,  /* updates of vectors and sums; operator and preconditioner by themselves */
  CGFUSED_OPERATOR, /* the operator as well, see StrataCGDevice; the preconditioner by itself */
  CGFUSED_COLUMNS,  /* all of it on a GPU, see StrataCGUpDown */
  CGFUSED_TILES,    /* the same, see StrataCGTiles */
  CGFUSED_ALL       /* all of it on the host, see StrataCGPass */
} CGFusedLevel;

/* All of an iteration together, for some operators and preconditioners */
typedef struct _n_StrataCGPass *StrataCGPass;

/* Makes the pass, or takes the one that is there if it still holds; z is what the preconditioner makes of r. NULL, and in words why, where it cannot
   be made. The pass works on vectors of its own: enter and leave take them from those of the solver and back, unless they are there already. */
PETSC_INTERN PetscErrorCode StrataCGPassCreate(KSP, Vec z, Vec p, Vec r, StrataCGPass *, const char **whynot);
PETSC_INTERN PetscErrorCode StrataCGPassDestroy(StrataCGPass *);
PETSC_INTERN PetscErrorCode StrataCGPassEnter(StrataCGPass, Vec z, Vec p, Vec x, Vec r);
PETSC_INTERN PetscErrorCode StrataCGPassLeave(StrataCGPass, Vec z, Vec p, Vec x, Vec r);
PETSC_INTERN PetscErrorCode StrataCGPassSolution(StrataCGPass, Vec x); /* the iterate alone */
PETSC_INTERN PetscErrorCode StrataCGPassStep(StrataCGPass, PetscReal beta, PetscReal alpha, Vec z, Vec p, Vec x, Vec r, PetscReal sums[]);
PETSC_INTERN PetscErrorCode StrataCGPassView(StrataCGPass, PetscViewer);

/* A pass in single precision. Take: from the residual r in the order of the turned grid, x is zero, p as it was or (not again) zero, with z and all
   sums; Step: one iteration; Give: x is added to another one (NULL: lost) and zero again. The sums are those of the numbers in double precision. */
typedef struct _n_StrataCGSingle *StrataCGSingle;
PETSC_INTERN PetscErrorCode       StrataCGSingleCreate(const StrataCGProblem_d *, StrataCGSingle *, const char **whynot);
PETSC_INTERN PetscErrorCode       StrataCGSingleDestroy(StrataCGSingle *);
PETSC_INTERN PetscErrorCode       StrataCGSingleTake(StrataCGSingle, PetscBool again, const PetscReal *r, PetscReal sums[]);
PETSC_INTERN PetscErrorCode       StrataCGSingleStep(StrataCGSingle, PetscReal beta, PetscReal alpha, PetscReal sums[]);
PETSC_INTERN PetscErrorCode       StrataCGSingleGive(StrataCGSingle, PetscReal *x);

/* Arrays of rounded numbers; the largest absolute value of numbers; a power of two next to 1 / x, 1 for 0; and the operator over sigma */
typedef struct {
  int    count;
  float *array[24];
} StrataCGFloats;
PETSC_INTERN PetscErrorCode StrataCGFloatsDestroy(StrataCGFloats *);
PETSC_INTERN PetscReal      StrataCGSingleLargest(ptrdiff_t n, const PetscReal *);
PETSC_INTERN PetscReal      StrataCGSinglePower(PetscReal x);
PETSC_INTERN PetscErrorCode StrataCGSingleOperator(const StrataCoef_d *, PetscReal sigma, StrataCGFloats *, StrataCoef_f *);

/* The same with the vectors of a pass, which must have been entered; r NULL: that of the pass */
PETSC_INTERN PetscErrorCode StrataCGPassSingle(StrataCGPass, const char **whynot);
PETSC_INTERN PetscErrorCode StrataCGPassSingleTake(StrataCGPass, PetscBool again, Vec r, PetscReal sums[]);
PETSC_INTERN PetscErrorCode StrataCGPassSingleStep(StrataCGPass, PetscReal beta, PetscReal alpha, PetscReal sums[]);
PETSC_INTERN PetscErrorCode StrataCGPassSingleGive(StrataCGPass, PetscBool add);

/* The operator that something was made for, as it was then */
typedef struct {
  StrataCoefficients c;
  PetscObjectState   state;
  PetscScalar        scale, shift;
} StrataCGMadeFor;

PETSC_INTERN PetscErrorCode StrataCGMadeForKeep(StrataCGMadeFor *, StrataCoefficients);
PETSC_INTERN PetscErrorCode StrataCGMadeForForget(StrataCGMadeFor *);
PETSC_INTERN PetscBool      StrataCGMadeForIs(const StrataCGMadeFor *, StrataCoefficients);

/* The numbers of a lean operator, for work on a GPU; NULL, and in words why, where there is none */
typedef struct _n_StrataCGDevice *StrataCGDevice;
PETSC_INTERN PetscErrorCode       StrataCGDeviceCreate(KSP, StrataCGDevice *, const char **whynot);
PETSC_INTERN PetscErrorCode       StrataCGDeviceDestroy(StrataCGDevice *);
PETSC_INTERN PetscErrorCode       StrataCGDeviceGet(StrataCGDevice, StrataCGLean_d *);

/* How the vectors of a right-hand side stand on a GPU: which of the old and new ones is which, and does x lack the last step? */
typedef struct {
  int       now;
  PetscBool owes;
} StrataCGStand;

/* After so many steps: each takes the old ones to the new ones, and x along if it lacks the step before */
static inline void StrataCGStandMove(StrataCGStand *stand, PetscInt count)
{
  if (count % 2) {
    stand->now = 1 - stand->now;
    stand->owes = stand->owes ? PETSC_FALSE : PETSC_TRUE;
  }
}

/* All of an iteration on a GPU, for a lean operator whose columns the preconditioner solves; NULL, and in words why, where it cannot be. Like the
   pass it works on vectors of its own, of as many right-hand sides as it is created for; Select says which is meant, the one that it is created with
   unless told. Begin takes its vectors unless it has them, and leaves the sums in the numbers of that right-hand side; Forget: the vectors of the
   solver are newer. Steps makes steps of all that are not done, of which Made then tells how many were not stopped by a test; room: of the history
   of each. `owed` is the length of the last step: x may lack it. */
typedef struct _n_StrataCGUpDown *StrataCGUpDown;
PETSC_INTERN PetscErrorCode StrataCGUpDownCreate(KSP, PetscInt vectors, PetscInt vector, StrataCG_d *numbers, StrataCGUpDown *, const char **whynot);
PETSC_INTERN PetscErrorCode StrataCGUpDownDestroy(StrataCGUpDown *);
PETSC_INTERN PetscErrorCode StrataCGUpDownSelect(StrataCGUpDown, PetscInt vector);
PETSC_INTERN PetscErrorCode StrataCGUpDownForget(StrataCGUpDown);
PETSC_INTERN PetscErrorCode StrataCGUpDownBegin(KSP, StrataCGUpDown, StrataCG_d *numbers);
PETSC_INTERN StrataCGStand  StrataCGUpDownStand(StrataCGUpDown);
PETSC_INTERN PetscErrorCode StrataCGUpDownSteps(KSP, StrataCGUpDown, PetscInt steps, StrataCG_d *numbers, PetscInt room,
                                                PetscReal (*history)[STRATA_CG_SUMS]);
PETSC_INTERN PetscErrorCode StrataCGUpDownMade(StrataCGUpDown, PetscInt count);
PETSC_INTERN PetscErrorCode StrataCGUpDownLeave(StrataCGUpDown, PetscReal owed, Vec p, Vec x, Vec r, PetscBool *left);
PETSC_INTERN PetscErrorCode StrataCGUpDownSolution(StrataCGUpDown, PetscReal owed, Vec x);

/* The same in single precision. Take: from the residual r - minus (minus may be NULL) of about the size `norm`, x is zero, p as it was or (not again)
   zero; z and the sums follow. Give: x is added to another one (NULL: lost) and zero again. Numbers and sums of the steps have another scale: Scale
   takes numbers there, Sums takes sums back. */
typedef struct _n_StrataCGUpDownSingle *StrataCGUpDownSingle;
PETSC_INTERN PetscErrorCode             StrataCGUpDownSingleCreate(KSP, StrataCGUpDownSingle *, const char **whynot);
PETSC_INTERN PetscErrorCode             StrataCGUpDownSingleDestroy(StrataCGUpDownSingle *);
PETSC_INTERN PetscErrorCode StrataCGUpDownSingleTake(StrataCGUpDownSingle, PetscBool again, PetscReal norm, Vec r, Vec minus, StrataCG_d *numbers,
                                                     PetscReal sum[]);
PETSC_INTERN PetscErrorCode StrataCGUpDownSingleSteps(StrataCGUpDownSingle, PetscInt steps, StrataCG_d *numbers,
                                                      PetscReal (*history)[STRATA_CG_SUMS]);
PETSC_INTERN PetscErrorCode StrataCGUpDownSingleMade(StrataCGUpDownSingle, PetscInt count);
PETSC_INTERN PetscErrorCode StrataCGUpDownSingleGive(StrataCGUpDownSingle, PetscReal owed, Vec x);
PETSC_INTERN void           StrataCGUpDownSingleScale(StrataCGUpDownSingle, StrataCG_d *numbers);
PETSC_INTERN void           StrataCGUpDownSingleSums(StrataCGUpDownSingle, PetscReal sum[]);

/* The same for other symmetric operators, with numbers of each cell, a mask, periodic sides */
typedef struct _n_StrataCGTiles *StrataCGTiles;
PETSC_INTERN PetscErrorCode      StrataCGTilesCreate(KSP, StrataCG_d *numbers, StrataCGTiles *, const char **whynot);
PETSC_INTERN PetscErrorCode      StrataCGTilesDestroy(StrataCGTiles *);
PETSC_INTERN PetscErrorCode      StrataCGTilesSteps(KSP, StrataCGTiles, PetscInt steps, StrataCG_d *numbers, PetscReal (*history)[STRATA_CG_SUMS]);
PETSC_INTERN PetscErrorCode      StrataCGTilesMade(StrataCGTiles, PetscInt count);
PETSC_INTERN PetscErrorCode      StrataCGTilesLeave(StrataCGTiles, PetscReal owed, Vec p, Vec x, Vec r, PetscBool *left);
PETSC_INTERN PetscErrorCode      StrataCGTilesSolution(StrataCGTiles, PetscReal owed, Vec x);

/* For both: what stands in the way, not set if nothing does; and are (r,z) and (z,Az) of `numbers` those that preconditioner and operator made? Then
   they take their place. */
PETSC_INTERN PetscErrorCode StrataCGColumnsRefuse(KSP, const char **whynot);
PETSC_INTERN PetscErrorCode StrataCGColumnsCompare(KSP, const StrataCG_d *numbers, const char **whynot);

/* The vectors of the method: residual, preconditioned residual, direction, A p, A z */
enum { CG_R, CG_Z, CG_P, CG_W, CG_S };

/* The tridiagonal matrix of Lanczos' method, from the numbers of the steps */
typedef struct {
  PetscInt   count, space;
  PetscReal *diagonal, *beside;
} StrataCGLanczos;

PETSC_INTERN PetscErrorCode StrataCGLanczosAdd(StrataCGLanczos *, PetscInt step, PetscReal beta, PetscReal alphabefore, PetscReal alpha);
PETSC_INTERN PetscErrorCode StrataCGLanczosDestroy(StrataCGLanczos *);
PETSC_INTERN PetscErrorCode StrataCGComputeExtremeSingularValues(KSP, PetscReal *emax, PetscReal *emin);
PETSC_INTERN PetscErrorCode StrataCGComputeEigenvalues(KSP, PetscInt, PetscReal[], PetscReal[], PetscInt *);

/* A solve under way: numbers of the method */
typedef struct {
  PetscReal gamma, curvature; /* (r,z) and (p,Ap) of the step before */
  PetscReal beta, alpha;      /* of the next step */
  PetscReal owed;             /* alpha of the last one, see StrataCGUpDown */
  PetscReal sum[STRATA_CG_SUMS];
  PetscReal drift, largest; /* what rounding may have made of the residual, and the largest residual, see StrataCGFusedDrift() */
  PetscReal looked, least;  /* the norm when that was looked at, and |b - A x| when it was last replaced */
  PetscInt  replaced;       /* residuals that were replaced */
} CGSolve;

/* and those of the solver, for one of several right-hand sides */
typedef struct {
  PetscInt           its;
  PetscReal          rnorm, rnorm0, ttol;
  KSPConvergedReason reason;
} CGProgress;

/* Collect: results of all in one, the first is number 0: the first failure, else the reason of the one that took longest, whose steps are counted */
PETSC_INTERN void StrataCGProgressGet(KSP, CGProgress *);
PETSC_INTERN void StrataCGProgressSet(KSP, const CGProgress *);
PETSC_INTERN void StrataCGProgressCollect(CGProgress *all, PetscInt v, const CGProgress *one);

typedef struct {
  /* what was asked for */
  KSPCGFusedForm      form;
  KSPCGFusedPrecision precision;
  PetscInt            interval; /* steps between looks at the device; PETSC_DETERMINE: our choice */
  /* how it is done */
  CGFusedLevel         level;
  const char          *whynot;    /* why not all together */
  const char          *notsingle; /* why not in single precision, if that was asked for */
  StrataCGPass         pass;
  StrataCGDevice       device;
  StrataCGUpDown       updown;
  StrataCGUpDownSingle single;
  StrataCGTiles        tiles;
  PetscBool            worked; /* has a solve been made, and in which memory */
  PetscMemType         type;
  StrataCGUpDown       batch; /* the right-hand sides of a batch of KSPMatSolve() */
  StrataArray          batchnumbers;
  StrataArray     numbers[2], work[2], history; /* a StrataCG_d and its work space, on the host and on the device; sums of the steps of a batch */
  PetscInt        columns;                      /* of the last batch of KSPMatSolve(), 0: there was none */
  const char     *apart;                        /* why they were not solved together */
  CGSolve         solve;
  StrataCGLanczos lanczos;
} KSP_CGFused;

/* Pieces of a solve, for those who drive several at once: see cgfused.c. Update and Sums do the work on vectors before and after z and s are made. */
PETSC_INTERN PetscErrorCode StrataCGFusedStart(KSP, PetscBool sums);
PETSC_INTERN PetscErrorCode StrataCGFusedResidual(KSP);
PETSC_INTERN PetscErrorCode StrataCGFusedDots(KSP, PetscInt count, const Vec x[], const Vec y[], PetscReal dot[]);
PETSC_INTERN PetscErrorCode StrataCGFusedDrift(KSP);
PETSC_INTERN PetscErrorCode StrataCGFusedPrepare(KSP, PetscBool *made);
PETSC_INTERN PetscErrorCode StrataCGFusedLength(KSP, PetscReal gamma, PetscReal curvature);
PETSC_INTERN PetscErrorCode StrataCGFusedAdvance(KSP);
PETSC_INTERN void           StrataCGFusedGetNumbers(KSP, PetscReal beta, PetscReal alpha, PetscBool tests, StrataCG_d *);
PETSC_INTERN PetscErrorCode StrataCGFusedSetNumbers(KSP, PetscReal beta, PetscReal alpha, PetscBool tests);
PETSC_INTERN PetscErrorCode StrataCGFusedBatch(KSP, PetscInt *steps);
PETSC_INTERN PetscErrorCode StrataCGFusedSteps(KSP, PetscBool made, PetscInt steps);
PETSC_INTERN PetscErrorCode StrataCGFusedFollow(KSP, PetscInt count, const PetscReal (*history)[STRATA_CG_SUMS]);
PETSC_INTERN PetscErrorCode StrataCGFusedGetHistory(KSP, PetscInt room, PetscReal (**)[STRATA_CG_SUMS]);
PETSC_INTERN PetscErrorCode StrataCGFusedUpdate(KSP);
PETSC_INTERN PetscErrorCode StrataCGFusedSums(KSP);
PETSC_INTERN PetscErrorCode StrataCGFusedLocalSums(KSP);
PETSC_INTERN PetscReal      StrataCGFusedNorm(KSP);
PETSC_INTERN PetscErrorCode StrataCGFusedTest(KSP, PetscReal norm);
PETSC_INTERN PetscErrorCode StrataCGFusedSingle(KSP); /* the steps of a solve, in single precision */
PETSC_INTERN PetscErrorCode StrataCGFusedReset(KSP_CGFused *);
PETSC_INTERN PetscErrorCode StrataCGFusedMatSolve(KSP, Mat B, Mat X);
/* In two passes along columns on a GPU: how many right-hand sides are solved, their results in one, and in words why not all of them */
PETSC_INTERN PetscErrorCode StrataCGFusedMatSolveColumns(KSP, Mat B, Mat X, PetscInt *solved, CGProgress *all, const char **apart);

PETSC_INTERN PetscErrorCode StrataCGFusedCompose(KSP, PetscBool);

#endif
