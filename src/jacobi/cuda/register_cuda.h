/*
   Exact sweeps in registers, by the axes of the grid: the most sweeps of one pass (0: none can), and a pass
*/
#ifndef STRATA_REGISTER_CUDA_H
#define STRATA_REGISTER_CUDA_H

#include "cycle_cuda.h"

/* along x alone, of 1D grids and of those whose other legs are zero */
template <class T> int         lines_depth(const typename Typed<T>::System &s, int sweeps);
template <class T> cudaError_t lines_sweeps(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream);

/* 2D */
template <class T> int         rows_depth(const typename Typed<T>::System &s, int sweeps);
template <class T> cudaError_t rows_sweeps(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream);

/* 3D */
template <class T> int         planes_depth(const typename Typed<T>::System &s, int sweeps);
template <class T> cudaError_t planes_sweeps(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream);

#endif
