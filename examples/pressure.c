static char help[] = "Solves the pressure-correction equation of an atmosphere model on a thin shell, one panel of a cubed sphere.\n\
The operator keeps a few numbers of each column and level, no matrix; columns are solved exactly as preconditioner.\n\
See README.md in this folder.\n";

#include "common.h"

/*
   An implicit time step of a forecast model ends in an elliptic equation for the pressure,

     -omega2 (Laplace u + lambda2 r^-2 d/dr (r^2 du/dr)) + u = f     on the shell 1 <= r <= 1 + depth,

   which has to be solved anew in every step. The atmosphere is thin: cells are far wider than high, so that the coupling within a column
   is much stronger than that between columns. This is why the preconditioner solves each column exactly and leaves the rest to CG, and
   why the operator can be small: it is made of numbers that belong to a column (areas, lengths) and numbers that belong to a level.
*/
typedef struct {
  PetscInt  m, nz;   /* columns along each side of the panel, levels */
  PetscInt  axis;    /* of the columns in the grid: 0 for x, 2 for z */
  PetscReal omega2;  /* squared distance that sound travels in a time step, over the radius */
  PetscReal lambda2; /* vertical over horizontal coupling */
  PetscReal depth;   /* of the atmosphere, over the radius */
} Problem;

static PetscErrorCode ProblemSetFromOptions(Problem *p)
{
  const char *const axes[] = {"x", "z"};
  PetscInt          axis = 1;

  PetscFunctionBeginUser;
  p->m = 256;
  p->nz = 128;
  p->omega2 = 6.7e-4;
  p->lambda2 = 3.4e-2;
  p->depth = 0.0126;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Options of the pressure problem", NULL);
  PetscCall(PetscOptionsInt("-m", "Columns along each side of the panel", NULL, p->m, &p->m, NULL));
  PetscCall(PetscOptionsInt("-nz", "Levels", NULL, p->nz, &p->nz, NULL));
  PetscCall(PetscOptionsEList("-axis", "Axis of the columns in the grid", NULL, axes, 2, axes[axis], &axis, NULL));
  PetscCall(PetscOptionsReal("-omega2", "Squared distance of sound in a step over the radius", NULL, p->omega2, &p->omega2, NULL));
  PetscCall(PetscOptionsReal("-lambda2", "Vertical over horizontal coupling", NULL, p->lambda2, &p->lambda2, NULL));
  PetscCall(PetscOptionsReal("-depth", "Depth of the atmosphere over the radius", NULL, p->depth, &p->depth, NULL));
  PetscOptionsEnd();
  p->axis = axis ? 2 : 0;
  PetscCheck(p->m > 0 && p->nz > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-m %" PetscInt_FMT " and -nz %" PetscInt_FMT " must be at least 1",
             p->m, p->nz);
  PetscFunctionReturn(0);
}

/* A grid of m x m columns. Each column lies on one rank, so the process grid must not cut its axis. */
static PetscErrorCode CreateGrid(const Problem *p, DM *dm)
{
  PetscInt n[3] = {p->m, p->m, p->m}, ranks[3] = {PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE};

  PetscFunctionBeginUser;
  n[p->axis] = p->nz;
  ranks[p->axis] = 1;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n[0], n[1], n[2], ranks[0],
                         ranks[1], ranks[2], 1, 1, NULL, NULL, NULL, dm));
  PetscCall(DMSetFromOptions(*dm)); /* -dm_vec_type cuda puts all vectors, and the work on them, on the GPU */
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(0);
}

/*
   A Strata operator is a PETSc matrix on a DMDA. Here its coefficients are filled in by a helper of the library; MatStrataSetTensor() is
   what it calls, and what a model with another geometry calls itself.
*/
static PetscErrorCode CreateOperator(const Problem *p, DM dm, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateStrata(dm, A));
  PetscCall(StrataPressureSetOperator(*A, p->axis, p->omega2, p->lambda2, p->depth));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* CG with the column preconditioner, until the residual is 1e-5 of the right-hand side; all of it can be changed by PETSc's options */
static PetscErrorCode CreateSolver(const Problem *p, DM dm, Mat A, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(*ksp, 1e-5, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetDM(pc, dm)); /* the column preconditioner asks the operator for the grid, others (multigrid) ask the PC */
  PetscCall(PCSetType(pc, PCCOLUMN));
  PetscCall(PCColumnSetAxis(pc, p->axis));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

/* Writes the solution, with heights over the ground and positions on the panel as coordinates; examples/plot.py draws it */
static PetscErrorCode WriteFields(const Problem *p, DM dm, Vec x, const char file[])
{
  const char *const names[] = {"pressure"};
  const PetscReal  *coordinates[3];
  PetscReal        *panel, *height;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(p->m + 1, &panel, p->nz + 1, &height));
  for (PetscInt i = 0; i <= p->m; i++) panel[i] = -1 + 2 * (PetscReal)i / (PetscReal)p->m;
  for (PetscInt k = 0; k <= p->nz; k++) height[k] = p->depth * PetscSqr((PetscReal)k / (PetscReal)p->nz);
  for (PetscInt a = 0; a < 3; a++) coordinates[a] = a == p->axis ? height : panel;
  PetscCall(StrataWriteFields(dm, file, 1, &x, names, coordinates));
  PetscCall(PetscFree2(panel, height));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Wrote %s\n", file));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Example example;
  Problem p;
  DM      dm;
  Mat     A;
  KSP     ksp;
  Vec     x, b;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(StrataInitializePackage());
  PetscCall(ExampleSetFromOptions(&example));
  PetscCall(ProblemSetFromOptions(&p));
  PetscCall(CreateGrid(&p, &dm));
  PetscCall(CreateOperator(&p, dm, &A));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(StrataPressureSetRHS(A, p.axis, p.depth, b));
  PetscCall(ExampleAssemble(&example, dm, &A));
  PetscCall(CreateSolver(&p, dm, A, &ksp));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "Pressure correction on %" PetscInt_FMT " x %" PetscInt_FMT " columns of %" PetscInt_FMT " levels, %lld unknowns\n", p.m, p.m,
                        p.nz, (long long)p.m * p.m * p.nz));
  PetscCall(ExampleSolve(&example, ksp, b, x));
  if (example.output[0]) PetscCall(WriteFields(&p, dm, x, example.output));
  PetscCall(ExamplePrintResult(&example, ksp, b, x, NULL));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return example.reason > 0 ? 0 : 1;
}
