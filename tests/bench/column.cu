/*
   Column solves on the device against copying one vector, and against cuSPARSE. Each solution is compared with that of the host, which must
   be the same. Usage: column [report.json]
*/
#include "bench.h"
#include "../../src/column/column_kernels.h"
#include <cusparse.h>
#include <dlfcn.h>
#include <cmath>

static const int BUFFERS = 4, LEVELS = 128;

/* What the kernels are called, for each precision */
template <class T> struct Kernels;
template <> struct Kernels<double> {
  typedef StrataLines_d       Lines;
  static constexpr auto       thomas_work = StrataThomasWorkCUDA_d;
  static constexpr auto       thomas = StrataThomasCUDA_d;
  static constexpr auto       start = StrataPartitionStart_d;
  static constexpr auto       work = StrataPartitionWork_d;
  static constexpr auto       set_up = StrataPartitionSetUpCUDA_d;
  static constexpr auto       set_up_host = StrataPartitionSetUpHost_d;
  static constexpr auto       partition = StrataPartitionCUDA_d;
  static constexpr auto       partition_host = StrataPartitionHost_d;
  static constexpr const char letter = 'D';
};
template <> struct Kernels<float> {
  typedef StrataLines_f       Lines;
  static constexpr auto       thomas_work = StrataThomasWorkCUDA_f;
  static constexpr auto       thomas = StrataThomasCUDA_f;
  static constexpr auto       start = StrataPartitionStart_f;
  static constexpr auto       work = StrataPartitionWork_f;
  static constexpr auto       set_up = StrataPartitionSetUpCUDA_f;
  static constexpr auto       set_up_host = StrataPartitionSetUpHost_f;
  static constexpr auto       partition = StrataPartitionCUDA_f;
  static constexpr auto       partition_host = StrataPartitionHost_f;
  static constexpr const char letter = 'S';
};

/* TENSOR: symmetric, as that of a pressure problem; UNSYMMETRIC: tensor too */
enum Rows { TENSOR, UNSYMMETRIC, FACES, LEGS };
static const char *const rows_name[] = {"tensor", "tensor unsymmetric", "faces", "legs"};

/* Device arrays of one precision, for all cases, and host copies of them if they are compared */
template <class T> struct Data {
  size_t         cells, columns, levels;
  T             *r[BUFFERS], *z[BUFFERS], *lower, *upper, *excess, *area, *alpha, *level;
  std::vector<T> hostr, hostlower, hostupper, hostexcess, hostarea, hostalpha, hostlevel;

  Data(size_t cells, size_t columns, size_t levels, bool compared) : cells(cells), columns(columns), levels(levels)
  {
    for (int b = 0; b < BUFFERS; b++) {
      r[b] = random_array<T>(cells, -1, 1, 1 + b);
      CUDA(cudaMalloc(&z[b], cells * sizeof(T)));
      CUDA(cudaMemset(z[b], 0xff, cells * sizeof(T))); /* NaN */
    }
    lower = random_array<T>(cells, -2, -1, 20);
    upper = random_array<T>(cells, -2, -1, 21);
    excess = random_array<T>(cells, 0.1, 1, 22);
    area = random_array<T>(columns, 0.5, 1, 23);
    alpha = random_array<T>(4 * columns, 0.05, 0.1, 25);
    level = random_array<T>(4 * levels, -1, -0.5, 24);
    if (!compared) return;
    fetch(hostr, r[0], cells);
    fetch(hostlower, lower, cells);
    fetch(hostupper, upper, cells);
    fetch(hostexcess, excess, cells);
    fetch(hostarea, area, columns);
    fetch(hostalpha, alpha, 4 * columns);
    fetch(hostlevel, level, 4 * levels);
  }
  ~Data()
  {
    for (int b = 0; b < BUFFERS; b++) {
      cudaFree(r[b]);
      cudaFree(z[b]);
    }
    for (T *p : {lower, upper, excess, area, alpha, level}) cudaFree(p);
  }
  static void fetch(std::vector<T> &to, const T *from, size_t n)
  {
    to.resize(n);
    CUDA(cudaMemcpy(to.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost));
  }
  typename Kernels<T>::Lines lines(Rows rows, const int n[3], int axis, bool host) const
  {
    typename Kernels<T>::Lines t = {};
    const size_t               count = (size_t)n[0] * n[1] * n[2] / n[axis];

    t.axis = t.coef.axis = axis;
    t.rows = rows <= UNSYMMETRIC ? STRATA_ROWS_SHARED : STRATA_ROWS_ARRAYS;
    t.coef.form = rows <= UNSYMMETRIC ? STRATA_TENSOR : rows == FACES ? STRATA_FACES : STRATA_LEGWISE;
    t.coef.scale = t.coef.masked = 1;
    for (int a = 0; a < 3; a++) t.coef.n[a] = n[a];
    t.coef.area = host ? hostarea.data() : area;
    for (int m = 0; m < 4; m++) {
      t.coef.alpha[m] = (host ? hostalpha.data() : alpha) + m * count;
      t.coef.level[m] = (host ? hostlevel.data() : level) + m * n[axis];
    }
    t.coef.level[0] = host ? hostexcess.data() : excess;
    if (rows == TENSOR) t.coef.level[2] = t.coef.level[1] - 1; /* the lower leg of a level is the upper one of the level before */
    if (rows > UNSYMMETRIC) {
      t.excess = host ? hostexcess.data() : excess;
      t.lower = host ? hostlower.data() : lower;
      if (rows == LEGS) t.upper = host ? hostupper.data() : upper;
    }
    return t;
  }
};

