/*
   Solves along lines as plain kernels: on the host against a reference in long double, on the device against the host with ==
*/
/* sanitize */
#include "tap.h"
#include "../src/column/column_kernels.h"
#include "../src/operator/operator_cell.h"

typedef enum { CONSTANT, TENSOR, TENSOR_ACROSS, FACES, LEGS, CONSTANT_MASKED, TENSOR_MASKED, SINGULAR, PIECES, KINDS } Kind;
static const char *const kinds[] = {"constant",        "tensor",        "tensor across", "faces",    "legs",
                                    "constant masked", "tensor masked", "singular",      "in pieces"};

/* Lengths 1, 2, 3, odd, across the widths of strips, tiles and blocks, and long enough for narrow strips */
#define SHAPES 8
static const int shapes[SHAPES][3] = {{1, 1, 1}, {2, 1, 3}, {3, 2, 1}, {67, 3, 2}, {7, 65, 3}, {5, 3, 130}, {17, 16, 15}, {530, 1, 2}};

/* The same numbers in [low, high] everywhere */
static double Random(double low, double high)
{
  static unsigned long long state = 88172645463325252ULL;

  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return low + (high - low) * (double)(state >> 11) / 9007199254740992.0;
}

#if STRATA_HAVE_CUDA
static void *device[256];
static int   devices;

static void *DeviceCopy(const void *from, size_t bytes)
{
  void *p = NULL;

  if (cudaMalloc(&p, bytes ? bytes : 1) != cudaSuccess || cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice) != cudaSuccess) {
    printf("Bail out! The device has no memory\n");
    exit(1);
  }
  return device[devices++] = p;
}

static void DeviceRead(void *to, const void *from, size_t bytes)
{
  if (cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost) != cudaSuccess) {
    printf("Bail out! Nothing comes back from the device: %s\n", cudaGetErrorString(cudaGetLastError()));
    exit(1);
  }
}

static void DeviceFreeAll(void)
{
  while (devices) (void)cudaFree(device[--devices]);
}
#endif

#define STRATA_TYPED "../../tests/column_kernels_typed.h"
#include "../src/sys/typed.h"

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  for (int axis = 0; axis < 3; axis++)
    for (Kind kind = 0; kind < KINDS; kind++) {
      solves_d("fp64", kind, axis);
      solves_f("fp32", kind, axis);
    }
  reports_d("fp64");
  reports_f("fp32");
  return TapEnd();
}
