/*
   Line relaxation with PCCOLUMN, against the same sweeps with dense matrices in natural order
*/
/* ranks: 1 2 3 4 */
#include "problems.h"

static PetscMPIInt rank, size;

static const Problem problems[] = {
    {.dim = 2, .N = {8, 7, 1}, .form = MAT_STRATA_CONSTANT, .symmetric = 1},
    {.dim = 2, .N = {5, 9, 1}, .form = MAT_STRATA_FACES, .symmetric = 1, .mask = MASK_SCATTERED},
    {.dim = 2, .N = {6, 8, 1}, .form = MAT_STRATA_TENSOR, .axis = 1, .boundary = {DM_BOUNDARY_PERIODIC}},
    {.dim = 3, .N = {4, 6, 5}, .form = MAT_STRATA_FACES, .symmetric = 1, .boundary = {DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC}},
    {.dim = 3, .N = {5, 4, 6}, .form = MAT_STRATA_TENSOR, .axis = 2, .symmetric = 1, .mask = MASK_WALL},
    {.dim = 3, .N = {5, 4, 4}, .form = MAT_STRATA_CONSTANT, .side = {MAT_STRATA_NEUMANN, MAT_STRATA_DIRICHLET, MAT_STRATA_NEUMANN}},
};

/* ---- the reference, the whole grid on every rank, cells in natural order ------------------------------------------------------------- */

typedef struct {
  PetscInt     n;
  PetscScalar *a; /* rows of the matrix */
} Dense;

