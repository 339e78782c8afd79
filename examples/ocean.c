static char help[] =
    "Heat diffuses through the real oceans: implicit time steps with land, a periodic direction, and mixing of very different strength.\n\
See README.md in this folder.\n";

#include "climatology.h"
#include "common.h"

#define RADIUS  6.371e6 /* of the Earth, m */
#define RADIANS (PETSC_PI / 180)
#define DAYS    86400.0

/*
   A step dt of dT/dt = div(K grad T) by backward Euler and finite volumes is the linear system

     (V + dt L) T_new = V T_old

   with the volumes V of the cells, and (L T) of a cell = sum over its faces of conductance (T - T of the neighbour). No heat leaves the water.
   Water mixes along the surface with kh, downwards with kv, and with kconv between two cells of which the upper one is denser.
*/
typedef struct {
  PetscReal   dt;            /* days */
  PetscReal   kh, kv, kconv; /* m^2/s */
  PetscInt    steps, refine; /* each cell of the data is made refine x refine cells */
  char        file[PETSC_MAX_PATH_LEN];
  Climatology data;
  PetscInt    n[3];                 /* cells along longitude, latitude and depth */
  PetscReal  *longitude, *latitude; /* edges of the cells, degrees */
} Ocean;

static PetscErrorCode OceanSetFromOptions(Ocean *o)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(o, sizeof(*o)));
  o->dt = 30;
  o->kh = 1000;
  o->kv = 1e-4;
  o->kconv = 1;
  o->steps = 1;
  o->refine = 1;
  PetscCall(ClimatologyFind(o->file, sizeof(o->file)));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Options of the ocean problem", NULL);
  PetscCall(PetscOptionsReal("-dt", "Length of a step, days", NULL, o->dt, &o->dt, NULL));
  PetscCall(PetscOptionsReal("-kh", "Horizontal diffusivity, m^2/s", NULL, o->kh, &o->kh, NULL));
  PetscCall(PetscOptionsReal("-kv", "Vertical diffusivity, m^2/s", NULL, o->kv, &o->kv, NULL));
  PetscCall(PetscOptionsReal("-kconv", "Vertical diffusivity where the water is unstable, m^2/s", NULL, o->kconv, &o->kconv, NULL));
  PetscCall(PetscOptionsInt("-steps", "Steps", NULL, o->steps, &o->steps, NULL));
  PetscCall(PetscOptionsInt("-refine", "Cells along each side of a cell of the data", NULL, o->refine, &o->refine, NULL));
  PetscCall(PetscOptionsString("-file", "File with the data, made by levitus.py", NULL, o->file, o->file, sizeof(o->file), NULL));
  PetscOptionsEnd();
  PetscCheck(o->dt > 0 && o->kh >= 0 && o->kv >= 0 && o->kconv >= 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-dt %g must be positive, -kh %g, -kv %g and -kconv %g must not be negative", (double)o->dt, (double)o->kh, (double)o->kv,
             (double)o->kconv);
  PetscCheck(o->steps > 0 && o->refine > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-steps %" PetscInt_FMT " and -refine %" PetscInt_FMT " must be at least 1", o->steps, o->refine);
  PetscFunctionReturn(0);
}

/* Reads the data. Longitude is periodic if they go all the way around. The process grid must not cut columns, which lie along z. */
static PetscErrorCode CreateGrid(Ocean *o, DM *dm)
{
  PetscReal cells;

  PetscFunctionBeginUser;
  PetscCall(ClimatologyRead(o->file, &o->data));
  cells = PetscSqr((PetscReal)o->refine) * (PetscReal)o->data.nx * (PetscReal)o->data.ny * (PetscReal)o->data.nz;
  PetscCheck(cells < (PetscReal)PETSC_MAX_INT, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-refine %" PetscInt_FMT " makes %g cells, more than this PETSc can count: configure it --with-64-bit-indices", o->refine,
             (double)cells);
  PetscCall(ClimatologyRefine(o->data.nx, o->data.longitude, o->refine, &o->longitude));
  PetscCall(ClimatologyRefine(o->data.ny, o->data.latitude, o->refine, &o->latitude));
  o->n[0] = o->data.nx * o->refine;
  o->n[1] = o->data.ny * o->refine;
  o->n[2] = o->data.nz;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, o->data.periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                         DMDA_STENCIL_STAR, o->n[0], o->n[1], o->n[2], PETSC_DECIDE, PETSC_DECIDE, 1, 1, 1, NULL, NULL, NULL, dm));
  PetscCall(DMSetFromOptions(*dm)); /* -dm_vec_type cuda puts all vectors, and the work on them, on the GPU */
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(0);
}

