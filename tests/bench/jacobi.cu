/*
   Jacobi cycles on the device against one sweep a launch, as a loop and as a graph. Usage: jacobi [report.json]
*/
#include "bench.h"
#include "../../src/jacobi/jacobi_kernels.h"

template <class T> struct Kernels;
template <> struct Kernels<double> {
  typedef StrataSystem_d       System;
  static constexpr auto        cycle = StrataCycleCUDA_d;
  static constexpr auto        work = StrataCycleWorkCUDA_d;
  static constexpr auto        kernel = StrataCycleKernelCUDA_d;
  static constexpr auto        cycles = StrataCyclesCUDA_d;
  static constexpr auto        cycles_work = StrataCyclesWorkCUDA_d;
  static constexpr const char *name = "fp64";
};
template <> struct Kernels<float> {
  typedef StrataSystem_f       System;
  static constexpr auto        cycle = StrataCycleCUDA_f;
  static constexpr auto        work = StrataCycleWorkCUDA_f;
  static constexpr auto        kernel = StrataCycleKernelCUDA_f;
  static constexpr auto        cycles = StrataCyclesCUDA_f;
  static constexpr auto        cycles_work = StrataCyclesWorkCUDA_f;
  static constexpr const char *name = "fp32";
};

/* Random numbers in [low, high), made on the device: these grids are large */
template <class T> static __global__ void fill(size_t n, T low, T high, unsigned seed, T *x)
{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    unsigned h = (unsigned)i * 2654435761u ^ (unsigned)(i >> 32) * 40503u ^ seed * 668265263u;

    h = (h ^ h >> 15) * 2246822519u;
    h = (h ^ h >> 13) * 3266489917u;
    h ^= h >> 16;
    x[i] = low + (high - low) * (T)(h >> 8) / (T)16777216;
  }
}

template <class T> static __global__ void differ(size_t n, const T *x, const T *y, unsigned long long *count)
{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    if (!(x[i] == y[i])) atomicAdd(count, 1ull);
}

template <class T> static __global__ void squares(size_t n, const T *x, const T *y, double *sum)
{
  double own = 0;

  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    own += ((double)x[i] - y[i]) * ((double)x[i] - y[i]);
  atomicAdd(sum, own);
}

static Report            *report;
static constexpr int      VECTORS = 5;
static cudaStream_t       stream;
static unsigned long long different; /* numbers in all comparisons */

