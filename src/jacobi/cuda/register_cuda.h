/*
   Sweeps in registers. Exact ones by the axes of the grid: the most sweeps of one pass (0: none can), and a pass
*/
#ifndef STRATA_REGISTER_CUDA_H
#define STRATA_REGISTER_CUDA_H

#include "cycle_cuda.h"

/* any grid; is it worth it? */
template <class T> bool        register_pays(const typename Typed<T>::System &s);
template <class T> int         register_depth(const typename Typed<T>::System &s, int sweeps);
template <class T> cudaError_t register_sweeps(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream);

/* along x alone, of 1D grids and of those whose other legs are zero */
template <class T> int         lines_depth(const typename Typed<T>::System &s, int sweeps);
template <class T> cudaError_t lines_sweeps(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream);

/* 2D */
template <class T> int         rows_depth(const typename Typed<T>::System &s, int sweeps);
template <class T> cudaError_t rows_sweeps(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream);

/* 3D, without and with legs of its own for each cell; does the grid keep the blocks busy? */
template <class T> bool        planes_pays(const typename Typed<T>::System &s);
template <class T> int         planes_depth(const typename Typed<T>::System &s, int sweeps);
template <class T> cudaError_t planes_sweeps(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream);
template <class T> int         records_depth(const typename Typed<T>::System &s, int sweeps);
template <class T> bool        records_pay(const typename Typed<T>::System &s);
template <class T> cudaError_t records_sweeps(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream);

/* Cycles of tiles, exact or not: can such tiles be held (else no says why not), is it worth it, and a pass */
template <class T> bool register_tiles_fit(const typename Typed<T>::System &s, const StrataTiling &t, char no[], size_t length);
template <class T> bool register_tiles_pay(const typename Typed<T>::System &s, const StrataTiling &t);
template <class T>
cudaError_t register_tiles_sweeps(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream);

/* along x alone, as above: the columns of the widest tile */
template <class T> int         line_tiles_limit(const typename Typed<T>::System &s);
template <class T> cudaError_t line_tiles_sweeps(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream);

/* 2D, a block for each: cells of the largest tile */
template <class T> void        tiles_limit(const typename Typed<T>::System &s, int cells[2]);
template <class T> cudaError_t tiles_sweeps(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream);

/* The same with tiles so small that a warp holds one */
template <class T> void        small_limit(int cells[2]);
template <class T> cudaError_t small_sweeps(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream);

#endif
