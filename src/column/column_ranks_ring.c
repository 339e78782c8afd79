/*
   Periodic columns in pieces on several ranks. A ring is cut at its last cell as whole ones are, see column_ring_kernels.h; the line that stands for it is
   solved in pieces. What is known of the cell and of its two neighbours is gathered for all ranks of a column, and each finds the solution in the last
   cell.
*/
#include "columnimpl.h"
#include "column_piece_kernels.h"
#include "column_ring_cell.h"

enum { RING_FIRST, RING_BEFORE, RING_LAST, RING_CELLS };

/* On which level of this rank are the first cell of a ring, the one before the last and the last one? -1: on another rank */
static void PCColumnRanksRingLevels(const PC_Column *col, int level[RING_CELLS])
{
  const PetscInt a = col->along, N = col->grid->N[a], at[RING_CELLS] = {0, N - 2, N - 1};

  for (int m = 0; m < RING_CELLS; m++) {
    const PetscInt k = at[m] - col->grid->lo[a];

    level[m] = k >= 0 && k < col->grid->n[a] ? (int)k : -1;
  }
}

/* Numbers that one rank of each column has, and the others as zeros, become known to all of them */
static PetscErrorCode PCColumnRanksShare(PCColumnRanks *ranks, PetscInt numbers, PetscScalar *p)
{
  PetscMPIInt count;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(numbers, &count));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, p, count, MPIU_SCALAR, MPI_SUM, ranks->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PCColumnRanksCutRings - Cuts the rings, whose rows without scale and shift are those of coefficients or, without these, the arrays that are there
