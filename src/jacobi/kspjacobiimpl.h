/*
   What the KSP on the sweep engine is made of
*/
#ifndef STRATA_KSPJACOBIIMPL_H
#define STRATA_KSPJACOBIIMPL_H

#include "jacobiimpl.h"
#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>
#include "jacobi_watch_kernels.h"

/* Tests where the work is done, and what the host has seen of them: half of them are under way while it looks at the other half */
typedef struct {
  StrataArray  record, sums, kept; /* tests, work space of norms, the iterate that passed */
  PetscMemType type;
  double      *seen[2]; /* copies of the record on the host */
  void        *event[2];
} StrataWatch;

typedef struct {
  StrataJacobi jacobi; /* first */
  PetscInt     interval;
  HJacobiNorm  norm;
  HJacobiCheck check;
  StrataWatch  watch;
  PetscBool    anywhere; /* overlapped on the host too: the same path, for tests */
  const char  *blocking; /* why the last solve was not overlapped, NULL if it was */
  /* of the solve under way */
  Vec       current;
  PetscBool first, finite; /* has nothing been tested so far, was the first norm a number */
  PetscReal reference;     /* what norms are measured by */
  PetscBool failed;        /* the reason of the PC was set at the last solve */
} KSP_HJacobi;

/* r = b - A x */
PETSC_INTERN PetscErrorCode KSPHJacobiResidual(KSP, Vec x, Vec r);
/* Cycles on x, `first` have been before; the result is in *x, which may have become the other of the two vectors. The largest change of the last
   sweep: read into *change, or *stays says where it is. */
PETSC_INTERN PetscErrorCode KSPHJacobiCycles(KSP, PetscInt first, PetscInt cycles, Vec *x, PetscReal *change, const PetscReal **stays);
/* What is to be done about the norm at iteration ksp->its; norms between the bounds let the solve go on */
PETSC_INTERN PetscErrorCode KSPHJacobiJudge(KSP, PetscReal norm);
PETSC_INTERN PetscErrorCode KSPHJacobiBounds(KSP, PetscReal *low, PetscReal *high);

/* Cycles with tests that the host looks at later, until there is a reason or there are no more iterations; the result is in *x */
PETSC_INTERN PetscErrorCode KSPHJacobiRunAhead(KSP, PetscMemType, PetscInt step, Vec *x);
PETSC_INTERN PetscErrorCode StrataWatchReset(StrataWatch *);

#endif
