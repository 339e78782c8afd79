/* Included by cgspace.c for each precision */

PetscErrorCode TYPED(StrataCGSpaceSetUp)(TYPED(StrataCGSpace) *s, const TYPED(StrataLines) *lines, int vectors, const char **whynot)
{
  TYPED(StrataCGColumns) *q = &s->problem;
  REAL                   *level, *column;

  PetscFunctionBegin;
  *q = TYPED(StrataCGColumnsPlan)(lines->coef.n);
  TYPED(StrataCGColumnsSetVectors)(q, vectors);
  PetscCall(StrataArrayCreate(&s->level, TYPED(StrataCGColumnsLevel)(q) * sizeof(REAL)));
  PetscCall(StrataArrayCreate(&s->column, TYPED(StrataCGColumnsColumn)(q) * sizeof(REAL)));
  PetscCall(StrataArrayWrite(&s->level, PETSC_MEMTYPE_HOST, &level));
  PetscCall(StrataArrayWrite(&s->column, PETSC_MEMTYPE_HOST, &column));
  if (!TYPED(StrataCGColumnsSetUpHost)(lines, q, level, column)) {
    *whynot = "columns that cannot be factored without division";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  {
    const size_t vector = vectors * TYPED(StrataCGColumnsVector)(q) * sizeof(REAL), chunks = TYPED(StrataCGColumnsChunks)(q) * sizeof(REAL);
    const size_t work = vectors * TYPED(StrataCGColumnsWork)(q) * sizeof(double);
    StrataArray *arrays[] = {&s->r[0], &s->r[1], &s->p[0], &s->p[1], &s->x, &s->start, &s->F, &s->z, &s->work};
    const size_t bytes[] = {vector, vector, vector, vector, vector, chunks, vectors * chunks, vectors * chunks, work};
    double      *zeros;

    for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(arrays); m++) PetscCall(StrataArrayCreate(arrays[m], bytes[m]));
    PetscCall(StrataArrayWrite(&s->work, PETSC_MEMTYPE_HOST, &zeros));
    PetscCall(PetscMemzero(zeros, work));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TYPED(StrataCGSpaceDestroy)(TYPED(StrataCGSpace) *s)
{
  StrataArray *arrays[] = {&s->level, &s->column, &s->r[0], &s->r[1], &s->p[0], &s->p[1], &s->x, &s->start, &s->F, &s->z, &s->work};

  PetscFunctionBegin;
  for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(arrays); m++) PetscCall(StrataArrayDestroy(arrays[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TYPED(StrataCGSpaceGet)(TYPED(StrataCGSpace) *s, TYPED(StrataCGColumns) *q, void **stream)
{
  PetscFunctionBegin;
  *q = s->problem;
  PetscCall(StrataArrayRead(&s->level, PETSC_MEMTYPE_DEVICE, &q->level));
  PetscCall(StrataArrayRead(&s->column, PETSC_MEMTYPE_DEVICE, &q->column));
  PetscCall(StrataGetStream(PETSC_MEMTYPE_DEVICE, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TYPED(StrataCGSpaceBegin)(TYPED(StrataCGSpace) *s, int vector, StrataCG_d *numbers)
{
  TYPED(StrataCGColumns) q;
  const REAL            *r, *start, *F;
  REAL                  *z;
  double                *work;
  void                  *stream;

  PetscFunctionBegin;
  PetscCall(TYPED(StrataCGSpaceGet)(s, &q, &stream));
  q.vectors = 1;
  PetscCall(StrataArrayRead(&s->r[0], PETSC_MEMTYPE_DEVICE, &r));
  PetscCall(StrataArrayRead(&s->start, PETSC_MEMTYPE_DEVICE, &start));
  PetscCall(StrataArrayRead(&s->F, PETSC_MEMTYPE_DEVICE, &F));
  PetscCall(StrataArrayWrite(&s->z, PETSC_MEMTYPE_DEVICE, &z));
  PetscCall(StrataArrayUpdate(&s->work, PETSC_MEMTYPE_DEVICE, &work));
  StrataCallCUDA(TYPED(StrataCGColumnsDownCUDA)(&q, numbers + vector, r + vector * TYPED(StrataCGColumnsVector)(&q), start,
                                                F + vector * TYPED(StrataCGColumnsChunks)(&q), z + vector * TYPED(StrataCGColumnsChunks)(&q),
                                                work + vector * TYPED(StrataCGColumnsWork)(&q), NULL, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TYPED(StrataCGSpaceSteps)(TYPED(StrataCGSpace) *s, StrataCGStand stand, PetscInt steps, StrataCG_d *numbers, PetscInt room,
                                         PetscReal (*history)[STRATA_CG_SUMS])
{
  TYPED(StrataCGColumns) q;
  REAL                  *r[2], *p[2], *x, *start, *F, *z;
  double                *work;
  void                  *stream;

  PetscFunctionBegin;
  PetscCall(TYPED(StrataCGSpaceGet)(s, &q, &stream));
  q.room = (int)room;
  for (int m = 0; m < 2; m++) {
    PetscCall(StrataArrayWrite(&s->r[m], PETSC_MEMTYPE_DEVICE, &r[m]));
    PetscCall(StrataArrayWrite(&s->p[m], PETSC_MEMTYPE_DEVICE, &p[m]));
  }
  PetscCall(StrataArrayUpdate(&s->x, PETSC_MEMTYPE_DEVICE, &x));
  PetscCall(StrataArrayUpdate(&s->start, PETSC_MEMTYPE_DEVICE, &start));
  PetscCall(StrataArrayUpdate(&s->F, PETSC_MEMTYPE_DEVICE, &F));
  PetscCall(StrataArrayUpdate(&s->z, PETSC_MEMTYPE_DEVICE, &z));
  PetscCall(StrataArrayUpdate(&s->work, PETSC_MEMTYPE_DEVICE, &work));
  for (PetscInt i = 0; i < steps; i++) {
    const int old = stand.now, next = 1 - old;

    StrataCallCUDA(TYPED(StrataCGColumnsUpCUDA)(&q, numbers, z, r[old], p[old], r[next], p[next], stand.owes ? x : NULL, F, stream));
    StrataCallCUDA(TYPED(StrataCGColumnsDownCUDA)(&q, numbers, r[next], start, F, z, work, history, stream));
    StrataCGStandMove(&stand, 1);
  }
  PetscCall(PetscLogGpuFlops(85.0 * q.columns * q.n[2] * q.vectors * steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}
