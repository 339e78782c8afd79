/*
   The operator on the device against copying one vector. Usage: operator [report.json]
*/
#include "bench.h"
#include "../../src/operator/operator_kernels.h"

static const int N[3] = {256, 256, 128}, BUFFERS = 4;

static int mult(const StrataCoef_d &c, const StrataGhost ghost[], const StrataBox &box, const double *x, double *y)
{
  return StrataMultCUDA_d(&c, ghost, 1, &box, 1, x, 0, NULL, y, 0, NULL);
}

static int mult(const StrataCoef_f &c, const StrataGhost ghost[], const StrataBox &box, const float *x, float *y)
{
  return StrataMultCUDA_f(&c, ghost, 1, &box, 1, x, 0, NULL, y, 0, NULL);
}

template <class T, class Coef> static void bench(Report &report, const std::string &precision)
{
  const size_t    cells = (size_t)N[0] * N[1] * N[2];
  const StrataBox box = {{0, 0, 0}, {N[0], N[1], N[2]}};
  StrataGhost     none[STRATA_LEGS] = {};
  T              *x[BUFFERS], *y[BUFFERS], *number[STRATA_LEGS + 1], *column;

  for (int b = 0; b < BUFFERS; b++) {
    x[b] = random_array<T>(cells, -1, 1, 1 + b);
    y[b] = random_array<T>(cells, -1, 1, 10 + b);
  }
  for (int l = 0; l <= STRATA_LEGS; l++) number[l] = random_array<T>(cells, l < STRATA_LEGS ? -1 : 0, l < STRATA_LEGS ? -0.5 : 1, 20 + l);
  column = random_array<T>(5 * (size_t)N[0] * N[1] + 4 * (size_t)N[0], 0.5, 1, 30);

  const Timing copy =
      time_calls([&](int i) { CUDA(cudaMemcpyAsync(y[i % BUFFERS], x[(i + 1) % BUFFERS], cells * sizeof(T), cudaMemcpyDeviceToDevice)); });
  const double bytes = 2.0 * cells * sizeof(T);

  report.line("copy of a vector, " + precision, copy, bytes / copy.median / 1e6, "TB/s", 0);
  for (int kind = 0; kind < 6; kind++) {
    static const char *const names[] = {"constant", "tensor, columns along z", "tensor, columns along x", "tensor, columns along y", "faces", "legs"};
    static const int         forms[] = {STRATA_CONSTANT, STRATA_TENSOR, STRATA_TENSOR, STRATA_TENSOR, STRATA_FACES, STRATA_LEGWISE},
                     axes[] = {2, 2, 0, 1, 2, 2}, streams[] = {2, 2, 2, 2, 6, 9};
    Coef   c = {};
    size_t columns;

    c.form = forms[kind];
    c.axis = axes[kind];
    c.scale = 1;
    c.masked = 1;
    c.excess = (T)0.5;
    for (int a = 0; a < 3; a++) c.n[a] = N[a];
    for (int l = 0; l < STRATA_LEGS; l++) {
      c.leg[l] = (T)(-1 - 0.1 * l);
      c.outside[l] = kind == 0 ? STRATA_OUTSIDE_ZERO : STRATA_OUTSIDE_NONE;
      c.legs[l] = number[l];
    }
    c.cell = number[STRATA_LEGS];
    columns = cells / N[c.axis];
    c.area = column;
    for (int m = 0; m < 4; m++) {
      c.alpha[m] = column + (m + 1) * columns;
      c.level[m] = column + 5 * columns + m * N[c.axis];
    }
    const Timing t = time_calls([&](int i) { CUDA(mult(c, none, box, x[i % BUFFERS], y[i % BUFFERS])); });

    report.line("operator 256x256x128, " + std::string(names[kind]) + ", " + precision, t, streams[kind] / 2.0 * copy.median / t.median, "of copy",
                kind < 2 && sizeof(T) == 8 ? 0.85 : 0);
  }
  for (int b = 0; b < BUFFERS; b++) {
    CUDA(cudaFree(x[b]));
    CUDA(cudaFree(y[b]));
  }
  for (int l = 0; l <= STRATA_LEGS; l++) CUDA(cudaFree(number[l]));
  CUDA(cudaFree(column));
}

int main(int argc, char **argv)
{
  Report report(argc > 1 ? argv[1] : NULL);

  bench<double, StrataCoef_d>(report, "fp64");
  bench<float, StrataCoef_f>(report, "fp32");
  return report.write();
}
