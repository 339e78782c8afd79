/*
   Problems for the tests of the operator: coefficients that depend on global cells only, given to a Strata operator and, from the
   formulas of the manual pages, to an AIJ matrix
*/
#ifndef PROBLEMS_H
#define PROBLEMS_H

#include "grids.h"

typedef enum { MASK_NONE, MASK_SCATTERED, MASK_WALL, MASK_ALL } Mask;

typedef struct {
  MPI_Comm       comm;
  PetscInt       dim, N[3], procs[3];
  DMBoundaryType boundary[3];
  MatStrataForm  form;
  int            axis, symmetric, singular;
  MatStrataSide  side[6];
  Mask           mask;
  DM             dm;
  PetscInt       lo[3], n[3];
} Problem;

static inline int Periodic(const Problem *p, int a)
{
  return a < p->dim && p->boundary[a] == DM_BOUNDARY_PERIODIC;
}

/* Number of a cell that does not depend on who owns it */
static inline PetscInt Natural(const Problem *p, const PetscInt x[])
{
  return x[0] + p->N[0] * (x[1] + p->N[1] * x[2]);
}

static inline int Masked(const Problem *p, const PetscInt x[])
{
  switch (p->mask) {
  case MASK_NONE: return 0;
  case MASK_ALL: return 1;
  case MASK_WALL: return x[0] == p->N[0] / 2 || (p->dim > 1 && x[1] == p->N[1] / 3); /* cuts the grid into parts */
  default: return Number(60, Natural(p, x)) < -0.4;
  }
}

/* The cell next to x across side l, wrapped where the grid is periodic; 0 where it ends */
static inline int Next(const Problem *p, int l, const PetscInt x[], PetscInt y[])
{
  const int a = l / 2;

  for (int b = 0; b < 3; b++) y[b] = x[b];
  y[a] += l % 2 ? 1 : -1;
  if (y[a] >= 0 && y[a] < p->N[a]) return 1;
  if (!Periodic(p, a)) return 0;
  y[a] = (y[a] + p->N[a]) % p->N[a];
  return 1;
}

static inline double ConstantLeg(const Problem *p, int l)
{
  return -(1 + (p->symmetric ? l / 2 : 0.7 * l) / 3.0);
}

/* The number of the face on the low side of x, or on the high side where l is odd */
static inline double Face(const Problem *p, int l, const PetscInt x[])
{
  PetscInt y[3] = {x[0], x[1], x[2]};

  if (l % 2 && !Next(p, l, x, y)) return -(1.5 + Number(11, Natural(p, x)));
  return -(1.5 + Number(12 + l / 2, Natural(p, y)));
}

static inline double Leg(int l, PetscInt natural)
{
  return Number(20 + l, natural);
}

static inline double Excess(const Problem *p, PetscInt natural)
{
  return p->singular ? 0 : 0.6 + 0.4 * Number(30, natural);
}

/* Tensor form. Of a column (x with x[axis] = 0): its area, and alpha towards side m of the two other axes, low, high, low, high */
static inline double Area(const Problem *p, const PetscInt x[])
{
  return 1 + 0.5 * Number(40, Natural(p, x));
}

static inline int Lateral(int axis, int m) /* the leg of side m */
{
  const int a = m / 2 == 0 ? (axis == 0 ? 1 : 0) : (axis == 2 ? 1 : 2);

  return 2 * a + m % 2;
}

static inline double Alpha(const Problem *p, int m, const PetscInt x[])
{
  return p->symmetric ? 2 + Face(p, Lateral(p->axis, m), x) / 3 : 1 + 0.5 * Number(41 + (uint64_t)m, Natural(p, x));
}

/* Of level k: a, b, c, d */
static inline double Level(const Problem *p, int which, PetscInt k)
{
  const PetscInt nz = p->N[p->axis], below = k > 0 ? k - 1 : Periodic(p, p->axis) ? nz - 1 : -1;

  switch (which) {
  case 0: return p->singular ? 0 : 0.3 + 0.1 * Number(50, k);
  case 1: return -(2 + Number(51, k));
  case 2: return p->symmetric ? -(2 + Number(51, below)) : -(1 + Number(52, k));
  default: return -(1 + 0.5 * Number(53, k));
  }
}