static PetscErrorCode MakeDense(const Problem *p, Dense *d)
{
  Problem        self = *p;
  const PetscInt one[3] = {1, 1, 1};
  Mat            A;

  PetscFunctionBeginUser;
  self.comm = PETSC_COMM_SELF;
  for (int a = 0; a < 3; a++) self.procs[a] = one[a];
  PetscCall(ProblemSetUp(&self));
  PetscCall(ProblemAssembled(&self, &A));
  d->n = p->N[0] * p->N[1] * p->N[2];
  PetscCall(PetscCalloc1(d->n * d->n, &d->a));
  for (PetscInt i = 0; i < d->n; i++) {
    const PetscInt    *cols;
    const PetscScalar *v;
    PetscInt           count;

    PetscCall(MatGetRow(A, i, &count, &cols, &v));
    for (PetscInt m = 0; m < count; m++) d->a[i * d->n + cols[m]] += v[m];
    PetscCall(MatRestoreRow(A, i, &count, &cols, &v));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&self.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z += omega times the solution of the lines along an axis for the residual; colour -1: of all, else of those of the colour */
static PetscErrorCode DenseStep(const Problem *p, const Dense *d, PetscInt axis, int color, PetscReal omega, const PetscScalar *r, PetscScalar *z)
{
  const PetscInt n = d->n, levels = p->N[axis], stride = axis == 0 ? 1 : axis == 1 ? p->N[0] : p->N[0] * p->N[1];
  PetscScalar   *w, *t, *y;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(n, &w, levels * levels, &t, levels, &y));
  for (PetscInt i = 0; i < n; i++) {
    w[i] = r[i];
    for (PetscInt j = 0; j < n; j++) w[i] -= d->a[i * n + j] * z[j];
  }
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt x[3] = {i % p->N[0], i / p->N[0] % p->N[1], i / (p->N[0] * p->N[1])};

    if (x[axis] || (color >= 0 && (x[0] + x[1] + x[2]) % 2 != color)) continue;
    for (PetscInt k = 0; k < levels; k++) {
      y[k] = w[i + k * stride];
      for (PetscInt m = 0; m < levels; m++) t[k * levels + m] = d->a[(i + k * stride) * n + i + m * stride];
    }
    for (PetscInt k = 0; k < levels; k++)
      for (PetscInt m = k + 1; m < levels; m++) {
        const PetscScalar f = t[m * levels + k] / t[k * levels + k];

        for (PetscInt q = k; q < levels; q++) t[m * levels + q] -= f * t[k * levels + q];
        y[m] -= f * y[k];
      }
    for (PetscInt k = levels - 1; k >= 0; k--) {
      for (PetscInt m = k + 1; m < levels; m++) y[k] -= t[k * levels + m] * y[m];
      y[k] /= t[k * levels + k];
      z[i + k * stride] += omega * y[k];
    }
  }
  PetscCall(PetscFree3(w, t, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Axes in turn */
typedef struct {
  PetscInt n, axes[3];
} Axes;

static PetscErrorCode DenseRelax(const Problem *p, const Dense *d, const Axes *t, PCColumnSweep sweep, PetscReal omega, PetscInt its,
                                 const PetscScalar *r, PetscScalar *z)
{
  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(z, d->n));
  for (PetscInt it = 0; it < its; it++) {
    for (PetscInt m = 0; m < t->n; m++)
      if (sweep == PC_COLUMN_SWEEP_JACOBI)
        PetscCall(DenseStep(p, d, t->axes[m], -1, omega, r, z));
      else
        for (int c = 0; c < 2; c++) PetscCall(DenseStep(p, d, t->axes[m], c, omega, r, z));
    for (PetscInt m = t->n - 1; m >= 0 && sweep == PC_COLUMN_SWEEP_SYMMETRIC; m--)
      for (int c = 1; c >= 0; c--) PetscCall(DenseStep(p, d, t->axes[m], c, omega, r, z));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- what it computes ---------------------------------------------------------------------------------------------------------------- */

/* The largest difference between a vector and numbers in natural order, over the largest of these */
static PetscErrorCode Error(const Problem *p, Vec v, const PetscScalar *natural, PetscReal *error)
{
  const PetscScalar *a;
  PetscReal          d[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(v, &a));
  EACH_CELL(p, x, i)
  {
    const PetscScalar want = natural[Natural(p, x)];

    if (!(PetscAbsScalar(a[i] - want) <= d[0])) d[0] = PetscAbsScalar(a[i] - want);
    d[1] = PetscMax(d[1], PetscAbsScalar(want));
  }
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, d, 2, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  *error = d[0] / d[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest difference of two vectors */
static PetscErrorCode Difference(Vec x, Vec y, PetscReal *d)
{
  Vec w;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &w));
  PetscCall(VecWAXPY(w, -1, x, y));
  PetscCall(VecNorm(w, NORM_INFINITY, d));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakePC(Mat A, const Axes *t, PCColumnSweep sweep, PetscReal omega, PetscInt its, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetType(*pc, PCCOLUMN));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCColumnSetAxes(*pc, t->n, t->axes));
  PetscCall(PCColumnSetSweep(*pc, sweep));
  PetscCall(PCColumnSetOmega(*pc, omega));
  PetscCall(PCColumnSetIterations(*pc, its));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPRICHARDSON with and without PCApplyRichardson(), PCMatApply() and PCApply(): bit for bit the same */
static PetscErrorCode CheckWays(PC pc, Mat A, Vec r, Vec z, int device, const char *name)
{
  Vec       x[2], column;
  Mat       R, Z;
  PetscInt  local;
  PetscReal d;

  PetscFunctionBeginUser;
  for (int plain = 0; plain < 2; plain++) {
    KSP ksp;

    PetscCall(VecDuplicate(r, &x[plain]));
    PetscCall(VecCopy(r, x[plain]));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetPC(ksp, pc));
    PetscCall(KSPSetType(ksp, KSPRICHARDSON));
    PetscCall(KSPSetNormType(ksp, plain ? KSP_NORM_UNPRECONDITIONED : KSP_NORM_NONE));
    PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
    PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 2));
    PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
    PetscCall(KSPSolve(ksp, r, x[plain]));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(Difference(x[0], x[1], &d));
  ok(d == 0, "%s: PCApplyRichardson() gives what the plain iterations give", name);
  for (int m = 0; m < 2; m++) PetscCall(VecDestroy(&x[m]));
  PetscCall(VecGetLocalSize(r, &local));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, local, PETSC_DECIDE, PETSC_DECIDE, 2, NULL, &R));
#if STRATA_HAVE_CUDA
  if (device) PetscCall(MatConvert(R, MATDENSECUDA, MAT_INPLACE_MATRIX, &R));
#endif
  for (int v = 0; v < 2; v++) {
    PetscCall(MatDenseGetColumnVecWrite(R, v, &column));
    PetscCall(VecCopy(r, column));
    PetscCall(MatDenseRestoreColumnVecWrite(R, v, &column));
  }
  PetscCall(MatDuplicate(R, MAT_DO_NOT_COPY_VALUES, &Z));
  PetscCall(PCMatApply(pc, R, Z));
  PetscCall(MatDenseGetColumnVecRead(Z, 1, &column));
  PetscCall(Difference(column, z, &d));
  PetscCall(MatDenseRestoreColumnVecRead(Z, 1, &column));
  ok(d == 0, "%s: PCMatApply() gives what PCApply() gives", name);
  PetscCall(MatDestroy(&R));
  PetscCall(MatDestroy(&Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One problem on one process grid, with vectors on the host or on the device */
static PetscErrorCode CheckSweeps(Problem *p, const Dense *d, const Axes *t, int device)
{
  Mat          A, B;
  Vec          r, s, z, y;
  PetscScalar *natural, *want;
  char         letters[4] = "";

  PetscFunctionBeginUser;
  if (device) PetscCall(PetscOptionsSetValue(NULL, "-dm_vec_type", "cuda"));
  PetscCall(ProblemSetUp(p));
  PetscCall(PetscOptionsClearValue(NULL, "-dm_vec_type"));
  PetscCall(ProblemOperator(p, &A));
  PetscCall(ProblemAssembled(p, &B));
#if STRATA_HAVE_CUDA
  if (device) PetscCall(MatConvert(B, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &B));
#endif
  PetscCall(ProblemVector(p, 70, &r));
  PetscCall(ProblemVector(p, 71, &s));
  PetscCall(VecDuplicate(r, &z));
  PetscCall(VecDuplicate(r, &y));
  PetscCall(PetscMalloc2(d->n, &natural, d->n, &want));
  for (PetscInt i = 0; i < d->n; i++) natural[i] = Number(70, i);
  for (PetscInt m = 0; m < t->n; m++) letters[m] = (char)('x' + t->axes[m]);
  for (int sweep = PC_COLUMN_SWEEP_JACOBI; sweep <= PC_COLUMN_SWEEP_SYMMETRIC; sweep++)
    for (int kind = 0; kind<4; kind += size> 1 ? 3 : 1) {
      const PetscReal omega = kind % 2 ? 0.8 + 0.2 * sweep : 1;
      const PetscInt  its = 1 + kind / 2;
      PetscReal       error = 0;
      PetscScalar     left, right;
      char            name[512];

      if (size > 1 && (kind == 3) != (t->n == 1)) continue; /* enough, on so many process grids */
      PetscCall(DenseRelax(p, d, t, (PCColumnSweep)sweep, omega, its, natural, want));
      for (int assembled = 0; assembled < 2; assembled++) {
        PC pc;

        PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s, axis %s, %s, omega %g, %d its%s", device ? "CUDA " : "", ProblemName(p), letters,
                                PCColumnSweeps[sweep], (double)omega, (int)its, assembled ? ", AIJ" : ""));
        PetscCall(MakePC(assembled ? B : A, t, (PCColumnSweep)sweep, omega, its, &pc));
        PetscCall(VecSet(z, NAN));
        PetscCall(PCApply(pc, r, z));
        PetscCall(Error(p, z, want, &error));
        ok(error <= 1e-13, "%s: error %.1e", name, (double)error);
        PetscCall(PCApplyTranspose(pc, s, y));
        PetscCall(VecDot(z, s, &left));
        PetscCall(VecDot(r, y, &right));
        is_real(right, left, 1e-12, "%s: the transpose", name);
        if (p->symmetric && (sweep == PC_COLUMN_SWEEP_SYMMETRIC || (sweep == PC_COLUMN_SWEEP_JACOBI && t->n == 1))) {
          PetscCall(PCApply(pc, s, y));
          PetscCall(VecDot(r, y, &right));
          is_real(right, left, 1e-12, "%s: symmetric", name);
        }
        if (kind == 3) PetscCall(CheckWays(pc, assembled ? B : A, r, z, device, name));
        PetscCall(PCDestroy(&pc));
      }
    }
  PetscCall(PetscFree2(natural, want));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&s));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(DMDestroy(&p->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckAll(void)
{
  static const Axes turns[] = {{1, {0}}, {1, {1}}, {1, {2}}, {2, {0, 2}}, {2, {1, 0}}, {3, {2, 0, 1}}};

  PetscFunctionBeginUser;
  for (size_t m = 0; m < sizeof(problems) / sizeof(*problems); m++) {
    Problem  p = problems[m];
    Dense    d;
    int      which = 0;
    PetscInt procs[3];

    p.comm = PETSC_COMM_WORLD;
    PetscCall(MakeDense(&p, &d));
    while (NextProcessGrid(p.dim, p.N, &which, procs))
      for (size_t t = 0; t < sizeof(turns) / sizeof(*turns); t++) {
        PetscBool can = PETSC_TRUE;

        for (PetscInt q = 0; q < turns[t].n; q++) {
          const PetscInt a = turns[t].axes[q];

          if (a >= p.dim) can = PETSC_FALSE;
        }
        for (int a = 0; a < 3; a++) p.procs[a] = procs[a];
        for (int device = 0; device <= TapHasDevice() && can; device++) PetscCall(CheckSweeps(&p, &d, &turns[t], device));
      }
    PetscCall(PetscFree(d.a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- how fast it converges ------------------------------------------------------------------------------------------------------------- */

/* The Laplace operator on m x m cells between zeros. By an iteration of line Jacobi its slowest error shrinks by rho = c / (2 - c), c = cos(pi / (m + 1)),
   and by one of line SOR with a weight omega up to the best by the square of (omega rho + sqrt(omega^2 rho^2 - 4 (omega - 1))) / 2. */
static PetscErrorCode CheckRates(void)
{
  const PetscInt    m = 8;
  const PetscScalar legs[4] = {-1, -1, -1, -1};
  const PetscReal   c = PetscCosReal(PETSC_PI / (m + 1)), rho = c / (2 - c);
  DM                dm;
  Mat               A;
  Vec               b, x, w;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, m, m, size, 1, 1, 1, NULL, NULL, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(MatCreateStrata(dm, &A));
  PetscCall(MatStrataSetConstant(A, 0, legs));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &w));
  for (int kind = 0; kind < 3; kind++) {
    const PetscReal omega = kind == 2 ? 1.2 : 1, root = 0.5 * (omega * rho + PetscSqrtReal(omega * omega * rho * rho - 4 * (omega - 1)));
    const PetscInt  its = 100;
    PetscReal       norm[2];

    PetscCall(MakePC(A, &(Axes){1, {1}}, kind ? PC_COLUMN_SWEEP_REDBLACK : PC_COLUMN_SWEEP_JACOBI, omega, 1, &pc));
    PetscCall(VecSet(b, 0));
    PetscCall(VecSet(x, 1));
    for (int end = 0; end < 2; end++) {
      PetscInt                    done;
      PCRichardsonConvergedReason reason;

      PetscCall(PCApplyRichardson(pc, b, x, w, 0, 0, 0, end ? 1 : its, PETSC_FALSE, &done, &reason));
      PetscCall(VecNorm(x, NORM_2, &norm[end]));
    }
    is_real(norm[1] / norm[0], kind ? root * root : rho, 1e-7, "the rate of line %s", kind == 0 ? "Jacobi" : kind == 1 ? "Gauss-Seidel" : "SOR");
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&w));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Conjugate gradients with symmetric line Gauss-Seidel and with line Jacobi, from the options; the same on any number of ranks */
static PetscErrorCode CheckPressure(void)
{
  const char *const sweeps[] = {"jacobi", "symmetric"};
  PetscInt          its[2][2];

  PetscFunctionBeginUser;
  for (int sweep = 0; sweep < 2; sweep++)
    for (int assembled = 0; assembled < 2; assembled++) {
      DM                 dm;
      Mat                A, B;
      Vec                b, x;
      KSP                ksp;
      KSPConvergedReason reason;

      PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 32, 32, 16, size, 1, 1, 1, 1,
                             NULL, NULL, NULL, &dm));
      PetscCall(DMSetUp(dm));
      PetscCall(MatCreateStrata(dm, &A));
      PetscCall(StrataPressureSetOperator(A, 2, 6.7e-4, 3.4e-2, 0.0126));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
      PetscCall(MatSetDM(B, dm));
      PetscCall(DMCreateGlobalVector(dm, &b));
      PetscCall(VecDuplicate(b, &x));
      PetscCall(StrataPressureSetRHS(A, 2, 0.0126, b));
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetOperators(ksp, assembled ? B : A, assembled ? B : A));
      PetscCall(
          PetscOptionsInsertString(NULL, TapText("-ksp_type cg -ksp_norm_type unpreconditioned -pc_type column -pc_column_sweep %s", sweeps[sweep])));
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetIterationNumber(ksp, &its[sweep][assembled]));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      ok(reason == KSP_CONVERGED_RTOL, "pressure, %s: converges", sweeps[sweep]);
      PetscCall(KSPDestroy(&ksp));
      PetscCall(VecDestroy(&b));
      PetscCall(VecDestroy(&x));
      PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&B));
      PetscCall(DMDestroy(&dm));
      for (const char *const *o = (const char *const[]){"-ksp_type", "-ksp_norm_type", "-pc_type", "-pc_column_sweep", NULL}; *o; o++)
        PetscCall(PetscOptionsClearValue(NULL, *o));
    }
  for (int assembled = 0; assembled < 2; assembled++) {
    is_int(its[0][assembled], 9, "pressure, columns together: iterations");
    is_int(its[1][assembled], 6, "pressure, columns in two colours, symmetric: iterations");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- what can be set, what is seen and what is refused ----------------------------------------------------------------------------------- */

static PetscErrorCode CheckSettings(void)
{
  PC            pc;
  PCColumnSweep sweep;
  PetscReal     omega;
  PetscInt      its;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCCOLUMN));
  for (int set = 0; set < 2; set++) {
    PetscCall(PCColumnGetSweep(pc, &sweep));
    PetscCall(PCColumnGetOmega(pc, &omega));
    PetscCall(PCColumnGetIterations(pc, &its));
    is_int(sweep, set ? PC_COLUMN_SWEEP_SYMMETRIC : PC_COLUMN_SWEEP_JACOBI, "the sweep");
    is_real(omega, set ? 1.25 : 1, 0, "the weight");
    is_int(its, set ? 3 : 1, "the number of iterations");
    PetscCall(PetscOptionsInsertString(NULL, "-pc_column_sweep symmetric -pc_column_omega 1.25 -pc_column_its 3"));
    PetscCall(PCSetFromOptions(pc));
  }
  for (const char *const *o = (const char *const[]){"-pc_column_sweep", "-pc_column_omega", "-pc_column_its", NULL}; *o; o++)
    PetscCall(PetscOptionsClearValue(NULL, *o));
  is_error(PCColumnSetSweep(pc, (PCColumnSweep)5), PETSC_ERR_ARG_OUTOFRANGE, "no sweep 5 PC_COLUMN_SWEEP_REDBLACK", "a sweep that is none");
  is_error(PCColumnSetOmega(pc, 2), PETSC_ERR_ARG_OUTOFRANGE, "weight 2 between", "a weight that is too large");
  is_error(PCColumnSetOmega(pc, 0), PETSC_ERR_ARG_OUTOFRANGE, "weight 0 between", "a weight of nothing");
  is_error(PCColumnSetOmega(pc, NAN), PETSC_ERR_ARG_OUTOFRANGE, "weight nan between", "a weight that is no number");
  is_error(PCColumnSetIterations(pc, 0), PETSC_ERR_ARG_OUTOFRANGE, "0 iterations positive", "no iterations");
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Axes in turn: settings, view, and errors */
static PetscErrorCode CheckAxes(void)
{
  Problem   p = {.comm = PETSC_COMM_WORLD, .dim = 3, .N = {6, 8, 5}, .form = MAT_STRATA_CONSTANT, .symmetric = 1};
  Mat       A, B;
  Vec       r, z, y;
  PC        pc;
  PetscInt  n, axes[3], axis;
  char      text[4096];
  PetscReal d;

  PetscFunctionBeginUser;
  p.procs[0] = p.procs[2] = 1;
  p.procs[1] = size;
  PetscCall(ProblemSetUp(&p));
  PetscCall(ProblemOperator(&p, &A));
  PetscCall(ProblemAssembled(&p, &B));
  PetscCall(ProblemVector(&p, 70, &r));
  PetscCall(VecDuplicate(r, &z));
  PetscCall(VecDuplicate(r, &y));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCCOLUMN));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCColumnGetAxes(pc, &n, axes));
  ok(n == 1 && axes[0] == PETSC_DETERMINE, "one axis, not yet known");
  PetscCall(PetscOptionsSetValue(NULL, "-pc_column_axis", "all"));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCColumnGetAxes(pc, &n, axes));
  is_int(n, 0, "all axes, not yet known");
  PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
  has_words(text, "axis all, not set up", "view of all axes before set-up");
  if (size == 1) {
    PetscCall(PCApply(pc, r, z));
    PetscCall(PCColumnGetAxes(pc, &n, axes));
    ok(n == 3 && axes[0] == 0 && axes[1] == 1 && axes[2] == 2, "all axes");
  }
  PetscCall(PetscOptionsSetValue(NULL, "-pc_column_axis", "zx"));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCApply(pc, r, z));
  PetscCall(PCColumnGetAxes(pc, &n, axes));
  ok(n == 2 && axes[0] == 2 && axes[1] == 0, "two axes in turn");
  PetscCall(PCColumnGetAxis(pc, &axis));
  is_int(axis, 2, "of two axes in turn the first");
  PetscCall(PCColumnGetSize(pc, &n));
  is_int(n, 5, "of two axes in turn the length along the first");
  PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
  has_words(text, "turn: zx relaxation: jacobi 48 columns of 5 along axis z 40 columns of 6 along axis x thomas", "view of two axes in turn");
  PetscCall(PCColumnSetAlgorithm(pc, PC_COLUMN_PARTITION));
  PetscCall(PCApply(pc, r, y));
  PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
  has_words(text, "partition (as asked for)", "view of two axes in turn, another algorithm");
  PetscCall(Difference(y, z, &d));
  ok(d <= 1e-14, "two axes in turn, another algorithm");
  PetscCall(MatScale(A, 2)); /* followed, as one axis is */
  PetscCall(PCApply(pc, r, y));
  PetscCall(VecScale(y, 2));
  PetscCall(Difference(y, z, &d));
  ok(d <= 1e-14, "two axes in turn: the operator is followed");
  PetscCall(PCSetReusePreconditioner(pc, PETSC_TRUE));
  PetscCall(MatScale(B, 4));
  PetscCall(PCSetOperators(pc, B, B));
  PetscCall(PCApply(pc, r, y));
  PetscCall(VecScale(y, 4));
  PetscCall(Difference(y, z, &d));
  ok(d <= 1e-14, "two axes in turn: an operator is replaced");
  PetscCall(PCSetReusePreconditioner(pc, PETSC_FALSE));
  PetscCall(MatScale(B, 0.5));
  PetscCall(PCApply(pc, r, y));
  PetscCall(VecScale(y, 2));
  PetscCall(Difference(y, z, &d));
  ok(d <= 1e-14, "two axes in turn: new values are read");
  {
    PetscInt       row;
    PetscReal      norm;
    PCFailedReason reason;

    PetscCall(MatGetOwnershipRange(B, &row, NULL));
    if (!rank) PetscCall(MatSetValue(B, row, row, NAN, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    PetscCall(PCApply(pc, r, y));
    PetscCall(VecNorm(y, NORM_INFINITY, &norm));
    PetscCall(PCGetFailedReason(pc, &reason));
    ok(PetscIsInfOrNanReal(norm) && reason == PC_FACTOR_OTHER, "two axes in turn: NaN makes it fail");
    PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
    has_words(text, "failed: NaN row 0, cell (0, 0, 0)", "two axes in turn: view names the row");
  }
  is_error(PCColumnSetAxes(pc, 2, (const PetscInt[]){1, 1}), PETSC_ERR_ARG_WRONG, "y twice", "an axis given twice");
  is_error(PCColumnSetAxes(pc, 4, axes), PETSC_ERR_ARG_OUTOFRANGE, "4 axes 1 to 3", "too many axes");
  is_error(PCColumnSetAxes(pc, 2, (const PetscInt[]){1, PETSC_DETERMINE}), PETSC_ERR_ARG_OUTOFRANGE, "PETSC_DETERMINE, alone", "auto among others");
  is_error(PCColumnSetAxes(pc, 2, NULL), PETSC_ERR_ARG_NULL, "axes missing", "no axes");
  PetscCall(PetscOptionsSetValue(NULL, "-pc_column_axis", "xq"));
  is_error(PCSetFromOptions(pc), PETSC_ERR_USER, "xq such all auto", "an axis that is not known");
  PetscCall(PetscOptionsSetValue(NULL, "-pc_column_axis", "xyzx"));
  is_error(PCSetFromOptions(pc), PETSC_ERR_USER, "xyzx such all auto", "too many axes from the options");
  PetscCall(PetscOptionsClearValue(NULL, "-pc_column_axis"));
  PetscCall(PCColumnSetSize(pc, 5));
  is_error(PCSetUp(pc), PETSC_ERR_ARG_INCOMP, "runs of rows no axis", "runs of rows along several axes");
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(DMDestroy(&p.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckPeriods(void)
{
  Problem p = {.dim = 3, .N = {4, 7, 8}, .form = MAT_STRATA_CONSTANT, .symmetric = 1, .boundary = {DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC}};
  Mat     A;
  Vec     r, z;
  PC      pc;
  char    text[4096];

  PetscFunctionBeginUser;
  p.comm = PETSC_COMM_WORLD;
  p.procs[0] = p.procs[2] = 1;
  p.procs[1] = size;
  PetscCall(ProblemSetUp(&p));
  PetscCall(ProblemOperator(&p, &A));
  PetscCall(ProblemVector(&p, 70, &r));
  PetscCall(VecDuplicate(r, &z));
  PetscCall(MakePC(A, &(Axes){1, {2}}, PC_COLUMN_SWEEP_JACOBI, 1, 1, &pc));
  PetscCall(PCApply(pc, r, z));
  PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
  ok(!strstr(text, "relaxation"), "one solve of all columns is no line relaxation");
  PetscCall(PCColumnSetSweep(pc, PC_COLUMN_SWEEP_REDBLACK)); /* set up as it is */
  is_error(PCSetUp(pc), PETSC_ERR_ARG_SIZ, "two colours even 7 along axis y -pc_column_sweep", "an odd period");
  PetscCall(PCColumnSetSweep(pc, PC_COLUMN_SWEEP_JACOBI));
  PetscCall(PCColumnSetIterations(pc, 2));
  PetscCall(PCApply(pc, r, z));
  PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
  has_words(text, "relaxation: jacobi together omega 2 iterations", "view of two iterations");
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&p.dm));

  p.N[1] = 1; /* a period of one cell is no neighbour */
  p.N[0] = 8;
  p.procs[0] = size;
  p.procs[1] = 1;
  PetscCall(ProblemSetUp(&p));
  PetscCall(ProblemOperator(&p, &A));
  PetscCall(MakePC(A, &(Axes){1, {2}}, PC_COLUMN_SWEEP_SYMMETRIC, 1.5, 1, &pc));
  PetscCall(PCSetUp(pc));
  PetscCall(TapView((PetscObject)pc, text, sizeof(text)));
  has_words(text, "relaxation: symmetric two colours reversed 1.5 iteration", "view of a symmetric sweep");
  if (size > 1 && PetscDefined(USE_DEBUG) == 0) {
    PetscCall(PCColumnSetSweep(pc, rank ? PC_COLUMN_SWEEP_JACOBI : PC_COLUMN_SWEEP_REDBLACK));
    is_error(PCSetUp(pc), PETSC_ERR_ARG_WRONG, "sweep differ between ranks PCColumnSetSweep()", "other sweeps on other ranks");
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&p.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(CheckAll());
  PetscCall(CheckRates());
  PetscCall(CheckPressure());
  PetscCall(CheckSettings());
  PetscCall(CheckAxes());
  PetscCall(CheckPeriods());
  return TapEnd();
}