/* The fields on the grid */
typedef struct {
  Vec        land;          /* 1 on land, 0 in the water */
  Vec        temperature;   /* 0 on land */
  Vec        volume;        /* of the cells */
  Vec        faces[3];      /* along each axis: minus the conductance between a cell and the one before, times the step */
  PetscInt64 wet, unstable; /* cells of water, and faces between two where the upper one is denser */
} Fields;

/* Each rank fills in its cells. Faces at land and at the sides of the grid need no care, the operator leaves them out. */
static PetscErrorCode CreateFields(const Ocean *o, DM dm, Fields *f)
{
  const Climatology    *d = &o->data;
  const PetscReal      *lambda = o->longitude, *phi = o->latitude, dt = o->dt * DAYS;
  Vec *const            vecs[] = {&f->land, &f->temperature, &f->volume, &f->faces[0], &f->faces[1], &f->faces[2]};
  PetscScalar        ***land, ***temperature, ***volume, ***west, ***south, ***up;
  PetscScalar ****const arrays[] = {&land, &temperature, &volume, &west, &south, &up};
  PetscInt              lo[3], n[3];

  PetscFunctionBeginUser;
  f->wet = f->unstable = 0;
  for (int v = 0; v < 6; v++) {
    PetscCall(DMCreateGlobalVector(dm, vecs[v]));
    PetscCall(DMDAVecGetArrayWrite(dm, *vecs[v], arrays[v]));
  }
  PetscCall(DMDAGetCorners(dm, &lo[0], &lo[1], &lo[2], &n[0], &n[1], &n[2]));
  for (PetscInt k = lo[2]; k < lo[2] + n[2]; k++)
    for (PetscInt j = lo[1]; j < lo[1] + n[1]; j++) {
      const PetscReal sin_south = PetscSinReal(RADIANS * phi[j]), sin_north = PetscSinReal(RADIANS * phi[j + 1]);
      const PetscReal cos_south = PetscCosReal(RADIANS * phi[j]), cos_middle = PetscCosReal(RADIANS * (phi[j] + phi[j + 1]) / 2);
      const PetscReal dz = d->depth[k + 1] - d->depth[k], dphi = phi[j + 1] - phi[j];
      const PetscReal to_south = j ? (phi[j + 1] - phi[j - 1]) / 2 : dphi, to_above = k ? d->level[k] - d->level[k - 1] : dz; /* middle to middle */

      for (PetscInt i = lo[0]; i < lo[0] + n[0]; i++) {
        const PetscInt  before = i ? i - 1 : o->n[0] - 1, layer = d->nx * d->ny, cell = layer * k + d->nx * (j / o->refine) + i / o->refine;
        const PetscReal dlambda = lambda[i + 1] - lambda[i], to_west = (dlambda + lambda[before + 1] - lambda[before]) / 2;
        const PetscReal area = RADIUS * RADIUS * RADIANS * dlambda * (sin_north - sin_south);
        const PetscBool dry = PetscIsNanReal(d->temperature[cell]);
        const PetscBool mixed = k ? ClimatologyUnstable(d, cell - layer, cell) : PETSC_FALSE;

        land[k][j][i] = dry ? 1 : 0;
        temperature[k][j][i] = dry ? 0 : d->temperature[cell];
        volume[k][j][i] = area * dz;
        west[k][j][i] = -dt * o->kh * dz * dphi / (cos_middle * to_west);
        south[k][j][i] = -dt * o->kh * dz * cos_south * dlambda / to_south;
        up[k][j][i] = -dt * (mixed ? o->kconv : o->kv) * area / to_above;
        if (!dry) f->wet++;
        if (mixed) f->unstable++;
      }
    }
  for (int v = 0; v < 6; v++) PetscCall(DMDAVecRestoreArrayWrite(dm, *vecs[v], arrays[v]));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &f->wet, 1, MPIU_INT64, MPI_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &f->unstable, 1, MPIU_INT64, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* Symmetric, so one number for each face is enough. The sum of a row, what is left when the fluxes cancel, is the volume of the cell. */
static PetscErrorCode CreateOperator(DM dm, Fields *f, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateStrata(dm, A));
  PetscCall(MatStrataSetMask(*A, f->land));
  PetscCall(MatStrataSetFaces(*A, f->volume, f->faces));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  for (int a = 0; a < 3; a++) PetscCall(VecDestroy(&f->faces[a])); /* the operator has its own copy */
  PetscFunctionReturn(0);
}