/* The entry of leg l in the row of x, and the excess of the row */
static inline double RowLeg(const Problem *p, int l, const PetscInt x[])
{
  PetscInt column[3] = {x[0], x[1], x[2]};

  switch (p->form) {
  case MAT_STRATA_CONSTANT: return ConstantLeg(p, l);
  case MAT_STRATA_TENSOR:
    column[p->axis] = 0;
    if (l / 2 == p->axis) return Area(p, column) * Level(p, l % 2 ? 1 : 2, x[p->axis]);
    for (int m = 0; m < 4; m++)
      if (Lateral(p->axis, m) == l) return Level(p, 3, x[p->axis]) * Alpha(p, m, column);
    return NAN;
  case MAT_STRATA_FACES: return Face(p, l, x);
  default: return Leg(l, Natural(p, x));
  }
}

static inline double RowExcess(const Problem *p, const PetscInt x[])
{
  PetscInt column[3] = {x[0], x[1], x[2]};

  column[p->axis] = 0;
  return p->form == MAT_STRATA_CONSTANT ? Excess(p, 0)
         : p->form == MAT_STRATA_TENSOR ? Area(p, column) * Level(p, 0, x[p->axis])
                                        : Excess(p, Natural(p, x));
}

static inline const char *ProblemName(const Problem *p)
{
  static const char *const masks[] = {"", ", scattered mask", ", walls", ", all masked"};
  static char              text[512];
  char                     sides[64] = "", form[64];

  for (int a = 0; a < p->dim; a++) {
    const size_t at = strlen(sides);

    if (Periodic(p, a))
      snprintf(sides + at, sizeof(sides) - at, " periodic");
    else
      snprintf(sides + at, sizeof(sides) - at, " %c%c", "DN"[p->side[2 * a]], "DN"[p->side[2 * a + 1]]);
  }
  snprintf(form, sizeof(form), p->form == MAT_STRATA_TENSOR ? "%s along %c" : "%s", MatStrataForms[p->form], 'x' + p->axis);
  snprintf(text, sizeof(text), "%dx%dx%d on %dx%dx%d ranks, %s%s%s,%s%s", (int)p->N[0], (int)p->N[1], (int)p->N[2], (int)p->procs[0],
           (int)p->procs[1], (int)p->procs[2], form, p->symmetric ? ", symmetric" : "", p->singular ? ", singular" : "", sides, masks[p->mask]);
  return text;
}

/* Calls f for each cell of this rank, with its local number */
#define EACH_CELL(p, x, i)                                                                                                                           \
  for (PetscInt x[3] = {0, 0, (p)->lo[2]}, i = 0; x[2] < (p)->lo[2] + (p)->n[2]; x[2]++)                                                             \
    for (x[1] = (p)->lo[1]; x[1] < (p)->lo[1] + (p)->n[1]; x[1]++)                                                                                   \
      for (x[0] = (p)->lo[0]; x[0] < (p)->lo[0] + (p)->n[0]; x[0]++, i++)

