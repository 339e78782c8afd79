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

/* 3D */
template <class T> int         planes_depth(const typename Typed<T>::System &s, int sweeps);
template <class T> cudaError_t planes_sweeps(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream);

/* Cycles of 2D tiles, exact or not: can such tiles be held, do they keep a block busy, and a pass */
template <class T> bool        tiles_fit(const typename Typed<T>::System &s, const StrataTiling &t);
template <class T> bool        tiles_fill(const StrataTiling &t);
template <class T> cudaError_t tiles_sweeps(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream);

/* The same with tiles so small that a warp holds one; do they keep it busy? */
template <class T> bool        small_fit(const typename Typed<T>::System &s, const StrataTiling &t);
template <class T> bool        small_fill(const typename Typed<T>::System &s, const StrataTiling &t);
template <class T> cudaError_t small_sweeps(const typename Typed<T>::System &s, const StrataTiling &t, const Pass<T> &p, cudaStream_t stream);

#endif
