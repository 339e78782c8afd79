/*
   The pressure-correction operator on one panel of a cubed sphere, in tensor form: geometry on the host, numbers of columns and levels only
*/
#include "operatorimpl.h"

typedef struct {
  PetscReal x[3];
} StrataPoint;

/* A point of the gnomonic panel (x, y in [-1, 1]) on the unit sphere */
static StrataPoint StrataGnomonic(PetscReal x, PetscReal y)
{
  const PetscReal r = PetscSqrtReal(1 + x * x + y * y);
  StrataPoint     p = {{1 / r, x / r, y / r}};

  return p;
}

static PetscReal StrataDot(StrataPoint a, StrataPoint b)
{
  return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}

static StrataPoint StrataCross(StrataPoint a, StrataPoint b)
{
  StrataPoint c = {{a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2], a.x[0] * b.x[1] - a.x[1] * b.x[0]}};

  return c;
}

/* Length of the arc between two points, accurate for small ones */
static PetscReal StrataArc(StrataPoint a, StrataPoint b)
{
  const StrataPoint c = StrataCross(a, b);

  return PetscAtan2Real(PetscSqrtReal(StrataDot(c, c)), StrataDot(a, b));
}

/* Area of a spherical triangle (Van Oosterom and Strackee) */
static PetscReal StrataTriangle(StrataPoint a, StrataPoint b, StrataPoint c)
{
  return 2 * PetscAtan2Real(PetscAbsReal(StrataDot(a, StrataCross(b, c))), 1 + StrataDot(a, b) + StrataDot(b, c) + StrataDot(c, a));
}

/* Edges of the cells of the panel along one side, and their midpoints */
static PetscReal StrataEdge(PetscInt i, PetscInt m)
{
  return -1 + 2.0 * (PetscReal)i / (PetscReal)m;
}

static PetscReal StrataMid(PetscInt i, PetscInt m)
{
  return -1 + 2.0 * ((PetscReal)i + 0.5) / (PetscReal)m;
}

static PetscReal StrataColumnArea(PetscInt i, PetscInt j, PetscInt mx, PetscInt my)
{
  const StrataPoint a = StrataGnomonic(StrataEdge(i, mx), StrataEdge(j, my)), b = StrataGnomonic(StrataEdge(i + 1, mx), StrataEdge(j, my));
  const StrataPoint c = StrataGnomonic(StrataEdge(i + 1, mx), StrataEdge(j + 1, my)), d = StrataGnomonic(StrataEdge(i, mx), StrataEdge(j + 1, my));

  return StrataTriangle(a, b, c) + StrataTriangle(a, c, d);
}

/* Length of the face on the low side of a cell over the distance of the midpoints that it divides; 0 at the sides of the panel */
static PetscReal StrataFaceAlpha(PetscInt i, PetscInt j, PetscInt mx, PetscInt my, PetscBool alongx)
{
  const PetscReal   x = StrataEdge(i, mx), y = StrataEdge(j, my);
  const StrataPoint mid = StrataGnomonic(StrataMid(i, mx), StrataMid(j, my));

  if (alongx)
    return i == 0 || i == mx ? 0
                             : StrataArc(StrataGnomonic(x, y), StrataGnomonic(x, StrataEdge(j + 1, my))) /
                                   StrataArc(StrataGnomonic(StrataMid(i - 1, mx), StrataMid(j, my)), mid);
  return j == 0 || j == my ? 0
                           : StrataArc(StrataGnomonic(x, y), StrataGnomonic(StrataEdge(i + 1, mx), y)) /
                                 StrataArc(StrataGnomonic(StrataMid(i, mx), StrataMid(j - 1, my)), mid);
}

/* Radius of interface k of nz levels, and what a level weighs */
static PetscReal StrataRadius(PetscInt k, PetscInt nz, PetscReal depth)
{
  const PetscReal s = (PetscReal)k / (PetscReal)nz;

  return 1 + s * s * depth;
}

static PetscReal StrataLevelWeight(PetscInt k, PetscInt nz, PetscReal depth)
{
  const PetscReal r = StrataRadius(k, nz, depth), s = StrataRadius(k + 1, nz, depth);

  return (s * s * s - r * r * r) / 3;
}

