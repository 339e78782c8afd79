/*
   Strata: column solvers, matrix-free operators and smoothers for flat, layered, structured grids, as types that any PETSc
   program can pick at run time (-dll_append libstrata.so). This header is the whole public interface.
*/
#ifndef STRATA_H
#define STRATA_H

#include <petscksp.h>
#include <petscdmda.h>

#define STRATA_VERSION_MAJOR    0
#define STRATA_VERSION_MINOR    1
#define STRATA_VERSION_SUBMINOR 0

/* Types that the package registers */
#define MATSTRATA "strata"
#define PCCOLUMN  "column"

/*E
  MatStrataForm - the form in which a `MATSTRATA` operator keeps its coefficients

  Values:
+ `MAT_STRATA_NONE`     - no coefficients were set yet
. `MAT_STRATA_CONSTANT` - one number for each leg of the stencil, see `MatStrataSetConstant()`
. `MAT_STRATA_TENSOR`   - numbers of each column times numbers of each level, see `MatStrataSetTensor()`
. `MAT_STRATA_FACES`    - a symmetric operator with one number for each face and cell, see `MatStrataSetFaces()`
- `MAT_STRATA_LEGS`     - a general operator with one number for each leg of each cell, see `MatStrataSetLegs()`

  Level: beginner

.seealso: `MATSTRATA`, `MatCreateStrata()`, `MatStrataGetForm()`
E*/
typedef enum { MAT_STRATA_NONE, MAT_STRATA_CONSTANT, MAT_STRATA_TENSOR, MAT_STRATA_FACES, MAT_STRATA_LEGS } MatStrataForm;
PETSC_EXTERN const char *const MatStrataForms[];

/*E
  MatStrataSide - what a `MATSTRATA` operator finds beyond a side of the grid that is not periodic

  Values:
+ `MAT_STRATA_DIRICHLET` - the value zero: the leg that crosses the side stays in the diagonal
- `MAT_STRATA_NEUMANN`   - no flux: the leg that crosses the side is left out

  Level: beginner

.seealso: `MATSTRATA`, `MatStrataSetSides()`
E*/
typedef enum { MAT_STRATA_DIRICHLET, MAT_STRATA_NEUMANN } MatStrataSide;
PETSC_EXTERN const char *const MatStrataSides[];

/* Package */
PETSC_EXTERN PetscErrorCode StrataInitializePackage(void);
PETSC_EXTERN PetscErrorCode StrataFinalizePackage(void);
PETSC_EXTERN PetscErrorCode StrataGetVersion(char[], size_t);
PETSC_EXTERN PetscErrorCode StrataGetVersionNumber(PetscInt *, PetscInt *, PetscInt *);

/* Operator */
PETSC_EXTERN PetscErrorCode MatCreateStrata(DM, Mat *);
PETSC_EXTERN PetscErrorCode MatStrataGetForm(Mat, MatStrataForm *);
PETSC_EXTERN PetscErrorCode MatStrataSetSides(Mat, const MatStrataSide[]);
PETSC_EXTERN PetscErrorCode MatStrataGetSides(Mat, MatStrataSide[]);
PETSC_EXTERN PetscErrorCode MatStrataSetMask(Mat, Vec);
PETSC_EXTERN PetscErrorCode MatStrataGetMask(Mat, Vec);
PETSC_EXTERN PetscErrorCode MatStrataSetConstant(Mat, PetscScalar, const PetscScalar[]);
PETSC_EXTERN PetscErrorCode MatStrataGetConstant(Mat, PetscScalar *, PetscScalar[]);
PETSC_EXTERN PetscErrorCode MatStrataSetTensor(Mat, PetscInt, PetscInt, const PetscScalar[], const PetscScalar[], PetscInt, const PetscScalar[]);
PETSC_EXTERN PetscErrorCode MatStrataGetTensor(Mat, PetscInt *, PetscInt *, const PetscScalar *[], const PetscScalar *[], PetscInt *,
                                               const PetscScalar *[]);
PETSC_EXTERN PetscErrorCode MatStrataSetFaces(Mat, Vec, const Vec[]);
PETSC_EXTERN PetscErrorCode MatStrataGetFaces(Mat, Vec, const Vec[]);
PETSC_EXTERN PetscErrorCode MatStrataSetLegs(Mat, Vec, const Vec[]);
PETSC_EXTERN PetscErrorCode MatStrataGetLegs(Mat, Vec, const Vec[]);
PETSC_EXTERN PetscErrorCode MatStrataGetScaleShift(Mat, PetscScalar *, PetscScalar *);

/* The pressure-correction operator on one panel of a cubed sphere */
PETSC_EXTERN PetscErrorCode StrataPressureSetOperator(Mat, PetscInt, PetscReal, PetscReal, PetscReal);
PETSC_EXTERN PetscErrorCode StrataPressureSetRHS(Mat, PetscInt, PetscReal, Vec);

/* Column preconditioner */
PETSC_EXTERN PetscErrorCode PCColumnSetAxis(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCColumnGetAxis(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCColumnSetSize(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCColumnGetSize(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCColumnSetGrid(PC, PetscInt, const PetscInt[]);
PETSC_EXTERN PetscErrorCode PCColumnGetGrid(PC, PetscInt *, PetscInt[]);

/* Fields in files */
PETSC_EXTERN PetscErrorCode StrataWriteFields(DM, const char[], PetscInt, const Vec[], const char *const[], const PetscReal *const[]);
PETSC_EXTERN PetscErrorCode StrataReadArray(MPI_Comm, const char[], const char[], PetscInt, PetscInt[], PetscReal *[]);

#endif