/* Is the solution of the right-hand side 0 that of the host? */
template <class T> static void compare(const Data<T> &data, Rows rows, const int n[3], int axis, const std::string &name)
{
  typedef Kernels<T> K;
  auto               t = data.lines(rows, n, axis, true);
  const size_t       cells = (size_t)n[0] * n[1] * n[2];
  std::vector<T>     start(K::start(&t)), z(cells), got;
  std::vector<char>  work(K::work(&t, 1, 0));

  K::set_up_host(&t, start.data(), &t.sums);
  K::partition_host(&t, start.data(), 1, data.hostr.data(), 0, NULL, z.data(), 0, work.data());
  Data<T>::fetch(got, data.z[0], cells);
  for (size_t i = 0; i < cells; i++)
    if (got[i] != z[i]) {
      printf("WRONG: %s: cell %zu has %.17g, not %.17g\n", name.c_str(), i, (double)got[i], (double)z[i]);
      exit(1);
    }
}

/* The partition method on one set of lines; against: for the plot of time against bytes */
template <class T>
static Timing solve(Report &report, const Data<T> &data, double copy_of_cell, Rows rows, const int n[3], int axis, const std::string &shape,
                    double goal, bool check, bool against = false)
{
  typedef Kernels<T> K;
  auto               t = data.lines(rows, n, axis, false);
  const size_t       cells = (size_t)n[0] * n[1] * n[2], bytes = K::work(&t, 1, 1);
  const double       streams = rows <= UNSYMMETRIC ? 2 : rows == FACES ? 4 : 5;
  const std::string  name =
      "partition " + shape + ", " + rows_name[rows] + (axis ? ", x fastest, " : ", z fastest, ") + (sizeof(T) == 8 ? "fp64" : "fp32");
  T    *start;
  void *work;

  CUDA(cudaMalloc(&start, K::start(&t) * sizeof(T)));
  CUDA(cudaMalloc(&work, bytes ? bytes : 1));
  const Timing once = time_calls([&](int) { CUDA(K::set_up(&t, start, &t.sums, NULL)); }, 1, 1);
  const Timing time = time_calls([&](int i) { CUDA(K::partition(&t, start, 1, data.r[i % BUFFERS], 0, NULL, data.z[i % BUFFERS], 0, work, NULL)); });
  const double copy = copy_of_cell * cells;

  if (check) compare(data, rows, n, axis, name);
  if (against)
    report.line("roofline: " + shape + ", partition, " + rows_name[rows] + (axis ? ", x fastest" : ", z fastest"), time,
                streams * cells * sizeof(T) / time.median / 1e6, "TB/s", 0, streams * cells * sizeof(T));
  else
    report.line(name, time, streams / 2 * copy / time.median, "of copy", goal);
  if (!against) report.line("  its set-up", once, once.median / time.median, "solves", 0);
  CUDA(cudaFree(start));
  CUDA(cudaFree(work));
  return time;
}

