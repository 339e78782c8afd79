/*
   The operator as plain kernels. On the host the fast loops against the arithmetic of a cell with ==, and that against the formulas in
   long double; on the device all kernels against the host with ==
*/
/* sanitize */
#include "kernels.h"
#include "../src/operator/operator_cell.h"
#include <float.h>

typedef enum { CONSTANT, TENSOR_X, TENSOR_Y, TENSOR_Z, FACES, LEGWISE, KINDS } Kind;
static const char *const kinds[] = {"constant", "tensor along x", "tensor along y", "tensor along z", "faces", "legwise"};

/* What a side has beyond it: nothing, zero, cells of the vector itself, or cells in a buffer */
typedef enum { SIDE_NONE, SIDE_ZERO, SIDE_VIEW, SIDE_BUFFER } Side;

/* The sides of a box: all alike; as on one rank; buffers across y and z alone, which leaves whole rows inside; any */
typedef enum { ALL_NONE, ALL_ZERO, ALL_VIEWS, ALL_BUFFERS, ONE_RANK, ROWS_INSIDE, ANY_SIDES, LAYOUTS } Layout;

/* Lengths 1, 2, 3, odd and prime, longer than the pieces that rows are worked on in, more rows than in a block; the last ones are large
   enough for marching threads: with whole vectors of cells and more than a block, with odd numbers, and with more layers than in a run */
#define SHAPES 12
#define LARGE  9
static const int shapes[SHAPES][3] = {{1, 1, 1},   {2, 1, 3},   {3, 2, 1},    {1, 7, 2},    {2, 2, 2},    {5, 1, 3},
                                      {13, 11, 7}, {523, 3, 2}, {14, 293, 2}, {136, 17, 5}, {131, 11, 6}, {16, 5, 67}};

#define EACH_CELL(n, x, id)                                                                                                                          \
  for (int x[3] = {0, 0, 0}, id = 0; x[2] < (n)[2]; x[2]++)                                                                                          \
    for (x[1] = 0; x[1] < (n)[1]; x[1]++)                                                                                                            \
      for (x[0] = 0; x[0] < (n)[0]; x[0]++, id++)

/* From a cell to the next one, and from a cell beside a side to the one that a view has beyond it */
static ptrdiff_t Step(const int n[3], int l)
{
  const ptrdiff_t s[3] = {1, n[0], (ptrdiff_t)n[0] * n[1]};

  return l % 2 ? s[l / 2] : -s[l / 2];
}

static ptrdiff_t Wrap(const int n[3], int l)
{
  return (1 - n[l / 2]) * Step(n, l);
}

static int Crosses(const int n[3], int l, const int x[3])
{
  return l % 2 ? x[l / 2] == n[l / 2] - 1 : x[l / 2] == 0;
}

/* Cells beyond a side in a buffer, and where there the neighbour of a cell is */
static ptrdiff_t BeyondCount(const int n[3], int l)
{
  return (ptrdiff_t)n[l / 2 == 0 ? 1 : 0] * n[l / 2 == 2 ? 1 : 2];
}

static ptrdiff_t Beyond(const int n[3], int l, const int x[3])
{
  const int h0 = l / 2 == 0 ? 1 : 0, h1 = l / 2 == 2 ? 1 : 2;

  return x[h0] + (ptrdiff_t)n[h0] * x[h1];
}

/* The ghosts beyond a side, of an array p on the box itself or in a buffer; vectors are ld apart */
static StrataGhost Ghost(const int n[3], Side side, int l, int bytes, const void *p, const void *buffer, ptrdiff_t ld)
{
  StrataGhost g = {NULL, {0, 0, 0}, 0};
  const int   a = l / 2, h0 = a == 0 ? 1 : 0, h1 = a == 2 ? 1 : 2;

  if (side == SIDE_VIEW) {
    g.p = (const char *)p + (l % 2 ? 0 : (n[a] - 1) * Step(n, l + 1)) * bytes;
    for (int b = 0; b < 3; b++) g.s[b] = Step(n, 2 * b + 1);
    g.sv = ld;
  } else if (side == SIDE_BUFFER) {
    g.p = buffer;
    g.s[h0] = 1;
    g.s[h1] = n[h0];
    g.sv = BeyondCount(n, l);
  }
  return g;
}

