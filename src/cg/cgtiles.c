/*
   All of an iteration of conjugate gradients on a GPU, in two passes over tiles of columns: see cg_tiles_kernels.h
*/
#include "cgimpl.h"
#include "cg_tiles_kernels.h"

struct _n_StrataCGTiles {
  StrataCGMadeFor made;
  StrataCGTiles_d problem;                    /* without its numbers */
  StrataArray     number[5];                  /* of the operator and the preconditioner */
  StrataArray     range, r, z, p[2], x, work; /* the vectors, of p an old and a new one */
  StrataCGStand   stand;
  PetscBool       current; /* are these vectors newer than those of the solver? */
};

#if STRATA_HAVE_CUDA

/* What stands in the way, NULL if nothing does */
static PetscErrorCode StrataCGTilesRefuse(KSP ksp, StrataCoefficients *c, const char **whynot)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;
  Mat          A;
  PetscBool    isstrata;
  StrataCoef_d k;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSTRATA, &isstrata));
  PetscCall(StrataCGColumnsRefuse(ksp, whynot));
  if (*whynot) PetscFunctionReturn(PETSC_SUCCESS);
  if (cg->form != KSP_CGFUSED_GEAR)
    *whynot = "form classic";
  else if (!isstrata)
    *whynot = "a matrix of another type";
  else if (ksp->transpose_solve)
    *whynot = "a solve with the transpose";
  if (*whynot) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStrataGetCoefficients(A, c));
  PetscCall(StrataCoefficientsGetKernel(*c, PETSC_MEMTYPE_DEVICE, &k));
  if (!(*c)->symmetric)
    *whynot = "an operator that is not symmetric";
  else if (!(*c)->grid->size_local)
    *whynot = "nothing to do";
  else if (k.outside[STRATA_BOTTOM] == STRATA_OUTSIDE_GHOST)
    *whynot = "columns that are periodic";
  else if (k.n[2] > STRATA_CG_TILE_LEVELS)
    *whynot = "columns of more than 64 cells";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numbers in the layout of the passes, and space for the vectors */