/* CG with the column preconditioner, until the residual is 1e-8 of the right-hand side; all of it can be changed by PETSc's options */
static PetscErrorCode CreateSolver(DM dm, Mat A, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetInitialGuessNonzero(*ksp, PETSC_TRUE));                                /* the old temperature */
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_MAX_REAL, PETSC_DEFAULT)); /* long steps begin with huge residuals, at the poles */
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetDM(pc, dm)); /* the column preconditioner asks the operator for the grid, others (multigrid) ask the PC */
  PetscCall(PCSetType(pc, PCCOLUMN));
  PetscCall(PCColumnSetAxis(pc, 2));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

/*
   Checks what diffusion must do, as exactly as the residual r = b - A x of the solver allows:
   - Heat is conserved. Fluxes cancel in the sum over all cells, so the heat gained is minus the sum of r, but for rounding.
   - No temperature is above the highest or below the lowest one before, but for an error of the solver of at most max |r| / V.
   - Land is left alone.
*/
static PetscErrorCode CheckStep(const Fields *f, Mat A, Vec b, Vec old, PetscBool *good)
{
  const PetscScalar *land, *before, *after, *residual, *volume;
  long double        heat_before = 0, heat_after = 0, heat_residual = 0, heat_all = 0;
  PetscReal          lowest[2] = {PETSC_MAX_REAL, PETSC_MAX_REAL}, highest[2] = {PETSC_MIN_REAL, PETSC_MIN_REAL}, error = 0, moved = 0;
  PetscBool          conserved, bounded, untouched;
  PetscInt           n;
  Vec                r;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatResidual(A, b, f->temperature, r));
  PetscCall(VecGetLocalSize(r, &n));
  PetscCall(VecGetArrayRead(f->land, &land));
  PetscCall(VecGetArrayRead(f->volume, &volume));
  PetscCall(VecGetArrayRead(f->temperature, &after));
  PetscCall(VecGetArrayRead(old, &before));
  PetscCall(VecGetArrayRead(r, &residual));
  for (PetscInt i = 0; i < n; i++) {
    if (land[i] != 0) {
      moved = PetscMax(moved, PetscAbsReal(after[i]));
      continue;
    }
    heat_before += (long double)volume[i] * before[i];
    heat_after += (long double)volume[i] * after[i];
    heat_residual += residual[i];
    heat_all += (long double)volume[i] * PetscAbsReal(before[i]);
    lowest[0] = PetscMin(lowest[0], before[i]);
    lowest[1] = PetscMin(lowest[1], after[i]);
    highest[0] = PetscMax(highest[0], before[i]);
    highest[1] = PetscMax(highest[1], after[i]);
    error = PetscMax(error, PetscAbsReal(residual[i]) / volume[i]);
  }
  PetscCall(VecRestoreArrayRead(f->land, &land));
  PetscCall(VecRestoreArrayRead(f->volume, &volume));
  PetscCall(VecRestoreArrayRead(f->temperature, &after));
  PetscCall(VecRestoreArrayRead(old, &before));
  PetscCall(VecRestoreArrayRead(r, &residual));
  PetscCall(VecDestroy(&r));
  {
    PetscReal sum[4] = {(PetscReal)heat_before, (PetscReal)heat_after, (PetscReal)(heat_after - heat_before + heat_residual), (PetscReal)heat_all};
    PetscReal most[6] = {-lowest[0], -lowest[1], highest[0], highest[1], error, moved};

    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 4, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 6, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
    conserved = PetscAbsReal(sum[2]) <= 1e-12 * sum[3] ? PETSC_TRUE : PETSC_FALSE;
    bounded = PetscMax(most[1] - most[0], most[3] - most[2]) <= most[4] + 1e-12 * PetscMax(PetscAbsReal(most[0]), PetscAbsReal(most[2]))
                  ? PETSC_TRUE
                  : PETSC_FALSE;
    untouched = most[5] == 0 ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  heat %.10e before, %.10e after, %.1e of it gained beside the residual of the solver: %s\n",
                          (double)sum[0], (double)sum[1], (double)(sum[2] / sum[3]), conserved ? "conserved" : "NOT CONSERVED"));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  water of %.4f to %.4f degrees before, %.4f to %.4f after, error below %.1e: %s\n", (double)-most[0],
                          (double)most[2], (double)-most[1], (double)most[3], (double)most[4], bounded ? "no new extremes" : "NEW EXTREMES"));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  land: %s\n", untouched ? "untouched" : "TOUCHED"));
  }
  if (!conserved || !bounded || !untouched) *good = PETSC_FALSE;
  PetscFunctionReturn(0);
}