template <class T> static Timing thomas(Report &report, const Data<T> &data, double copy_of_cell, Rows rows, const int n[3], int axis)
{
  typedef Kernels<T> K;
  const auto         t = data.lines(rows, n, axis, false);
  size_t             bytes;
  void              *work;

  CUDA(K::thomas_work(&t, 1, 0, &bytes));
  CUDA(cudaMalloc(&work, bytes ? bytes : 1));
  const Timing time = time_calls([&](int i) { CUDA(K::thomas(&t, 0, 1, data.r[i % BUFFERS], 0, NULL, data.z[i % BUFFERS], 0, work, NULL)); });

  report.line(std::string("thomas 65536 x 128, ") + rows_name[rows] + (axis ? ", x fastest, " : ", z fastest, ") + (sizeof(T) == 8 ? "fp64" : "fp32"),
              time, (rows == TENSOR ? 1 : 2) * copy_of_cell * n[0] * n[1] * n[2] / time.median, "of copy", 0);
  CUDA(cudaFree(work));
  return time;
}

template <class T> static __global__ void make_diagonal(size_t n, const T *excess, const T *lower, const T *upper, T *diagonal)
{
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    diagonal[i] = excess[i] - lower[i] - upper[i];
}

/* cuSPARSE on the legs of lines of 128 cells. It works in place, the interleaved form in the matrix too: everything is copied anew before each
   call, outside the time. PETSc's library has brought it along. */
