/*
   MATSTRATA: the matrix-free operator as a PETSc matrix
*/
#include "operatorimpl.h"

const char *const MatStrataForms[] = {"none", "constant", "tensor", "faces", "legs", "MatStrataForm", "MAT_STRATA_", NULL};
const char *const MatStrataSides[] = {"Dirichlet", "Neumann", "MatStrataSide", "MAT_STRATA_", NULL};

typedef struct {
  StrataCoefficients c;
  StrataHalo         halo;
  StrataCoefficients transpose; /* of a nonsymmetric operator, made when first needed, given up at assembly */
  PetscScalar        transposescale, transposeshift;
  MatNullSpace       nullspace; /* of A, attached while shift is 0 */
  PetscInt           components;
} Mat_Strata;

static PetscErrorCode MatStrataContext(Mat A, Mat_Strata **ctx)
{
  PetscBool isstrata;

  PetscFunctionBegin;
  PetscCheck(A, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "There is no matrix: create it with MatCreateStrata()");
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSTRATA, &isstrata));
  PetscCheck(isstrata, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "The matrix is of type %s, not %s: create it with MatCreateStrata()",
             ((PetscObject)A)->type_name ? ((PetscObject)A)->type_name : "(not set)", MATSTRATA);
  PetscCall(MatShellGetContext(A, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coefficients that are yet to be set, on a grid */
static PetscErrorCode MatStrataUseGrid(Mat_Strata *s, StrataGrid grid)
{
  const PetscInt depth[3] = {1, 1, 1};

  PetscFunctionBegin;
  PetscCall(StrataCoefficientsCreate(grid, &s->c));
  PetscCall(StrataHaloCreate(grid, depth, PETSC_FALSE, &s->halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatStrataGetDM(Mat A, DM *dm)
{
  PetscFunctionBegin;
  PetscCall(MatGetDM(A, dm));
  PetscCheck(*dm, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix has no grid: create it with MatCreateStrata() on a DMDA, or call MatSetDM()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator, on the grid of its DM if it has none yet */
static PetscErrorCode MatStrataPrepare(Mat A, Mat_Strata **ctx)
{
  StrataGrid grid;
  DM         dm;

  PetscFunctionBegin;
  PetscCall(MatStrataContext(A, ctx));
  if ((*ctx)->c) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStrataGetDM(A, &dm));
  PetscCall(StrataGridCreateDMDA(dm, &grid));
  PetscCall(StrataGridCheckMat(grid, A));
  PetscCall(MatStrataUseGrid(*ctx, grid));
  PetscCall(StrataGridDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A setter begins here: what was set before in another form is given up */
static PetscErrorCode MatStrataBeginSet(Mat A, MatStrataForm form, Mat_Strata **s)
{
  PetscInt l;

  PetscFunctionBegin;
  PetscCall(MatStrataPrepare(A, s));
  if (form != (*s)->c->form) {
    PetscCall(StrataArrayDestroy(&(*s)->c->area));
    PetscCall(StrataArrayDestroy(&(*s)->c->alpha));
    PetscCall(StrataArrayDestroy(&(*s)->c->level));
    PetscCall(StrataArrayDestroy(&(*s)->c->cell));
    for (l = 0; l < STRATA_LEGS; l++) PetscCall(StrataArrayDestroy(&(*s)->c->legs[l]));
    for (l = 0; l < 3; l++) PetscCall(StrataArrayDestroy(&(*s)->c->high[l]));
  }
  (*s)->c->form = form;
  (*s)->c->masking = PETSC_FALSE;
  (*s)->c->nonfinite = -1;
  (*s)->c->scale = 1;
  (*s)->c->shift = 0;
  (*s)->c->masked = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatStrataEndSet(Mat A)
{
  PetscFunctionBegin;
  A->assembled = PETSC_FALSE;
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatStrataNeedForm(Mat A, MatStrataForm form, Mat_Strata **s)
{
  MatStrataForm is;

  PetscFunctionBegin;
  PetscCall(MatStrataContext(A, s));
  PetscCall(MatStrataGetForm(A, &is));
  PetscCheck(is == form, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "The coefficients are in form %s, not %s", MatStrataForms[is],
             MatStrataForms[form]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatStrataGetForm - The form in which the coefficients of an operator are kept

  Not Collective

  Input Parameter:
. A - the operator, of type `MATSTRATA`

  Output Parameter:
. form - the form

  Level: beginner

.seealso: `MATSTRATA`, `MatStrataForm`, `MatStrataSetConstant()`, `MatStrataSetTensor()`, `MatStrataSetFaces()`, `MatStrataSetLegs()`
@*/
PetscErrorCode MatStrataGetForm(Mat A, MatStrataForm *form)
{
  Mat_Strata *s;

  PetscFunctionBegin;
  PetscCall(MatStrataContext(A, &s));
  *form = s->c ? s->c->form : MAT_STRATA_NONE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatStrataSetSides - What lies beyond the sides of the grid, for the constant and the tensor form

  Logically Collective

  Input Parameters:
+ A     - the operator, of type `MATSTRATA`
- sides - one for each side: west, east, south, north, bottom, top, two for each dimension of the grid

  Level: beginner

  Notes:
  The default is `MAT_STRATA_DIRICHLET` everywhere. Sides of a periodic direction are ignored.

  The forms with coefficients of each cell do not use the sides: a leg that would cross a side is left out there (no flux), and
  what couples a cell to a boundary value is part of its excess.

.seealso: `MATSTRATA`, `MatStrataSide`, `MatStrataGetSides()`
@*/
PetscErrorCode MatStrataSetSides(Mat A, const MatStrataSide sides[])
{
  Mat_Strata *s;
  PetscInt    l;

  PetscFunctionBegin;
  PetscCall(MatStrataPrepare(A, &s));
  PetscCheck(sides, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_NULL, "The sides are missing: give %" PetscInt_FMT " of them",
             2 * s->c->grid->dim);
  for (l = 0; l < 2 * s->c->grid->dim; l++)
    PetscCheck(sides[l] == MAT_STRATA_DIRICHLET || sides[l] == MAT_STRATA_NEUMANN, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
               "Side %" PetscInt_FMT " is %d, neither MAT_STRATA_DIRICHLET nor MAT_STRATA_NEUMANN", l, (int)sides[l]);
  for (l = 0; l < 2 * s->c->grid->dim; l++) s->c->side[l] = sides[l];
  PetscCall(MatStrataEndSet(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatStrataGetSides - What lies beyond the sides of the grid

  Not Collective

  Input Parameter:
. A - the operator, of type `MATSTRATA`

  Output Parameter:
. sides - one for each side: west, east, south, north, bottom, top, two for each dimension of the grid

  Level: beginner

.seealso: `MATSTRATA`, `MatStrataSide`, `MatStrataSetSides()`
@*/
PetscErrorCode MatStrataGetSides(Mat A, MatStrataSide sides[])
{
  Mat_Strata *s;
  DM          dm;
  PetscInt    dim, l;

  PetscFunctionBegin;
  PetscCall(MatStrataContext(A, &s));
  PetscCall(MatStrataGetDM(A, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  for (l = 0; l < 2 * dim; l++) sides[l] = s->c ? s->c->side[l] : MAT_STRATA_DIRICHLET;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatStrataSetMask - Takes cells out of an operator (land, rock)

  Collective

  Input Parameters:
+ A    - the operator, of type `MATSTRATA`
- mask - not zero where a cell is masked, a vector of the DMDA; `NULL` for no mask

  Level: beginner

  Notes:
  The row of a masked cell is that of the identity, and no other cell is coupled to it: a leg between a cell and a masked one is left
  out, as at a Neumann side. The right-hand side and the solution must be zero in masked cells.

  `MatScale()` and `MatShift()` act on masked rows as on all others.

  In the forms with numbers of each cell, assembly gives up those of masked cells: another mask asks for the coefficients again.

.seealso: `MATSTRATA`, `MatStrataGetMask()`
@*/
PetscErrorCode MatStrataSetMask(Mat A, Vec mask)
{
  Mat_Strata        *s;
  const PetscScalar *v;
  unsigned char     *m;
  PetscInt           i;
  PetscBool          some = mask ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatStrataPrepare(A, &s));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &some, 1, STRATA_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)A)));
  if (some) PetscCall(StrataGridCheckVec(s->c->grid, mask, "the mask"));
  if (s->c->masking) PetscCall(MatStrataBeginSet(A, MAT_STRATA_NONE, &s));
  PetscCall(StrataArrayDestroy(&s->c->mask));
  PetscCall(StrataArrayDestroy(&s->c->flags));
  if (mask) {
    PetscCall(StrataArrayCreate(&s->c->mask, (size_t)s->c->grid->size_local));
    PetscCall(StrataArrayWrite(&s->c->mask, PETSC_MEMTYPE_HOST, &m));
    PetscCall(VecGetArrayRead(mask, &v));
    for (i = 0; i < s->c->grid->size_local; i++) m[i] = v[i] != 0;
    PetscCall(VecRestoreArrayRead(mask, &v));
  }
  s->c->hasmask = mask ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(MatStrataEndSet(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatStrataGetMask - Which cells are masked

  Collective

  Input Parameters:
+ A    - the operator, of type `MATSTRATA`
- mask - a vector of the DMDA, overwritten with 1 where a cell is masked and 0 elsewhere

  Level: beginner

.seealso: `MATSTRATA`, `MatStrataSetMask()`
@*/
PetscErrorCode MatStrataGetMask(Mat A, Vec mask)
{
  Mat_Strata          *s;
  PetscScalar         *v;
  const unsigned char *m = NULL;
  PetscInt             i;

  PetscFunctionBegin;
  PetscCall(MatStrataPrepare(A, &s));
  PetscCall(StrataGridCheckVec(s->c->grid, mask, "the mask"));
  if (s->c->hasmask) PetscCall(StrataArrayRead(&s->c->mask, PETSC_MEMTYPE_HOST, &m));
  PetscCall(VecGetArrayWrite(mask, &v));
  for (i = 0; i < s->c->grid->size_local; i++) v[i] = m ? m[i] : 0;
  PetscCall(VecRestoreArrayWrite(mask, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatStrataSetConstant - Gives an operator the same stencil in every cell

  Logically Collective

  Input Parameters:
+ A      - the operator, of type `MATSTRATA`
. excess - the sum of the row of a cell that has all its neighbours: diagonal entry plus legs
- legs   - the off-diagonal entries: west, east, south, north, bottom, top, two for each dimension of the grid

  Level: beginner

  Notes:
  Row i of the operator is  excess u_i + sum over the legs of leg (u_neighbour - u_i); the diagonal entry is excess minus the sum of the
  legs. Beyond a Dirichlet side the neighbour's value is zero, at a Neumann side the leg is left out, see `MatStrataSetSides()`.
  The operator -Laplace with spacing h has excess 0 and legs -1/h^2.

  A direction whose legs are zero is legal: the grid is then made of independent lines or planes.

  Call `MatAssemblyBegin()` and `MatAssemblyEnd()` after all coefficients, sides and the mask are set.

.seealso: `MATSTRATA`, `MatStrataGetConstant()`, `MatStrataSetSides()`, `MatStrataSetMask()`
@*/
PetscErrorCode MatStrataSetConstant(Mat A, PetscScalar excess, const PetscScalar legs[])
{
  Mat_Strata *s;
  PetscInt    l;

  PetscFunctionBegin;
  PetscCall(MatStrataPrepare(A, &s));
  PetscCheck(legs, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_NULL, "The legs are missing: give %" PetscInt_FMT " of them", 2 * s->c->grid->dim);
  PetscCall(MatStrataBeginSet(A, MAT_STRATA_CONSTANT, &s));
  s->c->excess = excess;
  for (l = 0; l < STRATA_LEGS; l++) s->c->leg[l] = l < 2 * s->c->grid->dim ? legs[l] : 0;
  PetscCall(MatStrataEndSet(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatStrataGetConstant - The stencil of an operator in constant form

  Not Collective

  Input Parameter:
. A - the operator, of type `MATSTRATA`, in form `MAT_STRATA_CONSTANT`

  Output Parameters:
+ excess - the sum of the row of a cell that has all its neighbours
- legs   - the off-diagonal entries: west, east, south, north, bottom, top, two for each dimension of the grid

  Level: beginner

  Note:
  `MatScale()` and `MatShift()` are kept apart, see `MatStrataGetScaleShift()`.

.seealso: `MATSTRATA`, `MatStrataSetConstant()`
@*/
PetscErrorCode MatStrataGetConstant(Mat A, PetscScalar *excess, PetscScalar legs[])
{
  Mat_Strata *s;
  PetscInt    l;

  PetscFunctionBegin;
  PetscCall(MatStrataNeedForm(A, MAT_STRATA_CONSTANT, &s));
  if (excess) *excess = s->c->excess;
  if (legs)
    for (l = 0; l < 2 * s->c->grid->dim; l++) legs[l] = s->c->leg[l];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatStrataSetTensor - Gives an operator the tensor form: numbers of each column times numbers of each level

  Logically Collective

  Input Parameters:
+ A       - the operator, of type `MATSTRATA`
. axis    - the direction of the columns: 0, 1 or 2 for x, y or z
. columns - the number of columns of this rank: the product of the widths of its box along the two other axes
. area    - a number of each column (its area)
. alpha   - four numbers of each column, one for each lateral face: `columns` numbers for the low face along the first of the two other
            axes, then as many for its high face, for the low and for the high face along the second
. levels  - the number of levels of this rank: the width of its box along `axis`
- level   - four numbers of each level, a, b, c and d: `levels` numbers a, then b, c and d

  Level: intermediate

  Notes:
  In column T and level k,
.vb
  (A u)_{T,k} = area_T (a_k u_{T,k} + b_k (u_{T,k+1} - u_{T,k}) + c_k (u_{T,k-1} - u_{T,k})) + d_k sum over T' of alpha_{T,T'} (u_{T',k} - u_{T,k})
.ve
  Columns are numbered through the box of this rank, the first of the two other axes fastest. On a grid of lower dimension the missing
  axes have width 1; the axis of the columns must be one that the grid has. Beyond a Dirichlet side neighbours are zero,
  at a Neumann side the term is left out, see `MatStrataSetSides()`.

  All numbers are copied. Nothing is stored for each cell.

  Call `MatAssemblyBegin()` and `MatAssemblyEnd()` after all coefficients, sides and the mask are set.

.seealso: `MATSTRATA`, `MatStrataGetTensor()`, `MatStrataSetSides()`, `StrataPressureSetOperator()`
@*/
PetscErrorCode MatStrataSetTensor(Mat A, PetscInt axis, PetscInt columns, const PetscScalar area[], const PetscScalar alpha[], PetscInt levels,
                                  const PetscScalar level[])
{
  Mat_Strata *s;
  StrataGrid  g;
  PetscInt    along[2] = {axis, -axis}, bad[3], want;

  PetscFunctionBegin;
  PetscCall(MatStrataPrepare(A, &s));
  g = s->c->grid;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, along, 2, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  PetscCheck(along[0] == -along[1], PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "The columns are said to lie along axis %" PetscInt_FMT " on one rank, but along axis %" PetscInt_FMT " on another", -along[1],
             along[0]);
  PetscCheck(axis >= 0 && axis < g->dim, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "The columns are said to lie along axis %" PetscInt_FMT ", but the grid has %" PetscInt_FMT " axes, counted from 0", axis, g->dim);
  want = g->n[axis == 0 ? 1 : 0] * g->n[axis == 2 ? 1 : 2];
  bad[0] = columns != want;
  bad[1] = levels != g->n[axis];
  bad[2] = (want && (!area || !alpha)) || (g->n[axis] && !level);
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, bad, 3, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  PetscCheck(!bad[0], PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
             "Numbers of %" PetscInt_FMT " columns were given on rank %d, but its box has %" PetscInt_FMT
             " columns (or the same on another rank): see MatStrataSetTensor() for their order",
             columns, g->rank, want);
  PetscCheck(!bad[1], PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
             "Numbers of %" PetscInt_FMT " levels were given on rank %d, but its box has %" PetscInt_FMT
             " levels (or the same on another rank): give those of its own levels",
             levels, g->rank, g->n[axis]);
  PetscCheck(!bad[2], PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_NULL, "The numbers area, alpha or level are missing on some rank");
  PetscCall(MatStrataBeginSet(A, MAT_STRATA_TENSOR, &s));
  s->c->axis = axis;
  PetscCall(StrataArraySet(&s->c->area, (size_t)columns * sizeof(PetscScalar), PETSC_MEMTYPE_HOST, area));
  PetscCall(StrataArraySet(&s->c->alpha, (size_t)(4 * columns) * sizeof(PetscScalar), PETSC_MEMTYPE_HOST, alpha));
  PetscCall(StrataArraySet(&s->c->level, (size_t)(4 * levels) * sizeof(PetscScalar), PETSC_MEMTYPE_HOST, level));
  PetscCall(MatStrataEndSet(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatStrataGetTensor - The numbers of an operator in tensor form

  Not Collective

  Input Parameter:
. A - the operator, of type `MATSTRATA`, in form `MAT_STRATA_TENSOR`

  Output Parameters:
+ axis    - the direction of the columns: 0, 1 or 2 for x, y or z
. columns - the number of columns of this rank
. area    - a number of each column
. alpha   - four numbers of each column
. levels  - the number of levels of this rank
- level   - four numbers of each level

  Level: intermediate

  Notes:
  The order is that of `MatStrataSetTensor()`. The arrays belong to the operator. Any output may be `NULL`.

  `MatScale()` and `MatShift()` are kept apart, see `MatStrataGetScaleShift()`.

.seealso: `MATSTRATA`, `MatStrataSetTensor()`
@*/
PetscErrorCode MatStrataGetTensor(Mat A, PetscInt *axis, PetscInt *columns, const PetscScalar *area[], const PetscScalar *alpha[], PetscInt *levels,
                                  const PetscScalar *level[])
{
  Mat_Strata *s;
  StrataGrid  g;

  PetscFunctionBegin;
  PetscCall(MatStrataNeedForm(A, MAT_STRATA_TENSOR, &s));
  g = s->c->grid;
  if (axis) *axis = s->c->axis;
  if (columns) *columns = g->n[s->c->axis == 0 ? 1 : 0] * g->n[s->c->axis == 2 ? 1 : 2];
  if (levels) *levels = g->n[s->c->axis];
  if (area) PetscCall(StrataArrayRead(&s->c->area, PETSC_MEMTYPE_HOST, area));
  if (alpha) PetscCall(StrataArrayRead(&s->c->alpha, PETSC_MEMTYPE_HOST, alpha));
  if (level) PetscCall(StrataArrayRead(&s->c->level, PETSC_MEMTYPE_HOST, level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies vectors into the arrays of a variable form, where the vectors are */
static PetscErrorCode MatStrataSetVariable(Mat A, MatStrataForm form, Vec excess, const Vec legs[])
{
  Mat_Strata    *s;
  StrataGrid     g;
  const PetscInt step = form == MAT_STRATA_FACES ? 2 : 1;
  PetscInt       l;

  PetscFunctionBegin;
  PetscCall(MatStrataPrepare(A, &s));
  g = s->c->grid;
  PetscCall(StrataGridCheckVec(g, excess, "the excess"));
  for (l = 0; l < 2 * g->dim; l += step)
    PetscCall(StrataGridCheckVec(g, legs ? legs[l / step] : NULL, form == MAT_STRATA_FACES ? "the faces of an axis" : "a leg"));
  PetscCall(MatStrataBeginSet(A, form, &s));
  {
    /* all arrays in one memory: on the device if every vector is there */
    PetscBool host = PETSC_FALSE;

    for (l = -step; l < STRATA_LEGS; l += step) {
      Vec                v = l < 0 ? excess : l < 2 * g->dim ? legs[l / step] : NULL;
      const PetscScalar *p;
      PetscMemType       type;

      if (!v) continue;
      PetscCall(VecGetArrayReadAndMemType(v, &p, &type));
      if (PetscMemTypeHost(type)) host = PETSC_TRUE;
      PetscCall(VecRestoreArrayReadAndMemType(v, &p));
    }
    for (l = -step; l < STRATA_LEGS; l += step) {
      StrataArray       *array = l < 0 ? &s->c->cell : &s->c->legs[l];
      Vec                v = l < 0 ? excess : l < 2 * g->dim ? legs[l / step] : NULL;
      const size_t       bytes = (size_t)g->size_local * sizeof(PetscScalar);
      const PetscScalar *p;
      PetscMemType       type = host ? PETSC_MEMTYPE_HOST : PETSC_MEMTYPE_DEVICE;

      if (!v) { /* an axis that the grid lacks */
        void *zero;

        PetscCall(StrataArrayDestroy(array));
        PetscCall(StrataArrayCreate(array, bytes));
        PetscCall(StrataArrayWrite(array, PETSC_MEMTYPE_HOST, &zero));
        if (zero) PetscCall(PetscMemzero(zero, bytes));
      } else if (host) {
        PetscCall(VecGetArrayRead(v, &p));
        PetscCall(StrataArraySet(array, bytes, type, p));
        PetscCall(VecRestoreArrayRead(v, &p));
      } else {
        PetscCall(VecGetArrayReadAndMemType(v, &p, &type));
        PetscCall(StrataArraySet(array, bytes, type, p));
        PetscCall(VecRestoreArrayReadAndMemType(v, &p));
      }
    }
  }
  PetscCall(MatStrataEndSet(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatStrataGetVariable(Mat A, MatStrataForm form, Vec excess, const Vec legs[])
{
  Mat_Strata    *s;
  const PetscInt step = form == MAT_STRATA_FACES ? 2 : 1;
  PetscInt       l;

  PetscFunctionBegin;
  PetscCall(MatStrataNeedForm(A, form, &s));
  for (l = -step; l < 2 * s->c->grid->dim; l += step) {
    Vec                v = l < 0 ? excess : legs ? legs[l / step] : NULL;
    const PetscScalar *p;
    PetscScalar       *q;

    if (!v) continue;
    PetscCall(StrataGridCheckVec(s->c->grid, v, "coefficients"));
    PetscCall(StrataArrayRead(l < 0 ? &s->c->cell : &s->c->legs[l], PETSC_MEMTYPE_HOST, &p));
    PetscCall(VecGetArrayWrite(v, &q));
    PetscCall(PetscArraycpy(q, p, s->c->grid->size_local));
    PetscCall(VecRestoreArrayWrite(v, &q));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatStrataSetFaces - Gives an operator a symmetric stencil with one number for each face and each cell

  Collective

  Input Parameters:
+ A      - the operator, of type `MATSTRATA`
. excess - the sum of each row, diagonal entry plus legs, a vector of the DMDA
- faces  - for each dimension of the grid a vector of the DMDA: in each cell the off-diagonal entry that couples it to the cell before it

  Level: beginner

  Notes:
  For a diffusion operator the entry of a face is minus its conductance, and the excess is what is left in the row: the volume over the
  time step, and the conductances to boundary values. The entry on the low side of a direction that is not periodic is ignored.

  All numbers are copied; the vectors may be on the GPU, where they are copied without a detour. The operator costs one vector of memory
  traffic for each dimension and one for the excess.

  Call `MatAssemblyBegin()` and `MatAssemblyEnd()` after all coefficients and the mask are set.

.seealso: `MATSTRATA`, `MatStrataGetFaces()`, `MatStrataSetLegs()`, `MatStrataSetMask()`
@*/
PetscErrorCode MatStrataSetFaces(Mat A, Vec excess, const Vec faces[])
{
  PetscFunctionBegin;
  PetscCall(MatStrataSetVariable(A, MAT_STRATA_FACES, excess, faces));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatStrataGetFaces - The numbers of an operator in faces form

  Collective

  Input Parameters:
+ A      - the operator, of type `MATSTRATA`, in form `MAT_STRATA_FACES`
. excess - a vector of the DMDA, overwritten with the excess, or `NULL`
- faces  - for each dimension of the grid a vector of the DMDA, overwritten with the entries of the faces, or `NULL`

  Level: beginner

  Note:
  After assembly, entries of faces that are closed (sides, masked cells) are zero. `MatScale()` and `MatShift()` are kept apart, see
  `MatStrataGetScaleShift()`.

.seealso: `MATSTRATA`, `MatStrataSetFaces()`
@*/
PetscErrorCode MatStrataGetFaces(Mat A, Vec excess, const Vec faces[])
{
  PetscFunctionBegin;
  PetscCall(MatStrataGetVariable(A, MAT_STRATA_FACES, excess, faces));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatStrataSetLegs - Gives an operator a general stencil with a number for each leg of each cell

  Collective

  Input Parameters:
+ A      - the operator, of type `MATSTRATA`
. excess - the sum of each row, diagonal entry plus legs, a vector of the DMDA
- legs   - the off-diagonal entries of each row, vectors of the DMDA: west, east, south, north, bottom, top, two for each dimension of the grid

  Level: intermediate

  Notes:
  Entries of legs that would cross a side of a direction that is not periodic are ignored. A symmetric operator is cheaper in the form
  of `MatStrataSetFaces()`.

  All numbers are copied. Call `MatAssemblyBegin()` and `MatAssemblyEnd()` after all coefficients and the mask are set.

.seealso: `MATSTRATA`, `MatStrataGetLegs()`, `MatStrataSetFaces()`, `MatStrataSetMask()`
@*/
PetscErrorCode MatStrataSetLegs(Mat A, Vec excess, const Vec legs[])
{
  PetscFunctionBegin;
  PetscCall(MatStrataSetVariable(A, MAT_STRATA_LEGS, excess, legs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatStrataGetLegs - The numbers of an operator in legs form

  Collective

  Input Parameters:
+ A      - the operator, of type `MATSTRATA`, in form `MAT_STRATA_LEGS`
. excess - a vector of the DMDA, overwritten with the excess, or `NULL`
- legs   - two vectors of the DMDA for each dimension of the grid, overwritten with the legs, or `NULL`

  Level: intermediate

  Note:
  After assembly, legs that are not there (sides, masked cells) are zero. `MatScale()` and `MatShift()` are kept apart, see
  `MatStrataGetScaleShift()`.

.seealso: `MATSTRATA`, `MatStrataSetLegs()`
@*/
PetscErrorCode MatStrataGetLegs(Mat A, Vec excess, const Vec legs[])
{
  PetscFunctionBegin;
  PetscCall(MatStrataGetVariable(A, MAT_STRATA_LEGS, excess, legs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatStrataGetScaleShift - The two numbers in which `MatScale()` and `MatShift()` are kept

  Not Collective

  Input Parameter:
. A - the operator, of type `MATSTRATA`

  Output Parameters:
+ scale - factor of the operator that the coefficients give, or `NULL`
- shift - multiple of the identity added to it, or `NULL`

  Level: intermediate

  Note:
  A change of the two costs no work for each cell, here and in the preconditioners of Strata. Setting new coefficients resets them.

.seealso: `MATSTRATA`, `MatScale()`, `MatShift()`
@*/
PetscErrorCode MatStrataGetScaleShift(Mat A, PetscScalar *scale, PetscScalar *shift)
{
  Mat_Strata *s;

  PetscFunctionBegin;
  PetscCall(MatStrataContext(A, &s));
  if (scale) *scale = s->c ? s->c->scale : 1;
  if (shift) *shift = s->c ? s->c->shift : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Attaches the null space of a singular operator, and takes it away when a shift has made the operator regular */
static PetscErrorCode MatStrataUpdateNullSpace(Mat A, Mat_Strata *s)
{
  MatNullSpace attached;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(A, &attached));
  if (s->nullspace && s->c->shift == 0) {
    if (!attached) {
      PetscCall(MatSetNullSpace(A, s->nullspace));
      if (s->c->symmetric) PetscCall(MatSetTransposeNullSpace(A, s->nullspace));
    }
  } else if (attached && attached == s->nullspace) {
    PetscCall(MatSetNullSpace(A, NULL));
    PetscCall(MatSetTransposeNullSpace(A, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatView_Strata(Mat, PetscViewer);

/* Fails on all ranks if one was given other sides or another stencil than rank 0, or none */
static PetscErrorCode MatStrataCheckRanks(Mat A, StrataCoefficients c)
{
  PetscReal given[2 + 2 * STRATA_LEGS];
  PetscInt  count = 0, differs, m;

  PetscFunctionBegin;
  given[count++] = c->form;
  for (m = 0; m < STRATA_LEGS; m++) given[count++] = m < 2 * c->grid->dim ? c->side[m] : 0;
  given[count++] = c->form == MAT_STRATA_CONSTANT ? c->excess : 0;
  for (m = 0; m < STRATA_LEGS; m++) given[count++] = c->form == MAT_STRATA_CONSTANT ? c->leg[m] : 0;
  PetscCall(StrataFindDifference(PetscObjectComm((PetscObject)A), count, given, &differs));
  PetscCheck(differs < 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "The %s of the operator differ%s between ranks: all must make the same calls with the same numbers",
             differs == 0             ? "form"
             : differs <= STRATA_LEGS ? "sides"
                                      : "stencil",
             differs == 0 || differs > STRATA_LEGS ? "s" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAssemblyEnd_Strata(Mat A, MatAssemblyType type)
{
  Mat_Strata  *s;
  MatNullSpace attached;
  DM           dm;

  PetscFunctionBegin;
  if (type == MAT_FLUSH_ASSEMBLY) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStrataPrepare(A, &s));
  PetscCall(MatStrataCheckRanks(A, s->c));
  PetscCheck(s->c->form != MAT_STRATA_NONE, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The operator has no coefficients: call MatStrataSetConstant(), MatStrataSetTensor(), MatStrataSetFaces() or MatStrataSetLegs() first");
  PetscCall(StrataCoefficientsSetUp(s->c));
  PetscCall(StrataCoefficientsDestroy(&s->transpose));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, s->c->symmetric));
  PetscCall(MatShellSetOperation(A, MATOP_VIEW, (void (*)(void))MatView_Strata)); /* DMCreateMatrix() has put that of AIJ matrices there */
  A->num_ass = 0; /* from the second assembly on PETSc forgets what it knows of symmetry, after this */
  PetscCall(MatGetNullSpace(A, &attached));
  if (attached && attached == s->nullspace) {
    PetscCall(MatSetNullSpace(A, NULL));
    PetscCall(MatSetTransposeNullSpace(A, NULL));
  }
  PetscCall(MatNullSpaceDestroy(&s->nullspace));
  PetscCall(MatGetDM(A, &dm));
  PetscCall(StrataCoefficientsNullSpace(s->c, dm, &s->nullspace, &s->components));
  PetscCall(MatStrataUpdateNullSpace(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors of a product, NULL for none */
static PetscErrorCode MatStrataCheckVecs(Mat A, Vec x, Vec add, Vec y)
{
  const Vec all[3] = {x, add, y};

  PetscFunctionBegin;
  for (int m = 0; m < 3; m++)
    if (all[m]) PetscCall(StrataMatCheckVec(A, all[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatStrataMultLogged(StrataCoefficients c, StrataHalo halo, PetscInt nv, const PetscScalar *x, PetscInt ldx,
                                          const PetscScalar *add, PetscScalar *y, PetscInt ldy, PetscMemType type)
{
  const PetscLogDouble flops = 6.0 * c->grid->dim * (PetscLogDouble)c->grid->size_local * nv;

  PetscFunctionBegin;
  if (PetscMemTypeDevice(type)) PetscCall(PetscLogGpuTimeBegin());
  PetscCall(StrataCoefficientsMult(c, halo, (int)nv, x, ldx, add, y, ldy, type));
  if (PetscMemTypeDevice(type)) {
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PetscLogGpuFlops(flops));
  } else
    PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStrataMultArrays(Mat A, PetscInt nv, const PetscScalar *x, PetscInt ldx, PetscScalar *y, PetscInt ldy, PetscMemType type)
{
  Mat_Strata *s;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &s));
  PetscCall(MatStrataMultLogged(s->c, s->halo, nv, x, ldx, NULL, y, ldy, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = add + A x for any two or three vectors, with the operator or its transpose */
static PetscErrorCode MatStrataApply(Mat A, StrataCoefficients c, StrataHalo halo, Vec x, Vec add, Vec y)
{
  const PetscScalar *ax, *aadd;
  PetscScalar       *ay;
  PetscMemType       type;
  const PetscInt     n = c->grid->size_local;

  PetscFunctionBegin;
  PetscCheck(x != y, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_IDN, "x and y must be different vectors");
  PetscCall(StrataVecGetArrays(x, add, y, &ax, &aadd, &ay, &type));
  PetscCall(MatStrataMultLogged(c, halo, 1, ax, n, aadd, ay, n, type));
  PetscCall(StrataVecRestoreArrays(x, add, y, &ax, &aadd, &ay, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_Strata(Mat A, Vec x, Vec y)
{
  Mat_Strata *s;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &s));
  PetscCall(MatStrataCheckVecs(A, x, NULL, y));
  PetscCall(MatStrataApply(A, s->c, s->halo, x, NULL, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultAdd_Strata(Mat A, Vec x, Vec add, Vec y)
{
  Mat_Strata *s;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &s));
  PetscCall(MatStrataCheckVecs(A, x, add, y));
  PetscCall(MatStrataApply(A, s->c, s->halo, x, add, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r = b - A x: scale and shift are two numbers */
static PetscErrorCode MatResidual_Strata(Mat A, Vec b, Vec x, Vec r)
{
  Mat_Strata    *s;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &s));
  PetscCall(MatStrataCheckVecs(A, x, b, r));
  s->c->scale = -s->c->scale;
  s->c->shift = -s->c->shift;
  ierr = MatStrataApply(A, s->c, s->halo, x, b, r);
  s->c->scale = -s->c->scale;
  s->c->shift = -s->c->shift;
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatStrataGetTranspose(Mat_Strata *s, Vec x, StrataCoefficients *c)
{
  const PetscScalar *p;
  PetscMemType       type;

  PetscFunctionBegin;
  *c = s->c;
  if (s->c->symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->transpose && (s->transposescale != s->c->scale || s->transposeshift != s->c->shift)) PetscCall(StrataCoefficientsDestroy(&s->transpose));
  if (!s->transpose) {
    PetscCall(VecGetArrayReadAndMemType(x, &p, &type));
    PetscCall(StrataCoefficientsTranspose(s->c, type, &s->transpose));
    PetscCall(VecRestoreArrayReadAndMemType(x, &p));
    s->transposescale = s->c->scale;
    s->transposeshift = s->c->shift;
  }
  *c = s->transpose;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTransposeAdd_Strata(Mat A, Vec x, Vec add, Vec y)
{
  Mat_Strata        *s;
  StrataCoefficients c;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &s));
  PetscCall(MatStrataCheckVecs(A, x, add, y));
  PetscCall(MatStrataGetTranspose(s, x, &c));
  PetscCall(MatStrataApply(A, c, s->halo, x, add, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_Strata(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatMultTransposeAdd_Strata(A, x, NULL, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetDiagonal_Strata(Mat A, Vec d)
{
  Mat_Strata  *s;
  PetscScalar *p;
  PetscMemType type;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &s));
  PetscCall(MatStrataCheckVecs(A, NULL, NULL, d));
  PetscCall(VecGetArrayWriteAndMemType(d, &p, &type));
  PetscCall(StrataCoefficientsRows(s->c, STRATA_ROW_DIAGONAL, 0, type, p));
  PetscCall(VecRestoreArrayWriteAndMemType(d, &p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatNorm_Strata(Mat A, NormType norm, PetscReal *value)
{
  Mat_Strata  *s;
  Mat          B;
  StrataArray  rows;
  PetscScalar *p;
  PetscMemType type;
  PetscInt     a;

  PetscFunctionBegin;
  PetscCheck(norm == NORM_INFINITY, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "A matrix of type %s has the infinity norm only (NORM_INFINITY)",
             MATSTRATA);
  PetscCall(MatShellGetContext(A, &s));
  for (a = 0; a < 3; a++)
    if (s->c->grid->periodic[a] && s->c->grid->N[a] == 2) { /* two legs are one entry, their signs may differ */
      PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
      PetscCall(MatNorm(B, norm, value));
      PetscCall(MatDestroy(&B));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  PetscCall(StrataCoefficientsGetMemType(s->c, &type));
  PetscCall(StrataArrayCreate(&rows, (size_t)s->c->grid->size_local * sizeof(PetscScalar)));
  PetscCall(StrataArrayWrite(&rows, type, &p));
  PetscCall(StrataCoefficientsRows(s->c, STRATA_ROW_ABSSUM, 0, type, p));
  PetscCall(StrataGridReduce(s->c->grid, STRATA_REDUCE_MAXABS, p, NULL, type, value));
  PetscCall(StrataArrayDestroy(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatScale_Strata(Mat A, PetscScalar a)
{
  Mat_Strata *s;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &s));
  s->c->scale *= a;
  s->c->shift *= a;
  PetscCall(MatStrataUpdateNullSpace(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShift_Strata(Mat A, PetscScalar a)
{
  Mat_Strata *s;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &s));
  s->c->shift += a;
  PetscCall(MatStrataUpdateNullSpace(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Y += a X. Constant forms stay constant; others are written out, as faces if both are symmetric, else as legs. */
static PetscErrorCode MatAXPY_Strata(Mat Y, PetscScalar a, Mat X, MatStructure str)
{
  Mat_Strata        *y, *x;
  StrataCoefficients cy, cx, e = NULL, f = NULL;
  PetscBool          same = PETSC_TRUE;
  PetscInt           l, i;

  PetscFunctionBegin;
  (void)str;
  PetscCall(PetscLayoutCompare(X->rmap, Y->rmap, &same));
  PetscCheck(same, PetscObjectComm((PetscObject)Y), PETSC_ERR_ARG_SIZ,
             "MatAXPY() of Strata operators: other ranks own the rows of X than those of Y");
  PetscCall(MatStrataContext(X, &x));
  PetscCall(MatStrataContext(Y, &y));
  PetscCheck(X->assembled, PetscObjectComm((PetscObject)X), PETSC_ERR_ARG_WRONGSTATE, "X is not assembled");
  cy = y->c;
  cx = x->c;
  PetscCall(StrataGridCheckSame(cy->grid, cx->grid, "MatAXPY() of Strata operators"));
  if (cy->hasmask != cx->hasmask)
    same = PETSC_FALSE;
  else if (cy->hasmask) {
    const unsigned char *my, *mx;

    PetscCall(StrataArrayRead(&cy->mask, PETSC_MEMTYPE_HOST, &my));
    PetscCall(StrataArrayRead(&cx->mask, PETSC_MEMTYPE_HOST, &mx));
    for (i = 0; i < cy->grid->size_local; i++) same = (PetscBool)(same && my[i] == mx[i]);
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &same, 1, STRATA_MPI_BOOL, MPI_LAND, cy->grid->comm));
  PetscCheck(same, PetscObjectComm((PetscObject)Y), PETSC_ERR_ARG_INCOMP, "MatAXPY() of Strata operators: the masks differ");
  for (l = 0; l < 2 * cy->grid->dim; l++)
    if (cy->side[l] != cx->side[l]) same = PETSC_FALSE;
  if (cy->form == MAT_STRATA_CONSTANT && cx->form == MAT_STRATA_CONSTANT && same) {
    cy->excess = cy->scale * cy->excess + a * cx->scale * cx->excess;
    for (l = 0; l < STRATA_LEGS; l++) cy->leg[l] = cy->scale * cy->leg[l] + a * cx->scale * cx->leg[l];
    cy->masked = cy->scale * cy->masked + a * cx->scale * cx->masked;
    cy->shift += a * cx->shift;
    cy->scale = 1;
  } else {
    PetscCall(StrataCoefficientsExpand(cy, PETSC_MEMTYPE_HOST, &e));
    PetscCall(StrataCoefficientsExpand(cx, PETSC_MEMTYPE_HOST, &f));
    for (l = -1; l < STRATA_LEGS; l++) {
      PetscScalar       *py;
      const PetscScalar *px;

      PetscCall(StrataArrayUpdate(l < 0 ? &e->cell : &e->legs[l], PETSC_MEMTYPE_HOST, &py));
      PetscCall(StrataArrayRead(l < 0 ? &f->cell : &f->legs[l], PETSC_MEMTYPE_HOST, &px));
      for (i = 0; i < cy->grid->size_local; i++) py[i] += a * px[i];
    }
    e->masked = e->masked + a * f->masked;
    e->state = cy->state;
    if (cy->symmetric && cx->symmetric) PetscCall(StrataCoefficientsUseFaces(e));
    PetscCall(StrataCoefficientsDestroy(&f));
    PetscCall(StrataCoefficientsDestroy(&y->c));
    y->c = e;
  }
  PetscCall(MatAssemblyEnd_Strata(Y, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateVecs_Strata(Mat A, Vec *right, Vec *left)
{
  DM dm;

  PetscFunctionBegin;
  PetscCall(MatStrataGetDM(A, &dm));
  if (right) PetscCall(DMCreateGlobalVector(dm, right));
  if (left) PetscCall(DMCreateGlobalVector(dm, left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDuplicate_Strata(Mat A, MatDuplicateOption option, Mat *B)
{
  Mat_Strata *s, *t;
  DM          dm;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &s));
  PetscCall(MatStrataGetDM(A, &dm));
  PetscCall(MatCreateStrata(dm, B));
  PetscCall(MatStrataPrepare(*B, &t));
  if (option != MAT_COPY_VALUES) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCoefficientsDestroy(&t->c));
  PetscCall(StrataCoefficientsDuplicate(s->c, &t->c));
  if (!A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectReference((PetscObject)s->nullspace));
  t->nullspace = s->nullspace;
  t->components = s->components;
  (*B)->assembled = PETSC_TRUE;
  PetscCall(MatSetOption(*B, MAT_SYMMETRIC, t->c->symmetric));
  PetscCall(MatStrataUpdateNullSpace(*B, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCopy_Strata(Mat A, Mat B, MatStructure str)
{
  Mat_Strata        *s;
  StrataCoefficients own;

  PetscFunctionBegin;
  (void)str;
  PetscCall(MatStrataContext(B, &s));
  PetscCall(MatShellGetContext(A, &s));
  PetscCall(StrataCoefficientsDuplicate(s->c, &own));
  PetscCall(MatStrataReplaceCoefficients(B, own));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Not left out: MatGetRow() of older versions of PETSc does not ask whether there is one */
static PetscErrorCode MatGetRow_Strata(Mat A, PetscInt row, PetscInt *count, PetscInt **cols, PetscScalar **values)
{
  PetscFunctionBegin;
  (void)row;
  (void)count;
  (void)cols;
  (void)values;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "The rows of a matrix of type %s are not stored: convert it to %s with MatConvert()", MATSTRATA, MATAIJ);
}

/* What MatConvert() calls for types that nobody has told it how to convert */
static PetscErrorCode MatConvertFrom_Strata(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  PetscBool isstrata;

  PetscFunctionBegin;
  (void)type;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSTRATA, &isstrata));
  PetscCheck(isstrata && reuse == MAT_REUSE_MATRIX, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "Matrices of type %s are made of type %s, not %s: convert to that first, with MatConvert() or -mat_type", MATSTRATA, MATAIJ,
             ((PetscObject)A)->type_name);
  PetscCall(MatCopy(A, *B, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatView_Strata(Mat A, PetscViewer viewer)
{
  Mat_Strata       *s;
  StrataGrid        g;
  PetscViewerFormat format;
  PetscBool         ascii, file;
  PetscInt          a, masked = 0, i;
  char              line[64];

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)viewer, &file, PETSCVIEWERBINARY, PETSCVIEWERHDF5, ""));
  PetscCheck(!file, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "A matrix of type %s is not written to files: convert it to %s with MatConvert()",
             MATSTRATA, MATAIJ);
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerGetFormat(viewer, &format));
  PetscCall(MatShellGetContext(A, &s));
  if (!s->c) PetscFunctionReturn(PETSC_SUCCESS);
  g = s->c->grid;
  if (s->c->hasmask) {
    const unsigned char *m;

    PetscCall(StrataArrayRead(&s->c->mask, PETSC_MEMTYPE_HOST, &m));
    for (i = 0; i < g->size_local; i++) masked += m[i];
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &masked, 1, MPIU_INT, MPI_SUM, g->comm));
  }
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "grid %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " on %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " ranks\n",
      g->N[0], g->N[1], g->N[2], g->procs[0], g->procs[1], g->procs[2]));
  PetscCall(PetscSNPrintf(line, sizeof(line), "%s%s", MatStrataForms[s->c->form],
                          s->c->form == MAT_STRATA_TENSOR ? s->c->axis == 0   ? ", columns along x"
                                                            : s->c->axis == 1 ? ", columns along y"
                                                                              : ", columns along z"
                                                          : ""));
  PetscCall(PetscViewerASCIIPrintf(viewer, "coefficients in form %s, %s, scale %g, shift %g\n", line, s->c->symmetric ? "symmetric" : "not symmetric",
                                   (double)s->c->scale, (double)s->c->shift));
  for (a = 0; a < g->dim; a++) {
    const char *kind;

    if (g->periodic[a])
      kind = "periodic";
    else if (s->c->form == MAT_STRATA_FACES || s->c->form == MAT_STRATA_LEGS)
      kind = "in the coefficients";
    else if (s->c->side[2 * a] == s->c->side[2 * a + 1])
      kind = MatStrataSides[s->c->side[2 * a]];
    else
      kind = s->c->side[2 * a] == MAT_STRATA_NEUMANN ? "Neumann and Dirichlet" : "Dirichlet and Neumann";
    PetscCall(PetscViewerASCIIPrintf(viewer, "sides along %c: %s\n", (char)('x' + a), kind));
  }
  if (s->c->hasmask) PetscCall(PetscViewerASCIIPrintf(viewer, "masked cells: %" PetscInt_FMT "\n", masked));
  if (s->nullspace)
    PetscCall(PetscViewerASCIIPrintf(viewer, "singular: null space of %" PetscInt_FMT " connected component%s%s\n", s->components,
                                     s->components == 1 ? "" : "s", s->c->shift == 0 ? "" : ", lifted by the shift"));
  else if (s->components)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt_FMT " connected components, too many to look for a null space\n", s->components));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_Strata(Mat A)
{
  PetscFunctionBegin;
  PetscCall(StrataComposeConversions(A, PETSC_FALSE));
  PetscCall(StrataComposeProducts(A, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Not in MatDestroy_Strata(), which MatHeaderReplace() of older versions of PETSc leaves out */
static PetscErrorCode MatStrataContextDestroy(STRATA_DESTROY_ARGUMENT arg)
{
  Mat_Strata *s = (Mat_Strata *)StrataContextOf(arg);

  PetscFunctionBegin;
  PetscCall(StrataHaloDestroy(&s->halo));
  PetscCall(StrataCoefficientsDestroy(&s->c));
  PetscCall(StrataCoefficientsDestroy(&s->transpose));
  PetscCall(MatNullSpaceDestroy(&s->nullspace));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  MATSTRATA - "strata", a matrix-free operator with the star stencil on a `DMDA` with one degree of freedom: 3 points in one dimension,
  5 in two, 7 in three

  Level: beginner

  Notes:
  Its coefficients come in one of the forms of `MatStrataForm`, with Dirichlet, Neumann and periodic sides and with masked cells. It works
  on host and on CUDA vectors, wherever the vectors are, with the same bits.

  It supports `MatMult()` and its relatives, also transposed, `MatGetDiagonal()`, `MatNorm()` with `NORM_INFINITY`, `MatDuplicate()`, `MatCopy()`,
  `MatScale()`, `MatShift()`, `MatAXPY()` between operators on the same grid, and conversion to and from `MATAIJ` with `MatConvert()`.

  A singular operator (its rows sum to zero and no side is of type Dirichlet) gets its null space attached: one vector for each
  connected component of cells. For operators with numbers of each cell and no mask this is looked for if all rows sum to zero. With more
  than 64 components none is attached.

.seealso: `MatCreateStrata()`, `MatStrataSetConstant()`, `MatStrataSetTensor()`, `MatStrataSetFaces()`, `MatStrataSetLegs()`, `PCCOLUMN`
M*/
PetscErrorCode MatCreate_Strata(Mat A)
{
  Mat_Strata *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  PetscCall(MatSetType(A, MATSHELL));
  PetscCall(MatShellSetContext(A, s));
  PetscCall(MatShellSetContextDestroy(A, MatStrataContextDestroy));
  PetscCall(MatShellSetManageScalingShifts(A)); /* the operator keeps scale and shift itself, where preconditioners see them */
#define SET(op, f) PetscCall(MatShellSetOperation(A, MATOP_##op, (void (*)(void))f))
  SET(MULT, MatMult_Strata);
  SET(MULT_ADD, MatMultAdd_Strata);
  SET(RESIDUAL, MatResidual_Strata);
  SET(MULT_TRANSPOSE, MatMultTranspose_Strata);
  SET(MULT_TRANSPOSE_ADD, MatMultTransposeAdd_Strata);
  SET(GET_DIAGONAL, MatGetDiagonal_Strata);
  SET(NORM, MatNorm_Strata);
  SET(SCALE, MatScale_Strata);
  SET(SHIFT, MatShift_Strata);
  SET(AXPY, MatAXPY_Strata);
  SET(ASSEMBLY_END, MatAssemblyEnd_Strata);
  SET(DUPLICATE, MatDuplicate_Strata);
  SET(CREATE_VECS, MatCreateVecs_Strata);
  SET(VIEW, MatView_Strata);
  SET(DESTROY, MatDestroy_Strata);
#undef SET
  A->ops->copy = MatCopy_Strata; /* those of MATSHELL would act on numbers of its own, which nobody reads */
  A->ops->convertfrom = MatConvertFrom_Strata;
  A->ops->getrow = MatGetRow_Strata;
  A->ops->zerorows = NULL;
  A->ops->zerorowscolumns = NULL;
  PetscCall(StrataComposeConversions(A, PETSC_TRUE));
  PetscCall(StrataComposeProducts(A, PETSC_TRUE));
  A->assembled = PETSC_FALSE;
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATSTRATA));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatCreateStrata - Creates a matrix-free operator on a grid

  Collective

  Input Parameter:
. dm - a `DMDA` of dimension 1, 2 or 3 with one degree of freedom and boundaries of type none, ghosted or periodic

  Output Parameter:
. A - the operator, of type `MATSTRATA`

  Level: beginner

  Notes:
  Set its coefficients with one of `MatStrataSetConstant()`, `MatStrataSetTensor()`, `MatStrataSetFaces()` and `MatStrataSetLegs()`, then
  call `MatAssemblyBegin()` and `MatAssemblyEnd()`.

  Rows are numbered as in the vectors of the `DMDA`. `MatCreateVecs()` gives vectors of the type of the `DMDA` (`-dm_vec_type cuda`).

.seealso: `MATSTRATA`, `StrataInitializePackage()`
@*/
PetscErrorCode MatCreateStrata(DM dm, Mat *A)
{
  StrataGrid  grid;
  Mat_Strata *s;

  PetscFunctionBegin;
  PetscCheck(dm, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "There is no DM: create a DMDA with DMDACreate1d(), DMDACreate2d() or DMDACreate3d()");
  PetscValidHeaderSpecific(dm, DM_CLASSID, 1);
  PetscCall(StrataInitializePackage());
  PetscCall(StrataGridCreateDMDA(dm, &grid));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)dm), A));
  PetscCall(MatSetSizes(*A, grid->size_local, grid->size_local, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, MATSTRATA));
  PetscCall(MatSetDM(*A, dm));
  PetscCall(MatSetUp(*A));
  PetscCall(MatShellGetContext(*A, &s));
  PetscCall(MatStrataUseGrid(s, grid));
  PetscCall(StrataGridDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStrataGetGrid(Mat A, StrataGrid *grid)
{
  Mat_Strata *s;

  PetscFunctionBegin;
  PetscCall(MatStrataPrepare(A, &s));
  *grid = s->c->grid;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coefficients, for the other rooms */
PetscErrorCode MatStrataGetCoefficients(Mat A, StrataCoefficients *c)
{
  Mat_Strata *s;

  PetscFunctionBegin;
  PetscCall(MatStrataPrepare(A, &s));
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The operator is not assembled: call MatAssemblyBegin() and MatAssemblyEnd()");
  *c = s->c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts coefficients in the place of those of the matrix, which takes the reference */
PetscErrorCode MatStrataReplaceCoefficients(Mat A, StrataCoefficients c)
{
  Mat_Strata *s;

  PetscFunctionBegin;
  PetscCall(MatStrataPrepare(A, &s));
  PetscCall(StrataGridCheckSame(s->c->grid, c->grid, "Conversion to a Strata operator that exists"));
  PetscCall(StrataCoefficientsDestroy(&s->c));
  s->c = c;
  PetscCall(MatStrataEndSet(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
