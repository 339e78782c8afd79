/* Included by cgupdownimpl.h for each precision */

/* Operator and vectors; of r and p an old and a new one, and what the passes leave for each other. Right-hand sides follow each other in all but
   start. */
typedef struct {
  TYPED(StrataCGColumns) problem; /* without its numbers */
  StrataArray            level, column;
  StrataArray            r[2], p[2], x, start, F, z, work;
} TYPED(StrataCGSpace);

/* For operator numbers on the host; in words why, where the passes cannot be had */
PETSC_INTERN PetscErrorCode TYPED(StrataCGSpaceSetUp)(TYPED(StrataCGSpace) *, const TYPED(StrataLines) *, int vectors, const char **whynot);
PETSC_INTERN PetscErrorCode TYPED(StrataCGSpaceDestroy)(TYPED(StrataCGSpace) *);
PETSC_INTERN PetscErrorCode TYPED(StrataCGSpaceGet)(TYPED(StrataCGSpace) *, TYPED(StrataCGColumns) *, void **stream);
/* z and the sums of one right-hand side from its r, start and F */
PETSC_INTERN PetscErrorCode TYPED(StrataCGSpaceBegin)(TYPED(StrataCGSpace) *, int vector, StrataCG_d *numbers);
/* Steps of all right-hand sides but those that are done; room: of the history of each */
PETSC_INTERN PetscErrorCode TYPED(StrataCGSpaceSteps)(TYPED(StrataCGSpace) *, StrataCGStand, PetscInt steps, StrataCG_d *numbers, PetscInt room,
                                                      PetscReal (*history)[STRATA_CG_SUMS]);
