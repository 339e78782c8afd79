/*
   Estimates of eigenvalues from the numbers of conjugate gradients
*/
#include "cgimpl.h"

PetscErrorCode StrataCGLanczosAdd(StrataCGLanczos *t, PetscInt step, PetscReal beta, PetscReal alphabefore, PetscReal alpha)
{
  const PetscReal root = PetscSqrtReal(PetscAbsReal(beta));

  PetscFunctionBegin;
  if (step >= t->space) {
    const PetscInt space = PetscMax(64, 2 * step);
    PetscReal     *diagonal, *beside;

    PetscCall(PetscMalloc2(space, &diagonal, space, &beside));
    PetscCall(PetscArraycpy(diagonal, t->diagonal, t->count));
    PetscCall(PetscArraycpy(beside, t->beside, t->count));
    PetscCall(PetscFree2(t->diagonal, t->beside));
    t->diagonal = diagonal;
    t->beside = beside;
    t->space = space;
  }
  t->beside[step] = step ? root / alphabefore : 0;
  t->diagonal[step] = root * t->beside[step] + 1 / alpha;
  t->count = step + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGLanczosDestroy(StrataCGLanczos *t)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(t->diagonal, t->beside));
  t->count = t->space = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many eigenvalues are less than x (Sturm's sequence) */
static PetscInt StrataCGLanczosBelow(const StrataCGLanczos *t, PetscReal x)
{
  PetscInt  count = 0;
  PetscReal d = 1;

  for (PetscInt i = 0; i < t->count; i++) {
    d = t->diagonal[i] - x - t->beside[i] * t->beside[i] / d;
    if (d == 0) d = -PETSC_SMALL * PETSC_SMALL * (PetscAbsReal(x) + PETSC_SMALL);
    if (d < 0) count++;
  }
  return count;
}

/* The eigenvalue with so many before it, by bisection */
static PetscReal StrataCGLanczosEigenvalue(const StrataCGLanczos *t, PetscInt before)
{
  PetscReal low = PETSC_MAX_REAL, high = -PETSC_MAX_REAL, middle;

  for (PetscInt i = 0; i < t->count; i++) { /* Gershgorin */
    const PetscReal radius = t->beside[i] + (i + 1 < t->count ? t->beside[i + 1] : 0);

    low = PetscMin(low, t->diagonal[i] - radius);
    high = PetscMax(high, t->diagonal[i] + radius);
  }
  for (middle = low + (high - low) / 2; middle > low && middle < high; middle = low + (high - low) / 2)
    if (StrataCGLanczosBelow(t, middle) > before)
      high = middle;
    else
      low = middle;
  return middle;
}

PetscErrorCode StrataCGComputeEigenvalues(KSP ksp, PetscInt nmax, PetscReal r[], PetscReal c[], PetscInt *count)
{
  const StrataCGLanczos *t = &((KSP_CGFused *)ksp->data)->lanczos;

  PetscFunctionBegin;
  PetscCheck(nmax >= t->count, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_SIZ,
             "There are %" PetscInt_FMT " estimates of eigenvalues, but room for %" PetscInt_FMT ": give as much as there were iterations", t->count,
             nmax);
  *count = t->count;
  PetscCall(PetscArrayzero(c, nmax));
  for (PetscInt i = 0; i < t->count; i++) r[i] = StrataCGLanczosEigenvalue(t, i);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGComputeExtremeSingularValues(KSP ksp, PetscReal *emax, PetscReal *emin)
{
  const StrataCGLanczos *t = &((KSP_CGFused *)ksp->data)->lanczos;

  PetscFunctionBegin;
  *emax = *emin = 1;
  if (!t->count) PetscFunctionReturn(PETSC_SUCCESS);
  *emin = StrataCGLanczosEigenvalue(t, 0);
  *emax = StrataCGLanczosEigenvalue(t, t->count - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}
