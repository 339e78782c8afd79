/*
   Columns in pieces on several ranks. The factorization is that of whole columns: where it stands at the beginning of a piece goes from rank to rank once.
   In a solve each rank eliminates its piece twice: first without knowing the other pieces, for the numbers at its ends. From those of all ranks of a
   column, two for each column and rank, follow the numbers that enter its piece: what is left of the right-hand side in the row before, the carry, and
   the solution in the row after. With a, p, q what goes through a piece,
     carry after it = a carry + last,   its first unknown = p carry + q after + first.
*/
#include "columnimpl.h"
#include "column_piece_kernels.h"

/* Columns whose numbers travel together, while those of the next are computed */
enum { PC_COLUMN_BATCH = 1024, PC_COLUMN_BATCHES = 4 };

/*
   PCColumnRanksFind - Finds the ranks that have the other pieces of this rank's columns
*/
PetscErrorCode PCColumnRanksFind(PC_Column *col, PetscBool cut)
{
  PCColumnRanks *ranks = &col->ranks;
  StrataGrid     g = col->grid;
  const PetscInt a = col->along, step = a == 0 ? 1 : a == 1 ? g->procs[0] : g->procs[0] * g->procs[1], place = g->rank / step % g->procs[a];
  PetscMPIInt    neighbor[2];

  PetscFunctionBegin;
  PetscCall(PCColumnRanksDestroy(col));
  ranks->cut = cut;
  if (!cut) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_split(g->comm, (PetscMPIInt)(g->rank - place * step), (PetscMPIInt)place, &ranks->comm));
  PetscCallMPI(MPI_Comm_rank(ranks->comm, &ranks->rank));
  PetscCallMPI(MPI_Comm_size(ranks->comm, &ranks->size));
  for (int m = 0; m < 2; m++) {
    neighbor[m] = StrataGridLeg(g, (int)(2 * a + m))->rank;
    if (m ? g->lo[a] + g->n[a] == g->N[a] : g->lo[a] == 0) neighbor[m] = -1; /* rings are cut there */
    neighbor[m] = neighbor[m] < 0 ? MPI_PROC_NULL : (PetscMPIInt)(neighbor[m] / step % g->procs[a]);
  }
  ranks->before = neighbor[0];
  ranks->after = neighbor[1];
  ranks->lines = g->n[a == 0 ? 1 : 0] * g->n[a == 2 ? 1 : 2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCColumnRanksDestroy(PC_Column *col)
{
  PCColumnRanks *ranks = &col->ranks;
  StrataArray   *arrays[] = {&ranks->lower, &ranks->state[0], &ranks->state[1], &ranks->through, &ranks->out,
                             &ranks->in,    &ranks->gathered, &ranks->plane,    &ranks->last};

  PetscFunctionBegin;
  for (size_t m = 0; m < sizeof(arrays) / sizeof(*arrays); m++) PetscCall(StrataArrayDestroy(arrays[m]));
  for (int m = 0; m < 2; m++) PetscCall(PetscFree(ranks->all[m]));
  if (ranks->cut) PetscCallMPI(MPI_Comm_free(&ranks->comm));
  ranks->cut = ranks->ready[0] = ranks->ready[1] = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers of the rank before, zeros where there is none */
static PetscErrorCode PCColumnRanksReceive(PCColumnRanks *ranks, PetscInt numbers, StrataArray *a)
{
  PetscScalar *p;
  PetscMPIInt  count;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(numbers, &count));
  PetscCall(PCColumnNewArray(a, numbers * sizeof(PetscScalar), PETSC_MEMTYPE_HOST, &p));
  PetscCall(PetscArrayzero(p, numbers));
  PetscCallMPI(MPI_Recv(p, count, MPIU_SCALAR, ranks->before, 0, ranks->comm, MPI_STATUS_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCColumnRanksSend(PCColumnRanks *ranks, PetscInt numbers, StrataArray *a)
{
  const PetscScalar *p;

  PetscFunctionBegin;
  PetscCall(StrataArrayRead(a, PETSC_MEMTYPE_HOST, &p));
  PetscCallMPI(MPI_Send(p, (PetscMPIInt)numbers, MPIU_SCALAR, ranks->after, 0, ranks->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lower legs of the rows after this rank's, zeros where there are none */
static PetscErrorCode PCColumnRanksGetLower(PCColumnRanks *ranks, const StrataLines_d *t, PetscMemType type)
{
  StrataArray        own;
  PetscScalar       *p;
  const PetscScalar *send;
  PetscMPIInt        count;
  void              *stream;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(ranks->lines, &count));
  PetscCall(StrataGetStream(type, &stream));
  PetscCall(StrataArrayCreate(&own, ranks->lines * sizeof(PetscScalar)));
  PetscCall(StrataArrayWrite(&own, type, &p));
  StrataDispatch(type, StrataPieceLowerHost_d(t, p), StrataPieceLowerCUDA_d(t, p, stream));
  PetscCall(StrataArrayRead(&own, PETSC_MEMTYPE_HOST, &send));
  PetscCall(PCColumnNewArray(&ranks->lower, ranks->lines * sizeof(PetscScalar), PETSC_MEMTYPE_HOST, &p));
  PetscCall(PetscArrayzero(p, ranks->lines));
  PetscCallMPI(MPI_Sendrecv(send, count, MPIU_SCALAR, ranks->before, 0, p, count, MPIU_SCALAR, ranks->after, 0, ranks->comm, MPI_STATUS_IGNORE));
  PetscCall(StrataArrayDestroy(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PCColumnRanksCheck - Looks at all rows of this rank's pieces, once the ranks before have looked at theirs
*/
PetscErrorCode PCColumnRanksCheck(PC_Column *col, const StrataLines_d *t, StrataLinesReport *report)
{
  PCColumnRanks     *ranks = &col->ranks;
  StrataArray        ratio = {0};
  const PetscScalar *lower;
  PetscScalar       *p;
  void              *stream;

  PetscFunctionBegin;
  if (!col->grid->size_local) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCColumnRanksGetLower(ranks, t, col->home));
  PetscCall(PCColumnRanksReceive(ranks, ranks->lines, &ratio));
  PetscCall(StrataGetStream(col->home, &stream));
  PetscCall(StrataArrayRead(&ranks->lower, col->home, &lower));
  PetscCall(StrataArrayUpdate(&ratio, col->home, &p));
  StrataDispatch(col->home, StrataPieceCheckHost_d(t, p, lower, report), StrataPieceCheckCUDA_d(t, p, lower, report, stream));
  PetscCall(PCColumnRanksSend(ranks, ranks->lines, &ratio));
  PetscCall(StrataArrayDestroy(&ratio));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One elimination of the pieces of some lines; no right-hand side: zeros, no solution: only the ends are wanted */
static PetscErrorCode PCColumnRanksEliminate(PC_Column *col, const StrataLines_d *t, PetscBool transpose, StrataEnds_d *ends, PetscInt from,
                                             PetscInt to, PetscInt nv, const PetscScalar *r, PetscInt ldr, const PetscScalar *add, PetscScalar *z,
                                             PetscInt ldz, PetscMemType type)
{
  PCColumnRanks     *ranks = &col->ranks;
  const PetscScalar *state;
  void              *stream, *w;

  PetscFunctionBegin;
  PetscCall(StrataArrayRead(&ranks->lower, type, &ends->lower));
  PetscCall(StrataArrayRead(&ranks->state[transpose], type, &state));
  for (int m = 0; m < (transpose ? STRATA_STATES : 1); m++) ends->before[m] = state + m * ranks->lines;
  PetscCall(PCColumnGetWork(col, PC_COLUMN_LINES, type, StrataPieceWork_d(t, to - from, (int)nv, PetscMemTypeDevice(type)), &w));
  PetscCall(StrataGetStream(type, &stream));
  StrataDispatch(type, StrataPieceHost_d(t, transpose, ends, from, to, (int)nv, r, ldr, add, z, ldz, w),
                 StrataPieceCUDA_d(t, transpose, ends, from, to, (int)nv, r, ldr, add, z, ldz, w, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the factorization stands before this rank's rows, and what goes through the pieces of all ranks of its columns: a, p and q of each column */
static PetscErrorCode PCColumnRanksStart(PC_Column *col, const StrataLines_d *t, PetscBool transpose, PetscMemType type)
{
  PCColumnRanks     *ranks = &col->ranks;
  const PetscInt     lines = ranks->lines, states = (transpose ? STRATA_STATES : 1) * lines;
  StrataArray        end = {0}, one = {0};
  StrataEnds_d       ends = {0};
  PetscScalar       *through, *p;
  const PetscScalar *ones, *send;
  PetscMPIInt        count;

  PetscFunctionBegin;
  if (ranks->ready[transpose]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMPIIntCast(3 * lines, &count));
  PetscCall(PCColumnNewArray(&ranks->through, 3 * lines * sizeof(PetscScalar), col->grid->size_local ? type : PETSC_MEMTYPE_HOST, &through));
  if (col->grid->size_local) {
    PetscCall(PCColumnRanksGetLower(ranks, t, type));
    PetscCall(PCColumnRanksReceive(ranks, states, &ranks->state[transpose]));
    PetscCall(StrataArrayCreate(&one, lines * sizeof(PetscScalar)));
    PetscCall(StrataArrayWrite(&one, PETSC_MEMTYPE_HOST, &p));
    for (PetscInt q = 0; q < lines; q++) p[q] = 1;
    PetscCall(StrataArrayRead(&one, type, &ones));
    PetscCall(StrataArrayCreate(&end, states * sizeof(PetscScalar)));
    PetscCall(StrataArrayWrite(&end, type, &p));
    for (int m = 0; m < (transpose ? STRATA_STATES : 1); m++) ends.end[m] = p + m * lines;
    ends.carry = ones;
    ends.last = through;
    ends.first = through + lines;
    PetscCall(PCColumnRanksEliminate(col, t, transpose, &ends, 0, lines, 1, NULL, 0, NULL, NULL, 0, type));
    PetscCall(PCColumnRanksSend(ranks, states, &end));
    for (int m = 0; m < STRATA_STATES; m++) ends.end[m] = NULL;
    ends.carry = ends.last = NULL;
    ends.after = ones;
    ends.first = through + 2 * lines;
    PetscCall(PCColumnRanksEliminate(col, t, transpose, &ends, 0, lines, 1, NULL, 0, NULL, NULL, 0, type));
    PetscCall(StrataArrayRead(&ranks->through, PETSC_MEMTYPE_HOST, &send));
    PetscCall(StrataArrayDestroy(&end));
    PetscCall(StrataArrayDestroy(&one));
  } else { /* no rows: everything goes through */
    for (PetscInt q = 0; q < 3 * lines; q++) through[q] = q / lines == 1 ? 0 : 1;
    send = through;
  }
  if (!ranks->all[transpose]) PetscCall(PetscMalloc1(3 * lines * ranks->size, &ranks->all[transpose]));
  PetscCallMPI(MPI_Allgather(send, count, MPIU_SCALAR, ranks->all[transpose], count, MPIU_SCALAR, ranks->comm));
  ranks->ready[transpose] = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What enters this rank's pieces of some lines, from the numbers at the ends of all pieces: of each rank last, then first */
static PetscErrorCode PCColumnRanksJoin(PCColumnRanks *ranks, const PetscScalar *through, PetscInt from, PetscInt to, PetscInt nv,
                                        const PetscScalar *ends, PetscScalar *carry, PetscScalar *after)
{
  const PetscInt lines = ranks->lines, count = to - from, items = count * nv;
  PetscScalar   *enters;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(ranks->size, &enters));
  for (PetscInt m = 0; m < items; m++) {
    const PetscScalar *a = through + from + m % count;
    PetscScalar        x = 0;

    for (PetscMPIInt p = 0; p < ranks->size; p++) {
      enters[p] = x;
      x = a[3 * p * lines] * x + ends[2 * p * items + m];
    }
    x = 0;
    for (PetscMPIInt p = ranks->size - 1; p > ranks->rank; p--)
      x = a[(3 * p + 1) * lines] * enters[p] + a[(3 * p + 2) * lines] * x + ends[(2 * p + 1) * items + m];
    carry[m] = enters[ranks->rank];
    after[m] = x;
  }
  PetscCall(PetscFree(enters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PCColumnRanksSolve - z = (add ? add : 0) + M r for arrays of nv vectors in one memory, M solves lines with two ends
*/
PetscErrorCode PCColumnRanksSolve(PC_Column *col, const StrataLines_d *t, PetscBool transpose, PetscInt nv, const PetscScalar *r, PetscInt ldr,
                                  const PetscScalar *add, PetscScalar *z, PetscInt ldz, PetscMemType type)
{
  PCColumnRanks *ranks = &col->ranks;
  const PetscInt lines = ranks->lines, rows = col->grid->size_local,
                 batches = PetscMemTypeDevice(type) ? 1 : PetscClipInterval(lines / PC_COLUMN_BATCH, 1, PC_COLUMN_BATCHES);
  const size_t bytes = (size_t)(2 * lines * nv) * sizeof(PetscScalar);
  PetscScalar *out, *in, *gathered;
  MPI_Request  request[PC_COLUMN_BATCHES];

  PetscFunctionBegin;
  if (!lines || !nv) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCColumnRanksStart(col, t, transpose, type));
  PetscCall(PCColumnNewArray(&ranks->gathered, bytes * ranks->size, PETSC_MEMTYPE_HOST, &gathered));
  PetscCall(PCColumnNewArray(&ranks->out, bytes, rows ? type : PETSC_MEMTYPE_HOST, &out));
  if (!rows) PetscCall(PetscArrayzero(out, 2 * lines * nv));
  for (PetscInt b = 0; b < batches; b++) {
    const PetscInt     from = b * lines / batches, to = (b + 1) * lines / batches, at = 2 * nv * from;
    StrataEnds_d       ends = {0};
    const PetscScalar *send;
    PetscMPIInt        count;

    ends.last = out + at;
    ends.first = ends.last + nv * (to - from);
    if (rows) PetscCall(PCColumnRanksEliminate(col, t, transpose, &ends, from, to, nv, r, ldr, NULL, NULL, 0, type));
    PetscCall(StrataArrayRead(&ranks->out, PETSC_MEMTYPE_HOST, &send));
    PetscCall(PetscMPIIntCast(2 * nv * (to - from), &count));
    PetscCallMPI(MPI_Iallgather(send + at, count, MPIU_SCALAR, gathered + at * ranks->size, count, MPIU_SCALAR, ranks->comm, &request[b]));
  }
  PetscCall(PCColumnNewArray(&ranks->in, bytes, PETSC_MEMTYPE_HOST, &in));
  for (PetscInt b = 0; b < batches; b++) {
    const PetscInt     from = b * lines / batches, to = (b + 1) * lines / batches, at = 2 * nv * from;
    StrataEnds_d       ends = {0};
    const PetscScalar *enters;

    PetscCallMPI(MPI_Wait(&request[b], MPI_STATUS_IGNORE));
    if (!rows) continue;
    PetscCall(PCColumnRanksJoin(ranks, ranks->all[transpose], from, to, nv, gathered + at * ranks->size, in + at, in + at + nv * (to - from)));
    PetscCall(StrataArrayRead(&ranks->in, type, &enters));
    ends.carry = enters + at;
    ends.after = ends.carry + nv * (to - from);
    PetscCall(PCColumnRanksEliminate(col, t, transpose, &ends, from, to, nv, r, ldr, add, z, ldz, type));
  }
  PetscCall(PetscMemTypeDevice(type) ? PetscLogGpuFlops(30.0 * rows * nv) : PetscLogFlops(30.0 * rows * nv));
  PetscFunctionReturn(PETSC_SUCCESS);
}
