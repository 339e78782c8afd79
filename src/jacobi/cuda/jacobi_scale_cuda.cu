/*
   What goes around cycles of Jacobi sweeps, on the device
*/
#include "../jacobi_scale_kernels.h"

#define THREADS 256

/* Enough blocks for n cells, but no more than fill the device a few times over */
static unsigned blocks(ptrdiff_t n)
{
  const ptrdiff_t b = (n + THREADS - 1) / THREADS;

  return (unsigned)(b < 8192 ? b : 8192);
}

#define EACH(i, n) for (ptrdiff_t i = (ptrdiff_t)blockIdx.x * THREADS + threadIdx.x; i < (n); i += (ptrdiff_t)gridDim.x * THREADS)

static __global__ void diagonal_check(ptrdiff_t n, const double *__restrict__ d, unsigned long long *first)
{
  EACH(i, n)
  {
    if (d[i] == 0) atomicMin(&first[0], (unsigned long long)i);
    if (!(d[i] - d[i] == 0)) atomicMin(&first[1], (unsigned long long)i);
  }
}

int StrataDiagonalCheckCUDA(ptrdiff_t n, const double *d, StrataDiagonalFaults *faults, void *stream)
{
  unsigned long long first[2] = {~0ULL, ~0ULL}, *device;
  cudaError_t        err;

  if (n) {
    if ((err = cudaMalloc((void **)&device, sizeof(first)))) return (int)err;
    cudaMemcpyAsync(device, first, sizeof(first), cudaMemcpyHostToDevice, (cudaStream_t)stream);
    diagonal_check<<<blocks(n), THREADS, 0, (cudaStream_t)stream>>>(n, d, device);
    cudaMemcpyAsync(first, device, sizeof(first), cudaMemcpyDeviceToHost, (cudaStream_t)stream);
    err = cudaStreamSynchronize((cudaStream_t)stream);
    cudaFree(device);
    if (err) return (int)err;
  }
  faults->zero = first[0] == ~0ULL ? -1 : (ptrdiff_t)first[0];
  faults->nonfinite = first[1] == ~0ULL ? -1 : (ptrdiff_t)first[1];
  return (int)cudaGetLastError();
}

static __global__ void quotient(ptrdiff_t n, double factor, const double *by, int nv, const double *a, ptrdiff_t lda, const double *d, double number,
                                double *q, ptrdiff_t ldq)
{
  EACH(i, n)
  {
    const double divisor = d ? d[i] : number;

    for (int v = 0; v < nv; v++) q[i + v * ldq] = (by ? factor * by[2 * v] : factor) * a[i + v * lda] / divisor;
  }
}

int StrataQuotientCUDA(ptrdiff_t n, double factor, const double *by, int nv, const double *a, ptrdiff_t lda, const double *d, double number,
                       double *q, ptrdiff_t ldq, void *stream)
{
  if (n) quotient<<<blocks(n), THREADS, 0, (cudaStream_t)stream>>>(n, factor, by, nv, a, lda, d, number, q, ldq);
  return (int)cudaGetLastError();
}

static __global__ void powers(const double *largest, double *power)
{
  strata_powers(*largest, power);
}

int StrataPowersCUDA(const double *largest, double power[2], void *stream)
{
  powers<<<1, 1, 0, (cudaStream_t)stream>>>(largest, power);
  return (int)cudaGetLastError();
}

static __global__ void times(const float *from, const double *by, double *to)
{
  *to = *by * (double)*from;
}

int StrataTimesCUDA(const float *from, const double *by, double *to, void *stream)
{
  times<<<1, 1, 0, (cudaStream_t)stream>>>(from, by, to);
  return (int)cudaGetLastError();
}

static __global__ void subtract(ptrdiff_t n, const double *__restrict__ b, double *__restrict__ r)
{
  EACH(i, n) r[i] = b[i] - r[i];
}

int StrataSubtractCUDA(ptrdiff_t n, const double *b, double *r, void *stream)
{
  if (n) subtract<<<blocks(n), THREADS, 0, (cudaStream_t)stream>>>(n, b, r);
  return (int)cudaGetLastError();
}

