/*
   Which operator something was made for
*/
#include "cgimpl.h"

PetscErrorCode StrataCGMadeForKeep(StrataCGMadeFor *m, StrataCoefficients c)
{
  PetscFunctionBegin;
  PetscCall(StrataCoefficientsReference(c));
  m->c = c;
  m->state = c->state;
  m->scale = c->scale;
  m->shift = c->shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGMadeForForget(StrataCGMadeFor *m)
{
  PetscFunctionBegin;
  PetscCall(StrataCoefficientsDestroy(&m->c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool StrataCGMadeForIs(const StrataCGMadeFor *m, StrataCoefficients c)
{
  return m->c == c && m->state == c->state && m->scale == c->scale && m->shift == c->shift ? PETSC_TRUE : PETSC_FALSE;
}
