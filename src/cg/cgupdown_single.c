/*
   The two passes along columns in single precision. Operator and residual are scaled as in cgsingle.c, by powers of two, of which that of the
   operator is even: norms then scale without rounding, and the device tests what the host tests.
*/
#include "cgupdownimpl.h"

#if STRATA_HAVE_CUDA

struct _n_StrataCGUpDownSingle {
  StrataCGMadeFor made;
  StrataCGSpace_f space;
  StrataCGStand   stand;
  PetscReal       sigma, kappa;
  PetscBool       lost; /* is x of no use? */
};

/* A bound of the diagonal */
static PetscReal StrataCGUpDownDiagonal(const StrataCoef_d *c)
{
  PetscReal sum = PetscAbsReal(c->excess), part[2] = {0};

  if (c->form == STRATA_CONSTANT)
    for (int l = 0; l < STRATA_LEGS; l++) sum += PetscAbsReal(c->leg[l]);
  else {
    const ptrdiff_t columns = (ptrdiff_t)c->n[0] * c->n[1];

    for (int m = 0; m < 3; m++) part[0] += StrataCGSingleLargest(c->n[2], c->level[m]);
    for (int m = 0; m < 4; m++) part[1] += StrataCGSingleLargest(columns, c->alpha[m]);
    sum = StrataCGSingleLargest(columns, c->area) * part[0] + StrataCGSingleLargest(c->n[2], c->level[3]) * part[1];
  }
  return PetscAbsReal(c->scale) * sum + PetscAbsReal(c->shift);
}

