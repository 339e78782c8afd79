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

/* The best time of several runs of a call, in seconds, and how far the others are from it */
typedef PetscErrorCode (*Call)(void *, Vec, Vec);
static PetscErrorCode Time(Call call, void *ctx, Vec x, Vec y, PetscReal *best, PetscReal *spread)
{
  PetscReal worst = 0;

  PetscFunctionBeginUser;
  *best = PETSC_MAX_REAL;
  PetscCall(call(ctx, x, y));
  for (PetscInt run = 0; run < 3; run++) {
    PetscReal seconds = 0;
    PetscInt  calls = 0;

    while (seconds < 0.3) {
      const PetscReal start = MPI_Wtime();

      PetscCall(call(ctx, x, y));
      seconds += MPI_Wtime() - start;
      calls++;
    }
    *best = PetscMin(*best, seconds / calls);
    worst = PetscMax(worst, seconds / calls);
  }
  *spread = 100 * (worst - *best) / *best;
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

/* One line: how many times faster than the peer; goal 0 means that there is none */
static PetscErrorCode Line(Report *report, const char name[], PetscReal ours, PetscReal theirs, PetscReal spread, PetscReal floor, PetscReal aim)
{
  const PetscReal ratio = theirs / ours;
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
  Mat       B;
  PetscReal ours, theirs, spread, other;

  PetscFunctionBeginUser;
  PetscCall(Time(CallMult, AIJ, x, y, &theirs, &other));
  PetscCall(Time(CallMult, A, x, y, &ours, &spread));
  PetscCall(Line(report, "H1: MatMult, tensor form, over MatMult AIJ", ours, theirs, PetscMax(spread, other), 3, 5));
  PetscCall(MatConvert(AIJ, MATSTRATA, MAT_INITIAL_MATRIX, &B));
  PetscCall(Time(CallMult, B, x, y, &ours, &spread));
  PetscCall(Line(report, "MatMult, faces form, over MatMult AIJ", ours, theirs, PetscMax(spread, other), 0, 0));
  PetscCall(MatDestroy(&B));
  {
    const PetscScalar legs[] = {-1, -1, -1, -1, -30, -30};
    DM                dm;

    PetscCall(MatGetDM(A, &dm));
    PetscCall(MatCreateStrata(dm, &B));
    PetscCall(MatStrataSetConstant(B, 0, legs));
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    PetscCall(Time(CallMult, B, x, y, &ours, &spread));
    PetscCall(Line(report, "MatMult, constant form, over MatMult AIJ", ours, theirs, PetscMax(spread, other), 0, 0));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchColumn(Report *report, Mat A, Mat AIJ, PetscInt axis, PetscInt stride, Vec x, Vec y)
{
  Mat       lines;
  PC        pc;
  PetscReal ours, lu, icc, spread, other;
  char      name[128];

  PetscFunctionBeginUser;
  PetscCall(CreatePC(AIJ, PCICC, NULL, &pc));
  PetscCall(Time(CallApply, pc, x, y, &icc, &other));
  PetscCall(PCDestroy(&pc));
  PetscCall(ColumnMatrix(AIJ, stride, &lines));
  PetscCall(CreatePC(lines, PCBJACOBI, "-bench_sub_pc_type lu -bench_sub_pc_factor_mat_ordering_type natural", &pc));
  PetscCall(Time(CallApply, pc, x, y, &lu, &other));
  PetscCall(PCDestroy(&pc));
  PetscCall(CreatePC(A, PCCOLUMN, axis == 2 ? "-bench_pc_column_axis z" : "-bench_pc_column_axis x", &pc));
  PetscCall(Time(CallApply, pc, x, y, &ours, &spread));
  PetscCall(PCDestroy(&pc));
  PetscCall(PetscSNPrintf(name, sizeof(name), "H2: column apply along %c, tensor, over bjacobi + LU", axis == 2 ? 'z' : 'x'));
  PetscCall(Line(report, name, ours, lu, PetscMax(spread, other), 3, 6));
  PetscCall(PetscSNPrintf(name, sizeof(name), "H2: column apply along %c, tensor, over icc", axis == 2 ? 'z' : 'x'));
  PetscCall(Line(report, name, ours, icc, PetscMax(spread, other), 3, 6));
  PetscCall(CreatePC(AIJ, PCCOLUMN, NULL, &pc));
  PetscCall(Time(CallApply, pc, x, y, &ours, &spread));
  PetscCall(PCDestroy(&pc));
  PetscCall(PetscSNPrintf(name, sizeof(name), "column apply along %c, from AIJ, over bjacobi + LU", axis == 2 ? 'z' : 'x'));
  PetscCall(Line(report, name, ours, lu, PetscMax(spread, other), 0, 0));
  PetscCall(MatDestroy(&lines));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The best time of a whole solve to 1e-5, and its iterations */
static PetscErrorCode TimeSolve(Mat A, Vec b, Vec x, const char options[], PetscReal *best, PetscReal *spread, PetscInt *its)
{
  PetscReal worst = 0;
  KSP       ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-5, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetOptionsPrefix(ksp, "solve_"));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  *best = PETSC_MAX_REAL;
  for (PetscInt run = 0; run < 4; run++) { /* the first warms up */
    const PetscReal    start = MPI_Wtime();
    PetscReal          seconds;
    KSPConvergedReason reason;

    PetscCall(KSPSolve(ksp, b, x));
    seconds = MPI_Wtime() - start;
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason == KSP_CONVERGED_RTOL, PETSC_COMM_SELF, PETSC_ERR_NOT_CONVERGED, "%s: %s", options, KSPConvergedReasons[reason]);
    if (!run) continue;
    *best = PetscMin(*best, seconds);
    worst = PetscMax(worst, seconds);
  }
  *spread = 100 * (worst - *best) / *best;
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CallSolve(void *ksp, Vec b, Vec x)
{
  PetscFunctionBeginUser;
  PetscCall(KSPSolve((KSP)ksp, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The best time of 32 sweeps of a Jacobi method */
static PetscErrorCode TimeSweeps(Mat A, Vec b, Vec x, const char options[], PetscReal *best, PetscReal *spread)
{
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
  PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(KSPSetOptionsPrefix(ksp, "sweeps_"));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(Time(CallSolve, ksp, b, x, best, spread));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Jacobi sweeps on n x n cells, eight at a time and one at a time */
static PetscErrorCode BenchSweeps(Report *report, PetscInt n)
{
  const PetscScalar legs[6] = {-1, -1, -1, -1, 0, 0};
  DM                dm;
  Mat               A, AIJ;
  Vec               b, x;
  PetscReal         deep, classic, petsc, spread, other;
  char              name[128];

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, 1, 1, 1, 1, NULL, NULL, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(MatCreateStrata(dm, &A));
  PetscCall(MatStrataSetConstant(A, 0, legs));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(TimeSweeps(A, b, x, "-sweeps_ksp_type hjacobi -sweeps_ksp_hjacobi_subiterations 8 -sweeps_ksp_max_it 4", &deep, &spread));
  PetscCall(TimeSweeps(A, b, x, "-sweeps_ksp_type hjacobi -sweeps_ksp_hjacobi_subiterations 1 -sweeps_ksp_max_it 32", &classic, &other));
  PetscCall(PetscSNPrintf(name, sizeof(name), "H5: 32 sweeps %" PetscInt_FMT "^2, depth 8, over classic", n));
  PetscCall(Line(report, name, deep, classic, PetscMax(spread, other), 2, 3));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &AIJ));
  PetscCall(TimeSweeps(AIJ, b, x, "-sweeps_ksp_type richardson -sweeps_pc_type jacobi -sweeps_ksp_max_it 32", &petsc, &spread));
  PetscCall(PetscSNPrintf(name, sizeof(name), "H5: 32 sweeps %" PetscInt_FMT "^2, classic, over richardson", n));
  PetscCall(Line(report, name, classic, petsc, PetscMax(spread, other), 3, 4));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&AIJ));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The whole pressure solve against the best of cg with an assembled matrix */
static PetscErrorCode BenchSolve(Report *report, PetscInt m, PetscInt nz)
{
  const char *const peers[] = {"icc", "bjacobi", "jacobi", "sor"};
  DM                dm;
  Mat               A, AIJ;
  Vec               b, x;
  PetscReal         ours, theirs, spread, other, peer = PETSC_MAX_REAL;
  PetscInt          its;
  char              options[128], name[128];

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
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(peers); p++) {
    PetscCall(PetscSNPrintf(options, sizeof(options), "-solve_ksp_type cg -solve_pc_type %s -solve_sub_pc_type icc", peers[p]));
    PetscCall(TimeSolve(AIJ, b, x, options, &theirs, &other, &its));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  cg + AIJ + %-8s %4" PetscInt_FMT " its %8.2f ms, spread %.1f%%\n", peers[p], its, 1e3 * (double)theirs,
                          (double)other));
    peer = PetscMin(peer, theirs);
  }
  PetscCall(TimeSolve(A, b, x, "-solve_ksp_type cg -solve_pc_type column", &ours, &spread, &its));
  PetscCall(PetscSNPrintf(name, sizeof(name), "pressure solve %" PetscInt_FMT "x%" PetscInt_FMT "x%" PetscInt_FMT ", cg + column", m, m, nz));
  PetscCall(Line(report, name, ours, peer, spread, 0, 0));
  PetscCall(TimeSolve(A, b, x, "-solve_ksp_type cgfused -solve_pc_type column", &ours, &spread, &its));
  PetscCall(PetscSNPrintf(name, sizeof(name), "H3: pressure solve %" PetscInt_FMT "x%" PetscInt_FMT "x%" PetscInt_FMT ", cgfused", m, m, nz));
  PetscCall(Line(report, name, ours, peer, spread, 4, 6));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&AIJ));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
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
    PetscInt n[3] = {m, m, m};

    n[axis] = nz;
    PetscCall(DMDACreate3d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n[0], n[1], n[2], 1, 1, 1, 1, 1,
                           NULL, NULL, NULL, &dm));
    PetscCall(DMSetUp(dm));
    PetscCall(MatCreateStrata(dm, &A));
    PetscCall(StrataPressureSetOperator(A, axis, 6.7e-4, 3.4e-2, 0.0126));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &AIJ));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecSetRandom(x, NULL));
    if (axis == 2) PetscCall(BenchMult(&report, A, AIJ, x, y));
    PetscCall(BenchColumn(&report, A, AIJ, axis, axis == 2 ? n[0] * n[1] : 1, x, y));
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
