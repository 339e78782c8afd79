/*
   The solve of columns: lines by one of the algorithms, rings around them, another precision around these
*/
#include "columnimpl.h"
#include "column_cell.h"
#include "../jacobi/jacobi_scale_kernels.h"

/* Lines are cut on the device, where one thread for each would leave most of the chip idle; the transpose of lines that are not symmetric and
   cyclic reduction of singular ones are left to Thomas */
PCColumnAlgorithm PCColumnChoose(const PC_Column *col, PetscBool transpose, PetscMemType type)
{
  if (col->algorithm == PC_COLUMN_PCR && col->singular) return PC_COLUMN_THOMAS;
  if (transpose && !col->plain.symmetric) return PC_COLUMN_THOMAS;
  if (col->algorithm != PC_COLUMN_AUTO) return col->algorithm;
  return PetscMemTypeDevice(type) ? PC_COLUMN_PARTITION : PC_COLUMN_THOMAS;
}

PetscErrorCode PCColumnGetWork(PC_Column *col, int space, PetscMemType type, size_t bytes, void *w)
{
  StrataArray *work = &col->work[space][PetscMemTypeDevice(type) ? 1 : 0];

  PetscFunctionBegin;
  if (work->bytes < bytes) {
    PetscCall(StrataArrayDestroy(work));
    PetscCall(StrataArrayCreate(work, bytes));
  }
  PetscCall(StrataArrayWrite(work, type, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCColumnNewArray(StrataArray *array, size_t bytes, PetscMemType type, void *p)
{
  PetscFunctionBegin;
  if (array->bytes != bytes) {
    PetscCall(StrataArrayDestroy(array));
    PetscCall(StrataArrayCreate(array, bytes));
  }
  PetscCall(StrataArrayWrite(array, type, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define STRATA_TYPED "../column/column_solve_typed.h"
#include "../sys/typed.h"

/* ---- rings ---------------------------------------------------------------------------------------------------------------------- */

PetscErrorCode PCColumnRingsDestroy(PC_Column *col)
{
  PetscFunctionBegin;
  PetscCall(StrataArrayDestroy(&col->rings.lateral));
  PetscCall(StrataArrayDestroy(&col->rings.level));
  PetscCall(StrataArrayDestroy(&col->rings.number));
  PetscCall(StrataArrayDestroy(&col->rings.inverse));
  for (int m = 0; m < 2; m++) PetscCall(StrataArrayDestroy(&col->rings.column[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coefficients of lines that stand for rings with shared rows: tensor form, for a constant form has no levels. */
static PetscErrorCode PCColumnRingsMakeShared(PC_Column *col)
{
  const StrataCoefficients c = col->c;
  const PetscInt           axis = col->along, levels = col->grid->n[axis], lines = col->grid->size_local / levels, end = levels - 1;
  const PetscScalar       *from = NULL;
  PetscScalar             *lateral, *level, *low, *high;

  PetscFunctionBegin;
  if (c->form == MAT_STRATA_CONSTANT) {
    PetscCall(PCColumnNewArray(&col->rings.lateral, (size_t)(5 * lines) * sizeof(PetscScalar), PETSC_MEMTYPE_HOST, &lateral));
    for (PetscInt q = 0; q < lines; q++) {
      lateral[q] = 1;
      for (int l = 0, m = 1; l < STRATA_LEGS; l++)
        if (l / 2 != axis) lateral[q + m++ * lines] = c->leg[l];
    }
  } else {
    PetscCall(StrataArrayDestroy(&col->rings.lateral));
    PetscCall(StrataArrayRead(&c->level, PETSC_MEMTYPE_HOST, &from));
  }
  PetscCall(PCColumnNewArray(&col->rings.level, (size_t)(4 * levels) * sizeof(PetscScalar), PETSC_MEMTYPE_HOST, &level));
  for (PetscInt k = 0; k < levels; k++) {
    level[k] = from ? from[k] : c->excess;
    level[k + levels] = from ? from[k + levels] : c->leg[2 * axis + 1];
    level[k + 2 * levels] = from ? from[k + 2 * levels] : c->leg[2 * axis];
    level[k + 3 * levels] = from ? from[k + 3 * levels] : 1;
  }
  high = level + levels;
  low = high + levels;
  level[0] -= low[0];
  level[end - 1] -= high[end - 1];
  level[end] -= high[end] + low[end];
  low[0] = high[end - 1] = high[end] = low[end] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cuts the rings. from: their rows, with scale 1 and shift 0; shared: can the lines that stand for them have shared rows? */
PetscErrorCode PCColumnRingsCut(PC_Column *col, const StrataLines_d *from, PetscBool shared)
{
  PCColumnRings *rings = &col->rings;
  StrataArray   *array[3] = {&col->excess, &col->lower, &col->upper};
  const int      axis = from->axis;
  PetscScalar   *number, *p[3] = {NULL, NULL, NULL};
  StrataLines_d  few;
  ptrdiff_t      cells;
  void          *stream;

  PetscFunctionBegin;
  rings->same = shared && from->coef.form == STRATA_CONSTANT ? PETSC_TRUE : PETSC_FALSE;
  for (int l = 0; l < STRATA_LEGS; l++)
    if (l / 2 != axis && from->coef.outside[l] == STRATA_OUTSIDE_NONE && from->coef.leg[l] != 0) rings->same = PETSC_FALSE;
  cells = PCColumnRingLines_d(col, from, &few);
  if (!col->grid->size_local) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCColumnNewArray(&rings->number, (size_t)(cells / few.coef.n[axis]) * STRATA_RING_NUMBERS * sizeof(PetscScalar), col->home, &number));
  for (int m = 0; m < 3 && !shared; m++) {
    if (from->rows == STRATA_ROWS_ARRAYS)
      PetscCall(StrataArrayUpdate(array[m], col->home, &p[m]));
    else
      PetscCall(PCColumnNewArray(array[m], (size_t)cells * sizeof(PetscScalar), col->home, &p[m]));
  }
  PetscCall(StrataGetStream(col->home, &stream));
  StrataDispatch(col->home, StrataRingCutHost_d(&few, number, p[0], p[1], p[2]), StrataRingCutCUDA_d(&few, number, p[0], p[1], p[2], stream));
  if (shared) PetscCall(PCColumnRingsMakeShared(col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCColumnRingsGetShared(PC_Column *col, PetscMemType type, StrataCoef_d *coef)
{
  const PetscInt     levels = col->grid->n[col->along], lines = col->grid->size_local / levels;
  const PetscScalar *p;

  PetscFunctionBegin;
  coef->form = STRATA_TENSOR;
  coef->axis = (int)col->along;
  if (col->rings.lateral.bytes) {
    PetscCall(StrataArrayRead(&col->rings.lateral, type, &coef->area));
    for (int m = 0; m < 4; m++) coef->alpha[m] = coef->area + (m + 1) * lines;
  }
  PetscCall(StrataArrayRead(&col->rings.level, type, &p));
  for (int m = 0; m < 4; m++) coef->level[m] = p + m * levels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PCColumnRingsReport - Adds to the report what is found in `count` rings, each standing for `many`, with the last cells on a level; numbers on the host
*/
void PCColumnRingsReport(const StrataLines_d *t, int level, ptrdiff_t count, const PetscScalar *number, const PetscScalar *inverse,
                         unsigned long long many, StrataLinesReport *report)
{
  for (ptrdiff_t q = 0; q < count; q++) {
    const PetscScalar b[2] = {number[q + STRATA_RING_B * count], number[q + (STRATA_RING_B + 1) * count]};
    const PetscScalar c[2] = {number[q + STRATA_RING_C * count], number[q + (STRATA_RING_C + 1) * count]};
    int               x[3];

    for (int m = 0; m < 2; m++) {
      if (b[m] != c[m]) report->unsymmetric = 1;
      if (!(b[m] * t->coef.scale <= 0 && c[m] * t->coef.scale <= 0)) report->sign = 1;
    }
    if (!(t->coef.scale * number[q + STRATA_RING_LAST * count] + t->coef.shift >= 0)) report->sign = 1;
    strata_line_start(t->coef.n, t->axis, q, x);
    x[t->axis] = level;
    if (inverse[q] == 0 && (c[0] != 0 || c[1] != 0)) report->singular += many;
    if (!(inverse[q] - inverse[q] == 0)) strata_report(report, (unsigned long long)strata_line_cell(t->coef.n, x), STRATA_PIVOT_ZERO, 0, 0);
  }
}

/* Looks at all rings, with the scale and shift of the lines; what is found is added to the report of these */
PetscErrorCode PCColumnRingsCheck(PC_Column *col, const StrataLines_d *lines, StrataLinesReport *report)
{
  StrataLines_d      t = *lines;
  const ptrdiff_t    cells = PCColumnRingLines_d(col, lines, &t), count = cells / t.coef.n[t.axis];
  const PetscScalar *number, *inverse;
  void              *stream;

  PetscFunctionBegin;
  t = *lines;
  t.singular = report->singular > 0;
  PetscCall(StrataGetStream(col->home, &stream));
  PetscCall(StrataArrayRead(&col->rings.number, col->home, &number));
  PetscCall(PCColumnRingPivots_d(col, &t, number, col->home, stream));
  PetscCall(StrataArrayRead(&col->rings.number, PETSC_MEMTYPE_HOST, &number));
  PetscCall(StrataArrayRead(&col->rings.inverse, PETSC_MEMTYPE_HOST, &inverse));
  PCColumnRingsReport(lines, lines->coef.n[lines->axis] - 1, count, number, inverse,
                      col->rings.same ? (unsigned long long)(col->grid->size_local / lines->coef.n[lines->axis]) : 1, report);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- all of it ------------------------------------------------------------------------------------------------------------------ */

/* The lines in single precision */
PetscErrorCode PCColumnGetSingle(PC_Column *col, const StrataLines_d *t, PetscMemType type, StrataLines_f *s)
{
  const ptrdiff_t    cells = (ptrdiff_t)t->coef.n[0] * t->coef.n[1] * t->coef.n[2], levels = t->coef.n[t->coef.axis];
  const PetscScalar *from[12] = {t->coef.area,     t->coef.alpha[0], t->coef.alpha[1], t->coef.alpha[2], t->coef.alpha[3], t->coef.level[0],
                                 t->coef.level[1], t->coef.level[2], t->coef.level[3], t->excess,        t->lower,         t->upper};
  const float      **to[12] = {&s->coef.area,     &s->coef.alpha[0], &s->coef.alpha[1], &s->coef.alpha[2], &s->coef.alpha[3], &s->coef.level[0],
                               &s->coef.level[1], &s->coef.level[2], &s->coef.level[3], &s->excess,        &s->lower,         &s->upper};
  ptrdiff_t          count[12], total = 0;
  float             *p;
  const PetscScalar *number;
  void              *stream;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  s->axis = t->axis;
  s->rows = t->rows;
  s->singular = t->singular;
  s->coef.form = t->coef.form;
  s->coef.axis = t->coef.axis;
  for (int a = 0; a < 3; a++) s->coef.n[a] = t->coef.n[a];
  for (int l = 0; l < STRATA_LEGS; l++) {
    s->coef.outside[l] = t->coef.outside[l];
    s->coef.leg[l] = (float)t->coef.leg[l];
  }
  s->coef.scale = (float)t->coef.scale;
  s->coef.shift = (float)t->coef.shift;
  s->coef.masked = (float)t->coef.masked;
  s->coef.excess = (float)t->coef.excess;
  s->coef.flags = t->coef.flags;
  for (int m = 0; m < 12; m++) {
    count[m] = !from[m] ? 0 : m < 5 ? cells / levels : m < 9 ? levels : cells;
    total += count[m];
  }
  PetscCall(StrataGetStream(type, &stream));
  if (col->narrowed)
    PetscCall(StrataArrayRead(&col->single, type, &p));
  else {
    PetscCall(PCColumnNewArray(&col->single, (size_t)total * sizeof(float), type, &p));
    for (ptrdiff_t m = 0, at = 0; m < 12; at += count[m++])
      if (count[m])
        StrataDispatch(type, StrataPackHost_f(count[m], NULL, NULL, 1, from[m], 0, p + at, 0),
                       StrataPackCUDA_f(count[m], NULL, NULL, 1, from[m], 0, p + at, 0, stream));
    if (col->rings.periodic) {
      const ptrdiff_t numbers = (ptrdiff_t)(col->rings.number.bytes / sizeof(PetscScalar));
      float          *q;

      PetscCall(StrataArrayRead(&col->rings.number, type, &number));
      PetscCall(PCColumnNewArray(&col->singlenumber, (size_t)numbers * sizeof(float), type, &q));
      StrataDispatch(type, StrataPackHost_f(numbers, NULL, NULL, 1, number, 0, q, 0),
                     StrataPackCUDA_f(numbers, NULL, NULL, 1, number, 0, q, 0, stream));
    }
    col->narrowed = PETSC_TRUE;
  }
  for (int m = 0; m < 12; p += count[m++])
    if (count[m]) *to[m] = p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Powers of two that bring vectors, perhaps tiny, into the range of single precision, and those that bring them back */
static PetscErrorCode PCColumnGetPowers(PC_Column *col, ptrdiff_t n, int nv, const PetscScalar *r, PetscInt ldr, PetscMemType type, void *stream,
                                        const PetscReal **powers)
{
  const ptrdiff_t work = StrataReduceWork(n);
  PetscReal      *p, *sums;

  PetscFunctionBegin;
  PetscCall(PCColumnGetWork(col, PC_COLUMN_POWERS, type, (size_t)(2 * nv + work) * sizeof(PetscReal), &p));
  sums = p + 2 * nv;
  for (int v = 0; v < nv; v++) {
    StrataDispatch(type, StrataReduceHost_d(STRATA_REDUCE_MAXABS, n, r + v * (ptrdiff_t)ldr, NULL, sums),
                   StrataReduceCUDA_d(STRATA_REDUCE_MAXABS, n, r + v * (ptrdiff_t)ldr, NULL, sums, stream));
    StrataDispatch(type, StrataPowersHost(sums + work - 1, p + 2 * v), StrataPowersCUDA(sums + work - 1, p + 2 * v, stream));
  }
  *powers = p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a solve counts as, in operations */
static PetscErrorCode PCColumnLogFlops(const PC_Column *col, PCColumnAlgorithm algorithm, PetscLogDouble unknowns, PetscMemType type)
{
  const PetscLogDouble flops = (algorithm != PC_COLUMN_PARTITION ? 15.0 : col->sums ? 19.0 : 25.0) * unknowns;

  PetscFunctionBegin;
  PetscCall(PetscMemTypeDevice(type) ? PetscLogGpuFlops(flops) : PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lines as the partition method wants them: it divides those with shared rows by their areas */
static PetscErrorCode PCColumnGetDivided(PC_Column *col, PetscMemType type, StrataLines_d *t)
{
  PetscFunctionBegin;
  PetscCall(PCColumnGetKernel(col, type, t));
  if (t->rows == STRATA_ROWS_SHARED && !col->divides) t->rows = STRATA_ROWS_CELLS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PCColumnSolveColor - z = (add ? add : 0), plus omega M r on the lines of a colour, by the partition method
*/
PetscErrorCode PCColumnSolveColor(PC pc, const StrataColor *color, PetscReal omega, const PetscScalar *r, const PetscScalar *add, PetscScalar *z,
                                  PetscMemType type)
{
  PC_Column       *col = (PC_Column *)pc->data;
  StrataLines_d    t;
  const PetscReal *start;
  void            *stream, *w;

  PetscFunctionBegin;
  col->worked = type;
  col->applied = PETSC_TRUE;
  col->used = PC_COLUMN_PARTITION;
  PetscCall(PCColumnGetDivided(col, type, &t));
  PetscCall(StrataGetStream(type, &stream));
  if (PetscMemTypeDevice(type)) PetscCall(PetscLogGpuTimeBegin());
  PetscCall(PCColumnGetStart_d(col, &t, type, stream, &start));
  PetscCall(PCColumnGetWork(col, PC_COLUMN_LINES, type, StrataPartitionWork_d(&t, 1, PetscMemTypeDevice(type)), &w));
  StrataDispatch(type, StrataPartitionCorrectHost_d(&t, start, color, omega, r, add, z, w),
                 StrataPartitionCorrectCUDA_d(&t, start, color, omega, r, add, z, w, stream));
  if (PetscMemTypeDevice(type)) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PCColumnLogFlops(col, PC_COLUMN_PARTITION, (PetscLogDouble)col->grid->size_local, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCColumnSolve(PC pc, PetscBool transpose, PetscInt nv, const PetscScalar *r, PetscInt ldr, const PetscScalar *add, PetscScalar *z,
                             PetscInt ldz, PetscMemType type)
{
  PC_Column              *col = (PC_Column *)pc->data;
  const PetscInt          n = col->grid->size_local;
  const PCColumnAlgorithm algorithm = PCColumnChoose(col, transpose, type);
  const PetscReal        *powers = NULL;
  const int              *place = NULL;
  StrataLines_d           t;
  void                   *stream;
  int                     m;

  PetscFunctionBegin;
  col->worked = type;
  col->applied = PETSC_TRUE;
  col->used = algorithm;
  if (col->ranks.cut) {
    PetscCall(PCColumnGetKernel(col, type, &t));
    if (col->plain.symmetric) transpose = PETSC_FALSE;
    PetscCall((col->rings.periodic ? PCColumnRanksSolveRings : PCColumnRanksSolve)(col, &t, transpose, nv, r, ldr, add, z, ldz, type));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!n || !nv) PetscFunctionReturn(PETSC_SUCCESS);
  m = (int)nv;
  PetscCheck(m == nv, PETSC_COMM_SELF, PETSC_ERR_SUP, "%" PetscInt_FMT " vectors at once are too many", nv);
  PetscCall((algorithm == PC_COLUMN_PARTITION ? PCColumnGetDivided : PCColumnGetKernel)(col, type, &t));
  PetscCall(StrataGetStream(type, &stream));
  if (PetscMemTypeDevice(type)) PetscCall(PetscLogGpuTimeBegin());
  if (col->list.section) PetscCall(StrataArrayRead(&col->list.cell, type, &place));
  if (col->precision == PC_COLUMN_PRECISION_SINGLE) {
    StrataLines_f s;

    PetscCall(PCColumnGetSingle(col, &t, type, &s));
    PetscCall(PCColumnGetPowers(col, n, m, r, ldr, type, stream, &powers));
    PetscCall(PCColumnSolvePacked_f(col, &s, transpose, algorithm, place, powers, m, r, ldr, add, z, ldz, type, stream));
  } else if (place)
    PetscCall(PCColumnSolvePacked_d(col, &t, transpose, algorithm, place, NULL, m, r, ldr, add, z, ldz, type, stream));
  else
    PetscCall(PCColumnSolve_d(col, &t, transpose, algorithm, m, r, ldr, add, z, ldz, type, stream));
  if (PetscMemTypeDevice(type)) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PCColumnLogFlops(col, algorithm, (PetscLogDouble)n * nv, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}
