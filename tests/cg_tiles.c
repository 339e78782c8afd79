/*
   KSPCGFUSED with columns of operators that have numbers of each cell, masks or periodic sides, against KSPCG: all of an iteration together, on the host
   in one pass, on a GPU in two over tiles of columns
*/
/* ranks: 1 2 */
#include "cg.h"
#include "problems.h"

typedef struct {
  MatStrataForm form;
  PetscInt      N[3];
  int           around; /* bits: periodic along x, y, z */
  Mask          mask;
  const char   *whynot; /* why not over tiles of columns, NULL if it is */
} Case;

static const Case cases[] = {
    {MAT_STRATA_FACES, {37, 19, 11}, 1, MASK_SCATTERED, NULL},
    {MAT_STRATA_FACES, {64, 16, 20}, 1, MASK_NONE, NULL},
    {MAT_STRATA_FACES, {2, 9, 8}, 3, MASK_WALL, NULL},
    {MAT_STRATA_FACES, {1, 40, 21}, 3, MASK_NONE, NULL},
    {MAT_STRATA_FACES, {11, 7, 64}, 0, MASK_SCATTERED, NULL},
    {MAT_STRATA_CONSTANT, {33, 17, 20}, 0, MASK_WALL, NULL},
    {MAT_STRATA_CONSTANT, {35, 10, 15}, 1, MASK_NONE, NULL},
    {MAT_STRATA_TENSOR, {34, 18, 13}, 2, MASK_SCATTERED, NULL},
    {MAT_STRATA_FACES, {9, 8, 65}, 0, MASK_NONE, "columns of more than 64 cells"},
    {MAT_STRATA_FACES, {9, 8, 12}, 4, MASK_NONE, "columns that are periodic"},
};

static PetscErrorCode Solve(Mat A, DM dm, KSPType type, KSPNormType norm, Vec b, KSP *ksp, Vec *x)
{
  PetscFunctionBeginUser;
  PetscCall(CGSolver(A, dm, type, norm, ksp));
  PetscCall(KSPSetTolerances(*ksp, 1e-9, 1e-50, 1e5, 500));
  PetscCall(KSPSetInitialGuessNonzero(*ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(VecDuplicate(b, x));
  PetscCall(VecSet(*x, 0.5));
  PetscCall(KSPSolve(*ksp, b, *x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(const Case *c, int device)
{
  const KSPNormType norms[] = {KSP_NORM_UNPRECONDITIONED, KSP_NORM_PRECONDITIONED};
  Problem           p = {PETSC_COMM_WORLD, 3, {c->N[0], c->N[1], c->N[2]}};
  PetscMPIInt       size;
  Mat               A;
  Vec               b;

  PetscFunctionBeginUser;
  MPI_Comm_size(PETSC_COMM_WORLD, &size);
  p.form = c->form;
  p.axis = 2;
  p.symmetric = 1;
  p.mask = c->mask;
  for (int a = 0; a < 3; a++) {
    p.boundary[a] = c->around >> a & 1 ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    p.procs[a] = a == 1 ? size : 1;
    p.side[2 * a] = a == 1 ? MAT_STRATA_DIRICHLET : MAT_STRATA_NEUMANN;
    p.side[2 * a + 1] = MAT_STRATA_NEUMANN;
  }
  PetscCall(ProblemSetUp(&p));
  if (device) PetscCall(DMSetVecType(p.dm, VECCUDA));
  PetscCall(ProblemOperator(&p, &A));
  PetscCall(MatShift(A, 0.01));
  PetscCall(ProblemVector(&p, 7, &b)); /* masked cells have a right-hand side as well */
  for (int m = 0; m < 2; m++) {
    KSP                cg, fused;
    Vec                x, y;
    KSPConvergedReason reason[2];
    PetscInt           its[2];
    PetscReal          off, all;
    char               view[8192];

    PetscCall(PetscOptionsInsertString(NULL, "-t_pc_type column -t_pc_column_axis z"));
    PetscCall(Solve(A, p.dm, KSPCG, norms[m], b, &cg, &x));
    PetscCall(Solve(A, p.dm, KSPCGFUSED, norms[m], b, &fused, &y));
    PetscCall(PetscOptionsClear(NULL));
    PetscCall(KSPGetIterationNumber(cg, &its[0]));
    PetscCall(KSPGetIterationNumber(fused, &its[1]));
    PetscCall(KSPGetConvergedReason(cg, &reason[0]));
    PetscCall(KSPGetConvergedReason(fused, &reason[1]));
    is_int(its[1], its[0], "%s, %s: iterations of cg", ProblemName(&p), device ? "device" : "host");
    is_int(reason[1], reason[0], "its reason, %s", KSPConvergedReasons[reason[0]]);
    PetscCall(VecNorm(x, NORM_2, &all));
    PetscCall(VecAXPY(y, -1, x));
    PetscCall(VecNorm(y, NORM_2, &off));
    ok(off <= 1e-9 * all, "its solution, off by %g of %g", (double)off, (double)all);
    PetscCall(TapView((PetscObject)fused, view, sizeof(view)));
    if (size > 1)
      ok(strstr(view, "several ranks") != NULL, "it works unfused on several ranks");
    else if (!device)
      ok(strstr(view, c->around & 4 ? "preconditioner unfused" : "in one pass, in host memory") != NULL, "in one pass, unless columns are periodic");
    else
      ok(strstr(view, c->whynot ? c->whynot : "in two passes over tiles of columns, in CUDA memory") != NULL, "%s",
         c->whynot ? c->whynot : "over tiles");
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(KSPDestroy(&cg));
    PetscCall(KSPDestroy(&fused));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&p.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  for (int device = 0; device <= TapHasDevice(); device++)
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) PetscCall(Check(&cases[c], device));
  return TapEnd();
}