/* A system on a grid, with the time of a classic sweep, in a loop of launches and in a graph */
template <class T> class Grid
{
public:
  typename Kernels<T>::System s = {};
  StrataBox                   box = {};
  size_t                      cells = 1;
  Timing                      loop, graph;

  Grid(const std::string &name_, int form, int n0, int n1, int n2, double leg = 0.4999, bool lines = false) : name(name_ + ", " + Kernels<T>::name)
  {
    const int n[3] = {n0, n1, n2};

    s.form = form;
    for (int a = 0; a < 3; a++) {
      s.n[a] = box.hi[a] = n[a];
      cells *= n[a];
      if (n[a] > 1) s.dim = a + 1;
    }
    for (int m = 0; m < VECTORS; m++) vector[m] = numbers(-1, 1, 1 + m);
    for (int l = 0; l < 2 * s.dim; l++) {
      s.leg[l] = (T)(lines ? (l < 2 ? leg : 0) : form == STRATA_SYSTEM_EQUAL ? leg / s.dim : 0.49 / s.dim - 0.01 * l);
      if (form == STRATA_SYSTEM_VARIABLE) s.legs[l] = numbers(0.3 / s.dim, 0.49 / s.dim, 10 + l);
    }
    time_classic();
  }

  ~Grid()
  {
    for (int m = 0; m < VECTORS; m++) CUDA(cudaFree(vector[m]));
    for (int l = 0; l < STRATA_LEGS; l++) CUDA(cudaFree((void *)s.legs[l]));
    CUDA(cudaFree(work));
  }

  /* Time of a cycle by a kernel. The ratio is that of a sweep to the classic one; the result must be the same where the iterates are. */
  void cycles(const std::string &what, StrataCycleKernel kernel, int k, int tile, int overlap, double goal, int rows = 0)
  {
    const std::string  title = name + ": " + what + ", " + std::to_string(k) + " sweeps";
    const StrataTiling t = tiling(k, tile, overlap, rows ? rows : tile);
    char               text[512];

    if (Kernels<T>::kernel(&s, &t, kernel, at_once(t, kernel), &box, text, sizeof(text)) != kernel) {
      printf("%s: %s\n", title.c_str(), text);
      return;
    }
    if (overlap >= 2 * (k - 1))
      compare(title, t, kernel, STRATA_KERNEL_CLASSIC);
    else if (kernel != STRATA_KERNEL_SHARED)
      compare(title, t, kernel, STRATA_KERNEL_SHARED);
    const Timing c = time_cycle(t, kernel);

    report->line(title, c, k * loop.median / c.median, "of loop", goal);
    report->line(title, c, k * graph.median / c.median, "of graph", 0);
    report->line(title, c, 1e-3 * k * cells / c.median, "Gupdates/s", 0);
  }

  /* The classic sweep as bytes that it must move, as a fraction of copying */
  void classic(double copy, double goal)
  {
    const double streams = 3 + (s.form == STRATA_SYSTEM_VARIABLE ? 2 * s.dim : 0);

    report->line(name + ": classic, loop", loop, streams * sizeof(T) * cells / loop.median / 1e6 / copy, "of copy", goal);
    report->line(name + ": classic, graph", graph, loop.median / graph.median, "of loop", 0);
  }

  /* Time until the residual has fallen by 1e-4, from ones and with ones as the right-hand side, over that of classic sweeps */
  void solve(const std::string &what, StrataCycleKernel kernel, int k, int tile, int overlap, double goal, int rows = 0)
  {
    const StrataTiling t = tiling(k, tile, overlap, rows ? rows : tile), plain = tiling(8, 32, 16, 32);
    char               text[512];

    if (Kernels<T>::kernel(&s, &t, kernel, at_once(t, kernel), &box, text, sizeof(text)) != kernel) {
      printf("%s: %s\n", what.c_str(), text);
      return;
    }
    if (!sweeps) sweeps = 8 * cycles_to_tolerance(plain, STRATA_KERNEL_REGISTER);
    const double n = (double)cycles_to_tolerance(t, kernel);
    const Timing c = time_cycle(t, kernel), all = {n * c.median, n * c.least, n * c.most};

    report->line(name + ": to 1e-4, " + what + ", " + std::to_string(k) + " sweeps", all, sweeps * loop.median / all.median, "of loop", goal);
    report->line(name + ": to 1e-4, " + what + ", " + std::to_string(k) + " sweeps", all, sweeps * graph.median / all.median, "of graph", 0);
    report->line(name + ": sweeps, " + what + ", " + std::to_string(k) + " sweeps", all, n * k / sweeps, "of classic", 0);
  }

private:
  std::string name;
  T          *vector[VECTORS], *work = NULL;
  ptrdiff_t   works = 0;
  double      sweeps = 0; /* classic ones to the tolerance */

  /* Cycles of one call: many where they stay on the chip */
  static int at_once(const StrataTiling &t, StrataCycleKernel kernel)
  {
    return kernel != STRATA_KERNEL_PERSISTENT ? 0 : t.sweeps < 1024 ? 1024 / t.sweeps : 1;
  }

  /* Compares the results of two kernels on the whole grid */
  void compare(const std::string &title, const StrataTiling &t, StrataCycleKernel kernel, StrataCycleKernel other)
  {
    unsigned long long *count, now;

    CUDA(cudaMalloc(&count, sizeof(*count)));
    CUDA(cudaMemset(count, 0, sizeof(*count)));
    run(t, kernel, vector[0], vector[2]);
    run(t, other, vector[0], vector[3]);
    for (int i = 1; i < at_once(t, kernel); i++) {
      run(t, other, vector[3], vector[4]);
      std::swap(vector[3], vector[4]);
    }
    differ<<<1024, 256, 0, stream>>>(cells, vector[2], vector[3], count);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(&now, count, sizeof(now), cudaMemcpyDeviceToHost));
    CUDA(cudaFree(count));
    different += now;
    if (now) printf("%s: %llu numbers DIFFER\n", title.c_str(), now);
  }

  Timing time_cycle(const StrataTiling &t, StrataCycleKernel kernel)
  {
    const int    n = at_once(t, kernel) > 0 ? at_once(t, kernel) : 1;
    const double us = loop.median * t.sweeps * n * (cells > 1e7 ? 1 : 0.3);
    Timing       c = timed(us, [&](int i) { run(t, kernel, vector[i % 2 ? 2 : 0], vector[i % 2 ? 0 : 2]); });

    c.median /= n;
    c.least /= n;
    c.most /= n;
    return c;
  }

  /* Squares of the residuals of x, up to a factor */
  double residual(const T *x)
  {
    double *sum, now;

    CUDA(cudaMalloc(&sum, sizeof(*sum)));
    CUDA(cudaMemset(sum, 0, sizeof(*sum)));
    run(tiling(1, 32, 0, 32), STRATA_KERNEL_CLASSIC, x, vector[3]);
    squares<<<264, 256, 0, stream>>>(cells, x, vector[3], sum);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(&now, sum, sizeof(now), cudaMemcpyDeviceToHost));
    CUDA(cudaFree(sum));
    return now;
  }

  long cycles_to_tolerance(const StrataTiling &t, StrataCycleKernel kernel)
  {
    const double h = 1. / (s.n[0] + 1), b = h * h * s.leg[0];
    const int    batch = t.sweeps < 1024 ? 1024 / t.sweeps : 1;
    double       first;
    long         n = 0;

    fill<T><<<1024, 256, 0, stream>>>(cells, 1, 1, 1, vector[0]);
    fill<T><<<1024, 256, 0, stream>>>(cells, (T)b, (T)b, 1, vector[1]);
    first = residual(vector[0]);
    do {
      for (int i = 0; i < (at_once(t, kernel) ? 1 : batch); i++) {
        run(t, kernel, vector[0], vector[2]);
        std::swap(vector[0], vector[2]);
      }
      n += batch;
    } while (residual(vector[0]) > 1e-8 * first && n * t.sweeps < 3000000);
    if (n * t.sweeps >= 3000000) printf("%s: no convergence\n", name.c_str());
    return n;
  }

  T *numbers(double low, double high, unsigned seed)
  {
    T *x;

    CUDA(cudaMalloc(&x, cells * sizeof(T)));
    fill<T><<<4096, 256, 0, stream>>>(cells, (T)low, (T)high, seed, x);
    CUDA(cudaGetLastError());
    return x;
  }

  StrataTiling tiling(int k, int tile, int overlap, int rows)
  {
    StrataTiling t = {{1, 1, 1}, {0, 0, 0}, k};

    for (int a = 0; a < s.dim; a++) {
      t.tile[a] = a == 1 ? rows : tile;
      if (t.tile[a] <= overlap) t.tile[a] += overlap;
      t.overlap[a] = s.form == STRATA_SYSTEM_CONSTANT && s.leg[2 * a] == 0 ? 0 : overlap; /* none across lines */
    }
    return t;
  }

  void run(const StrataTiling &t, StrataCycleKernel kernel, const T *x, T *y)
  {
    const bool      many = kernel == STRATA_KERNEL_PERSISTENT;
    const ptrdiff_t need = many ? Kernels<T>::cycles_work(&s) : Kernels<T>::work(&s, &t, kernel, &box);

    if (need > works) {
      CUDA(cudaFree(work));
      CUDA(cudaMalloc(&work, need * sizeof(T)));
      works = need;
    }
    if (many)
      CUDA(Kernels<T>::cycles(&s, &t, at_once(t, kernel), NULL, 0, t.sweeps, vector[1], x, y, NULL, work, stream));
    else
      CUDA(Kernels<T>::cycle(&s, &t, kernel, &box, NULL, vector[1], x, y, NULL, work, stream));
  }

  /* About 25 ms a sample */
  template <class F> static Timing timed(double us, F call)
  {
    const int calls = 25e3 / us < 2 ? 2 : 25e3 / us > 1000 ? 1000 : (int)(25e3 / us);

    return time_calls(call, 7, calls / 2 * 2);
  }

  void time_classic()
  {
    const StrataTiling t = tiling(1, 32, 0, 32);
    cudaGraph_t        made;
    cudaGraphExec_t    exec;
    const int          sweeps = cells > 1e7 ? 4 : 64;
    const double       us = 3 + cells * (s.form == STRATA_SYSTEM_VARIABLE ? 15e-6 : 6e-6);

    loop = timed(us, [&](int i) { run(t, STRATA_KERNEL_CLASSIC, vector[i % 2 ? 2 : 0], vector[i % 2 ? 0 : 2]); });
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < sweeps; i++) run(t, STRATA_KERNEL_CLASSIC, vector[i % 2 ? 2 : 0], vector[i % 2 ? 0 : 2]);
    CUDA(cudaStreamEndCapture(stream, &made));
    CUDA(cudaGraphInstantiate(&exec, made, 0));
    graph = timed(us * sweeps, [&](int) { CUDA(cudaGraphLaunch(exec, stream)); });
    graph.median /= sweeps;
    graph.least /= sweeps;
    graph.most /= sweeps;
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(made));
  }
};

