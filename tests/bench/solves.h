/*
   Timing of whole solves with PETSc
*/
#ifndef STRATA_BENCH_SOLVES_H
#define STRATA_BENCH_SOLVES_H

#include "bench.h"
#include "calls.h"

struct Problem {
  DM  dm;
  Mat A;
  Vec x, b;
};

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

/* A copy of one vector of random numbers, of several that do not all stay in the cache */
static Timing copies(size_t cells)
{
  double *a[8];

  for (int i = 0; i < 8; i++) a[i] = random_array<double>(cells, -1, 1, i);
  const Timing t =
      time_calls([&](int i) { CUDA(cudaMemcpyAsync(a[2 * i % 8], a[(2 * i + 1) % 8], cells * sizeof(double), cudaMemcpyDeviceToDevice)); });

  for (double *p : a) CUDA(cudaFree(p));
  return t;
}

#endif
