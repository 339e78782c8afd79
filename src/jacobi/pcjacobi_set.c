/*
   Settings of PCHJACOBI: functions that do what the options do
*/
#include "pcjacobiimpl.h"

/*@
  PCHJacobiSetSubiterations - Sets the number of sweeps of a cycle

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, of type `PCHJACOBI`
- k  - the number of sweeps, 1 or more

  Options Database Key:
. -pc_hjacobi_subiterations <k> - the number of sweeps of a cycle

  Level: beginner

  Note:
  The default is 2. With more sweeps than fit a tile, or the box of a rank, and an exact overlap, a cycle is done in several passes, with the
  same result.

.seealso: `PCHJACOBI`, `PCHJacobiGetSubiterations()`
@*/
PetscErrorCode PCHJacobiSetSubiterations(PC pc, PetscInt k)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, k, 2);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetSubiterations(j, k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiGetSubiterations - Gets the number of sweeps of a cycle

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCHJACOBI`

  Output Parameter:
. k - the number of sweeps

  Level: beginner

.seealso: `PCHJACOBI`, `PCHJacobiSetSubiterations()`
@*/
PetscErrorCode PCHJacobiGetSubiterations(PC pc, PetscInt *k)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_TRUE, &j));
  *k = j->subiterations;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiSetTile - Sets the number of cells that a tile computes along each axis

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner, of type `PCHJACOBI`
. n    - the number of widths, up to three; with fewer than the grid has axes the last one holds for the rest. 0 leaves the choice to Strata
- tile - the widths

  Options Database Key:
. -pc_hjacobi_tile <x,y,z> - the number of cells that a tile computes along each axis

  Level: beginner

  Note:
  The cells that a tile shares with its neighbours are counted. By default Strata chooses.

.seealso: `PCHJACOBI`, `PCHJacobiGetTile()`
@*/
PetscErrorCode PCHJacobiSetTile(PC pc, PetscInt n, const PetscInt tile[])
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, n, 2);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetTile(j, n, tile));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiGetTile - Gets the number of cells that a tile computes along each axis

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCHJACOBI`

  Output Parameters:
+ n    - the number of widths
- tile - the widths, an array of three

  Level: beginner

.seealso: `PCHJACOBI`, `PCHJacobiSetTile()`
@*/
PetscErrorCode PCHJacobiGetTile(PC pc, PetscInt *n, PetscInt tile[])
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_TRUE, &j));
  *n = j->ntile;
  for (PetscInt a = 0; a < j->ntile; a++) tile[a] = j->tile[a];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiSetOverlap - Sets the number of cells that neighbouring tiles share along each axis

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner, of type `PCHJACOBI`
. n       - the number of overlaps, up to three; with fewer than the grid has axes the last one holds for the rest
- overlap - the overlaps, each even and not negative, or `STRATA_EXACT`

  Options Database Key:
. -pc_hjacobi_overlap <n|nx,ny,nz|exact> - the number of cells that neighbouring tiles share along each axis

  Level: beginner

  Note:
  Both tiles compute the shared cells, each writes half of them. With 2 (k - 1) or more, k the number of sweeps, the result does not depend on
  the tiles: `STRATA_EXACT`, the default, is as wide as that. Other overlaps must be less than the tile. Where a rank owns fewer cells along
  an axis than half an overlap and one, the overlap is made narrower; view says so.

.seealso: `PCHJACOBI`, `PCHJacobiGetOverlap()`
@*/
PetscErrorCode PCHJacobiSetOverlap(PC pc, PetscInt n, const PetscInt overlap[])
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, n, 2);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetOverlap(j, n, overlap));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiGetOverlap - Gets the number of cells that neighbouring tiles share along each axis

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCHJACOBI`

  Output Parameters:
+ n       - the number of overlaps
- overlap - the overlaps, an array of three

  Level: beginner

.seealso: `PCHJACOBI`, `PCHJacobiSetOverlap()`
@*/
PetscErrorCode PCHJacobiGetOverlap(PC pc, PetscInt *n, PetscInt overlap[])
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_TRUE, &j));
  *n = j->noverlap;
  for (PetscInt a = 0; a < j->noverlap; a++) overlap[a] = j->overlap[a];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiSetOmega - Sets the weight of all sweeps, for the schedule constant

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner, of type `PCHJACOBI`
- omega - the weight, positive

  Options Database Key:
. -pc_hjacobi_omega <omega> - the weight of all sweeps, for the schedule constant

  Level: beginner

  Note:
  The default is 1.

.seealso: `PCHJACOBI`, `PCHJacobiGetOmega()`
@*/
PetscErrorCode PCHJacobiSetOmega(PC pc, PetscReal omega)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, omega, 2);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetOmega(j, omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiGetOmega - Gets the weight of all sweeps, for the schedule constant

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCHJACOBI`

  Output Parameter:
