/*
   KSPHJACOBI and PCHJACOBI with bad input: errors on all ranks that say what to do, and failures that end a solve with a reason
*/
/* ranks: 1 2 3 */
#include "problems.h"
#include <petsc/private/pcimpl.h>

static PetscErrorCode Create(Mat A, Mat P, KSPType type, PCType pctype, KSP *ksp, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, P));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPGetPC(*ksp, pc));
  if (pctype) PetscCall(PCSetType(*pc, pctype));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Settings that are wrong by themselves */
static PetscErrorCode Settings(Mat A)
{
  const PetscInt odd = 3, negative = -2, list[3] = {4, -6, 5}, zero = 0;
  KSP            ksp;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(Create(A, A, KSPHJACOBI, NULL, &ksp, &pc));
#define SETTINGS(P, object, name)                                                                                                                    \
  is_error(P##HJacobiSetOverlap(object, 1, &odd), PETSC_ERR_ARG_OUTOFRANGE, "overlap of 3 even -" name "_hjacobi_overlap", #P ": an odd overlap");   \
  is_error(P##HJacobiSetOverlap(object, 1, &negative), PETSC_ERR_ARG_OUTOFRANGE, "overlap of -2 not be negative exact", #P ": a negative overlap");  \
  is_error(P##HJacobiSetOverlap(object, 3, list), PETSC_ERR_ARG_OUTOFRANGE, "-6", #P ": a bad overlap among good ones");                             \
  is_error(P##HJacobiSetOverlap(object, 0, list), PETSC_ERR_ARG_OUTOFRANGE, "1, 2 or 3 axes", #P ": no overlap");                                    \
  is_error(P##HJacobiSetTile(object, 1, &zero), PETSC_ERR_ARG_OUTOFRANGE, "0 cells wide -" name "_hjacobi_tile positive", #P ": an empty tile");     \
  is_error(P##HJacobiSetTile(object, 4, list), PETSC_ERR_ARG_OUTOFRANGE, "axes not 4", #P ": four widths");                                          \
  is_error(P##HJacobiSetSubiterations(object, 0), PETSC_ERR_ARG_OUTOFRANGE, "-" name "_hjacobi_subiterations 1 or more", #P ": no sweeps");          \
  is_error(P##HJacobiSetOmega(object, -0.5), PETSC_ERR_ARG_OUTOFRANGE, "-0.5 positive", #P ": a negative weight");                                   \
  is_error(P##HJacobiSetOmega(object, NAN), PETSC_ERR_ARG_OUTOFRANGE, "nan positive", #P ": a weight that is not a number");                         \
  is_error(P##HJacobiSetChebyshevBounds(object, 2, 0.1), PETSC_ERR_ARG_OUTOFRANGE, "[2., 0.1] -" name "_hjacobi_chebyshev_bounds positive lower",    \
           #P ": an interval that is turned around");                                                                                                \
  is_error(P##HJacobiSetChebyshevBounds(object, 0, 2), PETSC_ERR_ARG_OUTOFRANGE, "positive", #P ": an interval from zero");                          \
  is_error(P##HJacobiSetChebyshevBounds(object, -1, 2), PETSC_ERR_ARG_OUTOFRANGE, "positive", #P ": a negative interval");                           \
  is_error(P##HJacobiSetChebyshevBounds(object, 1, NAN), PETSC_ERR_ARG_OUTOFRANGE, "positive", #P ": an interval without end");                      \
  is_error(P##HJacobiSetSRJLevels(object, 6), PETSC_ERR_ARG_OUTOFRANGE, "6 weights -" name "_hjacobi_srj_levels", #P ": too many weights");          \
  is_error(P##HJacobiSetSchedule(object, (HJacobiSchedule)7), PETSC_ERR_ARG_OUTOFRANGE, "schedule 7", #P ": a schedule that is not there");          \
  is_error(P##HJacobiSetKernel(object, (HJacobiKernel)9), PETSC_ERR_ARG_OUTOFRANGE, "kernel 9", #P ": a kernel that is not there");                  \
  is_error(P##HJacobiSetPrecision(object, (HJacobiPrecision)9), PETSC_ERR_ARG_OUTOFRANGE, "precision 9", #P ": a precision that is not there");      \
  is_error(P##HJacobiSetGrid(object, 1, &zero), PETSC_ERR_ARG_OUTOFRANGE, "0 cells along axis x -" name "_hjacobi_grid", #P ": an empty grid");      \
  is_error(P##HJacobiSetGrid(object, 2, NULL), PETSC_ERR_ARG_NULL, "missing 2", #P ": a grid without numbers");
  SETTINGS(KSP, ksp, "ksp")
  is_error(KSPHJacobiSetCheckInterval(ksp, 0), PETSC_ERR_ARG_OUTOFRANGE, "-ksp_hjacobi_check_interval 1 or more", "KSP: no interval");
  is_error(KSPHJacobiSetNorm(ksp, (HJacobiNorm)8), PETSC_ERR_ARG_OUTOFRANGE, "norm 8", "KSP: a norm that is not there");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(Create(A, A, KSPCG, PCHJACOBI, &ksp, &pc));
  SETTINGS(PC, pc, "pc")
  is_error(PCHJacobiSetCycles(pc, 0), PETSC_ERR_ARG_OUTOFRANGE, "0 cycles -pc_hjacobi_cycles 1 or more", "PC: no cycles");
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Settings, vectors and grids that only a look at all ranks, or at large numbers, finds */
static PetscErrorCode Ranks(Mat A, PetscMPIInt rank, PetscMPIInt size)
{
  const PetscInt wraps[2] = {65536, 65536}, overlap = 2 * rank;
  KSP            ksp;
  PC             pc;
  Mat            B;
  Vec            r, z;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, 0, 0, PETSC_DETERMINE, PETSC_DETERMINE, 0, NULL, 0, NULL, &B)); /* in 32 bits 65536 x 65536 is 0 */
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(Create(B, B, KSPHJACOBI, NULL, &ksp, &pc));
  PetscCall(KSPHJacobiSetGrid(ksp, 2, wraps));
  is_error(KSPSetUp(ksp), PETSC_ERR_ARG_SIZ, "65536 x 65536 x 1 0 rows -ksp_hjacobi_grid", "a grid of more cells than a number can hold");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&B));

  PetscCall(Create(A, A, KSPCG, PCHJACOBI, &ksp, &pc));
  PetscCall(PCSetUp(pc));
  PetscCall(MatCreateVecs(A, &z, NULL));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &r));
  PetscCall(VecSetSizes(r, 1, PETSC_DETERMINE));
  PetscCall(VecSetFromOptions(r));
  PetscCall(VecSet(r, 1));
  is_error(PCApplyTranspose(pc, r, z), PETSC_ERR_ARG_SIZ, "entries rows MatCreateVecs()", "a vector of another length");
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(KSPDestroy(&ksp));

  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Create(A, A, KSPCG, PCHJACOBI, &ksp, &pc));
  PetscCall(PCHJacobiSetOverlap(pc, 1, &overlap));
  is_error(PCSetUp(pc), PETSC_ERR_ARG_WRONG, "-pc_hjacobi_overlap differs ranks", "another overlap on another rank");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(Create(A, A, KSPHJACOBI, NULL, &ksp, &pc));
  PetscCall(KSPHJacobiSetOmega(ksp, 1. / (1 + rank)));
  is_error(KSPSetUp(ksp), PETSC_ERR_ARG_WRONG, "-ksp_hjacobi_omega differs ranks", "another weight on another rank");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(Create(A, A, KSPHJACOBI, NULL, &ksp, &pc));
  PetscCall(KSPHJacobiSetNorm(ksp, rank ? HJACOBI_NORM_UPDATE : HJACOBI_NORM_2));
  is_error(KSPSetUp(ksp), PETSC_ERR_ARG_WRONG, "-ksp_hjacobi_norm differs ranks", "another norm on another rank");
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Settings that do not fit each other or the matrix */
static PetscErrorCode Combinations(const Problem *p, Mat A)
{
  const PetscInt four = 4, grid[2] = {3, 3};
  PetscInt       n = p->n[0] * p->n[1] * p->n[2];
  KSP            ksp;
  PC             pc;
  Mat            B;

  PetscFunctionBeginUser;
  PetscCall(Create(A, A, KSPHJACOBI, NULL, &ksp, &pc));
  PetscCall(KSPHJacobiSetSubiterations(ksp, 8));
  PetscCall(KSPHJacobiSetTile(ksp, 1, &four));
  PetscCall(KSPHJacobiSetOverlap(ksp, 1, &four));
  is_error(KSPSetUp(ksp), PETSC_ERR_ARG_OUTOFRANGE, "overlap 4 less than the tile 4 cells -ksp_hjacobi_tile -ksp_hjacobi_overlap",
           "an overlap as wide as the tile");
  is_error(KSPSetUp(ksp), PETSC_ERR_ARG_OUTOFRANGE, "overlap 4 less than the tile", "and again");
  PetscCall(KSPDestroy(&ksp));

  PetscCall(Create(A, A, KSPCG, PCHJACOBI, &ksp, &pc));
  PetscCall(PCHJacobiSetSchedule(pc, HJACOBI_SRJ));
  is_error(KSPSetUp(ksp), PETSC_ERR_ARG_INCOMP, "3 different weights 2 sweeps -pc_hjacobi_srj_levels -pc_hjacobi_subiterations",
           "more weights than sweeps");
  PetscCall(KSPDestroy(&ksp));

  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(Create(A, B, KSPHJACOBI, NULL, &ksp, &pc));
  is_error(KSPSetUp(ksp), PETSC_ERR_ARG_INCOMP, "must be the same KSPSetOperators() richardson", "two matrices");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&B));

  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, n, n, PETSC_DETERMINE, PETSC_DETERMINE, 1, NULL, 0, NULL, &B));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatShift(B, 1));
  PetscCall(Create(B, B, KSPHJACOBI, NULL, &ksp, &pc));
  is_error(KSPSetUp(ksp), PETSC_ERR_ARG_WRONGSTATE, "no grid DMCreateMatrix() -ksp_hjacobi_grid", "a matrix without a grid");
  PetscCall(KSPHJacobiSetGrid(ksp, 2, grid));
  is_error(KSPSetUp(ksp), PETSC_ERR_ARG_SIZ, "3 x 3 x 1 -ksp_hjacobi_grid", "a grid of another size");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(Create(B, B, KSPCG, PCHJACOBI, &ksp, &pc));
  is_error(KSPSetUp(ksp), PETSC_ERR_ARG_WRONGSTATE, "no grid PCSetDM() -pc_hjacobi_grid", "a matrix without a grid, for the PC");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&B));

  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatSetDM(B, p->dm));
  PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetValue(B, 0, 3, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(Create(B, B, KSPHJACOBI, NULL, &ksp, &pc));
  is_error(KSPSetUp(ksp), PETSC_ERR_ARG_INCOMP, "outside the star row 0", "an entry outside the star");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix with a rotation in it has complex eigenvalues, which no interval holds */
static PetscErrorCode Complex(Problem p)
{
  Mat               A;
  KSP               ksp;
  PC                pc;
  const PetscScalar twist[6] = {-3, 3, -3, 3, 0, 0};

  PetscFunctionBeginUser;
  PetscCall(MatCreateStrata(p.dm, &A));
  PetscCall(MatStrataSetConstant(A, 1, twist));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Create(A, A, KSPGMRES, PCHJACOBI, &ksp, &pc));
  is_error(KSPSetUp(ksp), PETSC_ERR_ARG_WRONG, "complex eigenvalues -pc_hjacobi_schedule chebyshev constant -pc_hjacobi_omega",
           "complex eigenvalues");
  is_error(KSPSetUp(ksp), PETSC_ERR_ARG_WRONG, "complex eigenvalues", "and again");
  PetscCall(PCHJacobiSetSchedule(pc, HJACOBI_CONSTANT));
  PetscCall(KSPSetUp(ksp));
  ok(1, "the advice helps");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Reason(KSP ksp, Vec b, Vec x, KSPConvergedReason expected, const char name[])
{
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  is_string(KSPConvergedReasons[reason], KSPConvergedReasons[expected], "%s", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix that its diagonal does not dominate: iterates grow, at once or after a while */
static PetscErrorCode Grows(Problem p)
{
  const PetscScalar legs[6] = {-1, -1, -1, -1, 0, 0}, excess[3] = {-0.5, -2, -3.9};
  Mat               A;
  Vec               b, x;
  KSP               ksp;
  PC                pc;
  PetscReal         last;

  PetscFunctionBeginUser;
  for (int m = 0; m < 3; m++) {
    PetscCall(MatCreateStrata(p.dm, &A));
    PetscCall(MatStrataSetConstant(A, excess[m], legs));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(ProblemVector(&p, 1, &b));
    PetscCall(VecDuplicate(b, &x));
    for (int norm = HJACOBI_NORM_2; norm <= HJACOBI_NORM_UPDATE; norm++) {
      PetscCall(Create(A, A, KSPHJACOBI, NULL, &ksp, &pc));
      PetscCall(KSPHJacobiSetNorm(ksp, (HJacobiNorm)norm));
      PetscCall(Reason(ksp, b, x, KSP_DIVERGED_DTOL, "a matrix that its diagonal does not dominate"));
      PetscCall(KSPGetResidualNorm(ksp, &last));
      ok(last < 1e30, "norm %s: it is seen before numbers overflow, at %g", HJacobiNorms[norm], (double)last);
      PetscCall(KSPHJacobiSetPrecision(ksp, HJACOBI_PRECISION_SINGLE));
      PetscCall(Reason(ksp, b, x, KSP_DIVERGED_DTOL, "in single precision"));
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Zeros and NaN in the matrix, the right-hand side and the guess */
static PetscErrorCode Numbers(const Problem *p, Mat A)
{
  const PetscInt last = p->N[0] * p->N[1] * p->N[2] - 1;
  Vec            b, x, d;
  Mat            B;
  KSP            ksp;
  PC             pc;
  PCFailedReason why;
  PetscScalar    good;
  PetscReal      norm;
  PetscInt       first, end;

  PetscFunctionBeginUser;
  PetscCall(ProblemVector(p, 1, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &d));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatSetDM(B, p->dm));
  PetscCall(MatGetDiagonal(B, d));
  PetscCall(VecMax(d, NULL, &good));
  PetscCall(MatGetOwnershipRange(B, &first, &end));
#define ENTRY(value)  SET_ENTRY(last, value)
#define BESIDE(value) SET_ENTRY(last - 1, value)
#define SET_ENTRY(column, value)                                                                                                                     \
  do {                                                                                                                                               \
    if (last >= first && last < end) PetscCall(MatSetValue(B, last, column, value, INSERT_VALUES));                                                  \
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));                                                                                              \
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));                                                                                                \
  } while (0)
  for (int solver = 0; solver < 2; solver++) {
    const char *type = solver ? "PC" : "KSP";

    PetscCall(Create(B, B, solver ? KSPGMRES : KSPHJACOBI, solver ? PCHJACOBI : NULL, &ksp, &pc));
    ENTRY(0);
    PetscCall(Reason(ksp, b, x, KSP_DIVERGED_PC_FAILED, "a zero on the diagonal"));
    PetscCall(PCGetFailedReason(pc, &why));
    is_int(why, PC_FACTOR_NUMERIC_ZEROPIVOT, "%s: the reason of the PC", type);
    ENTRY(NAN);
    PetscCall(Reason(ksp, b, x, KSP_DIVERGED_PC_FAILED, "NaN on the diagonal"));
    ENTRY(good);
    BESIDE(NAN);
    PetscCall(Reason(ksp, b, x, KSP_DIVERGED_PC_FAILED, "NaN beside the diagonal"));
    BESIDE(-1);
    ENTRY(good);
    if (solver) { /* KSP of PETSc 3.18 remembers a failure of its PC */
      PetscCall(PCSetUp(pc));
      PetscCall(PCGetFailedReason(pc, &why));
      PetscCall(PCApply(pc, b, x));
      PetscCall(VecNorm(x, NORM_2, &norm));
      ok(why == PC_NOERROR && norm > 0 && norm < 1e6, "PC: a good matrix after that");
    } else
      PetscCall(Reason(ksp, b, x, KSP_CONVERGED_RTOL, "a good matrix after that"));
    ENTRY(0);
    PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
    PetscCall(PCSetErrorIfFailure(pc, PETSC_TRUE));
    is_error(KSPSolve(ksp, b, x), solver ? PETSC_ERR_MAT_LU_ZRPVT : PETSC_ERR_NOT_CONVERGED, solver ? "zero diagonal row" : "PC_FAILED",
             "%s: an error if that is wanted", type);
    PetscCall(KSPDestroy(&ksp));
    ENTRY(good);
  }
  PetscCall(MatDestroy(&B));
  for (int kind = HJACOBI_NORM_2; kind <= HJACOBI_NORM_UPDATE; kind++) {
    PetscCall(Create(A, A, KSPHJACOBI, NULL, &ksp, &pc));
    PetscCall(KSPHJacobiSetNorm(ksp, (HJacobiNorm)kind));
    PetscCall(VecCopy(b, d));
    if (last >= first && last < end) PetscCall(VecSetValue(d, last, NAN, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(d));
    PetscCall(VecAssemblyEnd(d));
    PetscCall(Reason(ksp, d, x, KSP_DIVERGED_NANORINF, "NaN in the right-hand side"));
    PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
    PetscCall(VecCopy(d, x));
    PetscCall(Reason(ksp, b, x, KSP_DIVERGED_NANORINF, "NaN in the guess"));
    PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_FALSE));
    PetscCall(KSPHJacobiSetOmega(ksp, 1.9));
    PetscCall(Reason(ksp, b, x, KSP_DIVERGED_DTOL, "a weight that is too large"));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscScalar legs[6] = {-1, -1, -1, -1, 0, 0};
  Problem           p;
  Mat               A;
  PetscMPIInt       rank, size;

  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  memset(&p, 0, sizeof(p));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  p.comm = PETSC_COMM_WORLD;
  p.dim = 2;
  p.N[0] = 9;
  p.N[1] = 8;
  p.N[2] = p.procs[0] = p.procs[2] = 1;
  p.procs[1] = size;
  PetscCall(ProblemSetUp(&p));
  PetscCall(MatCreateStrata(p.dm, &A));
  PetscCall(MatStrataSetConstant(A, 0.5, legs));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Settings(A));
  PetscCall(Ranks(A, rank, size));
  PetscCall(Combinations(&p, A));
  PetscCall(Complex(p));
  PetscCall(Grows(p));
  PetscCall(Numbers(&p, A));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&p.dm));
  return TapEnd();
}