static PetscErrorCode StrataCGTilesSetUp(StrataCGTiles u, const char **whynot)
{
  const PetscMemType type = PETSC_MEMTYPE_DEVICE;
  const size_t       cells = (size_t)u->made.c->grid->size_local * sizeof(PetscScalar);
  StrataCoef_d       k;
  StrataArray        natural[4], bad;
  PetscScalar       *from[4], *to[5], *legs[STRATA_LEGS] = {NULL};
  int               *found, none = 0;
  void              *stream;
  size_t             vector;

  PetscFunctionBegin;
  PetscCall(StrataGetStream(type, &stream));
  PetscCall(StrataCoefficientsGetKernel(u->made.c, type, &k));
  u->problem =
      StrataCGTilesPlan_d(k.n, (const int[]){k.outside[STRATA_WEST] == STRATA_OUTSIDE_GHOST, k.outside[STRATA_SOUTH] == STRATA_OUTSIDE_GHOST});
  vector = (size_t)u->problem.size * sizeof(PetscScalar);
  for (int m = 0; m < 5; m++) {
    PetscCall(StrataArrayCreate(&u->number[m], vector));
    PetscCall(StrataArrayWrite(&u->number[m], type, &to[m]));
  }
  for (int m = 0; m < 4; m++) {
    PetscCall(StrataArrayCreate(&natural[m], cells));
    PetscCall(StrataArrayWrite(&natural[m], type, &from[m]));
    if (m) legs[2 * (m - 1)] = from[m];
  }
  PetscCall(PetscMemzero(&bad, sizeof(bad)));
  PetscCall(StrataArraySet(&bad, sizeof(none), type, &none));
  PetscCall(StrataArrayUpdate(&bad, type, &found));
  StrataCallCUDA(StrataExpandCUDA_d(&k, from[0], legs, stream));
  StrataCallCUDA(StrataCGTilesSetUpCUDA_d(&u->problem, (const PetscScalar *const *)from, to, to[4], found, stream));
  PetscCall(StrataArrayRead(&bad, PETSC_MEMTYPE_HOST, &found));
  if (*found) *whynot = "columns with a pivot of zero";
  PetscCall(StrataArrayDestroy(&bad));
  for (int m = 0; m < 4; m++) PetscCall(StrataArrayDestroy(&natural[m]));
  if (*whynot) PetscFunctionReturn(PETSC_SUCCESS);
  {
    const size_t work = StrataCGTilesWork_d(&u->problem) * sizeof(PetscScalar);
    StrataArray *arrays[] = {&u->r, &u->z, &u->p[0], &u->p[1], &u->x};
    PetscScalar *zeros;

    for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(arrays); m++) PetscCall(StrataArrayCreate(arrays[m], vector));
    PetscCall(StrataArrayCreate(&u->range, 2 * (size_t)k.n[0] * k.n[1]));
    PetscCall(StrataArrayCreate(&u->work, work));
    PetscCall(StrataArrayWrite(&u->work, type, &zeros));
    StrataCallCUDA(StrataCUDAMemset(zeros, 0, work, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the passes work on, on the device */
typedef struct {
  StrataCGTiles_d q;
  PetscScalar    *r, *z, *p[2], *x, *work;
  unsigned char (*range)[2];
  void *stream;
} StrataCGTilesSpace;

static PetscErrorCode StrataCGTilesGet(StrataCGTiles u, StrataCGTilesSpace *s)
{
  const PetscScalar **numbers[] = {&s->q.excess, &s->q.west, &s->q.south, &s->q.bottom, &s->q.inverse};
  StrataArray        *arrays[] = {&u->r, &u->z, &u->p[0], &u->p[1], &u->x, &u->range};
  void               *to[] = {&s->r, &s->z, &s->p[0], &s->p[1], &s->x, &s->range};

  PetscFunctionBegin;
  s->q = u->problem;
  for (int m = 0; m < 5; m++) PetscCall(StrataArrayRead(&u->number[m], PETSC_MEMTYPE_DEVICE, numbers[m]));
  for (int m = 0; m < 6; m++) PetscCall(StrataArrayWrite(arrays[m], PETSC_MEMTYPE_DEVICE, to[m])); /* nobody reads them elsewhere */
  PetscCall(StrataArrayUpdate(&u->work, PETSC_MEMTYPE_DEVICE, &s->work));
  PetscCall(StrataGetStream(PETSC_MEMTYPE_DEVICE, &s->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vectors of the solver become those of the passes; z and the sums follow from r, the latter are left in the numbers */
static PetscErrorCode StrataCGTilesEnter(KSP ksp, StrataCGTiles u, StrataCG_d *numbers)
{
  const Vec          v[3] = {ksp->work[CG_R], ksp->work[CG_P], ksp->vec_sol};
  const PetscScalar *a[3];
  StrataCGTilesSpace s;
  PetscMemType       type;

  PetscFunctionBegin;
  if (u->current) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGTilesGet(u, &s));
  for (int m = 0; m < 3; m++) PetscCall(VecGetArrayReadAndMemType(v[m], &a[m], &type));
  StrataCallCUDA(StrataCGTilesEnterCUDA_d(&s.q, a[0], a[1], a[2], s.r, s.z, s.p, s.x, s.range, s.stream));
  for (int m = 2; m >= 0; m--) PetscCall(VecRestoreArrayReadAndMemType(v[m], &a[m]));
  StrataCallCUDA(StrataCGTilesColumnsCUDA_d(&s.q, numbers, (const unsigned char(*)[2])s.range, s.r, s.z, s.work, NULL, s.stream));
  u->stand.now = 0;
  u->stand.owes = PETSC_FALSE;
  u->current = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors of the passes to those of the solver; NULL: left out */
static PetscErrorCode StrataCGTilesGive(StrataCGTiles u, PetscReal owed, Vec p, Vec x, Vec r)
{
  const Vec          v[3] = {r, p, x};
  PetscScalar       *to[3] = {NULL};
  StrataCGTilesSpace s;
  PetscMemType       type;

  PetscFunctionBegin;
  PetscCall(StrataCGTilesGet(u, &s));
  for (int m = 0; m < 3; m++)
    if (v[m]) PetscCall(VecGetArrayWriteAndMemType(v[m], &to[m], &type));
  StrataCallCUDA(StrataCGTilesLeaveCUDA_d(&s.q, u->stand.owes ? owed : 0, s.r, s.p[u->stand.now], s.x, to[0], to[1], to[2], s.stream));
  for (int m = 0; m < 3; m++)
    if (v[m]) PetscCall(VecRestoreArrayWriteAndMemType(v[m], &to[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGTilesCreate(KSP ksp, StrataCG_d *numbers, StrataCGTiles *created, const char **whynot)
{
  StrataCGTiles      u = *created;
  StrataCoefficients c = NULL;

  PetscFunctionBegin;
  *whynot = NULL;
  PetscCall(StrataCGTilesRefuse(ksp, &c, whynot));
  if (*whynot || (u && (!StrataCGMadeForIs(&u->made, c)))) PetscCall(StrataCGTilesDestroy(created));
  if (*whynot) PetscFunctionReturn(PETSC_SUCCESS);
  if (!*created) {
    PetscCall(PetscNew(created));
    u = *created;
    PetscCall(StrataCGMadeForKeep(&u->made, c));
    PetscCall(StrataCGTilesSetUp(u, whynot));
  }
  u = *created;
  u->current = PETSC_FALSE;
  u->problem.zz = ksp->normtype == KSP_NORM_PRECONDITIONED;
  if (!*whynot) {
    PetscCall(StrataCGTilesEnter(ksp, u, numbers));
    PetscCall(StrataCGColumnsCompare(ksp, numbers, whynot));
  }
  if (*whynot) PetscCall(StrataCGTilesDestroy(created));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGTilesSteps(KSP ksp, StrataCGTiles u, PetscInt steps, StrataCG_d *numbers, PetscReal (*history)[STRATA_CG_SUMS])
{
  StrataCGStand      stand;
  StrataCGTilesSpace s;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(STRATA_CGPass, ksp->work[CG_R], ksp->work[CG_P], ksp->vec_sol, ksp));
  PetscCall(StrataCGTilesEnter(ksp, u, numbers));
  PetscCall(StrataCGTilesGet(u, &s));
  stand = u->stand;
  for (PetscInt i = 0; i < steps; i++) {
    const unsigned char(*range)[2] = (const unsigned char(*)[2])s.range;

    StrataCallCUDA(StrataCGTilesStepCUDA_d(&s.q, numbers, range, s.z, s.p[stand.now], s.p[1 - stand.now], s.r, stand.owes ? s.x : NULL, s.stream));
    StrataCallCUDA(StrataCGTilesColumnsCUDA_d(&s.q, numbers, range, s.r, s.z, s.work, history, s.stream));
    StrataCGStandMove(&stand, 1);
  }
  PetscCall(PetscLogGpuFlops(44.0 * u->made.c->grid->size_local * steps));
  PetscCall(PetscLogEventEnd(STRATA_CGPass, ksp->work[CG_R], ksp->work[CG_P], ksp->vec_sol, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGTilesMade(StrataCGTiles u, PetscInt count)
{
  PetscFunctionBegin;
  StrataCGStandMove(&u->stand, count);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGTilesLeave(StrataCGTiles u, PetscReal owed, Vec p, Vec x, Vec r, PetscBool *left)
{
  PetscFunctionBegin;
  *left = u->current;
  if (!*left) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGTilesGive(u, owed, p, x, r));
  u->current = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGTilesSolution(StrataCGTiles u, PetscReal owed, Vec x)
{
  PetscFunctionBegin;
  if (u->current) PetscCall(StrataCGTilesGive(u, owed, NULL, x, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGTilesDestroy(StrataCGTiles *created)
{
  StrataCGTiles u = *created;

  PetscFunctionBegin;
  if (!u) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGMadeForForget(&u->made));
  {
    StrataArray *arrays[] = {&u->range, &u->r, &u->z, &u->p[0], &u->p[1], &u->x, &u->work};

    for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(arrays); m++) PetscCall(StrataArrayDestroy(arrays[m]));
    for (int m = 0; m < 5; m++) PetscCall(StrataArrayDestroy(&u->number[m]));
  }
  PetscCall(PetscFree(*created));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