. omega - the weight

  Level: beginner

.seealso: `PCHJACOBI`, `PCHJacobiSetOmega()`
@*/
PetscErrorCode PCHJacobiGetOmega(PC pc, PetscReal *omega)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_TRUE, &j));
  *omega = j->omega;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiSetSchedule - Sets how the sweeps are weighted

  Logically Collective

  Input Parameters:
+ pc       - the preconditioner, of type `PCHJACOBI`
- schedule - the schedule, see `HJacobiSchedule`

  Options Database Key:
. -pc_hjacobi_schedule <constant,chebyshev,srj> - how the sweeps are weighted

  Level: beginner

  Note:
  The default is `HJACOBI_CHEBYSHEV`. Weights of `HJACOBI_CHEBYSHEV` and `HJACOBI_SRJ` are made for eigenvalues in an interval, see
  `PCHJacobiSetChebyshevBounds()`. Those of scheduled relaxation are computed from the condition that all extrema of the error polynomial are
  equal, each weight used a fixed number of times as often as the next larger one; their period may be several cycles of `PCHJACOBI`.

.seealso: `PCHJACOBI`, `PCHJacobiGetSchedule()`
@*/
PetscErrorCode PCHJacobiSetSchedule(PC pc, HJacobiSchedule schedule)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, schedule, 2);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetSchedule(j, schedule));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiGetSchedule - Gets how the sweeps are weighted

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCHJACOBI`

  Output Parameter:
. schedule - the schedule

  Level: beginner

.seealso: `PCHJACOBI`, `PCHJacobiSetSchedule()`
@*/
PetscErrorCode PCHJacobiGetSchedule(PC pc, HJacobiSchedule *schedule)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_TRUE, &j));
  *schedule = j->schedule;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiSetChebyshevBounds - Sets the interval of the eigenvalues of the matrix, its rows divided by the diagonal, that weights are made for

  Logically Collective

  Input Parameters:
+ pc - the preconditioner, of type `PCHJACOBI`
. a  - the smallest eigenvalue, positive
- b  - the largest eigenvalue

  Options Database Key:
. -pc_hjacobi_chebyshev_bounds <a,b> - the interval of the eigenvalues of the matrix, its rows divided by the diagonal, that weights are made for

  Level: intermediate

  Note:
  Without bounds, and with 0 for both, the interval is from 0.1 to 1.1 times the largest eigenvalue, as in `KSPCHEBYSHEV`. That is known where rows
  are symmetric and the same everywhere; else it is estimated by ten steps of the method of Lanczos, of Arnoldi where the matrix is not symmetric. A
  solver converges faster if the lower bound is close to the smallest eigenvalue.

.seealso: `PCHJACOBI`, `PCHJacobiGetChebyshevBounds()`
@*/
PetscErrorCode PCHJacobiSetChebyshevBounds(PC pc, PetscReal a, PetscReal b)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, a, 2);
  PetscValidLogicalCollectiveReal(pc, b, 3);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetBounds(j, a, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiGetChebyshevBounds - Gets the interval of the eigenvalues of the matrix, its rows divided by the diagonal, that weights are made for

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCHJACOBI`

  Output Parameters:
+ a - the smallest eigenvalue
- b - the largest eigenvalue

  Level: intermediate

.seealso: `PCHJACOBI`, `PCHJacobiSetChebyshevBounds()`
@*/
PetscErrorCode PCHJacobiGetChebyshevBounds(PC pc, PetscReal *a, PetscReal *b)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_TRUE, &j));
  *a = j->grid && j->schedule != HJACOBI_CONSTANT && !j->failure ? j->interval[0] : j->bounds[0];
  *b = j->grid && j->schedule != HJACOBI_CONSTANT && !j->failure ? j->interval[1] : j->bounds[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiSetSRJLevels - Sets the number of different weights of scheduled relaxation

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner, of type `PCHJACOBI`
- levels - the number of weights, 2 to 5

  Options Database Key:
. -pc_hjacobi_srj_levels <P> - the number of different weights of scheduled relaxation

  Level: intermediate

  Note:
  The default is 3.

.seealso: `PCHJACOBI`, `PCHJacobiGetSRJLevels()`
@*/
PetscErrorCode PCHJacobiSetSRJLevels(PC pc, PetscInt levels)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, levels, 2);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetLevels(j, levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiGetSRJLevels - Gets the number of different weights of scheduled relaxation

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCHJACOBI`

  Output Parameter:
. levels - the number of weights

  Level: intermediate

.seealso: `PCHJACOBI`, `PCHJacobiSetSRJLevels()`
@*/
PetscErrorCode PCHJacobiGetSRJLevels(PC pc, PetscInt *levels)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_TRUE, &j));
  *levels = j->levels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiSetKernel - Sets which kernel sweeps on a GPU

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner, of type `PCHJACOBI`
- kernel - the kernel, see `HJacobiKernel`

  Options Database Key:
. -pc_hjacobi_kernel <auto,classic,shared,register,persistent> - which kernel sweeps on a GPU

  Level: intermediate

  Note:
  A kernel that cannot run a problem is replaced by the fastest that can; view says which, and why.

.seealso: `PCHJACOBI`, `PCHJacobiGetKernel()`
@*/
PetscErrorCode PCHJacobiSetKernel(PC pc, HJacobiKernel kernel)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, kernel, 2);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetKernel(j, kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiGetKernel - Gets which kernel sweeps on a GPU

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCHJACOBI`

  Output Parameter:
. kernel - the kernel

  Level: intermediate

.seealso: `PCHJACOBI`, `PCHJacobiSetKernel()`
@*/
PetscErrorCode PCHJacobiGetKernel(PC pc, HJacobiKernel *kernel)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_TRUE, &j));
  *kernel = j->kernel;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiSetPrecision - Sets the precision of the sweeps

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner, of type `PCHJACOBI`
- precision - the precision, see `HJacobiPrecision`

  Options Database Key:
