/*
   Strips of columns, which warps walk down: a lane owns W neighbouring columns, HALO columns at either side belong to the next strips too.
   Where the array ends, a strip has BEYOND columns beyond the end, whose values stay zero since all that they get is zero.
*/
#ifndef STRATA_STRIP_CUDA_H
#define STRATA_STRIP_CUDA_H

#include "async_cuda.h"
#include "cycle_cuda.h"

/* For K sweeps at a time; PER16 numbers in a chunk of 16 bytes, such chunks of a lane; columns beyond the end of the array */
template <class T, int K, int LANE = 4> struct Strip {
  static constexpr int W = LANE, PER16 = 16 / sizeof(T), CHUNKS = W / PER16, COLUMNS = WARP * W, BEYOND = W < 4 ? 4 : W;
  static constexpr int HALO = (K + PER16 - 1) / PER16 * PER16, STEP = COLUMNS - 2 * HALO;
};

/* How the columns lo <= i < hi of an array are cut into strips */
struct Strips {
  int base, step, count;
};

/* Only in narrow arrays a strip ends within BEYOND columns of the array's end */
template <class S> static inline Strips cut_strips(int n, int lo, int hi)
{
  Strips c = {lo < S::HALO ? -S::BEYOND : (lo - S::HALO) / S::PER16 * S::PER16, S::STEP, 1};

  for (;; c.step -= S::PER16) {
    int end = c.base + S::COLUMNS;

    for (c.count = 1; end - S::HALO < hi && end < n + S::BEYOND; c.count++) end += c.step;
    if (c.count == 1 || end <= n || end >= n + S::BEYOND) return c;
  }
}

/* One strip: its first column, and the columns that it writes */
template <class S> struct Place {
  int column, first, last;

  __device__ __forceinline__ Place(const Strips &c, int strip, int n, int lo, int hi)
  {
    const int place = c.base + strip * c.step;

    column = strip && place + S::COLUMNS > n ? max(n + S::BEYOND - S::COLUMNS, -S::BEYOND) : place;
    first = strip ? place + S::HALO : lo;
    last = strip < c.count - 1 ? place + c.step + S::HALO : hi;
  }
  /* Does every lane lie in the array or beyond its end? */
  __device__ __forceinline__ bool even(int n) const
  {
    return (column >= 0 || column == -S::BEYOND) && (column + S::COLUMNS <= n || column + S::COLUMNS == n + S::BEYOND);
  }
  /* Which of a lane's columns lie in from <= i < to */
  __device__ __forceinline__ unsigned within(int from, int to) const
  {
    unsigned mask = 0;

#pragma unroll
    for (int i = 0; i < S::W; i++) {
      const int at = column + (int)(threadIdx.x % WARP) * S::W + i;

      if (at >= from && at < to) mask |= 1u << i;
    }
    return mask;
  }
};

/* Where a chunk of a row lies in shared memory: a lane's two are read without conflicts of banks, and a copy of 128 bytes stays one */
template <class S> static __device__ __forceinline__ int chunk_place(int c)
{
  return S::CHUNKS == 2 ? c ^ (c >> 3 & 1) : c;
}

/* The places of a lane's numbers in a row */
template <class S> struct Lane {
  int chunk[2];

  __device__ __forceinline__ Lane()
  {
    chunk[0] = chunk_place<S>((int)(threadIdx.x % WARP) * S::CHUNKS) * S::PER16;
    chunk[1] = chunk[0] ^ S::PER16;
  }
  template <class T> __device__ __forceinline__ void take(T (&to)[S::W], const T *row) const
  {
#pragma unroll
    for (int q = 0; q < S::CHUNKS; q++) {
      const Pack<T, S::PER16> p = *reinterpret_cast<const Pack<T, S::PER16> *>(row + chunk[q]);
#pragma unroll
      for (int i = 0; i < S::PER16; i++) to[q * S::PER16 + i] = p.v[i];
    }
  }
  template <class T> __device__ __forceinline__ void put(const T (&from)[S::W], T *row) const
  {
#pragma unroll
    for (int q = 0; q < S::CHUNKS; q++) {
      Pack<T, S::PER16> p;
#pragma unroll
      for (int i = 0; i < S::PER16; i++) p.v[i] = from[q * S::PER16 + i];
      *reinterpret_cast<Pack<T, S::PER16> *>(row + chunk[q]) = p;
    }
  }
};

/* A lane copies PIECES of a row ahead, each of NUMBERS numbers; only the first and the last can lie beyond the end of the array */
template <class S, bool WIDE> struct Fetch {
  static constexpr int PIECES = WIDE ? S::CHUNKS : S::W, NUMBERS = WIDE ? S::PER16 : 1;

  static __device__ __forceinline__ int column(int q)
  {
    return (q * WARP + (int)(threadIdx.x % WARP)) * NUMBERS;
  }
  static __device__ __forceinline__ int to(int q)
  {
    return chunk_place<S>(column(q) / S::PER16) * S::PER16 + column(q) % S::PER16;
  }
};

/* Writes a lane's numbers to a row of the array. Lanes of a pair first exchange chunks, so that every store fills whole sectors of the memory. */
template <class S, bool WIDE> struct Store {
  int      offset; /* of the lane's first chunk then; the second is 2 chunks further */
  bool     whole[S::CHUNKS], part[S::CHUNKS];
  int      first, last; /* columns of the strip that are written */
  unsigned writes;

  __device__ __forceinline__ Store(const Place<S> &place)
  {
    const int lane = threadIdx.x % WARP;

    first = place.first - place.column;
    last = place.last - place.column;
    writes = place.within(place.first, place.last);
    offset = (S::CHUNKS == 2 ? 2 * lane - (lane & 1) : lane) * S::PER16;
#pragma unroll
    for (int q = 0; q < S::CHUNKS; q++) {
      const int i = offset + 2 * q * S::PER16;

      whole[q] = i >= first && i + S::PER16 <= last;
      part[q] = !whole[q] && i + S::PER16 > first && i < last;
    }
  }
  template <class T> __device__ __forceinline__ void put(const T (&v)[S::W], bool row, T *y) const
  {
    if (WIDE) {
      const bool        odd = threadIdx.x & 1;
      Pack<T, S::PER16> out[S::CHUNKS];

#pragma unroll
      for (int i = 0; i < S::PER16; i++) {
        if (S::CHUNKS == 2) {
          const T other = __shfl_xor_sync(~0u, odd ? v[i] : v[S::W - S::PER16 + i], 1);

          out[0].v[i] = odd ? other : v[i];
          out[S::CHUNKS - 1].v[i] = odd ? v[S::W - S::PER16 + i] : other;
        } else
          out[0].v[i] = v[i];
      }
      if (!row) return;
#pragma unroll
      for (int q = 0; q < S::CHUNKS; q++) {
        const int at = offset + 2 * q * S::PER16;

        if (whole[q]) *reinterpret_cast<Pack<T, S::PER16> *>(y + at) = out[q];
        if (part[q]) {
#pragma unroll
          for (int i = 0; i < S::PER16; i++)
            if (at + i >= first && at + i < last) y[at + i] = out[q].v[i];
        }
      }
    } else if (row) {
#pragma unroll
      for (int i = 0; i < S::W; i++)
        if (writes >> i & 1) y[(int)(threadIdx.x % WARP) * S::W + i] = v[i];
    }
  }
};

#endif
