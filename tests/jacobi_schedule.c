/*
   Weights of sweeps: the polynomials that they make, and the order that keeps products of the first ones small
*/
#include "tap.h"
#include "../src/jacobi/jacobiimpl.h"

/* The factor by which sweeps with these weights multiply an error with eigenvalue t; the largest of the first sweeps, which must not be out of
   bounds, and of the last, which multiply rounding errors */
static double Factor(PetscInt k, const PetscReal w[], double t, double *first, double *last)
{
  double f = 1, g = 1;

  for (PetscInt i = 0; i < k; i++) {
    f *= 1 - w[i] * t;
    *first = fmax(*first, fabs(f));
    g *= 1 - w[k - 1 - i] * t;
    *last = fmax(*last, fabs(g));
  }
  return f;
}

static PetscErrorCode Chebyshev(PetscInt k, double a, double b)
{
  PetscReal *w;
  double     worst = 0, first = 0, last = 0, smallest = cosh(k * acosh((b + a) / (b - a)));

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(k, &w));
  PetscCall(StrataChebyshevWeights(k, a, b, w));
  for (int q = 0; q <= 1000; q++) {
    const double t = a + (b - a) * q / 1000, z = (b + a - 2 * t) / (b - a), want = cos(k * acos(fmax(-1, fmin(1, z)))) / smallest;

    worst = fmax(worst, fabs(Factor(k, w, t, &first, &last) - want) * smallest);
  }
  ok(worst < 1e-9 * (double)k * (double)k, "the Chebyshev polynomial of degree %d on [%g, %g], error %.1e", (int)k, a, b, worst);
  ok(first <= 10 * k * sqrt(b / a) && last <= 1, "products of its first weights are no larger than %.1f, of its last %.1f", first, last);
  PetscCall(PetscFree(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Relaxation(PetscInt levels, double a, double b, PetscInt k, PetscInt total)
{
  PetscReal *w;
  PetscInt   count, kinds = 0;
  double     first = 0, last = 0, largest = 0, end = 0, best;

  PetscFunctionBeginUser;
  PetscCall(StrataRelaxationWeights(levels, a, b, k, total, &count, &w));
  ok(total ? count == total : count > 0 && count % k == 0, "%d weights, %d sweeps on [%g, %g]", (int)levels, (int)count, a, b);
  for (PetscInt i = 0; i < count; i++) {
    PetscInt m = 0;

    while (m < i && w[m] != w[i]) m++;
    if (m == i) kinds++;
  }
  is_int(kinds, levels, "as many different ones");
  for (int q = 0; q <= 20000; q++) largest = fmax(largest, fabs(Factor(count, w, a * pow(b / a, q / 20000.), &first, &last)));
  end = fabs(Factor(count, w, a, &first, &last));
  ok(largest < 1 && fabs(largest - end) < 1e-5 * end, "the error polynomial is nowhere larger than at its ends, %.6f and %.6f", largest, end);
  best = 1 / cosh((double)count * acosh((b + a) / (b - a)));
  ok(end >= best * (1 - 1e-9), "and not below what is possible");
  ok(-log(end) / (double)count > -log(1 - 2 * a / (a + b)), "it converges faster than one weight, %.2f times",
     log(end) / (double)count / log(1 - 2 * a / (a + b)));
  ok(first <= 1000 * b / a && last <= 1 + 0.01 * b / a, "products of its first weights are no larger than %.1f, of its last %.1f", first, last);
  PetscCall(PetscFree(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pairs of weights for Laplace's equation on N x N cells from table 1 of Yang and Mittal, who let the number of sweeps be a fraction */
static PetscErrorCode Published(void)
{
  static const struct {
    PetscInt  N, sweeps;
    PetscReal large, small;
  } pairs[] = {{16, 16, 32.60, 0.8630}, {32, 31, 81.22, 0.9178}, {64, 64, 190.2, 0.9532}, {128, 133, 425.8, 0.9742}};

  PetscFunctionBeginUser;
  for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(pairs); m++) {
    const double sine = sin(PETSC_PI / (2. * (double)pairs[m].N));
    PetscReal   *w;
    PetscInt     count;

    PetscCall(StrataRelaxationWeights(2, sine * sine, 2, 1, pairs[m].sweeps, &count, &w));
    is_int(count, pairs[m].sweeps, "N = %d: all sweeps", (int)pairs[m].N);
    is_real(w[0], pairs[m].large, 0.03 * pairs[m].large, "N = %d: the large weight of the published pair", (int)pairs[m].N);
    is_real(w[1], pairs[m].small, 0.005 * pairs[m].small, "N = %d: the small one", (int)pairs[m].N);
    PetscCall(PetscFree(w));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  for (PetscInt k = 1; k <= 20; k++) PetscCall(Chebyshev(k, 0.2, 2.2));
  for (PetscInt k = 31; k <= 33; k++) PetscCall(Chebyshev(k, 0.02, 2));
  PetscCall(Chebyshev(100, 0.001, 2));
  PetscCall(Chebyshev(127, 0.2, 2.2));
  PetscCall(Chebyshev(128, 0.2, 2.2));
  PetscCall(Chebyshev(128, 0.0001, 2));
  PetscCall(Chebyshev(128, 1e-6, 2));
  for (PetscInt levels = 2; levels <= 5; levels++) {
    PetscCall(Relaxation(levels, 0.0192, 2, 1, 0));
    PetscCall(Relaxation(levels, 3e-4, 2, 8, 0));
    PetscCall(Relaxation(levels, 2e-5, 2, 5, 0));
    PetscCall(Relaxation(levels, 0.2, 2.2, 1, 2 * levels));
  }
  PetscCall(Published());
  return TapEnd();
}
