/*
   Settings of KSPHJACOBI: functions that do what the options do
*/
#include "kspjacobiimpl.h"

/*@
  KSPHJacobiSetSubiterations - Sets the number of sweeps of a cycle

  Logically Collective

  Input Parameters:
+ ksp - the solver, of type `KSPHJACOBI`
- k   - the number of sweeps, 1 or more

  Options Database Key:
. -ksp_hjacobi_subiterations <k> - the number of sweeps of a cycle

  Level: beginner

  Note:
  The default is 8. With more sweeps than fit a tile, or the box of a rank, and an exact overlap, a cycle is done in several passes, with the
  same result.

.seealso: `KSPHJACOBI`, `KSPHJacobiGetSubiterations()`
@*/
PetscErrorCode KSPHJacobiSetSubiterations(KSP ksp, PetscInt k)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveInt(ksp, k, 2);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetSubiterations(j, k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiGetSubiterations - Gets the number of sweeps of a cycle

  Not Collective

  Input Parameter:
. ksp - the solver, of type `KSPHJACOBI`

  Output Parameter:
. k - the number of sweeps

  Level: beginner

.seealso: `KSPHJACOBI`, `KSPHJacobiSetSubiterations()`
@*/
PetscErrorCode KSPHJacobiGetSubiterations(KSP ksp, PetscInt *k)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_TRUE, &j));
  *k = j->subiterations;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiSetTile - Sets the number of cells that a tile computes along each axis

  Logically Collective

  Input Parameters:
+ ksp  - the solver, of type `KSPHJACOBI`
. n    - the number of widths, up to three; with fewer than the grid has axes the last one holds for the rest. 0 leaves the choice to Strata
- tile - the widths

  Options Database Key:
. -ksp_hjacobi_tile <x,y,z> - the number of cells that a tile computes along each axis

  Level: beginner

  Note:
  The cells that a tile shares with its neighbours are counted. By default Strata chooses.

.seealso: `KSPHJACOBI`, `KSPHJacobiGetTile()`
@*/
PetscErrorCode KSPHJacobiSetTile(KSP ksp, PetscInt n, const PetscInt tile[])
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveInt(ksp, n, 2);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetTile(j, n, tile));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiGetTile - Gets the number of cells that a tile computes along each axis

  Not Collective

  Input Parameter:
. ksp - the solver, of type `KSPHJACOBI`

  Output Parameters:
+ n    - the number of widths
- tile - the widths, an array of three

  Level: beginner

.seealso: `KSPHJACOBI`, `KSPHJacobiSetTile()`
@*/
PetscErrorCode KSPHJacobiGetTile(KSP ksp, PetscInt *n, PetscInt tile[])
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_TRUE, &j));
  *n = j->ntile;
  for (PetscInt a = 0; a < j->ntile; a++) tile[a] = j->tile[a];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiSetOverlap - Sets the number of cells that neighbouring tiles share along each axis

  Logically Collective

  Input Parameters:
+ ksp     - the solver, of type `KSPHJACOBI`
. n       - the number of overlaps, up to three; with fewer than the grid has axes the last one holds for the rest
- overlap - the overlaps, each even and not negative, or `STRATA_EXACT`

  Options Database Key:
. -ksp_hjacobi_overlap <n|nx,ny,nz|exact> - the number of cells that neighbouring tiles share along each axis

  Level: beginner

  Note:
  Both tiles compute the shared cells, each writes half of them. With 2 (k - 1) or more, k the number of sweeps, the result does not depend on
  the tiles: `STRATA_EXACT`, the default, is as wide as that. Other overlaps must be less than the tile. Where a rank owns fewer cells along
  an axis than half an overlap and one, the overlap is made narrower; view says so.

.seealso: `KSPHJACOBI`, `KSPHJacobiGetOverlap()`
@*/
PetscErrorCode KSPHJacobiSetOverlap(KSP ksp, PetscInt n, const PetscInt overlap[])
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveInt(ksp, n, 2);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetOverlap(j, n, overlap));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiGetOverlap - Gets the number of cells that neighbouring tiles share along each axis

  Not Collective

  Input Parameter:
