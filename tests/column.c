/*
   PCCOLUMN
*/
/* ranks: 1 2 3 4 */
#include "columns.h"

/* The exact solve, in long double, of the lines along an axis of an AIJ matrix on the box n of this rank: the entries on the lines, out of
   its rows. A last pivot that vanishes is that of a singular line: the solution is 0 there. */
static PetscErrorCode ExactSolve(Mat A, const PetscInt n[3], PetscInt axis, Vec r, Vec z)
{
  const PetscInt     stride = axis == 0 ? 1 : axis == 1 ? n[0] : n[0] * n[1], rows = n[0] * n[1] * n[2];
  const PetscScalar *ar;
  PetscScalar       *az;
  PetscInt           start, i, k, m;
  long double       *a, *den, *y;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, NULL));
  PetscCall(PetscMalloc3(3 * rows, &a, n[axis], &den, n[axis], &y));
  for (i = 0; i < rows; i++) {
    const PetscInt    *cols;
    const PetscScalar *v;
    PetscInt           count, level = i / stride % n[axis];

    for (m = 0; m < 3; m++) a[3 * i + m] = 0;
    PetscCall(MatGetRow(A, start + i, &count, &cols, &v));
    for (m = 0; m < count; m++) {
      if (cols[m] == start + i) a[3 * i + 1] += v[m];
      if (cols[m] == start + i - stride && level > 0) a[3 * i] += v[m];
      if (cols[m] == start + i + stride && level < n[axis] - 1) a[3 * i + 2] += v[m];
    }
    PetscCall(MatRestoreRow(A, start + i, &count, &cols, &v));
  }
  PetscCall(VecGetArrayRead(r, &ar));
  PetscCall(VecGetArrayWrite(z, &az));
  for (i = 0; i < rows; i++) {
    if (i / stride % n[axis]) continue;
    for (k = 0; k < n[axis]; k++) {
      const PetscInt    c = i + k * stride;
      const long double t = k && den[k - 1] != 0 ? a[3 * c] / den[k - 1] : 0;

      den[k] = a[3 * c + 1] - (k ? t * a[3 * (c - stride) + 2] : 0);
      y[k] = ar[c] - (k ? t * y[k - 1] : 0);
      if (a[3 * c + 2] == 0 && fabsl(den[k]) <= 1e-13L * fabsl(a[3 * c + 1])) den[k] = 0;
    }
    for (k = n[axis] - 1; k >= 0; k--) {
      if (k < n[axis] - 1) y[k] -= a[3 * (i + k * stride) + 2] * y[k + 1];
      y[k] = den[k] == 0 ? 0 : y[k] / den[k];
      az[i + k * stride] = (PetscScalar)y[k];
    }
  }
  PetscCall(VecRestoreArrayRead(r, &ar));
  PetscCall(VecRestoreArrayWrite(z, &az));
  PetscCall(PetscFree3(a, den, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- what it computes ------------------------------------------------------------------------------------------------------------ */

/* A monitor, which makes KSPRICHARDSON leave PCApplyRichardson() */
static PetscErrorCode Monitor(KSP ksp, PetscInt it, PetscReal norm, void *ctx)
{
  return PETSC_SUCCESS;
}

/* Iterations of KSPRICHARDSON, fused and plain; bit for bit the same */
static PetscErrorCode CheckRichardson(Mat A, PC pc, PetscBool guess, Vec b, const char *name)
{
  Vec       x[2];
  PetscReal d;
  PetscInt  its;

  PetscFunctionBeginUser;
  for (int plain = 0; plain < 2; plain++) {
    KSP ksp;

    PetscCall(VecDuplicate(b, &x[plain]));
    PetscCall(VecCopy(b, x[plain]));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetPC(ksp, pc));
    PetscCall(KSPSetType(ksp, KSPRICHARDSON));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
    PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
    PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 3));
    PetscCall(KSPSetInitialGuessNonzero(ksp, guess));
    if (plain) PetscCall(KSPMonitorSet(ksp, Monitor, NULL, NULL));
    PetscCall(KSPSolve(ksp, b, x[plain]));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    is_int(its, 3, "%s: iterations of %s Richardson", name, plain ? "plain" : "fused");
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(Difference(x[0], x[1], &d));
  ok(d == 0, "%s: PCApplyRichardson() gives what the plain iterations give", name);
  PetscCall(VecDestroy(&x[0]));
  PetscCall(VecDestroy(&x[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCMatApply() gives what PCApply() gives, for dense matrices on the host and on the device */
static PetscErrorCode CheckMatApply(PC pc, DM dm, PetscBool cuda, const char *name)
{
  Mat       R, Z;
  Vec       r, z, column, other;
  PetscInt  local, v;
  PetscReal d, worst = 0;

  PetscFunctionBeginUser;
  PetscCall(MakeVec(dm, 40, -1, 1, &r));
  PetscCall(VecDuplicate(r, &z));
  PetscCall(VecGetLocalSize(r, &local));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, local, PETSC_DECIDE, PETSC_DECIDE, 3, NULL, &R));
#if STRATA_HAVE_CUDA
  if (cuda) PetscCall(MatConvert(R, MATDENSECUDA, MAT_INPLACE_MATRIX, &R));
#endif
  for (v = 0; v < 3; v++) {
    PetscCall(MakeVec(dm, 40 + v, -1, 1, &other));
    PetscCall(MatDenseGetColumnVecWrite(R, v, &column));
    PetscCall(VecCopy(other, column));
    PetscCall(MatDenseRestoreColumnVecWrite(R, v, &column));
    PetscCall(VecDestroy(&other));
  }
  PetscCall(MatDuplicate(R, MAT_DO_NOT_COPY_VALUES, &Z));
  PetscCall(PCMatApply(pc, R, Z));
  for (v = 0; v < 3; v++) {
    PetscCall(MakeVec(dm, 40 + v, -1, 1, &other));
    PetscCall(PCApply(pc, other, z));
    PetscCall(MatDenseGetColumnVecRead(Z, v, &column));
    PetscCall(Difference(column, z, &d));
    worst = PetscMax(worst, d);
    PetscCall(MatDenseRestoreColumnVecRead(Z, v, &column));
    PetscCall(VecDestroy(&other));
  }
  ok(worst == 0, "%s: PCMatApply() gives what PCApply() gives", name);
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&R));
  PetscCall(MatDestroy(&Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Everything of one operator and axis; zhost: the solution that the host gave, compared or kept */
static PetscErrorCode CheckSolve(PetscInt dim, const PetscInt n[3], Form form, PetscInt axis, PetscInt own, int periodic, PetscBool masked,
                                 PetscBool cuda, Vec *zhost)
{
  DM            dm;
  Mat           A, AIJ;
  PC            pc, pcaij;
  Vec           r, s, z, exact, t;
  PetscReal     d, norm;
  PetscScalar   left, right;
  PetscInt      box[3], got;
  DMDALocalInfo info;
  char          name[256];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s %s%s, %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT ", axis %c%s", cuda ? "CUDA " : "",
                          PCColumnAlgorithms[algorithm], forms[form], masked ? " masked" : "", n[0], n[1], n[2], (char)('x' + axis),
                          periodic ? ", periodic" : ""));
  PetscCall(MakeGrid(dim, n, axis, periodic, cuda, &dm));
  PetscCall(MakeOperator(dm, form, own, masked, PETSC_FALSE, &A));
  PetscCall(MatConvert(A, cuda ? MATAIJCUSPARSE : MATAIJ, MAT_INITIAL_MATRIX, &AIJ));
  PetscCall(MatSetDM(AIJ, dm));
  PetscCall(MakeVec(dm, 30, -1, 1, &r));
  PetscCall(MakeVec(dm, 31, -1, 1, &s));
  PetscCall(VecDuplicate(r, &z));
  PetscCall(VecDuplicate(r, &t));
  PetscCall(VecDuplicate(r, &exact));
  PetscCall(DMDAGetLocalInfo(dm, &info));
  box[0] = info.xm;
  box[1] = info.ym;
  box[2] = info.zm;
  PetscCall(ExactSolve(AIJ, box, axis, r, exact));
  PetscCall(VecNorm(exact, NORM_INFINITY, &norm));

  PetscCall(MakePC(A, axis, &pc));
  PetscCall(VecSet(z, NAN));
  PetscCall(PCApply(pc, r, z));
  PetscCall(Difference(z, exact, &d));
  ok(d <= 1e-14 * norm, "%s: the lines are solved, error %.1e", name, (double)(d / norm));
  if (*zhost) {
    PetscCall(Difference(z, *zhost, &d));
    ok(d == 0, "%s: the same bits as on the host", name);
    PetscCall(VecDestroy(zhost));
  } else {
    PetscCall(VecDuplicate(z, zhost));
    PetscCall(VecCopy(z, *zhost));
  }
  PetscCall(PCColumnGetAxis(pc, &got));
  is_int(got, axis, "%s: the axis", name);
  PetscCall(PCColumnGetSize(pc, &got));
  is_int(got, n[axis], "%s: the length", name);

  PetscCall(VecSet(t, NAN));
  PetscCall(PCApplyTranspose(pc, s, t));
  PetscCall(VecDot(z, s, &left));
  PetscCall(VecDot(r, t, &right));
  is_real(right, left, 1e-12, "%s: (M r, s) = (r, M^T s)", name);
  PetscCall(CheckRichardson(A, pc, PETSC_FALSE, r, name));
  PetscCall(CheckRichardson(A, pc, PETSC_TRUE, r, name));
  PetscCall(CheckMatApply(pc, dm, cuda, name));

  PetscCall(MakePC(AIJ, axis, &pcaij));
  PetscCall(PCApply(pcaij, r, t));
  PetscCall(Difference(t, exact, &d));
  ok(d <= 1e-12 * norm, "%s: the lines of the assembled matrix, error %.1e", name, (double)(d / norm));

  /* scale and shift, masked rows too */
  PetscCall(MatScale(A, 2.5));
  PetscCall(MatShift(A, 0.75));
  PetscCall(MatScale(AIJ, 2.5));
  PetscCall(MatShift(AIJ, 0.75));
  PetscCall(ExactSolve(AIJ, box, axis, r, exact));
  PetscCall(VecNorm(exact, NORM_INFINITY, &norm));
  PetscCall(PCApply(pc, r, t));
  PetscCall(Difference(t, exact, &d));
  ok(d <= 1e-14 * norm, "%s: scaled and shifted, error %.1e", name, (double)(d / norm));
  PetscCall(PCApply(pcaij, r, t));
  PetscCall(Difference(t, exact, &d));
  ok(d <= 1e-12 * norm, "%s: the assembled matrix scaled and shifted, error %.1e", name, (double)(d / norm));

  PetscCall(PCDestroy(&pc));
  PetscCall(PCDestroy(&pcaij));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&s));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&t));
  PetscCall(VecDestroy(&exact));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&AIJ));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSolves(void)
{
  PetscFunctionBeginUser;
  for (Form form = 0; form < FORMS; form++)
    for (PetscInt axis = 0; axis < 3; axis++)
      for (int kind = 0; kind < 5; kind++) {
        PetscInt  n[3] = {6, 5, 7}, own = axis;
        int       periodic = 0;
        PetscBool masked = PETSC_FALSE;
        Vec       zhost = NULL;

        n[axis] = kind == 0 ? 9 : kind == 1 ? 33 : kind == 2 ? 2 : kind == 3 ? 101 : 3;
        if (kind == 1) periodic = 7 & ~(1 << axis);
        if (kind == 2) masked = PETSC_TRUE;
        if (kind == 3) masked = PETSC_TRUE, periodic = 1 << (axis + 1) % 3;
        if (kind == 4) own = (axis + 1) % 3;
        if (form == TENSOR && own != axis && size > 1) continue; /* its columns would be cut */
        for (int m = 0; m < 2; m++) {
          if (size > 1 && m != kind % 2) continue;
          algorithm = m ? PC_COLUMN_PARTITION : PC_COLUMN_THOMAS;
          for (int device = 0; device <= TapHasDevice(); device++)
            PetscCall(CheckSolve(3, n, form, axis, own, periodic, masked, device ? PETSC_TRUE : PETSC_FALSE, &zhost));
          PetscCall(VecDestroy(&zhost));
          algorithm = PC_COLUMN_AUTO;
        }
      }
  {
    const PetscInt one[3] = {7, 8, 1}, two[3] = {70, 6, 1}, three[3] = {6, 130, 1};
    Vec            zhost = NULL;

    PetscCall(CheckSolve(3, one, FACES, 2, 2, 0, PETSC_FALSE, PETSC_FALSE, &zhost)); /* columns of one cell */
    PetscCall(VecDestroy(&zhost));
    PetscCall(CheckSolve(2, two, LEGS, 0, 0, 2, PETSC_TRUE, PETSC_FALSE, &zhost));
    PetscCall(VecDestroy(&zhost));
    PetscCall(CheckSolve(2, three, TENSOR, 1, 1, 1, PETSC_FALSE, PETSC_FALSE, &zhost));
    PetscCall(VecDestroy(&zhost));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines with zero flux at both ends and no other coupling, cut in pieces by a mask */
static PetscErrorCode CheckSingular(void)
{
  const PetscInt    n[3] = {5, 6, 11};
  const PetscScalar legs[] = {0, 0, 0, 0, -2, -2};
  MatStrataSide     sides[6];
  char              text[4096];

  PetscFunctionBeginUser;
  for (int l = 0; l < 6; l++) sides[l] = MAT_STRATA_NEUMANN;
  for (int masked = 0; masked < 2; masked++) {
    DM            dm;
    Mat           A, AIJ;
    PC            pc;
    Vec           x, r, z, exact, mask;
    PetscReal     d, norm;
    PetscScalar   left, right, *m;
    PetscInt      box[3], i;
    DMDALocalInfo info;

    PetscCall(MakeGrid(3, n, 2, 0, PETSC_FALSE, &dm));
    PetscCall(MatCreateStrata(dm, &A));
    PetscCall(MatStrataSetSides(A, sides));
    PetscCall(MatStrataSetConstant(A, 0, legs));
    if (masked) { /* level 5 everywhere, and level 0 as well in half of the columns: pieces of 5 or 4, and of 5 cells */
      PetscCall(DMCreateGlobalVector(dm, &mask));
      PetscCall(DMDAGetLocalInfo(dm, &info));
      PetscCall(VecGetArray(mask, &m));
      for (i = 0; i < info.xm * info.ym * info.zm; i++) {
        const PetscInt k = i / (info.xm * info.ym), j = info.ys + i / info.xm % info.ym;

        m[i] = k == 5 || (k == 0 && j % 2);
      }
      PetscCall(VecRestoreArray(mask, &m));
      PetscCall(MatStrataSetMask(A, mask));
      PetscCall(VecDestroy(&mask));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &AIJ));
    PetscCall(MatSetDM(AIJ, dm));
    PetscCall(MakeVec(dm, 3, -1, 1, &x));
    PetscCall(VecDuplicate(x, &r));
    PetscCall(VecDuplicate(x, &z));
    PetscCall(VecDuplicate(x, &exact));
    PetscCall(MatMult(A, x, r));
    PetscCall(DMDAGetLocalInfo(dm, &info));
    box[0] = info.xm;
    box[1] = info.ym;
    box[2] = info.zm;
    PetscCall(ExactSolve(AIJ, box, 2, r, exact));
    PetscCall(VecNorm(exact, NORM_INFINITY, &norm));
    for (int assembled = 0; assembled < 2; assembled++) {
      PetscCall(MakePC(assembled ? AIJ : A, 2, &pc));
      PetscCall(PCApply(pc, r, z));
      PetscCall(Difference(z, exact, &d));
      ok(d <= 1e-13 * norm, "singular columns%s, %s: solved up to a constant", masked ? " in pieces" : "", assembled ? "AIJ" : "Strata");
      PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
      has_words(text, masked ? "60 singular columns" : "30 singular columns", "singular columns%s: counted", masked ? " in pieces" : "");
      PetscCall(MatMult(A, z, exact));
      PetscCall(Difference(exact, r, &d));
      ok(d <= 1e-13 * norm, "singular columns%s: a consistent right-hand side leaves no residual", masked ? " in pieces" : "");
      PetscCall(PCApply(pc, x, z));
      PetscCall(PCApplyTranspose(pc, x, exact)); /* of an inconsistent one: both finite, and transposes of each other */
      PetscCall(VecDot(z, r, &left));
      PetscCall(PCApplyTranspose(pc, r, exact));
      PetscCall(VecDot(x, exact, &right));
      is_real(right, left, 1e-12, "singular columns%s: the transpose", masked ? " in pieces" : "");
      PetscCall(ExactSolve(AIJ, box, 2, r, exact));
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(MakePC(A, 2, &pc)); /* the sign of an infinitesimal shift decides */
    PetscCall(PCSetUp(pc));
    PetscCall(MatShift(A, 0.5));
    PetscCall(MatShift(AIJ, 0.5));
    PetscCall(ExactSolve(AIJ, box, 2, x, exact));
    PetscCall(VecNorm(exact, NORM_INFINITY, &norm));
    PetscCall(PCApply(pc, x, z));
    PetscCall(Difference(z, exact, &d));
    ok(d <= 1e-13 * norm, "singular columns%s: no more when the operator is shifted", masked ? " in pieces" : "");
    PetscCall(TapView((PetscObject)pc, text, sizeof(text)));

    ok(!strstr(text, "singular columns"), "singular columns%s: and none is counted", masked ? " in pieces" : "");
    PetscCall(PCDestroy(&pc));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&exact));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&AIJ));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- matrices without a grid ------------------------------------------------------------------------------------------------------- */