static void MakeSides(Layout layout, int cells, Side side[])
{
  for (int a = 0; a < 3; a++) {
    const int view = layout == ALL_VIEWS || ((layout == ONE_RANK || layout == ANY_SIDES || (layout == ROWS_INSIDE && !a)) && Random(0, 1) < 0.3);

    for (int l = 2 * a; l < 2 * a + 2; l++) {
      side[l] = layout == ALL_NONE ? SIDE_NONE : layout == ALL_ZERO ? SIDE_ZERO : Random(0, 1) < 0.5 ? SIDE_ZERO : SIDE_NONE;
      if (cells && side[l] == SIDE_ZERO) side[l] = SIDE_NONE; /* forms with numbers of each cell know no other */
      if (layout == ALL_BUFFERS || (layout == ROWS_INSIDE && a) || (layout == ANY_SIDES && Random(0, 1) < 0.4)) side[l] = SIDE_BUFFER;
      if (view) side[l] = SIDE_VIEW;
    }
  }
}

/* A box cut into an interior and the layers before sides with buffers, or before all sides, and boxes without cells */
static int MakeBoxes(const int n[3], const Side side[], int all, StrataBox box[])
{
  const StrataBox none[2] = {{{0, 0, 0}, {0, n[1], n[2]}}, {{1, 0, 0}, {0, n[1], n[2]}}};
  StrataBox       interior = {{0, 0, 0}, {n[0], n[1], n[2]}};
  int             count = 0;

  box[count++] = none[0];
  for (int l = 0; l < STRATA_LEGS; l++) {
    const int a = l / 2;

    if (!(all || side[l] == SIDE_BUFFER) || interior.hi[a] == interior.lo[a]) continue;
    box[count] = interior;
    if (l % 2)
      box[count++].lo[a] = --interior.hi[a];
    else
      box[count++].hi[a] = ++interior.lo[a];
  }
  box[count++] = interior;
  box[count++] = none[1];
  return count;
}

#define STRATA_TYPED "../../tests/operator_kernels_typed.h"
#include "../src/sys/typed.h"

/* ---- coefficients out of assembled matrices ----------------------------------------------------------------------------------------- */

typedef struct {
  int           n[3], outside[STRATA_LEGS];
  StrataColumns columns;
  StrataCSR     block[2];
  StrataInt    *row[2], *col[2], *colmap, entries[2];
  double       *value[2], *diagonal, *leg[STRATA_LEGS];
} Matrix;

static const double negligible = 1e-18, outside = 1e-3;

static void AddEntry(Matrix *m, int b, StrataInt column, double value)
{
  const StrataInt q = m->entries[b]++;

  m->value[b][q] = value;
  m->col[b][q] = b ? q : column - m->block[0].first;
  if (b) m->colmap[q] = column;
}

/* A matrix with rows in any order of columns, some without all their legs, every third one with the sum zero, and in every second one an
   entry outside the star that is numerically zero. Rows from `fault` on that are a multiple of 5 away from it have one that is not, those
   from `nonfinite` on NaN or infinity; no row if negative. */
