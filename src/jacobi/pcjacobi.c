/*
   PCHJACOBI: a fixed number of cycles of Jacobi sweeps as a preconditioner
*/
#include "pcjacobiimpl.h"

/* ---- the use --------------------------------------------------------------------------------------------------------------------- */

/* z = add + M' r, where the transpose of a cycle is none of the transposed matrix */
static PetscErrorCode PCHJacobiApplyAdjoint(PC pc, Vec r, Vec add, Vec z)
{
  StrataJacobi       j = ((PC_HJacobi *)pc->data)->jacobi;
  const PetscScalar *ar, *aadd = NULL;
  PetscScalar       *az;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(r, &ar));
  if (add && add != z) PetscCall(VecGetArrayRead(add, &aadd));
  PetscCall(VecGetArray(z, &az));
  PetscCall(StrataJacobiApplyAdjoint(j, j->cycles, ar, add == z ? az : aadd, az));
  PetscCall(VecRestoreArray(z, &az));
  if (add && add != z) PetscCall(VecRestoreArrayRead(add, &aadd));
  PetscCall(VecRestoreArrayRead(r, &ar));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = add + M r, M the preconditioner or its transpose */
static PetscErrorCode PCHJacobiApply(PC pc, PetscBool transpose, Vec r, Vec add, Vec z)
{
  PC_HJacobi        *h = (PC_HJacobi *)pc->data;
  const PetscScalar *ar, *aadd;
  PetscScalar       *az;
  PetscMemType       type;
  PetscBool          transposes = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(StrataMatCheckVec(pc->pmat, r));
  PetscCall(StrataMatCheckVec(pc->pmat, z));
  if (h->jacobi->failure) { /* as factorizations do */
    PetscCall(VecSet(z, INFINITY));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (transpose) PetscCall(StrataJacobiTransposes(h->jacobi, &transposes));
  if (!transposes) {
    PetscCall(PCHJacobiApplyAdjoint(pc, r, add, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(StrataVecGetArrays(r, add, z, &ar, &aadd, &az, &type));
  PetscCall(StrataJacobiApply(h->jacobi, transpose, type, 0, h->jacobi->cycles, ar, aadd, az, NULL, NULL));
  PetscCall(StrataVecRestoreArrays(r, add, z, &ar, &aadd, &az, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_HJacobi(PC pc, Vec r, Vec z)
{
  PetscFunctionBegin;
  PetscCall(PCHJacobiApply(pc, PETSC_FALSE, r, NULL, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_HJacobi(PC pc, Vec r, Vec z)
{
  PetscFunctionBegin;
  PetscCall(PCHJacobiApply(pc, PETSC_TRUE, r, NULL, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMatApply_HJacobi(PC pc, Mat R, Mat Z)
{
  StrataJacobi       j = ((PC_HJacobi *)pc->data)->jacobi;
  const PetscScalar *r;
  PetscScalar       *z;
  PetscInt           nv, ldr, ldz;
  PetscMemType       type;

  PetscFunctionBegin;
  if (j->failure) {
    PetscCall(StrataDenseSet(Z, INFINITY));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetSize(R, NULL, &nv));
  PetscCall(StrataDenseGetArrays(R, Z, &r, &ldr, &z, &ldz, &type));
  PetscCall(StrataJacobiApplyVectors(j, PETSC_FALSE, type, j->cycles, nv, r, ldr, z, ldz));
  PetscCall(StrataDenseRestoreArrays(R, Z, &r, &z, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cycles that start from x with the right-hand side b do what Richardson's iteration does, if the matrix of the sweeps is the operator */
static PetscErrorCode PCApplyRichardson_HJacobi(PC pc, Vec b, Vec x, Vec w, PetscReal rtol, PetscReal abstol, PetscReal dtol, PetscInt its,
                                                PetscBool guesszero, PetscInt *outits, PCRichardsonConvergedReason *reason)
{
  PC_HJacobi        *h = (PC_HJacobi *)pc->data;
  StrataJacobi       j = h->jacobi;
  const PetscInt     plain = pc->mat != pc->pmat || j->precision == HJACOBI_PRECISION_SINGLE || j->failure ? its : guesszero ? 1 : 0;
  const PetscScalar *ab, *ax;
  PetscScalar       *aw;
  PetscMemType       type;

  PetscFunctionBegin;
  PetscCall(StrataApplyRichardson(pc, PCHJacobiApply, b, x, w, PetscMin(plain, its), guesszero, outits, reason));
  for (; *outits < its; ++*outits) {
    PetscCall(StrataVecGetArrays(b, x, w, &ab, &ax, &aw, &type));
    PetscCall(StrataJacobiSetRHS(j, PETSC_FALSE, type, ab));
    PetscCall(StrataJacobiSweep(j, PETSC_FALSE, type, 0, j->cycles, ax, aw, NULL, NULL));
    PetscCall(StrataVecRestoreArrays(b, x, w, &ab, &ax, &aw, type));
    PetscCall(VecCopy(w, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPreSolve_HJacobi(PC pc, KSP ksp, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(StrataPreSolveRichardson(pc, ksp, PCApplyRichardson_HJacobi));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPostSolve_HJacobi(PC pc, KSP ksp, Vec b, Vec x)
{
  PetscFunctionBegin;
  pc->ops->applyrichardson = PCApplyRichardson_HJacobi;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the object ------------------------------------------------------------------------------------------------------------------ */

static PetscErrorCode PCSetUp_HJacobi(PC pc)
{
  PC_HJacobi  *h = (PC_HJacobi *)pc->data;
  StrataJacobi j = h->jacobi;

  PetscFunctionBegin;
  PetscCall(StrataJacobiSetUp(j, pc->pmat, pc->mat, pc->dm, NULL));
  PetscCall(PCSetFailedReason(pc, j->failure ? PC_FACTOR_NUMERIC_ZEROPIVOT : PC_NOERROR));
  if (j->failure && pc->erroriffailure) {
    char words[128];

    PetscCall(StrataGridRowWords(j->grid, j->failedrow, words, sizeof(words)));
    SETERRQ(PetscObjectComm((PetscObject)pc), PETSC_ERR_MAT_LU_ZRPVT, "The matrix cannot be swept: %s in %s", j->failure, words);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_HJacobi(PC pc, StrataOptionItems PetscOptionsObject)
{
  PC_HJacobi *h = (PC_HJacobi *)pc->data;
  PetscInt    cycles = h->jacobi->cycles;
  PetscBool   set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Hierarchical Jacobi options");
  PetscCall(StrataJacobiSetFromOptions(h->jacobi, PetscOptionsObject));
  PetscCall(PetscOptionsInt("-pc_hjacobi_cycles", "Cycles from zero", "PCHJacobiSetCycles", cycles, &cycles, &set));
  if (set) PetscCall(PCHJacobiSetCycles(pc, cycles));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_HJacobi(PC pc, PetscViewer viewer)
{
  PC_HJacobi *h = (PC_HJacobi *)pc->data;

  PetscFunctionBegin;
  PetscCall(StrataJacobiView(h->jacobi, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_HJacobi(PC pc)
{
  PetscFunctionBegin;
  PetscCall(StrataJacobiReset(((PC_HJacobi *)pc->data)->jacobi));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_HJacobi(PC pc)
{
  PetscFunctionBegin;
  PetscCall(StrataJacobiDestroy(&((PC_HJacobi *)pc->data)->jacobi));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCHJACOBI = "hjacobi" - Cycles of hierarchical Jacobi sweeps on a structured grid, as a preconditioner and as a smoother

   Options Database Keys:
+  -pc_hjacobi_cycles <n>                    - cycles, from zero, see `PCHJacobiSetCycles()`
.  -pc_hjacobi_subiterations <k>             - sweeps of a cycle, see `PCHJacobiSetSubiterations()`
.  -pc_hjacobi_tile <x,y,z>                  - cells that a tile computes along each axis, see `PCHJacobiSetTile()`
.  -pc_hjacobi_overlap <n,exact>             - cells that neighbouring tiles share, see `PCHJacobiSetOverlap()`
.  -pc_hjacobi_schedule <constant,chebyshev,srj> - weights of the sweeps, see `PCHJacobiSetSchedule()`
.  -pc_hjacobi_omega <omega>                 - the weight of all sweeps, see `PCHJacobiSetOmega()`
.  -pc_hjacobi_chebyshev_bounds <a,b>        - eigenvalues that the weights are for, see `PCHJacobiSetChebyshevBounds()`
.  -pc_hjacobi_srj_levels <P>                - number of different weights, see `PCHJacobiSetSRJLevels()`
.  -pc_hjacobi_kernel <auto,...>             - kernel for GPUs, see `PCHJacobiSetKernel()`
.  -pc_hjacobi_precision <same,single>       - precision of the sweeps, see `PCHJacobiSetPrecision()`
-  -pc_hjacobi_grid <nx,ny,nz>               - the grid, for a matrix without one, see `PCHJacobiSetGrid()`

   Level: beginner

   Notes:
   The defaults make a smoother: one cycle of two sweeps with Chebyshev weights for the upper part of the spectrum, by the rule of `KSPCHEBYSHEV`, and
   iterates that do not depend on tiles and ranks. `-mg_levels_ksp_type richardson -mg_levels_pc_type hjacobi` uses it in `PCMG`.

   See `KSPHJACOBI` for cycles, tiles and overlap, and for the matrices that it takes.

   With overlap 0 or exact the preconditioner of a symmetric matrix is symmetric, otherwise not; `-ksp_view` says so. The transpose is always there; with
   other overlaps it goes through the cycles backwards, on the host.

   `PCApplyRichardson()` does a fixed number of iterations. `KSPRICHARDSON` uses it if it has no norm to test (`KSP_NORM_NONE`).

.seealso: `KSPHJACOBI`, `PCCOLUMN`, `MATSTRATA`, `PCCreate()`, `PCSetType()`, `PCType`, `PC`
M*/
PetscErrorCode PCCreate_HJacobi(PC pc)
{
  PC_HJacobi *h;

  PetscFunctionBegin;
  PetscCall(PetscNew(&h));
  pc->data = h;
  PetscCall(StrataJacobiCreate((PetscObject)pc, "pc_hjacobi_", &h->jacobi));
  h->jacobi->cycles = 1;
  h->jacobi->schedule = HJACOBI_CHEBYSHEV;
  pc->ops->setup = PCSetUp_HJacobi;
  pc->ops->apply = PCApply_HJacobi;
  pc->ops->applytranspose = PCApplyTranspose_HJacobi;
  pc->ops->applyrichardson = PCApplyRichardson_HJacobi;
  pc->ops->matapply = PCMatApply_HJacobi;
  pc->ops->presolve = PCPreSolve_HJacobi;
  pc->ops->postsolve = PCPostSolve_HJacobi;
  pc->ops->setfromoptions = PCSetFromOptions_HJacobi;
  pc->ops->view = PCView_HJacobi;
  pc->ops->reset = PCReset_HJacobi;
  pc->ops->destroy = PCDestroy_HJacobi;
  PetscFunctionReturn(PETSC_SUCCESS);
}