/* A random matrix, not symmetric, with runs of `length` rows strongly coupled, and entries all over the place besides */
static PetscErrorCode MakeMatrix(PetscInt local, PetscInt length, Mat *A)
{
  PetscInt total, start, end, i, q;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, local, local, PETSC_DETERMINE, PETSC_DETERMINE, 9, NULL, 9, NULL, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetSize(*A, &total, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (i = start; i < end; i++) {
    PetscCall(MatSetValue(*A, i, i, 8, ADD_VALUES));
    if (i % length) PetscCall(MatSetValue(*A, i, i - 1, Random(i, 1, -3, 1), ADD_VALUES));
    if (i % length < length - 1) PetscCall(MatSetValue(*A, i, i + 1, Random(i, 2, -1, 3), ADD_VALUES));
    for (q = 0; q < 3; q++) {
      const PetscInt j = (PetscInt)Random(i, 3 + q, 0, (PetscReal)total - 0.5);

      if (PetscAbs(j - i) > 1) PetscCall(MatSetValue(*A, i, j, 0.1, ADD_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckNoGrid(void)
{
  char text[4096];

  PetscFunctionBeginUser;
  for (int empty = 0; empty < 2; empty++) { /* some ranks may own nothing */
    const PetscInt length = 7, runs = empty ? (rank ? 0 : 5) : 3 + rank;
    Mat            A;
    PC             pc;
    Vec            r, z, exact, t;
    PetscReal      d, norm;
    PetscScalar    left, right;
    PetscInt       box[3], got, n[3];

    PetscCall(MakeMatrix(length * runs, length, &A));
    PetscCall(MatCreateVecs(A, &r, &z));
    PetscCall(VecDuplicate(r, &exact));
    PetscCall(VecDuplicate(r, &t));
    PetscCall(VecSetRandom(r, NULL));
    box[0] = length;
    box[1] = runs;
    box[2] = 1;
    PetscCall(ExactSolve(A, box, 0, r, exact));
    PetscCall(VecNorm(exact, NORM_INFINITY, &norm));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCCOLUMN));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PetscOptionsSetValue(NULL, "-pc_column_size", "7"));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PetscOptionsClearValue(NULL, "-pc_column_size"));
    PetscCall(PCApply(pc, r, z));
    PetscCall(Difference(z, exact, &d));
    ok(d <= 1e-13 * norm, "runs of 7 rows%s: solved", empty ? ", empty ranks" : "");
    PetscCall(PCApplyTranspose(pc, r, t));
    PetscCall(VecDot(z, r, &left));
    PetscCall(VecDot(r, t, &right));
    is_real(right, left, 1e-12, "runs of 7 rows%s: the transpose", empty ? ", empty ranks" : "");
    PetscCall(PCColumnGetSize(pc, &got));
    is_int(got, 7, "runs of 7 rows: the size");
    PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
    has_words(text, "columns of 7 cells runs of rows thomas host form legs", "runs of 7 rows: view");
    PetscCall(PCDestroy(&pc));

    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc)); /* the same as a grid with its axes in another role */
    PetscCall(PCSetType(pc, PCCOLUMN));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(MatGetSize(A, &got, NULL));
    n[0] = 7;
    n[1] = got / 7;
    PetscCall(PCColumnSetGrid(pc, 2, n));
    PetscCall(PCColumnSetAxis(pc, 0));
    PetscCall(PCApply(pc, r, t));
    PetscCall(Difference(t, z, &d));
    ok(d == 0, "a grid of 7 x n cells%s: the same", empty ? ", empty ranks" : "");
    PetscCall(PCColumnGetGrid(pc, &got, n));
    ok(got == 2 && n[0] == 7, "the grid that was set");
    PetscCall(PCDestroy(&pc));
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&t));
    PetscCall(VecDestroy(&exact));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- set-up, again and again ------------------------------------------------------------------------------------------------------ */

