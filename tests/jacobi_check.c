/*
   Tests of KSPHJACOBI that are looked at later: iterations, reasons, norms and solutions are those of tests that are looked at at once, on the
   host and on the device
*/
/* ranks: 1 2 */
#include "problems.h"
#include "../src/jacobi/kspjacobiimpl.h"

#define MOST 3000 /* of tests in one solve */

/* What a solve leaves */
typedef struct {
  PetscInt           its, tests;
  KSPConvergedReason reason;
  PetscReal          norm, history[MOST];
  PetscScalar       *x;
  const char        *blocking;
} Outcome;

/* How a solve ends */
enum { CONVERGES, ABSOLUTE, GROWS, TOO_FEW, NAN_BEFORE, NAN_LATER, ENOUGH, LATE_TESTS, MAXITS, ENDS };
static const char *const ends[] = {
    "converges",      "to an absolute tolerance", "grows", "too few iterations", "NaN in the right-hand side", "overflow", "nothing to do",
    "no early tests", "as many as are done"};

typedef struct {
  HJacobiNorm      norm;
  HJacobiPrecision precision;
  PetscInt         interval, overlap;
  int              end;
  HJacobiCheck     check;
} Case;

static PetscErrorCode Solve(const Problem *p, Mat A, Vec b, Vec x, const Case *c, Outcome *o)
{
  PetscInt           tile = 6, n;
  const PetscScalar *ax;
  PetscScalar       *ab;
  Vec                rhs, guess;
  KSP                ksp;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(p->comm, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPHJACOBI));
  PetscCall(KSPHJacobiSetSubiterations(ksp, 3));
  PetscCall(KSPHJacobiSetTile(ksp, 1, &tile));
  PetscCall(KSPHJacobiSetOverlap(ksp, 1, &c->overlap));
  PetscCall(KSPHJacobiSetNorm(ksp, c->norm));
  PetscCall(KSPHJacobiSetPrecision(ksp, c->precision));
  PetscCall(KSPHJacobiSetCheckInterval(ksp, c->interval));
  PetscCall(KSPHJacobiSetCheck(ksp, c->check));
  PetscCall(KSPHJacobiSetOmega(ksp, c->end == GROWS ? 2.5 : c->end == NAN_LATER ? 1e30 : 0.25));
  PetscCall(KSPSetTolerances(ksp, c->end == ABSOLUTE ? 1e-30 : 1e-11, c->norm == HJACOBI_NORM_UPDATE || c->end == ABSOLUTE ? 1e-11 : 1e-50,
                             c->end == NAN_LATER ? PETSC_MAX_REAL : 1e5, c->end == TOO_FEW || c->end == MAXITS ? 19 : 2000));
  if (c->end == LATE_TESTS) PetscCall(KSPSetCheckNormIteration(ksp, 60));
  if (c->end == MAXITS) PetscCall(KSPConvergedDefaultSetConvergedMaxits(ksp, PETSC_TRUE));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPSetResidualHistory(ksp, o->history, MOST, PETSC_TRUE));
  ((KSP_HJacobi *)ksp->data)->anywhere = PETSC_TRUE;
  PetscCall(VecDuplicate(b, &rhs));
  PetscCall(VecCopy(b, rhs));
  PetscCall(ProblemVector(p, 2, &guess));
  PetscCall(VecCopy(guess, x));
  if (c->end == ENOUGH) {
    PetscCall(VecSet(rhs, 0));
    PetscCall(VecSet(x, 0));
  }
  if (c->end == NAN_BEFORE) {
    PetscCall(VecGetArray(rhs, &ab));
    ab[3] = NAN;
    PetscCall(VecRestoreArray(rhs, &ab));
  }
  for (int again = 0; again < 2; again++) { /* the second uses what the first has made */
    if (again) PetscCall(VecCopy(guess, x));
    if (again && c->end == ENOUGH) PetscCall(VecSet(x, 0));
    PetscCall(KSPSolve(ksp, rhs, x));
  }
  PetscCall(KSPGetIterationNumber(ksp, &o->its));
  PetscCall(KSPGetConvergedReason(ksp, &o->reason));
  PetscCall(KSPGetResidualNorm(ksp, &o->norm));
  PetscCall(KSPGetResidualHistory(ksp, NULL, &o->tests));
  o->blocking = ((KSP_HJacobi *)ksp->data)->blocking;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(PetscMalloc1(n, &o->x));
  PetscCall(VecGetArrayRead(x, &ax));
  PetscCall(PetscArraycpy(o->x, ax, n));
  PetscCall(VecRestoreArrayRead(x, &ax));
  PetscCall(VecDestroy(&guess));
  PetscCall(VecDestroy(&rhs));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NaN is the same as NaN */
