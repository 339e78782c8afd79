/*
   What tests of columns share: grids whose columns are whole, operators with random coefficients
*/
#ifndef COLUMNS_H
#define COLUMNS_H

#include "tap.h"
#include <dlfcn.h>

static PetscMPIInt rank, size;

static inline PetscErrorCode ColumnsBegin(int *argc, char ***argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(argc, argv));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same numbers in [low, high], whoever asks for cell i */
static inline PetscReal Random(PetscInt i, PetscInt seed, PetscReal low, PetscReal high)
{
  unsigned long long h = (unsigned long long)(i + 1) * 0x9e3779b97f4a7c15ULL + (unsigned long long)(seed + 1) * 0xbf58476d1ce4e5b9ULL;

  h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ULL;
  h = (h ^ h >> 27) * 0x94d049bb133111ebULL;
  h ^= h >> 31;
  return low + (high - low) * (PetscReal)(h >> 11) / 9007199254740992.0;
}

/* ---- grids, vectors, matrices ---------------------------------------------------------------------------------------------------- */

/* A DMDA whose ranks do not cut columns along an axis; periodic: one bit for each axis */
static inline PetscErrorCode MakeGrid(PetscInt dim, const PetscInt n[], PetscInt axis, int periodic, PetscBool cuda, DM *dm)
{
  DMBoundaryType b[3];
  PetscInt       procs[3] = {1, 1, 1};
  const PetscInt h0 = axis == 0 ? 1 : 0, h1 = axis == 2 ? 1 : 2;

  PetscFunctionBeginUser;
  for (int a = 0; a < 3; a++) b[a] = periodic >> a & 1 ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  procs[h0] = size;
  if (dim == 3 && size == 4) procs[h0] = procs[h1] = 2;
  if (dim == 2)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, b[0], b[1], DMDA_STENCIL_STAR, n[0], n[1], procs[0], procs[1], 1, 1, NULL, NULL, dm));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, b[0], b[1], b[2], DMDA_STENCIL_STAR, n[0], n[1], n[2], procs[0], procs[1], procs[2], 1, 1, NULL, NULL,
                           NULL, dm));
  if (cuda) PetscCall(DMSetVecType(*dm, VECCUDA));
  if (cuda) PetscCall(DMSetMatType(*dm, MATAIJCUSPARSE));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector of the DMDA with numbers that depend on the cell alone */
