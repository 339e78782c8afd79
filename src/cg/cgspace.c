/*
   The vectors of the two passes along columns
*/
#include "cgupdownimpl.h"

void StrataCGStandMove(StrataCGStand *stand, PetscInt count)
{
  if (count % 2) {
    stand->now = 1 - stand->now;
    stand->owes = stand->owes ? PETSC_FALSE : PETSC_TRUE;
  }
}

#if STRATA_HAVE_CUDA

#define STRATA_TYPED "../cg/cgspace_typed.h"
#include "../sys/typed.h"

#endif