. ksp - the solver, of type `KSPHJACOBI`

  Output Parameters:
+ n       - the number of overlaps
- overlap - the overlaps, an array of three

  Level: beginner

.seealso: `KSPHJACOBI`, `KSPHJacobiSetOverlap()`
@*/
PetscErrorCode KSPHJacobiGetOverlap(KSP ksp, PetscInt *n, PetscInt overlap[])
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_TRUE, &j));
  *n = j->noverlap;
  for (PetscInt a = 0; a < j->noverlap; a++) overlap[a] = j->overlap[a];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiSetOmega - Sets the weight of all sweeps, for the schedule constant

  Logically Collective

  Input Parameters:
+ ksp   - the solver, of type `KSPHJACOBI`
- omega - the weight, positive

  Options Database Key:
. -ksp_hjacobi_omega <omega> - the weight of all sweeps, for the schedule constant

  Level: beginner

  Note:
  The default is 1.

.seealso: `KSPHJACOBI`, `KSPHJacobiGetOmega()`
@*/
PetscErrorCode KSPHJacobiSetOmega(KSP ksp, PetscReal omega)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveReal(ksp, omega, 2);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetOmega(j, omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiGetOmega - Gets the weight of all sweeps, for the schedule constant

  Not Collective

  Input Parameter:
. ksp - the solver, of type `KSPHJACOBI`

  Output Parameter:
. omega - the weight

  Level: beginner

.seealso: `KSPHJACOBI`, `KSPHJacobiSetOmega()`
@*/
PetscErrorCode KSPHJacobiGetOmega(KSP ksp, PetscReal *omega)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_TRUE, &j));
  *omega = j->omega;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiSetSchedule - Sets how the sweeps are weighted

  Logically Collective

  Input Parameters:
+ ksp      - the solver, of type `KSPHJACOBI`
- schedule - the schedule, see `HJacobiSchedule`

  Options Database Key:
. -ksp_hjacobi_schedule <constant,chebyshev,srj> - how the sweeps are weighted

  Level: beginner

  Note:
  The default is `HJACOBI_CONSTANT`. Weights of `HJACOBI_CHEBYSHEV` and `HJACOBI_SRJ` are made for eigenvalues in an interval, see
  `KSPHJacobiSetChebyshevBounds()`. Those of scheduled relaxation are computed from the condition that all extrema of the error polynomial are
  equal, each weight used a fixed number of times as often as the next larger one; their period may be several cycles of `KSPHJACOBI`.

.seealso: `KSPHJACOBI`, `KSPHJacobiGetSchedule()`
@*/
PetscErrorCode KSPHJacobiSetSchedule(KSP ksp, HJacobiSchedule schedule)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(ksp, schedule, 2);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetSchedule(j, schedule));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiGetSchedule - Gets how the sweeps are weighted

  Not Collective

  Input Parameter:
. ksp - the solver, of type `KSPHJACOBI`

  Output Parameter:
. schedule - the schedule

  Level: beginner

.seealso: `KSPHJACOBI`, `KSPHJacobiSetSchedule()`
@*/
PetscErrorCode KSPHJacobiGetSchedule(KSP ksp, HJacobiSchedule *schedule)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_TRUE, &j));
  *schedule = j->schedule;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiSetChebyshevBounds - Sets the interval of the eigenvalues of the matrix, its rows divided by the diagonal, that weights are made for

  Logically Collective

  Input Parameters:
+ ksp - the solver, of type `KSPHJACOBI`
. a   - the smallest eigenvalue, positive
- b   - the largest eigenvalue

  Options Database Key:
. -ksp_hjacobi_chebyshev_bounds <a,b> - the interval of the eigenvalues of the matrix, its rows divided by the diagonal, that weights are made for

  Level: intermediate

  Note:
  Without bounds, and with 0 for both, the interval is from 0.1 to 1.1 times the largest eigenvalue, as in `KSPCHEBYSHEV`. That is known where rows
  are symmetric and the same everywhere; else it is estimated by ten steps of the method of Lanczos, of Arnoldi where the matrix is not symmetric. A
  solver converges faster if the lower bound is close to the smallest eigenvalue.

.seealso: `KSPHJACOBI`, `KSPHJacobiGetChebyshevBounds()`
@*/
PetscErrorCode KSPHJacobiSetChebyshevBounds(KSP ksp, PetscReal a, PetscReal b)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveReal(ksp, a, 2);
  PetscValidLogicalCollectiveReal(ksp, b, 3);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetBounds(j, a, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiGetChebyshevBounds - Gets the interval of the eigenvalues of the matrix, its rows divided by the diagonal, that weights are made for

  Not Collective

  Input Parameter:
. ksp - the solver, of type `KSPHJACOBI`

  Output Parameters:
+ a - the smallest eigenvalue
- b - the largest eigenvalue

  Level: intermediate

.seealso: `KSPHJACOBI`, `KSPHJacobiSetChebyshevBounds()`
@*/
PetscErrorCode KSPHJacobiGetChebyshevBounds(KSP ksp, PetscReal *a, PetscReal *b)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_TRUE, &j));
  *a = j->grid && j->schedule != HJACOBI_CONSTANT && !j->failure ? j->interval[0] : j->bounds[0];
  *b = j->grid && j->schedule != HJACOBI_CONSTANT && !j->failure ? j->interval[1] : j->bounds[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiSetSRJLevels - Sets the number of different weights of scheduled relaxation

  Logically Collective

  Input Parameters:
+ ksp    - the solver, of type `KSPHJACOBI`
- levels - the number of weights, 2 to 5

  Options Database Key:
. -ksp_hjacobi_srj_levels <P> - the number of different weights of scheduled relaxation

  Level: intermediate

  Note:
  The default is 3.

.seealso: `KSPHJACOBI`, `KSPHJacobiGetSRJLevels()`
@*/
PetscErrorCode KSPHJacobiSetSRJLevels(KSP ksp, PetscInt levels)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveInt(ksp, levels, 2);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetLevels(j, levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiGetSRJLevels - Gets the number of different weights of scheduled relaxation

  Not Collective

  Input Parameter:
. ksp - the solver, of type `KSPHJACOBI`

  Output Parameter:
. levels - the number of weights

  Level: intermediate

.seealso: `KSPHJACOBI`, `KSPHJacobiSetSRJLevels()`
@*/
PetscErrorCode KSPHJacobiGetSRJLevels(KSP ksp, PetscInt *levels)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_TRUE, &j));
  *levels = j->levels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiSetKernel - Sets which kernel sweeps on a GPU

  Logically Collective

  Input Parameters:
+ ksp    - the solver, of type `KSPHJACOBI`
- kernel - the kernel, see `HJacobiKernel`

  Options Database Key:
. -ksp_hjacobi_kernel <auto,classic,shared,register,persistent> - which kernel sweeps on a GPU

  Level: intermediate

  Note:
  A kernel that cannot run a problem is replaced by the fastest that can; view says which, and why.

.seealso: `KSPHJACOBI`, `KSPHJacobiGetKernel()`
@*/
PetscErrorCode KSPHJacobiSetKernel(KSP ksp, HJacobiKernel kernel)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(ksp, kernel, 2);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetKernel(j, kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiGetKernel - Gets which kernel sweeps on a GPU

  Not Collective

  Input Parameter:
. ksp - the solver, of type `KSPHJACOBI`

  Output Parameter:
. kernel - the kernel

  Level: intermediate

.seealso: `KSPHJACOBI`, `KSPHJacobiSetKernel()`
@*/
PetscErrorCode KSPHJacobiGetKernel(KSP ksp, HJacobiKernel *kernel)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_TRUE, &j));
  *kernel = j->kernel;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiSetPrecision - Sets the precision of the sweeps

  Logically Collective

  Input Parameters:
+ ksp       - the solver, of type `KSPHJACOBI`
- precision - the precision, see `HJacobiPrecision`

  Options Database Key:
. -ksp_hjacobi_precision <same,single> - the precision of the sweeps

  Level: intermediate

  Note:
  In single precision sweeps start from zero, on the residual in double precision, so that the tolerances of double precision are reached.

.seealso: `KSPHJACOBI`, `KSPHJacobiGetPrecision()`
@*/
PetscErrorCode KSPHJacobiSetPrecision(KSP ksp, HJacobiPrecision precision)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(ksp, precision, 2);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetPrecision(j, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiGetPrecision - Gets the precision of the sweeps

  Not Collective

  Input Parameter:
. ksp - the solver, of type `KSPHJACOBI`

  Output Parameter:
. precision - the precision

  Level: intermediate

.seealso: `KSPHJACOBI`, `KSPHJacobiSetPrecision()`
@*/
PetscErrorCode KSPHJacobiGetPrecision(KSP ksp, HJacobiPrecision *precision)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_TRUE, &j));
  *precision = j->precision;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiSetGrid - Sets the grid of a matrix that has none

  Logically Collective

  Input Parameters:
+ ksp - the solver, of type `KSPHJACOBI`
. dim - the number of axes, 1, 2 or 3. 0 takes back what was set
- n   - the number of cells along each axis

  Options Database Key:
. -ksp_hjacobi_grid <nx,ny,nz> - the grid of a matrix that has none

  Level: beginner

  Note:
  The rows of the matrix run through the cells, x fastest. Each rank must own whole layers of the last axis. A grid that is set comes before
  one of a `DM`. A `MATSTRATA` operator has a grid of its own and does not need it.

.seealso: `KSPHJACOBI`, `KSPHJacobiGetGrid()`
@*/
PetscErrorCode KSPHJacobiSetGrid(KSP ksp, PetscInt dim, const PetscInt n[])
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveInt(ksp, dim, 2);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_FALSE, &j));
  if (j) PetscCall(StrataJacobiSetGrid(j, dim, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiGetGrid - Gets the grid of a matrix that has none

  Not Collective

  Input Parameter:
. ksp - the solver, of type `KSPHJACOBI`

  Output Parameters:
+ dim - the number of axes
- n   - the number of cells along each axis, an array of three

  Level: beginner

.seealso: `KSPHJACOBI`, `KSPHJacobiSetGrid()`
@*/
PetscErrorCode KSPHJacobiGetGrid(KSP ksp, PetscInt *dim, PetscInt n[])
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_TRUE, &j));
  *dim = j->dim;
  for (PetscInt a = 0; a < j->dim; a++) n[a] = j->N[a];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiSetCheckInterval - Sets the number of cycles from one test for convergence to the next

  Logically Collective

  Input Parameters:
+ ksp      - the solver, of type `KSPHJACOBI`
- interval - the number of cycles, 1 or more

  Options Database Key:
. -ksp_hjacobi_check_interval <m> - the number of cycles from one test for convergence to the next

  Level: beginner

  Note:
  The default is 1. Monitors and histories see the iterations that are tested. With a schedule whose period is several cycles, periods are
  counted in place of cycles.

.seealso: `KSPHJACOBI`, `KSPHJacobiGetCheckInterval()`
@*/
PetscErrorCode KSPHJacobiSetCheckInterval(KSP ksp, PetscInt interval)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveInt(ksp, interval, 2);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_FALSE, &j));
  if (!j) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(interval >= 1, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " cycles: -ksp_hjacobi_check_interval must be 1 or more", interval);
  ((KSP_HJacobi *)ksp->data)->interval = interval;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiGetCheckInterval - Gets the number of cycles from one test for convergence to the next

  Not Collective

  Input Parameter:
. ksp - the solver, of type `KSPHJACOBI`

  Output Parameter:
. interval - the number of cycles

  Level: beginner

.seealso: `KSPHJACOBI`, `KSPHJacobiSetCheckInterval()`
@*/
PetscErrorCode KSPHJacobiGetCheckInterval(KSP ksp, PetscInt *interval)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_TRUE, &j));
  *interval = ((KSP_HJacobi *)ksp->data)->interval;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiSetCheck - Sets when the tests for convergence that a GPU makes are looked at

  Logically Collective

  Input Parameters:
+ ksp   - the solver, of type `KSPHJACOBI`
- check - when, see `HJacobiCheck`

  Options Database Key:
. -ksp_hjacobi_check <overlapped,blocking> - when the tests for convergence that a GPU makes are looked at

  Level: intermediate

  Note:
  With `HJACOBI_CHECK_OVERLAPPED`, the default, the GPU tests and keeps the first iterate that passes, and goes on with the next cycles before the
  host has looked. Iterations, norms and the solution are the same as with `HJACOBI_CHECK_BLOCKING`; it takes one vector more, and a few cycles
  are done in vain. The host looks at once in any case on several ranks, where the work is on the host, with monitors, a test given to
  `KSPSetConvergenceTest()` or a null space; view says so.

.seealso: `KSPHJACOBI`, `KSPHJacobiGetCheck()`
@*/
PetscErrorCode KSPHJacobiSetCheck(KSP ksp, HJacobiCheck check)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(ksp, check, 2);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_FALSE, &j));
  if (!j) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(check >= HJACOBI_CHECK_OVERLAPPED && check <= HJACOBI_CHECK_BLOCKING, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "There is no check %d", (int)check);
  ((KSP_HJacobi *)ksp->data)->check = check;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiGetCheck - Gets when the tests for convergence that a GPU makes are looked at

  Not Collective

  Input Parameter:
. ksp - the solver, of type `KSPHJACOBI`

  Output Parameter:
. check - when

  Level: intermediate

.seealso: `KSPHJACOBI`, `KSPHJacobiSetCheck()`
@*/
PetscErrorCode KSPHJacobiGetCheck(KSP ksp, HJacobiCheck *check)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_TRUE, &j));
  *check = ((KSP_HJacobi *)ksp->data)->check;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiSetNorm - Sets what is tested for convergence

  Logically Collective

  Input Parameters:
+ ksp  - the solver, of type `KSPHJACOBI`
- norm - the norm, see `HJacobiNorm`

  Options Database Key:
. -ksp_hjacobi_norm <2,infinity,update> - what is tested for convergence

  Level: beginner

  Note:
  With `HJACOBI_NORM_INFINITY` the residual is measured by the right-hand side in the same norm. `HJACOBI_NORM_UPDATE` is tested against the
  absolute tolerance alone and has no value at iteration 0. A test given to `KSPSetConvergenceTest()` is called with the norm in place of that
  of Strata.

.seealso: `KSPHJACOBI`, `KSPHJacobiGetNorm()`
@*/
PetscErrorCode KSPHJacobiSetNorm(KSP ksp, HJacobiNorm norm)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(ksp, norm, 2);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_FALSE, &j));
  if (!j) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(norm >= HJACOBI_NORM_2 && norm <= HJACOBI_NORM_UPDATE, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "There is no norm %d", (int)norm);
  ((KSP_HJacobi *)ksp->data)->norm = norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPHJacobiGetNorm - Gets what is tested for convergence

  Not Collective

  Input Parameter:
. ksp - the solver, of type `KSPHJACOBI`

  Output Parameter:
. norm - the norm

  Level: beginner

.seealso: `KSPHJACOBI`, `KSPHJacobiSetNorm()`
@*/
PetscErrorCode KSPHJacobiGetNorm(KSP ksp, HJacobiNorm *norm)
{
  StrataJacobi j;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscCall(StrataJacobiOf((PetscObject)ksp, PETSC_TRUE, &j));
  *norm = ((KSP_HJacobi *)ksp->data)->norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}
