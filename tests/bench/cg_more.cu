/*
   Conjugate gradients on the device in single precision, and many right-hand sides: whole solves of the pressure problem.
   Usage: cg_more [report.json]
*/
#include "bench.h"
#include "calls.h"

struct Problem {
  DM  dm;
  Mat A;
  Vec x, b;
  int m, nz;

  Problem(int m, int nz) : m(m), nz(nz)
  {
    PETSC(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, m, m, nz, 1, 1, 1, 1, 1, NULL, NULL,
                       NULL, &dm));
    PETSC(DMSetVecType(dm, VECCUDA));
    PETSC(DMSetUp(dm));
    PETSC(MatCreateStrata(dm, &A));
    PETSC(StrataPressureSetOperator(A, 2, 6.7e-4, 3.4e-2, 0.0126));
    PETSC(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PETSC(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PETSC(DMCreateGlobalVector(dm, &x));
    PETSC(VecDuplicate(x, &b));
    PETSC(StrataPressureSetRHS(A, 2, 0.0126, b));
  }
  ~Problem()
  {
    PETSC(VecDestroy(&x));
    PETSC(VecDestroy(&b));
    PETSC(MatDestroy(&A));
    PETSC(DMDestroy(&dm));
  }
  std::string name() const
  {
    return std::to_string(m) + "x" + std::to_string(m) + "x" + std::to_string(nz);
  }
};

static KSP solver(Mat A, KSPCGFusedPrecision precision)
{
  KSP ksp;
  PC  pc;

  PETSC(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PETSC(KSPSetOperators(ksp, A, A));
  PETSC(KSPSetType(ksp, KSPCGFUSED));
  PETSC(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PETSC(KSPCGFusedSetPrecision(ksp, precision));
  PETSC(KSPGetPC(ksp, &pc));
  PETSC(PCSetType(pc, PCCOLUMN));
  PETSC(KSPSetFromOptions(ksp));
  return ksp;
}

static Timing middle(std::vector<double> us)
{
  std::sort(us.begin(), us.end());
  return {us[us.size() / 2], us.front(), us.back()};
}

template <class F> static double microseconds(F call)
{
  CUDA(cudaDeviceSynchronize());
  const double start = MPI_Wtime();

  call();
  CUDA(cudaDeviceSynchronize());
  return 1e6 * (MPI_Wtime() - start);
}

static double solve(KSP ksp, const Problem &q, double rtol, int its)
{
  PETSC(KSPSetTolerances(ksp, rtol, 1e-300, 1e300, its));
  PETSC(VecSet(q.x, 0));
  return microseconds([&]() { PETSC(KSPSolve(ksp, q.b, q.x)); });
}

/* Both precisions: an iteration, before any residual is replaced, and whole solves */
static void single(Report &report, const Problem &q)
{
  Timing t[3][2];

  for (int s = 0; s < 2; s++) {
    KSP                 ksp = solver(q.A, s ? KSP_CGFUSED_SINGLE : KSP_CGFUSED_SAME);
    const std::string   name = q.name() + (s ? " in single precision, " : ", ");
    std::vector<double> us;

    solve(ksp, q, 1e-300, 6);
    for (int m = 0; m < 7; m++) {
      const double few = solve(ksp, q, 1e-300, 6);

      us.push_back((solve(ksp, q, 1e-300, 22) - few) / 16);
    }
    t[0][s] = middle(us);
    report.line(name + "iteration", t[0][s], s ? t[0][0].median / t[0][1].median : 1, "times", 0);
    for (int tight = 0; tight < 2; tight++) {
      PetscInt  its;
      PetscReal norm;

      us.clear();
      for (int m = 0; m < 6; m++) us.push_back(solve(ksp, q, tight ? 1e-10 : 1e-5, 10000));
      us.erase(us.begin());
      t[1 + tight][s] = middle(us);
      PETSC(KSPGetIterationNumber(ksp, &its));
      PETSC(VecNorm(q.x, NORM_2, &norm));
      printf("%d iterations, norm of x %.9g\n", (int)its, (double)norm);
      report.line(name + (tight ? "solve to 1e-10" : "solve to 1e-5"), t[1 + tight][s], s ? t[1 + tight][0].median / t[1 + tight][1].median : 1,
                  "times", 0);
    }
    PETSC(KSPDestroy(&ksp));
  }
}

/* Right-hand sides one after another, and together */
static void batch(Report &report, const Problem &q, int nv)
{
  KSP                 ksp = solver(q.A, KSP_CGFUSED_SAME);
  Mat                 B, X;
  Vec                 noise;
  std::vector<double> apart, together;

  PETSC(MatCreateDenseCUDA(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, q.m * q.m * q.nz, nv, NULL, &B));
  PETSC(VecDuplicate(q.b, &noise));
  for (int v = 0; v < nv; v++) {
    Vec b;

    PETSC(VecSetRandom(noise, NULL));
    PETSC(MatDenseGetColumnVecWrite(B, v, &b));
    PETSC(VecWAXPY(b, 0.1, noise, q.b));
    PETSC(MatDenseRestoreColumnVecWrite(B, v, &b));
  }
  PETSC(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  PETSC(KSPSetTolerances(ksp, 1e-5, 1e-300, 1e300, 10000));
  for (int m = 0; m < 6; m++) {
    apart.push_back(microseconds([&]() {
      for (int v = 0; v < nv; v++) {
        Vec b, x;

        PETSC(MatDenseGetColumnVecRead(B, v, &b));
        PETSC(MatDenseGetColumnVec(X, v, &x));
        PETSC(KSPSolve(ksp, b, x));
        PETSC(MatDenseRestoreColumnVec(X, v, &x));
        PETSC(MatDenseRestoreColumnVecRead(B, v, &b));
      }
    }));
    together.push_back(microseconds([&]() { PETSC(KSPMatSolve(ksp, B, X)); }));
  }
  apart.erase(apart.begin());
  together.erase(together.begin());
  report.line(q.name() + ", " + std::to_string(nv) + " right-hand sides together, over one after another", middle(together),
              middle(apart).median / middle(together).median, "times", 0);
  PETSC(VecDestroy(&noise));
  PETSC(MatDestroy(&X));
  PETSC(MatDestroy(&B));
  PETSC(KSPDestroy(&ksp));
}

static void bench(Report &report)
{
  const int sizes[][2] = {{256, 128}, {128, 64}, {64, 32}};

  for (auto &size : sizes) {
    const Problem q(size[0], size[1]);

    single(report, q);
    for (int nv = 2; nv <= 32 && size[0] < 256; nv *= 2) batch(report, q, nv);
  }
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
