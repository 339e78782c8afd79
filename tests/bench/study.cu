/*
   The figures of the study of hierarchical Jacobi again: cycles and time until the 2-norm of the residual has fallen by 1e-4, from ones and with ones
   as the right-hand side, over one sweep a launch; and what Chebyshev and scheduled relaxation weights make of it. Usage: study [report.json]
*/
#include <petscsystypes.h>
#include "bench.h"
#include "../../src/jacobi/jacobi_kernels.h"

extern "C" PetscErrorCode StrataChebyshevWeights(PetscInt k, PetscReal a, PetscReal b, PetscReal weight[]);
extern "C" PetscErrorCode StrataRelaxationWeights(PetscInt levels, PetscReal a, PetscReal b, PetscInt k, PetscInt total, PetscInt *count,
                                                  PetscReal *weight[]);

#define CELLS 1024 /* along each axis */
#define TILE  32
#define MOST  3000000 /* sweeps */

static Report      *report;
static cudaStream_t stream;
static int          wrong; /* counts that are not the known ones */

static __global__ void fill(size_t n, double value, double *x)
{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) x[i] = value;
}

static __global__ void squares(size_t n, const double *x, const double *y, double *sum)
{
  double own = 0;

  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) own += (x[i] - y[i]) * (x[i] - y[i]);
  for (int s = 16; s; s /= 2) own += __shfl_down_sync(~0u, own, s);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
}

static double *array(size_t n)
{
  double *a;

  CUDA(cudaMalloc(&a, n * sizeof(*a)));
  return a;
}

/* How sweeps are made */
struct Cycle {
  StrataTiling      tiling;
  StrataCycleKernel kernel;
};

/* Poisson's equation in 1D, as independent lines, or in 2D */
class Poisson
{
public:
  Poisson(int dim, int n0, int n1) : lines(dim == 1)
  {
    s.dim = n1 > 1 ? 2 : 1;
    s.form = n1 > 1 && lines ? STRATA_SYSTEM_CONSTANT : STRATA_SYSTEM_EQUAL;
    for (int a = 0; a < 3; a++) s.n[a] = box.hi[a] = a == 0 ? n0 : a == 1 ? n1 : 1;
    for (int l = 0; l < 2 * dim; l++) s.leg[l] = 0.5 / dim;
    cells = (size_t)n0 * n1;
    for (double *&v : vector) v = array(cells);
    work = array(cells);
    sum = array(1);
    fill<<<1024, 256, 0, stream>>>(cells, s.leg[0] / ((n0 + 1.) * (n0 + 1)), vector[1]);
  }

  ~Poisson()
  {
    for (double *v : vector) CUDA(cudaFree(v));
    CUDA(cudaFree(work));
    CUDA(cudaFree(sum));
  }

  Cycle cycle(StrataCycleKernel kernel, int k, int overlap) const
  {
    Cycle c = {{{1, 1, 1}, {0, 0, 0}, k}, kernel};

    for (int a = 0; a < s.dim; a++) {
      c.tiling.overlap[a] = lines && a ? 0 : overlap; /* none across lines */
      c.tiling.tile[a] = TILE <= overlap ? TILE + overlap : TILE;
    }
    return c;
  }

  bool runs(const Cycle &c) const
  {
    char text[512];

    return StrataCycleKernelCUDA_d(&s, &c.tiling, c.kernel, 0, &box, text, sizeof(text)) == c.kernel;
  }

  /* Cycles until the residual has fallen by 1e-4, tested after each; with weights after each `period` of them */
  long count(const Cycle &c, const double *weight = NULL, int period = 1)
  {
    const long most = MOST / (c.tiling.sweeps * period);
    long       n = 0, batch = 1 + 8192 / (c.tiling.sweeps * period);
    double     first;

    fill<<<1024, 256, 0, stream>>>(cells, 1, vector[0]);
    first = residual();
    while (n < most) {
      CUDA(cudaMemcpyAsync(vector[4], vector[0], cells * sizeof(double), cudaMemcpyDeviceToDevice, stream));
      for (long i = 0; i < batch * period; i++) run(c, weight ? weight + i % period * c.tiling.sweeps : NULL);
      if (residual() > 1e-8 * first)
        n += batch;
      else if (batch == 1)
        return (n + 1) * period;
      else { /* back, and in smaller steps */
        CUDA(cudaMemcpyAsync(vector[0], vector[4], cells * sizeof(double), cudaMemcpyDeviceToDevice, stream));
        batch = (batch + 7) / 8;
      }
    }
    return 0;
  }

