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
  const ptrdiff_t n = 1003;
  Arrays          arrays = {.count = 0};
  double *a = Numbers_d(&arrays, n, -1, 1), *d = Numbers_d(&arrays, n, 0.5, 2), *q = Numbers_d(&arrays, n, 0, 1), *p = Numbers_d(&arrays, n, 0, 1);
  int     good = 1;

  StrataQuotientHost(n, -2, a, d, 0, q);
  for (ptrdiff_t i = 0; i < n; i++) good &= q[i] == -2 * a[i] / d[i];
  StrataQuotientHost(n, 1, a, NULL, 3, p);
  for (ptrdiff_t i = 0; i < n; i++) good &= p[i] == a[i] / 3;
  ok(good, "quotients by an array and by a number");
#if STRATA_HAVE_CUDA
  if (TapHasDevice()) {
    double *da = DeviceCopy(a, n * sizeof(*a)), *dd = DeviceCopy(d, n * sizeof(*d)), *back = Numbers_d(&arrays, n, 0, 1);

    good = !StrataQuotientCUDA(n, 1, da, NULL, 3, dd, NULL);
    DeviceRead(back, dd, n * sizeof(*back));
    good &= Same_d(back, p, n);
    dd = DeviceCopy(d, n * sizeof(*d));
    good &= !StrataQuotientCUDA(n, -2, da, dd, 0, da, NULL);
    DeviceRead(back, da, n * sizeof(*back));
    ok(good && Same_d(back, q, n), "on the device");
    DeviceFreeAll();
  } else
#endif
    skip("no GPU");
  FreeArrays(&arrays);
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
  Differences();
  Faults();
  return TapEnd();
}
