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

/* Boxes of arrays from vectors and the cells around them, perhaps from the vectors alone */
static PetscErrorCode TYPED(StrataJacobiEmbedBoxes)(StrataJacobi j, PetscMemType type, int count, const StrataBox box[], int nv, const PetscScalar *x,
                                                    const StrataGhost ghost[], REAL *y)
{
  void *stream;

  PetscFunctionBegin;
  PetscCall(StrataGetStream(type, &stream));
  for (int m = 0; m < count && j->grid->size_local; m++)
    StrataDispatch(type, TYPED(StrataEmbedHost)(j->n, &j->own, &box[m], nv, x, j->grid->size_local, ghost, y, j->cells),
                   TYPED(StrataEmbedCUDA)(j->n, &j->own, &box[m], nv, x, j->grid->size_local, ghost, y, j->cells, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of vectors on the owned box with the cells around it; to is an array of the work space. later: the cells around it are on their way when
   this returns. */
static PetscErrorCode TYPED(StrataJacobiEmbed)(StrataJacobi j, PetscMemType type, int nv, const PetscScalar *x, StrataArray *to, PetscBool later)
{
  const StrataBox whole = {{0, 0, 0}, {j->n[0], j->n[1], j->n[2]}};
  StrataGhost     ghost[STRATA_DIRECTIONS];
  REAL           *y;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(ghost, sizeof(ghost)));
  if (j->frame) PetscCall(StrataHaloBegin(j->frame, x, sizeof(PetscScalar), nv, j->grid->size_local, type));
  if (j->frame && !later) PetscCall(StrataHaloEnd(j->frame, ghost));
  PetscCall(StrataArrayWrite(to, type, &y));
  PetscCall(TYPED(StrataJacobiEmbedBoxes)(j, type, 1, later ? &j->own : &whole, nv, x, ghost, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if STRATA_HAVE_CUDA
/* The kernel for passes one by one (cycles 0) or for so many cycles at once */
static PetscErrorCode TYPED(StrataJacobiChoose)(StrataJacobi j, const TYPED(StrataSystem) *s, const StrataTiling *t, int cycles,
                                                StrataCycleKernel *kernel)
{
  const StrataCycleKernel asked = (StrataCycleKernel)j->kernel;
  StrataJacobiChoice     *c = j->choice;
  char                    words[sizeof(j->words)];

  PetscFunctionBegin;
  while (c->sweeps && (c->sweeps != t->sweeps || c->cycles != cycles) && c < j->choice + STRATA_JACOBI_CHOICES - 1) c++;
  if (c->sweeps != t->sweeps || c->cycles != cycles) {
    c->kernel = TYPED(StrataCycleKernelCUDA)(s, t, asked, cycles, &j->own, words, sizeof(words));
    c->sweeps = t->sweeps;
    c->cycles = cycles;
    if (!j->words[0] && (!cycles || c->kernel == STRATA_KERNEL_PERSISTENT || asked == STRATA_KERNEL_PERSISTENT))
      PetscCall(PetscStrncpy(j->words, words, sizeof(j->words)));
    PetscCheck(cycles || c->kernel != STRATA_KERNEL_AUTO, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "No kernel can sweep these tiles: %s", words);
  }
  *kernel = c->kernel;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TYPED(StrataJacobiWork)(StrataJacobi j, ptrdiff_t numbers, REAL **work)
{
  PetscFunctionBegin;
  if (j->work.bytes < numbers * sizeof(REAL)) {
    PetscCall(StrataArrayDestroy(&j->work));
    PetscCall(StrataArrayCreate(&j->work, numbers * sizeof(REAL)));
  }
  PetscCall(StrataArrayWrite(&j->work, PETSC_MEMTYPE_DEVICE, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All cycles at once, if there is a kernel for that and if it is the one that is taken. x NULL: from zero; it is of one vector. */
static PetscErrorCode TYPED(StrataJacobiRun)(StrataJacobi j, PetscBool transpose, PetscMemType type, PetscInt first, PetscInt cycles, int nv,
                                             const REAL *b, const REAL *x, REAL *y, REAL *change, PetscBool *done)
{
  const PetscInt      k = j->subiterations;
  StrataTiling        t = j->tiling;
  TYPED(StrataSystem) s;
  const REAL         *weight = NULL;
  REAL               *work, *zero;
  StrataCycleKernel   kernel;
  void               *stream;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (!PetscMemTypeDevice(type) || j->frame || !j->grid->size_local || cycles > PETSC_MPI_INT_MAX / k || (transpose && j->period > 1) ||
      (j->kernel != HJACOBI_KERNEL_AUTO && j->kernel != HJACOBI_KERNEL_PERSISTENT))
    PetscFunctionReturn(PETSC_SUCCESS);
  t.sweeps = (int)k;
  for (PetscInt a = 0; a < j->grid->dim && j->exact; a++) { /* in one pass, whatever the tiles */
    t.overlap[a] = 2 * (int)(k - 1);
    t.tile[a] = PetscMax(t.tile[a], t.overlap[a] + 1);
  }
  PetscCall(TYPED(StrataJacobiSystem)(j, &j->rows[transpose ? 1 : 0], type, &s));
  PetscCall(TYPED(StrataJacobiChoose)(j, &s, &t, (int)cycles, &kernel));
  if (kernel != STRATA_KERNEL_PERSISTENT) PetscFunctionReturn(PETSC_SUCCESS);
  if (j->weights.bytes) PetscCall(StrataArrayRead(&j->weights, type, &weight));
  PetscCall(StrataGetStream(type, &stream));
  if (!x) {
    PetscCall(StrataArrayWrite(&j->array[1], type, &zero));
    StrataCallCUDA(StrataCUDAMemset(zero, 0, j->cells * sizeof(REAL), stream));
    x = zero;
  }
  PetscCall(TYPED(StrataJacobiWork)(j, TYPED(StrataCyclesWorkCUDA)(&s), &work));
  for (int v = 0; v < nv; v++) /* several begin with zero */
    StrataCallCUDA(TYPED(StrataCyclesCUDA)(&s, &t, (int)cycles, weight, (int)(first % j->period * k), (int)(j->period * k), b + v * j->cells, x,
                                           y + v * j->cells, change, work, stream));
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* One pass on a box: y = x after the sweeps of the tiling, weights from sweep `first` of the period on. change: of one vector only */
static PetscErrorCode TYPED(StrataJacobiPass)(StrataJacobi j, StrataJacobiRows *rows, PetscMemType type, const StrataTiling *t, const StrataBox *box,
                                              PetscInt first, int nv, const REAL *b, const REAL *x, REAL *y, REAL *change)
{
  TYPED(StrataSystem) s;
  const REAL         *weight = NULL;
  REAL               *work = NULL;
  void               *stream;

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
    StrataCycleKernel kernel;
    ptrdiff_t         numbers;

    PetscCall(TYPED(StrataJacobiChoose)(j, &s, t, 0, &kernel));
    numbers = TYPED(StrataCycleWorkCUDA)(&s, t, kernel, box);
    PetscCall(TYPED(StrataJacobiWork)(j, numbers, &work));
    for (int v = 0; v < nv; v++)
      StrataCallCUDA(TYPED(StrataCycleCUDA)(&s, t, kernel, box, weight, b + v * j->cells, x + v * j->cells, y + v * j->cells, change, work, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  (void)work;
  PetscCheck(!TYPED(StrataCycleFastHost)(&s, t, nv, j->cells, box, weight, b, x, y, change), PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for tiles");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One pass on the owned box, whose frames are fetched from the other ranks: the inner part of the box is swept while they travel. from: the arrays of
   the vectors x, in which the owned box is there already if `there`. boxes: into how many the box was cut, each with a largest change of its own. */
static PetscErrorCode TYPED(StrataJacobiFetchingPass)(StrataJacobi j, StrataJacobiRows *rows, PetscMemType type, const StrataTiling *t,
                                                      PetscInt first, int nv, const REAL *b, const PetscScalar *x, PetscBool there, REAL *from,
                                                      REAL *y, REAL *change, int *boxes)
{
  const StrataBox whole = {{0, 0, 0}, {j->n[0], j->n[1], j->n[2]}};
  StrataGhost     ghost[STRATA_DIRECTIONS];
  StrataBox       inner, frame[STRATA_LEGS], rim[STRATA_LEGS];
  int             frames = 1, rims = 1, m;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(ghost, sizeof(ghost)));
  *boxes = 0;
  frame[0] = whole;
  rim[0] = j->own;
  PetscCall(StrataHaloBegin(j->frame, x, sizeof(PetscScalar), nv, j->grid->size_local, type));
  StrataJacobiInner(j, t->sweeps, &inner);
  if (strata_box_size(&inner)) {
    j->inside = PETSC_TRUE;
    if (!there) PetscCall(TYPED(StrataJacobiEmbedBoxes)(j, type, 1, &j->own, nv, x, ghost, from));
    PetscCall(TYPED(StrataJacobiPass)(j, rows, type, t, &inner, first, nv, b, from, y, change ? change + (*boxes)++ : NULL));
    frames = StrataJacobiShell(&whole, &j->own, frame);
    rims = StrataJacobiShell(&j->own, &inner, rim);
  }
  PetscCall(StrataHaloEnd(j->frame, ghost));
  PetscCall(TYPED(StrataJacobiEmbedBoxes)(j, type, frames, frame, nv, x, ghost, from));
  for (m = 0; m < rims; m++)
    PetscCall(TYPED(StrataJacobiPass)(j, rows, type, t, &rim[m], first, nv, b, from, y, change ? change + (*boxes)++ : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first pass, with frames of the right-hand sides on their way: the inner part of the box is swept meanwhile */
static PetscErrorCode TYPED(StrataJacobiFirstPass)(StrataJacobi j, StrataJacobiRows *rows, PetscMemType type, const StrataTiling *t, PetscInt first,
                                                   int nv, const REAL *x, REAL *y, REAL *change, int *boxes)
{
  const StrataBox    whole = {{0, 0, 0}, {j->n[0], j->n[1], j->n[2]}};
  const PetscScalar *own;
  StrataGhost        ghost[STRATA_DIRECTIONS];
  StrataBox          inner, frame[STRATA_LEGS], rim[STRATA_LEGS];
  REAL              *b;
  int                frames, rims, m;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(ghost, sizeof(ghost)));
  PetscCall(StrataArrayRead(&j->vector, type, &own));
  PetscCall(StrataArrayUpdate(&j->b, type, &b));
  *boxes = 0;
  j->inside = PETSC_TRUE;
  StrataJacobiInner(j, t->sweeps, &inner);
  PetscCall(TYPED(StrataJacobiPass)(j, rows, type, t, &inner, first, nv, b, x, y, change ? change + (*boxes)++ : NULL));
  frames = StrataJacobiShell(&whole, &j->own, frame);
  rims = StrataJacobiShell(&j->own, &inner, rim);
  PetscCall(StrataHaloEnd(j->frame, ghost));
  j->travels = PETSC_FALSE;
  PetscCall(TYPED(StrataJacobiEmbedBoxes)(j, type, frames, frame, nv, own, ghost, b));
  for (m = 0; m < rims; m++) PetscCall(TYPED(StrataJacobiPass)(j, rows, type, t, &rim[m], first, nv, b, x, y, change ? change + (*boxes)++ : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The passes of some cycles of nv vectors. x NULL: from zero. `direct`: the result of the last pass goes to that array, else it is left in array[] and
   *result points to it. The largest change of one vector is read into *change, or *stays says where it is, of this rank, in the memory of the arrays. */
static PetscErrorCode TYPED(StrataJacobiPasses)(StrataJacobi j, PetscBool transpose, PetscMemType type, PetscInt first, PetscInt cycles, int nv,
                                                const PetscScalar *x, REAL *direct, REAL **result, PetscReal *change, const REAL **stays)
{
  StrataJacobiRows *rows = &j->rows[transpose ? 1 : 0];
  const PetscInt    k = j->subiterations, most = StrataJacobiMost(j, type), passes = (k + most - 1) / most, total = passes * cycles;
  const REAL       *b, *from = NULL;
  REAL             *to, *last = NULL;
  void             *stream;
  int               boxes = 1;
  PetscBool         done = PETSC_FALSE;
  PetscInt          p;

  PetscFunctionBegin;
  PetscCall(StrataGetStream(type, &stream));
  PetscCall(StrataArrayRead(&j->b, type, &b));
  if (change || stays) PetscCall(StrataArrayWrite(&j->change, type, &last));
#if STRATA_HAVE_CUDA
  if (direct)
    to = direct;
  else
    PetscCall(StrataArrayWrite(&j->array[0], type, &to));
  PetscCall(TYPED(StrataJacobiRun)(j, transpose, type, first, cycles, nv, b, direct ? (const REAL *)x : NULL, to, last, &done));
  if (done) from = to;
#endif
  for (p = 0; p < total && !done; p++) {
    const PetscInt  cycle = first + (transpose ? cycles - 1 - p / passes : p / passes), done = p % passes * most;
    const PetscBool final = p + 1 == total ? PETSC_TRUE : PETSC_FALSE;
    StrataTiling    t = j->tiling;
    StrataArray    *into = &j->array[(total - 1 - p) % 2], *start = &j->array[(total - p) % 2]; /* the last goes to array[0] */
    REAL           *values = NULL;                                                              /* of the array that frames are fetched for */
    PetscScalar    *own = NULL;                                                                 /* its vector */

    t.sweeps = (int)PetscMin(most, k - done);
    if (direct && (total - 1 - p) % 2 == 0)
      to = direct;
    else
      PetscCall(StrataArrayWrite(into, type, &to));
    if (p == 0) {
      if (x && direct)
        from = (const REAL *)x;
      else if (x)
        PetscCall(StrataArrayWrite(start, type, &values));
#if STRATA_HAVE_CUDA
      else if (j->cells && PetscMemTypeDevice(type)) { /* kernels on the host know it */
        REAL *zero;

        if (direct && to != direct)
          zero = direct;
        else
          PetscCall(StrataArrayWrite(start, type, &zero));
        StrataCallCUDA(StrataCUDAMemset(zero, 0, nv * j->cells * sizeof(REAL), stream));
        from = zero;
      }
#endif
    }
    if (p && j->frame) {
      PetscCall(StrataArrayUpdate(start, type, &values));
      PetscCall(StrataArrayWrite(&j->vector, type, &own));
      if (j->grid->size_local)
        StrataDispatch(type, TYPED(StrataUnembedHost)(j->n, &j->own, nv, values, j->cells, NULL, NULL, own, j->grid->size_local),
                       TYPED(StrataUnembedCUDA)(j->n, &j->own, nv, values, j->cells, NULL, NULL, own, j->grid->size_local, stream));
    }
    if (j->frame && (p || x))
      PetscCall(TYPED(StrataJacobiFetchingPass)(j, rows, type, &t, cycle % j->period * k + done, nv, b, p ? own : x, p ? PETSC_TRUE : PETSC_FALSE,
                                                values, to, final ? last : NULL, &boxes));
    else if (j->travels)
      PetscCall(TYPED(StrataJacobiFirstPass)(j, rows, type, &t, cycle % j->period * k + done, nv, from, to, final ? last : NULL, &boxes));
    else
      PetscCall(TYPED(StrataJacobiPass)(j, rows, type, &t, &j->own, cycle % j->period * k + done, nv, b, from, to, final ? last : NULL));
    from = to;
  }
  if (result) *result = (REAL *)from;
  if (stays) *stays = last;
  if (change) {
    const REAL *c;

    *change = 0;
    if (j->grid->size_local) {
      PetscCall(StrataArrayRead(&j->change, PETSC_MEMTYPE_HOST, &c));
      for (int m = 0; m < boxes; m++)
        if (c[m] > *change || c[m] != c[m]) *change = (PetscReal)c[m];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The transpose of a cycle, on the host; x and b are added to */
static PetscErrorCode TYPED(StrataJacobiAdjointCycle)(StrataJacobi j, PetscInt cycle, const PetscScalar *y, PetscScalar *x, PetscScalar *b)
{
  TYPED(StrataSystem) s;
  const REAL         *weight = NULL;

  PetscFunctionBegin;
  PetscCall(TYPED(StrataJacobiSystem)(j, &j->rows[0], PETSC_MEMTYPE_HOST, &s));
  if (j->weights.bytes) {
    PetscCall(StrataArrayRead(&j->weights, PETSC_MEMTYPE_HOST, &weight));
    weight += cycle % j->period * j->subiterations;
  }
  PetscCheck(!TYPED(StrataCycleAdjointHost)(&s, &j->tiling, &j->own, weight, y, x, b), PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for tiles");
  PetscFunctionReturn(PETSC_SUCCESS);
}
