/*
   The two passes of conjugate gradients along columns: the reference on the host against operator, column solve and sums by themselves, and the
   device against the reference with ==
*/
/* sanitize: memcheck initcheck */
/* racecheck does not see that bulk copies into shared memory wait for the barriers that threads have arrived at */
#include "kernels.h"
#include "../src/cg/cg_columns_cell.h"
#include "../src/operator/operator_cell.h"

/* One cell, less than a chunk of levels, whole chunks, tiles that are full, cut and one column wide */
static const int grids[][3] = {{1, 1, 1}, {2, 1, 3}, {3, 5, 8}, {33, 17, 9}, {32, 16, 24}, {65, 6, 21}};

/* Operators: tensor without flux through the sides; constant with Dirichlet sides and a shift; tensor with hardly anything of its own */
enum { TENSOR, CONSTANT, STIFF, KINDS };

#define STRATA_TYPED "../../tests/cg_columns_kernels_typed.h"
#include "../src/sys/typed.h"

/* From a vector in double precision to the passes in single precision, and back, on the device with == */
static void rounded(const int n[3])
{
  const ptrdiff_t   cells = (ptrdiff_t)n[0] * n[1] * n[2];
  Arrays            a = {.count = 0};
  StrataLines_f     lines;
  StrataCGColumns_f q = StrataCGColumnsPlan_f(n);
  Passes_f          v, same;
  float            *level, *column, *given, *pbefore;
  double           *from, *minus, *to, *sum;
  int               wrong = 0;

  operator_f(&lines, &a, TENSOR, n);
  level = Numbers_f(&a, StrataCGColumnsLevel_f(&q), 0, 0);
  column = Numbers_f(&a, StrataCGColumnsColumn_f(&q), 0, 0);
  ok(StrataCGColumnsSetUpHost_f(&lines, &q, level, column), "%d x %d x %d: set-up", n[0], n[1], n[2]);
  q.level = level;
  q.column = column;
  v = passes_f(&q, &a);
  same = passes_f(&q, &a);
  from = Numbers_d(&a, cells, -1, 1);
  minus = Numbers_d(&a, cells, -1, 1);
  to = Numbers_d(&a, cells, -1, 1);
  sum = Numbers_d(&a, cells, 0, 0);
  given = Numbers_f(&a, cells, 0, 0);
  for (ptrdiff_t i = 0; i < cells; i++) given[i] = (float)(4 * (from[i] - minus[i]));
  StrataCGColumnsEnterHost_f(&q, given, given, given, same.r[0], same.p[0], same.x, same.start, same.F);
  StrataCGColumnsEnterHost_f(&q, given, given, given, v.r[0], v.p[0], v.x, v.start, v.F);
  pbefore = Numbers_f(&a, StrataCGColumnsVector_f(&q), 0, 0);
  memcpy(pbefore, v.p[0], StrataCGColumnsVector_f(&q) * sizeof(float));
  for (int again = 0; again < 2; again++) { /* p is kept and r a difference, then p is zero and r one vector */
    const float   ratio = again ? 0 : 0.5f;
    const double *without = again ? NULL : minus;

    if (again)
      for (ptrdiff_t i = 0; i < cells; i++) from[i] = from[i] - minus[i];

    StrataCGColumnsRoundHost(&q, 4, from, without, ratio, v.r[0], v.p[0], v.x, v.start, v.F);
    ok(Same_f(v.r[0], same.r[0], StrataCGColumnsVector_f(&q)) && Same_f(v.start, same.start, StrataCGColumnsChunks_f(&q)) &&
           Same_f(v.F, same.F, StrataCGColumnsChunks_f(&q)),
       "r is rounded, and enters as a rounded one does");
    wrong = 0;
    for (ptrdiff_t i = 0; i < StrataCGColumnsVector_f(&q); i++)
      if (v.p[0][i] != ratio * pbefore[i] || v.x[i] != 0) wrong++;
    ok(!wrong, "p is scaled by %g, x is zero", (double)ratio);
#if STRATA_HAVE_CUDA
    if (TapHasDevice()) {
      const size_t      vector = StrataCGColumnsVector_f(&q) * sizeof(float), chunks = StrataCGColumnsChunks_f(&q) * sizeof(float);
      StrataCGColumns_f dq = q;
      double           *dfrom = (double *)DeviceCopy(from, cells * sizeof(double));
      double           *dminus = (double *)DeviceCopy(minus, cells * sizeof(double));
      float            *r = (float *)DeviceCopy(pbefore, vector), *p = (float *)DeviceCopy(pbefore, vector);
      float *x = (float *)DeviceCopy(pbefore, vector), *start = (float *)DeviceCopy(same.z, chunks), *F = (float *)DeviceCopy(same.z, chunks);
      int    err;

      dq.level = (const float *)DeviceCopy(level, StrataCGColumnsLevel_f(&q) * sizeof(float));
      dq.column = (const float *)DeviceCopy(column, StrataCGColumnsColumn_f(&q) * sizeof(float));
      err = StrataCGColumnsRoundCUDA(&dq, 4, dfrom, again ? NULL : dminus, ratio, r, p, x, start, F, NULL);
      DeviceRead(same.r[1], r, vector);
      DeviceRead(same.p[1], p, vector);
      DeviceRead(same.x, x, vector);
      DeviceRead(same.start, start, chunks);
      DeviceRead(same.z, F, chunks);
      ok(err == 0 && Same_f(same.r[1], v.r[0], vector / sizeof(float)) && Same_f(same.p[1], v.p[0], vector / sizeof(float)) &&
             Same_f(same.x, v.x, vector / sizeof(float)) && Same_f(same.start, v.start, chunks / sizeof(float)) &&
             Same_f(same.z, v.F, chunks / sizeof(float)),
         "device: the same");
      DeviceFreeAll();
    } else
#endif
      skip("no GPU");
  }
  memcpy(v.p[0], pbefore, StrataCGColumnsVector_f(&q) * sizeof(float));
  memcpy(v.x, pbefore, StrataCGColumnsVector_f(&q) * sizeof(float));
  memcpy(sum, to, cells * sizeof(double));
#if STRATA_HAVE_CUDA
  if (TapHasDevice()) {
    const size_t vector = StrataCGColumnsVector_f(&q) * sizeof(float);
    float       *p = (float *)DeviceCopy(v.p[0], vector), *x = (float *)DeviceCopy(v.x, vector);
    double      *dto = (double *)DeviceCopy(to, cells * sizeof(double)), *got = Numbers_d(&a, cells, 0, 0);
    int          err = StrataCGColumnsAddCUDA(&q, 0.25, 0.75f, p, x, dto, NULL);

    DeviceRead(got, dto, cells * sizeof(double));
    DeviceRead(same.x, x, vector);
    StrataCGColumnsAddHost(&q, 0.25, 0.75f, v.p[0], v.x, sum);
    ok(err == 0 && Same_d(got, sum, cells) && Same_f(same.x, v.x, vector / sizeof(float)), "device: x is added as on the host");
    DeviceFreeAll();
  } else
#endif
  {
    StrataCGColumnsAddHost(&q, 0.25, 0.75f, v.p[0], v.x, sum);
    skip("no GPU");
  }
  wrong = 0;
  for (ptrdiff_t i = 0; i < cells; i++)
    if (sum[i] != fma(0.25, (double)fmaf(0.75f, given[i], given[i]), to[i])) wrong++;
  ok(!wrong, "x and the step that it lacks are added");
  FreeArrays(&a);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  columns_d("fp64", 1e-12);
  columns_f("fp32", 1e-4);
  refused_d("fp64");
  refused_f("fp32");
  for (size_t g = 0; g < sizeof(grids) / sizeof(*grids); g++) rounded(grids[g]);
  return TapEnd();
}
