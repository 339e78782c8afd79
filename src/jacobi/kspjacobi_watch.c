/*
   Cycles that go on before the host has seen the tests for convergence of those before
*/
#include "kspjacobiimpl.h"

#define BATCH (STRATA_WATCH_TESTS / 2)

PetscErrorCode StrataWatchReset(StrataWatch *w)
{
  PetscFunctionBegin;
  PetscCall(StrataArrayDestroy(&w->record));
  PetscCall(StrataArrayDestroy(&w->sums));
  PetscCall(StrataArrayDestroy(&w->kept));
  for (int half = 0; half < 2; half++) {
#if STRATA_HAVE_CUDA
    if (PetscMemTypeDevice(w->type) && w->seen[half]) {
      StrataCallCUDA(StrataCUDAFreeHost(w->seen[half]));
      StrataCallCUDA(StrataCUDAEventDestroy(w->event[half]));
      w->seen[half] = NULL;
    }
#endif
    PetscCall(PetscFree(w->seen[half]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Space in the memory of the sweeps; no test has passed */
static PetscErrorCode StrataWatchStart(StrataWatch *w, ptrdiff_t n, PetscMemType type)
{
  const double none[STRATA_WATCH_NUMBERS] = {-1};

  PetscFunctionBegin;
  if (w->type != type || w->kept.bytes != n * sizeof(double)) PetscCall(StrataWatchReset(w));
  w->type = type;
  if (!w->seen[0]) {
    PetscCall(StrataArrayCreate(&w->sums, StrataReduceWork(n) * sizeof(double)));
    PetscCall(StrataArrayCreate(&w->kept, n * sizeof(double)));
    for (int half = 0; half < 2; half++) {
      if (PetscMemTypeHost(type)) PetscCall(PetscMalloc1(STRATA_WATCH_NUMBERS, &w->seen[half]));
#if STRATA_HAVE_CUDA
      else {
        void *pinned;

        StrataCallCUDA(StrataCUDAMallocHost(&pinned, sizeof(none)));
        w->seen[half] = (double *)pinned;
        StrataCallCUDA(StrataCUDAEventCreate(&w->event[half]));
      }
#endif
    }
  }
  PetscCall(StrataArraySet(&w->record, sizeof(none), type, none));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends the record to the host */
static PetscErrorCode StrataWatchPost(StrataWatch *w, int half)
{
  const double *record;

  PetscFunctionBegin;
  PetscCall(StrataArrayRead(&w->record, w->type, &record));
  if (PetscMemTypeHost(w->type)) PetscCall(PetscMemcpy(w->seen[half], record, w->record.bytes));
#if STRATA_HAVE_CUDA
  else {
    void *stream;

    PetscCall(StrataGetStream(w->type, &stream));
    StrataCallCUDA(StrataCUDAMemcpyAsync(w->seen[half], record, w->record.bytes, stream));
    StrataCallCUDA(StrataCUDAEventRecord(w->event[half], stream));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StrataWatchWait(StrataWatch *w, int half)
{
  PetscFunctionBegin;
#if STRATA_HAVE_CUDA
  if (PetscMemTypeDevice(w->type)) StrataCallCUDA(StrataCUDAEventSynchronize(w->event[half]));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tests x where it is; change: where the largest change of the last sweep is, if that is what is tested */
static PetscErrorCode KSPHJacobiWatch(KSP ksp, Vec x, const PetscReal *change, int index)
{
  KSP_HJacobi          *h = (KSP_HJacobi *)ksp->data;
  StrataWatch          *w = &h->watch;
  const ptrdiff_t       n = (ptrdiff_t)h->jacobi->grid->size_local;
  const int             root = h->norm == HJACOBI_NORM_2;
  const StrataReduction op = root ? STRATA_REDUCE_DOT : STRATA_REDUCE_MAXABS;
  const PetscReal      *number = change;
  const PetscScalar    *ax, *ar;
  PetscReal            *sums, *record, *kept, low, high;
  PetscMemType          type;
  Vec                   r = ksp->work[1];
  void                 *stream;

  PetscFunctionBegin;
  PetscCall(StrataGetStream(w->type, &stream));
  if (!number) {
    PetscCall(KSPHJacobiResidual(ksp, x, r));
    PetscCall(VecGetArrayReadAndMemType(r, &ar, &type));
    PetscCheck(PetscMemTypeDevice(type) == PetscMemTypeDevice(w->type), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The residual is in another memory");
    PetscCall(StrataArrayWrite(&w->sums, w->type, &sums));
    StrataDispatch(w->type, StrataReduceHost_d(op, n, ar, root ? ar : NULL, sums), StrataReduceCUDA_d(op, n, ar, root ? ar : NULL, sums, stream));
    PetscCall(VecRestoreArrayReadAndMemType(r, &ar));
    number = sums + StrataReduceWork(n) - 1;
  }
  PetscCall(KSPHJacobiBounds(ksp, &low, &high));
  PetscCall(StrataArrayUpdate(&w->record, w->type, &record));
  StrataDispatch(w->type, StrataWatchHost(number, root, low, high, index, record), StrataWatchCUDA(number, root, low, high, index, record, stream));
  PetscCall(StrataArrayWrite(&w->kept, w->type, &kept));
  PetscCall(VecGetArrayReadAndMemType(x, &ax, &type));
  StrataDispatch(w->type, StrataWatchKeepHost(n, ax, index, record, kept), StrataWatchKeepCUDA(n, ax, index, record, kept, stream));
  PetscCall(VecRestoreArrayReadAndMemType(x, &ax));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The iterate of the test that passed */
static PetscErrorCode KSPHJacobiTakeKept(KSP ksp, int index, Vec x)
{
  KSP_HJacobi     *h = (KSP_HJacobi *)ksp->data;
  StrataWatch     *w = &h->watch;
  const ptrdiff_t  n = (ptrdiff_t)h->jacobi->grid->size_local;
  const PetscReal *record, *kept;
  PetscScalar     *ax;
  PetscMemType     type;
  void            *stream;

  PetscFunctionBegin;
  PetscCall(StrataArrayRead(&w->record, w->type, &record));
  PetscCall(StrataArrayRead(&w->kept, w->type, &kept));
  PetscCall(StrataGetStream(w->type, &stream));
  PetscCall(VecGetArrayWriteAndMemType(x, &ax, &type));
  StrataDispatch(w->type, StrataWatchKeepHost(n, kept, index, record, ax), StrataWatchKeepCUDA(n, kept, index, record, ax, stream));
  PetscCall(VecRestoreArrayWriteAndMemType(x, &ax));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPHJacobiRunAhead(KSP ksp, PetscMemType type, PetscInt step, Vec *x)
{
  KSP_HJacobi *h = (KSP_HJacobi *)ksp->data;
  PetscInt     done = ksp->its, its[2][BATCH]; /* cycles that are under way, and those before each test */
  int          count[2] = {0, 0}, half = 0;

  PetscFunctionBegin;
  PetscCall(StrataWatchStart(&h->watch, (ptrdiff_t)h->jacobi->grid->size_local, type));
  do {
    const PetscInt most = PetscMax(1, PetscMin(BATCH, ksp->its / step / 8)); /* what is done in vain must be little */

    for (count[half] = 0; count[half] < most && done < ksp->max_it; count[half]++) {
      const PetscInt   cycles = PetscMin(step, ksp->max_it - done);
      const PetscReal *change = NULL;

      PetscCall(KSPHJacobiCycles(ksp, done, cycles, x, NULL, h->norm == HJACOBI_NORM_UPDATE ? &change : NULL));
      its[half][count[half]] = done += cycles;
      PetscCall(KSPHJacobiWatch(ksp, *x, change, half * BATCH + count[half]));
    }
    if (count[half]) PetscCall(StrataWatchPost(&h->watch, half));
    half = !half; /* the batch before */
    if (count[half]) PetscCall(StrataWatchWait(&h->watch, half));
    for (int m = 0; m < count[half]; m++) {
      const int index = half * BATCH + m;

      PetscCall(PetscObjectSAWsTakeAccess((PetscObject)ksp));
      ksp->its = its[half][m];
      PetscCall(PetscObjectSAWsGrantAccess((PetscObject)ksp));
      PetscCall(KSPHJacobiJudge(ksp, h->watch.seen[half][1 + index]));
      if (h->watch.seen[half][0] == index) { /* if there is no reason, cycles begin anew from here */
        *x = ksp->vec_sol;
        PetscCall(KSPHJacobiTakeKept(ksp, index, *x));
        PetscFunctionReturn(PETSC_SUCCESS);
      }
      if (!ksp->reason) continue;
      PetscCheck(done == ksp->its, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A solve ends with an iterate that was not kept");
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    count[half] = 0;
  } while (count[!half] || done < ksp->max_it);
  PetscFunctionReturn(PETSC_SUCCESS);
}