static void MakeMatrix(Matrix *m, const int n[3], const Side side[], int fault, int nonfinite)
{
  const ptrdiff_t cells = (ptrdiff_t)n[0] * n[1] * n[2];
  const StrataInt first = 1000;
  int             blocks = 1;

  memset(m, 0, sizeof(*m));
  for (int a = 0; a < 3; a++) m->n[a] = n[a];
  m->columns.start[STRATA_LEGS] = first;
  for (int l = 0; l < STRATA_LEGS; l++) {
    const int a = l / 2, h0 = a == 0 ? 1 : 0, h1 = a == 2 ? 1 : 2, view = side[l] == SIDE_VIEW && n[a] > 2;

    m->outside[l] = view || side[l] == SIDE_BUFFER ? STRATA_OUTSIDE_GHOST : STRATA_OUTSIDE_NONE;
    m->columns.start[l] = view ? first + (l % 2 ? 0 : (StrataInt)Wrap(n, l)) : 100000 * (l + 1);
    m->columns.s[l][h0] = view ? (StrataInt)Step(n, 2 * h0 + 1) : 1;
    m->columns.s[l][h1] = view ? (StrataInt)Step(n, 2 * h1 + 1) : n[h0] + 2;
    if (side[l] == SIDE_BUFFER) blocks = 2;
  }
  m->diagonal = (double *)malloc(cells * sizeof(double));
  for (int l = 0; l < STRATA_LEGS; l++) m->leg[l] = (double *)calloc(cells, sizeof(double));
  m->colmap = (StrataInt *)malloc(9 * cells * sizeof(StrataInt));
  for (int b = 0; b < blocks; b++) {
    m->block[b].row = m->row[b] = (StrataInt *)calloc(cells + 1, sizeof(StrataInt));
    m->block[b].col = m->col[b] = (StrataInt *)malloc(9 * cells * sizeof(StrataInt));
    m->block[b].value = m->value[b] = (double *)malloc(9 * cells * sizeof(double));
  }
  m->block[0].first = first;
  m->block[1].colmap = m->colmap;
  EACH_CELL(n, x, id)
  {
    const StrataInt row = first + id;
    const int       begin = (int)Random(0, 8);
    double          sum = 0;

    m->diagonal[id] = Random(5, 10);
    for (int l = 0; l < STRATA_LEGS; l++)
      if (!(Crosses(n, l, x) && m->outside[l] == STRATA_OUTSIDE_NONE) && Random(0, 1) < 0.9) sum += m->leg[l][id] = Random(-1, 0.5);
    if (id % 3 == 0) m->diagonal[id] = -sum;
    for (int e = begin; e < begin + 8; e++) {
      const int l = e % 8;

      if (l == 6) {
        AddEntry(m, 0, row, nonfinite >= 0 && id >= nonfinite && (id - nonfinite) % 5 == 0 ? id % 2 ? INFINITY : NAN : m->diagonal[id]);
      } else if (l == 7) {
        const int isfault = fault >= 0 && id >= fault && (id - fault) % 5 == 0;

        if (isfault || id % 2) AddEntry(m, blocks - 1, 90000, isfault ? -outside : negligible);
      } else if (m->leg[l][id] != 0) {
        const int b = Crosses(n, l, x) && side[l] == SIDE_BUFFER, h0 = l / 2 == 0 ? 1 : 0, h1 = l / 2 == 2 ? 1 : 2;

        AddEntry(m, b,
                 b                  ? 100000 * (l + 1) + x[h0] + (n[h0] + 2) * x[h1]
                 : Crosses(n, l, x) ? row + (StrataInt)Wrap(n, l)
                                    : row + (StrataInt)Step(n, l),
                 m->leg[l][id]);
      }
    }
    for (int b = 0; b < blocks; b++) m->row[b][id + 1] = m->entries[b];
  }
}

static void FreeMatrix(Matrix *m)
{
  for (int b = 0; b < 2; b++) {
    free(m->row[b]);
    free(m->col[b]);
    free(m->value[b]);
  }
  for (int l = 0; l < STRATA_LEGS; l++) free(m->leg[l]);
  free(m->colmap);
  free(m->diagonal);
}

/* Legs in an array of their own each, none for those that are not wanted; NaN before they are written */
static void MakeLegs(ptrdiff_t cells, int axis, int without, double *legs[])
{
  for (int l = -1; l < STRATA_LEGS; l++) {
    legs[l + 1] = l == without || (axis >= 0 && l >= 0 && l / 2 != axis) ? NULL : (double *)malloc(cells * sizeof(double));
    for (ptrdiff_t i = 0; i < cells && legs[l + 1]; i++) legs[l + 1][i] = NAN;
  }
}