static int SameNumbers(const PetscReal *a, const PetscReal *b, PetscInt n)
{
  for (PetscInt i = 0; i < n; i++)
    if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i]))) return 0;
  return 1;
}

static KSPConvergedReason Expected(const Case *c)
{
  switch (c->end) {
  case CONVERGES:
  case LATE_TESTS: return c->norm == HJACOBI_NORM_UPDATE ? KSP_CONVERGED_ATOL : KSP_CONVERGED_RTOL;
  case ABSOLUTE:
  case ENOUGH: return KSP_CONVERGED_ATOL;
  case GROWS:
  case NAN_LATER: return KSP_DIVERGED_DTOL;
  case TOO_FEW: return KSP_DIVERGED_ITS;
  case MAXITS: return c->norm == HJACOBI_NORM_2 ? KSP_CONVERGED_ITS : KSP_DIVERGED_ITS;
  default: return KSP_DIVERGED_NANORINF;
  }
}

/* All ways to look at the tests of one solve, against the host that looks at once */
static PetscErrorCode Compare(Problem p, Case c)
{
  static Outcome want, got;
  PetscMPIInt    size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(p.comm, &size));
  for (int device = 0; device <= TapHasDevice(); device++) {
    Mat         A;
    Vec         b, x;
    PetscInt    n;
    const char *memory = device ? "device" : "host";

    PetscCall(ProblemSetUp(&p));
    if (device) PetscCall(DMSetVecType(p.dm, VECCUDA));
    PetscCall(ProblemOperator(&p, &A));
    PetscCall(ProblemVector(&p, 1, &b));
    PetscCall(VecDuplicate(b, &x));
    PetscCall(VecGetLocalSize(x, &n));
    for (int check = HJACOBI_CHECK_BLOCKING; check >= HJACOBI_CHECK_OVERLAPPED; check--) {
      Outcome *o = device || check == HJACOBI_CHECK_OVERLAPPED ? &got : &want;

      c.check = (HJacobiCheck)check;
      PetscCall(Solve(&p, A, b, x, &c, o));
      if (o == &want)
        ok(o->reason == Expected(&c), "%s, norm %s, precision %s, every %d, %s: %s after %d, %d tests", ProblemName(&p), HJacobiNorms[c.norm],
           HJacobiPrecisions[c.precision], (int)c.interval, ends[c.end], KSPConvergedReasons[o->reason], (int)o->its, (int)o->tests);
      else {
        ok(o->its == want.its && o->reason == want.reason, "%s, %s: %s after %d", memory, HJacobiChecks[check], KSPConvergedReasons[o->reason],
           (int)o->its);
        ok(o->tests == want.tests && SameNumbers(o->history, want.history, o->tests) && SameNumbers(&o->norm, &want.norm, 1), "the same norms");
        ok(SameNumbers(o->x, want.x, n), "the same solution");
        ok(check == HJACOBI_CHECK_BLOCKING || size > 1 ? o->blocking != NULL : o->blocking == NULL, "tests are looked at %s",
           o->blocking ? "at once" : "later");
        PetscCall(PetscFree(o->x));
      }
    }
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(DMDestroy(&p.dm));
  }
  PetscCall(PetscFree(want.x));
  if (!TapHasDevice()) skip("no GPU");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestOfMine(KSP ksp, PetscInt its, PetscReal norm, KSPConvergedReason *reason, void *context)
{
  PetscFunctionBeginUser;
  *reason = its == 3 ? KSP_CONVERGED_ITS : KSP_CONVERGED_ITERATING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MonitorOfMine(KSP ksp, PetscInt its, PetscReal norm, void *last)
{
  PetscFunctionBeginUser;
  if (its == *(PetscInt *)last + 1) *(PetscInt *)last = its;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where somebody looks at every iterate nothing goes on before: a monitor sees all iterations, a test of one's own ends the solve where it says */
static PetscErrorCode Watched(Problem p)
{
  Mat                A;
  Vec                b, x;
  KSP                ksp;
  KSP_HJacobi       *h;
  PetscInt           seen = -1, its;
  KSPConvergedReason reason;
  HJacobiCheck       check;

  PetscFunctionBeginUser;
  PetscCall(ProblemSetUp(&p));
  if (TapHasDevice()) PetscCall(DMSetVecType(p.dm, VECCUDA));
  PetscCall(ProblemOperator(&p, &A));
  PetscCall(ProblemVector(&p, 1, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPCreate(p.comm, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPHJACOBI));
  h = (KSP_HJacobi *)ksp->data;
  h->anywhere = PETSC_TRUE;
  PetscCall(KSPHJacobiGetCheck(ksp, &check));
  is_int(check, HJACOBI_CHECK_OVERLAPPED, "tests are looked at later unless something else is said");
  PetscCall(KSPMonitorSet(ksp, MonitorOfMine, &seen, NULL));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  ok(its > 3 && seen == its && h->blocking, "a monitor sees all %d iterations", (int)its);
  PetscCall(KSPMonitorCancel(ksp));
  PetscCall(KSPSetConvergenceTest(ksp, TestOfMine, NULL, NULL));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  ok(its == 3 && reason == KSP_CONVERGED_ITS && h->blocking, "a test of one's own ends the solve after %d iterations", (int)its);
  is_error(KSPHJacobiSetCheck(ksp, (HJacobiCheck)7), PETSC_ERR_ARG_OUTOFRANGE, "no check 7", "no such check");
  PetscCall(KSPHJacobiSetCheck(ksp, HJACOBI_CHECK_BLOCKING));
  PetscCall(KSPHJacobiGetCheck(ksp, &check));
  is_int(check, HJACOBI_CHECK_BLOCKING, "tests are looked at at once if that is said");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&p.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const PetscInt      sizes[3][3] = {{90, 1, 1}, {21, 17, 1}, {9, 7, 8}};
  static const MatStrataForm forms[] = {MAT_STRATA_CONSTANT, MAT_STRATA_FACES};
  PetscMPIInt                size;
  Problem                    p;
  int                        number = 0;

  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  memset(&p, 0, sizeof(p));
  p.comm = PETSC_COMM_WORLD;
  for (p.dim = 1; p.dim <= 3; p.dim++)
    for (int form = 0; form < 2; form++)
      for (int periodic = 0; periodic < 2; periodic++)
        for (int norm = HJACOBI_NORM_2; norm <= HJACOBI_NORM_UPDATE; norm++)
          for (int end = 0; end < ENDS; end++) {
            Case c = {(HJacobiNorm)norm,
                      number / 2 % 2 ? HJACOBI_PRECISION_SINGLE : HJACOBI_PRECISION_SAME,
                      (number / ENDS + end) % 3 ? 1 : 3,
                      number % 2 ? STRATA_EXACT : 2,
                      end,
                      HJACOBI_CHECK_OVERLAPPED};

            number++;
            if ((end == ABSOLUTE || end == LATE_TESTS || end == NAN_BEFORE) && norm == HJACOBI_NORM_UPDATE) continue;
            if (size > 1 && number % 5) continue; /* tests are looked at at once there */
            p.form = forms[form];
            for (int a = 0; a < 3; a++) {
              p.N[a] = sizes[p.dim - 1][a];
              p.procs[a] = a ? 1 : size;
              p.boundary[a] = periodic && a == 0 ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
            }
            PetscCall(Compare(p, c));
          }
  p.dim = 2;
  for (int a = 0; a < 3; a++) p.N[a] = sizes[1][a];
  PetscCall(Watched(p));
  return TapEnd();
}
