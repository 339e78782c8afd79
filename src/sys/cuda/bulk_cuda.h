/*
   Bulk copies into shared memory that barriers there wait for, and kernels that start while the one before them ends (compute capability 9.0)
*/
#ifndef STRATA_BULK_CUDA_H
#define STRATA_BULK_CUDA_H

#include <cuda.h>
#include <cuda_runtime.h>
#include <stdint.h>

#define BULK static __device__ __forceinline__

/* Devices of lower compute capability never come here */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define BULK_ASM(...) (void)0
#else
#define BULK_ASM(...) asm volatile(__VA_ARGS__)
#endif

BULK unsigned shared_address(const void *p)
{
  return (unsigned)__cvta_generic_to_shared(p);
}

/* A barrier flips when `count` threads have arrived and the bytes that were announced are there; waiting is for the end of a phase, 0 or 1 */
BULK void barrier_init(uint64_t *b, int count)
{
  BULK_ASM("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(count) : "memory");
}

BULK void barrier_init_done(void)
{
  BULK_ASM("fence.mbarrier_init.release.cluster;" ::: "memory");
}

BULK void barrier_arrive(uint64_t *b)
{
  BULK_ASM("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(b)) : "memory");
}

/* Arrives when what the thread has copied by copy_async() so far is there */
BULK void barrier_copies(uint64_t *b)
{
  BULK_ASM("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(b)) : "memory");
}

BULK void barrier_expect(uint64_t *b, unsigned bytes)
{
  BULK_ASM("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(b)), "r"(bytes) : "memory");
}

BULK void barrier_wait(uint64_t *b, int phase)
{
  BULK_ASM("{\n"
           ".reg .pred p;\n"
           "WAIT_%=: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
           "@p bra DONE_%=;\n"
           "bra WAIT_%=;\n"
           "DONE_%=:\n"
           "}" ::"r"(shared_address(b)),
           "r"(phase)
           : "memory");
}

/* Before bulk copies overwrite what threads have read */
BULK void bulk_fence(void)
{
  BULK_ASM("fence.proxy.async.shared::cta;" ::: "memory");
}

/* A box of a 3d array, zeros beyond its sides */
BULK void bulk_box(void *to, const CUtensorMap *map, int x, int y, int z, uint64_t *b)
{
  BULK_ASM("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(to)),
           "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(b))
           : "memory");
}

/* The same for numbers that nobody reads again soon */
BULK void bulk_box_once(void *to, const CUtensorMap *map, int x, int y, int z, uint64_t *b)
{
  uint64_t policy = 0;

  BULK_ASM("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  BULK_ASM("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(
               shared_address(to)),
           "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(b)), "l"(policy)
           : "memory");
  (void)policy;
}

/* Contiguous bytes, a multiple of 16 */
BULK void bulk_bytes(void *to, const void *from, unsigned bytes, uint64_t *b)
{
  BULK_ASM("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)), "l"(from), "r"(bytes),
           "r"(shared_address(b))
           : "memory");
}

/* Some of the warps of a block meet */
template <int THREADS> BULK void meet(void)
{
  BULK_ASM("bar.sync 1, %0;" ::"n"(THREADS) : "memory");
}

/* A store whose line is the last to leave the L2 cache */
BULK uint64_t leaves_last(void)
{
  uint64_t policy = 0;

  BULK_ASM("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

BULK void store(double *to, double value, uint64_t policy)
{
  BULK_ASM("st.global.L2::cache_hint.f64 [%0], %1, %2;" ::"l"(to), "d"(value), "l"(policy) : "memory");
}

BULK void store(float *to, float value, uint64_t policy)
{
  BULK_ASM("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(to), "f"(value), "l"(policy) : "memory");
}

/* Waits for all that the kernels before this one have written; lets the next one start */
BULK void kernel_wait(void)
{
  BULK_ASM("griddepcontrol.wait;" ::: "memory");
}

BULK void kernel_next(void)
{
  BULK_ASM("griddepcontrol.launch_dependents;" ::: "memory");
}

#undef BULK
#undef BULK_ASM

/* Launches a kernel that begins with kernel_wait() */
template <class... P, class... A> static int launch_early(void (*kernel)(P...), dim3 grid, int threads, size_t shared, void *stream, A &&...args)
{
  cudaLaunchConfig_t  config = {};
  cudaLaunchAttribute early[1] = {};
  const cudaError_t   err = cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);

  if (err != cudaSuccess) return (int)err;
  early[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early[0].val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = (cudaStream_t)stream;
  config.attrs = early;
  config.numAttrs = 1;
  return (int)cudaLaunchKernelEx(&config, kernel, P(args)...);
}

/* Describes a 3d array for bulk_box(); fetch: what a miss brings into the L2 cache. The value is a cudaError_t. */
template <class T>
static int bulk_map(CUtensorMap *map, const T *array, const int n[3], ptrdiff_t row, ptrdiff_t layer, int x, int y, int z,
                    CUtensorMapL2promotion fetch = CU_TENSOR_MAP_L2_PROMOTION_L2_256B)
{
  typedef CUresult (*Encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                             const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  static Encode    encode = NULL;
  const cuuint64_t sizes[3] = {(cuuint64_t)n[0], (cuuint64_t)n[1], (cuuint64_t)n[2]}, strides[2] = {row * sizeof(T), layer * sizeof(T)};
  const cuuint32_t box[3] = {(cuuint32_t)x, (cuuint32_t)y, (cuuint32_t)z}, steps[3] = {1, 1, 1};

  if (!encode) {
    cudaDriverEntryPointQueryResult found;
    void                           *entry = NULL;
    const cudaError_t               err = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);

    if (err != cudaSuccess) return (int)err;
    if (found != cudaDriverEntryPointSuccess) return (int)cudaErrorNotSupported;
    encode = (Encode)entry;
  }
  return encode(map, sizeof(T) == 8 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT64 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, (void *)array, sizes, strides, box, steps,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, fetch, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS
             ? 0
             : (int)cudaErrorInvalidValue;
}

#endif
