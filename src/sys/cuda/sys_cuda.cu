/*
   The few CUDA runtime calls that C sources need
*/
#include <petscdevice_cuda.h>
#include "../strataimpl.h"

PetscErrorCode StrataGetDeviceStream(void **stream)
{
  cudaStream_t s;

  PetscFunctionBegin;
  PetscCall(StrataGetCUDAStream(&s));
  *stream = (void *)s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *StrataCUDAErrorString(int err)
{
  return cudaGetErrorString((cudaError_t)err);
}

int StrataCUDAOutOfMemory(int err)
{
  return err == (int)cudaErrorMemoryAllocation;
}

int StrataCUDAMalloc(void **p, size_t bytes)
{
  const cudaError_t err = cudaMalloc(p, bytes);

  if (err == cudaErrorMemoryAllocation) (void)cudaGetLastError(); /* not sticky: the next call may well succeed */
  return (int)err;
}

int StrataCUDAFree(void *p)
{
  return (int)cudaFree(p);
}

int StrataCUDAMallocHost(void **p, size_t bytes)
{
  return (int)cudaMallocHost(p, bytes);
}

int StrataCUDAFreeHost(void *p)
{
  return (int)cudaFreeHost(p);
}

int StrataCUDAMemcpyAsync(void *to, const void *from, size_t bytes, void *stream)
{
  return (int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, (cudaStream_t)stream);
}

int StrataCUDAMemcpy(void *to, const void *from, size_t bytes, void *stream)
{
  const int err = StrataCUDAMemcpyAsync(to, from, bytes, stream);

  return err ? err : (int)cudaStreamSynchronize((cudaStream_t)stream);
}

int StrataCUDAMemset(void *to, int value, size_t bytes, void *stream)
{
  return (int)cudaMemsetAsync(to, value, bytes, (cudaStream_t)stream);
}

int StrataCUDAStreamCreate(void **stream)
{
  return (int)cudaStreamCreateWithFlags((cudaStream_t *)stream, cudaStreamNonBlocking);
}

int StrataCUDAStreamDestroy(void *stream)
{
  return (int)cudaStreamDestroy((cudaStream_t)stream);
}

int StrataCUDAStreamSynchronize(void *stream)
{
  return (int)cudaStreamSynchronize((cudaStream_t)stream);
}

int StrataCUDAEventCreate(void **event)
{
  return (int)cudaEventCreateWithFlags((cudaEvent_t *)event, cudaEventDisableTiming);
}

int StrataCUDAEventDestroy(void *event)
{
  return (int)cudaEventDestroy((cudaEvent_t)event);
}

int StrataCUDAEventRecord(void *event, void *stream)
{
  return (int)cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream);
}

int StrataCUDAEventSynchronize(void *event)
{
  return (int)cudaEventSynchronize((cudaEvent_t)event);
}

int StrataCUDAStreamWaitEvent(void *stream, void *event)
{
  return (int)cudaStreamWaitEvent((cudaStream_t)stream, (cudaEvent_t)event, 0);
}

int StrataCUDAIpcGet(void *handle, void *memory)
{
  static_assert(sizeof(cudaIpcMemHandle_t) == STRATA_CUDA_IPC_BYTES, "length of a handle");
  return (int)cudaIpcGetMemHandle((cudaIpcMemHandle_t *)handle, memory);
}

int StrataCUDAIpcOpen(void **memory, const void *handle)
{
  return (int)cudaIpcOpenMemHandle(memory, *(const cudaIpcMemHandle_t *)handle, cudaIpcMemLazyEnablePeerAccess);
}

int StrataCUDAIpcClose(void *memory)
{
  return (int)cudaIpcCloseMemHandle(memory);
}
