/*
   What the KSP on the sweep engine is made of
*/
#ifndef STRATA_KSPJACOBIIMPL_H
#define STRATA_KSPJACOBIIMPL_H

#include "jacobiimpl.h"
#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>

typedef struct {
  StrataJacobi jacobi; /* first */
  PetscInt     interval;
  HJacobiNorm  norm;
  /* of the solve under way */
  Vec       current;
  PetscBool first, finite; /* has nothing been tested so far, was the first norm a number */
  PetscReal reference;     /* what norms are measured by */
  PetscBool failed;        /* the reason of the PC was set at the last solve */
} KSP_HJacobi;

#endif
