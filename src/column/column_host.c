/*
   Solves along lines on the host: strips of neighbouring lines together, so that loops run across lines. A strip's right-hand sides are
   read once and its solutions written once; what is needed in between stays in cache.
*/
#include "column_cell.h"
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Lines of a strip at most; lines that share their factors, for each precision; and sets of factors that are kept */
#define STRIP   64
#define GROUP_d 8
#define GROUP_f 16
#define SLOTS   16

/* Rows and columns of a block that is turned: lines along x are not neighbours in memory */
#define TURN 4

/* Levels that are fetched ahead, bytes of a cache line, and bytes of a vector that is not kept in cache */
#define AHEAD 8
#define LINE  64
#define PAST  (4 << 20)

/* Strips among which one more is no matter, and in which lines with the same numbers are found where there are any */
#define FEW 16

/* As many lines as leave what is kept of a strip in cache */
static inline int strip_width(int axis, int levels)
{
  return levels > 512 ? STRIP / 4 : axis ? STRIP : STRIP / 2;
}

/* Enough for all groups of a strip */
static inline int factor_slots(int levels, int group)
{
  return levels > 512 ? STRIP / 4 / group : SLOTS;
}

/* A cache line that is written without being read first, and that leaves the cache; then others may look at those that were written */
static inline __attribute__((always_inline)) void write_line_past(const char *from, char *to)
{
#if defined(__SSE2__)
  for (int b = 0; b < LINE; b += 16) _mm_stream_si128((__m128i *)(to + b), _mm_loadu_si128((const __m128i *)(from + b)));
#else
  __builtin_memcpy(to, from, LINE);
#endif
}

static inline void written_past(void)
{
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

/* 1 / x in multiplications, as division rounds it: from a guess with an error of 5% an approximation that is one of the two nearest numbers, which
   the last step rounds rightly (Markstein) unless x is the number below a power of two. There, and where x is zero, tiny, huge or not a number, what
   is left of 1 - x y says that y is not to be used. */
static inline __attribute__((always_inline)) double reciprocal_d(double x, double *odd)
{
  uint64_t bits;
  double   y, e;

  memcpy(&bits, &x, sizeof(x));
  bits = UINT64_C(0x7fde623822fc16e6) - bits;
  memcpy(&y, &bits, sizeof(y));
  e = fma(-x, y, 1);
  y = fma(y, fma(e, e, e), y);
  e = fma(-x, y, 1);
  y = fma(y, fma(e, e, e), y);
  y = fma(y, fma(-x, y, 1), y);
  y = fma(y, fma(-x, y, 1), y);
  *odd += fabs(fma(-x, y, 1)) < 0x1p-53 ? 0 : 1;
  return y;
}

static inline __attribute__((always_inline)) float reciprocal_f(float x, float *odd)
{
  (void)odd;
  return 1 / x;
}

/* Is that faster, where shared rows leave little else to wait for? Not for vectors of four numbers, nor where they are divided quickly. */
static inline int reciprocals(size_t size)
{
#if defined(__GNUC__) && defined(__x86_64__)
  return size == sizeof(double) && __builtin_cpu_is("intel") && __builtin_cpu_supports("avx512f");
#else
  return 0;
#endif
}

#if !defined(__has_builtin)
#define __has_builtin(name) 0
#endif
#if __has_builtin(__builtin_shufflevector)
#define PICK(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define PICK_ONE(a, b, i) ((i) < TURN ? (a)[(i) % TURN] : (b)[(i) % TURN])
#define PICK(a, b, i, j, k, l)                                                                                                                       \
  {                                                                                                                                                  \
    PICK_ONE(a, b, i), PICK_ONE(a, b, j), PICK_ONE(a, b, k), PICK_ONE(a, b, l)                                                                       \
  }
#endif

#define STRATA_TYPED "../column/column_host_typed.h"
#include "../sys/typed.h"
