/*
   Settings of the sweep engine: options, setters, view
*/
#include "jacobiimpl.h"
#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>

const char *const HJacobiSchedules[] = {"constant", "chebyshev", "srj", "HJacobiSchedule", "HJACOBI_", NULL};
const char *const HJacobiKernels[] = {"auto", "classic", "shared", "register", "persistent", "HJacobiKernel", "HJACOBI_KERNEL_", NULL};
const char *const HJacobiPrecisions[] = {"same", "single", "HJacobiPrecision", "HJACOBI_PRECISION_", NULL};
const char *const HJacobiChecks[] = {"overlapped", "blocking", "HJacobiCheck", "HJACOBI_CHECK_", NULL};
const char *const HJacobiNorms[] = {"2", "infinity", "update", "HJacobiNorm", "HJACOBI_NORM_", NULL};

static PetscErrorCode StrataJacobiGet(PetscObject object, StrataJacobi *j);

/*
   StrataJacobiCreate - The engine of a KSP or PC. Its data begin with the engine.
*/
PetscErrorCode StrataJacobiCreate(PetscObject owner, const char prefix[], StrataJacobi *jacobi)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscCall(PetscNew(&j));
  j->owner = owner;
  j->prefix = prefix;
  j->subiterations = 2;
  j->noverlap = 1;
  j->overlap[0] = STRATA_EXACT;
  j->schedule = HJACOBI_CONSTANT;
  j->omega = 1;
  j->levels = 3;
  j->home = PETSC_MEMTYPE_HOST;
  j->failedrow = -1;
  j->wide = 32; /* the rim costs some percent more work than the whole box at once */
  j->state = -1;
  PetscCall(PetscObjectComposeFunction(owner, "StrataJacobiGet_C", StrataJacobiGet));
  *jacobi = j;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StrataJacobiGet(PetscObject object, StrataJacobi *j)
{
  PetscFunctionBegin;
  *j = *(StrataJacobi *)(object->classid == KSP_CLASSID ? ((KSP)object)->data : ((PC)object)->data);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiOf(PetscObject object, PetscBool needed, StrataJacobi *j)
{
  PetscErrorCode (*get)(PetscObject, StrataJacobi *) = NULL;

  PetscFunctionBegin;
  *j = NULL;
  PetscCall(PetscObjectQueryFunction(object, "StrataJacobiGet_C", &get));
  PetscCheck(get || !needed, PetscObjectComm(object), PETSC_ERR_SUP, "This is for the type %s, not for %s", KSPHJACOBI,
             object->type_name ? object->type_name : "an object without type");
  if (get) PetscCall((*get)(object, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- setters --------------------------------------------------------------------------------------------------------------------- */

/* What was found for other settings is forgotten; a PC is to be set up anew */
static PetscErrorCode StrataJacobiChanged(StrataJacobi j)
{
  PetscFunctionBegin;
  PetscCall(StrataJacobiReset(j));
  if (j->owner->classid == PC_CLASSID) ((PC)j->owner)->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiSetSubiterations(StrataJacobi j, PetscInt k)
{
  PetscFunctionBegin;
  PetscCheck(k >= 1 && k <= PETSC_MPI_INT_MAX / 4, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " sweeps a cycle: -%ssubiterations must be 1 or more, and at most %d", k, j->prefix, PETSC_MPI_INT_MAX / 4);
  if (k != j->subiterations) PetscCall(StrataJacobiChanged(j));
  j->subiterations = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiSetCycles(StrataJacobi j, PetscInt cycles)
{
  PetscFunctionBegin;
  PetscCheck(cycles >= 1, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " cycles: -%scycles must be 1 or more", cycles,
             j->prefix);
  if (cycles != j->cycles) PetscCall(StrataJacobiChanged(j));
  j->cycles = cycles;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is a list another than before? */
static PetscBool StrataJacobiDiffers(PetscInt n, const PetscInt list[], PetscInt before, const PetscInt old[])
{
  if (n != before) return PETSC_TRUE;
  for (PetscInt a = 0; a < n; a++)
    if (list[a] != old[a]) return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscErrorCode StrataJacobiSetTile(StrataJacobi j, PetscInt n, const PetscInt tile[])
{
  PetscInt a;

  PetscFunctionBegin;
  PetscCheck(n >= 0 && n <= 3, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE,
             "A tile has a width along 1, 2 or 3 axes, not %" PetscInt_FMT ": see -%stile", n, j->prefix);
  for (a = 0; a < n; a++)
    PetscCheck(tile[a] >= 1, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE,
               "A tile cannot be %" PetscInt_FMT " cells wide: -%stile needs positive numbers", tile[a], j->prefix);
  if (StrataJacobiDiffers(n, tile, j->ntile, j->tile)) PetscCall(StrataJacobiChanged(j));
  j->ntile = n;
  for (a = 0; a < n; a++) j->tile[a] = tile[a];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiSetOverlap(StrataJacobi j, PetscInt n, const PetscInt overlap[])
{
  PetscInt a;

  PetscFunctionBegin;
  PetscCheck(n >= 1 && n <= 3, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE,
             "Tiles overlap along 1, 2 or 3 axes, not %" PetscInt_FMT ": see -%soverlap", n, j->prefix);
  for (a = 0; a < n; a++) {
    PetscCheck(overlap[a] >= 0 || overlap[a] == STRATA_EXACT, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE,
               "An overlap of %" PetscInt_FMT " cells: -%soverlap must not be negative, or it must be exact", overlap[a], j->prefix);
    PetscCheck(overlap[a] == STRATA_EXACT || overlap[a] % 2 == 0, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE,
               "An overlap of %" PetscInt_FMT " cells: -%soverlap must be even, since both tiles give up half of it", overlap[a], j->prefix);
  }
  if (StrataJacobiDiffers(n, overlap, j->noverlap, j->overlap)) PetscCall(StrataJacobiChanged(j));
  j->noverlap = n;
  for (a = 0; a < n; a++) j->overlap[a] = overlap[a];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiSetOmega(StrataJacobi j, PetscReal omega)
{
  PetscFunctionBegin;
  PetscCheck(omega > 0 && omega < PETSC_MAX_REAL, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE,
             "The weight %g of sweeps: -%somega must be positive", (double)omega, j->prefix);
  if (omega != j->omega) PetscCall(StrataJacobiChanged(j));
  j->omega = omega;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiSetSchedule(StrataJacobi j, HJacobiSchedule schedule)
{
  PetscFunctionBegin;
  PetscCheck(schedule >= HJACOBI_CONSTANT && schedule <= HJACOBI_SRJ, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE, "There is no schedule %d",
             (int)schedule);
  if (schedule != j->schedule) PetscCall(StrataJacobiChanged(j));
  j->schedule = schedule;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiSetBounds(StrataJacobi j, PetscReal a, PetscReal b)
{
  PetscFunctionBegin;
  if (a != 0 || b != 0)
    PetscCheck(a > 0 && b > a && b < PETSC_MAX_REAL, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE,
               "The interval [%g, %g] of eigenvalues: -%schebyshev_bounds must be positive, the lower one first", (double)a, (double)b, j->prefix);
  if (a != j->bounds[0] || b != j->bounds[1]) PetscCall(StrataJacobiChanged(j));
  j->bounds[0] = a;
  j->bounds[1] = b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiSetLevels(StrataJacobi j, PetscInt levels)
{
  PetscFunctionBegin;
  PetscCheck(levels >= 2 && levels <= 5, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE,
             "Scheduled relaxation with %" PetscInt_FMT " weights: -%ssrj_levels must be 2, 3, 4 or 5", levels, j->prefix);
  if (levels != j->levels) PetscCall(StrataJacobiChanged(j));
  j->levels = levels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiSetKernel(StrataJacobi j, HJacobiKernel kernel)
{
  PetscFunctionBegin;
  PetscCheck(kernel >= HJACOBI_KERNEL_AUTO && kernel <= HJACOBI_KERNEL_PERSISTENT, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE,
             "There is no kernel %d", (int)kernel);
  if (kernel != j->kernel) PetscCall(StrataJacobiChanged(j));
  j->kernel = kernel;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiSetPrecision(StrataJacobi j, HJacobiPrecision precision)
{
  PetscFunctionBegin;
  PetscCheck(precision == HJACOBI_PRECISION_SAME || precision == HJACOBI_PRECISION_SINGLE, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE,
             "There is no precision %d", (int)precision);
  if (precision != j->precision) PetscCall(StrataJacobiChanged(j));
  j->precision = precision;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiSetGrid(StrataJacobi j, PetscInt dim, const PetscInt n[])
{
  PetscInt a;

  PetscFunctionBegin;
  PetscCheck(dim >= 0 && dim <= 3, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE, "A grid cannot have %" PetscInt_FMT " axes", dim);
  PetscCheck(!dim || n, PetscObjectComm(j->owner), PETSC_ERR_ARG_NULL, "The numbers of cells are missing: give %" PetscInt_FMT " of them", dim);
  for (a = 0; a < dim; a++)
    PetscCheck(n[a] > 0, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE,
               "A grid cannot have %" PetscInt_FMT " cells along axis %c: -%sgrid needs positive numbers", n[a], (char)('x' + a), j->prefix);
  if (StrataJacobiDiffers(dim, n, j->dim, j->N)) {
    PetscCall(StrataJacobiChanged(j));
    PetscCall(StrataGridDestroy(&j->given));
  }
  j->dim = dim;
  for (a = 0; a < 3; a++) j->N[a] = a < dim ? n[a] : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- options --------------------------------------------------------------------------------------------------------------------- */

/* An overlap as it is given: numbers, or a word */
static PetscErrorCode StrataJacobiReadOverlap(StrataJacobi j, const char text[])
{
  PetscInt    n = 0, overlap[3];
  PetscBool   exact;
  const char *p = text;

  PetscFunctionBegin;
  PetscCall(PetscStrcasecmp(text, "exact", &exact));
  overlap[0] = STRATA_EXACT;
  while (!exact) {
    char           *end;
    const long long value = strtoll(p, &end, 10);

    PetscCheck(end != p && n < 3 && (!*end || *end == ',') && value >= -PETSC_MAX_INT && value <= PETSC_MAX_INT, PetscObjectComm(j->owner),
               PETSC_ERR_ARG_OUTOFRANGE, "-%soverlap %s: it must be exact, a number, or a number for each axis with commas between them", j->prefix,
               text);
    PetscCheck(value >= 0, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE, "-%soverlap %s: it must not be negative", j->prefix, text);
    overlap[n++] = (PetscInt)value;
    if (!*end) break;
    p = end + 1;
  }
  PetscCall(StrataJacobiSetOverlap(j, exact ? 1 : n, overlap));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The name of an option, and of the function that does the same */
#define STRATA_NAME 64
static PetscErrorCode StrataJacobiNames(StrataJacobi j, const char option[], const char function[], char name[], char setter[])
{
  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, STRATA_NAME, "-%s%s", j->prefix, option));
  PetscCall(PetscSNPrintf(setter, STRATA_NAME, "%sHJacobiSet%s", j->owner->classid == KSP_CLASSID ? "KSP" : "PC", function));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiSetFromOptions(StrataJacobi j, StrataOptionItems PetscOptionsObject)
{
  PetscInt  k = j->subiterations, levels = j->levels, n = 3, list[3] = {1, 1, 1};
  PetscReal omega = j->omega, bounds[2] = {j->bounds[0], j->bounds[1]};
  PetscEnum value;
  PetscBool set;
  char      name[STRATA_NAME], setter[STRATA_NAME], text[64] = "";

  PetscFunctionBegin;
  PetscCall(StrataJacobiNames(j, "subiterations", "Subiterations", name, setter));
  PetscCall(PetscOptionsInt(name, "Sweeps of a cycle", setter, k, &k, &set));
  if (set) PetscCall(StrataJacobiSetSubiterations(j, k));
  PetscCall(StrataJacobiNames(j, "tile", "Tile", name, setter));
  PetscCall(PetscOptionsIntArray(name, "Cells of a tile along each axis", setter, list, &n, &set));
  if (set) PetscCall(StrataJacobiSetTile(j, n, list));
  PetscCall(StrataJacobiNames(j, "overlap", "Overlap", name, setter));
  PetscCall(PetscOptionsString(name, "Cells that neighbouring tiles share along each axis, or exact", setter, text, text, sizeof(text), &set));
  if (set) PetscCall(StrataJacobiReadOverlap(j, text));
  value = (PetscEnum)j->schedule;
  PetscCall(StrataJacobiNames(j, "schedule", "Schedule", name, setter));
  PetscCall(PetscOptionsEnum(name, "Weights of the sweeps", setter, HJacobiSchedules, value, &value, &set));
  if (set) PetscCall(StrataJacobiSetSchedule(j, (HJacobiSchedule)value));
  PetscCall(StrataJacobiNames(j, "omega", "Omega", name, setter));
  PetscCall(PetscOptionsReal(name, "Weight of all sweeps, with -schedule constant", setter, omega, &omega, &set));
  if (set) PetscCall(StrataJacobiSetOmega(j, omega));
  n = 2;
  PetscCall(StrataJacobiNames(j, "chebyshev_bounds", "ChebyshevBounds", name, setter));
  PetscCall(PetscOptionsRealArray(name, "Smallest and largest eigenvalue that the weights are for", setter, bounds, &n, &set));
  if (set) {
    PetscCheck(n == 2, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE, "%s needs two numbers with a comma between them", name);
    PetscCheck(bounds[0] != 0 || bounds[1] != 0, PetscObjectComm(j->owner), PETSC_ERR_ARG_OUTOFRANGE, "%s must be positive", name);
    PetscCall(StrataJacobiSetBounds(j, bounds[0], bounds[1]));
  }
  PetscCall(StrataJacobiNames(j, "srj_levels", "SRJLevels", name, setter));
  PetscCall(PetscOptionsInt(name, "Number of different weights of scheduled relaxation", setter, levels, &levels, &set));
  if (set) PetscCall(StrataJacobiSetLevels(j, levels));
  value = (PetscEnum)j->kernel;
  PetscCall(StrataJacobiNames(j, "kernel", "Kernel", name, setter));
  PetscCall(PetscOptionsEnum(name, "Kernel for GPUs", setter, HJacobiKernels, value, &value, &set));
  if (set) PetscCall(StrataJacobiSetKernel(j, (HJacobiKernel)value));
  value = (PetscEnum)j->precision;
  PetscCall(StrataJacobiNames(j, "precision", "Precision", name, setter));
  PetscCall(PetscOptionsEnum(name, "Precision of the sweeps", setter, HJacobiPrecisions, value, &value, &set));
  if (set) PetscCall(StrataJacobiSetPrecision(j, (HJacobiPrecision)value));
  n = 3;
  PetscCall(StrataJacobiNames(j, "grid", "Grid", name, setter));
  PetscCall(PetscOptionsIntArray(name, "Cells along each axis, for a matrix without a grid", setter, list, &n, &set));
  if (set) PetscCall(StrataJacobiSetGrid(j, n, list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- view ------------------------------------------------------------------------------------------------------------------------ */

static PetscErrorCode StrataJacobiViewWidths(const int widths[], PetscInt dim, char text[], size_t len)
{
  PetscFunctionBegin;
  if (dim == 1)
    PetscCall(PetscSNPrintf(text, len, "%d", widths[0]));
  else if (dim == 2)
    PetscCall(PetscSNPrintf(text, len, "%d x %d", widths[0], widths[1]));
  else
    PetscCall(PetscSNPrintf(text, len, "%d x %d x %d", widths[0], widths[1], widths[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataJacobiView(StrataJacobi j, PetscViewer viewer)
{
  static const char *const forms[] = {"equal legs", "a number for each leg", "legs of each cell"};
  PetscBool                ascii, symmetric;
  char                     text[160], tile[64];

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (j->schedule == HJACOBI_CONSTANT)
    PetscCall(PetscSNPrintf(text, sizeof(text), ", omega %g", (double)j->omega));
  else if (!j->grid || j->failure)
    text[0] = 0;
  else
    PetscCall(PetscSNPrintf(text, sizeof(text), " for eigenvalues in [%g, %g]%s, period %" PetscInt_FMT " cycle%s", (double)j->interval[0],
                            (double)j->interval[1],
                            j->bounds[1] > 0 ? ""
                            : j->eigenvalues ? " (0.1 and 1.1 times the estimated largest)"
                                             : " (0.1 and 1.1 times the largest)",
                            j->period, j->period > 1 ? "s" : ""));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %" PetscInt_FMT " sweep%s a cycle, schedule %s%s\n", j->subiterations, j->subiterations > 1 ? "s" : "",
                                   HJacobiSchedules[j->schedule], text));
  if (j->schedule == HJACOBI_SRJ) PetscCall(PetscViewerASCIIPrintf(viewer, "  %" PetscInt_FMT " different weights\n", j->levels));
  if (!j->grid) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  not set up\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(StrataJacobiViewWidths(j->tiling.tile, j->grid->dim, tile, sizeof(tile)));
  PetscCall(StrataJacobiViewWidths(j->tiling.overlap, j->grid->dim, text, sizeof(text)));
  if (j->exact)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  tile %s, overlap exact: iterates of plain sweeps, %" PetscInt_FMT " pass%s a cycle\n", tile,
                                     (j->subiterations + j->most - 1) / j->most, j->subiterations > j->most ? "es" : ""));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  tile %s, overlap %s\n", tile, text));
  if (j->reduced)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  a narrower overlap than asked for, since a rank owns no more than %" PetscInt_FMT " cells along an axis\n", j->reduced));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  kernel %s, in %s memory, precision %s, coefficients: %s in form %s\n",
                                   !j->applied                     ? "not chosen yet"
                                   : PetscMemTypeDevice(j->worked) ? j->words
                                                                   : "host",
                                   PetscMemTypeDevice(j->applied ? j->worked : j->home) ? "CUDA" : "host",
                                   j->precision == HJACOBI_PRECISION_SINGLE ? "single, on corrections" : "double",
                                   j->rows[0].built ? forms[j->rows[0].form] : "not used", MatStrataForms[j->c->form]));
  if (j->inside) PetscCall(PetscViewerASCIIPrintf(viewer, "  the inner part of a box is swept while cells travel between ranks\n"));
  if (j->cycles) {
    PetscCall(StrataJacobiSymmetric(j, &symmetric));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %" PetscInt_FMT " cycle%s from zero, %s\n", j->cycles, j->cycles > 1 ? "s" : "",
                                     symmetric ? "symmetric" : "not symmetric"));
  }
  if (j->failure) {
    PetscCall(StrataGridRowWords(j->grid, j->failedrow, text, sizeof(text)));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  failed: %s in %s\n", j->failure, text));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
