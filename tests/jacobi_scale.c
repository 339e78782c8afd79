/*
   What goes around cycles of Jacobi sweeps, as plain kernels: arrays with frames, quotients, faults of a diagonal; on the device as on the host
*/
/* sanitize */
#include "kernels.h"
#include "../src/jacobi/jacobi_scale_kernels.h"

#define STRATA_TYPED "../../tests/jacobi_scale_typed.h"
#include "../src/sys/typed.h"

static void Quotients(void)
{
  const ptrdiff_t n = 3003, lda = 3010, ldq = 3003;
  const int       nv = 3;
  Arrays          arrays = {.count = 0};
  double         *a = Numbers_d(&arrays, nv * lda, -1, 1), *d = Numbers_d(&arrays, n, 0.5, 2), *q = Numbers_d(&arrays, nv * lda, 0, 1),
         *p = Numbers_d(&arrays, nv * ldq, 0, 1);
  const double by[6] = {2, NAN, -4, NAN, 0.5};
  int          good = 1;

  memcpy(q, a, nv * lda * sizeof(*a));
  StrataQuotientHost(n, -2, NULL, nv, q, lda, d, 0, q, lda);
  for (int v = 0; v < nv; v++)
    for (ptrdiff_t i = 0; i < lda; i++) good &= q[i + v * lda] == (i < n ? -2 * a[i + v * lda] / d[i] : a[i + v * lda]);
  StrataQuotientHost(n, 0.5, by, nv, a, lda, NULL, 3, p, ldq);
  for (int v = 0; v < nv; v++)
    for (ptrdiff_t i = 0; i < n; i++) good &= p[i + v * ldq] == 0.5 * by[2 * v] * a[i + v * lda] / 3;
  ok(good, "quotients by an array and by a number");
#if STRATA_HAVE_CUDA
  if (TapHasDevice()) {
    double *da = DeviceCopy(a, nv * lda * sizeof(*a)), *dd = DeviceCopy(d, n * sizeof(*d)), *dp = DeviceCopy(a, nv * ldq * sizeof(*p));
    double *back = Numbers_d(&arrays, nv * lda, 0, 1);

    good = !StrataQuotientCUDA(n, 0.5, DeviceCopy(by, sizeof(by)), nv, da, lda, NULL, 3, dp, ldq, NULL);
    DeviceRead(back, dp, nv * ldq * sizeof(*back));
    good &= Same_d(back, p, nv * ldq);
    good &= !StrataQuotientCUDA(n, -2, NULL, nv, da, lda, dd, 0, da, lda, NULL);
    DeviceRead(back, da, nv * lda * sizeof(*back));
    ok(good && Same_d(back, q, nv * lda), "on the device");
    DeviceFreeAll();
  } else
#endif
    skip("no GPU");
  FreeArrays(&arrays);
}

/* Powers of two for any number, on the device as on the host */
static void Powers(void)
{
  static const double largest[] = {0, 1, 3, 1e-300, 4e-320, 1e308, INFINITY, NAN, 0.5, 1e-9}, size[] = {1, 2, 4, 0, 0, 0, 1, 1, 1, 0};
  const float         third = 1.f / 3;
  int                 good = 1, same = 1;

  for (int m = 0; m < 10; m++) {
    double power[2], times;

    StrataPowersHost(&largest[m], power);
    StrataTimesHost(&third, power + 1, &times);
    good &= power[0] * power[1] == 1 && (!size[m] || power[1] == size[m]) && times == power[1] * third;
    if (!size[m] && m != 4 && m != 5) good &= largest[m] * power[0] >= 0.5 / 0x1p20 && largest[m] * power[0] <= 1;
#if STRATA_HAVE_CUDA
    if (TapHasDevice()) {
      double *dl = DeviceCopy(&largest[m], sizeof(double)), *dp = DeviceCopy(power, sizeof(power)), *dt = DeviceCopy(power, sizeof(double)), back[2];

      same &= !StrataPowersCUDA(dl, dp, NULL) && !StrataTimesCUDA(DeviceCopy(&third, sizeof(third)), dp + 1, dt, NULL);
      DeviceRead(back, dp, sizeof(back));
      same &= back[0] == power[0] && back[1] == power[1];
      DeviceRead(back, dt, sizeof(double));
      same &= back[0] == times;
      DeviceFreeAll();
    }
#endif
  }
  ok(good, "powers of two that bring numbers into the range of single precision");
  if (TapHasDevice())
    ok(same, "on the device");
  else
    skip("no GPU");
}

static void Differences(void)
{
  const ptrdiff_t n = 1003;
  Arrays          arrays = {.count = 0};
  double         *b = Numbers_d(&arrays, n, -1, 1), *r = Numbers_d(&arrays, n, -1, 1), *q = Numbers_d(&arrays, n, 0, 1);
  int             good = 1;

  memcpy(q, r, n * sizeof(*r));
  StrataSubtractHost(n, b, q);
  for (ptrdiff_t i = 0; i < n; i++) good &= q[i] == b[i] - r[i];
  ok(good, "differences");
#if STRATA_HAVE_CUDA
  if (TapHasDevice()) {
    double *db = DeviceCopy(b, n * sizeof(*b)), *dr = DeviceCopy(r, n * sizeof(*r));

    good = !StrataSubtractCUDA(n, db, dr, NULL);
    DeviceRead(r, dr, n * sizeof(*r));
    ok(good && Same_d(r, q, n), "on the device");
    DeviceFreeAll();
  } else
#endif
    skip("no GPU");
  FreeArrays(&arrays);
}

static void Faults(void)
{
  const ptrdiff_t n = 70001;

  for (int which = 0; which < 4; which++) {
    Arrays               arrays = {.count = 0};
    double              *d = Numbers_d(&arrays, n, 0.5, 2);
    StrataDiagonalFaults faults = {7, 7};

    if (which & 1) d[n - 1] = d[60000] = 0;
    if (which & 2) {
      d[n - 2] = INFINITY;
      d[513] = NAN;
    }
    StrataDiagonalCheckHost(n, d, &faults);
    ok(faults.zero == (which & 1 ? 60000 : -1) && faults.nonfinite == (which & 2 ? 513 : -1), "the first faults of a diagonal, case %d", which);
#if STRATA_HAVE_CUDA
    if (TapHasDevice()) {
      StrataDiagonalFaults there = {7, 7};

      ok(!StrataDiagonalCheckCUDA(n, DeviceCopy(d, n * sizeof(*d)), &there, NULL) && there.zero == faults.zero && there.nonfinite == faults.nonfinite,
         "on the device");
      DeviceFreeAll();
    } else
#endif
      skip("no GPU");
    FreeArrays(&arrays);
  }
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  frames_d("fp64");
  frames_f("fp32");
  Quotients();
  Powers();
  Differences();
  Faults();
  return TapEnd();
}
