/*
   Eigenvalues of a matrix with rows divided by its diagonal, estimated as KSPCHEBYSHEV does: by a few steps of a Krylov method
*/
#include "jacobiimpl.h"

/* The same numbers in (-1, 1) on every process grid, without pattern */
static PetscErrorCode StrataSpectrumStart(StrataGrid g, Vec v)
{
  PetscScalar *a;
  PetscInt     id = 0, i, j, k;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(v, &a));
  for (k = 0; k < g->n[2]; k++)
    for (j = 0; j < g->n[1]; j++)
      for (i = 0; i < g->n[0] && g->size_local; i++, id++) {
        uint64_t z = (uint64_t)(g->lo[0] + i) + (uint64_t)g->N[0] * (uint64_t)((g->lo[1] + j) + g->N[1] * (g->lo[2] + k));

        z = (z + 1) * 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        a[id] = (PetscScalar)((double)(int64_t)(z ^ (z >> 31)) / 9223372036854775808.0);
      }
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same by one Krylov method; none if it breaks down at once */
static PetscErrorCode StrataSpectrumBy(Mat A, const char prefix[], KSPType type, Vec b, PetscInt steps, PetscInt *count, PetscReal re[],
                                       PetscReal im[])
{
  KSP ksp;
  PC  pc;
  Vec x;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, prefix)); /* else it would obey options of another solver */
  PetscCall(KSPAppendOptionsPrefix(ksp, "hjacobi_esteig_"));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_FALSE));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPGMRESSetRestart(ksp, steps));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetComputeEigenvalues(ksp, PETSC_TRUE));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, steps));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, count));
  if (*count) PetscCall(KSPComputeEigenvalues(ksp, steps, re, im, count));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the start to the size of the diagonal: then no number of the methods depends on the scale of the matrix, which could leave their range. A
   power of two changes no bit of the results. */
static PetscErrorCode StrataSpectrumScale(Mat A, Vec v)
{
  Vec       d;
  PetscReal largest;
  int       exponent;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(v, &d));
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(VecNorm(d, NORM_INFINITY, &largest));
  PetscCall(VecDestroy(&d));
  (void)frexp(largest, &exponent);
  PetscCall(VecScale(v, ldexp(1, exponent)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataSpectrum - Ritz values of D^-1 A after some steps: of Lanczos' method (as CG) where the matrix is symmetric, else of Arnoldi's (as GMRES)
*/
PetscErrorCode StrataSpectrum(Mat A, const char prefix[], StrataGrid g, PetscBool symmetric, PetscInt steps, PetscInt *count, PetscReal re[],
                              PetscReal im[])
{
  Vec b;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &b, NULL));
  PetscCall(StrataSpectrumStart(g, b));
  PetscCall(StrataSpectrumScale(A, b));
  *count = 0;
  if (symmetric) PetscCall(StrataSpectrumBy(A, prefix, KSPCG, b, steps, count, re, im));
  if (!*count) PetscCall(StrataSpectrumBy(A, prefix, KSPGMRES, b, steps, count, re, im));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}
