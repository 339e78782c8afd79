/*
   An iteration of conjugate gradients on the device in copies of one vector, and whole solves, against PETSc's cg. Usage: cg [report.json]
*/
#include "bench.h"
#include <strata.h>
#include <cusparse.h>
#include <dlfcn.h>
#include "../../src/cg/cg_columns_kernels.h"

#define PETSC(...)                                                                                                                                   \
  do {                                                                                                                                               \
    const PetscErrorCode bench_code_ = (__VA_ARGS__);                                                                                                \
    if (bench_code_) {                                                                                                                               \
      fprintf(stderr, "%s:%d: PETSc error %d\n", __FILE__, __LINE__, (int)bench_code_);                                                              \
      exit(1);                                                                                                                                       \
    }                                                                                                                                                \
  } while (0)

struct Problem {
  DM  dm;
  Mat A;
  Vec x, b;
};

static Problem make(int m, int nz)
{
  Problem q;

  PETSC(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, m, m, nz, 1, 1, 1, 1, 1, NULL, NULL,
                     NULL, &q.dm));
  PETSC(DMSetVecType(q.dm, VECCUDA));
  PETSC(DMSetUp(q.dm));
  PETSC(MatCreateStrata(q.dm, &q.A));
  PETSC(StrataPressureSetOperator(q.A, 2, 6.7e-4, 3.4e-2, 0.0126));
  PETSC(MatAssemblyBegin(q.A, MAT_FINAL_ASSEMBLY));
  PETSC(MatAssemblyEnd(q.A, MAT_FINAL_ASSEMBLY));
  PETSC(DMCreateGlobalVector(q.dm, &q.x));
  PETSC(VecDuplicate(q.x, &q.b));
  PETSC(StrataPressureSetRHS(q.A, 2, 0.0126, q.b));
  return q;
}

