/*
   The grid of a matrix, and vectors that lie on its rows
*/
#include "operatorimpl.h"

/*
   StrataGridCheckMat - Fails on all ranks unless the rows of the matrix are the cells of the grid
*/
PetscErrorCode StrataGridCheckMat(StrataGrid g, Mat A)
{
  PetscInt  n, N;
  PetscBool fits;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(MatGetSize(A, &N, NULL));
  fits = n == g->size_local ? PETSC_TRUE : PETSC_FALSE;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &fits, 1, STRATA_MPI_BOOL, MPI_LAND, g->comm));
  PetscCheck(fits, g->comm, PETSC_ERR_ARG_SIZ,
             "The matrix has %" PetscInt_FMT " rows, the DMDA %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT
             " cells, or other ranks own them: the matrix must be one of this DMDA, see DMCreateMatrix()",
             N, g->N[0], g->N[1], g->N[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataMatGetGrid(Mat A, DM dm, StrataGrid *grid)
{
  PetscBool isstrata;

  PetscFunctionBegin;
  *grid = NULL;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSTRATA, &isstrata));
  if (isstrata) {
    PetscCall(MatStrataGetGrid(A, grid));
    PetscCall(StrataGridReference(*grid));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!dm) PetscCall(MatGetDM(A, &dm));
  if (!dm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrataGridCreateDMDA(dm, grid));
  PetscCall(StrataGridCheckMat(*grid, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataMatMakeGrid - The grid of a matrix that has none, from given sizes: its rows run through the cells, x fastest. option: begins the names of the
   options.
*/
PetscErrorCode StrataMatMakeGrid(Mat A, PetscInt dim, const PetscInt N[], const char option[], StrataGrid *grid)
{
  PetscInt rows, total, rest, a;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &rows, NULL));
  PetscCall(MatGetSize(A, &total, NULL));
  for (a = 0, rest = total; a < dim; a++) rest = rest % N[a] ? 0 : rest / N[a]; /* the product could be too large a number */
  PetscCheck(rest == 1, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
             "A grid of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " cells was given, but the matrix has %" PetscInt_FMT
             " rows: -%sgrid needs the sizes of the grid that the rows run through, x fastest",
             N[0], dim > 1 ? N[1] : 1, dim > 2 ? N[2] : 1, total, option);
  PetscCall(StrataGridCreateSlabs(PetscObjectComm((PetscObject)A), dim, N, rows, grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataMatFindDM - The DM that a matrix is on: the first of two, of that of the matrix and of that of the operator; NULL if there is none
*/
PetscErrorCode StrataMatFindDM(Mat A, Mat amat, DM first, DM second, DM *dm)
{
  DM candidate[4] = {first, second, NULL, NULL};

  PetscFunctionBegin;
  *dm = NULL;
  PetscCall(MatGetDM(A, &candidate[2]));
  PetscCall(MatGetDM(amat, &candidate[3]));
  for (int m = 0; m < 4 && !*dm; m++) { /* a DMSHELL is what solvers attach where there is no DM */
    PetscBool shell = PETSC_TRUE;

    if (candidate[m]) PetscCall(PetscObjectTypeCompare((PetscObject)candidate[m], DMSHELL, &shell));
    if (!shell) *dm = candidate[m];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   StrataMatCheckVec - Fails on all ranks unless the vector has the rows of the matrix, each on its rank: PETSc looks at some vectors only, and on
   some ranks
*/
PetscErrorCode StrataMatCheckVec(Mat A, Vec v)
{
  PetscLayout layout;
  PetscBool   same;

  PetscFunctionBegin;
  PetscCall(VecGetLayout(v, &layout));
  PetscCall(PetscLayoutCompare(layout, A->rmap, &same));
  PetscCheck(same, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
             "A vector has %" PetscInt_FMT " entries, on this rank %" PetscInt_FMT ", and the matrix %" PetscInt_FMT
             " rows, on this rank %" PetscInt_FMT " (or they differ on another rank): create it with MatCreateVecs() or DMCreateGlobalVector()",
             layout->N, layout->n, A->rmap->N, A->rmap->n);
  PetscFunctionReturn(PETSC_SUCCESS);
}