static PetscErrorCode CheckReuse(void)
{
  const PetscInt n[3] = {5, 6, 8};
  DM             dm;
  Mat            A, AIJ;
  KSP            ksp;
  PC             pc;
  Vec            b, x, y;
  PetscReal      d, norm;

  PetscFunctionBeginUser;
  PetscCall(MakeGrid(3, n, 2, 0, PETSC_FALSE, &dm));
  PetscCall(MakeOperator(dm, FACES, 2, PETSC_FALSE, PETSC_FALSE, &A));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &AIJ));
  PetscCall(MakeVec(dm, 1, -1, 1, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &y));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(MatSetDM(AIJ, NULL));
  PetscCall(KSPSetOperators(ksp, AIJ, AIJ));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCCOLUMN));
  PetscCall(PCSetDM(pc, dm)); /* the grid comes from here: the matrix has none */
  PetscCall(PCColumnSetAxis(pc, 2));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecNorm(x, NORM_INFINITY, &norm));
  PetscCall(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  PetscCall(MatScale(AIJ, 2));
  PetscCall(KSPSolve(ksp, b, y));
  PetscCall(Difference(x, y, &d));
  ok(d == 0, "a preconditioner that is reused is the old one");
  PetscCall(KSPSetReusePreconditioner(ksp, PETSC_FALSE));
  PetscCall(KSPSolve(ksp, b, y));
  PetscCall(VecScale(y, 2));
  PetscCall(Difference(x, y, &d));
  ok(d <= 1e-14 * norm, "new values of the same pattern are read");
  PetscCall(PCReset(pc));
  PetscCall(KSPSetOperators(ksp, AIJ, AIJ));
  PetscCall(KSPSolve(ksp, b, y));
  PetscCall(VecScale(y, 2));
  PetscCall(Difference(x, y, &d));
  ok(d <= 1e-14 * norm, "it can be used after PCReset()");
  PetscCall(PCColumnSetAxis(pc, size > 1 ? 2 : 1)); /* another axis after set-up */
  PetscCall(KSPSolve(ksp, b, y));
  PetscCall(VecScale(y, 2));
  PetscCall(Difference(x, y, &d));
  if (size > 1)
    ok(d <= 1e-14 * norm, "the axis is set again");
  else
    ok(d > 1e-3 * norm, "another axis is another preconditioner");
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSolve(ksp, b, y));
  PetscCall(PCSetType(pc, PCCOLUMN));
  PetscCall(PCColumnSetAxis(pc, 2));
  PetscCall(KSPSolve(ksp, b, y));
  PetscCall(VecScale(y, 2));
  PetscCall(Difference(x, y, &d));
  ok(d <= 1e-14 * norm, "it can be replaced and taken again");
  PetscCall(KSPSetOperators(ksp, A, A)); /* another matrix: the Strata operator, half as large */
  PetscCall(KSPSolve(ksp, b, y));
  PetscCall(Difference(x, y, &d));
  ok(d <= 1e-12 * norm, "the matrix may become another one");
  {
    Vec excess, faces[3]; /* the operator itself becomes another one */

    PetscCall(MakeVec(dm, 50, 0.1, 1, &excess));
    for (int a = 0; a < 3; a++) PetscCall(MakeVec(dm, 51 + a, -2, -0.1, &faces[a]));
    PetscCall(MatStrataSetFaces(A, excess, faces));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
    PetscCall(KSPSolve(ksp, b, y));
    PetscCall(MatDestroy(&AIJ));
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &AIJ));
    PetscCall(KSPSetReusePreconditioner(ksp, PETSC_FALSE));
    PetscCall(KSPSetOperators(ksp, AIJ, AIJ));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(Difference(x, y, &d));
    ok(d <= 1e-12 * norm, "a Strata operator is followed");
    PetscCall(VecDestroy(&excess));
    for (int a = 0; a < 3; a++) PetscCall(VecDestroy(&faces[a]));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&AIJ));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPRICHARDSON with a norm converges by its own test, not after its largest number of iterations */