static KSP solver(Mat A, KSPType type, PCType pctype)
{
  KSP ksp;
  PC  pc;

  PETSC(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PETSC(KSPSetOperators(ksp, A, A));
  PETSC(KSPSetType(ksp, type));
  PETSC(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PETSC(KSPGetPC(ksp, &pc));
  PETSC(PCSetType(pc, pctype));
  PETSC(KSPSetFromOptions(ksp));
  return ksp;
}

/* Microseconds of a solve, of `its` iterations, or to 1e-5 where its is 0 */
static double solve(KSP ksp, const Problem &q, int its)
{
  double start;

  PETSC(KSPSetTolerances(ksp, its ? 1e-300 : 1e-5, 1e-300, 1e300, its ? its : 10000));
  PETSC(VecSet(q.x, 0));
  CUDA(cudaDeviceSynchronize());
  start = MPI_Wtime();
  PETSC(KSPSolve(ksp, q.b, q.x));
  CUDA(cudaDeviceSynchronize());
  return 1e6 * (MPI_Wtime() - start);
}

static Timing middle(std::vector<double> us)
{
  std::sort(us.begin(), us.end());
  return {us[us.size() / 2], us.front(), us.back()};
}

/* An iteration: what 40 more of them take */
static Timing iteration(KSP ksp, const Problem &q)
{
  std::vector<double> us;

  solve(ksp, q, 8);
  for (int s = 0; s < 5; s++) {
    const double few = solve(ksp, q, 8);

    us.push_back((solve(ksp, q, 48) - few) / 40);
  }
  return middle(us);
}

static Timing whole(KSP ksp, const Problem &q, const char *name)
{
  std::vector<double> us;
  PetscInt            its;
  PetscReal           norm;

  solve(ksp, q, 0);
  for (int s = 0; s < 5; s++) us.push_back(solve(ksp, q, 0));
  PETSC(KSPGetIterationNumber(ksp, &its));
  PETSC(VecNorm(q.x, NORM_2, &norm));
  printf("%s: %d iterations, norm of x %.9g\n", name, (int)its, (double)norm);
  return middle(us);
}

/* The fused kernels alone */
static void kernels(Report &report, const int n[3], double copy)
{
  const size_t    columns = (size_t)n[0] * n[1], cells = columns * n[2];
  const ptrdiff_t blocks = StrataCGLeanBlocks_d(n), run = StrataReduceWork(blocks * STRATA_CHUNK);
  double         *v[5], *work, (*history)[STRATA_CG_SUMS];
  StrataCG_d      host = {}, *cg;
  StrataCGLean_d  q = {};

  for (int m = 0; m < 5; m++) v[m] = random_array<double>(cells, -1, 1, m);
  work = random_array<double>(STRATA_CG_SUMS * run, 0, 1, 9);
  history = (double(*)[STRATA_CG_SUMS])random_array<double>(STRATA_CG_SUMS * 8, 0, 1, 9);
  for (int a = 0; a < 3; a++) q.n[a] = n[a];
  q.level = random_array<double>(LEAN_LEVEL * (size_t)n[2], -1, 0, 10);
  q.column = random_array<double>(LEAN_COLUMN * columns, 0, 1, 11);
  host.beta = 0.5;
  host.alpha = 1e-3;
  CUDA(cudaMalloc(&cg, sizeof(host)));
  CUDA(cudaMemcpy(cg, &host, sizeof(host), cudaMemcpyHostToDevice));
  Timing t = time_calls([&](int) { CUDA(StrataCGLeanStepCUDA_d(&q, cg, v[0], v[1], v[2], v[3], v[4], work, NULL)); });

  report.line("p, A p, x, r: 7 vectors, of copy bandwidth", t, 3.5 * copy / t.median, "of copy", 0);
  t = time_calls([&](int) { CUDA(StrataCGLeanSumsCUDA_d(&q, cg, v[4], v[0], work, NULL)); });
  report.line("sums (r,z), (z,Az), (z,z): 2 vectors, of copy bandwidth", t, copy / t.median, "of copy", 0);
  t = time_calls([&](int) { CUDA(StrataCGUpdateCUDA_d(cells, cg, v[0], v[1], v[2], v[3], v[4], v[0], work, NULL)); }, 5);
  report.line("update of p, w, x, r: 10 vectors, of copy bandwidth", t, 5 * copy / t.median, "of copy", 0);
  CUDA(cudaMemcpy(cg, &host, sizeof(host), cudaMemcpyHostToDevice));
  t = time_calls([&](int) {
    CUDA(cudaMemcpyAsync(cg, &host, sizeof(host), cudaMemcpyHostToDevice));
    CUDA(StrataCGJudgeCUDA_d(blocks * STRATA_CHUNK, cg, work, history, NULL));
  });
  report.line("end of the sums, numbers of the next step", t, t.median / copy, "copies", 0);
  for (int m = 0; m < 5; m++) CUDA(cudaFree(v[m]));
  CUDA(cudaFree(work));
  CUDA(cudaFree(history));
  CUDA(cudaFree((void *)q.level));
  CUDA(cudaFree((void *)q.column));
  CUDA(cudaFree(cg));
}

/* The two passes along columns alone, for an operator with the same numbers everywhere */
static void passes(Report &report, const int n[3], double copy)
{
  const double        legs[STRATA_LEGS] = {-1, -1, -1, -1, -20, -20};
  StrataLines_d       lines = {};
  StrataCGColumns_d   q = StrataCGColumnsPlan_d(n);
  std::vector<double> level(StrataCGColumnsLevel_d(&q)), column(StrataCGColumnsColumn_d(&q));
  const size_t        vector = StrataCGColumnsVector_d(&q), chunks = StrataCGColumnsChunks_d(&q), work = StrataCGColumnsWork_d(&q);
  const double        share = (double)chunks / vector; /* of a vector: a number a chunk of levels */
  StrataCG_d          host = {}, *cg;
  double             *v[5], *left[3], *sums, *numbers[2];

  lines.axis = 2;
  lines.rows = STRATA_ROWS_SHARED;
  lines.coef.form = STRATA_CONSTANT;
  lines.coef.scale = 1;
  lines.coef.excess = 1;
  for (int a = 0; a < 3; a++) lines.coef.n[a] = n[a];
  for (int l = 0; l < STRATA_LEGS; l++) lines.coef.leg[l] = legs[l];
  if (!StrataCGColumnsSetUpHost_d(&lines, &q, level.data(), column.data())) {
    printf("WRONG: the columns cannot be factored\n");
    exit(1);
  }
  for (int m = 0; m < 2; m++) {
    const std::vector<double> &from = m ? column : level;

    CUDA(cudaMalloc(&numbers[m], from.size() * sizeof(double)));
    CUDA(cudaMemcpy(numbers[m], from.data(), from.size() * sizeof(double), cudaMemcpyHostToDevice));
  }
  q.level = numbers[0];
  q.column = numbers[1];
  q.zz = 0;
  for (int m = 0; m < 5; m++) v[m] = random_array<double>(vector, -1, 1, m);
  for (int m = 0; m < 3; m++) left[m] = random_array<double>(chunks, 0, 1, 5 + m);
  CUDA(cudaMalloc(&sums, work * sizeof(double)));
  CUDA(cudaMemset(sums, 0, work * sizeof(double)));
  host.alpha = 1e-3;
  CUDA(cudaMalloc(&cg, sizeof(host)));
  CUDA(cudaMemcpy(cg, &host, sizeof(host), cudaMemcpyHostToDevice));
  Timing t = time_calls([&](int i) { CUDA(StrataCGColumnsDownCUDA_d(&q, cg, v[i % 2], left[0], left[1], left[2], sums, NULL, NULL)); });

  report.line("pass down, of copy bandwidth", t, (1 + 3 * share) / 2 * copy / t.median, "of copy", 0);
  for (int x = 0; x < 2; x++) {
    t = time_calls([&](int i) {
      CUDA(StrataCGColumnsUpCUDA_d(&q, cg, left[2], v[i % 2], v[2 + i % 2], v[1 - i % 2], v[3 - i % 2], x ? v[4] : NULL, left[1], NULL));
    });
    report.line(x ? "pass up with x, of copy bandwidth" : "pass up, of copy bandwidth", t, (x ? 6 + 2 * share : 4 + 2 * share) / 2 * copy / t.median,
                "of copy", 0);
  }
  for (double *p : v) CUDA(cudaFree(p));
  for (double *p : left) CUDA(cudaFree(p));
  for (double *p : numbers) CUDA(cudaFree(p));
  CUDA(cudaFree(sums));
  CUDA(cudaFree(cg));
}

/* Columns solved by cuSPARSE, cells of a level next to each other. It works in place, in the matrix too, which is copied anew. */
struct Gtsv {
  typedef cusparseStatus_t (*Solve)(cusparseHandle_t, int, int, double *, double *, double *, double *, int, void *);
  typedef cusparseStatus_t (*Size)(cusparseHandle_t, int, int, const double *, const double *, const double *, const double *, int, size_t *);
  int              levels, lines;
  cusparseHandle_t handle;
  Solve            solve;
  double          *matrix[3], *copy[3];
  void            *buffer;

  size_t bytes() const
  {
    return sizeof(double) * levels * (size_t)lines;
  }

  /* of an assembled matrix on a grid of so many levels; false: cuSPARSE is not in the libraries of this program */
  bool make(Mat A, int count)
  {
    auto     create = (decltype(&cusparseCreate))dlsym(RTLD_DEFAULT, "cusparseCreate");
    Size     sized = (Size)dlsym(RTLD_DEFAULT, "cusparseDgtsvInterleavedBatch_bufferSizeExt");
    PetscInt rows;
    size_t   size;

    solve = (Solve)dlsym(RTLD_DEFAULT, "cusparseDgtsvInterleavedBatch");
    if (!create || !sized || !solve) return false;
    PETSC(MatGetSize(A, &rows, NULL));
    levels = count;
    lines = (int)(rows / count);
    std::vector<double> host[3];

    for (int m = 0; m < 3; m++) host[m].assign(rows, 0);
    for (PetscInt i = 0; i < rows; i++) {
      const PetscInt    *cols;
      const PetscScalar *values;
      PetscInt           entries;

      PETSC(MatGetRow(A, i, &entries, &cols, &values));
      for (PetscInt e = 0; e < entries; e++)
        for (int m = 0; m < 3; m++)
          if (cols[e] == i + (m - 1) * (PetscInt)lines) host[m][i] = values[e];
      PETSC(MatRestoreRow(A, i, &entries, &cols, &values));
    }
    for (int m = 0; m < 3; m++) {
      CUDA(cudaMalloc(&matrix[m], bytes()));
      CUDA(cudaMalloc(&copy[m], bytes()));
      CUDA(cudaMemcpy(matrix[m], host[m].data(), bytes(), cudaMemcpyHostToDevice));
    }
    if (create(&handle) != CUSPARSE_STATUS_SUCCESS) return false;
    if (sized(handle, 0, levels, copy[0], copy[1], copy[2], copy[0], lines, &size) != CUSPARSE_STATUS_SUCCESS) return false;
    CUDA(cudaMalloc(&buffer, size ? size : 1));
    return true;
  }

  static PetscErrorCode apply(PC pc, Vec r, Vec z)
  {
    Gtsv              *g;
    const PetscScalar *from;
    PetscScalar       *to;
    PetscMemType       type;

    PETSC(PCShellGetContext(pc, &g));
    PETSC(VecGetArrayReadAndMemType(r, &from, &type));
    PETSC(VecGetArrayWriteAndMemType(z, &to, &type));
    for (int m = 0; m < 3; m++) CUDA(cudaMemcpyAsync(g->copy[m], g->matrix[m], g->bytes(), cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpyAsync(to, from, g->bytes(), cudaMemcpyDeviceToDevice));
    if (g->solve(g->handle, 0, g->levels, g->copy[0], g->copy[1], g->copy[2], to, g->lines, g->buffer) != CUSPARSE_STATUS_SUCCESS) {
      printf("WRONG: cuSPARSE fails\n");
      exit(1);
    }
    PETSC(VecRestoreArrayWriteAndMemType(z, &to));
    PETSC(VecRestoreArrayReadAndMemType(r, &from));
    return (PetscErrorCode)0;
  }
};

static void bench(Report &report)
{
  const int    n[3] = {256, 256, 128};
  const size_t bytes = sizeof(double) * n[0] * n[1] * n[2];
  char        *a[4];
  double       us[4];

  for (int m = 0; m < 4; m++) {
    CUDA(cudaMalloc(&a[m], bytes));
    CUDA(cudaMemset(a[m], m, bytes));
  }
  const Timing copy = time_calls([&](int i) { CUDA(cudaMemcpyAsync(a[i % 4], a[(i + 1) % 4], bytes, cudaMemcpyDeviceToDevice)); });

  for (int m = 0; m < 4; m++) CUDA(cudaFree(a[m]));
  report.line("copy of a vector, 256x256x128 fp64", copy, 2.0 * bytes / copy.median / 1e6, "TB/s", 0);
  kernels(report, n, copy.median);
  passes(report, n, copy.median);

  const Problem     q = make(n[0], n[2]);
  const char *const names[4] = {"cgfused + Strata + column", "cg + Strata + column", "cg + aijcusparse + jacobi",
                                "cg + aijcusparse + cuSPARSE columns"};
  Mat               assembled;
  Gtsv              gtsv;

  PETSC(MatConvert(q.A, MATAIJ, MAT_INITIAL_MATRIX, &assembled));
  const int kinds = gtsv.make(assembled, n[2]) ? 4 : 3;

  if (kinds < 4) printf("cuSPARSE is not in the libraries of this program\n");
  PETSC(MatConvert(assembled, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &assembled));
  for (int c = 0; c < kinds; c++) {
    KSP ksp = solver(c < 2 ? q.A : assembled, c ? KSPCG : KSPCGFUSED, c < 2 ? PCCOLUMN : c == 2 ? PCJACOBI : PCSHELL);

    if (c == 3) {
      PC pc;

      PETSC(KSPGetPC(ksp, &pc));
      PETSC(PCShellSetContext(pc, &gtsv));
      PETSC(PCShellSetApply(pc, Gtsv::apply));
    }
    const Timing t = iteration(ksp, q);

    us[c] = t.median;
    report.line(std::string("iteration, ") + names[c], t, t.median / copy.median, "copies", 0);
    if (c != 2) {
      const Timing w = whole(ksp, q, names[c]);

      report.line(std::string("solve to 1e-5, ") + names[c], w, w.median / copy.median, "copies", 0);
    }
    if (!c) PETSC(KSPView(ksp, PETSC_VIEWER_STDOUT_WORLD));
    PETSC(KSPDestroy(&ksp));
  }
  report.line("G7: iteration in copies, floor 4.8 over it", {us[0], us[0], us[0]}, 4.8 * copy.median / us[0], "of floor", 1);
  report.line("iteration over cg + Strata + column", {us[0], us[0], us[0]}, us[1] / us[0], "times", 0);
  report.line("iteration over cg + aijcusparse + jacobi", {us[0], us[0], us[0]}, us[2] / us[0], "times", 0);
  if (kinds == 4) report.line("G7r: iteration over cg + aijcusparse + cuSPARSE columns", {us[0], us[0], us[0]}, us[3] / us[0], "times", 4.5);
  PETSC(MatDestroy(&assembled));
  PETSC(MatDestroy(&const_cast<Problem &>(q).A));

  const Problem small = make(64, 32);
  double        all[2];

  for (int c = 0; c < 2; c++) {
    KSP          ksp = solver(small.A, c ? KSPCG : KSPCGFUSED, PCCOLUMN);
    const Timing w = whole(ksp, small, names[c]);

    all[c] = w.median;
    report.line(std::string("64x64x32, solve to 1e-5, ") + names[c], w, w.median, "us", 0);
    PETSC(KSPDestroy(&ksp));
  }
  report.line("G11: 64x64x32, whole solve, over cg with the same columns", {all[0], all[0], all[0]}, all[1] / all[0], "times", 2);
}

int main(int argc, char **argv)
{
  setenv("PETSC_OPTIONS", "-use_gpu_aware_mpi 0", 0);
  PETSC(PetscInitialize(&argc, &argv, NULL, NULL));
  PETSC(StrataInitializePackage());
  int result;
  {
    Report report(argc > 1 ? argv[1] : NULL);

    bench(report);
    result = report.write();
  }
  PETSC(PetscFinalize());
  return result;
}
