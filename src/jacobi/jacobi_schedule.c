/*
   Weights of sweeps: Chebyshev and scheduled relaxation, both for eigenvalues in [a, b] of the matrix with rows divided by its diagonal
*/
#include "jacobiimpl.h"

/*
   The order of Lebedev and Finogenov for any number of roots (Samarskii and Nikolaev, Numerical Methods for Grid Equations, vol. 2, ch. 6):
   odd numbers 1, 3, ..., 2k - 1, such that products of the first factors stay small. From the order for m that for 2m, and with one more
   in the middle that for 2m + 1.
*/
static void StrataStableOrder(PetscInt k, PetscInt order[])
{
  PetscInt m = 1, bit = 1, i;

  while (2 * bit <= k) bit *= 2;
  order[0] = 1;
  for (bit /= 2; bit; bit /= 2) {
    const PetscInt odd = k & bit ? 1 : 0;

    for (i = m - 1; i >= 0; i--) {
      order[2 * i] = order[i];
      order[2 * i + 1] = 4 * m + 2 * odd - order[2 * i];
    }
    if (odd) order[2 * m] = 2 * m + 1;
    m = 2 * m + odd;
  }
}

PetscErrorCode StrataChebyshevWeights(PetscInt k, PetscReal a, PetscReal b, PetscReal weight[])
{
  PetscInt *order, i;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(k, &order));
  StrataStableOrder(k, order);
  for (i = 0; i < k; i++) weight[i] = 2 / ((b + a) - (b - a) * PetscCosReal(PETSC_PI * (PetscReal)order[i] / (PetscReal)(2 * k)));
  PetscCall(PetscFree(order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scheduled relaxation: P weights, weight i used times[i] times, the largest first */
#define STRATA_LEVELS 5
typedef struct {
  PetscInt  levels, times[STRATA_LEVELS], count;
  PetscReal weight[STRATA_LEVELS];
} StrataRelaxation;

/* The logarithm of the factor by which a period multiplies an error with eigenvalue t */
static PetscReal StrataRelaxationFactor(const StrataRelaxation *r, PetscReal t)
{
  PetscReal sum = 0;

  for (PetscInt i = 0; i < r->levels; i++) sum += (PetscReal)r->times[i] * PetscLogReal(PetscAbsReal(1 - r->weight[i] * t) + 1e-300);
  return sum;
}

/* Where the factor is largest: at a, between each two roots, at b */
static void StrataRelaxationPeaks(const StrataRelaxation *r, PetscReal a, PetscReal b, PetscReal peak[])
{
  peak[0] = a;
  peak[r->levels] = b;
  for (PetscInt i = 1; i < r->levels; i++) { /* the derivative has one root there */
    PetscReal lo = 1 / r->weight[i - 1], hi = 1 / r->weight[i];

    for (PetscInt step = 0; step < 100; step++) {
      const PetscReal t = PetscSqrtReal(lo * hi);
      PetscReal       slope = 0;

      for (PetscInt m = 0; m < r->levels; m++) slope += (PetscReal)r->times[m] / (t - 1 / r->weight[m]);
      if (slope > 0)
        lo = t;
      else
        hi = t;
    }
    peak[i] = PetscSqrtReal(lo * hi);
  }
}

/*
   Weights for which all peaks are equal, the condition for the best ones (Yang and Mittal, J. Comput. Phys. 274, 2014; Adsuara, Cordero-Carrion,
   Cerda-Duran and Aloy, J. Comput. Phys. 321, 2016), by Newton's method on their logarithms from groups of roots of a Chebyshev polynomial
*/
static PetscBool StrataRelaxationSolve(StrataRelaxation *r, PetscReal a, PetscReal b)
{
  const PetscInt P = r->levels;
  PetscInt       root = 0;

  for (PetscInt i = 0; i < P; i++) {
    PetscReal sum = 0;

    for (PetscInt m = 0; m < r->times[i]; m++, root++)
      sum += PetscLogReal(2 / ((b + a) - (b - a) * PetscCosReal(PETSC_PI * (PetscReal)(2 * root + 1) / (PetscReal)(2 * r->count))));
    r->weight[i] = PetscExpReal(sum / (PetscReal)r->times[i]);
  }
  for (PetscInt step = 0; step < 200; step++) {
    PetscReal peak[STRATA_LEVELS + 1], matrix[STRATA_LEVELS][STRATA_LEVELS + 1], worst = 0, longest = 0;

    StrataRelaxationPeaks(r, a, b, peak);
    for (PetscInt e = 0; e < P; e++) {
      matrix[e][P] = StrataRelaxationFactor(r, peak[e + 1]) - StrataRelaxationFactor(r, peak[e]);
      worst = PetscMax(worst, PetscAbsReal(matrix[e][P]));
      for (PetscInt i = 0; i < P; i++) {
        const PetscReal u = r->weight[i] * peak[e], v = r->weight[i] * peak[e + 1];

        matrix[e][i] = (PetscReal)r->times[i] * (u / (1 - u) - v / (1 - v));
      }
    }
    if (worst < 1e-10) return PETSC_TRUE;
    for (PetscInt c = 0; c < P; c++) { /* Gauss-Jordan */
      PetscInt p = c;

      for (PetscInt e = c + 1; e < P; e++)
        if (PetscAbsReal(matrix[e][c]) > PetscAbsReal(matrix[p][c])) p = e;
      if (!(PetscAbsReal(matrix[p][c]) > 0)) return PETSC_FALSE;
      for (PetscInt m = 0; m <= P; m++) {
        const PetscReal swap = matrix[c][m];

        matrix[c][m] = matrix[p][m];
        matrix[p][m] = swap;
      }
      for (PetscInt e = 0; e < P; e++) {
        const PetscReal q = e == c ? 0 : matrix[e][c] / matrix[c][c];

        for (PetscInt m = 0; m <= P && e != c; m++) matrix[e][m] -= q * matrix[c][m];
      }
    }
    for (PetscInt i = 0; i < P; i++) longest = PetscMax(longest, PetscAbsReal(matrix[i][P] / matrix[i][i]));
    for (PetscInt i = 0; i < P; i++) r->weight[i] *= PetscExpReal(-matrix[i][P] / matrix[i][i] * PetscMin(1, 0.2 / longest));
    for (PetscInt i = 0; i < P; i++)
      if (!(r->weight[i] < (i ? r->weight[i - 1] : 1 / a) && r->weight[i] > 1 / b)) return PETSC_FALSE;
  }
  return PETSC_FALSE;
}

/* Each weight is spread evenly over the period, the largest at its start: what it enlarges, rounding errors too, smaller ones reduce */
static void StrataRelaxationOrder(StrataRelaxation r, PetscReal weight[])
{
  PetscInt used[STRATA_LEVELS] = {0};

  for (PetscInt n = 0; n < r.count; n++) {
    PetscInt  best = -1;
    PetscReal first = PETSC_MAX_REAL;

    for (PetscInt i = 0; i < r.levels; i++) {
      const PetscReal place = ((PetscReal)used[i] + (i ? 0.5 : 0)) / (PetscReal)r.times[i];

      if (used[i] == r.times[i] || place >= first) continue;
      first = place;
      best = i;
    }
    used[best]++;
    weight[n] = r.weight[best];
  }
}

/*
   StrataRelaxationWeights - The weights of a period of scheduled relaxation, freed by the caller. Each is used `ratio` times as often as the next
   larger one, up to what makes the number of sweeps `total`, or if that is 0 a multiple of k; the ratio is the one with the fastest convergence.
*/
PetscErrorCode StrataRelaxationWeights(PetscInt levels, PetscReal a, PetscReal b, PetscInt k, PetscInt total, PetscInt *count, PetscReal *weight[])
{
  const PetscInt   most = 4096;
  StrataRelaxation best;
  PetscReal        rate = 0;

  PetscFunctionBegin;
  best.count = 0;
  for (PetscInt ratio = 1; ratio <= most; ratio++) {
    StrataRelaxation r;
    PetscReal        now;

    r.levels = levels;
    r.count = 0;
    for (PetscInt i = 0; i < levels; i++) {
      r.times[i] = i ? ratio * r.times[i - 1] : 1;
      r.count += r.times[i];
      if (r.count > most) break;
    }
    if (r.count > (total ? total + r.times[levels - 1] - 1 : most)) break;
    r.times[levels - 1] += total ? total - r.count : (k - r.count % k) % k;
    r.count = total ? total : (r.count + k - 1) / k * k;
    if (!StrataRelaxationSolve(&r, a, b)) continue;
    now = -StrataRelaxationFactor(&r, a) / (PetscReal)r.count;
    if (now > rate) {
      rate = now;
      best = r;
    }
  }
  *count = best.count;
  *weight = NULL;
  if (!best.count) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(best.count, weight));
  StrataRelaxationOrder(best, *weight);
  PetscFunctionReturn(PETSC_SUCCESS);
}
