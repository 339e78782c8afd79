/*
   PCMatApply() with PCHJACOBI: each column as PCApply() makes it, bit for bit, on every process grid, on the host and on the device; and
   KSPMatSolve() around it
*/
/* ranks: 1 2 3 4 */
#include "problems.h"
#include "../src/jacobi/pcjacobiimpl.h"

#define MANY 35 /* columns, more than are swept at once */

/* Settings of the preconditioner */
typedef struct {
  PetscInt         subiterations, overlap, cycles;
  HJacobiSchedule  schedule;
  HJacobiPrecision precision;
} Setting;

static PetscErrorCode Create(const Problem *p, Mat A, const Setting *s, KSPType type, KSP *ksp)
{
  const PetscInt tile = 8;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(p->comm, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCHJACOBI));
  PetscCall(PCHJacobiSetSubiterations(pc, s->subiterations));
  PetscCall(PCHJacobiSetTile(pc, 1, &tile));
  PetscCall(PCHJacobiSetOverlap(pc, 1, &s->overlap));
  PetscCall(PCHJacobiSetCycles(pc, s->cycles));
  PetscCall(PCHJacobiSetSchedule(pc, s->schedule));
  PetscCall(PCHJacobiSetChebyshevBounds(pc, 0.2, 2.1));
  PetscCall(PCHJacobiSetPrecision(pc, s->precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns of numbers, which grow from one to the next, with some more rows of space between them */
static PetscErrorCode Columns(const Problem *p, PetscInt columns, PetscInt space, int device, Mat *R)
{
  const PetscInt n = p->n[0] * p->n[1] * p->n[2];
  PetscScalar   *a;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(p->comm, R));
  PetscCall(MatSetSizes(*R, n, PETSC_DECIDE, PETSC_DETERMINE, columns));
  PetscCall(MatSetType(*R, MATDENSE));
  PetscCall(MatDenseSetLDA(*R, PetscMax(n + space, 1)));
  PetscCall(MatSetUp(*R));
  PetscCall(MatDenseGetArray(*R, &a));
  for (PetscInt c = 0; c < columns; c++)
    EACH_CELL(p, x, i) a[i + c * PetscMax(n + space, 1)] = (c == 2 ? 0 : PetscPowReal(10, c - 3)) * Number(100 + c, Natural(p, x));
  PetscCall(MatDenseRestoreArray(*R, &a));
  PetscCall(MatAssemblyBegin(*R, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*R, MAT_FINAL_ASSEMBLY));
#if STRATA_HAVE_CUDA
  if (device) PetscCall(MatConvert(*R, MATDENSECUDA, MAT_INPLACE_MATRIX, R));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many columns of Z are not what apply gives for those of R */
static PetscErrorCode Differ(PC pc, Mat R, Mat Z, PetscInt *differ)
{
  PetscInt columns;
  Vec      r, z, y;

  PetscFunctionBeginUser;
  *differ = 0;
  PetscCall(MatGetSize(R, NULL, &columns));
  for (PetscInt c = 0; c < columns; c++) {
    PetscBool equal;

    PetscCall(MatDenseGetColumnVecRead(R, c, &r));
    PetscCall(VecDuplicate(r, &y));
    PetscCall(PCApply(pc, r, y));
    PetscCall(MatDenseRestoreColumnVecRead(R, c, &r));
    PetscCall(MatDenseGetColumnVecRead(Z, c, &z));
    PetscCall(VecEqual(y, z, &equal));
    PetscCall(MatDenseRestoreColumnVecRead(Z, c, &z));
    PetscCall(VecDestroy(&y));
    if (!equal) ++*differ;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(Problem p, const Setting *s, int device)
{
  const PetscInt counts[] = {1, 5, MANY, 3};
  Mat            A[2];

  PetscFunctionBeginUser;
  PetscCall(ProblemSetUp(&p));
  if (device) PetscCall(DMSetVecType(p.dm, VECCUDA));
  PetscCall(ProblemOperator(&p, &A[0]));
  PetscCall(ProblemAssembled(&p, &A[1]));
  for (int assembled = 0; assembled < 2; assembled++) {
    KSP      ksp[2];
    PC       pc, one;
    PetscInt differ, all = 0;

    for (int m = 0; m < 2; m++) PetscCall(Create(&p, A[assembled], s, KSPPREONLY, &ksp[m]));
    PetscCall(KSPGetPC(ksp[0], &pc));
    PetscCall(KSPGetPC(ksp[1], &one));
    ((PC_HJacobi *)pc->data)->jacobi->wide = 4; /* columns are swept while cells travel between ranks, even on boxes as narrow as these */
    PetscCall(PCSetUp(pc));
    PetscCall(PCSetUp(one));
    for (int m = 0; m < 4; m++) /* more columns than before, and fewer; without and with space between them */
      for (int space = 0; space < 5; space += 4) {
        Mat R, Z;

        if (device && space) continue;
        PetscCall(Columns(&p, counts[m], space, device, &R));
        PetscCall(Columns(&p, counts[m], 0, device, &Z));
        PetscCall(PCMatApply(pc, R, Z));
        PetscCall(Differ(one, R, Z, &differ));
        all += differ;
        if (space) { /* the other way round */
          PetscCall(PCMatApply(pc, Z, R));
          PetscCall(Differ(one, Z, R, &differ));
          all += differ;
        }
        PetscCall(MatDestroy(&R));
        PetscCall(MatDestroy(&Z));
      }
    is_int(all, 0, "%s, %s, %d sweeps, overlap %d, %d cycles, schedule %s, precision %s%s: columns are those of PCApply()", ProblemName(&p),
           device ? "device" : "host", (int)s->subiterations, (int)s->overlap, (int)s->cycles, HJacobiSchedules[s->schedule],
           HJacobiPrecisions[s->precision], assembled ? ", assembled" : "");
    for (int m = 0; m < 2; m++) PetscCall(KSPDestroy(&ksp[m]));
  }
  for (int m = 0; m < 2; m++) PetscCall(MatDestroy(&A[m]));
  PetscCall(DMDestroy(&p.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPMatSolve() is KSPSolve() for each column, where nothing is tested: PETSc may test all columns together */
static PetscErrorCode Solves(Problem p, KSPType type, KSPNormType norm, PetscInt batch, int device)
{
  const Setting      s = {2, STRATA_EXACT, 1, HJACOBI_CHEBYSHEV, HJACOBI_PRECISION_SAME};
  PetscInt           columns, differ = 0;
  PetscReal          off, all;
  KSPConvergedReason reason;
  KSP                ksp;
  Mat                A, B, X, R;

  PetscFunctionBeginUser;
  PetscCall(ProblemSetUp(&p));
  if (device) PetscCall(DMSetVecType(p.dm, VECCUDA));
  PetscCall(ProblemOperator(&p, &A));
  PetscCall(Create(&p, A, &s, type, &ksp));
  PetscCall(KSPSetNormType(ksp, norm));
  PetscCall(KSPSetTolerances(ksp, 1e-6, 1e-50, 1e5, norm == KSP_NORM_NONE ? 7 : 1000));
  PetscCall(Columns(&p, 5, 0, device, &B));
  PetscCall(Columns(&p, 5, 0, device, &X));
  PetscCall(KSPSetMatSolveBatchSize(ksp, batch));
  PetscCall(KSPMatSolve(ksp, B, X));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  ok(reason > 0, "KSPMatSolve() with %s, norm %s, batches of %d, %s: %s", type, KSPNormTypes[norm], (int)batch, device ? "device" : "host",
     KSPConvergedReasons[reason]);
  PetscCall(MatGetSize(B, NULL, &columns));
  for (PetscInt c = 0; c < columns && norm == KSP_NORM_NONE; c++) {
    PetscBool equal;
    Vec       b, x, y;

    PetscCall(MatDenseGetColumnVecRead(B, c, &b));
    PetscCall(VecDuplicate(b, &y));
    PetscCall(KSPSolve(ksp, b, y));
    PetscCall(MatDenseRestoreColumnVecRead(B, c, &b));
    PetscCall(MatDenseGetColumnVecRead(X, c, &x));
    PetscCall(VecEqual(x, y, &equal));
    PetscCall(MatDenseRestoreColumnVecRead(X, c, &x));
    PetscCall(VecDestroy(&y));
    if (!equal) differ++;
  }
  if (norm == KSP_NORM_NONE)
    is_int(differ, 0, "columns are those of KSPSolve()");
  else {
    PetscCall(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &R));
    PetscCall(MatAXPY(R, -1, B, SAME_NONZERO_PATTERN));
    PetscCall(MatNorm(R, NORM_FROBENIUS, &off));
    PetscCall(MatNorm(B, NORM_FROBENIUS, &all));
    ok(off <= 1e-5 * all, "they are solved, residual %g of %g", (double)off, (double)all);
    PetscCall(MatDestroy(&R));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&p.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix that cannot be swept: all columns say so */
static PetscErrorCode Failure(Problem p, int device)
{
  const Setting s = {2, STRATA_EXACT, 1, HJACOBI_CONSTANT, HJACOBI_PRECISION_SAME};
  Mat           A, B, R, Z;
  Vec           d, z;
  KSP           ksp;
  PC            pc;
  int           finite = 0;

  PetscFunctionBeginUser;
  PetscCall(ProblemSetUp(&p));
  if (device) PetscCall(DMSetVecType(p.dm, VECCUDA));
  PetscCall(ProblemOperator(&p, &A));
  PetscCall(ProblemAssembled(&p, &B));
  PetscCall(MatCreateVecs(B, NULL, &d));
  PetscCall(MatGetDiagonal(B, d));
  PetscCall(VecSetValue(d, 0, 0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(d));
  PetscCall(VecAssemblyEnd(d));
  PetscCall(MatDiagonalSet(B, d, INSERT_VALUES));
  PetscCall(Create(&p, B, &s, KSPPREONLY, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetUp(pc));
  PetscCall(Columns(&p, 3, 0, device, &R));
  PetscCall(Columns(&p, 3, 0, device, &Z));
  PetscCall(PCMatApply(pc, R, Z));
  for (PetscInt c = 0; c < 3; c++) {
    const PetscScalar *a;

    PetscCall(MatDenseGetColumnVecRead(Z, c, &z));
    PetscCall(VecGetArrayRead(z, &a));
    EACH_CELL(&p, x, i) finite += !isinf(a[i]);
    PetscCall(VecRestoreArrayRead(z, &a));
    PetscCall(MatDenseRestoreColumnVecRead(Z, c, &z));
  }
  is_int(finite, 0, "a zero on the diagonal: all columns are infinite, %s", device ? "device" : "host");
  PetscCall(MatDestroy(&R));
  PetscCall(MatDestroy(&Z));
  PetscCall(VecDestroy(&d));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(DMDestroy(&p.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt sizes[3][3] = {{83, 1, 1}, {19, 17, 1}, {11, 9, 8}};
  const Setting  settings[] = {{2, STRATA_EXACT, 1, HJACOBI_CHEBYSHEV, HJACOBI_PRECISION_SAME},
                               {5, STRATA_EXACT, 2, HJACOBI_CONSTANT, HJACOBI_PRECISION_SINGLE},
                               {4, 0, 3, HJACOBI_SRJ, HJACOBI_PRECISION_SAME},
                               {3, 2, 2, HJACOBI_CONSTANT, HJACOBI_PRECISION_SAME},
                               {6, 4, 1, HJACOBI_CHEBYSHEV, HJACOBI_PRECISION_SINGLE}};
  const int      kinds = (int)PETSC_STATIC_ARRAY_LENGTH(settings);
  PetscInt       procs[3];
  Problem        p;
  int            kind = 0;

  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  memset(&p, 0, sizeof(p));
  p.comm = PETSC_COMM_WORLD;
  for (int device = 0; device <= TapHasDevice(); device++) {
    for (p.dim = 1; p.dim <= 3; p.dim++)
      for (int form = MAT_STRATA_CONSTANT; form <= MAT_STRATA_LEGS; form++)
        for (int variant = 0; variant < 3; variant++) { /* sides: Dirichlet; Neumann and periodic; with a mask */
          int which = 0;

          p.form = (MatStrataForm)form;
          p.axis = (int)p.dim - 1;
          p.mask = variant == 2 ? MASK_SCATTERED : MASK_NONE;
          for (int a = 0; a < 3; a++) {
            p.N[a] = sizes[p.dim - 1][a];
            p.boundary[a] = variant == 1 && a == 1 ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
            p.side[2 * a] = p.side[2 * a + 1] = variant == 1 ? MAT_STRATA_NEUMANN : MAT_STRATA_DIRICHLET;
          }
          while (NextProcessGrid(p.dim, p.N, &which, procs)) {
            for (int a = 0; a < 3; a++) p.procs[a] = procs[a];
            PetscCall(Compare(p, &settings[kind++ % kinds], device));
          }
        }
    p.dim = 2;
    p.N[0] = 19;
    p.N[1] = 17;
    p.N[2] = 1;
    p.form = MAT_STRATA_FACES;
    p.mask = MASK_NONE;
    for (int a = 0; a < 3; a++) p.boundary[a] = DM_BOUNDARY_NONE;
    {
      int which = 0;

      while (NextProcessGrid(p.dim, p.N, &which, p.procs)) continue; /* the last */
    }
    for (PetscInt batch = PETSC_DECIDE; batch <= 2; batch += 3) {
      PetscCall(Solves(p, KSPPREONLY, KSP_NORM_NONE, batch, device));
      PetscCall(Solves(p, KSPRICHARDSON, KSP_NORM_NONE, batch, device));
      PetscCall(Solves(p, KSPRICHARDSON, KSP_NORM_UNPRECONDITIONED, batch, device));
      PetscCall(Solves(p, KSPCG, KSP_NORM_PRECONDITIONED, batch, device));
    }
    PetscCall(Failure(p, device));
  }
  if (!TapHasDevice()) skip("no GPU");
  return TapEnd();
}