  Timing time(const Cycle &c, const double *weight = NULL)
  {
    const int calls = c.kernel == STRATA_KERNEL_CLASSIC ? 200 : 2 + 200 / c.tiling.sweeps;

    fill<<<1024, 256, 0, stream>>>(cells, 1, vector[0]);
    return time_calls([&](int) { run(c, weight); }, 5, calls);
  }

private:
  StrataSystem_d s = {};
  StrataBox      box = {};
  bool           lines;
  size_t         cells;
  double        *vector[5], *work, *sum; /* x, b, the next x, J x, x as it was */

  void sweep(const Cycle &c, const double *weight, const double *x, double *y)
  {
    if (StrataCycleWorkCUDA_d(&s, &c.tiling, c.kernel, &box) > (ptrdiff_t)(cells + 31) / 32 * 32) exit(1);
    CUDA(StrataCycleCUDA_d(&s, &c.tiling, c.kernel, &box, weight, vector[1], x, y, NULL, work, stream));
  }

  void run(const Cycle &c, const double *weight)
  {
    sweep(c, weight, vector[0], vector[2]);
    std::swap(vector[0], vector[2]);
  }

  /* Squares of the residual, up to a factor */
  double residual()
  {
    double now;

    sweep(cycle(STRATA_KERNEL_CLASSIC, 1, 0), NULL, vector[0], vector[3]);
    CUDA(cudaMemsetAsync(sum, 0, sizeof(*sum), stream));
    squares<<<264, 256, 0, stream>>>(cells, vector[0], vector[3], sum);
    CUDA(cudaMemcpyAsync(&now, sum, sizeof(now), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    return now;
  }
};

static Timing times(Timing t, double n)
{
  return {n * t.median, n * t.least, n * t.most};
}

/* What is known of small cases */
static void known(int dim, int n, int k, int overlap, long cycles)
{
  Poisson    p(dim, n, dim == 1 ? 1 : n);
  const long found = p.count(p.cycle(STRATA_KERNEL_SHARED, k, overlap));

  if (found >= cycles - 1 && found <= cycles + 1) return;
  printf("%dD, %d cells, k %d, overlap %d: %ld cycles, known are %ld\n", dim, n, k, overlap, found, cycles);
  wrong++;
}

static double printed(int dim, int k, int overlap) /* by the study; 0: nothing */
{
  return dim == 2 && overlap == 0 && k == 4 ? 2.17 : dim == 2 && overlap == 0 && k == 16 ? 3.67 : dim == 2 && overlap == 4 && k == 32 ? 6 : 0;
}

static void show(const std::string &name, Timing cycle, long n, const Timing &classic)
{
  const Timing all = times(cycle, n);

  report->line(name + ": cycles", all, (double)n, "cycles", 0);
  report->line(name + ": time", all, classic.median / all.median, "of loop", 0);
}

/* Every depth, without overlap and with it */
static void figures(int dim)
{
  Poisson           p(dim, CELLS, CELLS), one(dim, CELLS, dim == 1 ? 1 : CELLS); /* lines are alike: one is enough to count */
  const Cycle       plain = p.cycle(STRATA_KERNEL_CLASSIC, 1, 0), fast = p.cycle(STRATA_KERNEL_REGISTER, 8, 14);
  const std::string title = std::to_string(dim) + "D";
  const long        sweeps = 8 * one.count(one.runs(fast) ? fast : one.cycle(STRATA_KERNEL_SHARED, 8, 14));
  const Timing      classic = times(p.time(plain), sweeps);

  show(title + " k=1 classic", p.time(plain), sweeps, classic);
  for (int k = 4; k <= 128; k *= 2) {
    for (int overlap = 0; overlap <= (dim == 1 ? 16 : 8); overlap = overlap ? 2 * overlap : 2) {
      const Cycle       c = p.cycle(STRATA_KERNEL_SHARED, k, overlap);
      const std::string name = title + " k=" + std::to_string(k) + " overlap=" + std::to_string(overlap) + " shared";

      if (!p.runs(c)) continue;
      show(name, p.time(c), one.count(one.cycle(STRATA_KERNEL_SHARED, k, overlap)), classic);
      if (printed(dim, k, overlap)) printf("%-58s the study: %g\n", "", printed(dim, k, overlap));
    }
    if (dim == 2) { /* wide tiles, in registers */
      Cycle wide = p.cycle(STRATA_KERNEL_REGISTER, k, 4);

      wide.tiling.tile[0] = 192;
      wide.tiling.tile[1] = 56;
      if (p.runs(wide)) show(title + " k=" + std::to_string(k) + " overlap=4 register, 192 x 56", p.time(wide), one.count(wide), classic);
    }
    const Cycle c = p.cycle(STRATA_KERNEL_REGISTER, k, 2 * (k - 1));

    if (p.runs(c)) show(title + " k=" + std::to_string(k) + " exact register", p.time(c), (sweeps + k - 1) / k, classic);
  }
  if (dim == 1) printf("%-58s the study: about 8 at best\n", "");
}

/* Weights for all eigenvalues of the problem, in exact passes of 8 sweeps */
static void schedules(int dim)
{
  const int    depth = 8;
  const double a = 2 * sin(M_PI / (2 * (CELLS + 1))) * sin(M_PI / (2 * (CELLS + 1))), b = 2 - a;
  Poisson      p(dim, CELLS, CELLS);
  const Cycle  plain = p.cycle(STRATA_KERNEL_CLASSIC, 1, 0), reg = p.cycle(STRATA_KERNEL_REGISTER, depth, 2 * depth - 2);
  const Cycle  c = p.runs(reg) ? reg : p.cycle(STRATA_KERNEL_SHARED, depth, 2 * depth - 2);
  const double n = (double)(depth * p.count(c));
  const Timing classic = times(p.time(plain), n);
  double      *device = array(4096 + depth);

  for (int which = 0; which < 8; which++) {
    static const int    lengths[] = {32, 128, 512, 2048};
    PetscReal          *weight = NULL;
    std::vector<double> own;
    PetscInt            count;
    std::string         name;

    if (which < 4) {
      count = lengths[which];
      own.resize(count);
      if (StrataChebyshevWeights(count, a, b, own.data())) exit(1);
      name = "Chebyshev of degree " + std::to_string(count);
    } else {
      const int levels = which - 2;

      if (StrataRelaxationWeights(levels, a, b, depth, 0, &count, &weight)) exit(1);
      own.assign(weight, weight + count);
      name = "scheduled relaxation, " + std::to_string(levels) + " levels, period " + std::to_string(count);
    }
    if (!count) continue;
    CUDA(cudaMemcpy(device, own.data(), count * sizeof(double), cudaMemcpyHostToDevice));
    const long   cycles = p.count(c, device, count / depth);
    const Timing all = times(p.time(c, device), (double)cycles);

    report->line(std::to_string(dim) + "D " + name + ": sweeps", all, cycles * depth / n, "of classic", 0);
    report->line(std::to_string(dim) + "D " + name + ": time", all, classic.median / all.median, "of loop", 0);
  }
  CUDA(cudaFree(device));
}

int main(int argc, char **argv)
{
  report = new Report(argc > 1 ? argv[1] : NULL);
  CUDA(cudaStreamCreate(&stream));
  known(1, 1024, 4, 4, 29056);
  known(1, 1024, 8, 0, 25481);
  known(1, 1024, 16, 16, 7252);
  known(1, 1000, 16, 4, 8187);
  known(2, 128, 4, 2, 3348);
  known(2, 128, 8, 8, 1663);
  known(2, 128, 16, 0, 1202);
  known(2, 100, 8, 4, 1122);
  figures(1);
  schedules(1);
  schedules(2);
  figures(2);
  return report->write() || wrong;
}
