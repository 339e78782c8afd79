/*
   An iteration of conjugate gradients in the oceans: 1440 x 720 x 20 cells, numbers of each cell, land, periodic in longitude. Usage:
   ocean [report.json] [levitus.h5]. The land is that of the file examples/levitus.py makes (build/demo/levitus.h5 unless given), or made up where there
   is none.
*/
#include "solves.h"

/* Levels of water in each degree of the globe */
struct Land {
  int              n[3];
  std::vector<int> levels;

  explicit Land(const char *file) : n{360, 180, 20}, levels(n[0] * n[1])
  {
    FILE *there = fopen(file, "r");

    if (there) {
      PetscInt   shape[3] = {n[2], n[1], n[0]};
      PetscReal *t;

      fclose(there);
      PETSC(StrataReadArray(PETSC_COMM_WORLD, file, "temperature", 3, shape, &t));
      for (int k = 0; k < n[2]; k++)
        for (size_t c = 0; c < levels.size(); c++)
          if (t[c + levels.size() * k] == t[c + levels.size() * k]) levels[c] = k + 1;
      PETSC(PetscFree(t));
    } else
      for (int j = 0; j < n[1]; j++)
        for (int i = 0; i < n[0]; i++) {
          const double x = 6.283185307 * i / n[0], y = 3.141592654 * j / n[1];
          const double height = sin(2 * x + 1) * sin(y) + 0.6 * cos(3 * x - 2 * y) + 0.4 * sin(5 * x + 4 * y) + 0.5 * cos(2 * y);

          levels[i + n[0] * j] = (int)std::min(20.0, std::max(0.0, 14 - 16 * height));
        }
    printf("%s\n", there ? file : "land made up");
  }
};

/* Heat that diffuses for 30 days, as in examples/ocean.c, with the same mixing everywhere */
static Problem make(const Land &land, int refine, double *wet)
{
  const double   radius = 6.371e6, radians = 3.14159265358979 / 180, dt = 30 * 86400.0, kh = 1000, kv = 1e-4;
  const double   depth[] = {0, 15, 25, 40, 62.5, 87.5, 112.5, 137.5, 175, 225, 275, 350, 450, 550, 650, 750, 850, 950, 1050, 1200, 1400};
  const PetscInt n[3] = {land.n[0] * refine, land.n[1] * refine, land.n[2]};
  Problem        q;
  Vec            v[5];
  PetscScalar   *a[5]; /* land, volume, faces */
  PetscInt       id = 0;

  PETSC(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n[0], n[1], n[2], 1, 1, 1, 1, 1,
                     NULL, NULL, NULL, &q.dm));
  PETSC(DMSetVecType(q.dm, VECCUDA));
  PETSC(DMSetUp(q.dm));
  for (int m = 0; m < 5; m++) {
    PETSC(DMCreateGlobalVector(q.dm, &v[m]));
    PETSC(VecGetArrayWrite(v[m], &a[m]));
  }
  *wet = 0;
  for (PetscInt k = 0; k < n[2]; k++)
    for (PetscInt j = 0; j < n[1]; j++) {
      const double d = radians / refine, south = -90 * radians + d * j, dz = depth[k + 1] - depth[k];
      const double area = radius * radius * d * (sin(south + d) - sin(south));

      for (PetscInt i = 0; i < n[0]; i++, id++) {
        const bool water = k < land.levels[i / refine + land.n[0] * (j / refine)];

        a[0][id] = !water;
        a[1][id] = area * dz;
        a[2][id] = -dt * kh * dz / cos(south + d / 2);
        a[3][id] = -dt * kh * dz * cos(south);
        a[4][id] = -dt * kv * area / (k ? (depth[k + 1] - depth[k - 1]) / 2 : dz);
        *wet += water;
      }
    }
  for (int m = 0; m < 5; m++) PETSC(VecRestoreArrayWrite(v[m], &a[m]));
  PETSC(MatCreateStrata(q.dm, &q.A));
  PETSC(MatStrataSetMask(q.A, v[0]));
  PETSC(MatStrataSetFaces(q.A, v[1], v + 2));
  PETSC(MatAssemblyBegin(q.A, MAT_FINAL_ASSEMBLY));
  PETSC(MatAssemblyEnd(q.A, MAT_FINAL_ASSEMBLY));
  PETSC(VecDuplicate(v[1], &q.x));
  PETSC(VecDuplicate(v[1], &q.b));
  PETSC(VecSetRandom(q.b, NULL));
  PETSC(VecPointwiseMult(q.b, q.b, v[1])); /* volume times temperature, in the water */
  PETSC(VecGetArray(q.b, &a[1]));
  PETSC(VecGetArray(v[0], &a[0]));
  for (PetscInt i = 0; i < id; i++) a[1][i] *= 1 - a[0][i];
  PETSC(VecRestoreArray(v[0], &a[0]));
  PETSC(VecRestoreArray(q.b, &a[1]));
  for (int m = 0; m < 5; m++) PETSC(VecDestroy(&v[m]));
  return q;
}

