static char help[] = "Solves -Laplace u = 1 on the unit interval, square or cube, u = 0 on the boundary: the plainest use of a Strata operator.\n\
See README.md in this folder.\n";

#include "common.h"

/* n interior points along each axis, h = 1/(n + 1) apart */
typedef struct {
  PetscInt  dim, n[3];
  PetscInt  copies;  /* of a line: that many lines without coupling between them, a batch of one-dimensional problems */
  PetscBool guess;   /* start from a constant guess */
  PetscReal initial; /* this one */
} Problem;

static PetscErrorCode ProblemSetFromOptions(Problem *p)
{
  PetscInt n = 64;

  PetscFunctionBeginUser;
  p->dim = 2;
  p->copies = 1;
  p->initial = 0;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Options of the Poisson problem", NULL);
  PetscCall(PetscOptionsInt("-dim", "Dimensions", NULL, p->dim, &p->dim, NULL));
  PetscCall(PetscOptionsInt("-n", "Interior points along each axis", NULL, n, &n, NULL));
  for (PetscInt a = 0; a < 3; a++) p->n[a] = n;
  PetscCall(PetscOptionsInt("-nx", "Interior points along x", NULL, p->n[0], &p->n[0], NULL));
  PetscCall(PetscOptionsInt("-ny", "Interior points along y", NULL, p->n[1], &p->n[1], NULL));
  PetscCall(PetscOptionsInt("-nz", "Interior points along z", NULL, p->n[2], &p->n[2], NULL));
  PetscCall(PetscOptionsInt("-copies", "Independent lines (with -dim 1)", NULL, p->copies, &p->copies, NULL));
  PetscCall(PetscOptionsReal("-initial", "Start from this constant, and measure residuals by the first", NULL, p->initial, &p->initial, &p->guess));
  PetscOptionsEnd();
  PetscCheck(p->dim >= 1 && p->dim <= 3, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-dim %" PetscInt_FMT ": there are 1, 2 or 3 dimensions",
             p->dim);
  for (PetscInt a = 0; a < p->dim; a++)
    PetscCheck(p->n[a] > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " points along %c: there must be at least 1 (-n, -n%c)",
               p->n[a], (char)('x' + a), (char)('x' + a));
  PetscCheck(p->copies > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-copies %" PetscInt_FMT ": there must be at least 1", p->copies);
  PetscCheck(p->copies == 1 || p->dim == 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP, "-copies %" PetscInt_FMT " are of lines: they need -dim 1",
             p->copies);
  PetscFunctionReturn(0);
}

/* Copies of a line lie side by side in a grid of two dimensions */
static PetscErrorCode CreateGrid(const Problem *p, DM *dm)
{
  const PetscBool lines = p->copies > 1 ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, dm));
  PetscCall(DMSetDimension(*dm, lines ? 2 : p->dim));
  PetscCall(DMDASetSizes(*dm, p->n[0], lines ? p->copies : p->dim > 1 ? p->n[1] : 1, p->dim > 2 ? p->n[2] : 1));
  PetscCall(DMDASetStencilType(*dm, DMDA_STENCIL_STAR));
  PetscCall(DMDASetStencilWidth(*dm, 1));
  PetscCall(DMDASetDof(*dm, 1));
  PetscCall(DMSetFromOptions(*dm)); /* -dm_vec_type cuda puts all vectors, and the work on them, on the GPU */
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(0);
}

/*
   The same stencil in every cell: -1/h^2 towards each neighbour, and the diagonal such that the sum of all entries, the excess, is zero.
   Sides are Dirichlet unless MatStrataSetSides() says otherwise: beyond them u is zero. Legs that are zero couple nothing: so the copies
   of a line stay apart.
*/
static PetscErrorCode CreateOperator(const Problem *p, DM dm, Mat *A)
{
  PetscScalar legs[6] = {0};

  PetscFunctionBeginUser;
  for (PetscInt a = 0; a < p->dim; a++) legs[2 * a] = legs[2 * a + 1] = -PetscSqr((PetscReal)p->n[a] + 1);
  PetscCall(MatCreateStrata(dm, A));
  PetscCall(MatStrataSetConstant(*A, 0, legs));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* CG without a preconditioner; all of it can be changed by PETSc's options */
static PetscErrorCode CreateSolver(const Problem *p, DM dm, Mat A, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetDM(pc, dm)); /* for preconditioners that need the grid, such as multigrid */
  PetscCall(PCSetType(pc, PCNONE));
  if (p->guess) {
    PetscCall(KSPSetInitialGuessNonzero(*ksp, PETSC_TRUE));
    PetscCall(KSPConvergedDefaultSetUIRNorm(*ksp));
  }
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

/* Each point is the middle of a cell of the size h */
static PetscErrorCode WriteFields(const Problem *p, DM dm, Vec x, const char file[])
{
  const char *const names[] = {"u"};
  PetscReal        *edges[3] = {NULL, NULL, NULL};

  PetscFunctionBeginUser;
  for (PetscInt a = 0; a < p->dim; a++) {
    PetscCall(PetscMalloc1(p->n[a] + 1, &edges[a]));
    for (PetscInt i = 0; i <= p->n[a]; i++) edges[a][i] = ((PetscReal)i + 0.5) / ((PetscReal)p->n[a] + 1);
  }
  PetscCall(StrataWriteFields(dm, file, 1, &x, names, (const PetscReal *const *)edges));
  for (PetscInt a = 0; a < p->dim; a++) PetscCall(PetscFree(edges[a]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Wrote %s\n", file));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Example  example;
  Problem  p;
  PetscInt size;
  DM       dm;
  Mat      A;
  KSP      ksp;
  Vec      x, b;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(StrataInitializePackage());
  PetscCall(ExampleSetFromOptions(&example));
  PetscCall(ProblemSetFromOptions(&p));
  PetscCall(CreateGrid(&p, &dm));
  PetscCall(CreateOperator(&p, dm, &A));
  PetscCall(ExampleAssemble(&example, dm, &A));
  PetscCall(CreateSolver(&p, dm, A, &ksp));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(VecSet(x, p.initial));
  PetscCall(VecGetSize(x, &size));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Poisson in %" PetscInt_FMT "D, %" PetscInt_FMT " unknowns\n", p.dim, size));
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
