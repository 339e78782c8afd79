/*
   Tests of plain kernels: numbers that are the same everywhere, and arrays on the host and on the device
*/
#ifndef KERNELS_H
#define KERNELS_H

#include "tap.h"
#include "../src/sys/kernels.h"

/* The same numbers in [low, high] everywhere */
static inline double Random(double low, double high)
{
  static unsigned long long state = 88172645463325252ULL;

  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return low + (high - low) * (double)(state >> 11) / 9007199254740992.0;
}

/* Tools that slow kernels down see some of the cases: one in so many */
static inline int TestEach(void)
{
  const char *few = getenv("STRATA_TEST_FEW");
  const int   each = few ? atoi(few) : 1;

  return each > 1 ? each : 1;
}

/* The arrays that a structure of a kernel points to */
typedef struct {
  void  *p[64];
  size_t bytes[64];
  int    count;
} Arrays;

static inline void *NewArray(Arrays *a, size_t bytes)
{
  a->bytes[a->count] = bytes;
  return a->p[a->count++] = malloc(bytes ? bytes : 1);
}

static inline void FreeArrays(Arrays *a)
{
  while (a->count) free(a->p[--a->count]);
}

#if STRATA_HAVE_CUDA
static void *device[256];
static int   devices;

static inline void *DeviceCopy(const void *from, size_t bytes)
{
  void *p = NULL;

  if (cudaMalloc(&p, bytes ? bytes : 1) != cudaSuccess || cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice) != cudaSuccess) {
    printf("Bail out! The device has no memory\n");
    exit(1);
  }
  return device[devices++] = p;
}

static inline void DeviceRead(void *to, const void *from, size_t bytes)
{
  if (cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost) != cudaSuccess) {
    printf("Bail out! Nothing comes back from the device: %s\n", cudaGetErrorString(cudaGetLastError()));
    exit(1);
  }
}

static inline void DeviceFreeAll(void)
{
  while (devices) (void)cudaFree(device[--devices]);
}

/* Copies all arrays; `pointers` to numbers in them, or NULL, become pointers to the copies */
static inline void DeviceArrays(const Arrays *a, int count, const void **const pointers[])
{
  const char *copy[32];

  for (int m = 0; m < a->count; m++) copy[m] = (const char *)DeviceCopy(a->p[m], a->bytes[m]);
  for (int q = 0; q < count; q++)
    for (int m = 0; m < a->count; m++) {
      const char *at = (const char *)*pointers[q], *from = (const char *)a->p[m];

      if (at < from || at >= from + a->bytes[m]) continue;
      *pointers[q] = copy[m] + (at - from);
      break;
    }
}
#endif

#define STRATA_TYPED "../../tests/kernels_typed.h"
#include "../src/sys/typed.h"

#endif