template <class T> static void bench(double copy)
{
  const bool              fp64 = sizeof(T) == 8;
  const int               deep = fp64 ? 8 : 12, few = fp64 ? 6 : 12;
  const StrataCycleKernel reg = STRATA_KERNEL_REGISTER, shared = STRATA_KERNEL_SHARED, whole = STRATA_KERNEL_PERSISTENT;

  {
    Grid<T> g("2D 16384^2", STRATA_SYSTEM_EQUAL, 16384, 16384, 1);

    g.classic(copy, 0.95);
    g.cycles("register", reg, deep, 32, 2 * deep, fp64 ? 6.2 : 6.8);
    g.cycles("register", reg, fp64 ? 4 : 8, 32, 16, 0);
    g.cycles("register", reg, 2, 32, 2, 0);
  }
  {
    Grid<T> g("2D 16384^2, constant legs", STRATA_SYSTEM_CONSTANT, 16384, 16384, 1);

    g.cycles("register", reg, deep, 32, 2 * deep, 0);
  }
  {
    Grid<T> g("2D 16383^2", STRATA_SYSTEM_EQUAL, 16383, 16383, 1);

    g.classic(copy, 0);
    g.cycles("register", reg, deep, 32, 2 * deep, fp64 ? 5.7 : 0);
  }
  {
    Grid<T> g("2D 16384^2, variable legs", STRATA_SYSTEM_VARIABLE, 16384, 16384, 1);

    g.classic(copy, 0.95);
    g.cycles("register", reg, few, 32, 2 * few, fp64 ? 4 : 0);
    g.cycles("register", reg, 4, 32, 8, 0);
    g.cycles("register", reg, 2, 32, 2, 0);
  }
  {
    Grid<T> g("3D 512^3, variable legs", STRATA_SYSTEM_VARIABLE, 512, 512, 512);

    g.classic(copy, 0.95);
    g.cycles("register", reg, 3, 16, 4, 0);
    g.cycles("register", reg, 2, 16, 2, 0);
  }
  {
    Grid<T> g("3D 512^3", STRATA_SYSTEM_EQUAL, 512, 512, 512);

    g.classic(copy, 0.95);
    g.cycles("register", reg, 2, 16, 2, 0);
    g.cycles("register", reg, 3, 16, 4, fp64 ? 1.8 : 0);
    g.cycles("register", reg, 4, 16, 6, fp64 ? 0 : 2.3);
  }
  {
    Grid<T> g("2D 1024^2", STRATA_SYSTEM_EQUAL, 1024, 1024, 1, 0.5);

    g.classic(copy, 0);
    g.cycles("shared, tile 32, overlap 14", shared, 8, 32, 14, 0);
    g.cycles("shared, tile 32, overlap 4", shared, 32, 32, 4, 0);
    g.cycles("register, tile 32, overlap 4", reg, 8, 32, 4, 0);
    g.cycles("register, tile 32, overlap 4", reg, 32, 32, 4, 0);
    g.cycles("register, tile 192 x 56, overlap 4", reg, 8, 192, 4, 0, 56);
    g.cycles("register, tile 192 x 56, overlap 4", reg, 32, 192, 4, 0, 56);
    g.cycles("register", reg, deep, 32, 2 * deep, 0);
    g.cycles("persistent, tile 180 x 56, overlap 4", whole, 8, 180, 4, 0, 56);
    g.cycles("persistent, tile 180 x 56, overlap 4", whole, 32, 180, 4, 0, 56);
    g.cycles("persistent, exact", whole, 32, 32, 64, 0);
    if (fp64) {
      g.solve("shared, tile 32, overlap 0", shared, 4, 32, 0, 0);
      g.solve("shared, tile 32, overlap 0", shared, 16, 32, 0, 0);
      g.solve("shared, tile 32, overlap 4", shared, 16, 32, 4, 0);
      g.solve("shared, tile 32, overlap 4", shared, 32, 32, 4, 0);
      g.solve("register, tile 32, overlap 0", reg, 4, 32, 0, 0);
      g.solve("register, tile 32, overlap 0", reg, 16, 32, 0, 0);
      g.solve("register, tile 32, overlap 4", reg, 16, 32, 4, 0);
      g.solve("register, tile 32, overlap 4", reg, 32, 32, 4, 3);
      g.solve("register, tile 192 x 56, overlap 4", reg, 32, 192, 4, 0, 56);
      g.solve("register, tile 192 x 56, overlap 4", reg, 64, 192, 4, 0, 56);
      g.solve("register, exact", reg, 32, 32, 64, 0);
      g.solve("persistent, tile 180 x 56, overlap 4", whole, 32, 180, 4, 8, 56);
      g.solve("persistent, tile 180 x 56, overlap 4", whole, 64, 180, 4, 0, 56);
      g.solve("persistent, exact", whole, 32, 32, 64, 5.8);
    }
  }
  {
    Grid<T> g("2D 1024^2, variable legs", STRATA_SYSTEM_VARIABLE, 1024, 1024, 1);

    g.classic(copy, 0);
    g.cycles("shared, tile 32, overlap 4", shared, 32, 32, 4, 0);
    g.cycles("register, tile 32, overlap 4", reg, 32, 32, 4, 0);
    g.cycles("register, tile 128 x 56, overlap 4", reg, 32, 128, 4, 0, 56);
    g.cycles("register", reg, few, 32, 2 * few, 0);
  }
  {
    Grid<T> g("2D 4096^2", STRATA_SYSTEM_EQUAL, 4096, 4096, 1);

    g.classic(copy, 0);
    g.cycles("register", reg, deep, 32, 2 * deep, 0);
  }
  {
    Grid<T> g("1024 lines of 1024", STRATA_SYSTEM_CONSTANT, 1024, 1024, 1, 0.5, true);

    g.classic(copy, 0);
    g.cycles("register", reg, 16, 32, 32, 0);
    g.cycles("register", reg, 128, 32, 256, 0);
    g.cycles("shared, tile 32, overlap 4", shared, 32, 32, 4, 0);
    g.cycles("register, tile 32, overlap 4", reg, 32, 32, 4, 0);
    g.cycles("persistent, exact", whole, 16, 32, 32, 0);
    g.cycles("persistent, exact", whole, 128, 32, 256, 0);
    g.cycles("persistent, tile 256, overlap 4", whole, 64, 256, 4, 0, 1);
    if (fp64) {
      g.solve("shared, tile 32, overlap 4", shared, 32, 32, 4, 0);
      g.solve("register, tile 32, overlap 4", reg, 32, 32, 4, 0);
      g.solve("register, exact", reg, 128, 32, 256, 20);
      g.solve("register, exact", reg, 512, 32, 1024, 0);
      g.solve("persistent, exact", whole, 128, 32, 256, 20);
      g.solve("persistent, tile 256, overlap 4", whole, 64, 256, 4, 0, 1);
    }
  }
  for (int n : {1 << 20, 100000}) {
    Grid<T> g("1D " + std::to_string(n), STRATA_SYSTEM_EQUAL, n, 1, 1, 0.5);

    g.classic(copy, 0);
    g.cycles("register", reg, 96, 32, 192, 0);
    g.cycles("persistent, exact", whole, 96, 32, 192, 0);
    g.cycles("persistent, tile 256, overlap 4", whole, 64, 256, 4, 0);
  }
  for (int n : {512, 256, 128}) {
    Grid<T> g("2D " + std::to_string(n) + "^2", STRATA_SYSTEM_EQUAL, n, n, 1, 0.5),
        v("2D " + std::to_string(n) + "^2, variable legs", STRATA_SYSTEM_VARIABLE, n, n, 1);

    for (Grid<T> *q : {&g, &v}) {
      q->classic(copy, 0);
      q->cycles("register", reg, 32, 32, 64, 0);
      q->cycles("persistent, exact", whole, 32, 32, 64, 0);
      q->cycles("persistent, tile 120 x 40, overlap 4", whole, 32, 120, 4, 0, 40);
    }
  }
}

int main(int argc, char **argv)
{
  const size_t bytes = (size_t)2 << 30;
  char        *from, *to;

  report = new Report(argc > 1 ? argv[1] : NULL);
  CUDA(cudaStreamCreate(&stream)); /* graphs are captured from it; it waits for the default stream, which has the events */
  CUDA(cudaMalloc(&from, bytes));
  CUDA(cudaMalloc(&to, bytes));
  fill<float><<<4096, 256>>>(bytes / sizeof(float), -1, 1, 1, (float *)from);
  const Timing t = time_calls([&](int) { CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice)); }, 7, 6);
  const double copy = 2.0 * bytes / t.median / 1e6;

  report->line("copy, 2 GiB", t, copy, "TB/s", 0);
  CUDA(cudaFree(from));
  CUDA(cudaFree(to));
  bench<double>(copy);
  bench<float>(copy);
  if (different) fprintf(stderr, "%llu numbers differ from those of classic sweeps\n", different);
  return report->write() || different;
}