*/
PetscErrorCode PCColumnRanksCutRings(PC_Column *col, const StrataCoef_d *coef)
{
  StrataArray   *array[3] = {&col->lower, &col->upper, &col->excess};
  const PetscInt lines = col->ranks.lines, a = col->along, end = col->grid->N[a] - 1;
  StrataLines_d  from;
  PetscScalar   *p[3], *number;
  ptrdiff_t      id = 0;
  int            n[3], x[3];

  PetscFunctionBegin;
  col->rings.same = PETSC_FALSE;
  PetscCall(StrataGridGetBox(col->grid, n));
  PetscCall(PetscMemzero(&from, sizeof(from)));
  if (coef) {
    from.coef = *coef;
    from.coef.scale = 1;
    from.coef.shift = 0;
  }
  for (int m = 0; m < 3; m++)
    if (coef)
      PetscCall(PCColumnNewArray(array[m], (size_t)col->grid->size_local * sizeof(PetscScalar), PETSC_MEMTYPE_HOST, &p[m]));
    else
      PetscCall(StrataArrayUpdate(array[m], PETSC_MEMTYPE_HOST, &p[m]));
  PetscCall(PCColumnNewArray(&col->rings.number, (size_t)(STRATA_RING_NUMBERS * lines) * sizeof(PetscScalar), PETSC_MEMTYPE_HOST, &number));
  PetscCall(PetscArrayzero(number, STRATA_RING_NUMBERS * lines));
  for (x[2] = 0; x[2] < n[2]; x[2]++)
    for (x[1] = 0; x[1] < n[1]; x[1]++)
      for (x[0] = 0; x[0] < n[0]; x[0]++, id++) {
        PetscScalar row[3];

        if (coef)
          strata_cell_row_d(&from, (int)a, x, row);
        else
          for (int m = 0; m < 3; m++) row[m] = p[m][id];
        strata_ring_cut_row_d((int)(col->grid->lo[a] + x[a]), (int)end, lines, number + strata_line_of(n, (int)a, x), row);
        for (int m = 0; m < 3; m++) p[m][id] = row[m];
      }
  PetscCall(PCColumnRanksShare(&col->ranks, STRATA_RING_NUMBERS * lines, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Three numbers of each line and vector, in the first cells of rings, those before the last and the last ones, known to all ranks of a column */
static PetscErrorCode PCColumnRanksGatherRings(PC_Column *col, PetscInt nv, const PetscScalar *y, PetscInt ldy, PetscMemType type, PetscScalar *cells)
{
  PCColumnRanks *ranks = &col->ranks;
  const PetscInt numbers = ranks->lines * nv;
  int            level[RING_CELLS], n[3];
  void          *stream;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(cells, RING_CELLS * numbers));
  PetscCall(StrataGridGetBox(col->grid, n));
  PetscCall(StrataGetStream(type, &stream));
  PCColumnRanksRingLevels(col, level);
  for (int m = 0; m < RING_CELLS; m++) {
    StrataPackList     list;
    PetscScalar       *to;
    const PetscScalar *from;

    if (level[m] < 0) continue;
    PetscCall(PCColumnNewArray(&ranks->plane, (size_t)numbers * sizeof(PetscScalar), type, &to));
    list.count = 1;
    list.to[0] = to;
    for (int a = 0; a < 3; a++) {
      list.box[0].lo[a] = a == col->along ? level[m] : 0;
      list.box[0].hi[a] = a == col->along ? level[m] + 1 : n[a];
    }
    StrataDispatch(type, StrataPackHost(&list, n, sizeof(PetscScalar), (int)nv, y, ldy),
                   StrataPackCUDA(&list, n, sizeof(PetscScalar), (int)nv, y, ldy, stream));
    PetscCall(StrataArrayRead(&ranks->plane, PETSC_MEMTYPE_HOST, &from));
    PetscCall(PetscArraycpy(cells + m * numbers, from, numbers));
  }
  PetscCall(PCColumnRanksShare(ranks, RING_CELLS * numbers, cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solution of the lines, given on the host, for a right-hand side of the set-up */
static PetscErrorCode PCColumnRanksSolveRight(PC_Column *col, const StrataLines_d *t, int which, PetscBool transpose, PetscScalar *z)
{
  const PetscInt     a = col->along, end = col->grid->N[a] - 1, n = col->grid->size_local;
  const PetscScalar *number;
  ptrdiff_t          id = 0;
  int                x[3];

  PetscFunctionBegin;
  PetscCall(StrataArrayRead(&col->rings.number, PETSC_MEMTYPE_HOST, &number));
  for (x[2] = 0; x[2] < t->coef.n[2]; x[2]++)
    for (x[1] = 0; x[1] < t->coef.n[1]; x[1]++)
      for (x[0] = 0; x[0] < t->coef.n[0]; x[0]++, id++) {
        PetscScalar row[3];

        strata_line_row_d(t, (int)a, t->rows, NULL, x, row);
        z[id] = strata_ring_right_row_d(t->coef.scale, t->coef.shift, which, (int)(col->grid->lo[a] + x[a]), (int)end, col->ranks.lines,
                                        number + strata_line_of(t->coef.n, (int)a, x), row[2]);
      }
  PetscCall(PCColumnRanksSolve(col, t, transpose, 1, z, n, NULL, z, n, PETSC_MEMTYPE_HOST));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 1 / s of each ring, the lines given on the host */
static PetscErrorCode PCColumnRanksRingPivots(PC_Column *col, const StrataLines_d *t)
{
  const PetscInt     lines = col->ranks.lines, n = col->grid->size_local;
  const PetscScalar *number;
  PetscScalar       *g, *cells, *inverse;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &g, RING_CELLS * lines, &cells));
  PetscCall(PCColumnRanksSolveRight(col, t, STRATA_RING_SUM, PETSC_FALSE, g));
  PetscCall(PCColumnRanksGatherRings(col, 1, g, n, PETSC_MEMTYPE_HOST, cells));
  PetscCall(StrataArrayRead(&col->rings.number, PETSC_MEMTYPE_HOST, &number));
  PetscCall(PCColumnNewArray(&col->rings.inverse, (size_t)lines * sizeof(PetscScalar), PETSC_MEMTYPE_HOST, &inverse));
  for (PetscInt q = 0; q < lines; q++)
    inverse[q] = strata_ring_pivot_d(t->coef.scale, t->coef.shift, number + q, lines, cells[RING_FIRST * lines + q], cells[RING_BEFORE * lines + q]);
  PetscCall(PetscFree2(g, cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PCColumnRanksCheckRings - Looks at all rings, with the scale and shift of the lines; what is found is added to the report of these
*/
PetscErrorCode PCColumnRanksCheckRings(PC_Column *col, const StrataLines_d *lines, StrataLinesReport *report)
{
  StrataLines_d      t;
  const PetscScalar *number, *inverse;
  int                level[RING_CELLS];

  PetscFunctionBegin;
  PetscCall(PCColumnGetKernel(col, PETSC_MEMTYPE_HOST, &t));
  t.coef.scale = lines->coef.scale;
  t.coef.shift = lines->coef.shift;
  t.singular = 1;
  col->ranks.ready[0] = PETSC_FALSE;
  PetscCall(PCColumnRanksRingPivots(col, &t));
  col->ranks.ready[0] = PETSC_FALSE; /* the scale and shift may be others */
  PetscCall(StrataArrayRead(&col->rings.number, PETSC_MEMTYPE_HOST, &number));
  PetscCall(StrataArrayRead(&col->rings.inverse, PETSC_MEMTYPE_HOST, &inverse));
  PCColumnRanksRingLevels(col, level);
  if (level[RING_LAST] >= 0) PCColumnRingsReport(&t, level[RING_LAST], col->ranks.lines, number, inverse, 1, report);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is kept of the rings for the same rows, scale and shift */
static PetscErrorCode PCColumnRanksGetRings(PC_Column *col, PetscBool transpose)
{
  const int     m = transpose ? 1 : 0;
  StrataLines_d t;
  PetscScalar  *column;

  PetscFunctionBegin;
  if (col->rings.ready[m]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCColumnGetKernel(col, PETSC_MEMTYPE_HOST, &t));
  if (!col->rings.ready[1 - m]) PetscCall(PCColumnRanksRingPivots(col, &t));
  PetscCall(PCColumnNewArray(&col->rings.column[m], (size_t)col->grid->size_local * sizeof(PetscScalar), PETSC_MEMTYPE_HOST, &column));
  PetscCall(PCColumnRanksSolveRight(col, &t, transpose ? STRATA_RING_C : STRATA_RING_B, transpose, column));
  col->rings.ready[m] = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PCColumnRanksSolveRings - z = (add ? add : 0) + M r for arrays of nv vectors in one memory
*/
PetscErrorCode PCColumnRanksSolveRings(PC_Column *col, const StrataLines_d *t, PetscBool transpose, PetscInt nv, const PetscScalar *r, PetscInt ldr,
                                       const PetscScalar *add, PetscScalar *z, PetscInt ldz, PetscMemType type)
{
  PCColumnRanks     *ranks = &col->ranks;
  const PetscInt     lines = ranks->lines, items = lines * nv, n = col->grid->size_local;
  const PetscScalar *number, *inverse, *column, *last;
  PetscScalar       *y = z, *cells, *p;
  int                level[RING_CELLS];
  void              *stream;

  PetscFunctionBegin;
  if (!items) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCColumnRanksGetRings(col, transpose));
  if (add) PetscCall(PCColumnGetWork(col, PC_COLUMN_RINGS, type, (size_t)n * nv * sizeof(PetscScalar), &y));
  PetscCall(PCColumnRanksSolve(col, t, transpose, nv, r, ldr, NULL, y, add ? n : ldz, type));
  PetscCall(PetscMalloc1(RING_CELLS * items, &cells));
  PetscCall(PCColumnRanksGatherRings(col, nv, y, add ? n : ldz, type, cells));
  PetscCall(StrataArrayRead(&col->rings.number, PETSC_MEMTYPE_HOST, &number));
  PetscCall(StrataArrayRead(&col->rings.inverse, PETSC_MEMTYPE_HOST, &inverse));
  PetscCall(PCColumnNewArray(&ranks->last, (size_t)items * sizeof(PetscScalar), PETSC_MEMTYPE_HOST, &p));
  for (PetscInt m = 0; m < items; m++)
    p[m] = strata_ring_last_d(t->coef.scale, t->coef.shift, number + m % lines, lines, transpose, inverse[m % lines], cells[m], cells[items + m],
                              cells[2 * items + m]);
  PetscCall(PetscFree(cells));
  PetscCall(StrataArrayRead(&ranks->last, type, &last));
  PetscCall(StrataArrayRead(&col->rings.column[transpose ? 1 : 0], type, &column));
  PetscCall(StrataGetStream(type, &stream));
  PCColumnRanksRingLevels(col, level);
  StrataDispatch(type, StrataPieceRingHost_d(t, level[RING_LAST], column, last, (int)nv, y, add ? n : ldz, add, z, ldz),
                 StrataPieceRingCUDA_d(t, level[RING_LAST], column, last, (int)nv, y, add ? n : ldz, add, z, ldz, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
