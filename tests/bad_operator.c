/*
   Wrong use of the operator: an error on every rank that says what is wrong and what to do, and never a wrong answer in silence. What
   depends on what an operator was given before is in operator.c.
*/
/* ranks: 1 3 */
#include "problems.h"

static PetscMPIInt rank, size;

/* A grid on all ranks, cut along its last axis; boundary: of the first */
static PetscErrorCode MakeGrid(PetscInt dim, PetscInt N0, PetscInt N1, PetscInt N2, DMBoundaryType boundary, DM *dm)
{
  const PetscInt       N[3] = {N0, N1, N2}, procs[3] = {dim == 1 ? size : 1, dim == 2 ? size : 1, dim == 3 ? size : 1};
  const DMBoundaryType boundaries[3] = {boundary, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE};

  PetscFunctionBeginUser;
  PetscCall(CreateDMDA(PETSC_COMM_WORLD, dim, N, procs, boundaries, 1, dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const PetscScalar laplace[6] = {-1, -1, -1, -1, -1, -1};

static PetscErrorCode Assemble(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeOperator(DM dm, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateStrata(dm, A));
  PetscCall(MatStrataSetConstant(*A, 1, laplace));
  PetscCall(Assemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector with n entries on this rank */
static PetscErrorCode MakeVec(PetscInt n, Vec *v)
{
  PetscFunctionBeginUser;
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, n, PETSC_DETERMINE, v));
  PetscCall(VecSet(*v, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- grids ---------------------------------------------------------------------------------------------------------------------------- */

static PetscErrorCode TestGrids(void)
{
  DM  dm;
  Mat A;

  PetscFunctionBeginUser;
  is_error(MatCreateStrata(NULL, &A), PETSC_ERR_ARG_NULL, "no DM DMDACreate1d()", "no DM");
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  is_error(MatCreateStrata(dm, &A), PETSC_ERR_ARG_WRONG, "DMDA, not set DMDACreate2d()", "a DM without type");
  PetscCall(DMSetType(dm, DMSHELL));
  is_error(MatCreateStrata(dm, &A), PETSC_ERR_ARG_WRONG, "DMDA, not shell DMDACreate3d()", "a DM that is no DMDA");
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 9, 1, 1, NULL, &dm));
  is_error(MatCreateStrata(dm, &A), PETSC_ERR_ARG_WRONGSTATE, "not set up: DMSetUp()", "a DMDA that is not set up");
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 9, 2, 1, NULL, &dm));
  PetscCall(DMSetUp(dm));
  is_error(MatCreateStrata(dm, &A), PETSC_ERR_SUP, "2 degrees of freedom fieldsplit", "two degrees of freedom");
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_MIRROR, 9, 1, 1, NULL, &dm));
  PetscCall(DMSetUp(dm));
  is_error(MatCreateStrata(dm, &A), PETSC_ERR_SUP, "MIRROR axis x none, ghosted periodic", "a mirror boundary");
  PetscCall(DMDestroy(&dm));
  PetscCall(
      DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_MIRROR, DMDA_STENCIL_STAR, 9, 8, 1, PETSC_DECIDE, 1, 1, NULL, NULL, &dm));
  PetscCall(DMSetUp(dm));
  is_error(MatCreateStrata(dm, &A), PETSC_ERR_SUP, "MIRROR axis y none, ghosted periodic", "a mirror boundary along y");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix whose type was set by name, without a grid, or with one that is not its own */
