/*
   An iteration of conjugate gradients on the device in copies of one vector, and whole solves, against PETSc's cg. Usage: cg [report.json], or
   cg bytes, which marks a solve of 4 and one of 12 iterations of each way for a profiler (tests/bench/bytes)
*/
#include "solves.h"
#include <cuda_profiler_api.h>
#include <cusparse.h>
#include <dlfcn.h>
#include <cstring>
#include "../../src/cg/cg_columns_kernels.h"

/* The pressure problem; axis: that of the columns */
static Problem make(int m, int nz, int axis = 2)
{
  Problem q;

  PETSC(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, axis ? m : nz, m, axis ? nz : m, 1, 1,
                     1, 1, 1, NULL, NULL, NULL, &q.dm));
  PETSC(DMSetVecType(q.dm, VECCUDA));
  PETSC(DMSetUp(q.dm));
  PETSC(MatCreateStrata(q.dm, &q.A));
  PETSC(StrataPressureSetOperator(q.A, axis, 6.7e-4, 3.4e-2, 0.0126));
  PETSC(MatAssemblyBegin(q.A, MAT_FINAL_ASSEMBLY));
  PETSC(MatAssemblyEnd(q.A, MAT_FINAL_ASSEMBLY));
  PETSC(DMCreateGlobalVector(q.dm, &q.x));
  PETSC(VecDuplicate(q.x, &q.b));
  PETSC(StrataPressureSetRHS(q.A, axis, 0.0126, q.b));
  return q;
}