static void bench(Report &report, const char *file)
{
  const Land        land(file);
  const int         refine = 4;
  const char *const names[3] = {"cgfused + Strata + column", "cg + Strata + column", "cg + aijcusparse + jacobi"};
  double            wet, us[3];
  const Problem     q = make(land, refine, &wet);
  PetscInt          cells;

  PETSC(VecGetSize(q.b, &cells));
  const size_t bytes = sizeof(double) * cells;
  const Timing copy = copies(cells);

  report.line("copy of a vector, 1440x720x20 fp64", copy, 2.0 * bytes / copy.median / 1e6, "TB/s", 0);
  printf("%.0f of %d cells are water\n", wet, (int)cells);

  /* In the water. Step: z, p, r, excess and three legs are read, p and r written, and every second time x read and written. Columns: r, three legs and
     the reciprocal of the pivot are read, z is written. Both read two bytes a column. */
  const double must = wet * sizeof(double) * (7 + 2 + 1 + 5 + 1) + 4.0 * cells / land.n[2];

  for (int c = 0; c < 3; c++) {
    Mat assembled = NULL;

    if (c == 2) {
      PETSC(MatConvert(q.A, MATAIJ, MAT_INITIAL_MATRIX, &assembled));
      PETSC(MatConvert(assembled, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &assembled));
    }
    KSP ksp = solver(assembled ? assembled : q.A, c ? KSPCG : KSPCGFUSED, c == 2 ? PCJACOBI : PCCOLUMN);
    PC  pc;

    PETSC(KSPGetPC(ksp, &pc));
    PETSC(PCColumnSetAxis(pc, 2));
    const Timing t = iteration(ksp, q);

    us[c] = t.median;
    report.line(std::string("iteration, ") + names[c], t, t.median / copy.median, "copies", 0);
    if (!c) {
      printf("bytes that it must move: %.4g\n", must);
      report.line("G7v: what it must move, of copy bandwidth", t, must / t.median / (2.0 * bytes / copy.median), "of copy", 0.65);
      PETSC(KSPView(ksp, PETSC_VIEWER_STDOUT_WORLD));
    }
    PETSC(KSPDestroy(&ksp));
    PETSC(MatDestroy(&assembled));
  }
  for (int c = 1; c < 3; c++) report.line(std::string("iteration over ") + names[c], {us[0], us[0], us[0]}, us[c] / us[0], "times", 0);
}

int main(int argc, char **argv)
{
  setenv("PETSC_OPTIONS", "-use_gpu_aware_mpi 0", 0);
  PETSC(PetscInitialize(&argc, &argv, NULL, NULL));
  PETSC(StrataInitializePackage());
  int result;
  {
    Report report(argc > 1 ? argv[1] : NULL);

    bench(report, argc > 2 ? argv[2] : "build/demo/levitus.h5");
    result = report.write();
  }
  PETSC(PetscFinalize());
  return result;
}