static PetscErrorCode CheckRichardsonTests(void)
{
  const PetscInt     n[3] = {5, 6, 8};
  DM                 dm;
  Mat                A;
  KSP                ksp;
  PC                 pc;
  Vec                b, x;
  PetscInt           its[2];
  KSPConvergedReason reason;
  PetscBool          exists;

  PetscFunctionBeginUser;
  PetscCall(MakeGrid(3, n, 2, 0, PETSC_FALSE, &dm));
  PetscCall(MakeOperator(dm, CONSTANT, 2, PETSC_FALSE, PETSC_FALSE, &A));
  PetscCall(MakeVec(dm, 1, -1, 1, &b));
  PetscCall(VecDuplicate(b, &x));
  for (int monitor = 0; monitor < 2; monitor++) {
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPRICHARDSON));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCCOLUMN));
    PetscCall(PCColumnSetAxis(pc, 2));
    if (monitor) PetscCall(KSPMonitorSet(ksp, Monitor, NULL, NULL));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its[monitor]));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    ok(reason == KSP_CONVERGED_RTOL, "Richardson with a norm converges by its test");
    PetscCall(PCApplyRichardsonExists(pc, &exists));
    ok(exists, "PCApplyRichardson() is there");
    PetscCall(KSPDestroy(&ksp));
  }
  is_int(its[0], its[1], "Richardson with and without a monitor: iterations");
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pressure problem, by conjugate gradients */
static PetscErrorCode CheckPressure(void)
{
  const PetscInt  m[] = {16, 32}, nz[] = {8, 16}, known[] = {5, 9};
  const PetscReal knownnorm[] = {6.08055448, 17.1521429};

  PetscFunctionBeginUser;
  for (int p = 0; p < 2; p++)
    for (PetscInt axis = 0; axis < 3; axis += 2)
      for (int assembled = 0; assembled < 2; assembled++)
        for (int device = 0; device <= TapHasDevice(); device++) {
          PetscInt  n[3] = {m[p], m[p], m[p]}, its;
          DM        dm;
          Mat       A, AIJ;
          KSP       ksp;
          PC        pc;
          Vec       b, x;
          PetscReal norm;
          char      text[4096];

          n[axis] = nz[p];
          PetscCall(MakeGrid(3, n, axis, 0, device ? PETSC_TRUE : PETSC_FALSE, &dm));
          PetscCall(MatCreateStrata(dm, &A));
          PetscCall(StrataPressureSetOperator(A, axis, 6.7e-4, 3.4e-2, 0.0126));
          PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
          PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
          PetscCall(DMCreateGlobalVector(dm, &b));
          PetscCall(VecDuplicate(b, &x));
          PetscCall(StrataPressureSetRHS(A, axis, 0.0126, b));
          PetscCall(MatConvert(A, device ? MATAIJCUSPARSE : MATAIJ, MAT_INITIAL_MATRIX, &AIJ));
          PetscCall(MatSetDM(AIJ, dm));
          PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
          PetscCall(KSPSetOperators(ksp, assembled ? AIJ : A, assembled ? AIJ : A));
          PetscCall(KSPSetType(ksp, KSPCG));
          PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
          PetscCall(KSPSetTolerances(ksp, 1e-5, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
          PetscCall(KSPGetPC(ksp, &pc));
          PetscCall(PCSetType(pc, PCCOLUMN));
          PetscCall(KSPSolve(ksp, b, x));
          PetscCall(KSPGetIterationNumber(ksp, &its));
          PetscCall(VecNorm(x, NORM_2, &norm));
          is_int(its, known[p], "pressure %d, axis %c, %s%s: iterations", (int)m[p], (char)('x' + axis), assembled ? "AIJ" : "Strata",
                 device ? ", CUDA" : "");
          is_real(norm, knownnorm[p], 1e-5, "pressure %d, axis %c, %s%s: norm", (int)m[p], (char)('x' + axis), assembled ? "AIJ" : "Strata",
                  device ? ", CUDA" : "");
          PetscCall(TapView((PetscObject)ksp, text, sizeof(text)));
          has_words(text,
                    TapText("type: column columns of %d cells along axis %c auto: strongest %s %s form %s", (int)nz[p], (char)('x' + axis),
                            device ? "partition" : "thomas", device ? "CUDA" : "host", assembled ? "faces" : "tensor nothing stored for each cell"),
                    "pressure: view");
          PetscCall(KSPDestroy(&ksp));
          PetscCall(VecDestroy(&b));
          PetscCall(VecDestroy(&x));
          PetscCall(MatDestroy(&A));
          PetscCall(MatDestroy(&AIJ));
          PetscCall(DMDestroy(&dm));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two fields on a DMDA: columns of each, by PCFIELDSPLIT */
static PetscErrorCode CheckFieldSplit(void)
{
  const PetscInt     N = 6;
  DM                 dm;
  Mat                A;
  KSP                ksp;
  PC                 pc;
  Vec                b, x;
  DMDALocalInfo      info;
  KSPConvergedReason reason;
  char               text[8192];

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, N, N, 9, size, 1, 1, 2, 1, NULL,
                         NULL, NULL, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(DMDAGetLocalInfo(dm, &info));
  for (PetscInt k = info.zs; k < info.zs + info.zm; k++)
    for (PetscInt j = info.ys; j < info.ys + info.ym; j++)
      for (PetscInt i = info.xs; i < info.xs + info.xm; i++)
        for (PetscInt c = 0; c < 2; c++) {
          const PetscInt at[3] = {i, j, k}, n[3] = {N, N, 9};
          MatStencil     row = {k, j, i, c};
          PetscScalar    diagonal = 0.1;

          for (int l = 0; l < 6; l++) {
            MatStencil        col = row;
            const PetscInt    to = at[l / 2] + (l % 2 ? 1 : -1);
            const PetscScalar leg = l / 2 == 2 ? -20 : -1;

            if (to < 0 || to >= n[l / 2]) continue;
            if (l / 2 == 0) col.i = to;
            if (l / 2 == 1) col.j = to;
            if (l / 2 == 2) col.k = to;
            diagonal -= leg;
            PetscCall(MatSetValuesStencil(A, 1, &row, 1, &col, &leg, INSERT_VALUES));
          }
          PetscCall(MatSetValuesStencil(A, 1, &row, 1, &row, &diagonal, INSERT_VALUES));
        }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecSetRandom(b, NULL));

  PetscCall(MakePC(A, 2, &pc));
  is_error(PCSetUp(pc), PETSC_ERR_SUP, "2 degrees of freedom fieldsplit", "two degrees of freedom without PCFIELDSPLIT");
  PetscCall(PCDestroy(&pc));

  PetscCall(PetscOptionsInsertString(NULL,
                                     "-pc_type fieldsplit -fieldsplit_0_pc_type column -fieldsplit_1_pc_type column -fieldsplit_0_ksp_type preonly "
                                     "-fieldsplit_1_ksp_type preonly"));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetDM(pc, dm));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  ok(reason > 0, "columns of each of two fields");
  PetscCall(TapView((PetscObject)ksp, text, sizeof(text)));
  has_words(text, "36 columns of 9 cells along axis z", "columns of each of two fields: the lines");
  for (const char *const *o = (const char *const[]){"-pc_type", "-fieldsplit_0_pc_type", "-fieldsplit_1_pc_type", "-fieldsplit_0_ksp_type",
                                                    "-fieldsplit_1_ksp_type", NULL};
       *o; o++)
    PetscCall(PetscOptionsClearValue(NULL, *o));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- what it refuses, and how it fails ----------------------------------------------------------------------------------------------- */

/* A DMDA with its own process grid and a matrix of constant coefficients */
static PetscErrorCode MakeConstant(PetscInt dim, const PetscInt n[], const PetscInt procs[], int periodic, const PetscScalar legs[], DM *dm, Mat *A)
{
  DMBoundaryType b[3];

  PetscFunctionBeginUser;
  for (int a = 0; a < 3; a++) b[a] = periodic >> a & 1 ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  if (dim == 1)
    PetscCall(DMDACreate1d(PETSC_COMM_WORLD, b[0], n[0], 1, 1, NULL, dm));
  else if (dim == 2)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, b[0], b[1], DMDA_STENCIL_STAR, n[0], n[1], procs[0], procs[1], 1, 1, NULL, NULL, dm));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, b[0], b[1], b[2], DMDA_STENCIL_STAR, n[0], n[1], n[2], procs[0], procs[1], procs[2], 1, 1, NULL, NULL,
                           NULL, dm));
  PetscCall(DMSetUp(*dm));
  PetscCall(MatCreateStrata(*dm, A));
  PetscCall(MatStrataSetConstant(*A, 0, legs));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckAuto(void)
{
  const struct {
    PetscInt    dim, n[3];
    int         periodic;
    PetscScalar legs[6];
    PetscInt    axis;
    const char *words;
  } cases[] = {
      {3, {8, 8, 8}, 0, {-9, -9, -1, -1, -1, -1}, 0, "axis x (auto: the strongest coupling)"},
      {3, {8, 8, 8}, 0, {-1, -1, -9, -9, -1, -1}, 1, "axis y (auto: the strongest coupling)"},
      {3, {8, 8, 8}, 0, {-1, -1, -1, -1, -9, -9}, 2, "axis z (auto: the strongest coupling)"},
      {3, {8, 8, 8}, 4, {-2, -2, -1, -1, -9, -9}, 2, "axis z (auto: the strongest coupling)"}, /* periodic */
      {3, {8, 8, 40}, 0, {-1.5, -1.5, -1, -1, -1, -1}, 0, "axis x"},                           /* the mean counts, not the sum */
      {2, {8, 9, 1}, 0, {-1, -1, -3, -3, 0, 0}, 1, "axis y"},
      {3, {8, 8, 8}, 0, {-1, -1, -1, -1, -1, -1}, -1, "auto"}, /* equal: one that is not cut */
  };

  PetscFunctionBeginUser;
  for (size_t m = 0; m < sizeof(cases) / sizeof(*cases); m++) {
    PetscInt procs[3] = {1, 1, 1}, got;
    DM       dm;
    Mat      A, AIJ;
    char     text[4096];

    procs[cases[m].axis < 0 ? 2 : cases[m].axis == 0 ? 1 : 0] = size;
    PetscCall(MakeConstant(cases[m].dim, cases[m].n, procs, cases[m].periodic, cases[m].legs, &dm, &A));
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &AIJ));
    PetscCall(MatSetDM(AIJ, dm));
    for (int assembled = 0; assembled < 2; assembled++) {
      PC pc;

      PetscCall(MakePC(assembled ? AIJ : A, PETSC_DETERMINE, &pc));
      PetscCall(PetscOptionsSetValue(NULL, "-pc_column_axis", "auto"));
      PetscCall(PCSetFromOptions(pc));
      PetscCall(PetscOptionsClearValue(NULL, "-pc_column_axis"));
      PetscCall(PCColumnGetAxis(pc, &got));
      is_int(got, PETSC_DETERMINE, "auto, case %d: not known before set-up", (int)m);
      PetscCall(PCSetUp(pc));
      PetscCall(PCColumnGetAxis(pc, &got));
      is_int(got, cases[m].axis < 0 ? (size > 1 ? 1 : 2) : cases[m].axis, "auto, case %d: the axis", (int)m);
      PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
      has_words(text, cases[m].words, "auto, case %d: view", (int)m);
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&AIJ));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckErrors(void)
{
  const PetscInt    n[3] = {8, 8, 8}, whole[3] = {size, 1, 1};
  const PetscScalar legs[6] = {-1, -1, -1, -1, -9, -9};
  DM                dm;
  Mat               A, B;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCall(MakeConstant(2, n, whole, 0, legs, &dm, &A));
  PetscCall(MakePC(A, 2, &pc));
  is_error(PCSetUp(pc), PETSC_ERR_ARG_OUTOFRANGE, "axis z 2 dimensions -pc_column_axis", "an axis that the grid lacks");
  is_error(PCColumnSetAxis(pc, 3), PETSC_ERR_ARG_OUTOFRANGE, "Axis 3", "an axis that no grid has");
  is_error(PCColumnSetSize(pc, -1), PETSC_ERR_ARG_OUTOFRANGE, "-1 rows", "a negative size");
  is_error(PCColumnSetGrid(pc, 3, (const PetscInt[]){4, 0, 4}), PETSC_ERR_ARG_OUTOFRANGE, "0 cells along axis y", "a grid without cells");
  PetscCall(PetscOptionsSetValue(NULL, "-pc_column_axis", "q"));
  is_error(PCSetFromOptions(pc), PETSC_ERR_USER, "q", "an axis that is not known");
  PetscCall(PetscOptionsClearValue(NULL, "-pc_column_axis"));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));

  PetscCall(MakeMatrix(7 * (1 + rank), 7, &A));
  PetscCall(MakePC(A, PETSC_DETERMINE, &pc));
  is_error(PCSetUp(pc), PETSC_ERR_ARG_WRONGSTATE, "no grid DMCreateMatrix -pc_column_size -pc_column_grid", "no grid");
  PetscCall(PCColumnSetSize(pc, 14));
  is_error(PCSetUp(pc), PETSC_ERR_ARG_SIZ, "14 rows do not divide every rank -pc_column_size", "a size that does not divide");
  PetscCall(PCColumnSetSize(pc, 7));
  PetscCall(PCColumnSetAxis(pc, 1));
  is_error(PCSetUp(pc), PETSC_ERR_ARG_INCOMP, "runs of rows no axis y", "a size and an axis");
  PetscCall(PCColumnSetSize(pc, 0));
  PetscCall(PCColumnSetGrid(pc, 3, (const PetscInt[]){7, 5, 3}));
  is_error(PCSetUp(pc), PETSC_ERR_ARG_SIZ, "7 x 5 x 3 cells matrix rows -pc_column_grid", "a grid of the wrong size");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatConvert(A, MATDENSE, MAT_INITIAL_MATRIX, &B));
  PetscCall(MakePC(B, PETSC_DETERMINE, &pc));
  PetscCall(PCColumnSetSize(pc, 7));
  is_error(PCSetUp(pc), PETSC_ERR_SUP, "aij dense", "a matrix of a type that cannot be read");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&B));
  PetscCall(
      DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 9, 9, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(MakePC(A, 0, &pc));
  PetscCall(PCSetDM(pc, dm));
  is_error(PCSetUp(pc), PETSC_ERR_ARG_SIZ, "9 x 9 x 1 cells DMCreateMatrix", "a DMDA that is not the matrix'");
  PetscCall(PCDestroy(&pc));
  PetscCall(DMDestroy(&dm));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is too large a number, no grid at all, or other on one rank than on another */
static PetscErrorCode CheckNumbers(void)
{
  const PetscInt n[3] = {4, 3 * size, 2}, wraps[4][3] = {{256, 16777217, 1}, {65536, 65536, 256}, {256, 16777216, 1}, {2147483647, 2, 1}};
  Mat            A;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(MakeMatrix(rank ? 0 : 256, 1, &A));
  for (int m = 0; m < 4; m++) { /* in 32 bits the products are 256, 0, 0 and -2 */
    PetscCall(MakePC(A, PETSC_DETERMINE, &pc));
    PetscCall(PCColumnSetGrid(pc, 3, wraps[m]));
    is_error(PCSetUp(pc), PETSC_ERR_ARG_SIZ, "cells matrix 256 rows -pc_column_grid", "a grid of %d x %d x %d cells", (int)wraps[m][0],
             (int)wraps[m][1], (int)wraps[m][2]);
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MakePC(A, PETSC_DETERMINE, &pc));
  is_error(PCColumnSetGrid(pc, 2, NULL), PETSC_ERR_ARG_NULL, "missing 2", "a grid without numbers");
  if (size > 1) {
    const PetscInt other[3] = {rank ? 8 : 16, rank ? 32 : 16, 1};

    PetscCall(PCColumnSetGrid(pc, 2, other));
    is_error(PCSetUp(pc), PETSC_ERR_ARG_WRONG, "grid differ ranks PCColumnSetGrid()", "another grid on another rank");
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));

  for (int kind = 0; kind < (size > 1 ? 3 : 2); kind++) { /* not square, or square but with columns on other ranks than rows */
    PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, 6,
                           kind < 2   ? 5 + 2 * kind
                           : rank > 1 ? 6
                                      : 5 + 2 * rank,
                           PETSC_DETERMINE, PETSC_DETERMINE, 1, NULL, 1, NULL, &A));
    PetscCall(MatSetValue(A, 6 * rank, 5 * rank, 1, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MakePC(A, PETSC_DETERMINE, &pc));
    PetscCall(PCColumnSetSize(pc, 6));
    is_error(PCSetUp(pc), PETSC_ERR_ARG_SIZ, "rows columns square local sizes", "a matrix that is not square, %d", kind);
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  {
    const PetscInt whole[3] = {1, size, 1};
    DM             dm;
    Vec            v, bad;
    PetscInt       size_got, axis, local;

    PetscCall(MakeConstant(3, n, whole, 0, (const PetscScalar[]){-1, -1, -1, -1, -5, -5}, &dm, &A)); /* a size is not for operators */
    PetscCall(MakePC(A, 2, &pc));
    PetscCall(PCColumnSetSize(pc, 3));
    PetscCall(PCSetUp(pc));
    PetscCall(PCColumnGetAxis(pc, &axis));
    PetscCall(PCColumnGetSize(pc, &size_got));
    ok(axis == 2 && size_got == 2, "a Strata operator has a grid of its own, whatever size is set");
    PetscCall(MatCreateVecs(A, &v, NULL));
    PetscCall(VecGetLocalSize(v, &local));
    PetscCall(VecCreateMPI(PETSC_COMM_WORLD, rank == size - 1 ? local + 1 : local, PETSC_DETERMINE, &bad));
    is_error(PCApplyTranspose(pc, bad, v), PETSC_ERR_ARG_SIZ, "vector entries rows MatCreateVecs()", "the transpose of a vector that is too long");
    is_error(PCApplyTranspose(pc, v, bad), PETSC_ERR_ARG_SIZ, "vector entries rows MatCreateVecs()", "the transpose to a vector that is too long");
    PetscCall(VecDestroy(&v));
    PetscCall(VecDestroy(&bad));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To be reused, with another matrix in the place of a Strata operator, of which nothing was stored: assembled, and on a grid of another shape */
static PetscErrorCode CheckReplaced(void)
{
  const PetscInt    n[3] = {4, 3 * size, 1}, other[3] = {6, 2 * size, 1}, whole[3] = {1, size, 1};
  const PetscScalar legs[4] = {-1, -2, -3, -4}, more[4] = {-5, -2, -3, -4};
  DM                dm, dm2;
  Mat               A, M[2];
  PC                pc, fresh;
  Vec               r, z, y;
  PetscReal         d;

  PetscFunctionBeginUser;
  PetscCall(MakeConstant(2, n, whole, 0, legs, &dm, &A));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &M[0]));
  PetscCall(MatScale(M[0], 3));
  PetscCall(MakeConstant(2, other, whole, 0, more, &dm2, &M[1]));
  PetscCall(MatCreateVecs(M[0], &r, &z));
  PetscCall(VecDuplicate(r, &y));
  PetscCall(VecSetRandom(r, NULL));
  for (int m = 0; m < 2; m++) {
    PetscCall(MakePC(A, 0, &pc));
    PetscCall(PCSetUp(pc));
    PetscCall(PCSetReusePreconditioner(pc, PETSC_TRUE));
    PetscCall(PCSetOperators(pc, M[m], M[m]));
    PetscCall(PCApply(pc, r, z));
    PetscCall(MakePC(M[m], 0, &fresh));
    PetscCall(PCApply(fresh, r, y));
    PetscCall(Difference(z, y, &d));
    ok(d == 0, "a Strata operator is replaced by %s, and the preconditioner follows", m ? "one on another grid" : "an assembled matrix");
    PetscCall(PCDestroy(&fresh));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  for (int m = 0; m < 2; m++) PetscCall(MatDestroy(&M[m]));
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&dm2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tridiagonal lines on a DMDA of 4 x 5 x 6 cells, with one entry of one row made bad */
static PetscErrorCode CheckFailure(const char *name, PetscInt badrow, PetscScalar diagonal, PetscBool alone, PetscBool nullspace, PCFailedReason want,
                                   const char *words)
{
  const PetscInt     n[3] = {4, 5, 6};
  DM                 dm;
  Mat                A;
  KSP                ksp;
  PC                 pc;
  Vec                b, x;
  PetscInt           start, end, i, local[3], stride;
  KSPConvergedReason reason;
  PCFailedReason     got;
  DMDALocalInfo      info;
  char               text[8192];
  PetscReal          norm;

  PetscFunctionBeginUser;
  PetscCall(MakeGrid(3, n, 2, 0, PETSC_FALSE, &dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(DMDAGetLocalInfo(dm, &info));
  local[0] = info.xm;
  local[1] = info.ym;
  stride = local[0] * local[1];
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (i = start; i < end; i++) {
    const PetscInt  k = (i - start) / stride;
    const PetscBool bad = i == badrow ? PETSC_TRUE : PETSC_FALSE;

    PetscCall(MatSetValue(A, i, i, bad ? diagonal : 4, INSERT_VALUES));
    if (k > 0) PetscCall(MatSetValue(A, i, i - stride, alone && (bad || i - stride == badrow) ? 0 : -1, INSERT_VALUES));
    if (k < 5) PetscCall(MatSetValue(A, i, i + stride, alone && (bad || i + stride == badrow) ? 0 : -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  if (nullspace) {
    MatNullSpace space;

    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &space));
    PetscCall(MatSetNullSpace(A, space));
    PetscCall(MatNullSpaceDestroy(&space));
  }
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCCOLUMN));
  PetscCall(PCColumnSetAxis(pc, 2));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PCGetFailedReason(pc, &got));
  is_int(got, want, "%s: reason of the preconditioner", name);
  if (want == PC_NOERROR) {
    ok(reason > 0, "%s: converges", name);
  } else {
    is_int(reason, KSP_DIVERGED_PC_FAILED, "%s: reason of the solver", name);
    PetscCall(TapView((PetscObject)ksp, text, sizeof(text)));
    has_words(text, words, "%s: view names the row", name);
    PetscCall(PCApply(pc, b, x));
    PetscCall(VecNorm(x, NORM_INFINITY, &norm));
    ok(PetscIsInfOrNanReal(norm), "%s: applied all the same, it gives no number", name);
    PetscCall(PCSetErrorIfFailure(pc, PETSC_TRUE));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    is_error(PCSetUp(pc), PETSC_ERR_MAT_LU_ZRPVT, words, "%s: an error if one is asked for", name);
    PetscCall(PCSetErrorIfFailure(pc, PETSC_FALSE));
    if (badrow >= start && badrow < end) PetscCall(MatSetValue(A, badrow, badrow, 4, INSERT_VALUES)); /* and when it is mended */
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(PCApply(pc, b, x));
    PetscCall(VecNorm(x, NORM_INFINITY, &norm));
    PetscCall(PCGetFailedReason(pc, &got));
    ok(norm > 0 && norm < 1 && got == PC_NOERROR, "%s: mended, it gives numbers", name);
    PetscCall(TapView((PetscObject)ksp, text, sizeof(text)));
    ok(!strstr(text, "failed"), "%s: mended, view finds no fault", name);
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckFailures(void)
{
  PetscInt n[3] = {4, 5, 6}, start, local, row, cell[3];
  DM       dm;
  Vec      v;
  AO       ao;
  char     words[256];

  PetscFunctionBeginUser;
  PetscCall(MakeGrid(3, n, 2, 0, PETSC_FALSE, &dm)); /* the PETSc row of a cell of the last rank: the one before its last */
  PetscCall(DMCreateGlobalVector(dm, &v));
  PetscCall(VecGetOwnershipRange(v, NULL, &start));
  PetscCallMPI(MPI_Bcast(&start, 1, MPIU_INT, size - 1, PETSC_COMM_WORLD));
  row = local = start - 2;
  PetscCall(DMDAGetAO(dm, &ao));
  PetscCall(AOPetscToApplication(ao, 1, &local));
  cell[0] = local % 4;
  cell[1] = local / 4 % 5;
  cell[2] = local / 20;
  PetscCall(VecDestroy(&v));
  PetscCall(DMDestroy(&dm));

  PetscCall(PetscSNPrintf(words, sizeof(words), "zero pivot row %" PetscInt_FMT ", cell (%" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT ")",
                          row, cell[0], cell[1], cell[2]));
  PetscCall(CheckFailure("a row of zeros", row, 0, PETSC_TRUE, PETSC_FALSE, PC_FACTOR_NUMERIC_ZEROPIVOT, words));
  PetscCall(CheckFailure("a row of zeros and a null space", row, 0, PETSC_TRUE, PETSC_TRUE, PC_NOERROR, words));
  PetscCall(CheckFailure("a zero pivot", 0, 0, PETSC_FALSE, PETSC_FALSE, PC_FACTOR_NUMERIC_ZEROPIVOT, "zero pivot row 0, cell (0, 0, 0)"));
  PetscCall(PetscSNPrintf(words, sizeof(words),
                          "NaN or infinity row %" PetscInt_FMT ", cell (%" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT ")", row, cell[0],
                          cell[1], cell[2]));
  PetscCall(CheckFailure("NaN", row, NAN, PETSC_FALSE, PETSC_FALSE, PC_FACTOR_OTHER, words));
  PetscCall(CheckFailure("infinity", row, INFINITY, PETSC_FALSE, PETSC_FALSE, PC_FACTOR_OTHER, words));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines of any tridiagonal matrix that is diagonally dominant, against LAPACK, and what view and the functions say of the algorithm */
static PetscErrorCode CheckAlgorithms(void)
{
  static const PetscInt lengths[] = {1, 2, 3, 17, 997, 1000, 100000};
  void (*const gtsv)(const int *, const int *, double *, double *, double *, double *, const int *, int *) =
      (void (*)(const int *, const int *, double *, double *, double *, double *, const int *, int *))dlsym(dlopen(NULL, RTLD_LAZY), "dgtsv_");

  PetscFunctionBeginUser;
  for (size_t c = 0; c < sizeof(lengths) / sizeof(*lengths); c++)
    for (int device = 0; device <= TapHasDevice(); device++) {
      const PetscInt n = lengths[c], lines = n > 1000 ? 1 : 3, rows = n * lines;
      Mat            A;
      Vec            r, z;
      PetscScalar   *a[4];
      PetscReal      norm = 0;

      PetscCall(MatCreate(PETSC_COMM_WORLD, &A)); /* the same lines on each rank */
      PetscCall(MatSetSizes(A, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE));
      PetscCall(MatSetType(A, device ? MATAIJCUSPARSE : MATAIJ));
      PetscCall(MatSeqAIJSetPreallocation(A, 3, NULL));
      PetscCall(MatMPIAIJSetPreallocation(A, 3, NULL, 0, NULL));
      PetscCall(MatCreateVecs(A, &z, &r));
      for (int m = 0; m < 4; m++) PetscCall(PetscMalloc1(rows, &a[m]));
      for (PetscInt i = 0; i < rows; i++) {
        const PetscScalar lower = i % n ? Random(i, 40, -2, 2) : 0, upper = i % n < n - 1 ? Random(i, 41, -2, 2) : 0;
        const PetscScalar diagonal = (Random(i, 42, -1, 1) < 0 ? -1 : 1) * (PetscAbsScalar(lower) + PetscAbsScalar(upper) + Random(i, 43, 0.1, 1));
        PetscInt          row;

        PetscCall(VecGetOwnershipRange(r, &row, NULL));
        row += i;
        if (i % n) PetscCall(MatSetValue(A, row, row - 1, lower, INSERT_VALUES));
        if (i % n < n - 1) PetscCall(MatSetValue(A, row, row + 1, upper, INSERT_VALUES));
        PetscCall(MatSetValue(A, row, row, diagonal, INSERT_VALUES));
        if (i) a[0][i - 1] = lower; /* LAPACK's lower diagonal begins in the second row */
        a[1][i] = diagonal;
        a[2][i] = upper;
        a[3][i] = Random(i, 44, -1, 1);
        PetscCall(VecSetValue(r, row, a[3][i], INSERT_VALUES));
      }
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscCall(VecAssemblyBegin(r));
      PetscCall(VecAssemblyEnd(r));
      if (gtsv) {
        const int order = (int)rows, one = 1;
        int       info;

        gtsv(&order, &one, a[0], a[1], a[2], a[3], &order, &info);
        for (PetscInt i = 0; i < rows; i++) norm = PetscMax(norm, PetscAbsScalar(a[3][i]));
      }
      for (int m = PC_COLUMN_THOMAS; m <= PC_COLUMN_PCR; m++) {
        const PetscScalar *az;
        PetscReal          error = 0;
        PCColumnAlgorithm  got;
        PC                 pc;
        char               text[4096];

        algorithm = (PCColumnAlgorithm)m;
        PetscCall(MakePC(A, PETSC_DETERMINE, &pc));
        algorithm = PC_COLUMN_AUTO;
        PetscCall(PCColumnSetSize(pc, n));
        PetscCall(PCApply(pc, r, z));
        PetscCall(VecGetArrayRead(z, &az));
        for (PetscInt i = 0; i < rows; i++)
          if (!(PetscAbsScalar(az[i] - a[3][i]) <= error)) error = PetscAbsScalar(az[i] - a[3][i]);
        PetscCall(VecRestoreArrayRead(z, &az));
        if (gtsv)
          ok(error <= 1e-13 * norm, "%s%s, %d lines of %d: error against LAPACK %.1e", device ? "CUDA " : "", PCColumnAlgorithms[m], (int)lines,
             (int)n, (double)(error / norm));
        else
          skip("no LAPACK");
        PetscCall(PCColumnGetAlgorithm(pc, &got));
        is_int(got, m, "the algorithm that was set");
        PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
        has_words(text, TapText("algorithm %s as asked for %s", PCColumnAlgorithms[m], device ? "CUDA" : "host"), "the algorithm in the view");
        PetscCall(PCDestroy(&pc));
      }
      for (int m = 0; m < 4; m++) PetscCall(PetscFree(a[m]));
      PetscCall(MatDestroy(&A));
      PetscCall(VecDestroy(&r));
      PetscCall(VecDestroy(&z));
    }
  {
    PC                pc;
    PCColumnAlgorithm got;

    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCCOLUMN));
    PetscCall(PCColumnGetAlgorithm(pc, &got));
    is_int(got, PC_COLUMN_AUTO, "the algorithm is auto");
    PetscCall(PetscOptionsSetValue(NULL, "-pc_column_algorithm", "partition"));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PetscOptionsClearValue(NULL, "-pc_column_algorithm"));
    PetscCall(PCColumnGetAlgorithm(pc, &got));
    is_int(got, PC_COLUMN_PARTITION, "the algorithm from the options");
    is_error(PCColumnSetAlgorithm(pc, (PCColumnAlgorithm)7), PETSC_ERR_ARG_OUTOFRANGE, "no algorithm 7 PC_COLUMN_PARTITION",
             "an algorithm that is none");
    PetscCall(PCDestroy(&pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(ColumnsBegin(&argc, &argv));
  PetscCall(CheckSolves());
  PetscCall(CheckAlgorithms());
  PetscCall(CheckSingular());
  PetscCall(CheckNoGrid());
  PetscCall(CheckReuse());
  PetscCall(CheckRichardsonTests());
  PetscCall(CheckPressure());
  PetscCall(CheckFieldSplit());
  PetscCall(CheckAuto());
  PetscCall(CheckErrors());
  PetscCall(CheckNumbers());
  PetscCall(CheckReplaced());
  PetscCall(CheckFailures());
  return TapEnd();
}