static inline PetscErrorCode ProblemSetUp(Problem *p)
{
  PetscFunctionBeginUser;
  PetscCall(CreateDMDA(p->comm, p->dim, p->N, p->procs, p->boundary, 1, &p->dm));
  PetscCall(DMDAGetCorners(p->dm, &p->lo[0], &p->lo[1], &p->lo[2], &p->n[0], &p->n[1], &p->n[2]));
  for (int a = (int)p->dim; a < 3; a++) {
    p->lo[a] = 0;
    p->n[a] = 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector of numbers that depend on global cells only, or of what a function of them gives */
static inline PetscErrorCode ProblemVector(const Problem *p, uint64_t seed, Vec *v)
{
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(p->dm, v));
  PetscCall(VecGetArrayWrite(*v, &a));
  EACH_CELL(p, x, i) a[i] = Number(seed, Natural(p, x));
  PetscCall(VecRestoreArrayWrite(*v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode ProblemSetMask(const Problem *p, Mat A)
{
  Vec          v;
  PetscScalar *a;

  PetscFunctionBeginUser;
  if (p->mask == MASK_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMCreateGlobalVector(p->dm, &v));
  PetscCall(VecGetArrayWrite(v, &a));
  EACH_CELL(p, x, i) a[i] = Masked(p, x) ? -3 : 0;
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscCall(MatStrataSetMask(A, v));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of the tensor form on this rank, freed with PetscFree3() */
static inline PetscErrorCode ProblemTensor(const Problem *p, PetscInt *ncol, PetscScalar **area, PetscScalar **alpha, PetscInt *nlev,
                                           PetscScalar **level)
{
  const int axis = p->axis, h0 = axis == 0 ? 1 : 0, h1 = axis == 2 ? 1 : 2;
  PetscInt  x[3], c = 0;

  PetscFunctionBeginUser;
  *ncol = p->n[h0] * p->n[h1];
  *nlev = p->n[axis];
  PetscCall(PetscMalloc3(*ncol, area, 4 * *ncol, alpha, 4 * *nlev, level));
  x[axis] = 0;
  for (x[h1] = p->lo[h1]; x[h1] < p->lo[h1] + p->n[h1]; x[h1]++)
    for (x[h0] = p->lo[h0]; x[h0] < p->lo[h0] + p->n[h0]; x[h0]++, c++) {
      (*area)[c] = Area(p, x);
      for (int m = 0; m < 4; m++) (*alpha)[m * *ncol + c] = Alpha(p, m, x);
    }
  for (PetscInt k = 0; k < *nlev; k++)
    for (int m = 0; m < 4; m++) (*level)[m * *nlev + k] = Level(p, m, p->lo[axis] + k);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vectors of the forms with numbers of each cell: the excess and `count` legs or faces */
static inline PetscErrorCode ProblemVectors(const Problem *p, Vec *excess, PetscInt *count, Vec legs[])
{
  const PetscInt step = p->form == MAT_STRATA_FACES ? 2 : 1;
  PetscScalar   *a;

  PetscFunctionBeginUser;
  *count = 2 * p->dim / step;
  for (PetscInt l = -1; l < *count; l++) {
    Vec *v = l < 0 ? excess : &legs[l];

    PetscCall(DMCreateGlobalVector(p->dm, v));
    PetscCall(VecGetArrayWrite(*v, &a));
    EACH_CELL(p, x, i) a[i] = l < 0 ? RowExcess(p, x) : RowLeg(p, (int)(l * step), x);
    PetscCall(VecRestoreArrayWrite(*v, &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode ProblemSetCoefficients(const Problem *p, Mat A)
{
  PetscFunctionBeginUser;
  if (p->form == MAT_STRATA_CONSTANT) {
    PetscScalar legs[6];

    for (int l = 0; l < 6; l++) legs[l] = l < 2 * p->dim ? ConstantLeg(p, l) : NAN;
    PetscCall(MatStrataSetConstant(A, Excess(p, 0), legs));
  } else if (p->form == MAT_STRATA_TENSOR) {
    PetscScalar *area, *alpha, *level;
    PetscInt     ncol, nlev;

    PetscCall(ProblemTensor(p, &ncol, &area, &alpha, &nlev, &level));
    PetscCall(MatStrataSetTensor(A, p->axis, ncol, area, alpha, nlev, level));
    PetscCall(PetscFree3(area, alpha, level));
  } else {
    Vec      excess, legs[6];
    PetscInt count;

    PetscCall(ProblemVectors(p, &excess, &count, legs));
    if (p->form == MAT_STRATA_FACES)
      PetscCall(MatStrataSetFaces(A, excess, legs));
    else
      PetscCall(MatStrataSetLegs(A, excess, legs));
    PetscCall(VecDestroy(&excess));
    for (PetscInt l = 0; l < count; l++) PetscCall(VecDestroy(&legs[l]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode ProblemOperator(const Problem *p, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateStrata(p->dm, A));
  PetscCall(ProblemSetMask(p, *A));
  PetscCall(ProblemSetCoefficients(p, *A));
  PetscCall(MatStrataSetSides(*A, p->side));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same matrix, assembled */
static inline PetscErrorCode ProblemAssembled(const Problem *p, Mat *B)
{
  AO       ao;
  PetscInt n = p->n[0] * p->n[1] * p->n[2];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetAO(p->dm, &ao));
  PetscCall(MatCreateAIJ(p->comm, n, n, PETSC_DETERMINE, PETSC_DETERMINE, 7, NULL, 6, NULL, B));
  EACH_CELL(p, x, i)
  {
    PetscInt row = Natural(p, x), col;
    double   diagonal = RowExcess(p, x);

    PetscCall(AOApplicationToPetsc(ao, 1, &row));
    if (Masked(p, x)) {
      PetscCall(MatSetValue(*B, row, row, 1, ADD_VALUES));
      continue;
    }
    for (int l = 0; l < 2 * p->dim; l++) {
      const double leg = RowLeg(p, l, x);
      PetscInt     y[3];

      if (Next(p, l, x, y)) {
        if (Masked(p, y)) continue;
        col = Natural(p, y);
        PetscCall(AOApplicationToPetsc(ao, 1, &col));
        PetscCall(MatSetValue(*B, row, col, leg, ADD_VALUES));
      } else if (p->form == MAT_STRATA_FACES || p->form == MAT_STRATA_LEGS || p->side[l] == MAT_STRATA_NEUMANN)
        continue;
      diagonal -= leg;
    }
    PetscCall(MatSetValue(*B, row, row, diagonal, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetDM(*B, p->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
