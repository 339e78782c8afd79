/*
   One Jacobi sweep a launch: marching threads own V neighbouring cells of a layer (a row of a 2D grid, a plane of a 3D one) and walk
   through a run of layers with the layer below, their own and those above in registers, so that each array is read from memory once.
*/
#include "cycle_cuda.h"

constexpr int ROWS = 4; /* warps of a block, one above the other */

/* Layers whose loads are all under way before the first of them is used, blocks of a multiprocessor, layers of a run. In 3D, where a layer has
   two rows more to load, more blocks with shorter bursts serve better, and short runs keep those that run at a time close to each other. */
template <int DIM, int FORM> constexpr bool MANY = DIM == 3 && FORM != STRATA_SYSTEM_VARIABLE;
template <int DIM, int FORM> constexpr int  BURST = DIM == 1 ? 1 : MANY<DIM, FORM> ? 2 : FORM != STRATA_SYSTEM_VARIABLE ? 4 : DIM == 2 ? 2 : 1;
template <int DIM, int FORM> constexpr int  BLOCKS = MANY<DIM, FORM> ? 6 : 4;
template <int DIM, int FORM> constexpr int  RUN = MANY<DIM, FORM> ? 8 : 16;

template <class T, int V> static __device__ __forceinline__ void load(T (&to)[V], const T *from)
{
  const Pack<T, V> p = *reinterpret_cast<const Pack<T, V> *>(from);
#pragma unroll
  for (int m = 0; m < V; m++) to[m] = p.v[m];
}

/* What a thread keeps while it marches */
template <class T, int DIM, int FORM, int V> struct March {
  static constexpr int    Z = BURST<DIM, FORM>;
  int                     i, j;       /* the column of its first cell, and in 3D its row */
  ptrdiff_t               id, layer;  /* the first cell of the burst, and the distance of layers */
  int                     side;       /* distance to the cell that no lane of the warp has, 0 if the lane needs none */
  bool                    west, east; /* is there anything on this side? */
  bool                    south, north;
  T                       u[Z + 2][V]; /* the layer below, those of the burst, the one above */
  typename Typed<T>::Bits most;
};

/* One burst, from layer k on. FULL: all its layers are in the run and none is the array's last, the common case */
template <bool FULL, class T, int DIM, int FORM, int V>
static __device__ __forceinline__ void burst(March<T, DIM, FORM, V> &m, const typename Typed<T>::System &s, const Pass<T> &p, T weight, bool writes,
                                             int k, int k1)
{
  constexpr int  Z = BURST<DIM, FORM>, M = DIM == 1 ? 1 : DIM - 1;
  const int      last = s.n[M] - 1, lane = threadIdx.x;
  const T *const x = p.x + m.id;
  T              b[Z][V], south[Z][V], north[Z][V], side[Z], leg[Z][2 * DIM][V];

#pragma unroll
  for (int z = 0; z < Z; z++) { /* beyond the run any cell will do */
    const ptrdiff_t to = FULL || k + z <= last ? z * m.layer : 0;

    if (DIM > 1) {
      if (FULL || k + z < last)
        load(m.u[z + 2], x + (z + 1) * m.layer);
      else {
#pragma unroll
        for (int q = 0; q < V; q++) m.u[z + 2][q] = 0;
      }
    }
    load(b[z], p.b + m.id + to);
    side[z] = m.side ? x[to + m.side] : 0;
    if (DIM == 3) {
      load(south[z], x + to - (m.south ? s.n[0] : 0));
      load(north[z], x + to + (m.north ? s.n[0] : 0));
    }
    if (FORM == STRATA_SYSTEM_VARIABLE) {
#pragma unroll
      for (int l = 0; l < 2 * DIM; l++) load(leg[z][l], s.legs[l] + m.id + to);
    }
  }
#pragma unroll
  for (int z = 0; z < Z; z++) {
    if (!FULL && k + z >= k1) break;
    T          west = __shfl_up_sync(~0u, m.u[z + 1][V - 1], 1), east = __shfl_down_sync(~0u, m.u[z + 1][0], 1);
    Pack<T, V> out;

    if (lane == 0 || !m.west) west = m.west ? side[z] : 0;
    if (lane == WARP - 1 || !m.east) east = m.east ? side[z] : 0;
#pragma unroll
    for (int q = 0; q < V; q++) {
      T v[STRATA_LEGS], a[STRATA_LEGS];

      v[STRATA_WEST] = q ? m.u[z + 1][q ? q - 1 : 0] : west;
      v[STRATA_EAST] = q < V - 1 ? m.u[z + 1][q < V - 1 ? q + 1 : q] : east;
      if (DIM == 2) {
        v[STRATA_SOUTH] = m.u[z][q];
        v[STRATA_NORTH] = m.u[z + 2][q];
      }
      if (DIM == 3) {
        v[STRATA_SOUTH] = m.south ? south[z][q] : 0;
        v[STRATA_NORTH] = m.north ? north[z][q] : 0;
        v[STRATA_BOTTOM] = m.u[z][q];
        v[STRATA_TOP] = m.u[z + 2][q];
      }
#pragma unroll
      for (int l = 0; l < 2 * DIM; l++) a[l] = FORM == STRATA_SYSTEM_VARIABLE ? leg[z][l][q] : s.leg[l];
      out.v[q] = strata_jacobi_damped(weight, m.u[z + 1][q], jacobi_value<DIM, FORM>(a, b[z][q], v));
    }
    if (writes) {
      T *const y = p.y + m.id + z * m.layer;

      if (m.i >= p.box.lo[0] && m.i + V <= p.box.hi[0])
        *reinterpret_cast<Pack<T, V> *>(y) = out;
      else {
#pragma unroll
        for (int q = 0; q < V; q++)
          if (m.i + q >= p.box.lo[0] && m.i + q < p.box.hi[0]) y[q] = out.v[q];
      }
      if (p.change) {
#pragma unroll
        for (int q = 0; q < V; q++)
          if (m.i + q >= p.box.lo[0] && m.i + q < p.box.hi[0]) m.most = max(m.most, change_bits(out.v[q], m.u[z + 1][q]));
      }
    }
  }
#pragma unroll
  for (int q = 0; q < V; q++) {
    m.u[0][q] = m.u[Z][q];
    m.u[1][q] = m.u[Z + 1][q];
  }
  m.id += Z * m.layer;
}