static void extractions(void)
{
  static const struct {
    int fault, nonfinite;
  } faults[] = {{-1, -1}, {4, -1}, {-1, 3}, {5, 2}};
  int exact = 1, cancel = 1, sums = 1, faulty = 1;
#if STRATA_HAVE_CUDA
  int failed = 0, same = 1;
#endif

  for (int shape = 0; shape < 8; shape++)
    for (Layout layout = 0; layout < LAYOUTS; layout++)
      for (int axis = -1; axis < 3; axis++) {
        const int *n = shapes[shape], which = (shape + (int)layout + axis + 1) % 4, without = layout == ALL_VIEWS ? 2 * (axis < 0 ? 0 : axis) : -2;
        const ptrdiff_t cells = (ptrdiff_t)n[0] * n[1] * n[2];
        StrataCSRFaults found, want;
        Side            side[STRATA_LEGS];
        Matrix          m;
        double         *out[STRATA_LEGS + 1]; /* the first: the excess */

        MakeSides(layout, 1, side);
        MakeMatrix(&m, n, side, faults[which].fault, faults[which].nonfinite);
        MakeLegs(cells, axis, without, out);
        found.outside = found.nonfinite = 1000000;
        want = found;
        if (faults[which].fault >= 0 && faults[which].fault < cells && axis < 0) want.outside = 1000 + faults[which].fault;
        if (faults[which].nonfinite >= 0 && faults[which].nonfinite < cells) want.nonfinite = 1000 + faults[which].nonfinite;
        StrataExtractHost(m.block, &m.columns, n, m.outside, axis, out[0], out + 1, &found);
        if (found.outside != want.outside || found.nonfinite != want.nonfinite) faulty = 0;
        for (ptrdiff_t id = 0; id < cells; id++) {
          long double sum = m.diagonal[id], size = fabs(m.diagonal[id]);

          for (int l = 0; l < STRATA_LEGS; l++) {
            const double leg = axis < 0 || l / 2 == axis ? m.leg[l][id] : 0;

            if (out[l + 1] && out[l + 1][id] != leg) exact = 0;
            sum += leg;
            size += fabs(leg);
          }
          if (faults[which].nonfinite >= 0 && id >= faults[which].nonfinite && (id - faults[which].nonfinite) % 5 == 0) {
            if (isfinite(out[0][id])) sums = 0;
            continue;
          }
          if (axis < 0 && id % 3 == 0 && out[0][id] != 0) cancel = 0;
          if (!(fabsl(out[0][id] - sum) <= 8 * DBL_EPSILON * size)) sums = 0;
        }
        found.outside = found.nonfinite = 1; /* faults of lower rows stay */
        StrataExtractHost(m.block, &m.columns, n, m.outside, axis, out[0], out + 1, &found);
        if (found.outside != 1 || found.nonfinite != 1) faulty = 0;
#if STRATA_HAVE_CUDA
        if (TapHasDevice() && (shape + (int)layout) % 5 == 0) {
          StrataCSR block[2] = {m.block[0], m.block[1]};
          double   *back[STRATA_LEGS + 1], *on[STRATA_LEGS + 1];

          for (int b = 0; b < 2 && m.block[b].row; b++) {
            block[b].row = DeviceCopy(m.row[b], (cells + 1) * sizeof(StrataInt));
            block[b].col = DeviceCopy(m.col[b], m.entries[b] * sizeof(StrataInt));
            block[b].value = DeviceCopy(m.value[b], m.entries[b] * sizeof(double));
          }
          block[1].colmap = DeviceCopy(m.colmap, m.entries[1] * sizeof(StrataInt));
          MakeLegs(cells, axis, without, back);
          for (int l = 0; l <= STRATA_LEGS; l++) on[l] = back[l] ? DeviceCopy(back[l], cells * sizeof(double)) : NULL;
          found.outside = found.nonfinite = 1000000;
          failed += StrataExtractCUDA(block, &m.columns, n, m.outside, axis, on[0], on + 1, &found, NULL) != 0;
          if (found.outside != want.outside || found.nonfinite != want.nonfinite) same = 0;
          for (int l = 0; l <= STRATA_LEGS; l++) {
            if (!back[l]) continue;
            DeviceRead(back[l], on[l], cells * sizeof(double));
            for (ptrdiff_t i = 0; i < cells; i++)
              if (back[l][i] != out[l][i] && !(isnan(back[l][i]) && isnan(out[l][i]))) same = 0;
            free(back[l]);
          }
          DeviceFreeAll();
        }
#endif
        for (int l = 0; l <= STRATA_LEGS; l++) free(out[l]);
        FreeMatrix(&m);
      }
  ok(exact, "legs are read out of an assembled matrix");
  ok(sums, "the excess is the sum of the row");
  ok(cancel, "the excess of a row that cancels is zero");
  ok(faulty, "the lowest rows with faults are reported");
#if STRATA_HAVE_CUDA
  if (TapHasDevice()) {
    is_int(failed, 0, "assembled matrices: kernels run on the device");
    ok(same, "assembled matrices: the device reads the same");
    return;
  }
#endif
  skip("no GPU");
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  for (Kind kind = 0; kind < KINDS; kind++)
    for (int masked = 0; masked < 2; masked++) {
      mults_d("fp64", kind, masked);
      mults_f("fp32", kind, masked);
      rows_d("fp64", kind, masked);
      rows_f("fp32", kind, masked);
    }
  transposes_d("fp64");
  transposes_f("fp32");
  empties_d("fp64");
  empties_f("fp32");
  extractions();
  return TapEnd();
}
