/*
   Exact sweeps in registers: which way for which grid
*/
#include "register_cuda.h"

template <class T> int register_depth(const typename Typed<T>::System &s, int sweeps)
{
  return s.dim == 2 ? rows_depth<T>(s, sweeps) : 0;
}

template <class T> cudaError_t register_sweeps(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  return rows_sweeps<T>(s, p, stream);
}

template int         register_depth<double>(const StrataSystem_d &, int);
template int         register_depth<float>(const StrataSystem_f &, int);
template cudaError_t register_sweeps<double>(const StrataSystem_d &, const Pass<double> &, cudaStream_t);
template cudaError_t register_sweeps<float>(const StrataSystem_f &, const Pass<float> &, cudaStream_t);
