/* Included by jacobi.c for each precision of the sweeps */

/* The system of the rows, in one memory */
static PetscErrorCode TYPED(StrataJacobiSystem)(StrataJacobi j, StrataJacobiRows *rows, PetscMemType type, TYPED(StrataSystem) *s)
{
  StrataGrid g = j->grid;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  s->dim = (int)g->dim;
  s->form = rows->form;
  for (int l = 0; l < STRATA_LEGS; l++) {
    const int frame = (int)(l % 2 ? j->high[l / 2] : j->low[l / 2]);

    s->n[l / 2] = j->n[l / 2];
    s->leg[l] = (REAL)rows->leg[l];
    if (frame)
      s->outside[l] = STRATA_OUTSIDE_GHOST;
    else
      s->outside[l] = l / 2 < g->dim && rows->form != STRATA_SYSTEM_VARIABLE ? STRATA_OUTSIDE_ZERO : STRATA_OUTSIDE_NONE;
    if (rows->legs[l].bytes) PetscCall(StrataArrayRead(&rows->legs[l], type, &s->legs[l]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The array of a vector on the owned box with the cells around it; to is an array of the work space */
static PetscErrorCode TYPED(StrataJacobiEmbed)(StrataJacobi j, PetscMemType type, const PetscScalar *x, StrataArray *to)
{
  StrataGhost ghost[STRATA_DIRECTIONS];
  REAL       *y;
  void       *stream;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(ghost, sizeof(ghost)));
  if (j->frame) {
    PetscCall(StrataHaloBegin(j->frame, x, sizeof(PetscScalar), 1, j->grid->size_local, type));
    PetscCall(StrataHaloEnd(j->frame, ghost));
  }
  PetscCall(StrataArrayWrite(to, type, &y));
  PetscCall(StrataGetStream(type, &stream));
  if (j->grid->size_local)
    StrataDispatch(type, TYPED(StrataEmbedHost)(j->n, &j->own, x, ghost, y), TYPED(StrataEmbedCUDA)(j->n, &j->own, x, ghost, y, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One pass: y = x after the sweeps of the tiling, weights from sweep `first` of the period on */
static PetscErrorCode TYPED(StrataJacobiPass)(StrataJacobi j, StrataJacobiRows *rows, PetscMemType type, const StrataTiling *t, PetscInt first,
                                              const REAL *b, const REAL *x, REAL *y, REAL *change)
{
  TYPED(StrataSystem) s;
  const REAL         *weight = NULL;
  void               *stream, *work = NULL;

  PetscFunctionBegin;
  if (!j->grid->size_local) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TYPED(StrataJacobiSystem)(j, rows, type, &s));
  if (j->weights.bytes) {
    PetscCall(StrataArrayRead(&j->weights, type, &weight));
    weight += first;
  }
  PetscCall(StrataGetStream(type, &stream));
#if STRATA_HAVE_CUDA
  if (PetscMemTypeDevice(type)) {
    const int         slot = t->sweeps == (int)j->most ? 0 : 1;
    StrataCycleKernel kernel;
    ptrdiff_t         numbers;

    if (j->chosenfor[slot] != t->sweeps) {
      char words[sizeof(j->words)];

      j->chosen[slot] = TYPED(StrataCycleKernelCUDA)(&s, t, (StrataCycleKernel)j->kernel, &j->own, words, sizeof(words));
      j->chosenfor[slot] = t->sweeps;
      if (slot == 0 || !j->words[0]) PetscCall(PetscStrncpy(j->words, words, sizeof(j->words)));
    }
    kernel = j->chosen[slot];
    PetscCheck(kernel != STRATA_KERNEL_AUTO, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "No kernel can sweep these tiles: %s", j->words);
    numbers = TYPED(StrataCycleWorkCUDA)(&s, t, kernel, &j->own);
    if (j->work.bytes < numbers * sizeof(REAL)) {
      PetscCall(StrataArrayDestroy(&j->work));
      PetscCall(StrataArrayCreate(&j->work, numbers * sizeof(REAL)));
    }
    PetscCall(StrataArrayWrite(&j->work, type, &work));
    StrataCallCUDA(TYPED(StrataCycleCUDA)(&s, t, kernel, &j->own, weight, b, x, y, change, (REAL *)work, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  (void)work;
  PetscCheck(!TYPED(StrataCycleFastHost)(&s, t, &j->own, weight, b, x, y, change), PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for tiles");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The passes of some cycles. x NULL: from zero. `direct`: the result of the last pass goes to that array, else it is left in array[] and *result
   points to it. The largest change is read into *change, or *stays says where it is, of this rank, in the memory of the arrays. */
static PetscErrorCode TYPED(StrataJacobiPasses)(StrataJacobi j, PetscBool transpose, PetscMemType type, PetscInt first, PetscInt cycles,
                                                const PetscScalar *x, REAL *direct, REAL **result, PetscReal *change, const REAL **stays)
{
  StrataJacobiRows *rows = &j->rows[transpose ? 1 : 0];
  const PetscInt    k = j->subiterations, most = StrataJacobiMost(j, type), passes = (k + most - 1) / most, total = passes * cycles;
  const size_t      bytes = j->array[0].bytes;
  const REAL       *b, *from = NULL;
  REAL             *to, *last = NULL;
  void             *stream;
  PetscInt          p;

  PetscFunctionBegin;
  PetscCall(StrataGetStream(type, &stream));
  PetscCall(StrataArrayRead(&j->b, type, &b));
  if (change || stays) PetscCall(StrataArrayWrite(&j->change, type, &last));
  for (p = 0; p < total; p++) {
    const PetscInt  cycle = first + (transpose ? cycles - 1 - p / passes : p / passes), done = p % passes * most;
    const PetscBool final = p + 1 == total ? PETSC_TRUE : PETSC_FALSE;
    StrataTiling    t = j->tiling;
    StrataArray    *into = &j->array[(total - 1 - p) % 2]; /* the last goes to array[0] */

    t.sweeps = (int)PetscMin(most, k - done);
    if (direct && (total - 1 - p) % 2 == 0)
      to = direct;
    else
      PetscCall(StrataArrayWrite(into, type, &to));
    if (p == 0) {
      StrataArray *start = &j->array[(total - p) % 2];

      if (x && direct)
        from = (const REAL *)x;
      else if (x) {
        PetscCall(TYPED(StrataJacobiEmbed)(j, type, x, start));
        PetscCall(StrataArrayRead(start, type, &from));
      } else {
        REAL *zero;

        if (direct && to != direct)
          zero = direct;
        else
          PetscCall(StrataArrayWrite(start, type, &zero));
        if (bytes && PetscMemTypeHost(type)) PetscCall(PetscMemzero(zero, bytes));
#if STRATA_HAVE_CUDA
        if (bytes && PetscMemTypeDevice(type)) StrataCallCUDA(StrataCUDAMemset(zero, 0, bytes, stream));
#endif
        from = zero;
      }
    }
    PetscCall(TYPED(StrataJacobiPass)(j, rows, type, &t, cycle % j->period * k + done, b, from, to, final ? last : NULL));
    from = to;
    if (!final && j->frame) { /* the frames are exchanged anew; cells of the owned box come back as they are */
      PetscScalar *own;

      PetscCall(StrataArrayWrite(&j->vector, type, &own));
      if (j->grid->size_local)
        StrataDispatch(type, TYPED(StrataUnembedHost)(j->n, &j->own, to, 1, NULL, own),
                       TYPED(StrataUnembedCUDA)(j->n, &j->own, to, 1, NULL, own, stream));
      PetscCall(TYPED(StrataJacobiEmbed)(j, type, own, into));
    }
  }
  if (result) *result = (REAL *)from;
  if (stays) *stays = last;
  if (change) {
    const REAL *c;

    *change = 0;
    if (j->grid->size_local) {
      PetscCall(StrataArrayRead(&j->change, PETSC_MEMTYPE_HOST, &c));
      *change = (PetscReal)*c;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
