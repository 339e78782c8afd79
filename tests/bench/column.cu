/*
   The column solve on the device against copying one vector: 65536 columns of 128 levels. Usage: column [report.json]
*/
#include "bench.h"
#include "../../src/column/column_kernels.h"

static const int BUFFERS = 4;

static int thomas(const StrataLines_d &lines, const double *r, double *z, void *work)
{
  return StrataThomasCUDA_d(&lines, 0, 1, r, 0, NULL, z, 0, work, NULL);
}

static int thomas(const StrataLines_f &lines, const float *r, float *z, void *work)
{
  return StrataThomasCUDA_f(&lines, 0, 1, r, 0, NULL, z, 0, work, NULL);
}

static int work_size(const StrataLines_d &lines, size_t *bytes)
{
  return StrataThomasWorkCUDA_d(&lines, 1, 0, bytes);
}

static int work_size(const StrataLines_f &lines, size_t *bytes)
{
  return StrataThomasWorkCUDA_f(&lines, 1, 0, bytes);
}

template <class T, class Lines> static void bench(Report &report, const std::string &precision)
{
  const int    columns = 65536, levels = 128;
  const size_t cells = (size_t)columns * levels;
  T           *r[BUFFERS], *z[BUFFERS], *leg, *excess, *column, *level;

  for (int b = 0; b < BUFFERS; b++) {
    r[b] = random_array<T>(cells, -1, 1, 1 + b);
    z[b] = random_array<T>(cells, -1, 1, 10 + b);
  }
  leg = random_array<T>(cells, -2, -1, 20);
  excess = random_array<T>(cells, 0.1, 1, 21);
  column = random_array<T>(5 * (size_t)columns, 0.5, 1, 22);
  level = random_array<T>(4 * (size_t)levels, -1, -0.5, 23);

  const Timing copy =
      time_calls([&](int i) { CUDA(cudaMemcpyAsync(z[i % BUFFERS], r[(i + 1) % BUFFERS], cells * sizeof(T), cudaMemcpyDeviceToDevice)); });

  report.line("copy of a vector, " + precision, copy, 2.0 * cells * sizeof(T) / copy.median / 1e6, "TB/s", 0);
  for (int kind = 0; kind < 4; kind++) {
    static const char *const names[] = {"tensor, x fastest", "tensor, z fastest", "faces, x fastest", "faces, z fastest"};
    const int                axis = kind % 2 ? 0 : 2, tensor = kind < 2;
    Lines                    lines = {};
    size_t                   bytes;
    void                    *work;

    lines.axis = axis;
    lines.rows = tensor ? STRATA_ROWS_SHARED : STRATA_ROWS_ARRAYS;
    lines.coef.form = tensor ? STRATA_TENSOR : STRATA_FACES;
    lines.coef.axis = axis;
    lines.coef.scale = 1;
    lines.coef.masked = 1;
    lines.coef.n[0] = axis == 0 ? levels : 256;
    lines.coef.n[1] = 256;
    lines.coef.n[2] = axis == 0 ? 256 : levels;
    lines.coef.area = column;
    for (int m = 0; m < 4; m++) {
      lines.coef.alpha[m] = column + (m + 1) * columns;
      lines.coef.level[m] = level + m * levels;
    }
    if (!tensor) {
      lines.excess = excess;
      lines.lower = leg;
    }
    CUDA(work_size(lines, &bytes));
    CUDA(cudaMalloc(&work, bytes ? bytes : 1));
    const Timing t = time_calls([&](int i) { CUDA(thomas(lines, r[i % BUFFERS], z[i % BUFFERS], work)); });

    report.line("column solve 65536 x 128, " + std::string(names[kind]) + ", " + precision, t, (tensor ? 1 : 2) * copy.median / t.median, "of copy",
                0);
    CUDA(cudaFree(work));
  }
  for (int b = 0; b < BUFFERS; b++) {
    CUDA(cudaFree(r[b]));
    CUDA(cudaFree(z[b]));
  }
  CUDA(cudaFree(leg));
  CUDA(cudaFree(excess));
  CUDA(cudaFree(column));
  CUDA(cudaFree(level));
}

int main(int argc, char **argv)
{
  Report report(argc > 1 ? argv[1] : NULL);

  bench<double, StrataLines_d>(report, "fp64");
  bench<float, StrataLines_f>(report, "fp32");
  return report.write();
}
