/*
   The observed temperature and salinity of the oceans, from a file that levitus.py has made, and the cells of its grid, refined or not
*/
#ifndef EXAMPLES_CLIMATOLOGY_H
#define EXAMPLES_CLIMATOLOGY_H

#include <strata.h>

typedef struct {
  PetscInt   nx, ny, nz;             /* cells, x to the east, y to the north, z downwards */
  PetscBool  periodic;               /* all the way around the Earth */
  PetscReal *longitude, *latitude;   /* edges of the cells, degrees */
  PetscReal *depth, *level;          /* edges of the cells, and where the values belong, m */
  PetscReal *temperature, *salinity; /* x fastest, not a number on land */
} Climatology;

/* Where make puts the file: for the program build/NAME/examples/ocean it is build/demo/levitus.h5 */
static PetscErrorCode ClimatologyFind(char file[], size_t length)
{
  char  program[PETSC_MAX_PATH_LEN];
  char *name;

  PetscFunctionBeginUser;
  PetscCall(PetscGetProgramName(program, sizeof(program)));
  PetscCall(PetscStrrchr(program, '/', &name)); /* what follows the last slash, or all */
  *name = 0;
  PetscCall(PetscSNPrintf(file, length, "%s%s", program, program[0] ? "../../demo/levitus.h5" : "build/demo/levitus.h5"));
  PetscFunctionReturn(0);
}

/* Reads numbers that increase, as many as there are, or n of them if that is not negative */
static PetscErrorCode ReadIncreasing(const char file[], const char name[], PetscInt *n, PetscReal *values[])
{
  PetscFunctionBeginUser;
  PetscCall(StrataReadArray(PETSC_COMM_WORLD, file, name, 1, n, values));
  for (PetscInt i = 0; i < *n; i++)
    PetscCheck(!PetscIsInfOrNanReal((*values)[i]), PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "Dataset %s of file %s holds %g", name, file,
               (double)(*values)[i]);
  for (PetscInt i = 1; i < *n; i++)
    PetscCheck((*values)[i] > (*values)[i - 1], PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "Dataset %s of file %s must increase, but %g follows %g",
               name, file, (double)(*values)[i], (double)(*values)[i - 1]);
  PetscFunctionReturn(0);
}

/* Refuses numbers that cannot be those of an ocean */
static PetscErrorCode ClimatologyCheck(const char file[], const Climatology *c)
{
  PetscInt wet = 0;

  PetscFunctionBeginUser;
  PetscCheck(c->longitude[c->nx] - c->longitude[0] < 360 + 1e-6, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED,
             "Dataset longitude of file %s goes from %g to %g degrees, more than once around the Earth", file, (double)c->longitude[0],
             (double)c->longitude[c->nx]);
  PetscCheck(c->latitude[0] > -90 - 1e-6 && c->latitude[c->ny] < 90 + 1e-6, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED,
             "Dataset latitude of file %s goes from %g to %g degrees, beyond the poles", file, (double)c->latitude[0], (double)c->latitude[c->ny]);
  for (PetscInt k = 0; k < c->nz; k++)
    PetscCheck(c->level[k] >= c->depth[k] && c->level[k] <= c->depth[k + 1], PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED,
               "Level %" PetscInt_FMT " of file %s is %g, not between the edges of its cells, %g and %g in dataset depth", k, file,
               (double)c->level[k], (double)c->depth[k], (double)c->depth[k + 1]);
  for (PetscInt i = 0; i < c->nx * c->ny * c->nz; i++) {
    if (PetscIsNanReal(c->temperature[i])) continue;
    wet++;
    PetscCheck(c->temperature[i] >= -273.15 && c->temperature[i] < 1000, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED,
               "Dataset temperature of file %s holds %g degrees Celsius: land is to be NaN", file, (double)c->temperature[i]);
    PetscCheck(PetscIsNanReal(c->salinity[i]) || (c->salinity[i] >= 0 && c->salinity[i] <= 1000), PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED,
               "Dataset salinity of file %s holds %g parts in a thousand: where it is unknown it is to be NaN", file, (double)c->salinity[i]);
  }
  PetscCheck(wet, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "There is no water in file %s: its dataset temperature is NaN everywhere", file);
  PetscFunctionReturn(0);
}

/* Reads the file. It is small beside fields on a refined grid: each rank keeps the whole, and needs nothing of its neighbours. */
static PetscErrorCode ClimatologyRead(const char file[], Climatology *c)
{
  PetscBool   found = PETSC_TRUE;
  PetscMPIInt rank, missing;
  PetscInt    edges[3] = {PETSC_DETERMINE, PETSC_DETERMINE, PETSC_DETERMINE}, shape[3];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) PetscCall(PetscTestFile(file, 'r', &found));
  missing = found ? 0 : 1;
  PetscCallMPI(MPI_Bcast(&missing, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCheck(!missing, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN,
             "There is no file %s with ocean data. Make it from Debian's package ferret-datasets with `examples/levitus.py %s`, or name another one "
             "with -file",
             file, file);
  PetscCall(ReadIncreasing(file, "longitude", &edges[0], &c->longitude));
  PetscCall(ReadIncreasing(file, "latitude", &edges[1], &c->latitude));
  PetscCall(ReadIncreasing(file, "depth", &edges[2], &c->depth));
  PetscCheck(edges[0] > 1 && edges[1] > 1 && edges[2] > 1, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED,
             "longitude, latitude and depth of file %s must hold the edges of at least one cell", file);
  c->nx = edges[0] - 1;
  c->ny = edges[1] - 1;
  c->nz = edges[2] - 1;
  PetscCall(ReadIncreasing(file, "level", &c->nz, &c->level));
  shape[0] = c->nz;
  shape[1] = c->ny;
  shape[2] = c->nx;
  PetscCall(StrataReadArray(PETSC_COMM_WORLD, file, "temperature", 3, shape, &c->temperature));
  PetscCall(StrataReadArray(PETSC_COMM_WORLD, file, "salinity", 3, shape, &c->salinity));
  PetscCall(ClimatologyCheck(file, c));
  c->periodic = PetscAbsReal(c->longitude[c->nx] - c->longitude[0] - 360) < 1e-6 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}

static PetscErrorCode ClimatologyDestroy(Climatology *c)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(c->longitude));
  PetscCall(PetscFree(c->latitude));
  PetscCall(PetscFree(c->depth));
  PetscCall(PetscFree(c->level));
  PetscCall(PetscFree(c->temperature));
  PetscCall(PetscFree(c->salinity));
  PetscFunctionReturn(0);
}

/* The edges when each cell is made `refine` cells; to be freed */
static PetscErrorCode ClimatologyRefine(PetscInt cells, const PetscReal edges[], PetscInt refine, PetscReal *refined[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(cells * refine + 1, refined));
  for (PetscInt i = 0; i < cells; i++)
    for (PetscInt part = 0; part < refine; part++)
      (*refined)[i * refine + part] = edges[i] + (edges[i + 1] - edges[i]) * (PetscReal)part / (PetscReal)refine;
  (*refined)[cells * refine] = edges[cells];
  PetscFunctionReturn(0);
}

/* Is the water of a cell denser than that of the cell below? Salt counts where it is known in both. */
static PetscBool ClimatologyUnstable(const Climatology *c, PetscInt cell, PetscInt below)
{
  const PetscReal salt = c->salinity[cell] - c->salinity[below];

  return -2e-4 * (c->temperature[cell] - c->temperature[below]) + (PetscIsNanReal(salt) ? 0 : 7.6e-4 * salt) > 0 ? PETSC_TRUE : PETSC_FALSE;
}

#endif
