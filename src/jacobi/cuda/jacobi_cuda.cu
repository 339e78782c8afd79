/*
   Jacobi cycles on the device: which kernel runs them, and in how many passes
*/
#include "persistent_cuda.h"
#include "register_cuda.h"
#include <cstdio>
#include <cstring>

/* Is the result that of plain sweeps, whatever the tiles? In a direction it is if the tiles overlap enough, if there is one tile and
   nothing beyond it, or if no leg goes there. */
template <class T> static bool exact(const typename Typed<T>::System &s, const StrataTiling &t, const StrataBox &box)
{
  for (int a = 0; a < s.dim; a++) {
    const bool alone = box.lo[a] == 0 && box.hi[a] == s.n[a] && t.tile[a] >= s.n[a];
    const bool nolegs = s.form != STRATA_SYSTEM_VARIABLE && s.leg[2 * a] == 0 && s.leg[2 * a + 1] == 0;

    if (t.overlap[a] < 2 * (t.sweeps - 1) && !alone && !nolegs) return false;
  }
  return true;
}

/* Are all sweeps of a cycle one pass over its tiles? */
template <class T> static bool by_tiles(const typename Typed<T>::System &s, const StrataTiling &t, StrataCycleKernel kernel, const StrataBox &box)
{
  return kernel == STRATA_KERNEL_SHARED || (kernel == STRATA_KERNEL_REGISTER && !exact<T>(s, t, box));
}

/* Sweeps of the next pass, when so many are left */
template <class T> static int pass_sweeps(const typename Typed<T>::System &s, StrataCycleKernel kernel, bool tiles, int left)
{
  const int depth = kernel == STRATA_KERNEL_REGISTER ? register_depth<T>(s, left) : 1;

  return tiles ? left : depth > 1 ? depth : 1;
}

template <class T> static int pass_count(const typename Typed<T>::System &s, StrataCycleKernel kernel, bool tiles, int sweeps)
{
  int count = 0;

  for (int left = sweeps; left > 0; left -= pass_sweeps<T>(s, kernel, tiles, left)) count++;
  return count;
}

static bool whole(const int n[3], const StrataBox &box)
{
  for (int a = 0; a < 3; a++)
    if (box.lo[a] > 0 || box.hi[a] < n[a]) return false;
  return true;
}

static StrataBox whole_box(const int n[3])
{
  const StrataBox box = {{0, 0, 0}, {n[0], n[1], n[2]}};

  return box;
}

/* Arrays between the passes: where the box is the whole array y is one of them */
template <class T>
static ptrdiff_t work_numbers(const typename Typed<T>::System &s, const StrataTiling &t, StrataCycleKernel kernel, const StrataBox &box)
{
  const int passes = pass_count<T>(s, kernel, by_tiles<T>(s, t, kernel, box), t.sweeps), arrays = passes - 1 < 2    ? passes - 1
                                                                                                  : whole(s.n, box) ? 1
                                                                                                                    : 2;

  return arrays * ((ptrdiff_t)s.n[0] * s.n[1] * s.n[2] + 31) / 32 * 32;
}

template <class T>
static int cycle(const typename Typed<T>::System &s, const StrataTiling &t, StrataCycleKernel kernel, const StrataBox &box, const T *weight,
                 const T *b, const T *x, T *y, T *change, T *work, cudaStream_t stream)
{
  const bool      tiles = by_tiles<T>(s, t, kernel, box);
  const int       passes = pass_count<T>(s, kernel, tiles, t.sweeps);
  const ptrdiff_t cells = ((ptrdiff_t)s.n[0] * s.n[1] * s.n[2] + 31) / 32 * 32;
  cudaError_t     err = cudaSuccess;

  if (change) err = cudaMemsetAsync(change, 0, sizeof(*change), stream);
  for (int pass = 0, left = t.sweeps; pass < passes && err == cudaSuccess && strata_box_size(&box); pass++) {
    const int last = pass == passes - 1;
    Pass<T>   p;

    p.sweeps = pass_sweeps<T>(s, kernel, tiles, left);
    p.weight = weight ? weight + (t.sweeps - left) : NULL;
    left -= p.sweeps;
    p.box = box;
    for (int a = 0; a < s.dim; a++) { /* the next passes read around what they write */
      p.box.lo[a] = box.lo[a] > left ? box.lo[a] - left : 0;
      p.box.hi[a] = box.hi[a] + left < s.n[a] ? box.hi[a] + left : s.n[a];
    }
    p.b = b;
    p.x = x;
    p.y = last ? y : whole(s.n, box) ? ((passes - pass) % 2 ? y : work) : work + pass % 2 * cells;
    p.change = last ? change : NULL;
    if (tiles)
      err = kernel == STRATA_KERNEL_SHARED ? shared_sweeps<T>(s, t, p, stream) : register_tiles_sweeps<T>(s, t, p, stream);
    else if (p.sweeps > 1)
      err = register_sweeps<T>(s, p, stream);
    else
      err = classic_sweep<T>(s, p, stream);
    x = p.y;
  }
  return (int)err;
}

static const char *const names[] = {"auto", "classic", "shared", "register", "persistent"};

