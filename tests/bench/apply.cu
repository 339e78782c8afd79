/*
   The column preconditioner as a whole: one solve of all columns and line relaxation in two colours on one rank, columns cut by ranks on several.
   Usage: apply [report.json]
*/
#include "bench.h"
#include "calls.h"
#include <memory>

/* Time of a call on all ranks, microseconds */
template <class F> static Timing time_ranks(F call)
{
  std::vector<double> us;

  for (int s = 0; s < 12; s++) {
    double from, own, all;

    CUDA(cudaDeviceSynchronize());
    PETSC((PetscErrorCode)MPI_Barrier(PETSC_COMM_WORLD));
    from = MPI_Wtime();
    for (int i = 0; i < 4; i++) call();
    CUDA(cudaDeviceSynchronize());
    own = 1e6 * (MPI_Wtime() - from) / 4;
    PETSC((PetscErrorCode)MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
    if (s) us.push_back(all);
  }
  std::sort(us.begin(), us.end());
  return {us[us.size() / 2], us.front(), us.back()};
}

/* The pressure problem with columns along an axis, cut by so many ranks along axis `cut` */
static void bench(Report *report, int axis, int cut, PCColumnSweep sweep, double vectors, double copy)
{
  static const char *const sweeps[] = {"one solve", "redblack", "symmetric"};
  const PetscInt           n[3] = {axis ? 256 : 128, 256, axis ? 128 : 256};
  PetscInt                 procs[3] = {1, 1, 1};
  PetscMPIInt              size;
  DM                       dm;
  Mat                      A;
  Vec                      r, z;
  PC                       pc;

  PETSC((PetscErrorCode)MPI_Comm_size(PETSC_COMM_WORLD, &size));
  procs[cut] = size;
  PETSC(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n[0], n[1], n[2], procs[0], procs[1],
                     procs[2], 1, 1, NULL, NULL, NULL, &dm));
  PETSC(DMSetVecType(dm, VECCUDA));
  PETSC(DMSetUp(dm));
  PETSC(MatCreateStrata(dm, &A));
  PETSC(StrataPressureSetOperator(A, axis, 6.7e-4, 3.4e-2, 0.0126));
  PETSC(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PETSC(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PETSC(DMCreateGlobalVector(dm, &r));
  PETSC(VecDuplicate(r, &z));
  PETSC(StrataPressureSetRHS(A, axis, 0.0126, r));
  PETSC(PCCreate(PETSC_COMM_WORLD, &pc));
  PETSC(PCSetType(pc, PCCOLUMN));
  PETSC(PCSetOperators(pc, A, A));
  PETSC(PCColumnSetAxis(pc, axis));
  PETSC(PCColumnSetSweep(pc, sweep));
  PETSC(PCSetUp(pc));
  const Timing t = time_ranks([&]() { PETSC(PCApply(pc, r, z)); });

  if (report)
    report->line(std::string(sweeps[sweep]) + ", columns along " + "xyz"[axis] +
                     (size == 1     ? ""
                      : cut == axis ? ", cut by ranks"
                                    : ", whole on each rank") +
                     ", ranks " + std::to_string(size),
                 t, vectors / 2 * copy / t.median, "of copy", 0);
  PETSC(PCDestroy(&pc));
  PETSC(VecDestroy(&r));
  PETSC(VecDestroy(&z));
  PETSC(MatDestroy(&A));
  PETSC(DMDestroy(&dm));
}

int main(int argc, char **argv)
{
  PetscMPIInt rank, size;
  int         result = 0;

  setenv("PETSC_OPTIONS", "-use_gpu_aware_mpi 0", 0);
  PETSC(PetscInitialize(&argc, &argv, NULL, NULL));
  PETSC(StrataInitializePackage());
  PETSC((PetscErrorCode)MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PETSC((PetscErrorCode)MPI_Comm_size(PETSC_COMM_WORLD, &size));
  {
    std::unique_ptr<Report> report(rank ? NULL : new Report(argc > 1 ? argv[1] : NULL));
    const size_t            bytes = (size_t)8 * 256 * 256 * 128;
    double                  copy = 0;

    if (report) {
      double *a[4];

      for (int m = 0; m < 4; m++) a[m] = random_array<double>(bytes / 8, -1, 1, m);
      const Timing t = time_calls([&](int i) { CUDA(cudaMemcpyAsync(a[i % 4], a[(i + 1) % 4], bytes, cudaMemcpyDeviceToDevice)); });

      copy = t.median;
      report->line("copy of a vector, 256x256x128 fp64", t, 2.0 * bytes / copy / 1e6, "TB/s", 0);
      for (double *p : a) CUDA(cudaFree(p));
    }
    /* What must move: r and z; for two colours what the second one needs of z besides; symmetric, three colours' worth */
    for (int axis = 2; axis >= 0; axis -= 2) {
      if (size == 1)
        for (PCColumnSweep sweep : {PC_COLUMN_SWEEP_JACOBI, PC_COLUMN_SWEEP_REDBLACK, PC_COLUMN_SWEEP_SYMMETRIC})
          bench(report.get(), axis, 0, sweep, sweep == PC_COLUMN_SWEEP_JACOBI ? 2 : sweep == PC_COLUMN_SWEEP_REDBLACK ? 2.5 : 4, copy);
      else
        for (int cut : {axis, 2 - axis}) bench(report.get(), axis, cut, PC_COLUMN_SWEEP_JACOBI, 2, copy);
    }
    if (report) result = report->write();
  }
  PETSC(PetscFinalize());
  return result;
}