static PetscErrorCode TestNoGrid(void)
{
  const PetscInt      n = 12, mine = size == 1 ? 13 : rank == 2 ? 12 : 13 - 2 * rank;
  const MatStrataSide sides[6] = {0};
  const char         *words = "no grid: MatCreateStrata() DMDA MatSetDM()";
  MatStrataSide       got[6];
  MatStrataForm       form;
  PetscScalar         excess, scale, shift;
  Vec                 v, w, all[6];
  DM                  dm;
  Mat                 A, B;

  PetscFunctionBeginUser;
  PetscCall(MakeVec(n, &v));
  for (int l = 0; l < 6; l++) all[l] = v;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(A, MATSTRATA));
  PetscCall(MatSetUp(A));
  is_error(MatStrataSetSides(A, sides), PETSC_ERR_ARG_WRONGSTATE, words, "no grid: sides");
  is_error(MatStrataGetSides(A, got), PETSC_ERR_ARG_WRONGSTATE, words, "no grid: getting sides");
  is_error(MatStrataSetMask(A, v), PETSC_ERR_ARG_WRONGSTATE, words, "no grid: mask");
  is_error(MatStrataSetMask(A, NULL), PETSC_ERR_ARG_WRONGSTATE, words, "no grid: no mask");
  is_error(MatStrataGetMask(A, v), PETSC_ERR_ARG_WRONGSTATE, words, "no grid: getting the mask");
  is_error(MatStrataSetConstant(A, 1, laplace), PETSC_ERR_ARG_WRONGSTATE, words, "no grid: constant form");
  is_error(MatStrataSetTensor(A, 0, 1, laplace, laplace, 1, laplace), PETSC_ERR_ARG_WRONGSTATE, words, "no grid: tensor form");
  is_error(MatStrataSetFaces(A, v, all), PETSC_ERR_ARG_WRONGSTATE, words, "no grid: faces form");
  is_error(MatStrataSetLegs(A, v, all), PETSC_ERR_ARG_WRONGSTATE, words, "no grid: legs form");
  is_error(StrataPressureSetOperator(A, 2, 1, 1, 1), PETSC_ERR_ARG_WRONGSTATE, words, "no grid: pressure operator");
  is_error(MatCreateVecs(A, &w, NULL), PETSC_ERR_ARG_WRONGSTATE, words, "no grid: vectors");
  is_error(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &B), PETSC_ERR_ARG_WRONGSTATE, words, "no grid: a duplicate");
  is_error(Assemble(A), PETSC_ERR_ARG_WRONGSTATE, words, "no grid: assembly");
  is_error(MatStrataGetConstant(A, &excess, NULL), PETSC_ERR_ARG_WRONGSTATE, "form none, not constant", "no grid: getting a form");
  PetscCall(MatStrataGetForm(A, &form));
  PetscCall(MatStrataGetScaleShift(A, &scale, &shift));
  ok(form == MAT_STRATA_NONE && scale == 1 && shift == 0, "no grid: no form");

  PetscCall(MakeGrid(1, 12 * size + 1, 1, 1, DM_BOUNDARY_NONE, &dm));
  PetscCall(MatSetDM(A, dm));
  is_error(MatStrataSetConstant(A, 1, laplace), PETSC_ERR_ARG_SIZ,
           TapText("%d rows DMDA %d x 1 x 1 cells DMCreateMatrix()", (int)(12 * size), (int)(12 * size + 1)), "a grid of another size");
  PetscCall(DMDestroy(&dm));
  PetscCall(MatDestroy(&A));

  PetscCall(MakeGrid(2, 4, 3 * size, 1, DM_BOUNDARY_NONE, &dm));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, mine, mine, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(A, MATSTRATA));
  PetscCall(MatSetDM(A, dm));
  PetscCall(MatSetUp(A));
  is_error(MatStrataSetConstant(A, 1, laplace), PETSC_ERR_ARG_SIZ, "rows DMDA 4 cells other ranks own DMCreateMatrix()", "rows on other ranks");
  PetscCall(MatDestroy(&A));

  PetscCall(MatCreate(PETSC_COMM_WORLD, &A)); /* getters do not need all ranks, and so make no grid */
  PetscCall(MatSetSizes(A, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(A, MATSTRATA));
  PetscCall(MatSetDM(A, dm));
  got[3] = MAT_STRATA_NEUMANN;
  if (!rank) PetscCall(MatStrataGetSides(A, got));
  ok(got[3] == (rank ? MAT_STRATA_NEUMANN : MAT_STRATA_DIRICHLET), "sides before all else, asked for on one rank");
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every function with a matrix of another type, and with none */
static PetscErrorCode TestTypes(void)
{
  DM  dm;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MakeGrid(2, 4, 6, 1, DM_BOUNDARY_NONE, &dm));
  PetscCall(DMCreateMatrix(dm, &A));
  for (int none = 0; none < 2; none++) {
    const PetscErrorCode code = none ? PETSC_ERR_ARG_NULL : PETSC_ERR_ARG_WRONG;
    const char          *words = none ? "no matrix MatCreateStrata()" : "aij, not strata: MatCreateStrata()", *what = none ? "no matrix" : "type AIJ";
    Mat                  M = none ? NULL : A;
    MatStrataForm        form;
    MatStrataSide        sides[6] = {0};
    PetscScalar          scale;

    is_error(MatStrataGetForm(M, &form), code, words, "%s: MatStrataGetForm()", what);
    is_error(MatStrataSetSides(M, sides), code, words, "%s: MatStrataSetSides()", what);
    is_error(MatStrataGetSides(M, sides), code, words, "%s: MatStrataGetSides()", what);
    is_error(MatStrataSetMask(M, NULL), code, words, "%s: MatStrataSetMask()", what);
    is_error(MatStrataGetMask(M, NULL), code, words, "%s: MatStrataGetMask()", what);
    is_error(MatStrataSetConstant(M, 1, laplace), code, words, "%s: MatStrataSetConstant()", what);
    is_error(MatStrataGetConstant(M, NULL, NULL), code, words, "%s: MatStrataGetConstant()", what);
    is_error(MatStrataSetTensor(M, 0, 1, laplace, laplace, 1, laplace), code, words, "%s: MatStrataSetTensor()", what);
    is_error(MatStrataGetTensor(M, NULL, NULL, NULL, NULL, NULL, NULL), code, words, "%s: MatStrataGetTensor()", what);
    is_error(MatStrataSetFaces(M, NULL, NULL), code, words, "%s: MatStrataSetFaces()", what);
    is_error(MatStrataGetFaces(M, NULL, NULL), code, words, "%s: MatStrataGetFaces()", what);
    is_error(MatStrataSetLegs(M, NULL, NULL), code, words, "%s: MatStrataSetLegs()", what);
    is_error(MatStrataGetLegs(M, NULL, NULL), code, words, "%s: MatStrataGetLegs()", what);
    is_error(MatStrataGetScaleShift(M, &scale, NULL), code, words, "%s: MatStrataGetScaleShift()", what);
    is_error(StrataPressureSetOperator(M, 2, 1, 1, 1), code, words, "%s: StrataPressureSetOperator()", what);
    is_error(StrataPressureSetRHS(M, 2, 1, NULL), code, words, "%s: StrataPressureSetRHS()", what);
  }
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- coefficients ------------------------------------------------------------------------------------------------------------------------ */

/* Arrays and vectors that are missing or of the wrong length, on the last rank alone where that makes a difference */
static PetscErrorCode TestArrays(void)
{
  const int           last = rank == size - 1;
  const PetscScalar   numbers[64] = {0};
  const MatStrataSide sides[4] = {0, 0, 0, (MatStrataSide)7};
  Vec                 right, wrong, vecs[4];
  DM                  dm;
  Mat                 A;

  PetscFunctionBeginUser;
  PetscCall(MakeGrid(2, 5, 2 * size, 1, DM_BOUNDARY_NONE, &dm));
  PetscCall(MatCreateStrata(dm, &A));
  is_error(MatStrataSetSides(A, NULL), PETSC_ERR_ARG_NULL, "sides missing 4", "no sides");
  is_error(MatStrataSetSides(A, sides), PETSC_ERR_ARG_OUTOFRANGE, "Side 3 is 7 MAT_STRATA_DIRICHLET MAT_STRATA_NEUMANN", "a side that is none");
  is_error(MatStrataSetConstant(A, 1, NULL), PETSC_ERR_ARG_NULL, "legs missing 4", "no legs");

  /* boxes of 5 x 2 cells */
  for (PetscInt axis = -1; axis < 3; axis += axis < 0 ? 3 : 1)
    is_error(MatStrataSetTensor(A, axis, 5, numbers, numbers, 2, numbers), PETSC_ERR_ARG_OUTOFRANGE,
             TapText("axis %d grid has 2 axes, counted from 0", (int)axis), "columns along axis %d", (int)axis);
  is_error(MatStrataSetTensor(A, 1, last ? 4 : 5, numbers, numbers, 2, numbers), PETSC_ERR_ARG_SIZ, "columns rank box 5 columns MatStrataSetTensor()",
           "too few columns");
  is_error(MatStrataSetTensor(A, 1, 5, numbers, numbers, last ? 3 : 2, numbers), PETSC_ERR_ARG_SIZ, "levels rank box 2 levels own",
           "too many levels");
  is_error(MatStrataSetTensor(A, 1, 5, last ? NULL : numbers, numbers, 2, numbers), PETSC_ERR_ARG_NULL, "missing area", "no area");
  is_error(MatStrataSetTensor(A, 1, 5, numbers, last ? NULL : numbers, 2, numbers), PETSC_ERR_ARG_NULL, "missing alpha", "no alpha");
  is_error(MatStrataSetTensor(A, 1, 5, numbers, numbers, 2, last ? NULL : numbers), PETSC_ERR_ARG_NULL, "missing level", "no level");

  PetscCall(MakeVec(10, &right));
  PetscCall(MakeVec(last ? 11 : 10, &wrong));
  for (int l = 0; l < 4; l++) vecs[l] = right;
  for (int bad = 0; bad < 2; bad++) {
    Vec         v = bad ? wrong : NULL;
    const char *what = bad ? "of the wrong length" : "missing";

    is_error(MatStrataSetFaces(A, v, vecs), PETSC_ERR_ARG_SIZ, "vector excess DMCreateGlobalVector()", "faces form: the excess is %s", what);
    is_error(MatStrataSetLegs(A, v, vecs), PETSC_ERR_ARG_SIZ, "vector excess DMCreateGlobalVector()", "legs form: the excess is %s", what);
    vecs[1] = v;
    is_error(MatStrataSetFaces(A, right, vecs), PETSC_ERR_ARG_SIZ, "vector faces of an axis DMCreateGlobalVector()", "a vector of faces is %s", what);
    vecs[1] = right;
    vecs[3] = v;
    is_error(MatStrataSetLegs(A, right, vecs), PETSC_ERR_ARG_SIZ, "vector a leg DMCreateGlobalVector()", "a leg is %s", what);
    vecs[3] = right;
    is_error(MatStrataGetMask(A, v), PETSC_ERR_ARG_SIZ, "vector the mask DMCreateGlobalVector()", "the mask to get is %s", what);
  }
  is_error(MatStrataSetFaces(A, right, NULL), PETSC_ERR_ARG_SIZ, "vector faces of an axis missing", "no vectors of faces");
  is_error(MatStrataSetLegs(A, right, NULL), PETSC_ERR_ARG_SIZ, "vector a leg missing", "no vectors of legs");
  is_error(MatStrataSetMask(A, wrong), PETSC_ERR_ARG_SIZ, "vector the mask DMCreateGlobalVector()", "the mask is of the wrong length");

  PetscCall(MatStrataSetLegs(A, right, vecs));
  is_error(MatStrataGetLegs(A, wrong, NULL), PETSC_ERR_ARG_SIZ, "vector coefficients DMCreateGlobalVector()",
           "the excess to get is of the wrong length");
  vecs[2] = wrong;
  is_error(MatStrataGetLegs(A, right, vecs), PETSC_ERR_ARG_SIZ, "vector coefficients DMCreateGlobalVector()", "a leg to get is of the wrong length");
  PetscCall(VecDestroy(&right));
  PetscCall(VecDestroy(&wrong));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPressure(void)
{
  DM  dm;
  Mat A;
  Vec b;

  PetscFunctionBeginUser;
  for (PetscInt dim = 2; dim < 4; dim++) {
    PetscCall(MakeGrid(dim, 2, 2 * size, 2 * size, DM_BOUNDARY_NONE, &dm));
    PetscCall(MatCreateStrata(dm, &A));
    PetscCall(MatCreateVecs(A, &b, NULL));
    if (dim == 2)
      is_error(StrataPressureSetRHS(A, 0, 1, b), PETSC_ERR_ARG_WRONG, "DMDA three dimensions", "right-hand side in two dimensions");
    else {
      is_error(StrataPressureSetRHS(A, 1, 1, b), PETSC_ERR_ARG_OUTOFRANGE, "axis 0 (x) or 2 (z), not 1", "right-hand side, columns along y");
      is_error(StrataPressureSetRHS(A, 2, 0, b), PETSC_ERR_ARG_OUTOFRANGE, "depth 0 positive", "right-hand side, depth 0");
      is_error(StrataPressureSetRHS(A, 2, NAN, b), PETSC_ERR_ARG_OUTOFRANGE, "depth nan positive", "right-hand side, depth NaN");
      is_error(StrataPressureSetRHS(A, 2, 1, NULL), PETSC_ERR_ARG_SIZ, "vector right-hand side missing", "no right-hand side");
      is_error(StrataPressureSetOperator(A, 2, NAN, 1, 1), PETSC_ERR_ARG_OUTOFRANGE, "omega2 nan positive", "omega2 NaN");
    }
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ranks that say different things */
static PetscErrorCode TestRanks(void)
{
  const int           last = rank == size - 1;
  const PetscScalar   numbers[64] = {0}, other[4] = {-1, -1, -1, -2};
  const MatStrataSide sides[4] = {0, 0, last ? MAT_STRATA_NEUMANN : MAT_STRATA_DIRICHLET, 0};
  Vec                 mask;
  DM                  dm;
  Mat                 A;

  PetscFunctionBeginUser;
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MakeGrid(2, 2, 2 * size, 1, DM_BOUNDARY_NONE, &dm));
  PetscCall(MatCreateStrata(dm, &A));
  if (last) PetscCall(MatStrataSetConstant(A, 1, laplace));
  is_error(Assemble(A), PETSC_ERR_ARG_WRONG, "form differs ranks", "coefficients on one rank alone");
  PetscCall(MatStrataSetConstant(A, 1, last ? other : laplace));
  is_error(Assemble(A), PETSC_ERR_ARG_WRONG, "stencil differs ranks", "another leg on one rank");
  PetscCall(MatStrataSetConstant(A, last ? 2 : 1, laplace));
  is_error(Assemble(A), PETSC_ERR_ARG_WRONG, "stencil differs ranks", "another excess on one rank");
  PetscCall(MatStrataSetConstant(A, 1, laplace));
  PetscCall(MatStrataSetSides(A, sides));
  is_error(Assemble(A), PETSC_ERR_ARG_WRONG, "sides differ ranks", "other sides on one rank");
  is_error(MatStrataSetTensor(A, last ? 0 : 1, 2, numbers, numbers, 2, numbers), PETSC_ERR_ARG_OUTOFRANGE, "axis 0 on one rank axis 1 on another",
           "columns along another axis on one rank");
  PetscCall(DMCreateGlobalVector(dm, &mask));
  is_error(MatStrataSetMask(A, last ? NULL : mask), PETSC_ERR_ARG_SIZ, "vector the mask missing", "no mask on one rank");
  PetscCall(VecDestroy(&mask));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Getters of another form than the one that the coefficients are in */
static PetscErrorCode TestForms(void)
{
  Vec v, vecs[2];
  DM  dm;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MakeGrid(1, 4 * size, 1, 1, DM_BOUNDARY_NONE, &dm));
  PetscCall(MatCreateStrata(dm, &A));
  PetscCall(DMCreateGlobalVector(dm, &v));
  vecs[0] = vecs[1] = v;
  for (int form = MAT_STRATA_NONE; form <= MAT_STRATA_LEGS; form++) {
    if (form == MAT_STRATA_CONSTANT) PetscCall(MatStrataSetConstant(A, 1, laplace));
    if (form == MAT_STRATA_TENSOR) PetscCall(MatStrataSetTensor(A, 0, 1, laplace, laplace, 4, (const PetscScalar[16]){0}));
    if (form == MAT_STRATA_FACES) PetscCall(MatStrataSetFaces(A, v, vecs));
    if (form == MAT_STRATA_LEGS) PetscCall(MatStrataSetLegs(A, v, vecs));
    for (int assembled = 0; assembled < (form ? 2 : 1); assembled++) {
      if (assembled) PetscCall(Assemble(A));
      for (int get = MAT_STRATA_CONSTANT; get <= MAT_STRATA_LEGS; get++)
        if (get != form)
          is_error(get == MAT_STRATA_CONSTANT ? MatStrataGetConstant(A, NULL, NULL)
                   : get == MAT_STRATA_TENSOR ? MatStrataGetTensor(A, NULL, NULL, NULL, NULL, NULL, NULL)
                   : get == MAT_STRATA_FACES  ? MatStrataGetFaces(A, v, vecs)
                                              : MatStrataGetLegs(A, v, vecs),
                   PETSC_ERR_ARG_WRONGSTATE, TapText("form %s, not %s", MatStrataForms[form], MatStrataForms[get]), "getting %s from %s",
                   MatStrataForms[get], MatStrataForms[form]);
    }
  }
  PetscCall(VecDestroy(&v));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- use ------------------------------------------------------------------------------------------------------------------------------- */

/* Everything that an operator does, before it can: without coefficients, with coefficients but not assembled, and with other sides since */
static PetscErrorCode TestUnassembled(void)
{
  static const char *const states[] = {"no coefficients", "not assembled", "changed"};
  const MatStrataSide      sides[2] = {MAT_STRATA_NEUMANN, MAT_STRATA_DIRICHLET};
  Vec                      x, y, z;
  DM                       dm;
  PC                       pc;
  PetscReal                norm;
  Mat                      A, B, C;

  PetscFunctionBeginUser;
  PetscCall(MakeGrid(1, 4 * size, 1, 1, DM_BOUNDARY_NONE, &dm));
  PetscCall(MakeOperator(dm, &B));
  PetscCall(MatCreateStrata(dm, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &z));
  for (int state = 0; state < 3; state++) {
    const char *in = states[state];

    if (state == 0)
      is_error(Assemble(A), PETSC_ERR_ARG_WRONGSTATE, "no coefficients: MatStrataSetConstant(), MatStrataSetTensor()", "%s: assembly", in);
    if (state == 1) PetscCall(MatStrataSetConstant(A, 1, laplace));
    if (state == 2) {
      PetscCall(Assemble(A));
      PetscCall(MatStrataSetSides(A, sides));
    }
    is_error(MatMult(A, x, y), PETSC_ERR_ARG_WRONGSTATE, "unassembled", "%s: MatMult()", in);
    is_error(MatMultAdd(A, x, z, y), PETSC_ERR_ARG_WRONGSTATE, "unassembled", "%s: MatMultAdd()", in);
    is_error(MatMultTranspose(A, x, y), PETSC_ERR_ARG_WRONGSTATE, "unassembled", "%s: MatMultTranspose()", in);
    is_error(MatMultTransposeAdd(A, x, z, y), PETSC_ERR_ARG_WRONGSTATE, "unassembled", "%s: MatMultTransposeAdd()", in);
    is_error(MatGetDiagonal(A, x), PETSC_ERR_ARG_WRONGSTATE, "unassembled", "%s: MatGetDiagonal()", in);
    is_error(MatNorm(A, NORM_INFINITY, &norm), PETSC_ERR_ARG_WRONGSTATE, "unassembled", "%s: MatNorm()", in);
    is_error(MatScale(A, 2), PETSC_ERR_ARG_WRONGSTATE, "unassembled", "%s: MatScale()", in);
    is_error(MatShift(A, 2), PETSC_ERR_ARG_WRONGSTATE, "unassembled", "%s: MatShift()", in);
    is_error(MatAXPY(A, 2, B, SAME_NONZERO_PATTERN), PETSC_ERR_ARG_WRONGSTATE, "unassembled", "%s: MatAXPY() on it", in);
    is_error(MatAXPY(B, 2, A, SAME_NONZERO_PATTERN), PETSC_ERR_ARG_WRONGSTATE, "unassembled", "%s: MatAXPY() of it", in);
    is_error(MatCopy(A, B, SAME_NONZERO_PATTERN), PETSC_ERR_ARG_WRONGSTATE, "unassembled", "%s: MatCopy()", in);
    is_error(MatDuplicate(A, MAT_COPY_VALUES, &C), PETSC_ERR_ARG_WRONGSTATE, "unassembled", "%s: MatDuplicate()", in);
    is_error(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &C), PETSC_ERR_ARG_WRONGSTATE, "unassembled", "%s: MatConvert()", in);
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCCOLUMN));
    PetscCall(PCSetOperators(pc, A, A));
    is_error(PCSetUp(pc), PETSC_ERR_ARG_WRONGSTATE, "not assembled: MatAssemblyBegin() MatAssemblyEnd()", "%s: PCSetUp()", in);
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A call of A with vectors x and y, and with a bad one in one place */
static PetscErrorCode CallWith(int call, Mat A, Vec x, Vec y, Vec bad)
{
  PetscFunctionBeginUser;
  switch (call) {
  case 0: PetscCall(MatMult(A, bad, y)); break;
  case 1: PetscCall(MatMult(A, x, bad)); break;
  case 2: PetscCall(MatMultAdd(A, bad, x, y)); break;
  case 3: PetscCall(MatMultAdd(A, x, bad, y)); break;
  case 4: PetscCall(MatMultAdd(A, x, y, bad)); break;
  case 5: PetscCall(MatMultTranspose(A, bad, y)); break;
  case 6: PetscCall(MatMultTranspose(A, x, bad)); break;
  case 7: PetscCall(MatMultTransposeAdd(A, bad, x, y)); break;
  case 8: PetscCall(MatMultTransposeAdd(A, x, bad, y)); break;
  case 9: PetscCall(MatMultTransposeAdd(A, x, y, bad)); break;
  default: PetscCall(MatGetDiagonal(A, bad));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors that are not the operator's: longer, or with the right number of entries on other ranks */
static PetscErrorCode TestVectors(void)
{
  static const char *const calls[] = {"MatMult() of it",
                                      "MatMult() to it",
                                      "MatMultAdd() of it",
                                      "MatMultAdd() added to it",
                                      "MatMultAdd() to it",
                                      "MatMultTranspose() of it",
                                      "MatMultTranspose() to it",
                                      "MatMultTransposeAdd() of it",
                                      "MatMultTransposeAdd() added to it",
                                      "MatMultTransposeAdd() to it",
                                      "MatGetDiagonal()"};
  DM                       dm;
  Mat                      A;
  Vec                      x, y, bad;

  PetscFunctionBeginUser;
  PetscCall(MakeGrid(2, 3, 2 * size, 1, DM_BOUNDARY_NONE, &dm));
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    const PetscScalar legs[4] = {-1, -1, -1, symmetric ? -1 : -2};

    PetscCall(MatCreateStrata(dm, &A));
    PetscCall(MatStrataSetConstant(A, 1, legs));
    PetscCall(Assemble(A));
    PetscCall(MatCreateVecs(A, &x, &y));
    for (int moved = 0; moved < (size > 1 ? 2 : 1); moved++)
      for (int call = 0; call < (int)PETSC_STATIC_ARRAY_LENGTH(calls); call++) {
        /* PETSc looks at some of it itself; a vector is new each time, since it may stay locked after an error */
        PetscCall(MakeVec(!moved ? 7 : rank == 2 ? 6 : 5 + 2 * rank, &bad)); /* the last rank has as many entries as it should */
        is_error(CallWith(call, A, x, y, bad), PETSC_ERR_ARG_SIZ, call < 10 ? "" : TapText("%d entries rows MatCreateVecs()", (moved ? 6 : 7) * size),
                 "%s: %s", moved ? "entries on other ranks" : "longer", calls[call]);
        PetscCall(VecDestroy(&bad));
      }
    PetscCall(VecDestroy(&x)); /* locked, perhaps */
    PetscCall(VecDestroy(&y));
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(MakeVec(6, &bad));
    PetscCall(VecSetBlockSize(bad, 3));
    PetscCall(VecSet(x, 1));
    for (int call = 0; call < (int)PETSC_STATIC_ARRAY_LENGTH(calls); call++) PetscCall(CallWith(call, A, x, y, bad));
    ok(1, "blocks in a vector do not matter");
    PetscCall(VecDestroy(&bad));
    is_error(MatMult(A, x, x), PETSC_ERR_ARG_WRONGSTATE, "x and y different", "MatMult() to itself");
    is_error(MatMultAdd(A, x, y, x), PETSC_ERR_ARG_IDN, "different", "MatMultAdd() to itself");
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does A give the same as B? */
static PetscErrorCode SameProduct(Mat A, Mat B, PetscBool *same)
{
  Vec x, y, z;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(B, x, z));
  PetscCall(VecEqual(y, z, same));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two operators that do not go together, and one that is overwritten with another */
static PetscErrorCode TestPairs(void)
{
  const struct {
    PetscInt       N0, N1;
    DMBoundaryType boundary;
    PetscErrorCode code;
    const char    *words, *what;
  } grids[] = {{5, 4 * size, DM_BOUNDARY_NONE, PETSC_ERR_ARG_SIZ, "global", "another size"},
               {2, 6 * size, DM_BOUNDARY_NONE, PETSC_ERR_ARG_INCOMP, "grids differ 4 x %d 2 x %d cells", "another shape"},
               {4, 3 * size, DM_BOUNDARY_PERIODIC, PETSC_ERR_ARG_INCOMP, "grids differ boundary types", "another boundary type"}};
  Vec       mask;
  DM        dm, other;
  Mat       A, B, C;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(MakeGrid(2, 4, 3 * size, 1, DM_BOUNDARY_NONE, &dm));
  PetscCall(MakeOperator(dm, &A));
  for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(grids); m++) {
    const char *words = TapText(grids[m].words, (int)(3 * size), (int)grids[m].N1);

    PetscCall(MakeGrid(2, grids[m].N0, grids[m].N1, 1, grids[m].boundary, &other));
    PetscCall(MakeOperator(other, &B));
    is_error(MatAXPY(B, 1, A, SAME_NONZERO_PATTERN), grids[m].code, m ? "grids differ" : words, "MatAXPY() of operators on grids of %s",
             grids[m].what);
    is_error(MatAXPY(A, 1, B, SAME_NONZERO_PATTERN), grids[m].code, words, "MatAXPY() of operators on grids of %s, the other way", grids[m].what);
    is_error(MatCopy(A, B, SAME_NONZERO_PATTERN), grids[m].code, m ? "grids differ" : words, "MatCopy() of operators on grids of %s", grids[m].what);
    PetscCall(MatDestroy(&B));
    PetscCall(DMDestroy(&other));
  }
  if (size == 3) { /* the same rows on each rank, in boxes of another shape, and other rows on two of three ranks */
    const PetscInt       N[3] = {9, 9, 1}, procs[2][3] = {{3, 1, 1}, {1, 3, 1}}, widths[2][3] = {{3, 3, 3}, {2, 4, 3}};
    const DMBoundaryType none[3] = {DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE};
    Mat                  M[2];

    for (int m = 0; m < 2; m++) {
      PetscCall(CreateDMDA(PETSC_COMM_WORLD, 2, N, procs[m], none, 1, &other));
      PetscCall(MakeOperator(other, &M[m]));
      PetscCall(DMDestroy(&other));
    }
    is_error(MatAXPY(M[0], 1, M[1], SAME_NONZERO_PATTERN), PETSC_ERR_ARG_INCOMP, "grids differ ranks", "MatAXPY() on other process grids");
    for (int m = 0; m < 2; m++) {
      PetscCall(MatDestroy(&M[m]));
      PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 9, 1, 1, widths[m], &other));
      PetscCall(DMSetUp(other));
      PetscCall(MakeOperator(other, &M[m]));
      PetscCall(DMDestroy(&other));
    }
    is_error(MatAXPY(M[0], 1, M[1], SAME_NONZERO_PATTERN), PETSC_ERR_ARG_SIZ, "X Y", "MatAXPY() of rows on other ranks");
    for (int m = 0; m < 2; m++) PetscCall(MatDestroy(&M[m]));
  }

  PetscCall(MatCreateStrata(dm, &B));
  PetscCall(DMCreateGlobalVector(dm, &mask));
  if (!rank) PetscCall(VecSetValue(mask, 1, 1, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(mask));
  PetscCall(VecAssemblyEnd(mask));
  PetscCall(MatStrataSetMask(B, mask));
  PetscCall(MatStrataSetConstant(B, 2, laplace));
  PetscCall(Assemble(B));
  is_error(MatAXPY(B, 1, A, SAME_NONZERO_PATTERN), PETSC_ERR_ARG_INCOMP, "masks differ", "MatAXPY() of an operator without a mask");
  is_error(MatAXPY(A, 1, B, SAME_NONZERO_PATTERN), PETSC_ERR_ARG_INCOMP, "masks differ", "MatAXPY() of an operator with a mask");
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &C));
  if (!rank) PetscCall(VecSetValue(mask, 2, 1, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(mask));
  PetscCall(VecAssemblyEnd(mask));
  PetscCall(MatStrataSetMask(C, mask));
  PetscCall(Assemble(C));
  is_error(MatAXPY(B, 1, C, SAME_NONZERO_PATTERN), PETSC_ERR_ARG_INCOMP, "masks differ", "MatAXPY() of an operator with another mask");

  PetscCall(MatScale(B, 3));
  PetscCall(MatCopy(B, A, SAME_NONZERO_PATTERN));
  PetscCall(SameProduct(A, B, &same));
  ok(same, "MatCopy()");
  PetscCall(MatConvert(C, MATSTRATA, MAT_REUSE_MATRIX, &A));
  PetscCall(SameProduct(A, C, &same));
  ok(same, "MatConvert() to the same type");
  PetscCall(MatShift(A, 1));
  PetscCall(SameProduct(A, C, &same));
  ok(!same, "a copy is a matrix of its own");
  PetscCall(MatDestroy(&C));
  PetscCall(MatConvert(B, MATAIJ, MAT_INITIAL_MATRIX, &C));
  is_error(MatAXPY(A, 1, C, SAME_NONZERO_PATTERN), PETSC_ERR_ARG_WRONG, "aij, not strata", "MatAXPY() of an assembled matrix");
  is_error(MatAXPY(C, 1, A, SAME_NONZERO_PATTERN), PETSC_ERR_SUP, "rows strata aij MatConvert()", "MatAXPY() of an operator to an assembled matrix");
  is_error(MatCopy(A, C, SAME_NONZERO_PATTERN), PETSC_ERR_ARG_WRONG, "aij, not strata", "MatCopy() to an assembled matrix");
  is_error(MatCopy(C, A, SAME_NONZERO_PATTERN), PETSC_ERR_SUP, "strata", "MatCopy() of an assembled matrix");
  PetscCall(VecDestroy(&mask));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What cannot be done with an operator */
static PetscErrorCode TestUnsupported(void)
{
  const PetscScalar  one = 1;
  const PetscInt     row = 0, *cols;
  const PetscScalar *values;
  PetscViewer        viewer;
  PetscReal          norm;
  PetscInt           count;
  Vec                v;
  DM                 dm;
  Mat                A, B;
  PetscBool          same;

  PetscFunctionBeginUser;
  PetscCall(MakeGrid(1, 4 * size, 1, 1, DM_BOUNDARY_NONE, &dm));
  PetscCall(MakeOperator(dm, &A));
  PetscCall(MakeOperator(dm, &B));
  PetscCall(MatCreateVecs(A, &v, NULL));
  is_error(MatNorm(A, NORM_1, &norm), PETSC_ERR_SUP, "strata NORM_INFINITY", "the 1-norm");
  is_error(MatNorm(A, NORM_FROBENIUS, &norm), PETSC_ERR_SUP, "strata NORM_INFINITY", "the Frobenius norm");
  is_error(MatZeroRows(A, rank ? 0 : 1, &row, 1, NULL, NULL), PETSC_ERR_SUP, "zerorows strata", "MatZeroRows()");
  is_error(MatZeroRowsColumns(A, rank ? 0 : 1, &row, 1, NULL, NULL), PETSC_ERR_SUP, "zerorowscolumns strata", "MatZeroRowsColumns()");
  is_error(MatZeroEntries(A), PETSC_ERR_SUP, "strata", "MatZeroEntries()");
  is_error(MatDiagonalScale(A, v, NULL), PETSC_ERR_SUP, "strata", "MatDiagonalScale()");
  is_error(MatGetRow(A, 4 * rank, &count, &cols, &values), PETSC_ERR_SUP, "rows strata aij MatConvert()", "MatGetRow()");
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "/dev/null", FILE_MODE_WRITE, &viewer));
  is_error(MatView(A, viewer), PETSC_ERR_SUP, "strata files: aij MatConvert()", "a binary file");
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(SameProduct(A, B, &same));
  ok(same, "the operator is what it was");
  is_error(MatSetValues(A, 1, &row, 1, &row, &one, ADD_VALUES), PETSC_ERR_SUP, "strata", "MatSetValues()");
  is_error(MatDiagonalSet(B, v, ADD_VALUES), PETSC_ERR_SUP, "strata", "MatDiagonalSet()");
  PetscCall(VecDestroy(&v));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- conversion ------------------------------------------------------------------------------------------------------------------------- */

static PetscErrorCode TestConversion(void)
{
  DM        dm, other, two;
  Mat       A, B, C, D;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(MakeGrid(2, 4, 3 * size, 1, DM_BOUNDARY_NONE, &dm));
  PetscCall(MakeOperator(dm, &A));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));

  PetscCall(MatConvert(B, MATSTRATA, MAT_INITIAL_MATRIX, &D)); /* coefficients are kept, but not beyond a change of which PETSc tells badly */
  PetscCall(MatDestroy(&D));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &C));
  PetscCall(MatAXPY(B, 1, C, SAME_NONZERO_PATTERN));
  PetscCall(MatConvert(B, MATSTRATA, MAT_INITIAL_MATRIX, &D));
  PetscCall(MatScale(C, 2));
  PetscCall(MatMultEqual(C, D, 3, &same));
  ok(same, "conversion after MatAXPY()");
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));

  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, 12, 11, PETSC_DETERMINE, PETSC_DETERMINE, 1, NULL, 0, NULL, &C));
  PetscCall(Assemble(C));
  PetscCall(MatSetDM(C, dm));
  is_error(MatConvert(C, MATSTRATA, MAT_INITIAL_MATRIX, &D), PETSC_ERR_ARG_SIZ, TapText("%d rows %d columns square", 12 * (int)size, 11 * (int)size),
           "conversion of a matrix that is not square");
  PetscCall(MatDestroy(&C));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, 12, 12, PETSC_DETERMINE, PETSC_DETERMINE, 1, NULL, 0, NULL, &C));
  is_error(MatConvert(C, MATSTRATA, MAT_INITIAL_MATRIX, &D), PETSC_ERR_ARG_WRONGSTATE, "unassembled", "conversion of a matrix that is not assembled");
  PetscCall(Assemble(C));
  is_error(MatConvert(C, MATSTRATA, MAT_INITIAL_MATRIX, &D), PETSC_ERR_ARG_WRONGSTATE, "no grid: DMCreateMatrix() MatSetDM()",
           "conversion of a matrix without a grid");
  PetscCall(MakeGrid(2, 5, 3 * size, 1, DM_BOUNDARY_NONE, &other));
  PetscCall(MatSetDM(C, other));
  is_error(MatConvert(C, MATSTRATA, MAT_INITIAL_MATRIX, &D), PETSC_ERR_ARG_SIZ,
           TapText("%d rows DMDA 5 x %d x 1 cells DMCreateMatrix()", 12 * (int)size, 3 * (int)size), "conversion with a grid of another size");
  PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 6 * size, 2, 1, NULL, &two));
  PetscCall(DMSetUp(two));
  PetscCall(MatSetDM(C, two));
  is_error(MatConvert(C, MATSTRATA, MAT_INITIAL_MATRIX, &D), PETSC_ERR_SUP, "2 degrees of freedom", "conversion with two degrees of freedom");
  PetscCall(DMDestroy(&two));
  is_error(MatConvert(A, MATAIJ, MAT_REUSE_MATRIX, &C), PETSC_ERR_ARG_OUTOFRANGE, "nonzero", "reuse of a matrix without room for the entries");
  PetscCall(MatDestroy(&C));

  PetscCall(MakeOperator(other, &C));
  is_error(MatConvert(B, MATSTRATA, MAT_REUSE_MATRIX, &C), PETSC_ERR_ARG_INCOMP,
           TapText("exists: grids differ 5 x %d 4 x %d cells", 3 * (int)size, 3 * (int)size), "reuse of an operator on another grid");
  PetscCall(MatConvert(C, MATAIJ, MAT_INITIAL_MATRIX, &D));
  is_error(MatConvert(A, MATAIJ, MAT_REUSE_MATRIX, &D), PETSC_ERR_ARG_SIZ, "reuse rows MAT_INITIAL_MATRIX",
           "reuse of an assembled matrix of another size");
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &C));
  is_error(MatConvert(B, MATSTRATA, MAT_REUSE_MATRIX, &C), PETSC_ERR_ARG_WRONG, "aij, not strata", "reuse of a matrix that is no operator");
  PetscCall(MatDestroy(&C));

  PetscCall(MatConvert(B, MATDENSE, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatSetDM(C, dm));
  is_error(MatConvert(C, MATSTRATA, MAT_INITIAL_MATRIX, &D), PETSC_ERR_SUP, "strata aij, dense: MatConvert() -mat_type",
           "conversion of a dense matrix");
  PetscCall(MatDestroy(&C));
  PetscCall(DMDestroy(&other));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- NaN and infinity -------------------------------------------------------------------------------------------------------------------- */

/* Exactly the rows that `bad` says give no finite number, and nobody takes the norm or a solution for good */
static PetscErrorCode CheckNotFinite(const Problem *p, Mat A, int (*bad)(const Problem *, const PetscInt[]), const char *what)
{
  const PetscScalar *a;
  PetscReal          norm;
  PetscInt           wrong = 0;
  KSPConvergedReason reason;
  KSP                ksp;
  PC                 pc;
  Vec                x, y;

  PetscFunctionBeginUser;
  PetscCall(ProblemVector(p, 1, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecGetArrayRead(y, &a));
  EACH_CELL(p, c, i) if (PetscIsInfOrNanScalar(a[i]) != (bad(p, c) ? PETSC_TRUE : PETSC_FALSE)) wrong++;
  PetscCall(VecRestoreArrayRead(y, &a));
  is_int(wrong, 0, "%s: the rows with it, and no others, give no number", what);
  PetscCall(MatNorm(A, NORM_INFINITY, &norm));
  ok(PetscIsInfOrNanReal(norm), "%s: nor does the norm", what);
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(KSPSolve(ksp, x, y));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  is_int(reason, KSP_DIVERGED_NANORINF, "%s: a solver says so", what);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int Everywhere(const Problem *p, const PetscInt x[])
{
  return 1;
}

static int InColumn(const Problem *p, const PetscInt x[])
{
  return x[0] == 2;
}

static int InLevel(const Problem *p, const PetscInt x[])
{
  return x[1] == p->N[1] - 1;
}

static int InCell(const Problem *p, const PetscInt x[])
{
  return x[0] == 2 && x[1] == p->N[1] - 1;
}

static int BesideFace(const Problem *p, const PetscInt x[])
{
  return (x[0] == 2 || x[0] == 1) && x[1] == p->N[1] - 1;
}

/* The cell (2, N1 - 1), on the last rank, has such a number */
static PetscErrorCode SetInCell(const Problem *p, Vec v, PetscScalar value)
{
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetArray(v, &a));
  EACH_CELL(p, x, i) if (InCell(p, x)) a[i] = value;
  PetscCall(VecRestoreArray(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestNotFinite(void)
{
  Problem p;
  Mat     A, B;

  PetscFunctionBeginUser;
  for (int infinite = 0; infinite < 2; infinite++) {
    const PetscScalar value = infinite ? INFINITY : NAN;
    const char       *name = infinite ? "infinity" : "NaN";
    PetscScalar       legs[4] = {-1, -1, -1, -1}, *area, *alpha, *level;
    PetscInt          ncol, nlev, count;
    Vec               excess, vecs[6], mask;
    PetscInt          row;
    AO                ao;

    memset(&p, 0, sizeof(p));
    p.comm = PETSC_COMM_WORLD;
    p.dim = 2;
    p.N[0] = 4;
    p.N[1] = 3 * size;
    p.N[2] = p.procs[0] = p.procs[2] = 1;
    p.procs[1] = size;
    p.axis = 1;
    PetscCall(ProblemSetUp(&p));

    PetscCall(MatCreateStrata(p.dm, &A));
    PetscCall(MatStrataSetConstant(A, value, legs));
    PetscCall(Assemble(A));
    PetscCall(CheckNotFinite(&p, A, Everywhere, TapText("%s as excess of a stencil", name)));
    legs[3] = value;
    PetscCall(MatStrataSetConstant(A, 1, legs));
    PetscCall(Assemble(A));
    PetscCall(CheckNotFinite(&p, A, Everywhere, TapText("%s as leg of a stencil", name)));

    p.form = MAT_STRATA_TENSOR;
    for (int which = 0; which < 2; which++) {
      PetscCall(ProblemTensor(&p, &ncol, &area, &alpha, &nlev, &level));
      if (which)
        level[nlev - 1] = rank == size - 1 ? value : level[nlev - 1];
      else
        area[2] = value;
      PetscCall(MatStrataSetTensor(A, 1, ncol, area, alpha, nlev, level));
      PetscCall(Assemble(A));
      PetscCall(CheckNotFinite(&p, A, which ? InLevel : InColumn, TapText("%s in the %s of the tensor form", name, which ? "levels" : "areas")));
      PetscCall(PetscFree3(area, alpha, level));
    }

    for (p.form = MAT_STRATA_FACES; p.form <= MAT_STRATA_LEGS; p.form++)
      for (int which = 0; which < 3; which++) {
        PetscCall(ProblemVectors(&p, &excess, &count, vecs));
        PetscCall(SetInCell(&p, which == 1 ? vecs[0] : excess, value));
        PetscCall(DMCreateGlobalVector(p.dm, &mask));
        if (which == 2) PetscCall(SetInCell(&p, mask, 1));
        PetscCall(MatStrataSetMask(A, mask));
        if (p.form == MAT_STRATA_FACES)
          PetscCall(MatStrataSetFaces(A, excess, vecs));
        else
          PetscCall(MatStrataSetLegs(A, excess, vecs));
        PetscCall(Assemble(A));
        if (which < 2)
          PetscCall(CheckNotFinite(&p, A, which && p.form == MAT_STRATA_FACES ? BesideFace : InCell,
                                   TapText("%s as %s of form %s", name, which ? "leg" : "excess", MatStrataForms[p.form])));
        else {
          PetscReal norm;

          PetscCall(MatNorm(A, NORM_INFINITY, &norm));
          ok(!PetscIsInfOrNanReal(norm), "%s in a masked cell does not matter, form %s", name, MatStrataForms[p.form]);
        }
        PetscCall(VecDestroy(&mask));
        PetscCall(VecDestroy(&excess));
        for (PetscInt l = 0; l < count; l++) PetscCall(VecDestroy(&vecs[l]));
      }
    PetscCall(MatDestroy(&A));

    p.form = MAT_STRATA_LEGS; /* in assembled matrices */
    PetscCall(DMDAGetAO(p.dm, &ao));
    for (int offdiagonal = 0; offdiagonal < 2; offdiagonal++) {
      PetscInt col = 1 + 4 * (p.N[1] - 1);

      row = 2 + 4 * (p.N[1] - 1);
      if (!offdiagonal) col = row;
      PetscCall(AOApplicationToPetsc(ao, 1, &row));
      PetscCall(AOApplicationToPetsc(ao, 1, &col));
      PetscCall(ProblemAssembled(&p, &B));
      if (!rank) PetscCall(MatSetValue(B, row, col, value, INSERT_VALUES));
      PetscCall(Assemble(B));
      PetscCall(MatConvert(B, MATSTRATA, MAT_INITIAL_MATRIX, &A));
      PetscCall(CheckNotFinite(&p, A, InCell, TapText("%s %s the diagonal of an assembled matrix", name, offdiagonal ? "beside" : "on")));
      PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&B));
    }
    PetscCall(DMDestroy(&p.dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(TestGrids());
  PetscCall(TestNoGrid());
  PetscCall(TestTypes());
  PetscCall(TestArrays());
  PetscCall(TestPressure());
  PetscCall(TestRanks());
  PetscCall(TestForms());
  PetscCall(TestUnassembled());
  PetscCall(TestVectors());
  PetscCall(TestPairs());
  PetscCall(TestUnsupported());
  PetscCall(TestConversion());
  PetscCall(TestNotFinite());
  return TapEnd();
}
