/*
   Corrections of the lines of one colour on the device
*/
#include "../column_sweep_kernels.h"

template <class T> static __global__ void correct(StrataColor color, ptrdiff_t cells, T omega, const T *e, const T *add, T *z)
{
  const ptrdiff_t step = (ptrdiff_t)gridDim.x * blockDim.x, n0 = color.n[0], n1 = color.n[1];

  for (ptrdiff_t q = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x; q < cells; q += step) {
    const int i = (int)(q % n0), j = (int)(q / n0 % n1), k = (int)(q / (n0 * n1));

    z[q] = strata_correct(strata_colored(&color, i, j, k), omega, e[q], add ? add[q] : T(0));
  }
}

template <class T> static int launch(const StrataColor *color, T omega, const T *e, const T *add, T *z, cudaStream_t stream)
{
  const ptrdiff_t cells = (ptrdiff_t)color->n[0] * color->n[1] * color->n[2], blocks = (cells + 255) / 256;

  if (!cells) return 0;
  correct<T><<<(unsigned)(blocks < 65536 ? blocks : 65536), 256, 0, stream>>>(*color, cells, omega, e, add, z);
  return (int)cudaGetLastError();
}

int StrataCorrectCUDA_d(const StrataColor *color, double omega, const double *e, const double *add, double *z, void *stream)
{
  return launch<double>(color, omega, e, add, z, (cudaStream_t)stream);
}

int StrataCorrectCUDA_f(const StrataColor *color, float omega, const float *e, const float *add, float *z, void *stream)
{
  return launch<float>(color, omega, e, add, z, (cudaStream_t)stream);
}
