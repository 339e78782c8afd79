/*
   PCCOLUMN where ranks cut columns: what it gives on one rank with whole columns, on every process grid
*/
/* ranks: 1 2 3 4 */
#include "problems.h"

static PetscMPIInt rank, size;

/* ---- the same problem with whole columns, on each rank alone, in natural order --------------------------------------------------------- */

static PetscErrorCode MakeWhole(const Problem *p, Problem *whole)
{
  PetscFunctionBeginUser;
  *whole = *p;
  whole->comm = PETSC_COMM_SELF;
  for (int a = 0; a < 3; a++) whole->procs[a] = 1;
  PetscCall(ProblemSetUp(whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest difference between a vector and the same cells of one of the whole problem, over the largest number of this */
static PetscErrorCode Error(const Problem *p, Vec v, Vec whole, PetscReal *error)
{
  const PetscScalar *a, *b;
  PetscReal          norm;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(whole, NORM_INFINITY, &norm));
  PetscCall(VecGetArrayRead(v, &a));
  PetscCall(VecGetArrayRead(whole, &b));
  *error = 0;
  EACH_CELL(p, x, i)
  {
    const PetscReal d = PetscAbsScalar(a[i] - b[Natural(p, x)]);

    if (!(d <= *error)) *error = d;
  }
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscCall(VecRestoreArrayRead(whole, &b));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, error, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  *error /= norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakePC(Mat A, PetscInt axis, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PetscObjectComm((PetscObject)A), pc));
  PetscCall(PCSetType(*pc, PCCOLUMN));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCColumnSetAxis(*pc, axis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCMatApply() of three vectors gives what PCApply() gives of each, and PCApplyRichardson() what plain iterations give */
static PetscErrorCode CheckWays(const Problem *p, PC pc, Mat A, int device, const char *name)
{
  Mat       R, Z;
  Vec       r, z, y, column;
  PetscInt  local;
  PetscReal d, worst = 0;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(p->dm, &z));
  PetscCall(VecDuplicate(z, &y));
  PetscCall(VecGetLocalSize(z, &local));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, local, PETSC_DECIDE, PETSC_DECIDE, 3, NULL, &R));
#if STRATA_HAVE_CUDA
  if (device) PetscCall(MatConvert(R, MATDENSECUDA, MAT_INPLACE_MATRIX, &R));
#endif
  PetscCall(MatDuplicate(R, MAT_DO_NOT_COPY_VALUES, &Z));
  for (int pass = 0; pass < 2; pass++) {
    for (int v = 0; v < 3; v++) {
      PetscCall(ProblemVector(p, 80 + (uint64_t)v, &r));
      if (pass == 0) {
        PetscCall(MatDenseGetColumnVecWrite(R, v, &column));
        PetscCall(VecCopy(r, column));
        PetscCall(MatDenseRestoreColumnVecWrite(R, v, &column));
      } else {
        PetscCall(PCApply(pc, r, z));
        PetscCall(MatDenseGetColumnVecRead(Z, v, &column));
        PetscCall(VecWAXPY(y, -1, column, z));
        PetscCall(VecNorm(y, NORM_INFINITY, &d));
        if (!(d <= worst)) worst = d;
        PetscCall(MatDenseRestoreColumnVecRead(Z, v, &column));
      }
      PetscCall(VecDestroy(&r));
    }
    if (pass == 0) PetscCall(PCMatApply(pc, R, Z));
  }
  ok(worst == 0, "%s: PCMatApply() gives what PCApply() gives", name);
  PetscCall(MatDestroy(&R));
  PetscCall(MatDestroy(&Z));
  PetscCall(ProblemVector(p, 80, &r));
  for (int plain = 0; plain < 2; plain++) {
    Vec x = plain ? y : z;
    KSP ksp;

    PetscCall(VecCopy(r, x));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetPC(ksp, pc));
    PetscCall(KSPSetType(ksp, KSPRICHARDSON));
    PetscCall(KSPSetNormType(ksp, plain ? KSP_NORM_UNPRECONDITIONED : KSP_NORM_NONE));
    PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
    PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 2));
    PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
    PetscCall(KSPSolve(ksp, r, x));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecAXPY(y, -1, z));
  PetscCall(VecNorm(y, NORM_INFINITY, &d));
  ok(d == 0, "%s: PCApplyRichardson() gives what plain iterations give", name);
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One matrix of a problem, columns along an axis */
static PetscErrorCode CheckSolve(const Problem *p, Mat A, PetscInt axis, int device, const char *name)
{
  Problem whole;
  Mat     W;
  PC      pc, pcwhole;
  Vec     r, z, rwhole, zwhole;
  char    text[4096];

  PetscFunctionBeginUser;
  PetscCall(MakeWhole(p, &whole));
  PetscCall(ProblemOperator(&whole, &W));
  PetscCall(ProblemVector(&whole, 70, &rwhole));
  PetscCall(VecDuplicate(rwhole, &zwhole));
  PetscCall(MakePC(W, axis, &pcwhole));
  PetscCall(ProblemVector(p, 70, &r));
  PetscCall(VecDuplicate(r, &z));
  PetscCall(MakePC(A, axis, &pc));
  for (int shifted = 0; shifted < 2; shifted++) {
    PetscReal error;

    if (shifted) {
      PetscCall(MatScale(A, 2.5));
      PetscCall(MatShift(A, 0.75));
      PetscCall(MatScale(W, 2.5));
      PetscCall(MatShift(W, 0.75));
    }
    for (int transpose = 0; transpose < 2; transpose++) {
      PetscCall(transpose ? PCApplyTranspose(pcwhole, rwhole, zwhole) : PCApply(pcwhole, rwhole, zwhole));
      PetscCall(VecSet(z, NAN));
      PetscCall(transpose ? PCApplyTranspose(pc, r, z) : PCApply(pc, r, z));
      PetscCall(Error(p, z, zwhole, &error));
      ok(error <= 1e-13, "%s%s%s: error %.1e", name, shifted ? ", scaled and shifted" : "", transpose ? ", transpose" : "", (double)error);
    }
  }
  PetscCall(CheckWays(p, pc, A, device, name));
  PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
  if (p->procs[axis] > 1)
    has_words(text, TapText("cut by %d ranks joined small system %s", (int)p->procs[axis], device ? "CUDA" : "host"), "%s: view", name);
  else
    ok(!strstr(text, "cut by"), "%s: view", name);
  PetscCall(PCDestroy(&pc));
  PetscCall(PCDestroy(&pcwhole));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&rwhole));
  PetscCall(VecDestroy(&zwhole));
  PetscCall(MatDestroy(&W));
  PetscCall(DMDestroy(&whole.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One problem on one process grid, with vectors on the host or on the device: as it is given, assembled, and in form faces or legs */
static PetscErrorCode CheckForms(Problem *p, PetscInt axis, int device)
{
  static const char *const ways[] = {"", ", AIJ", ", from AIJ"};
  Mat                      A[3];
  char                     name[512];

  PetscFunctionBeginUser;
  if (device) PetscCall(PetscOptionsSetValue(NULL, "-dm_vec_type", "cuda"));
  PetscCall(ProblemSetUp(p));
  PetscCall(PetscOptionsClearValue(NULL, "-dm_vec_type"));
  PetscCall(ProblemOperator(p, &A[0]));
  PetscCall(ProblemAssembled(p, &A[1]));
#if STRATA_HAVE_CUDA
  if (device) PetscCall(MatConvert(A[1], MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &A[1]));
#endif
  PetscCall(MatConvert(A[1], MATSTRATA, MAT_INITIAL_MATRIX, &A[2]));
  for (int m = 0; m < 3; m++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s, axis %c%s", device ? "CUDA " : "", ProblemName(p), (char)('x' + axis), ways[m]));
    PetscCall(CheckSolve(p, A[m], axis, device, name));
    PetscCall(MatDestroy(&A[m]));
  }
  PetscCall(DMDestroy(&p->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSolves(void)
{
  static const Problem problems[] = {
      {.dim = 1, .N = {37, 1, 1}, .form = MAT_STRATA_CONSTANT},
      {.dim = 2, .N = {7, 9, 1}, .form = MAT_STRATA_FACES, .symmetric = 1, .mask = MASK_SCATTERED},
      {.dim = 2, .N = {4, 130, 1}, .form = MAT_STRATA_TENSOR, .axis = 1, .boundary = {DM_BOUNDARY_PERIODIC}},
      {.dim = 3, .N = {5, 4, 11}, .form = MAT_STRATA_TENSOR, .axis = 2, .symmetric = 1, .side = {0, 0, 0, 0, MAT_STRATA_NEUMANN}},
      {.dim = 3, .N = {6, 7, 5}, .form = MAT_STRATA_TENSOR, .axis = 0, .mask = MASK_SCATTERED},
      {.dim = 3, .N = {7, 4, 6}, .form = MAT_STRATA_FACES, .symmetric = 1, .boundary = {0, DM_BOUNDARY_PERIODIC}},
      {.dim = 3, .N = {4, 5, 8}, .form = MAT_STRATA_CONSTANT, .symmetric = 1, .mask = MASK_WALL},
      {.dim = 1, .N = {5, 1, 1}, .form = MAT_STRATA_CONSTANT, .boundary = {DM_BOUNDARY_PERIODIC}}, /* the last two cells on one rank or on two */
      {.dim = 3,
       .N = {6, 5, 7},
       .form = MAT_STRATA_FACES,
       .symmetric = 1,
       .mask = MASK_SCATTERED,
       .boundary = {DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC}},
      {.dim = 3, .N = {64, 40, 4}, .form = MAT_STRATA_CONSTANT}, /* many columns: their numbers travel in several batches */
  };

  PetscFunctionBeginUser;
  for (size_t m = 0; m < sizeof(problems) / sizeof(*problems); m++) {
    Problem  p = problems[m];
    int      which = 0;
    PetscInt procs[3];

    p.comm = PETSC_COMM_WORLD;
    while (NextProcessGrid(p.dim, p.N, &which, procs))
      for (PetscInt axis = 0; axis < p.dim; axis++) {
        for (int a = 0; a < 3; a++) p.procs[a] = procs[a];
        for (int device = 0; device <= TapHasDevice(); device++) PetscCall(CheckForms(&p, axis, device));
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- singular columns -------------------------------------------------------------------------------------------------------------------- */

/* Lines with zero flux at both ends and no other coupling, whole and in parts by a mask; a right-hand side that is not consistent */
static PetscErrorCode CheckSingular(void)
{
  const PetscScalar legs[] = {0, 0, 0, 0, -2, -2};

  PetscFunctionBeginUser;
  for (int kind = 0; kind < 4; kind++) { /* without and with a mask, between two ends and as rings */
    const int   masked = kind % 2, rings = kind / 2;
    const char *name = TapText("singular %s%s", rings ? "rings" : "columns", masked ? " in parts" : "");
    Problem     p = {.comm = PETSC_COMM_WORLD, .dim = 3, .N = {3, 4, 13}, .mask = masked ? MASK_SCATTERED : MASK_NONE}, whole;
    Mat         A, W, B;
    Vec         r, z, rwhole, zwhole;
    PC          pc, pcwhole;
    PetscInt    count;
    char        text[4096];

    for (int l = 0; l < 6; l++) p.side[l] = MAT_STRATA_NEUMANN;
    if (rings) p.boundary[2] = DM_BOUNDARY_PERIODIC;
    p.procs[0] = p.procs[1] = 1;
    p.procs[2] = size;
    PetscCall(MakeWhole(&p, &whole));
    PetscCall(ProblemSetUp(&p));
    for (int m = 0; m < 2; m++) {
      Mat *M = m ? &W : &A;

      PetscCall(MatCreateStrata(m ? whole.dm : p.dm, M));
      PetscCall(MatStrataSetSides(*M, p.side));
      PetscCall(MatStrataSetConstant(*M, 0, legs));
      PetscCall(ProblemSetMask(m ? &whole : &p, *M));
      PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
    }
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatSetDM(B, p.dm));
    { /* with a null space a single cell without a row is a singular part as well */
      MatNullSpace nullspace;

      PetscCall(MatGetNullSpace(W, &nullspace));
      ok(nullspace != NULL, "%s: the operator has a null space", name);
      PetscCall(MatGetNullSpace(A, &nullspace));
      PetscCall(MatSetNullSpace(B, nullspace));
    }
    PetscCall(ProblemVector(&p, 70, &r));
    PetscCall(ProblemVector(&whole, 70, &rwhole));
    PetscCall(VecDuplicate(r, &z));
    PetscCall(VecDuplicate(rwhole, &zwhole));
    PetscCall(MakePC(W, 2, &pcwhole));
    PetscCall(PCApply(pcwhole, rwhole, zwhole));
    count = 0;
    for (PetscInt i = 0; i < 12; i++) /* runs of cells that are not masked */
      for (PetscInt k = 0; k < 13; k++) {
        const PetscInt x[3] = {i % 3, i / 3, k};
        PetscInt       y[3];

        if (!Masked(&p, x) && (masked ? !Next(&p, 5, x, y) || Masked(&p, y) : k == 12)) count++;
      }
    for (int assembled = 0; assembled < 2; assembled++) {
      PetscReal error;

      PetscCall(MakePC(assembled ? B : A, 2, &pc));
      PetscCall(PCApply(pc, r, z));
      PetscCall(Error(&p, z, zwhole, &error));
      ok(error <= 1e-13, "%s%s: error %.1e", name, assembled ? ", AIJ" : "", (double)error);
      PetscCall(PCApplyTranspose(pc, r, z));
      PetscCall(Error(&p, z, zwhole, &error));
      ok(error <= 1e-13, "%s%s: transpose, error %.1e", name, assembled ? ", AIJ" : "", (double)error);
      PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
      ok(strstr(text, TapText("  %d singular columns", (int)count)) != NULL, "%s: counted", name);
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(PCDestroy(&pcwhole));
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&rwhole));
    PetscCall(VecDestroy(&zwhole));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&W));
    PetscCall(DMDestroy(&p.dm));
    PetscCall(DMDestroy(&whole.dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- matrices without a DMDA --------------------------------------------------------------------------------------------------------------- */

typedef enum { DOMINANT, ZERO_DIAGONALS, ZERO_PIVOT, NOT_A_NUMBER } Lines;

/* `lines` lines that are not symmetric, across the ranks: row i + lines k is level k of line i */
static PetscErrorCode MakeLines(MPI_Comm comm, PetscInt local, PetscInt lines, Lines kind, PetscInt bad, Mat *A)
{
  PetscInt start, end, rows;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(comm, local * lines, local * lines, PETSC_DETERMINE, PETSC_DETERMINE, 3, NULL, 2, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  PetscCall(MatGetSize(*A, &rows, NULL));
  for (PetscInt i = start; i < end; i++) {
    const double lower = i >= lines ? 2 * Number(1, i) : 0, upper = i < rows - lines ? 2 * Number(2, i) : 0;
    double       diagonal = (Number(3, i) < 0 ? -1 : 1) * (fabs(lower) + fabs(upper) + 0.5 + 0.4 * Number(4, i));

    if (kind == ZERO_DIAGONALS && i >= lines && i / lines % 3 == 2) diagonal = 0; /* the first row of a piece may be one; its pivot is not zero */
    if (kind == ZERO_PIVOT && i == bad) diagonal = 0;
    if (kind == NOT_A_NUMBER && i == bad) diagonal = NAN;
    if (i >= lines) PetscCall(MatSetValue(*A, i, i - lines, kind == ZERO_PIVOT && i == bad ? 0 : lower, INSERT_VALUES));
    if (i < rows - lines) PetscCall(MatSetValue(*A, i, i + lines, upper, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, i, diagonal, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines across ranks of which some may own nothing */
static PetscErrorCode CheckSlabs(void)
{
  PetscFunctionBeginUser;
  for (int kind = 0; kind < 5; kind++) {
    const PetscInt lines = kind == 1 ? 1 : 5, levels = kind == 1 ? 1000 : 12;
    const Lines    what = kind == 2 ? ZERO_DIAGONALS : DOMINANT;
    PetscInt       local = levels / size + (rank < levels % size ? 1 : 0), n[2] = {lines, levels}, start, end;
    Mat            A, W;
    PC             pc, pcwhole;
    Vec            r, z, rwhole, zwhole;
    PetscScalar   *a, *b;
    PetscReal      error, norm;

    if (kind == 3) local = rank == size - 1 ? levels : 0;                               /* all levels on the last rank */
    if (kind == 4) local = size < 3 ? local : rank == 0 ? 5 : rank == size - 1 ? 7 : 0; /* none in the middle */
    PetscCall(MakeLines(PETSC_COMM_WORLD, local, lines, what, -1, &A));
    PetscCall(MakeLines(PETSC_COMM_SELF, levels, lines, what, -1, &W));
    PetscCall(MatCreateVecs(A, &r, &z));
    PetscCall(MatCreateVecs(W, &rwhole, &zwhole));
    PetscCall(VecGetOwnershipRange(r, &start, &end));
    PetscCall(VecGetArrayWrite(r, &a));
    for (PetscInt i = start; i < end; i++) a[i - start] = Number(70, i);
    PetscCall(VecRestoreArrayWrite(r, &a));
    PetscCall(VecGetArrayWrite(rwhole, &b));
    for (PetscInt i = 0; i < lines * levels; i++) b[i] = Number(70, i);
    PetscCall(VecRestoreArrayWrite(rwhole, &b));
    PetscCall(MakePC(A, lines > 1 ? 1 : 0, &pc));
    PetscCall(MakePC(W, lines > 1 ? 1 : 0, &pcwhole));
    PetscCall(PCColumnSetGrid(pc, lines > 1 ? 2 : 1, lines > 1 ? n : &n[1]));
    PetscCall(PCColumnSetGrid(pcwhole, lines > 1 ? 2 : 1, lines > 1 ? n : &n[1]));
    for (int transpose = 0; transpose < 2; transpose++) {
      PetscCall(transpose ? PCApplyTranspose(pcwhole, rwhole, zwhole) : PCApply(pcwhole, rwhole, zwhole));
      PetscCall(transpose ? PCApplyTranspose(pc, r, z) : PCApply(pc, r, z));
      PetscCall(VecNorm(zwhole, NORM_INFINITY, &norm));
      PetscCall(VecGetArray(z, &a));
      PetscCall(VecGetArray(zwhole, &b));
      error = 0;
      for (PetscInt i = start; i < end; i++)
        if (!(PetscAbsScalar(a[i - start] - b[i]) <= error)) error = PetscAbsScalar(a[i - start] - b[i]);
      PetscCall(VecRestoreArray(z, &a));
      PetscCall(VecRestoreArray(zwhole, &b));
      ok(error <= 1e-13 * norm, "%d lines of %d levels without a DMDA, kind %d%s: error %.1e", (int)lines, (int)levels, kind,
         transpose ? ", transpose" : "", (double)(error / norm));
    }
    PetscCall(PCDestroy(&pc));
    PetscCall(PCDestroy(&pcwhole));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&W));
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&rwhole));
    PetscCall(VecDestroy(&zwhole));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What fails names the row, on every rank, and what is mended works again */
static PetscErrorCode CheckFailures(void)
{
  const PetscInt lines = 3, local = 4, n[2] = {lines, local * size}, rows[2] = {lines * n[1] - 2, lines * local * (size - 1) + 1};

  PetscFunctionBeginUser;
  for (int kind = 0; kind < 4; kind++) {
    const PetscInt bad = rows[kind % 2]; /* of the last rank: one of its last rows, one of its first */
    Mat            A;
    PC             pc;
    Vec            r, z;
    PCFailedReason reason;
    PetscReal      norm;
    char           text[4096];

    PetscCall(MakeLines(PETSC_COMM_WORLD, local, lines, kind < 2 ? NOT_A_NUMBER : ZERO_PIVOT, bad, &A));
    if (kind >= 2) { /* a row of zeros, not coupled to the one before */
      PetscInt start, end;

      PetscCall(MatGetOwnershipRange(A, &start, &end));
      if (bad >= start && bad < end && bad + lines < lines * n[1]) PetscCall(MatSetValue(A, bad, bad + lines, 0, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    }
    PetscCall(MatCreateVecs(A, &r, &z));
    PetscCall(VecSet(r, 1));
    PetscCall(MakePC(A, 1, &pc));
    PetscCall(PCColumnSetGrid(pc, 2, n));
    PetscCall(PCApply(pc, r, z));
    PetscCall(PCGetFailedReason(pc, &reason));
    PetscCall(VecNorm(z, NORM_INFINITY, &norm));
    ok(reason == (kind < 2 ? PC_FACTOR_OTHER : PC_FACTOR_NUMERIC_ZEROPIVOT) && PetscIsInfOrNanReal(norm), "failure %d: the reason", kind);
    PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
    has_words(text, TapText("failed: %s row %d, cell (%d, %d, 0)", kind < 2 ? "NaN" : "zero", (int)bad, (int)(bad % lines), (int)(bad / lines)),
              "failure %d: view names the row", kind);
    PetscCall(PCDestroy(&pc));
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&z));
    PetscCall(MatDestroy(&A));
  }
  if (size > 1) {
    Problem p = {.comm = PETSC_COMM_WORLD, .dim = 3, .N = {4, 4, 8}, .form = MAT_STRATA_CONSTANT, .symmetric = 1, .procs = {1, 1, size}};
    Mat     A;
    PC      pc;

    PetscCall(ProblemSetUp(&p));
    PetscCall(ProblemOperator(&p, &A));
    PetscCall(MakePC(A, 2, &pc));
    PetscCall(PCColumnSetPrecision(pc, PC_COLUMN_PRECISION_SINGLE));
    is_error(PCSetUp(pc), PETSC_ERR_SUP, "axis z cut precision -pc_column_precision single -da_processors_z 1", "columns that are cut, single");
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&p.dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pressure problem on process grids that cut its columns */
static PetscErrorCode CheckPressure(void)
{
  const PetscInt N[3] = {16, 16, 8};
  int            which = 0;
  PetscInt       procs[3];

  PetscFunctionBeginUser;
  while (NextProcessGrid(3, N, &which, procs))
    for (int fused = 0; fused < 2; fused++) {
      const DMBoundaryType none[3] = {DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE};
      DM                   dm;
      Mat                  A;
      Vec                  b, x;
      KSP                  ksp;
      PC                   pc;
      PetscInt             its;
      PetscReal            norm;

      PetscCall(CreateDMDA(PETSC_COMM_WORLD, 3, N, procs, none, 1, &dm));
      PetscCall(MatCreateStrata(dm, &A));
      PetscCall(StrataPressureSetOperator(A, 2, 6.7e-4, 3.4e-2, 0.0126));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscCall(DMCreateGlobalVector(dm, &b));
      PetscCall(VecDuplicate(b, &x));
      PetscCall(StrataPressureSetRHS(A, 2, 0.0126, b));
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPSetType(ksp, fused ? KSPCGFUSED : KSPCG));
      PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCSetType(pc, PCCOLUMN));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetIterationNumber(ksp, &its));
      PetscCall(VecNorm(x, NORM_2, &norm));
      is_int(its, 5, "pressure on %d x %d x %d ranks, %s: iterations", (int)procs[0], (int)procs[1], (int)procs[2], fused ? "cgfused" : "cg");
      is_real(norm, 6.08055448, 1e-5, "pressure on %d x %d x %d ranks, %s: norm", (int)procs[0], (int)procs[1], (int)procs[2],
              fused ? "cgfused" : "cg");
      PetscCall(KSPDestroy(&ksp));
      PetscCall(VecDestroy(&b));
      PetscCall(VecDestroy(&x));
      PetscCall(MatDestroy(&A));
      PetscCall(DMDestroy(&dm));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(CheckSolves());
  PetscCall(CheckSingular());
  PetscCall(CheckSlabs());
  PetscCall(CheckFailures());
  PetscCall(CheckPressure());
  return TapEnd();
}