template <class T>
static StrataCycleKernel choose(const typename Typed<T>::System &s, const StrataTiling &t, StrataCycleKernel asked, int cycles, const StrataBox &box,
                                char text[], size_t length)
{
  const size_t      bytes = shared_bytes<T>(s, t, box);
  const bool        plain = exact<T>(s, t, box);
  char              no[STRATA_KERNEL_PERSISTENT + 1][256] = {};
  StrataCycleKernel kernel = STRATA_KERNEL_AUTO;
  Device            d;

  if (device_limits(&d) != cudaSuccess) {
    snprintf(text, length, "no device: %s", cudaGetErrorString(cudaGetLastError()));
    return STRATA_KERNEL_AUTO;
  }
  if (!plain) {
    for (int k = STRATA_KERNEL_CLASSIC; k <= STRATA_KERNEL_REGISTER; k++)
      snprintf(no[k], sizeof(no[k]), "its %d sweeps are those of the whole grid, which tiles overlap too little for: overlap exact, or %d", t.sweeps,
               2 * (t.sweeps - 1));
    no[STRATA_KERNEL_SHARED][0] = 0;
    register_tiles_fit<T>(s, t, no[STRATA_KERNEL_REGISTER], sizeof(no[0]));
  } else if (register_depth<T>(s, t.sweeps) < 2)
    snprintf(no[STRATA_KERNEL_REGISTER], sizeof(no[0]),
             t.sweeps < 2 ? "it needs 2 sweeps or more" : "in 3D it needs a GPU of compute capability 9.0");
  if (!cycles || !whole(s.n, box))
    snprintf(no[STRATA_KERNEL_PERSISTENT], sizeof(no[0]),
             "here cycles are run one by one, for several ranks, periodic sides or the transpose of a long schedule");
  else
    persistent_fits<T>(s, t, plain, no[STRATA_KERNEL_PERSISTENT], sizeof(no[0]));
  if (bytes > (size_t)d.shared)
    snprintf(no[STRATA_KERNEL_SHARED], sizeof(no[0]), "a tile with its frame takes %zu bytes of %d, at most %d cells fit twice", bytes, d.shared,
             (int)(d.shared / (2 * sizeof(T))));
  if (asked != STRATA_KERNEL_AUTO && !no[asked][0])
    kernel = asked;
  else if (!no[STRATA_KERNEL_PERSISTENT][0] && persistent_pays<T>(s, t, plain, cycles))
    kernel = STRATA_KERNEL_PERSISTENT;
  else if (!no[STRATA_KERNEL_REGISTER][0] && (plain ? register_pays<T>(s) : register_tiles_pay<T>(s, t) || no[STRATA_KERNEL_SHARED][0]))
    kernel = STRATA_KERNEL_REGISTER;
  else if (!no[STRATA_KERNEL_CLASSIC][0])
    kernel = STRATA_KERNEL_CLASSIC;
  else if (!no[STRATA_KERNEL_SHARED][0])
    kernel = STRATA_KERNEL_SHARED;
  if (kernel == STRATA_KERNEL_AUTO)
    snprintf(text, length, "kernel shared cannot run: %s", no[STRATA_KERNEL_SHARED]);
  else if (asked == kernel || asked == STRATA_KERNEL_AUTO)
    snprintf(text, length, "kernel %s", names[kernel]);
  else
    snprintf(text, length, "kernel %s, since %s cannot run: %s", names[kernel], names[asked], no[asked]);
  return kernel;
}

#define ENTRY_POINTS(T, S)                                                                                                                           \
  int StrataCycleCUDA_##S(const StrataSystem_##S *s, const StrataTiling *t, StrataCycleKernel kernel, const StrataBox *box, const T *weight,         \
                          const T *b, const T *x, T *y, T *change, T *work, void *stream)                                                            \
  {                                                                                                                                                  \
    return cycle<T>(*s, *t, kernel, *box, weight, b, x, y, change, work, (cudaStream_t)stream);                                                      \
  }                                                                                                                                                  \
  ptrdiff_t StrataCycleWorkCUDA_##S(const StrataSystem_##S *s, const StrataTiling *t, StrataCycleKernel kernel, const StrataBox *box)                \
  {                                                                                                                                                  \
    return work_numbers<T>(*s, *t, kernel, *box);                                                                                                    \
  }                                                                                                                                                  \
  StrataCycleKernel StrataCycleKernelCUDA_##S(const StrataSystem_##S *s, const StrataTiling *t, StrataCycleKernel asked, int cycles,                 \
                                              const StrataBox *box, char text[], size_t length)                                                      \
  {                                                                                                                                                  \
    return choose<T>(*s, *t, asked, cycles, *box, text, length);                                                                                     \
  }                                                                                                                                                  \
  int StrataCyclesCUDA_##S(const StrataSystem_##S *s, const StrataTiling *t, int cycles, const T *weight, int first, int period, const T *b,         \
                           const T *x, T *y, T *change, T *work, void *stream)                                                                       \
  {                                                                                                                                                  \
    const Run<T> r = {weight, first, period, b, x, y, change, work};                                                                                 \
                                                                                                                                                     \
    return persistent_cycles<T>(*s, *t, exact<T>(*s, *t, whole_box(s->n)), cycles, r, (cudaStream_t)stream);                                         \
  }                                                                                                                                                  \
  ptrdiff_t StrataCyclesWorkCUDA_##S(const StrataSystem_##S *s)                                                                                      \
  {                                                                                                                                                  \
    return persistent_work<T>(*s);                                                                                                                   \
  }
ENTRY_POINTS(double, d)
ENTRY_POINTS(float, f)
