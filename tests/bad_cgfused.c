/*
   Wrong use of KSPCGFUSED: an error on every rank that says what to do, and never a wrong answer in silence
*/
/* ranks: 1 3 */
#include "tap.h"

static PetscErrorCode Make(PetscInt n, DM *dm, Mat *A)
{
  const PetscScalar legs[6] = {-1, -1, -1, -1, -20, -20};

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, 4, PETSC_DECIDE,
                         PETSC_DECIDE, 1, 1, 1, NULL, NULL, NULL, dm));
  PetscCall(DMSetUp(*dm));
  PetscCall(MatCreateStrata(*dm, A));
  PetscCall(MatStrataSetConstant(*A, 1, legs));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(Mat A, const char pctype[], KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPCGFUSED));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, pctype));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSettings(void)
{
  KSP            ksp;
  KSPCGFusedForm form;
  PetscInt       interval;
  PetscMPIInt    rank, size;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCGFUSED));
  is_error(KSPCGFusedSetForm(ksp, (KSPCGFusedForm)7), PETSC_ERR_ARG_OUTOFRANGE, "form 7 gear classic", "a form that there is not");
  is_error(KSPCGFusedSetCheckInterval(ksp, 0), PETSC_ERR_ARG_OUTOFRANGE, "0 iterations -ksp_cgfused_check_interval 1 or more", "an interval of 0");
  is_error(KSPCGFusedSetCheckInterval(ksp, -5), PETSC_ERR_ARG_OUTOFRANGE, "-5 iterations", "a negative interval");
  PetscCall(PetscOptionsInsertString(NULL, "-ksp_cgfused_form fast"));
  is_error(KSPSetFromOptions(ksp), PETSC_ERR_USER, "fast gear classic", "a form that there is not, by option");
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  is_error(KSPCGFusedGetForm(ksp, &form), PETSC_ERR_SUP, "KSPCGFusedGetForm", "getting a form from another type");
  is_error(KSPCGFusedGetCheckInterval(ksp, &interval), PETSC_ERR_SUP, "KSPCGFusedGetCheckInterval", "getting an interval from another type");
  PetscCall(KSPDestroy(&ksp));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size > 1) {
    DM  dm;
    Mat A;

    PetscCall(Make(6, &dm, &A));
    PetscCall(Create(A, PCNONE, &ksp));
    PetscCall(KSPCGFusedSetForm(ksp, rank ? KSP_CGFUSED_CLASSIC : KSP_CGFUSED_GEAR));
    is_error(KSPSetUp(ksp), PETSC_ERR_ARG_WRONG, "-ksp_cgfused_form differs ranks", "another form on another rank");
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Expect(Mat A, const char pctype[], Vec b, KSPConvergedReason expected, const char name[])
{
  KSP                ksp;
  Vec                x;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(Create(A, pctype, &ksp));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  ok(reason == expected, "%s: %s, got %s", name, KSPConvergedReasons[expected], KSPConvergedReasons[reason]);
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  TapErrorBegin();
  {
    const PetscErrorCode code = KSPSolve(ksp, b, x);

    TapErrorEnd();
    ok(code != 0, "%s: an error if asked for", name);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A preconditioner that is not what the method needs */
static PetscErrorCode Alternate(PC pc, Vec r, Vec z)
{
  static int sign = 1;

  PetscFunctionBeginUser;
  sign = -sign;
  PetscCall(VecCopy(r, z));
  PetscCall(VecScale(z, sign));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestFailures(void)
{
  const PetscScalar  singular[6] = {-1, -1, -1, -1, 0, 0};
  DM                 dm;
  Mat                A;
  Vec                b, x;
  KSP                ksp;
  PC                 pc;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(Make(9, &dm, &A));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(Create(A, PCSHELL, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCShellSetApply(pc, Alternate));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  ok(reason == KSP_DIVERGED_INDEFINITE_PC, "a preconditioner that is not definite: %s", KSPConvergedReasons[reason]);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatStrataSetConstant(A, -3, singular));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Expect(A, PCNONE, b, KSP_DIVERGED_INDEFINITE_MAT, "an operator that is not definite"));
  PetscCall(MatStrataSetConstant(A, -4, singular)); /* a zero diagonal, and columns of zeros */
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Expect(A, PCCOLUMN, b, KSP_DIVERGED_PC_FAILED, "columns without an inverse"));
  PetscCall(MatStrataSetConstant(A, NAN, singular));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Expect(A, PCCOLUMN, b, KSP_DIVERGED_PC_FAILED, "NaN in the operator, columns"));
  PetscCall(Expect(A, PCNONE, b, KSP_DIVERGED_NANORINF, "NaN in the operator"));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscCall(VecDestroy(&b));
  PetscCall(Make(9, &dm, &A));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecSet(b, NAN));
  PetscCall(Expect(A, PCCOLUMN, b, KSP_DIVERGED_NANORINF, "NaN in the right-hand side"));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrices that are no star are solved unfused, and view says so; so does the right side of the preconditioner */
static PetscErrorCode TestUnfused(void)
{
  Mat  A;
  Vec  b, x;
  KSP  ksp;
  char text[8192];

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, 10, 10, PETSC_DETERMINE, PETSC_DETERMINE, 1, NULL, 0, NULL, &A));
  {
    PetscInt first, last;

    PetscCall(MatGetOwnershipRange(A, &first, &last));
    for (PetscInt i = first; i < last; i++) PetscCall(MatSetValue(A, i, i, 2, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(Create(A, PCJACOBI, &ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(TapView((PetscObject)ksp, text, sizeof(text)));
  has_words(text, "operator and preconditioner unfused: a matrix of another type", "view says what is not fused");
  PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
  is_error(KSPSolve(ksp, b, x), PETSC_ERR_SUP, "cgfused side RIGHT", "a preconditioner on the right is refused");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix on a grid with entries outside the star: the preconditioner takes those on its lines, and the solver does as cg does */
static PetscErrorCode TestOutside(void)
{
  const PetscInt  n[3] = {7, 5, 6};
  const PetscReal off[4][4] = {{1, 0, 0, -0.5}, {0, 1, 0, -0.5}, {0, 0, 1, -2}, {1, 1, 0, -0.25}}; /* to the cell so far away, and back */
  DM              dm;
  Mat             A;
  Vec             b, x[2];
  KSP             ksp;
  DMDALocalInfo   info;
  PetscInt        its[2];
  PetscReal       error, norm;
  char            text[8192];

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, n[0], n[1], n[2], PETSC_DECIDE,
                         PETSC_DECIDE, 1, 1, 1, NULL, NULL, NULL, &dm));
  PetscCall(DMSetMatType(dm, MATAIJ));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(DMDAGetLocalInfo(dm, &info));
  for (PetscInt k = info.zs; k < info.zs + info.zm; k++)
    for (PetscInt j = info.ys; j < info.ys + info.ym; j++)
      for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
        MatStencil  row = {k, j, i, 0}, col[9];
        PetscScalar value[9] = {8};
        PetscInt    count = 1;

        col[0] = row;
        for (int m = 0; m < 8; m++) {
          const PetscInt to[3] = {i + (m % 2 ? -1 : 1) * (PetscInt)off[m / 2][0], j + (m % 2 ? -1 : 1) * (PetscInt)off[m / 2][1],
                                  k + (m % 2 ? -1 : 1) * (PetscInt)off[m / 2][2]};

          if (to[0] < 0 || to[0] >= n[0] || to[1] < 0 || to[1] >= n[1] || to[2] < 0 || to[2] >= n[2]) continue;
          col[count].k = to[2];
          col[count].j = to[1];
          col[count].i = to[0];
          value[count++] = off[m / 2][3];
        }
        PetscCall(MatSetValuesStencil(A, 1, &row, count, col, value, INSERT_VALUES));
      }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, NULL, &b));
  PetscCall(VecSetRandom(b, NULL));
  for (int fused = 0; fused < 2; fused++) {
    PC pc;

    PetscCall(Create(A, PCCOLUMN, &ksp));
    if (!fused) PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetDM(pc, dm));
    PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
    PetscCall(VecDuplicate(b, &x[fused]));
    PetscCall(KSPSolve(ksp, b, x[fused]));
    PetscCall(KSPGetIterationNumber(ksp, &its[fused]));
    PetscCall(TapView((PetscObject)ksp, text, sizeof(text)));
    PetscCall(KSPDestroy(&ksp));
  }
  has_words(text, "operator and preconditioner unfused: a matrix of another type", "entries outside the star: view says what is not fused");
  PetscCall(VecNorm(x[0], NORM_2, &norm));
  PetscCall(VecAXPY(x[1], -1, x[0]));
  PetscCall(VecNorm(x[1], NORM_2, &error));
  ok(its[0] > 2 && its[1] == its[0] && error <= 1e-10 * norm, "entries outside the star: %d iterations as cg, off by %.1e", (int)its[1],
     error / norm);
  for (int m = 0; m < 2; m++) PetscCall(VecDestroy(&x[m]));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TapBegin(&argc, &argv));
  PetscCall(TestSettings());
  PetscCall(TestFailures());
  PetscCall(TestUnfused());
  PetscCall(TestOutside());
  return TapEnd();
}
