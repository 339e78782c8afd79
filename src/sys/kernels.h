/*
   What every kernel header shares: plain C, no PETSc objects, no MPI, no CUDA types, so that kernels can be tested, timed and
   reused alone. Read by the C and by the CUDA compiler.

   A header or source that is written once for both precisions is included through typed.h, which defines for each of them

     REAL        double or float
     TYPED(name) name_d or name_f: structs, and functions with C linkage
     CELL(name)  name_d or name_f in C; plain, overloaded name in C++, so that a template finds it by its arguments
     FMA(a,b,c)  the fused multiply-add of that precision
*/
#ifndef STRATA_KERNELS_H
#define STRATA_KERNELS_H

#include <petscconf.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#if defined(__cplusplus)
#define STRATA_BEGIN_C extern "C" {
#define STRATA_END_C   }
#else
#define STRATA_BEGIN_C
#define STRATA_END_C
#endif

/* A function of one cell, for host and device */
#if defined(__CUDACC__)
#define STRATA_CELL static __host__ __device__ __forceinline__
#else
#define STRATA_CELL static inline __attribute__((always_inline, unused))
#endif

/* A host loop compiled for several instruction sets, the best one chosen when the library is loaded. Sanitizers instrument the
   choice itself, which runs before they are ready. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) &&                       \
    !defined(__SANITIZE_THREAD__)
#define STRATA_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define STRATA_CLONES
#endif

/* The index type of an assembled matrix, PetscInt */
#if defined(PETSC_USE_64BIT_INDICES)
typedef int64_t StrataInt;
#else
typedef int StrataInt;
#endif

/* The legs of the star stencil; opposite legs are neighbours in this order */
enum { STRATA_WEST, STRATA_EAST, STRATA_SOUTH, STRATA_NORTH, STRATA_BOTTOM, STRATA_TOP, STRATA_LEGS };

/* A box of cells lo <= (i, j, k) < hi of the local array, x fastest */
typedef struct {
  int lo[3], hi[3];
} StrataBox;

/* Cells beyond one side of the owned box, wherever they are stored: a received buffer, or for a periodic side on one rank the
   vector itself. Cell (i, j, k) of the ghost box, counted from its own corner, is p[i * s[0] + j * s[1] + k * s[2]]; vector v
   of several starts at v * sv. NULL where there is nothing. */
typedef struct {
  const void *p;
  ptrdiff_t   s[3], sv;
} StrataGhost;

/* Where in the ghosts beyond side l the neighbour of cell x of the owned box is, for ghosts one cell deep */
STRATA_CELL ptrdiff_t strata_ghost_offset(const StrataGhost *g, int l, const int x[3])
{
  ptrdiff_t offset = 0;
  for (int a = 0; a < 3; a++)
    if (a != l / 2) offset += x[a] * g->s[a];
  return offset;
}

STRATA_CELL ptrdiff_t strata_box_size(const StrataBox *b)
{
  ptrdiff_t n = 1;
  for (int a = 0; a < 3; a++) n *= b->hi[a] > b->lo[a] ? b->hi[a] - b->lo[a] : 0;
  return n;
}

#endif