/* Writes the temperature, and where there is land; examples/plot.py draws them */
static PetscErrorCode WriteFields(const Ocean *o, DM dm, const Fields *f, const char file[])
{
  const char *const      names[] = {"temperature", "land"};
  const Vec              fields[] = {f->temperature, f->land};
  const PetscReal *const edges[] = {o->longitude, o->latitude, o->data.depth};

  PetscFunctionBeginUser;
  PetscCall(StrataWriteFields(dm, file, 2, fields, names, edges));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Wrote %s\n", file));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Example   example;
  Ocean     o;
  Fields    f;
  PetscBool good = PETSC_TRUE;
  DM        dm;
  Mat       A;
  KSP       ksp;
  Vec       b, old;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(StrataInitializePackage());
  PetscCall(ExampleSetFromOptions(&example));
  PetscCall(OceanSetFromOptions(&o));
  PetscCall(CreateGrid(&o, &dm));
  PetscCall(CreateFields(&o, dm, &f));
  PetscCall(CreateOperator(dm, &f, &A));
  PetscCall(ExampleAssemble(&example, dm, &A));
  PetscCall(CreateSolver(dm, A, &ksp));
  PetscCall(VecDuplicate(f.volume, &b));
  PetscCall(VecDuplicate(f.volume, &old));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "Ocean of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " cells, %" PetscInt64_FMT " of them wet, %" PetscInt64_FMT
                        " unstable faces\n",
                        o.n[0], o.n[1], o.n[2], f.wet, f.unstable));
  for (PetscInt step = 1; step <= o.steps && example.reason >= 0; step++) { /* a step that failed is none to go on from */
    PetscCall(VecCopy(f.temperature, old));
    PetscCall(VecPointwiseMult(b, f.volume, old));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Step %" PetscInt_FMT " of %.4g days. ", step, (double)o.dt));
    PetscCall(ExampleSolve(&example, ksp, b, f.temperature));
    PetscCall(CheckStep(&f, A, b, old, &good));
  }
  if (example.output[0]) PetscCall(WriteFields(&o, dm, &f, example.output));
  PetscCall(ExamplePrintResult(&example, ksp, b, f.temperature, f.land));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&old));
  PetscCall(VecDestroy(&f.land));
  PetscCall(VecDestroy(&f.temperature));
  PetscCall(VecDestroy(&f.volume));
  PetscCall(DMDestroy(&dm));
  PetscCall(ClimatologyDestroy(&o.data));
  PetscCall(PetscFree(o.longitude));
  PetscCall(PetscFree(o.latitude));
  PetscCall(PetscFinalize());
  return good && example.reason > 0 ? 0 : 1;
}