/* Passed by value */
typedef struct {
  StrataGhost ghost[STRATA_DIRECTIONS];
} Ghosts;

template <class T>
static __global__ void embed(int n0, int n1, StrataBox own, StrataBox box, int nv, const double *__restrict__ x, ptrdiff_t ldx,
                             const __grid_constant__ Ghosts g, T *__restrict__ y, ptrdiff_t ldy)
{
  const int e0 = box.hi[0] - box.lo[0], e1 = box.hi[1] - box.lo[1];

  EACH(id, strata_box_size(&box))
  {
    const int       i[3] = {box.lo[0] + (int)(id % e0), box.lo[1] + (int)(id / e0 % e1), box.lo[2] + (int)(id / e0 / e1)};
    const ptrdiff_t to = i[0] + n0 * (i[1] + (ptrdiff_t)n1 * i[2]);
    ptrdiff_t       distance;
    const double   *from = strata_embedded(&own, x, ldx, g.ghost, i, &distance, T(0));

    for (int v = 0; v < nv; v++) y[to + v * ldy] = (T)from[v * distance];
  }
}

template <class T>
static int embed_launch(const int n[3], const StrataBox *own, const StrataBox *box, int nv, const double *x, ptrdiff_t ldx, const StrataGhost ghost[],
                        T *y, ptrdiff_t ldy, cudaStream_t stream)
{
  const ptrdiff_t cells = strata_box_size(box);
  Ghosts          g;

  for (int d = 0; d < STRATA_DIRECTIONS; d++) g.ghost[d] = ghost[d];
  if (cells) embed<<<blocks(cells), THREADS, 0, stream>>>(n[0], n[1], *own, *box, nv, x, ldx, g, y, ldy);
  return (int)cudaGetLastError();
}

template <class T>
static __global__ void unembed(int n0, int n1, StrataBox own, int nv, const T *__restrict__ x, ptrdiff_t ldx, const double *by, const double *add,
                               double *y, ptrdiff_t ldy)
{
  const int e0 = own.hi[0] - own.lo[0], e1 = own.hi[1] - own.lo[1];

  EACH(id, strata_box_size(&own))
  {
    const ptrdiff_t i = own.lo[0] + id % e0, j = own.lo[1] + id / e0 % e1, k = own.lo[2] + id / e0 / e1, from = i + n0 * (j + n1 * k);

    for (int v = 0; v < nv; v++) {
      const double value = (by ? by[2 * v] : 1) * (double)x[from + v * ldx];

      y[id + v * ldy] = add ? add[id + v * ldy] + value : value;
    }
  }
}

template <class T>
static int unembed_launch(const int n[3], const StrataBox *own, int nv, const T *x, ptrdiff_t ldx, const double *by, const double *add, double *y,
                          ptrdiff_t ldy, cudaStream_t stream)
{
  const ptrdiff_t cells = strata_box_size(own);

  if (cells) unembed<<<blocks(cells), THREADS, 0, stream>>>(n[0], n[1], *own, nv, x, ldx, by, add, y, ldy);
  return (int)cudaGetLastError();
}

#define ENTRY_POINTS(T, S)                                                                                                                           \
  int StrataEmbedCUDA_##S(const int n[3], const StrataBox *own, const StrataBox *box, int nv, const double *x, ptrdiff_t ldx,                        \
                          const StrataGhost ghost[], T *y, ptrdiff_t ldy, void *stream)                                                              \
  {                                                                                                                                                  \
    return embed_launch(n, own, box, nv, x, ldx, ghost, y, ldy, (cudaStream_t)stream);                                                               \
  }                                                                                                                                                  \
  int StrataUnembedCUDA_##S(const int n[3], const StrataBox *own, int nv, const T *x, ptrdiff_t ldx, const double *by, const double *add, double *y, \
                            ptrdiff_t ldy, void *stream)                                                                                             \
  {                                                                                                                                                  \
    return unembed_launch(n, own, nv, x, ldx, by, add, y, ldy, (cudaStream_t)stream);                                                                \
  }
ENTRY_POINTS(double, d)
ENTRY_POINTS(float, f)
