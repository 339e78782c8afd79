/*
   Steps of conjugate gradients in single precision. The operator is divided by sigma, the residual multiplied by kappa, powers of two that bring
   both into the range of the format: then z and p are sigma kappa times, x is sigma kappa times what they stand for, and step lengths are the same.
   Without a preconditioner z is r, which sigma leaves as it is: then z and p are kappa times what they stand for, and step lengths are sigma times.
   The iterate in double precision waits in the pass; what the steps add to it since the residual was last computed is here.
*/
#include "cgimpl.h"
#include "cg_single_kernels.h"

struct _n_StrataCGSingle {
  StrataCGProblem_f problem;
  StrataCGFloats    floats;
  float            *z, *p, *x, *r, *work; /* the vectors with zeros before and after, as those of the pass */
  ptrdiff_t         cells, pad;
  PetscReal         sigma, kappa;
  PetscBool         owes; /* does x lack the last step, of length owed? */
  PetscReal         owed;
};

static PetscErrorCode StrataCGFloatsNew(StrataCGFloats *s, ptrdiff_t n, float **a)
{
  PetscFunctionBegin;
  PetscCheck(s->count < (int)PETSC_STATIC_ARRAY_LENGTH(s->array), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Too many arrays");
  PetscCall(PetscCalloc1(n, a));
  s->array[s->count++] = *a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rounded numbers, NULL for none */
static PetscErrorCode StrataCGFloatsRound(StrataCGFloats *s, ptrdiff_t n, PetscReal factor, const PetscReal *from, const float **to)
{
  float *a;

  PetscFunctionBegin;
  *to = NULL;
  if (!from) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGFloatsNew(s, n, &a));
  StrataCGRoundHost(n, factor, from, a);
  *to = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGFloatsDestroy(StrataCGFloats *s)
{
  PetscFunctionBegin;
  for (int m = 0; m < s->count; m++) PetscCall(PetscFree(s->array[m]));
  s->count = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A power of two next to 1 / x, 1 for 0 */
PetscReal StrataCGSinglePower(PetscReal x)
{
  int exponent;

  if (!(x > 0) || PetscIsInfOrNanReal(x)) return 1;
  (void)frexp(x, &exponent);
  return ldexp(1, -exponent);
}

PetscReal StrataCGSingleLargest(ptrdiff_t n, const PetscReal *a)
{
  PetscReal most = 0;

  for (ptrdiff_t i = 0; i < n; i++) most = PetscMax(most, PetscAbsReal(a[i]));
  return most;
}

PetscErrorCode StrataCGSingleOperator(const StrataCoef_d *c, PetscReal sigma, StrataCGFloats *s, StrataCoef_f *to)
{
  const ptrdiff_t cells = (ptrdiff_t)c->n[0] * c->n[1] * c->n[2], columns = c->form == STRATA_TENSOR ? cells / c->n[c->axis] : 0;
  const PetscReal power = StrataCGSinglePower(PetscAbsReal(c->scale)), factor = 1 / (sigma * power); /* scale, too, may be out of range */

  PetscFunctionBegin;
  to->form = c->form;
  to->axis = c->axis;
  to->scale = (float)(power * c->scale);
  to->shift = (float)(c->shift / sigma);
  to->masked = (float)(factor * c->masked);
  to->excess = (float)(factor * c->excess);
  to->flags = c->flags;
  for (int a = 0; a < 3; a++) to->n[a] = c->n[a];
  for (int l = 0; l < STRATA_LEGS; l++) {
    to->outside[l] = c->outside[l];
    to->leg[l] = (float)(factor * c->leg[l]);
    PetscCall(StrataCGFloatsRound(s, cells, factor, c->legs[l], &to->legs[l]));
  }
  PetscCall(StrataCGFloatsRound(s, cells, factor, c->cell, &to->cell));
  for (int a = 0; a < 3; a++) {
    to->high[a] = c->high[a];
    to->high[a].p = c->high[a].p ? to->legs[2 * a] : NULL;
  }
  if (c->form != STRATA_TENSOR) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGFloatsRound(s, columns, 1, c->area, &to->area));
  for (int m = 0; m < 4; m++) {
    PetscCall(StrataCGFloatsRound(s, columns, 1, c->alpha[m], &to->alpha[m]));
    PetscCall(StrataCGFloatsRound(s, c->n[c->axis], factor, c->level[m], &to->level[m]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGSingleCreate(const StrataCGProblem_d *d, StrataCGSingle *created, const char **whynot)
{
  const StrataCoef_d *c = &d->lines.coef;
  StrataCGSingle      s;
  StrataCGProblem_f  *q;
  float              *inverse = NULL, *lower = NULL, *upper = NULL, *level = NULL, *lean, **v[4];
  PetscReal          *diagonal;

  PetscFunctionBegin;
  PetscCall(PetscNew(created));
  s = *created;
  q = &s->problem;
  s->pad = (ptrdiff_t)c->n[0] * c->n[1];
  s->cells = s->pad * c->n[2];
  PetscCall(PetscMalloc1(s->cells, &diagonal));
  StrataRowsHost_d(c, STRATA_ROW_DIAGONAL, 0, diagonal);
  s->sigma = 1 / StrataCGSinglePower(StrataCGSingleLargest(s->cells, diagonal));
  PetscCall(PetscFree(diagonal));
  q->pc = d->pc;
  q->lines.axis = d->lines.axis;
  q->lines.rows = d->lines.rows;
  PetscCall(StrataCGSingleOperator(c, s->sigma, &s->floats, &q->lines.coef));
  if (d->inverse) PetscCall(StrataCGFloatsNew(&s->floats, s->cells, &inverse));
  if (d->lower) PetscCall(StrataCGFloatsNew(&s->floats, s->cells, &lower));
  if (d->upper) PetscCall(StrataCGFloatsNew(&s->floats, s->cells, &upper));
  if (d->level) PetscCall(StrataCGFloatsNew(&s->floats, 4 * c->n[1], &level));
  if (!StrataCGPassFactorHost_f(q, inverse, lower, upper, level)) *whynot = "a row or a column without an inverse in single precision";
  q->inverse = inverse;
  q->lower = lower;
  q->upper = upper;
  q->level = level;
  if (d->lean) {
    PetscCall(StrataCGFloatsNew(&s->floats, (ptrdiff_t)StrataCGLeanSize_f(q), &lean));
    StrataCGLeanHost_f(q, lean);
    q->lean = lean;
  }
  v[0] = &s->z;
  v[1] = &s->p;
  v[2] = &s->x;
  v[3] = &s->r;
  for (int m = 0; m < 4; m++) {
    PetscCall(StrataCGFloatsNew(&s->floats, s->cells + 2 * s->pad, v[m]));
    *v[m] += s->pad;
  }
  PetscCall(StrataCGFloatsNew(&s->floats, s->pad, &s->work));
  if (*whynot) PetscCall(StrataCGSingleDestroy(created));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGSingleDestroy(StrataCGSingle *s)
{
  PetscFunctionBegin;
  if (!*s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGFloatsDestroy(&(*s)->floats));
  PetscCall(PetscFree(*s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A pass, and its sums as those of the numbers themselves */
static void StrataCGSinglePass(StrataCGSingle s, PetscReal beta, PetscReal alpha, int later, PetscReal sums[])
{
  const PetscReal unit = s->problem.pc == STRATA_CG_NONE ? s->sigma : 1, step = unit * alpha, r = 1 / s->kappa;
  const PetscReal z = unit == 1 ? 1 / (s->sigma * s->kappa) : r;

  StrataCGPassHost_f(&s->problem, (float)beta, (float)step, s->owes ? (float)s->owed : 0, later, s->z, s->p, s->x, s->r, sums, s->work);
  s->owes = later ? PETSC_TRUE : PETSC_FALSE;
  s->owed = step;
  sums[STRATA_CG_GAMMA] *= z * r;
  sums[STRATA_CG_DELTA] *= z * r * unit; /* the operator is divided by sigma */
  sums[STRATA_CG_RR] *= r * r;
  sums[STRATA_CG_ZZ] *= z * z;
}

PetscErrorCode StrataCGSingleTake(StrataCGSingle s, PetscBool again, const PetscReal *r, PetscReal sums[])
{
  const PetscReal before = s->kappa;

  PetscFunctionBegin;
  s->kappa = StrataCGSinglePower(StrataCGSingleLargest(s->cells, r));
  StrataCGRoundHost(s->cells, s->kappa, r, s->r);
  PetscCall(PetscArrayzero(s->z, s->cells));
  PetscCall(PetscArrayzero(s->x, s->cells));
  if (again)
    StrataCGScaleHost(s->cells, (float)(s->kappa / before), s->p);
  else
    PetscCall(PetscArrayzero(s->p, s->cells));
  s->owes = PETSC_FALSE;
  StrataCGSinglePass(s, 1, 0, 0, sums); /* a step of length 0 along p as it is */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGSingleStep(StrataCGSingle s, PetscReal beta, PetscReal alpha, PetscReal sums[])
{
  PetscFunctionBegin;
  StrataCGSinglePass(s, beta, alpha, s->problem.lean && !s->owes, sums); /* x every second time */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGSingleGive(StrataCGSingle s, PetscReal *x)
{
  PetscFunctionBegin;
  if (s->owes) StrataCGPassPayHost_f(&s->problem, (float)s->owed, s->p, s->x);
  s->owes = PETSC_FALSE;
  if (x) StrataCGAddHost(s->cells, 1 / (s->sigma * s->kappa), s->x, x);
  PetscCall(PetscArrayzero(s->x, s->cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}