template <class T> static Timing cusparse(const Data<T> &data, int lines, bool interleaved)
{
  const int           levels = LEVELS;
  const size_t        bytes = (size_t)lines * levels * sizeof(T);
  const std::string   routine = std::string("cusparse") + Kernels<T>::letter + (interleaved ? "gtsvInterleavedBatch" : "gtsv2StridedBatch");
  cusparseHandle_t    handle;
  cudaEvent_t         start, stop;
  size_t              size;
  T                  *a[4]; /* lower leg, diagonal, upper leg, right-hand side */
  void               *buffer;
  std::vector<double> us;
  std::vector<T>      result;

  auto  create = (decltype(&cusparseCreate))dlsym(RTLD_DEFAULT, "cusparseCreate");
  auto  destroy = (decltype(&cusparseDestroy))dlsym(RTLD_DEFAULT, "cusparseDestroy");
  void *solve = dlsym(RTLD_DEFAULT, routine.c_str()), *sized = dlsym(RTLD_DEFAULT, (routine + "_bufferSizeExt").c_str());

  if (!create || !destroy || !solve || !sized) {
    printf("%s is not in the libraries of this program\n", routine.c_str());
    return {0, 0, 0};
  }
  auto call = [&](cusparseStatus_t status) {
    if (status == CUSPARSE_STATUS_SUCCESS) return;
    fprintf(stderr, "%s: status %d\n", routine.c_str(), (int)status);
    exit(1);
  };
  T *d;

  CUDA(cudaMalloc(&d, bytes));
  make_diagonal<<<1024, 256>>>(bytes / sizeof(T), data.excess, data.lower, data.upper, d);
  CUDA(cudaGetLastError());
  for (T *&p : a) CUDA(cudaMalloc(&p, bytes));
  call(create(&handle));
  if (interleaved)
    call(((cusparseStatus_t(*)(cusparseHandle_t, int, int, const T *, const T *, const T *, const T *, int, size_t *))sized)(
        handle, 0, levels, a[0], a[1], a[2], a[3], lines, &size));
  else
    call(((cusparseStatus_t(*)(cusparseHandle_t, int, const T *, const T *, const T *, const T *, int, int, size_t *))sized)(
        handle, levels, a[0], a[1], a[2], a[3], lines, levels, &size));
  CUDA(cudaMalloc(&buffer, size ? size : 1));
  CUDA(cudaEventCreate(&start));
  CUDA(cudaEventCreate(&stop));
  for (int s = 0; s < 12; s++) {
    float ms;

    CUDA(cudaMemcpy(a[0], data.lower, bytes, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpy(a[1], d, bytes, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpy(a[2], data.upper, bytes, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpy(a[3], data.r[s % BUFFERS], bytes, cudaMemcpyDeviceToDevice));
    /* no lower leg in the first row and no upper one in the last */
    if (interleaved) {
      CUDA(cudaMemset(a[0], 0, lines * sizeof(T)));
      CUDA(cudaMemset(a[2] + (levels - 1) * (size_t)lines, 0, lines * sizeof(T)));
    } else {
      CUDA(cudaMemset2D(a[0], levels * sizeof(T), 0, sizeof(T), lines));
      CUDA(cudaMemset2D(a[2] + levels - 1, levels * sizeof(T), 0, sizeof(T), lines));
    }
    CUDA(cudaEventRecord(start));
    if (interleaved)
      call(((cusparseStatus_t(*)(cusparseHandle_t, int, int, T *, T *, T *, T *, int, void *))solve)(handle, 0, levels, a[0], a[1], a[2], a[3], lines,
                                                                                                     buffer));
    else
      call(((cusparseStatus_t(*)(cusparseHandle_t, int, const T *, const T *, const T *, T *, int, int, void *))solve)(
          handle, levels, a[0], a[1], a[2], a[3], lines, levels, buffer));
    CUDA(cudaEventRecord(stop));
    CUDA(cudaEventSynchronize(stop));
    CUDA(cudaEventElapsedTime(&ms, start, stop));
    if (s) us.push_back(1e3 * ms);
  }
  std::sort(us.begin(), us.end());
  Data<T>::fetch(result, a[3], bytes / sizeof(T));
  for (T v : result)
    if (!std::isfinite(v)) {
      printf("WRONG: %s gave NaN or infinity\n", routine.c_str());
      exit(1);
    }
  call(destroy(handle));
  CUDA(cudaEventDestroy(start));
  CUDA(cudaEventDestroy(stop));
  for (T *p : {a[0], a[1], a[2], a[3], d}) CUDA(cudaFree(p));
  CUDA(cudaFree(buffer));
  return {us[us.size() / 2], us.front(), us.back()};
}

template <class T> static void bench(Report &report)
{
  const std::string precision = sizeof(T) == 8 ? "fp64" : "fp32";
  const int         xfastest[3] = {256, 256, 128}, zfastest[3] = {128, 256, 256}, one[3] = {1 << 24, 1, 1}, few[3] = {4096, 1024, 1},
            fewx[3] = {1024, 1, 4096}, many[3] = {20, 1000, 1000}, manyx[3] = {1000, 1000, 20};
  const size_t  cells = (size_t)65536 * 128;
  const Data<T> data(20000000, 1000000, 4096, true);
  const Timing  copy =
      time_calls([&](int i) { CUDA(cudaMemcpyAsync(data.z[i % BUFFERS], data.r[(i + 1) % BUFFERS], cells * sizeof(T), cudaMemcpyDeviceToDevice)); });
  const double each = copy.median / cells, main = sizeof(T) == 8;

  report.line("copy of a vector of 65536 x 128, " + precision, copy, 2.0 * cells * sizeof(T) / copy.median / 1e6, "TB/s", 0);
  const Timing tx = solve(report, data, each, TENSOR, xfastest, 2, "65536 x 128", main * 0.8, true);
  const Timing tz = solve(report, data, each, TENSOR, zfastest, 0, "65536 x 128", main * 0.78, true);
  solve(report, data, each, UNSYMMETRIC, xfastest, 2, "65536 x 128", 0, true);
  solve(report, data, each, UNSYMMETRIC, zfastest, 0, "65536 x 128", 0, true);
  solve(report, data, each, FACES, xfastest, 2, "65536 x 128", main * 0.7, true);
  solve(report, data, each, FACES, zfastest, 0, "65536 x 128", main * 0.7, true);
  const Timing lx = solve(report, data, each, LEGS, xfastest, 2, "65536 x 128", main * 0.7, true);
  const Timing lz = solve(report, data, each, LEGS, zfastest, 0, "65536 x 128", main * 0.7, true);
  thomas(report, data, each, TENSOR, xfastest, 2);
  thomas(report, data, each, TENSOR, zfastest, 0);
  thomas(report, data, each, FACES, xfastest, 2);
  thomas(report, data, each, FACES, zfastest, 0);
  const Timing interleaved = cusparse(data, 65536, true), strided = cusparse(data, 65536, false);

  report.line("cusparse gtsvInterleavedBatch 65536 x 128, " + precision, interleaved, interleaved.median / copy.median, "copies", 0);
  report.line("cusparse gtsv2StridedBatch 65536 x 128, " + precision, strided, strided.median / copy.median, "copies", 0);
  report.line("  tensor, x fastest, over interleaved", tx, interleaved.median / tx.median, "times", main * 4.5);
  report.line("  tensor, z fastest, over strided", tz, strided.median / tz.median, "times", main * 7.5);
  report.line("  legs, x fastest, over interleaved", lx, interleaved.median / lx.median, "times", main * 2.2);
  report.line("  legs, z fastest, over strided", lz, strided.median / lz.median, "times", main * 3.5);
  solve(report, data, each, FACES, one, 0, "1 x 2^24", 0, main);
  solve(report, data, each, TENSOR, few, 0, "1024 x 4096", 0, true);
  solve(report, data, each, TENSOR, fewx, 2, "1024 x 4096", 0, true);
  solve(report, data, each, FACES, fewx, 2, "1024 x 4096", 0, false);
  solve(report, data, each, TENSOR, many, 0, "10^6 x 20", 0, main);
  solve(report, data, each, TENSOR, manyx, 2, "10^6 x 20", 0, main);
  solve(report, data, each, FACES, manyx, 2, "10^6 x 20", 0, false);
}

/* Time against bytes, for few columns and many */
static void roofline(Report &report)
{
  const Timing launch = time_launch();

  report.line("roofline: launch", launch, 1, "launches", 0);
  for (int side : {64, 128, 256, 512, 1024, 2048}) {
    const int          xfastest[3] = {side, side, LEVELS}, zfastest[3] = {LEVELS, side, side}, columns = side * side;
    const size_t       cells = (size_t)columns * LEVELS;
    const std::string  shape = std::to_string(columns) + " x " + std::to_string(LEVELS);
    const Data<double> data(cells, columns, LEVELS, false);
    const double       bytes = 2.0 * cells * sizeof(double);
    const auto         point = [&](const std::string &what, double vectors, Timing t) {
      if (t.median) report.line("roofline: " + shape + ", " + what, t, vectors / 2 * bytes / t.median / 1e6, "TB/s", 0, vectors / 2 * bytes);
    };

    point("copy", 2, time_calls([&](int i) {
            CUDA(cudaMemcpyAsync(data.z[i % BUFFERS], data.r[(i + 1) % BUFFERS], cells * sizeof(double), cudaMemcpyDeviceToDevice));
          }));
    solve(report, data, 0, TENSOR, xfastest, 2, shape, 0, false, true);
    solve(report, data, 0, TENSOR, zfastest, 0, shape, 0, false, true);
    solve(report, data, 0, FACES, xfastest, 2, shape, 0, false, true);
    solve(report, data, 0, LEGS, xfastest, 2, shape, 0, false, true);
    if (columns > 1 << 20) continue; /* cuSPARSE counts with 32 bits */
    point("cuSPARSE gtsvInterleavedBatch", 5, cusparse(data, columns, true));
    point("cuSPARSE gtsv2StridedBatch", 5, cusparse(data, columns, false));
  }
}

int main(int argc, char **argv)
{
  Report report(argc > 1 ? argv[1] : NULL);

  bench<double>(report);
  bench<float>(report);
  roofline(report);
  return report.write();
}
