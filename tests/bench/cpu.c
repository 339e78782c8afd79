/*
   The operator, the column solve, a whole solve and Jacobi sweeps on one core against PETSc's own ways.
   Usage: cpu [-report file.json] [-m 128] [-nz 64] [-sweeps 4096]
*/
#include <strata.h>
#include "../../src/sys/compat.h"
#include <time.h>

typedef struct {
  FILE     *file;
  PetscBool first;
} Report;

/* Time that this process has had on a processor: what others had of it does not count */
static PetscReal Seconds(void)
{
  struct timespec t;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (PetscReal)t.tv_sec + 1e-9 * (PetscReal)t.tv_nsec;
}

/* Calls that are timed in turn, so that what else the machine does meets all of them: the best time of each in seconds, and how far, in percent, the
   middle of its times is from it */
#define ROUNDS 15
typedef PetscErrorCode (*Call)(void *, Vec, Vec);
typedef struct {
  Call      call;
  void     *ctx;
  PetscReal best, spread, seconds[ROUNDS];
} Racer;

static PetscErrorCode Race(PetscInt count, Racer racer[], PetscInt rounds, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  for (PetscInt round = -1; round < rounds; round++) /* the first warms up */
    for (PetscInt r = 0; r < count; r++) {
      const PetscReal start = Seconds();

      PetscCall(racer[r].call(racer[r].ctx, x, y));
      if (round >= 0) racer[r].seconds[round] = Seconds() - start;
    }
  for (PetscInt r = 0; r < count; r++) {
    PetscCall(PetscSortReal(rounds, racer[r].seconds));
    racer[r].best = racer[r].seconds[0];
    racer[r].spread = 100 * (racer[r].seconds[rounds / 2] - racer[r].best) / racer[r].best;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallMult(void *A, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  PetscCall(MatMult((Mat)A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallApply(void *pc, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  PetscCall(PCApply((PC)pc, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallSolve(void *ksp, Vec b, Vec x)
{
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(KSPSolve((KSP)ksp, b, x));
  PetscCall(KSPGetConvergedReason((KSP)ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_SELF, PETSC_ERR_NOT_CONVERGED, "%s", KSPConvergedReasons[reason]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One line: how many times faster than the peer; goal 0 means that there is none */
static PetscErrorCode Line(Report *report, const char name[], const Racer *we, const Racer *they, PetscReal floor, PetscReal aim)
{
  const PetscReal ours = we->best, theirs = they->best, ratio = theirs / ours, spread = PetscMax(we->spread, they->spread);
  char            goal[64] = "";

  PetscFunctionBeginUser;
  if (floor > 0)
    PetscCall(PetscSNPrintf(goal, sizeof(goal), "  goal %g, aim %g: %s", (double)floor, (double)aim,
                            ratio >= aim     ? "aim reached"
                            : ratio >= floor ? "goal reached"
                                             : "MISSED"));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%-52s %8.3f ms, peer %8.3f ms: %5.2f times  spread %4.1f%%%s\n", name, 1e3 * (double)ours,
                        1e3 * (double)theirs, (double)ratio, (double)spread, goal));
  if (report->file) {
    fprintf(report->file,
            "%s\n    {\"name\": \"%s\", \"ms\": %.4f, \"peer_ms\": %.4f, \"ratio\": %.3f, \"spread_percent\": %.1f, \"goal\": %g, \"aim\": %g}",
            report->first ? "" : ",", name, 1e3 * (double)ours, 1e3 * (double)theirs, (double)ratio, (double)spread, (double)floor, (double)aim);
    report->first = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of A that couple cells of one column, and the diagonal */
static PetscErrorCode ColumnMatrix(Mat A, PetscInt stride, Mat *B)
{
  PetscInt rows;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, rows, rows, 3, NULL, B));
  for (PetscInt r = 0; r < rows; r++) {
    const PetscInt    *cols;
    const PetscScalar *values;
    PetscInt           count;

    PetscCall(MatGetRow(A, r, &count, &cols, &values));
    for (PetscInt e = 0; e < count; e++)
      if (cols[e] == r || cols[e] == r + stride || cols[e] == r - stride) PetscCall(MatSetValue(*B, r, cols[e], values[e], INSERT_VALUES));
    PetscCall(MatRestoreRow(A, r, &count, &cols, &values));
  }
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreatePC(Mat A, PCType type, const char options[], PC *pc)
{
  PetscFunctionBeginUser;
  if (options) PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(PCCreate(PETSC_COMM_SELF, pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetType(*pc, type));
  PetscCall(PCSetOptionsPrefix(*pc, "bench_"));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCSetUpOnBlocks(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operators of other forms with the entries of the pressure problem */
static PetscErrorCode BenchMult(Report *report, Mat A, Mat AIJ, Vec x, Vec y)
{
  const PetscScalar legs[] = {-1, -1, -1, -1, -30, -30};
  Mat               faces, constant;
  DM                dm;
  Racer             racer[4];

  PetscFunctionBeginUser;
  PetscCall(MatConvert(AIJ, MATSTRATA, MAT_INITIAL_MATRIX, &faces));
  PetscCall(MatGetDM(A, &dm));
  PetscCall(MatCreateStrata(dm, &constant));
  PetscCall(MatStrataSetConstant(constant, 0, legs));
  PetscCall(MatAssemblyBegin(constant, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(constant, MAT_FINAL_ASSEMBLY));
  for (PetscInt r = 0; r < 4; r++) {
    racer[r].call = CallMult;
    racer[r].ctx = r == 0 ? AIJ : r == 1 ? A : r == 2 ? faces : constant;
  }
  PetscCall(Race(4, racer, ROUNDS, x, y));
  PetscCall(Line(report, "H1: MatMult, tensor form, over MatMult AIJ", &racer[1], &racer[0], 3, 5));
  PetscCall(Line(report, "MatMult, faces form, over MatMult AIJ", &racer[2], &racer[0], 0, 0));
  PetscCall(Line(report, "MatMult, constant form, over MatMult AIJ", &racer[3], &racer[0], 0, 0));
  PetscCall(MatDestroy(&faces));
  PetscCall(MatDestroy(&constant));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchColumn(Report *report, Mat A, Mat AIJ, PetscInt axis, PetscInt stride, Vec x, Vec y)
{
  const char c = axis == 2 ? 'z' : 'x';
  Mat        lines;
  PC         pc[4];
  Racer      racer[4];
  char       name[128];

  PetscFunctionBeginUser;
  PetscCall(CreatePC(AIJ, PCICC, NULL, &pc[0]));
  PetscCall(ColumnMatrix(AIJ, stride, &lines));
  PetscCall(CreatePC(lines, PCBJACOBI, "-bench_sub_pc_type lu -bench_sub_pc_factor_mat_ordering_type natural", &pc[1]));
  PetscCall(CreatePC(A, PCCOLUMN, axis == 2 ? "-bench_pc_column_axis z" : "-bench_pc_column_axis x", &pc[2]));
  PetscCall(CreatePC(AIJ, PCCOLUMN, NULL, &pc[3]));
  for (PetscInt r = 0; r < 4; r++) {
    racer[r].call = CallApply;
    racer[r].ctx = pc[r];
  }
  PetscCall(Race(4, racer, ROUNDS, x, y));
  PetscCall(PetscSNPrintf(name, sizeof(name), "H2: column apply along %c, tensor, over bjacobi + LU", c));
  PetscCall(Line(report, name, &racer[2], &racer[1], 3, 6));
  PetscCall(PetscSNPrintf(name, sizeof(name), "H2: column apply along %c, tensor, over icc", c));
  PetscCall(Line(report, name, &racer[2], &racer[0], 3, 6));
  PetscCall(PetscSNPrintf(name, sizeof(name), "column apply along %c, from AIJ, over bjacobi + LU", c));
  PetscCall(Line(report, name, &racer[3], &racer[1], 0, 0));
  for (PetscInt r = 0; r < 4; r++) PetscCall(PCDestroy(&pc[r]));
  PetscCall(MatDestroy(&lines));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(Mat A, const char options[], KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetOptionsPrefix(*ksp, "solve_"));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetUp(*ksp));
  PetscCall(KSPSetUpOnBlocks(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whole pressure solves to 1e-5 against the best of cg with an assembled matrix. The slow ones are timed fewer times. */
static PetscErrorCode BenchSolve(Report *report, PetscInt m, PetscInt nz)
{
  const char *const type[] = {"cg -solve_pc_type column", "cgfused -solve_pc_type column",
                              "cg -solve_pc_type icc",    "cg -solve_pc_type bjacobi -solve_sub_pc_type icc",
                              "cg -solve_pc_type jacobi", "cg -solve_pc_type sor"};
  const PetscInt    count = PETSC_STATIC_ARRAY_LENGTH(type), fast = 4;
  DM                dm;
  Mat               A, AIJ;
  Vec               b, x;
  KSP               ksp[PETSC_STATIC_ARRAY_LENGTH(type)];
  Racer             racer[PETSC_STATIC_ARRAY_LENGTH(type)];
  PetscInt          peer = 2;
  char              options[256], name[128];

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, m, m, nz, 1, 1, 1, 1, 1, NULL,
                         NULL, NULL, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(MatCreateStrata(dm, &A));
  PetscCall(StrataPressureSetOperator(A, 2, 6.7e-4, 3.4e-2, 0.0126));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &AIJ));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(StrataPressureSetRHS(A, 2, 0.0126, b));
  for (PetscInt r = 0; r < count; r++) {
    PetscCall(PetscSNPrintf(options, sizeof(options), "-solve_ksp_norm_type unpreconditioned -solve_ksp_rtol 1e-5 -solve_ksp_type %s", type[r]));
    PetscCall(CreateSolver(r < 2 ? A : AIJ, options, &ksp[r]));
    racer[r].call = CallSolve;
    racer[r].ctx = ksp[r];
  }
  PetscCall(Race(fast, racer, ROUNDS, b, x));
  PetscCall(Race(count - fast, racer + fast, 3, b, x));
  for (PetscInt r = 2; r < count; r++) {
    PetscInt its;

    PetscCall(KSPGetIterationNumber(ksp[r], &its));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  AIJ, %-48s %4" PetscInt_FMT " its %8.2f ms, spread %.1f%%\n", type[r], its, 1e3 * (double)racer[r].best,
                          (double)racer[r].spread));
    if (racer[r].best < racer[peer].best) peer = r;
  }
  PetscCall(PetscSNPrintf(name, sizeof(name), "pressure solve %" PetscInt_FMT "x%" PetscInt_FMT "x%" PetscInt_FMT ", cg + column", m, m, nz));
  PetscCall(Line(report, name, &racer[0], &racer[peer], 0, 0));
  PetscCall(PetscSNPrintf(name, sizeof(name), "H3: pressure solve %" PetscInt_FMT "x%" PetscInt_FMT "x%" PetscInt_FMT ", cgfused", m, m, nz));
  PetscCall(Line(report, name, &racer[1], &racer[peer], 4, 6));
  for (PetscInt r = 0; r < count; r++) PetscCall(KSPDestroy(&ksp[r]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&AIJ));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 32 sweeps of Jacobi's iteration for Laplace's equation on a square of n x n points: one by one by PETSc and by hjacobi, and eight at once */
static PetscErrorCode BenchSweeps(Report *report, PetscInt n)
{
  const char *const type[] = {"richardson -solve_pc_type jacobi -solve_ksp_max_it 32",
                              "hjacobi -solve_ksp_hjacobi_subiterations 1 -solve_ksp_max_it 32",
                              "hjacobi -solve_ksp_hjacobi_subiterations 8 -solve_ksp_max_it 4"};
  const PetscScalar legs[] = {-1, -1, -1, -1, 0, 0};
  DM                dm;
  Mat               A, AIJ;
  Vec               b, x;
  KSP               ksp[3];
  Racer             racer[3];
  char              options[256], name[128];

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, 1, 1, 1, 1, NULL, NULL, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(MatCreateStrata(dm, &A));
  PetscCall(MatStrataSetConstant(A, 0, legs));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &AIJ));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSetRandom(b, NULL));
  for (PetscInt r = 0; r < 3; r++) {
    PetscCall(PetscSNPrintf(options, sizeof(options), "-solve_ksp_norm_type none -solve_pc_type none -solve_ksp_type %s", type[r]));
    PetscCall(CreateSolver(r ? A : AIJ, options, &ksp[r]));
    racer[r].call = CallSolve;
    racer[r].ctx = ksp[r];
  }
  PetscCall(Race(3, racer, 3, b, x));
  PetscCall(PetscSNPrintf(name, sizeof(name), "H5: 32 sweeps %" PetscInt_FMT "^2, classic, over richardson", n));
  PetscCall(Line(report, name, &racer[1], &racer[0], 3, 4));
  PetscCall(PetscSNPrintf(name, sizeof(name), "H5: 32 sweeps %" PetscInt_FMT "^2, depth 8, over classic", n));
  PetscCall(Line(report, name, &racer[2], &racer[1], 2, 3));
  for (PetscInt r = 0; r < 3; r++) PetscCall(KSPDestroy(&ksp[r]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&AIJ));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Eight right-hand sides for PCHJACOBI, at once and one by one */
typedef struct {
  PC  pc;
  Mat R, Z;
} Many;

static PetscErrorCode CallMany(void *ctx, Vec x, Vec y)
{
  Many *m = (Many *)ctx;

  PetscFunctionBeginUser;
  PetscCall(PCMatApply(m->pc, m->R, m->Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallEach(void *ctx, Vec x, Vec y)
{
  Many    *m = (Many *)ctx;
  PetscInt columns;
  Vec      r, z;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(m->R, NULL, &columns));
  for (PetscInt c = 0; c < columns; c++) {
    PetscCall(MatDenseGetColumnVecRead(m->R, c, &r));
    PetscCall(MatDenseGetColumnVecWrite(m->Z, c, &z));
    PetscCall(PCApply(m->pc, r, z));
    PetscCall(MatDenseRestoreColumnVecWrite(m->Z, c, &z));
    PetscCall(MatDenseRestoreColumnVecRead(m->R, c, &r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchMany(Report *report, Mat AIJ)
{
  PetscInt rows;
  Many     many;
  Racer    racer[] = {{CallMany, &many}, {CallEach, &many}};

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(AIJ, &rows, NULL));
  PetscCall(CreatePC(AIJ, PCHJACOBI, NULL, &many.pc));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, rows, 8, NULL, &many.R));
  PetscCall(MatSetRandom(many.R, NULL));
  PetscCall(MatDuplicate(many.R, MAT_COPY_VALUES, &many.Z));
  PetscCall(Race(2, racer, 5, NULL, NULL));
  PetscCall(Line(report, "hjacobi, 8 columns at once, from AIJ, over one by one", &racer[0], &racer[1], 0, 0));
  PetscCall(MatDestroy(&many.R));
  PetscCall(MatDestroy(&many.Z));
  PetscCall(PCDestroy(&many.pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      file[PETSC_MAX_PATH_LEN], version[128], date[32];
  Report    report = {NULL, PETSC_TRUE};
  PetscInt  m = 128, nz = 64, sweeps = 4096;
  PetscBool write;
  time_t    now = time(NULL);

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(StrataInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-m", &m, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-nz", &nz, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sweeps", &sweeps, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-report", file, sizeof(file), &write));
  PetscCall(StrataGetVersion(version, sizeof(version)));
  strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&now));
  if (write) {
    report.file = fopen(file, "w");
    PetscCheck(report.file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s", file);
    fprintf(report.file,
            "{\n  \"date\": \"%s\",\n  \"versions\": \"%s\",\n  \"grid\": \"%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT
            "\",\n  \"quantities\": [",
            date, version, m, m, nz);
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, %s, pressure problem %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT ", one core\n", version,
                        date, m, m, nz));
  for (PetscInt axis = 2; axis >= 0; axis -= 2) {
    DM       dm;
    Mat      A, AIJ;
    Vec      x, y;
    PetscInt size[3] = {m, m, m};

    size[axis] = nz;
    PetscCall(DMDACreate3d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, size[0], size[1], size[2], 1, 1,
                           1, 1, 1, NULL, NULL, NULL, &dm));
    PetscCall(DMSetUp(dm));
    PetscCall(MatCreateStrata(dm, &A));
    PetscCall(StrataPressureSetOperator(A, axis, 6.7e-4, 3.4e-2, 0.0126));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &AIJ));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecSetRandom(x, NULL));
    if (axis == 2) {
      PetscCall(BenchMult(&report, A, AIJ, x, y));
      PetscCall(MatSetDM(AIJ, dm));
      PetscCall(BenchMany(&report, AIJ));
    }
    PetscCall(BenchColumn(&report, A, AIJ, axis, axis == 2 ? size[0] * size[1] : 1, x, y));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&AIJ));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&dm));
  }
  PetscCall(BenchSolve(&report, 96, 48));
  PetscCall(BenchSweeps(&report, sweeps));
  if (report.file) {
    const int failed = fprintf(report.file, "\n  ]\n}\n") < 0;

    PetscCheck(!fclose(report.file) && !failed, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s", file);
  }
  PetscCall(PetscFinalize());
  return 0;
}