/* The grid of the operator, which must be one that the problem can have */
static PetscErrorCode StrataPressureGetGrid(Mat A, PetscInt axis, StrataGrid *grid)
{
  StrataGrid g;

  PetscFunctionBegin;
  PetscCall(MatStrataGetGrid(A, &g));
  PetscCheck(g->dim == 3 && !g->periodic[0] && !g->periodic[1] && !g->periodic[2], g->comm, PETSC_ERR_ARG_WRONG,
             "The pressure problem needs a DMDA of three dimensions without periodic directions");
  PetscCheck(axis == 0 || axis == 2, g->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The columns of the pressure problem lie along axis 0 (x) or 2 (z), not %" PetscInt_FMT, axis);
  *grid = g;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  StrataPressureSetOperator - Fills an operator with the pressure-correction equation of an atmosphere model, in tensor form

  Collective

  Input Parameters:
+ A       - the operator, of type `MATSTRATA`, on a `DMDA` of three dimensions without periodic directions
. axis    - the direction of the columns, 0 (x) or 2 (z)
. omega2  - the squared ratio of the distance that sound travels in a time step to the radius, 6.7e-4 for a standard forecast
. lambda2 - the ratio of vertical to horizontal coupling, 3.4e-2
- depth   - the depth of the atmosphere over the radius, 0.0126

  Level: intermediate

  Notes:
  The equation is
.vb
  -omega2 (Laplace_2d u + lambda2 r^-2 d/dr (r^2 du/dr)) + u = f
.ve
  on the shell 1 <= r <= 1 + depth of one gnomonic panel of a cubed sphere, by finite volumes, multiplied by r^2, without flux on every
  side. Interface k of nz levels lies at r = 1 + (k/nz)^2 depth. The operator is symmetric positive definite. See E. Mueller, X. Guo,
  R. Scheichl, S. Shi, Matrix-free GPU implementation of a preconditioned conjugate gradient solver for anisotropic elliptic PDEs (2013).

  Call `MatAssemblyBegin()` and `MatAssemblyEnd()` afterwards.

.seealso: `MATSTRATA`, `MatStrataSetTensor()`, `StrataPressureSetRHS()`
@*/
PetscErrorCode StrataPressureSetOperator(Mat A, PetscInt axis, PetscReal omega2, PetscReal lambda2, PetscReal depth)
{
  const MatStrataSide sides[STRATA_LEGS] = {MAT_STRATA_NEUMANN, MAT_STRATA_NEUMANN, MAT_STRATA_NEUMANN,
                                            MAT_STRATA_NEUMANN, MAT_STRATA_NEUMANN, MAT_STRATA_NEUMANN};
  StrataGrid          g;
  PetscScalar        *area, *alpha, *level;
  PetscInt            h0, h1, ncol, nlev, nz, i, j, k;

  PetscFunctionBegin;
  PetscCall(StrataPressureGetGrid(A, axis, &g));
  PetscCheck(omega2 > 0 && lambda2 > 0 && depth > 0, g->comm, PETSC_ERR_ARG_OUTOFRANGE, "omega2 %g, lambda2 %g and depth %g must be positive",
             (double)omega2, (double)lambda2, (double)depth);
  h0 = axis == 0 ? 1 : 0;
  h1 = axis == 0 ? 2 : 1;
  nlev = g->n[axis];
  ncol = g->n[h0] * g->n[h1];
  nz = g->N[axis];
  PetscCall(PetscMalloc3(ncol, &area, 4 * ncol, &alpha, 4 * nlev, &level));
  for (j = 0; j < g->n[h1]; j++)
    for (i = 0; i < g->n[h0]; i++) {
      const PetscInt gi = g->lo[h0] + i, gj = g->lo[h1] + j, col = i + g->n[h0] * j;

      area[col] = StrataColumnArea(gi, gj, g->N[h0], g->N[h1]);
      alpha[col] = StrataFaceAlpha(gi, gj, g->N[h0], g->N[h1], PETSC_TRUE);
      alpha[ncol + col] = StrataFaceAlpha(gi + 1, gj, g->N[h0], g->N[h1], PETSC_TRUE);
      alpha[2 * ncol + col] = StrataFaceAlpha(gi, gj, g->N[h0], g->N[h1], PETSC_FALSE);
      alpha[3 * ncol + col] = StrataFaceAlpha(gi, gj + 1, g->N[h0], g->N[h1], PETSC_FALSE);
    }
  for (k = 0; k < nlev; k++) {
    const PetscInt  K = g->lo[axis] + k;
    const PetscReal m = StrataLevelWeight(K, nz, depth);

    level[k] = m;
    level[nlev + k] = 0;
    level[2 * nlev + k] = 0;
    level[3 * nlev + k] = -omega2 * m;
    for (i = K; i <= K + 1; i++) { /* the interfaces below and above: r^2 over the distance of the levels' midpoints */
      const PetscReal r = StrataRadius(i, nz, depth);

      if (i > 0 && i < nz)
        level[(i == K ? 2 : 1) * nlev + k] = -omega2 * lambda2 * r * r / ((StrataRadius(i + 1, nz, depth) - StrataRadius(i - 1, nz, depth)) / 2);
    }
  }
  PetscCall(MatStrataSetTensor(A, axis, ncol, area, alpha, nlev, level));
  PetscCall(MatStrataSetSides(A, sides));
  PetscCall(PetscFree3(area, alpha, level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  StrataPressureSetRHS - The standard right-hand side of the pressure-correction equation

  Collective

  Input Parameters:
+ A     - the operator, filled by `StrataPressureSetOperator()`
. axis  - the direction of the columns, as given there
. depth - the depth of the atmosphere, as given there
- b     - the vector to fill, of the `DMDA` of the operator

  Level: intermediate

  Note:
  f = exp(-((x - .3)^2 + (y + .2)^2) / .1) sin(pi (k + .5) / nz) at the midpoint of each cell, times its volume.

.seealso: `StrataPressureSetOperator()`
@*/
PetscErrorCode StrataPressureSetRHS(Mat A, PetscInt axis, PetscReal depth, Vec b)
{
  StrataGrid     g;
  const PetscInt h0 = axis == 0 ? 1 : 0, h1 = axis == 0 ? 2 : 1;
  PetscScalar   *v;
  PetscReal     *horizontal, *vertical;
  PetscInt       x[3], id = 0;

  PetscFunctionBegin;
  PetscCall(StrataPressureGetGrid(A, axis, &g));
  PetscCheck(depth > 0, g->comm, PETSC_ERR_ARG_OUTOFRANGE, "depth %g must be positive", (double)depth);
  PetscCall(StrataGridCheckVec(g, b, "the right-hand side"));
  PetscCall(PetscMalloc2(g->n[h0] * g->n[h1], &horizontal, g->n[axis], &vertical));
  for (PetscInt j = 0; j < g->n[h1]; j++)
    for (PetscInt i = 0; i < g->n[h0]; i++) {
      const PetscInt  gi = g->lo[h0] + i, gj = g->lo[h1] + j;
      const PetscReal dx = StrataMid(gi, g->N[h0]) - 0.3, dy = StrataMid(gj, g->N[h1]) + 0.2;

      horizontal[i + g->n[h0] * j] = PetscExpReal(-(dx * dx + dy * dy) / 0.1) * StrataColumnArea(gi, gj, g->N[h0], g->N[h1]);
    }
  for (PetscInt k = 0; k < g->n[axis]; k++)
    vertical[k] =
        PetscSinReal(PETSC_PI * ((PetscReal)(g->lo[axis] + k) + 0.5) / (PetscReal)g->N[axis]) * StrataLevelWeight(g->lo[axis] + k, g->N[axis], depth);
  PetscCall(VecGetArrayWrite(b, &v));
  for (x[2] = 0; x[2] < g->n[2]; x[2]++)
    for (x[1] = 0; x[1] < g->n[1]; x[1]++)
      for (x[0] = 0; x[0] < g->n[0]; x[0]++) v[id++] = horizontal[x[h0] + g->n[h0] * x[h1]] * vertical[x[axis]];
  PetscCall(VecRestoreArrayWrite(b, &v));
  PetscCall(PetscFree2(horizontal, vertical));
  PetscFunctionReturn(PETSC_SUCCESS);
}