static inline PetscErrorCode MakeVec(DM dm, PetscInt seed, PetscReal low, PetscReal high, Vec *v)
{
  DMDALocalInfo info;
  PetscScalar  *x;
  PetscInt      i, j, k, m = 0;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(dm, v));
  PetscCall(DMDAGetLocalInfo(dm, &info));
  PetscCall(VecGetArrayWrite(*v, &x));
  for (k = info.zs; k < info.zs + info.zm; k++)
    for (j = info.ys; j < info.ys + info.ym; j++)
      for (i = info.xs; i < info.xs + info.xm; i++) x[m++] = Random(i + info.mx * (j + info.my * k), seed, low, high);
  PetscCall(VecRestoreArrayWrite(*v, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef enum { CONSTANT, TENSOR, FACES, LEGS, FORMS } Form;
static const char *const forms[] = {"constant", "tensor", "faces", "legs"};

/* A Strata operator with random coefficients, columns of the tensor form along an axis */
static inline PetscErrorCode MakeOperator(DM dm, Form form, PetscInt axis, PetscBool masked, PetscBool neumann, Mat *A)
{
  DMDALocalInfo  info;
  MatStrataSide  sides[6];
  Vec            excess, legs[6], mask;
  PetscInt       dim, l, n[3], lo[3];
  const PetscInt h0 = axis == 0 ? 1 : 0, h1 = axis == 2 ? 1 : 2;

  PetscFunctionBeginUser;
  PetscCall(MatCreateStrata(dm, A));
  PetscCall(DMDAGetLocalInfo(dm, &info));
  dim = info.dim;
  n[0] = info.xm;
  n[1] = info.ym;
  n[2] = info.zm;
  lo[0] = info.xs;
  lo[1] = info.ys;
  lo[2] = info.zs;
  for (l = 0; l < 6; l++) sides[l] = neumann || l % 2 ? MAT_STRATA_NEUMANN : MAT_STRATA_DIRICHLET;
  if (form == CONSTANT) {
    const PetscScalar leg[] = {-1.5, -1.25, -0.5, -0.75, -3, -2.5};

    PetscCall(MatStrataSetSides(*A, sides));
    PetscCall(MatStrataSetConstant(*A, 0.125, leg));
  } else if (form == TENSOR) {
    PetscScalar *area, *alpha, *level;
    PetscInt     q, k, columns = n[h0] * n[h1];

    PetscCall(PetscMalloc3(columns, &area, 4 * columns, &alpha, 4 * n[axis], &level));
    for (q = 0; q < columns; q++) {
      area[q] = Random(lo[h0] + q % n[h0] + 1000 * (lo[h1] + q / n[h0]), 1, 0.5, 2);
      for (l = 0; l < 4; l++) alpha[q + l * columns] = Random(lo[h0] + q % n[h0] + 1000 * (lo[h1] + q / n[h0]), 2 + l, 0.5, 2);
    }
    for (k = 0; k < n[axis]; k++) {
      level[k] = Random(k, 6, 0, 1);
      for (l = 1; l < 4; l++) level[k + l * n[axis]] = Random(k, 6 + l, -2, -0.1);
    }
    PetscCall(MatStrataSetSides(*A, sides));
    PetscCall(MatStrataSetTensor(*A, axis, columns, area, alpha, n[axis], level));
    PetscCall(PetscFree3(area, alpha, level));
  } else {
    const PetscInt count = form == FACES ? dim : 2 * dim;

    PetscCall(MakeVec(dm, 10, neumann ? 0 : 0.1, neumann ? 0 : 1, &excess));
    for (l = 0; l < count; l++) PetscCall(MakeVec(dm, 11 + l, -2, -0.1, &legs[l]));
    if (form == FACES)
      PetscCall(MatStrataSetFaces(*A, excess, legs));
    else
      PetscCall(MatStrataSetLegs(*A, excess, legs));
    PetscCall(VecDestroy(&excess));
    for (l = 0; l < count; l++) PetscCall(VecDestroy(&legs[l]));
  }
  if (masked) {
    PetscScalar *m;
    PetscInt     i, local;

    PetscCall(MakeVec(dm, 20, 0, 1, &mask));
    PetscCall(VecGetLocalSize(mask, &local));
    PetscCall(VecGetArray(mask, &m));
    for (i = 0; i < local; i++) m[i] = m[i] < 0.3;
    PetscCall(VecRestoreArray(mask, &m));
    PetscCall(MatStrataSetMask(*A, mask));
    PetscCall(VecDestroy(&mask));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How the columns are solved where nothing else is said */
static PCColumnAlgorithm algorithm = PC_COLUMN_AUTO;

static inline PetscErrorCode MakePC(Mat A, PetscInt axis, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetType(*pc, PCCOLUMN));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCColumnSetAxis(*pc, axis));
  PetscCall(PCColumnSetAlgorithm(*pc, algorithm));
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest difference of two vectors, wherever they are */
static inline PetscErrorCode Difference(Vec x, Vec y, PetscReal *d)
{
  const PetscScalar *ax, *ay;
  PetscInt           n, i;

  PetscFunctionBeginUser;
  *d = 0;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &ax));
  PetscCall(VecGetArrayRead(y, &ay));
  for (i = 0; i < n; i++)
    if (!(PetscAbsScalar(ax[i] - ay[i]) <= *d)) *d = PetscAbsScalar(ax[i] - ay[i]);
  PetscCall(VecRestoreArrayRead(x, &ax));
  PetscCall(VecRestoreArrayRead(y, &ay));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, d, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solution of a dense system, in long double with pivots of rows; a is overwritten */
static inline void DenseSolve(int n, long double *a, long double *b)
{
  for (int k = 0; k < n; k++) {
    int p = k;

    for (int i = k + 1; i < n; i++)
      if (fabsl(a[i * n + k]) > fabsl(a[p * n + k])) p = i;
    for (int j = 0; j < n && p != k; j++) {
      const long double t = a[k * n + j];

      a[k * n + j] = a[p * n + j];
      a[p * n + j] = t;
    }
    if (p != k) {
      const long double t = b[k];

      b[k] = b[p];
      b[p] = t;
    }
    for (int i = k + 1; i < n; i++) {
      const long double f = a[i * n + k] / a[k * n + k];

      for (int j = k; j < n; j++) a[i * n + j] -= f * a[k * n + j];
      b[i] -= f * b[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = k + 1; j < n; j++) b[k] -= a[k * n + j] * b[j];
    b[k] /= a[k * n + k];
  }
}

#endif