static void unmake(Problem *q)
{
  PETSC(MatDestroy(&q->A));
  PETSC(VecDestroy(&q->x));
  PETSC(VecDestroy(&q->b));
  PETSC(DMDestroy(&q->dm));
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

/* Columns solved by cuSPARSE: cells of a level next to each other (gtsvInterleavedBatch), or those of a column (gtsv2StridedBatch). It works in
   place, the first in the matrix too, which is copied anew. */
struct Gtsv {
  typedef cusparseStatus_t (*Interleaved)(cusparseHandle_t, int, int, double *, double *, double *, double *, int, void *);
  typedef cusparseStatus_t (*InterleavedSize)(cusparseHandle_t, int, int, const double *, const double *, const double *, const double *, int,
                                              size_t *);
  typedef cusparseStatus_t (*Strided)(cusparseHandle_t, int, const double *, const double *, const double *, double *, int, int, void *);
  typedef cusparseStatus_t (*StridedSize)(cusparseHandle_t, int, const double *, const double *, const double *, const double *, int, int, size_t *);
  int              levels, lines;
  bool             interleaved;
  cusparseHandle_t handle;
  void            *solve;
  double          *matrix[3], *copy[3];
  void            *buffer;

  size_t bytes() const
  {
    return sizeof(double) * levels * (size_t)lines;
  }

  /* of an assembled matrix on a grid of so many levels; false: cuSPARSE is not in the libraries of this program */
  bool make(Mat A, int count, bool between)
  {
    const std::string routine = between ? "cusparseDgtsvInterleavedBatch" : "cusparseDgtsv2StridedBatch";
    auto              create = (decltype(&cusparseCreate))dlsym(RTLD_DEFAULT, "cusparseCreate");
    void             *sized = dlsym(RTLD_DEFAULT, (routine + "_bufferSizeExt").c_str());
    PetscInt          rows;
    size_t            size;

    solve = dlsym(RTLD_DEFAULT, routine.c_str());
    if (!create || !sized || !solve) return false;
    PETSC(MatGetSize(A, &rows, NULL));
    interleaved = between;
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
          if (cols[e] == i + (m - 1) * (interleaved ? (PetscInt)lines : 1)) host[m][i] = values[e];
      PETSC(MatRestoreRow(A, i, &entries, &cols, &values));
    }
    for (int m = 0; m < 3; m++) {
      CUDA(cudaMalloc(&matrix[m], bytes()));
      copy[m] = NULL;
      if (interleaved) CUDA(cudaMalloc(&copy[m], bytes()));
      CUDA(cudaMemcpy(matrix[m], host[m].data(), bytes(), cudaMemcpyHostToDevice));
    }
    if (create(&handle) != CUSPARSE_STATUS_SUCCESS) return false;
    if (interleaved ? ((InterleavedSize)sized)(handle, 0, levels, copy[0], copy[1], copy[2], copy[0], lines, &size)
                    : ((StridedSize)sized)(handle, levels, matrix[0], matrix[1], matrix[2], matrix[0], lines, levels, &size))
      return false;
    CUDA(cudaMalloc(&buffer, size ? size : 1));
    return true;
  }

  void unmake()
  {
    for (double *p : matrix) CUDA(cudaFree(p));
    for (double *p : copy) CUDA(cudaFree(p));
    CUDA(cudaFree(buffer));
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
    for (int m = 0; m < 3 && g->interleaved; m++) CUDA(cudaMemcpyAsync(g->copy[m], g->matrix[m], g->bytes(), cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpyAsync(to, from, g->bytes(), cudaMemcpyDeviceToDevice));
    if (g->interleaved ? ((Interleaved)g->solve)(g->handle, 0, g->levels, g->copy[0], g->copy[1], g->copy[2], to, g->lines, g->buffer)
                       : ((Strided)g->solve)(g->handle, g->levels, g->matrix[0], g->matrix[1], g->matrix[2], to, g->lines, g->levels, g->buffer)) {
      printf("WRONG: cuSPARSE fails\n");
      exit(1);
    }
    PETSC(VecRestoreArrayWriteAndMemType(z, &to));
    PETSC(VecRestoreArrayReadAndMemType(r, &from));
    return (PetscErrorCode)0;
  }
};

/* Ways to solve, and the vectors that an iteration moves, read or written, by count. cg takes A p (2, of an assembled matrix 13: seven entries of
   12 bytes and a row's start are 11), (p,Ap) (2), x and r (6), (r,r) (1), z = M r (2, by the diagonal 3), (r,z) (2), p (3). cuSPARSE's columns
   have five numbers a cell to move at least; that they are solved in place costs copies of r (2) and, interleaved, of the matrix (6). */
struct Way {
  const char *name;
  bool        fused, assembled, own, strided; /* own: columns by cuSPARSE */
  double      vectors;
};
static const Way ways[] = {
    {"cgfused + Strata + column", true, false, false, false, 6 + 5. / 8},
    {"cg + Strata + column", false, false, false, false, 18},
    {"cg + aijcusparse + jacobi", false, true, false, false, 18 + 11 + 1},
    {"cg + aijcusparse + gtsvInterleavedBatch", false, true, true, false, 18 + 11 - 2 + 5 + 2 + 6},
    {"cg + aijcusparse + gtsv2StridedBatch", false, true, true, true, 18 + 11 - 2 + 5 + 2},
};

/* A way on a problem of its own */
struct Run {
  Problem q;
  Mat     A; /* assembled, or that of the problem */
  Gtsv    gtsv;
  KSP     ksp;
  bool    can; /* false: cuSPARSE is not in the libraries of this program */

  Run(const Way &way, int m, int nz) : q(make(m, nz, way.strided ? 0 : 2)), A(q.A), can(true)
  {
    if (way.assembled) PETSC(MatConvert(q.A, MATAIJ, MAT_INITIAL_MATRIX, &A));
    if (way.own) can = gtsv.make(A, nz, !way.strided);
    if (way.assembled) PETSC(MatConvert(A, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &A));
    ksp = solver(A, way.fused ? KSPCGFUSED : KSPCG, way.own ? PCSHELL : way.assembled ? PCJACOBI : PCCOLUMN);
    if (way.own) {
      PC pc;

      PETSC(KSPGetPC(ksp, &pc));
      PETSC(PCShellSetContext(pc, &gtsv));
      PETSC(PCShellSetApply(pc, Gtsv::apply));
    }
    if (!can) printf("cuSPARSE is not in the libraries of this program\n");
  }
  void end(const Way &way)
  {
    PETSC(KSPDestroy(&ksp));
    if (way.own && can) gtsv.unmake();
    if (way.assembled) PETSC(MatDestroy(&A));
    unmake(&q);
  }
};

/* A point of the plot of time against bytes */
static void point(Report &report, int m, int nz, const char *what, double vectors, Timing t)
{
  const double      bytes = vectors * sizeof(double) * m * m * nz;
  const std::string box = std::to_string(m) + "x" + std::to_string(m) + "x" + std::to_string(nz);

  report.line("roofline: " + box + ", " + what, t, bytes / t.median / 1e6, "TB/s", 0, bytes);
}

/* Time of an iteration against the bytes it moves, for problems smaller and larger than that of bench() */
static void roofline(Report &report)
{
  const Timing launch = time_launch();

  report.line("roofline: launch", launch, 1, "launches", 0);
  for (int m : {32, 64, 128, 512}) {
    const int nz = m < 256 ? m / 2 : 128;

    point(report, m, nz, "copy", 2, copies((size_t)m * m * nz));
    for (const Way &way : ways) {
      if (way.assembled && m > 256) continue; /* assembly takes the host too long */
      Run run(way, m, nz);

      if (run.can) point(report, m, nz, way.name, way.vectors, iteration(run.ksp, run.q));
      run.end(way);
    }
  }
}

/* A whole run, from coefficients to the solution on the host: time and bytes between host and device */
static void run_whole(Report &report, const Way &way, int m, int nz)
{
  const std::string  name = std::string("run, ") + way.name + ": ";
  double             start = MPI_Wtime(), up = petsc_ctog_sz, down = petsc_gtoc_sz;
  const PetscScalar *x;
  double             total = 0;

  const auto step = [&](const char *what) {
    CUDA(cudaDeviceSynchronize());
    const double us = 1e6 * (MPI_Wtime() - start), moved = petsc_ctog_sz - up + petsc_gtoc_sz - down;

    total += us;
    report.line(name + what, {us, us, us}, moved / 1e6, "MB copied", 0);
    up = petsc_ctog_sz;
    down = petsc_gtoc_sz;
    start = MPI_Wtime();
  };
  Problem q = make(m, nz, way.strided ? 0 : 2);
  Mat     A = q.A;
  Gtsv    gtsv;

  step("coefficients and right-hand side");
  if (way.assembled) {
    PETSC(MatConvert(q.A, MATAIJ, MAT_INITIAL_MATRIX, &A));
    step("assembly of the matrix");
    PETSC(MatConvert(A, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &A));
  }
  const PetscScalar *b;
  PetscMemType       type;

  PETSC(VecGetArrayReadAndMemType(q.b, &b, &type));
  PETSC(VecRestoreArrayReadAndMemType(q.b, &b));
  step("right-hand side to the device");
  if (way.own) {
    if (!gtsv.make(A, nz, !way.strided)) return;
    petsc_ctog_sz += 3 * gtsv.bytes();
    step("columns of the matrix, and to the device");
  }
  KSP ksp = solver(A, way.fused ? KSPCGFUSED : KSPCG, way.own ? PCSHELL : way.assembled ? PCJACOBI : PCCOLUMN);
  PC  pc;

  PETSC(KSPGetPC(ksp, &pc));
  if (way.own) {
    PETSC(PCShellSetContext(pc, &gtsv));
    PETSC(PCShellSetApply(pc, Gtsv::apply));
  }
  PETSC(KSPSetUp(ksp));
  step("set-up");
  PETSC(MatMult(A, q.b, q.x));
  step("first A p: matrix to the device");
  PETSC(PCApply(pc, q.b, q.x));
  step("first M r: factors of columns");
  (void)solve(ksp, q, 0);
  step("solve, the first");
  (void)solve(ksp, q, 0);
  CUDA(cudaDeviceSynchronize());
  const double again = 1e6 * (MPI_Wtime() - start);

  report.line(name + "solve, again", {again, again, again}, 0, "MB copied", 0);
  start = MPI_Wtime();
  up = petsc_ctog_sz;
  down = petsc_gtoc_sz;
  PETSC(VecGetArrayRead(q.x, &x));
  PETSC(VecRestoreArrayRead(q.x, &x));
  step("solution to the host");
  report.line(name + "all but the second solve", {total, total, total}, again / total, "of it a solve", 0);
  PETSC(KSPDestroy(&ksp));
  if (way.own) gtsv.unmake();
  if (way.assembled) PETSC(MatDestroy(&A));
  unmake(&q);
}

/* Solves that a profiler looks at: first 4 iterations, then 12 */
static void profiled(void)
{
  for (const Way &way : ways) {
    Run run(way, 256, 128);

    if (run.can) {
      solve(run.ksp, run.q, 4);
      for (int its : {4, 12}) {
        CUDA(cudaProfilerStart());
        solve(run.ksp, run.q, its);
        CUDA(cudaProfilerStop());
        printf("profiled: %d iterations, %s\n", its, way.name);
      }
    }
    run.end(way);
  }
}

static void bench(Report &report)
{
  const int    n[3] = {256, 256, 128};
  const size_t bytes = sizeof(double) * n[0] * n[1] * n[2];
  double       us[sizeof(ways) / sizeof(*ways)];
  const Timing copy = copies((size_t)n[0] * n[1] * n[2]);

  report.line("copy of a vector, 256x256x128 fp64", copy, 2.0 * bytes / copy.median / 1e6, "TB/s", 0);
  point(report, n[0], n[2], "copy", 2, copy);
  kernels(report, n, copy.median);
  passes(report, n, copy.median);

  for (size_t c = 0; c < sizeof(ways) / sizeof(*ways); c++) {
    const Way &way = ways[c];
    Run        run(way, n[0], n[2]);

    us[c] = 0;
    if (run.can) {
      const Timing t = iteration(run.ksp, run.q);
      const double share = way.vectors / 2 * copy.median / t.median;

      us[c] = t.median;
      report.line(std::string("iteration, ") + way.name, t, t.median / copy.median, "copies", 0, way.vectors * bytes);
      report.line(std::string("  its bytes, ") + way.name, t, share, "of copy", 0);
      point(report, n[0], n[2], way.name, way.vectors, t);
      if (way.own || !way.assembled) {
        const Timing w = whole(run.ksp, run.q, way.name);

        report.line(std::string("solve to 1e-5, ") + way.name, w, w.median / copy.median, "copies", 0);
      }
      if (!c) PETSC(KSPView(run.ksp, PETSC_VIEWER_STDOUT_WORLD));
    }
    run.end(way);
  }
  report.line("G7: iteration in copies, floor 4.8 over it", {us[0], us[0], us[0]}, 4.8 * copy.median / us[0], "of floor", 1);
  for (size_t c = 1; c < sizeof(ways) / sizeof(*ways); c++)
    if (us[c])
      report.line(std::string(c == 3 ? "G7r: " : "") + "iteration over " + ways[c].name, {us[0], us[0], us[0]}, us[c] / us[0], "times",
                  c == 3 ? 4.5 : 0);
  for (int c : {0, 1, 3}) run_whole(report, ways[c], n[0], n[2]);
  roofline(report);

  const Problem small = make(64, 32);
  double        all[2];

  for (int c = 0; c < 2; c++) {
    KSP          ksp = solver(small.A, c ? KSPCG : KSPCGFUSED, PCCOLUMN);
    const Timing w = whole(ksp, small, ways[c].name);

    all[c] = w.median;
    report.line(std::string("64x64x32, solve to 1e-5, ") + ways[c].name, w, w.median, "us", 0);
    PETSC(KSPDestroy(&ksp));
  }
  report.line("G11: 64x64x32, whole solve, over cg with the same columns", {all[0], all[0], all[0]}, all[1] / all[0], "times", 2);
}

int main(int argc, char **argv)
{
  setenv("PETSC_OPTIONS", "-use_gpu_aware_mpi 0", 0);
  PETSC(PetscInitialize(&argc, &argv, NULL, NULL));
  PETSC(StrataInitializePackage());
  int result = 0;
  if (argc > 1 && !strcmp(argv[1], "bytes"))
    profiled();
  else {
    Report report(argc > 1 ? argv[1] : NULL);

    bench(report);
    result = report.write();
  }
  PETSC(PetscFinalize());
  return result;
}