template <class T, int DIM, int FORM, int V>
static __global__ void __launch_bounds__(WARP *ROWS, BLOCKS<DIM, FORM>)
    sweep(__grid_constant__ const typename Typed<T>::System s, __grid_constant__ const Pass<T> p, int across, int rows, int run)
{
  constexpr int          M = DIM == 1 ? 1 : DIM - 1, Z = BURST<DIM, FORM>;
  March<T, DIM, FORM, V> m;
  const int              lane = threadIdx.x, row = (int)(blockIdx.x / across % rows) * ROWS + (int)threadIdx.y;
  const T                weight = p.weight ? *p.weight : 1;
  int                    k0, k1;
  bool                   writes;

  m.i = p.box.lo[0] / V * V + V * ((int)(blockIdx.x % across) * WARP + lane);
  m.j = DIM == 3 ? p.box.lo[1] + row : 0;
  k0 = p.box.lo[M] + run * (DIM == 3 ? (int)(blockIdx.x / across / rows) : row);
  k1 = min(k0 + run, p.box.hi[M]);
  if (k0 >= k1 || (DIM == 3 && m.j >= p.box.hi[1])) return; /* the whole warp */
  writes = m.i < p.box.hi[0];
  m.west = m.i > 0;
  m.east = m.i + V < s.n[0];
  m.side = lane == 0 && m.west ? -1 : lane == WARP - 1 && m.east ? V : 0;
  if (m.i >= s.n[0]) { /* lanes past the end do as the last one, but write nothing */
    m.i = s.n[0] - V;
    m.side = 0;
  }
  m.south = m.j > 0;
  m.north = m.j < s.n[1] - 1;
  m.most = 0;
  m.layer = DIM == 3 ? (ptrdiff_t)s.n[0] * s.n[1] : s.n[0];
  m.id = m.i + (ptrdiff_t)s.n[0] * m.j + m.layer * k0;
  load(m.u[1], p.x + m.id);
#pragma unroll
  for (int q = 0; q < V; q++) m.u[0][q] = 0;
  if (DIM > 1 && k0) load(m.u[0], p.x + m.id - m.layer);

  int k = k0;
#pragma unroll 1
  for (; k + Z <= k1 && k + Z < s.n[M]; k += Z) burst<true, T, DIM, FORM, V>(m, s, p, weight, writes, k, k1);
#pragma unroll 1
  for (; k < k1; k += Z) burst<false, T, DIM, FORM, V>(m, s, p, weight, writes, k, k1);
  if (p.change) join_change(m.most, p.change);
}

template <class T, int DIM, int FORM, int V>
static cudaError_t sweep_launch(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  constexpr int M = DIM == 1 ? 1 : DIM - 1;
  const int     width = p.box.hi[0] - p.box.lo[0] / V * V, layers = p.box.hi[M] - p.box.lo[M], across = (width + V * WARP - 1) / (V * WARP);
  const int     lines = DIM == 3 ? p.box.hi[1] - p.box.lo[1] : 1;
  Device        d;
  int           run = RUN<DIM, FORM>;
  cudaError_t   err = device_limits(&d);

  if (err != cudaSuccess) return err;
  while (run > 4 && (ptrdiff_t)across * lines * ((layers + run - 1) / run) < 32 * d.processors) run /= 2; /* small grids: enough warps first */
  const int       runs = (layers + run - 1) / run, rows = ((DIM == 3 ? lines : runs) + ROWS - 1) / ROWS;
  const ptrdiff_t blocks = (ptrdiff_t)across * rows * (DIM == 3 ? runs : 1);

  if (blocks > 2147483647) return cudaErrorInvalidConfiguration;
  sweep<T, DIM, FORM, V><<<(unsigned)blocks, dim3(WARP, ROWS), 0, stream>>>(s, p, across, rows, run);
  return cudaGetLastError();
}

template <class T, int DIM, int V> static cudaError_t sweep_form(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  if (s.form == STRATA_SYSTEM_EQUAL) return sweep_launch<T, DIM, STRATA_SYSTEM_EQUAL, V>(s, p, stream);
  if (s.form == STRATA_SYSTEM_CONSTANT) return sweep_launch<T, DIM, STRATA_SYSTEM_CONSTANT, V>(s, p, stream);
  return sweep_launch<T, DIM, STRATA_SYSTEM_VARIABLE, V>(s, p, stream);
}

template <class T, int V> static cudaError_t sweep_dim(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  return s.dim == 1 ? sweep_form<T, 1, V>(s, p, stream) : s.dim == 2 ? sweep_form<T, 2, V>(s, p, stream) : sweep_form<T, 3, V>(s, p, stream);
}

template <class T> cudaError_t classic_sweep(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  return wide_rows<T>(s, p) ? sweep_dim<T, 16 / sizeof(T)>(s, p, stream) : sweep_dim<T, 1>(s, p, stream);
}

template cudaError_t classic_sweep<double>(const StrataSystem_d &, const Pass<double> &, cudaStream_t);
template cudaError_t classic_sweep<float>(const StrataSystem_f &, const Pass<float> &, cudaStream_t);