static PetscErrorCode StrataCGUpDownSingleSetUp(StrataCGUpDownSingle u, const char **whynot)
{
  StrataCGFloats floats = {0};
  StrataCoef_d   c;
  StrataLines_f  lines;
  int            exponent;

  PetscFunctionBegin;
  PetscCall(StrataCoefficientsGetKernel(u->made.c, PETSC_MEMTYPE_HOST, &c));
  u->sigma = 1 / StrataCGSinglePower(StrataCGUpDownDiagonal(&c));
  (void)frexp(u->sigma, &exponent);
  if (exponent % 2 == 0) u->sigma *= 2; /* it is 2^(exponent - 1) */
  PetscCall(PetscMemzero(&lines, sizeof(lines)));
  lines.axis = 2;
  lines.rows = STRATA_ROWS_SHARED;
  PetscCall(StrataCGSingleOperator(&c, u->sigma, &floats, &lines.coef));
  PetscCall(StrataCGSpaceSetUp_f(&u->space, &lines, 1, whynot));
  PetscCall(StrataCGFloatsDestroy(&floats));
  if (*whynot) *whynot = "columns that cannot be factored without division in single precision";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGUpDownSingleCreate(KSP ksp, StrataCGUpDownSingle *created, const char **whynot)
{
  StrataCGUpDownSingle u = *created;
  StrataCoefficients   c;
  Mat                  A;

  PetscFunctionBegin;
  *whynot = NULL;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(MatStrataGetCoefficients(A, &c));
  if (u && (!StrataCGMadeForIs(&u->made, c))) PetscCall(StrataCGUpDownSingleDestroy(created));
  if (!*created) {
    PetscCall(PetscNew(created));
    u = *created;
    PetscCall(StrataCGMadeForKeep(&u->made, c));
    PetscCall(StrataCGUpDownSingleSetUp(u, whynot));
  }
  (*created)->space.problem.zz = ksp->normtype == KSP_NORM_PRECONDITIONED;
  if (*whynot) PetscCall(StrataCGUpDownSingleDestroy(created));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGUpDownSingleDestroy(StrataCGUpDownSingle *created)
{
  PetscFunctionBegin;
  if (!*created) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGMadeForForget(&(*created)->made));
  PetscCall(StrataCGSpaceDestroy_f(&(*created)->space));
  PetscCall(PetscFree(*created));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void StrataCGUpDownSingleScale(StrataCGUpDownSingle u, StrataCG_d *numbers)
{
  const PetscReal product = u->sigma * u->kappa * u->kappa; /* of (r,z) and (p,Ap) */
  const PetscReal tested = numbers->test == STRATA_CG_TEST_R   ? u->kappa
                           : numbers->test == STRATA_CG_TEST_Z ? u->sigma * u->kappa
                                                               : PetscSqrtReal(u->sigma) * u->kappa;

  numbers->gamma *= product;
  numbers->curvature *= product;
  numbers->least *= tested;
  numbers->most *= tested;
  numbers->largest *= u->kappa;
  numbers->drift *= u->kappa;
}

void StrataCGUpDownSingleSums(StrataCGUpDownSingle u, PetscReal sum[])
{
  const PetscReal r = 1 / u->kappa, z = 1 / (u->sigma * u->kappa);

  sum[STRATA_CG_GAMMA] *= r * z;
  sum[STRATA_CG_DELTA] *= r * z;
  sum[STRATA_CG_RR] *= r * r;
  sum[STRATA_CG_ZZ] *= z * z;
}

PetscErrorCode StrataCGUpDownSingleTake(StrataCGUpDownSingle u, PetscBool again, PetscReal norm, Vec r, Vec minus, StrataCG_d *numbers,
                                        PetscReal sum[])
{
  const PetscReal    before = u->kappa;
  StrataCGSpace_f   *s = &u->space;
  StrataCGColumns_f  q;
  StrataCG_d         read;
  const PetscScalar *a, *w = NULL;
  PetscMemType       type;
  float             *rto, *p, *x, *start, *F;
  void              *stream;

  PetscFunctionBegin;
  PetscCall(StrataCGSpaceGet_f(s, &q, &stream));
  u->kappa = StrataCGSinglePower(norm);
  PetscCall(StrataArrayWrite(&s->r[0], PETSC_MEMTYPE_DEVICE, &rto));
  if (again && u->stand.now) { /* p stays where it is */
    const StrataArray other = s->p[0];

    s->p[0] = s->p[1];
    s->p[1] = other;
  }
  PetscCall(StrataArrayWrite(&s->p[0], PETSC_MEMTYPE_DEVICE, &p));
  PetscCall(StrataArrayWrite(&s->x, PETSC_MEMTYPE_DEVICE, &x));
  PetscCall(StrataArrayWrite(&s->start, PETSC_MEMTYPE_DEVICE, &start));
  PetscCall(StrataArrayWrite(&s->F, PETSC_MEMTYPE_DEVICE, &F));
  PetscCall(VecGetArrayReadAndMemType(r, &a, &type));
  if (minus) PetscCall(VecGetArrayReadAndMemType(minus, &w, &type));
  StrataCallCUDA(StrataCGColumnsRoundCUDA(&q, u->kappa, a, w, again ? (float)(u->kappa / before) : 0, rto, p, x, start, F, stream));
  if (minus) PetscCall(VecRestoreArrayReadAndMemType(minus, &w));
  PetscCall(VecRestoreArrayReadAndMemType(r, &a));
  PetscCall(StrataCGSpaceBegin_f(s, 0, numbers));
  u->stand.now = 0;
  u->stand.owes = PETSC_FALSE;
  u->lost = PETSC_FALSE;
  StrataCallCUDA(StrataCUDAMemcpy(&read, numbers, sizeof(read), stream));
  PetscCall(PetscArraycpy(sum, read.sum, STRATA_CG_SUMS));
  StrataCGUpDownSingleSums(u, sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGUpDownSingleSteps(StrataCGUpDownSingle u, PetscInt steps, StrataCG_d *numbers, PetscReal (*history)[STRATA_CG_SUMS])
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(STRATA_CGPass, 0, 0, 0, 0));
  PetscCall(StrataCGSpaceSteps_f(&u->space, u->stand, steps, numbers, steps, history));
  PetscCall(PetscLogEventEnd(STRATA_CGPass, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGUpDownSingleMade(StrataCGUpDownSingle u, PetscInt count)
{
  PetscFunctionBegin;
  StrataCGStandMove(&u->stand, count);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGUpDownSingleGive(StrataCGUpDownSingle u, PetscReal owed, Vec x)
{
  StrataCGSpace_f  *s = &u->space;
  StrataCGColumns_f q;
  const float      *p;
  float            *from;
  PetscScalar      *to;
  PetscMemType      type;
  void             *stream;

  PetscFunctionBegin;
  if (!x) u->lost = PETSC_TRUE;
  if (u->lost) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataCGSpaceGet_f(s, &q, &stream));
  PetscCall(StrataArrayRead(&s->p[u->stand.now], PETSC_MEMTYPE_DEVICE, &p));
  PetscCall(StrataArrayUpdate(&s->x, PETSC_MEMTYPE_DEVICE, &from));
  PetscCall(VecGetArrayAndMemType(x, &to, &type));
  StrataCallCUDA(StrataCGColumnsAddCUDA(&q, 1 / (u->sigma * u->kappa), u->stand.owes ? (float)owed : 0, p, from, to, stream));
  PetscCall(VecRestoreArrayAndMemType(x, &to));
  u->stand.owes = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
