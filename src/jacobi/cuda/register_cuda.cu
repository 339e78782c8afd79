#include "cycle_cuda.h"
template <class T> int register_depth(const typename Typed<T>::System &s, int sweeps)
{
  return 1;
}
template <class T> cudaError_t register_sweeps(const typename Typed<T>::System &s, const Pass<T> &p, cudaStream_t stream)
{
  return cudaSuccess;
}
template int         register_depth<double>(const StrataSystem_d &s, int sweeps);
template int         register_depth<float>(const StrataSystem_f &s, int sweeps);
template cudaError_t register_sweeps<double>(const StrataSystem_d &s, const Pass<double> &p, cudaStream_t stream);
template cudaError_t register_sweeps<float>(const StrataSystem_f &s, const Pass<float> &p, cudaStream_t stream);