. -pc_hjacobi_precision <same,single> - the precision of the sweeps

  Level: intermediate

  Note:
  In single precision sweeps start from zero, on the residual in double precision, so that the tolerances of double precision are reached.

.seealso: `PCHJACOBI`, `PCHJacobiGetPrecision()`
@*/
PetscErrorCode PCHJacobiSetPrecision(PC pc, HJacobiPrecision precision)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, precision, 2);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetPrecision(j, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiGetPrecision - Gets the precision of the sweeps

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCHJACOBI`

  Output Parameter:
. precision - the precision

  Level: intermediate

.seealso: `PCHJACOBI`, `PCHJacobiSetPrecision()`
@*/
PetscErrorCode PCHJacobiGetPrecision(PC pc, HJacobiPrecision *precision)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_TRUE, &j));
  *precision = j->precision;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiSetGrid - Sets the grid of a matrix that has none

  Logically Collective

  Input Parameters:
+ pc  - the preconditioner, of type `PCHJACOBI`
. dim - the number of axes, 1, 2 or 3. 0 takes back what was set
- n   - the number of cells along each axis

  Options Database Key:
. -pc_hjacobi_grid <nx,ny,nz> - the grid of a matrix that has none

  Level: beginner

  Note:
  The rows of the matrix run through the cells, x fastest. Each rank must own whole layers of the last axis. A grid that is set comes before
  one of a `DM`. A `MATSTRATA` operator has a grid of its own and does not need it.

.seealso: `PCHJACOBI`, `PCHJacobiGetGrid()`
@*/
PetscErrorCode PCHJacobiSetGrid(PC pc, PetscInt dim, const PetscInt n[])
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, dim, 2);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetGrid(j, dim, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiGetGrid - Gets the grid of a matrix that has none

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCHJACOBI`

  Output Parameters:
+ dim - the number of axes
- n   - the number of cells along each axis, an array of three

  Level: beginner

.seealso: `PCHJACOBI`, `PCHJacobiSetGrid()`
@*/
PetscErrorCode PCHJacobiGetGrid(PC pc, PetscInt *dim, PetscInt n[])
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_TRUE, &j));
  *dim = j->dim;
  for (PetscInt a = 0; a < j->dim; a++) n[a] = j->N[a];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiSetCycles - Sets the number of cycles of an application, which start from zero

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner, of type `PCHJACOBI`
- cycles - the number of cycles, 1 or more

  Options Database Key:
. -pc_hjacobi_cycles <n> - the number of cycles of an application, which start from zero

  Level: beginner

  Note:
  The default is 1. Scheduled relaxation spreads its weights over all of them.

.seealso: `PCHJACOBI`, `PCHJacobiGetCycles()`
@*/
PetscErrorCode PCHJacobiSetCycles(PC pc, PetscInt cycles)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, cycles, 2);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetCycles(j, cycles));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCHJacobiGetCycles - Gets the number of cycles of an application, which start from zero

  Not Collective

  Input Parameter:
. pc - the preconditioner, of type `PCHJACOBI`

  Output Parameter:
. cycles - the number of cycles

  Level: beginner

.seealso: `PCHJACOBI`, `PCHJacobiSetCycles()`
@*/
PetscErrorCode PCHJacobiGetCycles(PC pc, PetscInt *cycles)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)pc, PETSC_TRUE, &j));
  *cycles = j->cycles;
  PetscFunctionReturn(PETSC_SUCCESS);
}
