/*
   What the examples share: their common options, progress, a solve that is timed, and the line with the result
*/
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <strata.h>
#include <petsctime.h>
#include <unistd.h>

typedef struct {
  PetscBool          assembled;                  /* use an AIJ matrix in place of the Strata operator */
  PetscBool          progress;                   /* say now and then how far the solver is */
  char               output[PETSC_MAX_PATH_LEN]; /* the file for the fields, empty for none */
  PetscReal          norm;                       /* of the right-hand side */
  PetscLogDouble     shown;                      /* when progress was shown last */
  PetscInt           its;                        /* of all solves */
  KSPConvergedReason reason;                     /* of the last solve */
} Example;

static PetscErrorCode ExampleSetFromOptions(Example *example)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(example, sizeof(*example)));
  example->progress = isatty(STDERR_FILENO) ? PETSC_TRUE : PETSC_FALSE;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Options of all examples", NULL);
  PetscCall(PetscOptionsBool("-assembled", "Use an AIJ matrix in place of the Strata operator", NULL, example->assembled, &example->assembled, NULL));
  PetscCall(PetscOptionsBool("-progress", "Show progress, the default on a terminal", NULL, example->progress, &example->progress, NULL));
  PetscCall(PetscOptionsString("-output", "Write the fields to this HDF5 file", NULL, "", example->output, sizeof(example->output), NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(0);
}

/* With -assembled: replaces the operator by an AIJ matrix, of the type -dm_mat_type, or one for the GPU when the vectors are there */
static PetscErrorCode ExampleAssemble(const Example *example, DM dm, Mat *A)
{
  MatType   type;
  VecType   vectype;
  PetscBool aij;
  char     *cuda;
  Mat       B;

  PetscFunctionBeginUser;
  if (!example->assembled) PetscFunctionReturn(0);
  PetscCall(DMGetMatType(dm, &type));
  PetscCall(DMGetVecType(dm, &vectype));
  PetscCall(PetscStrcmp(type, MATAIJ, &aij));
  PetscCall(PetscStrstr(vectype, VECCUDA, &cuda));
  PetscCall(MatConvert(*A, aij && cuda ? MATAIJCUSPARSE : type, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatDestroy(A));
  *A = B;
  PetscFunctionReturn(0);
}

/* Called by KSP in every iteration: twice a second a line, on one rank; on a terminal always the same line */
static PetscErrorCode ExampleShowProgress(KSP ksp, PetscInt it, PetscReal residual, void *ctx)
{
  Example       *example = (Example *)ctx;
  PetscLogDouble now;

  PetscFunctionBeginUser;
  (void)ksp;
  PetscCall(PetscTime(&now));
  if (now - example->shown < 0.5) PetscFunctionReturn(0);
  example->shown = now;
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, stderr,
                         isatty(STDERR_FILENO) ? "\r  iteration %" PetscInt_FMT ", residual %.1e " : "  iteration %" PetscInt_FMT ", residual %.1e\n",
                         it, (double)(residual / example->norm)));
  PetscFunctionReturn(0);
}

/* Solves A x = b and says how long it took */
static PetscErrorCode ExampleSolve(Example *example, KSP ksp, Vec b, Vec x)
{
  PetscLogDouble begin, ready, end;
  PetscMPIInt    ranks;
  PetscInt       its;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(VecNorm(b, NORM_2, &example->norm));
  if (example->progress) PetscCall(KSPMonitorSet(ksp, ExampleShowProgress, example, NULL));
  PetscCall(PetscTime(&begin));
  example->shown = begin;
  PetscCall(KSPSetUp(ksp));
  PetscCall(PetscTime(&ready));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &example->reason));
  example->its += its;
  if (example->progress && isatty(STDERR_FILENO)) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, stderr, "\r%40s\r", ""));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s in %" PetscInt_FMT " iterations and %.3g s on %d rank%s, after %.2g s of set-up\n",
                        example->reason > 0 ? "Solved" : "Not solved", its, end - ready, ranks, ranks > 1 ? "s" : "", ready - begin));
  PetscFunctionReturn(0);
}

/* Norm and maximum of x over the cells that are not masked, on the host; no mask: NULL. NaN in a cell is NaN in both. */
static PetscErrorCode ExampleSummarise(Vec x, Vec mask, PetscReal *norm, PetscReal *max)
{
  const PetscScalar *v, *m = NULL;
  PetscReal          sum = 0, most = PETSC_MIN_REAL;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &v));
  if (mask) PetscCall(VecGetArrayRead(mask, &m));
  for (PetscInt i = 0; i < n; i++) {
    if (m && m[i] != 0) continue;
    sum += v[i] * v[i];
    most = PetscMax(most, v[i]);
  }
  if (mask) PetscCall(VecRestoreArrayRead(mask, &m));
  PetscCall(VecRestoreArrayRead(x, &v));
  PetscCallMPI(MPIU_Allreduce(&sum, norm, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPIU_Allreduce(&most, max, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  *norm = PetscSqrtReal(*norm);
  if (PetscIsNanReal(*norm)) *max = *norm; /* which comparisons do not find */
  PetscFunctionReturn(0);
}

/* The last line of every example, for scripts */
static PetscErrorCode ExamplePrintResult(const Example *example, KSP ksp, Vec b, Vec x, Vec mask)
{
  PetscReal residual, norm, max;
  Mat       A;
  Vec       r;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatResidual(A, b, x, r));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(VecDestroy(&r));
  PetscCall(ExampleSummarise(x, mask, &norm, &max));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "result: its %" PetscInt_FMT " reason %s residual %.6e norm %.8e max %.8e\n", example->its,
                        KSPConvergedReasons[example->reason], (double)(residual / example->norm), (double)norm, (double)max));
  PetscFunctionReturn(0);
}

#endif
