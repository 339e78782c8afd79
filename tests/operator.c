/*
   The operator in all forms against AIJ matrices that are assembled from the formulas of the manual pages
*/
/* ranks: 1 2 3 4 */
/* With -quick a small part of it, for memory checkers */
#include "problems.h"

#define EPS 2.220446049250313e-16

/* What failed on this rank in a case, in words; one line of TAP a case */
static char failures[1024];

static void Require(int good, const char *what)
{
  if (!good && strlen(failures) + strlen(what) + 3 < sizeof(failures)) strcat(strcat(failures, failures[0] ? ", " : ""), what);
}

#define ends_well(...)                                                                                                                               \
  do {                                                                                                                                               \
    TapCheck(!failures[0], __FILE__, __LINE__, TapText("#   wrong: %s\n", failures), __VA_ARGS__);                                                   \
    failures[0] = 0;                                                                                                                                 \
  } while (0)

/* |v - w| <= tolerance in each entry */
static PetscErrorCode RequireNear(Vec v, Vec w, PetscReal tolerance, const char *what)
{
  const PetscScalar *a, *b;
  PetscInt           n;
  int                good = 1;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayRead(v, &a));
  PetscCall(VecGetArrayRead(w, &b));
  for (PetscInt i = 0; i < n; i++)
    if (!(PetscAbsScalar(a[i] - b[i]) <= tolerance)) good = 0;
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscCall(VecRestoreArrayRead(w, &b));
  Require(good, what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assembled matrices agree in each entry */
static PetscErrorCode RequireSameMatrix(Mat A, Mat B, PetscReal tolerance, const char *what)
{
  PetscInt     start, end, N;
  PetscScalar *row;
  int          good = 1;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, NULL, &N));
  PetscCall(MatGetOwnershipRange(B, &start, &end));
  PetscCall(PetscCalloc1(N, &row));
  for (PetscInt r = start; r < end; r++) {
    for (int which = 0; which < 2; which++) {
      const PetscInt    *cols;
      const PetscScalar *values;
      PetscInt           count;

      PetscCall(MatGetRow(which ? B : A, r, &count, &cols, &values));
      for (PetscInt m = 0; m < count; m++) row[cols[m]] += which ? -values[m] : values[m];
      PetscCall(MatRestoreRow(which ? B : A, r, &count, &cols, &values));
    }
    for (PetscInt c = 0; c < N; c++) {
      if (!(PetscAbsScalar(row[c]) <= tolerance)) good = 0;
      row[c] = 0;
    }
  }
  PetscCall(PetscFree(row));
  Require(good, what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All that an operator can do, against the assembled matrix; `all`: also by conversion, and column by column */
static PetscErrorCode Compare(const Problem *p, Mat A, Mat B, int all)
{
  Vec       x, z, y, w;
  VecType   type, want;
  Mat       C;
  PetscReal norm, got, tolerance;
  PetscBool set, flag, same;
  PetscInt  m, n, M, N;

  PetscFunctionBeginUser;
  PetscCall(MatNorm(B, NORM_INFINITY, &norm));
  tolerance = 16 * EPS * (norm + 1);
  PetscCall(ProblemVector(p, 1, &x));
  PetscCall(ProblemVector(p, 2, &z));
  PetscCall(MatCreateVecs(A, &y, &w));
  PetscCall(VecGetType(y, &type));
  PetscCall(VecGetType(x, &want));
  PetscCall(PetscStrcmp(type, want, &same));
  PetscCall(VecGetLocalSize(y, &m));
  PetscCall(VecGetLocalSize(x, &n));
  Require(same && m == n, "MatCreateVecs");
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetSize(A, &M, &N));
  Require(m == n && m == p->n[0] * p->n[1] * p->n[2] && M == N && M == p->N[0] * p->N[1] * p->N[2], "sizes");

  PetscCall(VecSet(y, NAN));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(B, x, w));
  PetscCall(RequireNear(y, w, tolerance, "MatMult"));
  PetscCall(VecSet(y, NAN));
  PetscCall(MatMultAdd(A, x, z, y));
  PetscCall(MatMultAdd(B, x, z, w));
  PetscCall(RequireNear(y, w, tolerance, "MatMultAdd"));
  PetscCall(VecCopy(z, y));
  PetscCall(MatMultAdd(A, x, y, y));
  PetscCall(RequireNear(y, w, tolerance, "MatMultAdd in place"));
  PetscCall(MatMultAdd(A, x, x, y));
  PetscCall(MatMultAdd(B, x, x, w));
  PetscCall(RequireNear(y, w, tolerance, "MatMultAdd to x itself"));
  PetscCall(VecSet(y, NAN));
  PetscCall(MatResidual(A, z, x, y));
  PetscCall(MatResidual(B, z, x, w));
  PetscCall(RequireNear(y, w, tolerance, "MatResidual"));
  PetscCall(VecSet(y, NAN));
  PetscCall(MatMultTranspose(A, x, y));
  PetscCall(MatMultTranspose(B, x, w));
  PetscCall(RequireNear(y, w, tolerance, "MatMultTranspose"));
  PetscCall(VecSet(y, NAN));
  PetscCall(MatMultTransposeAdd(A, x, z, y));
  PetscCall(MatMultTransposeAdd(B, x, z, w));
  PetscCall(RequireNear(y, w, tolerance, "MatMultTransposeAdd"));
  PetscCall(VecCopy(z, y));
  PetscCall(MatMultTransposeAdd(A, x, y, y));
  PetscCall(RequireNear(y, w, tolerance, "MatMultTransposeAdd in place"));
  PetscCall(VecSet(y, NAN));
  PetscCall(MatGetDiagonal(A, y));
  PetscCall(MatGetDiagonal(B, w));
  PetscCall(RequireNear(y, w, tolerance, "MatGetDiagonal"));
  PetscCall(MatNorm(A, NORM_INFINITY, &got));
  Require(PetscAbsReal(got - norm) <= tolerance, "MatNorm");

  PetscCall(MatIsSymmetricKnown(A, &set, &flag));
  Require(!p->symmetric || (set && flag), "symmetric, but not known to be");
  if (all) {
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &C));
    PetscCall(RequireSameMatrix(C, B, tolerance, "MatConvert to AIJ"));
    PetscCall(MatConvert(A, MATAIJ, MAT_REUSE_MATRIX, &C));
    PetscCall(RequireSameMatrix(C, B, tolerance, "MatConvert to AIJ again"));
    PetscCall(MatDestroy(&C));
    if (M < 40) {
      PetscCall(MatComputeOperator(A, MATAIJ, &C));
      PetscCall(RequireSameMatrix(C, B, tolerance, "MatComputeOperator"));
      PetscCall(MatDestroy(&C));
    }
    if (set && flag) {
      PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &C));
      PetscCall(RequireSameMatrix(C, B, tolerance, "not symmetric, but said to be"));
      PetscCall(MatDestroy(&C));
    }
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The getters give back what was set, whatever MatScale() and MatShift() have done; legs that are not there are zero */
static PetscErrorCode CompareGetters(const Problem *p, Mat A, PetscReal scale, PetscReal shift)
{
  MatStrataForm form;
  MatStrataSide side[6];
  PetscScalar   gotscale, gotshift, *v;
  Vec           mask;
  int           good = 1;

  PetscFunctionBeginUser;
  PetscCall(MatStrataGetForm(A, &form));
  Require(form == p->form, "MatStrataGetForm");
  PetscCall(MatStrataGetScaleShift(A, &gotscale, &gotshift));
  PetscCall(MatStrataGetScaleShift(A, NULL, NULL));
  Require(gotscale == scale && gotshift == shift, "MatStrataGetScaleShift");
  PetscCall(MatStrataGetSides(A, side));
  for (int l = 0; l < 2 * p->dim; l++)
    if (side[l] != p->side[l]) good = 0;
  Require(good, "MatStrataGetSides");
  PetscCall(DMCreateGlobalVector(p->dm, &mask));
  PetscCall(VecSet(mask, -1));
  PetscCall(MatStrataGetMask(A, mask));
  PetscCall(VecGetArray(mask, &v));
  EACH_CELL(p, x, i) if (v[i] != Masked(p, x)) good = 0;
  PetscCall(VecRestoreArray(mask, &v));
  PetscCall(VecDestroy(&mask));
  Require(good, "MatStrataGetMask");
  if (form == MAT_STRATA_CONSTANT) {
    PetscScalar excess, legs[6];

    PetscCall(MatStrataGetConstant(A, &excess, legs));
    PetscCall(MatStrataGetConstant(A, NULL, NULL));
    if (excess != Excess(p, 0)) good = 0;
    for (int l = 0; l < 2 * p->dim; l++)
      if (legs[l] != ConstantLeg(p, l)) good = 0;
    Require(good, "MatStrataGetConstant");
  } else if (form == MAT_STRATA_TENSOR) {
    PetscScalar       *area, *alpha, *level;
    const PetscScalar *garea, *galpha, *glevel;
    PetscInt           ncol, nlev, gaxis, gcol, glev;

    PetscCall(ProblemTensor(p, &ncol, &area, &alpha, &nlev, &level));
    PetscCall(MatStrataGetTensor(A, &gaxis, &gcol, &garea, &galpha, &glev, &glevel));
    PetscCall(MatStrataGetTensor(A, NULL, NULL, NULL, NULL, NULL, NULL));
    good = gaxis == p->axis && gcol == ncol && glev == nlev;
    Require(good && !memcmp(garea, area, ncol * sizeof(*area)) && !memcmp(galpha, alpha, 4 * ncol * sizeof(*area)) &&
                !memcmp(glevel, level, 4 * nlev * sizeof(*area)),
            "MatStrataGetTensor");
    PetscCall(PetscFree3(area, alpha, level));
  } else {
    const PetscInt step = form == MAT_STRATA_FACES ? 2 : 1, count = 2 * p->dim / step;
    Vec            excess, legs[6];

    PetscCall(DMCreateGlobalVector(p->dm, &excess));
    for (PetscInt l = 0; l < count; l++) PetscCall(DMCreateGlobalVector(p->dm, &legs[l]));
    if (form == MAT_STRATA_FACES) {
      PetscCall(MatStrataGetFaces(A, NULL, NULL));
      PetscCall(MatStrataGetFaces(A, excess, legs));
    } else {
      PetscCall(MatStrataGetLegs(A, NULL, NULL));
      PetscCall(MatStrataGetLegs(A, excess, legs));
    }
    for (PetscInt l = -1; l < count; l++) {
      const PetscScalar *q;

      PetscCall(VecGetArrayRead(l < 0 ? excess : legs[l], &q));
      EACH_CELL(p, x, i)
      {
        PetscInt y[3];

        if (l < 0) {
          if (q[i] != (Masked(p, x) ? 1 : RowExcess(p, x))) good = 0;
        } else if (Masked(p, x) || !Next(p, (int)(l * step), x, y) || Masked(p, y)) {
          if (q[i] != 0) good = 0;
        } else if (Periodic(p, (int)(l * step / 2)) && p->N[l * step / 2] <= 2) {
        } else if (q[i] != RowLeg(p, (int)(l * step), x))
          good = 0;
      }
      PetscCall(VecRestoreArrayRead(l < 0 ? excess : legs[l], &q));
    }
    Require(good, form == MAT_STRATA_FACES ? "MatStrataGetFaces" : "MatStrataGetLegs");
    PetscCall(VecDestroy(&excess));
    for (PetscInt l = 0; l < count; l++) PetscCall(VecDestroy(&legs[l]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the whole grid on one rank gives in the cells of this rank, bit for bit */
static PetscErrorCode CompareBits(const Problem *p, Mat A)
{
  Problem            alone = *p;
  Mat                B;
  Vec                x, y, ax, ay, z, az;
  const PetscScalar *a, *b;

  PetscFunctionBeginUser;
  alone.comm = PETSC_COMM_SELF;
  for (int d = 0; d < 3; d++) alone.procs[d] = 1;
  PetscCall(ProblemSetUp(&alone));
  PetscCall(ProblemOperator(&alone, &B));
  PetscCall(ProblemVector(p, 5, &x));
  PetscCall(ProblemVector(p, 6, &z));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(ProblemVector(&alone, 5, &ax));
  PetscCall(ProblemVector(&alone, 6, &az));
  PetscCall(VecDuplicate(ax, &ay));
  for (int what = 0; what < 4; what++) {
    static const char *const names[] = {"MatMult", "MatMultAdd", "MatMultTranspose", "MatGetDiagonal"};
    int                      good = 1;
    char                     text[64];

    switch (what) {
    case 0:
      PetscCall(MatMult(A, x, y));
      PetscCall(MatMult(B, ax, ay));
      break;
    case 1:
      PetscCall(MatMultAdd(A, x, z, y));
      PetscCall(MatMultAdd(B, ax, az, ay));
      break;
    case 2:
      PetscCall(MatMultTranspose(A, x, y));
      PetscCall(MatMultTranspose(B, ax, ay));
      break;
    default: PetscCall(MatGetDiagonal(A, y)); PetscCall(MatGetDiagonal(B, ay));
    }
    PetscCall(VecGetArrayRead(y, &a));
    PetscCall(VecGetArrayRead(ay, &b));
    EACH_CELL(p, c, i) if (memcmp(&a[i], &b[Natural(p, c)], sizeof(*a))) good = 0;
    PetscCall(VecRestoreArrayRead(y, &a));
    PetscCall(VecRestoreArrayRead(ay, &b));
    snprintf(text, sizeof(text), "other bits than on one rank: %s", names[what]);
    Require(good, text);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&ax));
  PetscCall(VecDestroy(&ay));
  PetscCall(VecDestroy(&az));
  PetscCall(MatDestroy(&B));
  PetscCall(DMDestroy(&alone.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Everything with one problem on one process grid */
static PetscErrorCode TestProblem(Problem *p)
{
  Mat A, B, C, D;

  PetscFunctionBeginUser;
  PetscCall(ProblemSetUp(p));
  PetscCall(ProblemOperator(p, &A));
  PetscCall(ProblemAssembled(p, &B));
  PetscCall(Compare(p, A, B, 1));
  PetscCall(CompareGetters(p, A, 1, 0));
  PetscCall(CompareBits(p, A));
  ends_well("%s: all operations", ProblemName(p));

  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
  PetscCall(Compare(p, C, B, 0));
  PetscCall(CompareGetters(p, C, 1, 0));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &D));
  PetscCall(MatScale(C, -1.5));
  PetscCall(MatShift(C, 0.25));
  PetscCall(MatScale(C, 2));
  PetscCall(MatScale(D, -1.5));
  PetscCall(MatShift(D, 0.25));
  PetscCall(MatScale(D, 2));
  PetscCall(Compare(p, C, D, 0));
  PetscCall(CompareGetters(p, C, -3, 0.5));
  PetscCall(Compare(p, A, B, 0));
  ends_well("%s: a duplicate, scaled and shifted, and the original beside it", ProblemName(p));

  PetscCall(MatDestroy(&C));
  PetscCall(MatConvert(D, MATSTRATA, MAT_INITIAL_MATRIX, &C));
  PetscCall(Compare(p, C, D, 0));
  {
    MatStrataForm form;

    PetscCall(MatStrataGetForm(C, &form));
    Require(form == MAT_STRATA_FACES || form == MAT_STRATA_LEGS, "form after MatConvert from AIJ");
    Require(!p->symmetric || form == MAT_STRATA_FACES, "a symmetric AIJ matrix must become faces");
  }
  PetscCall(MatConvert(B, MATSTRATA, MAT_REUSE_MATRIX, &C));
  PetscCall(Compare(p, C, B, 0));
  PetscCall(MatConvert(C, MATAIJ, MAT_INPLACE_MATRIX, &C));
  PetscCall(RequireSameMatrix(C, B, 0x1p-40, "MatConvert in place to AIJ"));
  PetscCall(MatSetDM(C, p->dm));
  PetscCall(MatConvert(C, MATSTRATA, MAT_INPLACE_MATRIX, &C));
  PetscCall(MatDestroy(&D));
  PetscCall(MatConvert(C, MATAIJ, MAT_INITIAL_MATRIX, &D));
  PetscCall(RequireSameMatrix(D, B, 0x1p-40, "MatConvert in place from AIJ"));
  ends_well("%s: converted from AIJ, and in place", ProblemName(p));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscCall(DMDestroy(&p->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef enum { SIDES_DIRICHLET, SIDES_NEUMANN, SIDES_MIXED, SIDES_PERIODIC, SIDES_HALFPERIODIC, SIDES_COUNT } Sides;

static void SetSides(Problem *p, Sides sides)
{
  for (int l = 0; l < 6; l++)
    p->side[l] = sides == SIDES_DIRICHLET || (sides == SIDES_MIXED && (l == 0 || l == 3 || l == 5)) ? MAT_STRATA_DIRICHLET : MAT_STRATA_NEUMANN;
  for (int a = 0; a < 3; a++)
    p->boundary[a] = sides == SIDES_PERIODIC || (sides == SIDES_HALFPERIODIC && a % 2 == 0) ? DM_BOUNDARY_PERIODIC
                     : a == 1                                                               ? DM_BOUNDARY_GHOSTED
                                                                                            : DM_BOUNDARY_NONE;
}

/* Forms by number: 0, 1 constant; 2 to 7 tensor; 8 faces; 9 legs */
static int SetForm(Problem *p, int number)
{
  p->axis = 0;
  p->symmetric = number == 0 || number == 2 || number == 4 || number == 6 || number == 8;
  p->form = number < 2 ? MAT_STRATA_CONSTANT : number < 8 ? MAT_STRATA_TENSOR : number == 8 ? MAT_STRATA_FACES : MAT_STRATA_LEGS;
  if (p->form == MAT_STRATA_TENSOR) p->axis = (number - 2) / 2;
  return p->axis < p->dim;
}

static PetscErrorCode TestForms(PetscInt dim, PetscInt N0, PetscInt N1, PetscInt N2)
{
  Problem     p;
  PetscMPIInt size;
  int         which;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  memset(&p, 0, sizeof(p));
  p.comm = PETSC_COMM_WORLD;
  p.dim = dim;
  p.N[0] = N0;
  p.N[1] = N1;
  p.N[2] = N2;
  for (int sides = 0; sides < SIDES_COUNT; sides++)
    for (int form = 0; form < 10; form++)
      for (int mask = 0; mask < 2; mask++) {
        if (!SetForm(&p, form)) continue;
        if (size > 1 && (sides + form + mask) % 2) continue;                                       /* half of the cases will do */
        if (p.form >= MAT_STRATA_FACES && sides < SIDES_MIXED && sides != SIDES_NEUMANN) continue; /* they know no sides */
        SetSides(&p, (Sides)sides);
        p.mask = mask ? MASK_SCATTERED : MASK_NONE;
        which = 0;
        while (NextProcessGrid(dim, p.N, &which, p.procs)) PetscCall(TestProblem(&p));
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- sums ------------------------------------------------------------------------------------------------------------------------ */

static PetscErrorCode TestAXPY(PetscInt dim, PetscInt N0, PetscInt N1, PetscInt N2, Sides sides, Mask mask)
{
  Problem p, q;
  int     which = 0;

  PetscFunctionBeginUser;
  memset(&p, 0, sizeof(p));
  p.comm = PETSC_COMM_WORLD;
  p.dim = dim;
  p.N[0] = N0;
  p.N[1] = N1;
  p.N[2] = N2;
  p.mask = mask;
  while (NextProcessGrid(dim, p.N, &which, p.procs))
    for (int form = 0; form < 10; form++)
      for (int other = 0; other < 10; other++)
        for (int same = 0; same < 2; same++) {
          Mat X, Y, B, C;

          if ((form + other) % 3 && form != other) continue; /* a third of all pairs, and all forms with themselves */
          q = p;
          SetSides(&p, sides);
          SetSides(&q, same || sides >= SIDES_PERIODIC ? sides : SIDES_MIXED);
          if (!SetForm(&p, form) || !SetForm(&q, other)) continue;
          PetscCall(ProblemSetUp(&p));
          q.dm = p.dm;
          for (int a = 0; a < 3; a++) {
            q.lo[a] = p.lo[a];
            q.n[a] = p.n[a];
          }
          PetscCall(ProblemOperator(&p, &Y));
          PetscCall(ProblemOperator(&q, &X));
          PetscCall(ProblemAssembled(&p, &B));
          PetscCall(ProblemAssembled(&q, &C));
          PetscCall(MatScale(X, 0.7));
          PetscCall(MatShift(X, -0.1));
          PetscCall(MatScale(Y, -2));
          PetscCall(MatShift(Y, 0.3));
          PetscCall(MatScale(C, 0.7));
          PetscCall(MatShift(C, -0.1));
          PetscCall(MatScale(B, -2));
          PetscCall(MatShift(B, 0.3));
          PetscCall(MatAXPY(Y, 0.5, X, SAME_NONZERO_PATTERN));
          PetscCall(MatAXPY(B, 0.5, C, DIFFERENT_NONZERO_PATTERN));
          p.symmetric = p.symmetric && q.symmetric;
          PetscCall(Compare(&p, Y, B, 0));
          PetscCall(Compare(&q, X, C, 0));
          PetscCall(MatAXPY(Y, 2, Y, SAME_NONZERO_PATTERN));
          PetscCall(MatScale(B, 3));
          PetscCall(Compare(&p, Y, B, 0));
          ends_well("%s plus form %s%s", ProblemName(&p), MatStrataForms[q.form], same ? "" : " with other sides");
          PetscCall(MatDestroy(&X));
          PetscCall(MatDestroy(&Y));
          PetscCall(MatDestroy(&B));
          PetscCall(MatDestroy(&C));
          PetscCall(DMDestroy(&p.dm));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- null spaces ------------------------------------------------------------------------------------------------------------------ */

static PetscInt Root(const PetscInt parent[], PetscInt c)
{
  while (parent[c] != c) c = parent[c];
  return c;
}

/* The connected components of the grid, each cell's number or -1, and which of them are singular; from the formulas, on every rank */
static PetscErrorCode Components(const Problem *p, const double legs[], PetscInt component[], PetscInt *count, PetscInt singular[])
{
  const PetscInt cells = p->N[0] * p->N[1] * p->N[2];
  PetscInt      *parent, x[3], y[3];
  double        *excess;

  PetscFunctionBeginUser;
  *count = 0;
  PetscCall(PetscMalloc2(cells, &parent, cells, &excess));
  for (PetscInt c = 0; c < cells; c++) parent[c] = c;
  for (PetscInt c = 0; c < cells; c++) {
    x[0] = c % p->N[0];
    x[1] = c / p->N[0] % p->N[1];
    x[2] = c / (p->N[0] * p->N[1]);
    excess[c] = RowExcess(p, x);
    for (int l = 0; l < 2 * p->dim; l++) {
      const double leg = legs ? legs[l] : RowLeg(p, l, x);

      if (leg == 0 || Masked(p, x)) continue;
      if (Next(p, l, x, y)) {
        if (!Masked(p, y)) parent[Root(parent, c)] = Root(parent, Natural(p, y));
      } else if ((p->form == MAT_STRATA_CONSTANT || p->form == MAT_STRATA_TENSOR) && p->side[l] == MAT_STRATA_DIRICHLET)
        excess[c] -= leg;
    }
  }
  for (PetscInt c = 0; c < cells; c++) component[c] = -1;
  for (PetscInt c = 0; c < cells; c++) {
    const PetscInt at[3] = {c % p->N[0], c / p->N[0] % p->N[1], c / (p->N[0] * p->N[1])}, root = Root(parent, c);

    if (Masked(p, at)) continue;
    if (component[root] < 0) {
      singular[*count] = 1;
      component[root] = (*count)++;
    }
    component[c] = component[root];
    if (excess[c] != 0) singular[component[c]] = 0;
  }
  PetscCall(PetscFree2(parent, excess));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The null space is that of the singular components, one vector each */
static PetscErrorCode CheckNullSpace(const Problem *p, Mat A, const double legs[], const char *what)
{
  const PetscInt cells = p->N[0] * p->N[1] * p->N[2];
  MatNullSpace   nullspace, transpose;
  PetscInt      *component, *singular, count = 0, wanted = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(cells, &component, cells, &singular));
  PetscCall(Components(p, legs, component, &count, singular));
  for (PetscInt m = 0; m < count; m++) wanted += singular[m];
  if (count > 64) wanted = 0;
  PetscCall(MatGetNullSpace(A, &nullspace));
  PetscCall(MatGetTransposeNullSpace(A, &transpose));
  Require(!nullspace == !wanted, wanted ? "no null space" : "a null space of a regular operator");
  if (nullspace) {
    PetscBool  constant, isnull;
    PetscInt   n, found = 0;
    const Vec *v;

    PetscCall(MatNullSpaceTest(nullspace, A, &isnull));
    Require(isnull, "MatNullSpaceTest");
    Require(!p->symmetric || transpose == nullspace, "no null space of the transpose");
    PetscCall(MatNullSpaceGetVecs(nullspace, &constant, &n, &v));
    Require(n + (constant ? 1 : 0) == wanted, "number of vectors");
    if (constant) Require(count == 1 && singular[0] && p->mask == MASK_NONE, "constants");
    for (PetscInt m = 0; m < n; m++) {
      const PetscScalar *a;
      PetscReal          norm;
      PetscInt           its = -1, good = 1;

      PetscCall(VecNorm(v[m], NORM_2, &norm));
      Require(PetscAbsReal(norm - 1) < 100 * EPS, "length of a vector");
      PetscCall(VecGetArrayRead(v[m], &a));
      EACH_CELL(p, x, i) if (a[i] != 0) its = PetscMax(its, component[Natural(p, x)]);
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &its, 1, MPIU_INT, MPI_MAX, p->comm));
      if (its < 0 || !singular[its]) good = 0;
      EACH_CELL(p, x, i) if ((a[i] > 0) != (component[Natural(p, x)] == its)) good = 0;
      PetscCall(VecRestoreArrayRead(v[m], &a));
      Require(good, "a vector is not one of a component");
      if (its >= 0) singular[its] = 0;
      found += good;
    }
    Require(found == n, "a component twice");
  }
  PetscCall(PetscFree2(component, singular));
  ends_well("%s: null space, %s", ProblemName(p), what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestNullSpace(Problem p, const double legs[])
{
  Mat          A, B;
  MatNullSpace before, after;

  PetscFunctionBeginUser;
  PetscCall(ProblemSetUp(&p));
  PetscCall(MatCreateStrata(p.dm, &A));
  PetscCall(ProblemSetMask(&p, A));
  if (legs)
    PetscCall(MatStrataSetConstant(A, 0, legs));
  else
    PetscCall(ProblemSetCoefficients(&p, A));
  PetscCall(MatStrataSetSides(A, p.side));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(CheckNullSpace(&p, A, legs, "assembled"));
  PetscCall(MatGetNullSpace(A, &before));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(B, 2));
  PetscCall(CheckNullSpace(&p, B, legs, "duplicated and scaled"));
  PetscCall(MatShift(B, 0.5));
  PetscCall(MatGetNullSpace(B, &after));
  Require(!after, "a null space in spite of the shift");
  PetscCall(MatGetTransposeNullSpace(B, &after));
  Require(!after, "a null space of the transpose in spite of the shift");
  PetscCall(MatShift(B, -0.5));
  PetscCall(CheckNullSpace(&p, B, legs, "shifted and back"));
  PetscCall(MatDestroy(&B));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatGetNullSpace(B, &after));
  Require(before == after, "AIJ matrix without its null space");
  PetscCall(MatDestroy(&B));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(CheckNullSpace(&p, A, legs, "assembled again"));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&p.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestNullSpaces(void)
{
  const PetscInt sizes[][4] = {{1, 9, 1, 1}, {2, 7, 6, 1}, {3, 4, 5, 4}, {1, 4, 1, 1}, {2, 1, 4, 1}};
  Problem        p;

  PetscFunctionBeginUser;
  memset(&p, 0, sizeof(p));
  p.comm = PETSC_COMM_WORLD;
  for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(sizes); m++)
    for (int sides = 0; sides < SIDES_COUNT; sides++)
      for (int form = 0; form < 10; form++)
        for (int mask = 0; mask < 4; mask++) {
          int which = 0;

          p.dim = sizes[m][0];
          for (int a = 0; a < 3; a++) p.N[a] = sizes[m][1 + a];
          p.singular = 1;
          p.mask = (Mask)mask;
          if (!SetForm(&p, form) || (m && (sides + form + mask) % 3)) continue;
          SetSides(&p, (Sides)sides);
          while (NextProcessGrid(p.dim, p.N, &which, p.procs)) PetscCall(TestNullSpace(p, NULL));
        }
  /* Lines and planes that are not coupled, legs that act one way, more components than null spaces are looked for in */
  p.dim = 3;
  p.form = MAT_STRATA_CONSTANT;
  p.symmetric = 0;
  for (int mask = 0; mask < 3; mask++)
    for (int sides = 0; sides < SIDES_COUNT; sides++) {
      const double legs[][6] = {{0, 0, -1, -1, -1, -1}, {-1, -1, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, {0, -1, -1, 0, -1, -1}};

      SetSides(&p, (Sides)sides);
      p.mask = (Mask)mask;
      for (int m = 0; m < 4; m++) {
        int which = 0;

        p.N[0] = m == 2 ? 6 : 5;
        p.N[1] = 4;
        p.N[2] = m == 2 ? 5 : 4;
        while (NextProcessGrid(p.dim, p.N, &which, p.procs)) PetscCall(TestNullSpace(p, legs[m]));
      }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A null space of the user's own stays */
static PetscErrorCode TestOwnNullSpace(void)
{
  Problem           p;
  Mat               A;
  MatNullSpace      own, got;
  PetscMPIInt       size;
  const PetscScalar legs[2] = {-1, -1};

  PetscFunctionBeginUser;
  memset(&p, 0, sizeof(p));
  p.comm = PETSC_COMM_WORLD;
  p.dim = 1;
  p.N[0] = 8;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  p.procs[0] = size;
  p.N[1] = p.N[2] = p.procs[1] = p.procs[2] = 1;
  SetSides(&p, SIDES_NEUMANN);
  PetscCall(ProblemSetUp(&p));
  PetscCall(MatCreateStrata(p.dm, &A));
  PetscCall(MatStrataSetConstant(A, 0, legs));
  PetscCall(MatStrataSetSides(A, p.side));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &own));
  PetscCall(MatSetNullSpace(A, own));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatGetNullSpace(A, &got));
  ok(got == own, "the user's null space stays at assembly");
  PetscCall(MatShift(A, 1));
  PetscCall(MatGetNullSpace(A, &got));
  ok(got == own, "the user's null space stays when the operator is shifted");
  PetscCall(MatNullSpaceDestroy(&own));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&p.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- what changes, and what is said --------------------------------------------------------------------------------------------------- */

static PetscErrorCode SmallProblem(Problem *p, int form, Sides sides, Mask mask)
{
  int which = 0;

  PetscFunctionBeginUser;
  memset(p, 0, sizeof(*p));
  p->comm = PETSC_COMM_WORLD;
  p->dim = 3;
  p->N[0] = 4;
  p->N[1] = 3;
  p->N[2] = 5;
  p->mask = mask;
  (void)SetForm(p, form);
  SetSides(p, sides);
  (void)NextProcessGrid(3, p->N, &which, p->procs);
  PetscCall(ProblemSetUp(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New coefficients, sides and masks in an operator that is in use */
static PetscErrorCode TestChanges(void)
{
  Problem p, q;
  Mat     A, B;

  PetscFunctionBeginUser;
  for (int form = 0; form < 10; form++) {
    PetscCall(SmallProblem(&p, form, SIDES_NEUMANN, MASK_SCATTERED));
    PetscCall(ProblemOperator(&p, &A));
    PetscCall(MatScale(A, 3));
    PetscCall(MatShift(A, 2));
    for (int other = 0; other < 10; other++) { /* coefficients of another form in the same matrix */
      q = p;
      (void)SetForm(&q, other);
      PetscCall(ProblemSetCoefficients(&q, A));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscCall(ProblemAssembled(&q, &B));
      PetscCall(Compare(&q, A, B, 0));
      PetscCall(CompareGetters(&q, A, 1, 0));
      PetscCall(MatDestroy(&B));
    }
    ends_well("coefficients of each form after form %d", form);
    PetscCall(ProblemSetCoefficients(&p, A));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    p.mask = MASK_WALL; /* another mask */
    PetscCall(ProblemSetMask(&p, A));
    if (p.form >= MAT_STRATA_FACES) {
      is_error(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY), PETSC_ERR_ARG_WRONGSTATE, "no coefficients MatStrataSetFaces()",
               "another mask without coefficients");
      PetscCall(ProblemSetCoefficients(&p, A));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(ProblemAssembled(&p, &B));
    PetscCall(Compare(&p, A, B, 0));
    ends_well("another mask, form %d", form);
    PetscCall(MatDestroy(&B));
    p.mask = MASK_NONE;
    PetscCall(MatStrataSetMask(A, NULL));
    SetSides(&p, SIDES_DIRICHLET);
    PetscCall(MatStrataSetSides(A, p.side));
    if (p.form >= MAT_STRATA_FACES) PetscCall(ProblemSetCoefficients(&p, A));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(ProblemAssembled(&p, &B));
    PetscCall(Compare(&p, A, B, 0));
    ends_well("no mask, other sides, form %d", form);
    PetscCall(MatDestroy(&B));
    PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &B));
    {
      MatStrataForm got;

      PetscCall(MatStrataGetForm(B, &got));
      ok(got == MAT_STRATA_NONE, "a duplicate without values, form %d", form);
      PetscCall(MatDestroy(&B));
      PetscCall(MatDuplicate(A, MAT_SHARE_NONZERO_PATTERN, &B));
      PetscCall(MatStrataGetForm(B, &got));
      ok(got == MAT_STRATA_NONE, "a duplicate with the same pattern, form %d", form);
    }
    PetscCall(ProblemSetCoefficients(&p, B));
    PetscCall(MatStrataSetSides(B, p.side));
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatDestroy(&A));
    PetscCall(ProblemAssembled(&p, &A));
    PetscCall(Compare(&p, B, A, 0));
    ends_well("coefficients in a duplicate without values, form %d", form);
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscCall(DMDestroy(&p.dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Conversion from AIJ: entries that are numerically zero do no harm, others outside the star are named */
static PetscErrorCode TestExtraction(void)
{
  Problem       p;
  Mat           A, B;
  AO            ao;
  PetscInt      row = 1 + 4 * (2 + 3 * 3), col = 2 + 4 * (1 + 3 * 3); /* cells (1, 2, 3) and (2, 1, 3) */
  MatStrataForm form;
  PetscMPIInt   rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (int number = 8; number < 10; number++) {
    PetscCall(SmallProblem(&p, number, SIDES_HALFPERIODIC, MASK_SCATTERED));
    PetscCall(ProblemAssembled(&p, &B));
    PetscCall(DMDAGetAO(p.dm, &ao));
    row = 1 + 4 * (2 + 3 * 3);
    col = 2 + 4 * (1 + 3 * 3);
    PetscCall(AOApplicationToPetsc(ao, 1, &row));
    PetscCall(AOApplicationToPetsc(ao, 1, &col));
    PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    for (int zero = 1; zero >= 0; zero--) {
      if (!rank) PetscCall(MatSetValue(B, row, col, zero ? 1e-20 : 1e-6, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
      if (zero) {
        PetscCall(MatConvert(B, MATSTRATA, MAT_INITIAL_MATRIX, &A));
        PetscCall(MatStrataGetForm(A, &form));
        ok(form == (number == 8 ? MAT_STRATA_FACES : MAT_STRATA_LEGS), "an entry outside the star that is numerically zero is left out");
        PetscCall(Compare(&p, A, B, 0));
        ends_well("converted with a zero outside the star, form %d", number);
        PetscCall(MatDestroy(&A));
      } else
        is_error(MatConvert(B, MATSTRATA, MAT_INITIAL_MATRIX, &A), PETSC_ERR_ARG_INCOMP,
                 TapText("outside the star row %d, cell (1, 2, 3) DMDA_STENCIL_STAR", (int)row), "an entry outside the star");
    }
    PetscCall(MatDestroy(&B));
    PetscCall(DMDestroy(&p.dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestView(void)
{
  Problem p;
  Mat     A;
  char    text[4096];

  PetscFunctionBeginUser;
  for (int form = 0; form < 10; form++) {
    PetscCall(SmallProblem(&p, form, SIDES_MIXED, form % 2 ? MASK_ALL : MASK_NONE));
    PetscCall(ProblemOperator(&p, &A));
    PetscCall(MatScale(A, 1.5));
    PetscCall(MatShift(A, 0.25));
    PetscCall(TapView((PetscObject)A, text, sizeof(text)));
    has_words(text,
              TapText("type: strata grid 4 x 3 x 5 on %d x %d x %d ranks coefficients in form %s scale 1.5, shift 0.25", (int)p.procs[0],
                      (int)p.procs[1], (int)p.procs[2], MatStrataForms[p.form]),
              "view of form %d: grid and form", form);
    has_words(text, p.form == MAT_STRATA_TENSOR ? TapText("columns along %c,", 'x' + p.axis) : "form", "view of form %d: axis", form);
    ok((strstr(text, "not symmetric") == NULL) == p.symmetric || p.mask == MASK_ALL, "view of form %d: symmetry", form);
    has_words(text,
              p.form >= MAT_STRATA_FACES ? "sides along x: in the coefficients sides along z:"
                                         : "sides along x: Dirichlet and Neumann y: Neumann and Dirichlet z:",
              "view of form %d: sides", form);
    ok((strstr(text, "masked cells: 60") != NULL) == (p.mask == MASK_ALL), "view of form %d: masked cells", form);
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&p.dm));
  }
  PetscCall(SmallProblem(&p, 0, SIDES_HALFPERIODIC, MASK_WALL));
  p.singular = 1;
  PetscCall(ProblemOperator(&p, &A));
  PetscCall(TapView((PetscObject)A, text, sizeof(text)));
  has_words(text, "sides along x: periodic sides along y: Neumann singular: null space components", "view of a singular operator");
  PetscCall(MatShift(A, 1));
  PetscCall(TapView((PetscObject)A, text, sizeof(text)));
  has_words(text, "lifted by the shift", "view of a singular operator with a shift");
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreateStrata(p.dm, &A));
  PetscCall(TapView((PetscObject)A, text, sizeof(text)));
  has_words(text, "not been assembled", "view of an operator without coefficients");
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&p.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The type by its name: MatSetType() and MatSetDM(), and DMCreateMatrix() */
static PetscErrorCode TestByName(void)
{
  Problem p;
  Mat     A, B;
  char    text[4096];

  PetscFunctionBeginUser;
  PetscCall(SmallProblem(&p, 4, SIDES_MIXED, MASK_NONE));
  PetscCall(ProblemAssembled(&p, &B));
  for (int how = 0; how < 2; how++) {
    const PetscInt n = p.n[0] * p.n[1] * p.n[2];

    if (how) {
      PetscCall(DMSetMatType(p.dm, MATSTRATA));
      PetscCall(DMCreateMatrix(p.dm, &A));
    } else {
      PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
      PetscCall(MatSetSizes(A, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
      PetscCall(MatSetType(A, MATSTRATA));
      PetscCall(MatSetDM(A, p.dm));
      PetscCall(MatSetUp(A));
    }
    PetscCall(ProblemSetCoefficients(&p, A));
    PetscCall(MatStrataSetSides(A, p.side));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(Compare(&p, A, B, 0));
    PetscCall(CompareGetters(&p, A, 1, 0));
    ends_well(how ? "DMCreateMatrix()" : "MatSetType()");
    PetscCall(TapView((PetscObject)A, text, sizeof(text)));
    has_words(text, "strata columns along y", how ? "view after DMCreateMatrix()" : "view after MatSetType()");
    PetscCall(MatDestroy(&A));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(DMDestroy(&p.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool quick;

  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-quick", &quick));
  PetscCall(TestForms(2, 2, 3, 1));
  if (!quick) {
    PetscCall(TestForms(1, 1, 1, 1));
    PetscCall(TestForms(1, 2, 1, 1));
    PetscCall(TestForms(1, 3, 1, 1));
    PetscCall(TestForms(1, 13, 1, 1));
    PetscCall(TestForms(2, 1, 1, 1));
    PetscCall(TestForms(2, 3, 1, 1));
    PetscCall(TestForms(2, 7, 5, 1));
    PetscCall(TestForms(3, 1, 1, 1));
    PetscCall(TestForms(3, 2, 3, 2));
    PetscCall(TestForms(3, 3, 1, 5));
    PetscCall(TestForms(3, 5, 4, 7));
    PetscCall(TestAXPY(2, 4, 3, 1, SIDES_NEUMANN, MASK_SCATTERED));
    PetscCall(TestAXPY(3, 4, 3, 2, SIDES_PERIODIC, MASK_NONE));
    PetscCall(TestNullSpaces());
  }
  PetscCall(TestAXPY(1, 5, 1, 1, SIDES_DIRICHLET, MASK_NONE));
  PetscCall(TestOwnNullSpace());
  PetscCall(TestChanges());
  PetscCall(TestExtraction());
  PetscCall(TestView());
  PetscCall(TestByName());
  return TapEnd();
}
