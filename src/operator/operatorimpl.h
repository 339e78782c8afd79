/*
   The coefficients of an operator on a grid, as every method gets them
*/
#ifndef STRATA_OPERATORIMPL_H
#define STRATA_OPERATORIMPL_H

#include <petsc/private/matimpl.h>
#include "../grid/gridimpl.h"
#include "operator_kernels.h"

typedef struct _n_StrataCoefficients *StrataCoefficients;
struct _n_StrataCoefficients {
  PetscInt         refct;
  StrataGrid       grid;
  MatStrataForm    form;
  MatStrataSide    side[STRATA_LEGS];
  PetscObjectState state;                /* grows when anything but scale and shift changes */
  PetscScalar      scale, shift, masked; /* the operator is scale A + shift I; masked rows of A are masked I */
  PetscScalar      excess, leg[STRATA_LEGS];
  PetscInt         axis;                             /* tensor */
  StrataArray      area, alpha;                      /* tensor: of each column; alpha in four runs */
  StrataArray      level;                            /* tensor: a, b, c, d in four runs */
  StrataArray      cell, legs[STRATA_LEGS], high[3]; /* variable forms; high: faces of the next rank (faces) */
  StrataArray      mask, flags;                      /* one byte a cell: is it masked; which legs are there. No length without a mask */
  PetscBool        hasmask, symmetric;
  PetscBool        masking;   /* numbers of masked cells are gone from the arrays */
  PetscInt         nonfinite; /* the lowest row with a NaN or infinity that was read from an assembled matrix, else -1 */
};

PETSC_INTERN PetscErrorCode StrataCoefficientsCreate(StrataGrid, StrataCoefficients *);
PETSC_INTERN PetscErrorCode StrataCoefficientsReference(StrataCoefficients);
PETSC_INTERN PetscErrorCode StrataCoefficientsDestroy(StrataCoefficients *);
PETSC_INTERN PetscErrorCode StrataCoefficientsDuplicate(StrataCoefficients, StrataCoefficients *);
PETSC_INTERN PetscErrorCode StrataCoefficientsSetUp(StrataCoefficients);    /* collective, after a change */
PETSC_INTERN PetscErrorCode StrataCoefficientsUseFaces(StrataCoefficients); /* symmetric legs become faces, set up */
PETSC_INTERN PetscErrorCode StrataCoefficientsGetKernel(StrataCoefficients, PetscMemType, StrataCoef_d *);
PETSC_INTERN PetscErrorCode StrataCoefficientsGetMemType(StrataCoefficients, PetscMemType *); /* where per-cell numbers are, host if there are none */
PETSC_INTERN PetscErrorCode StrataCoefficientsRows(StrataCoefficients, StrataRowQuantity, PetscInt axis, PetscMemType, PetscScalar *y);
PETSC_INTERN PetscErrorCode StrataCoefficientsExpand(StrataCoefficients, PetscMemType,
                                                     StrataCoefficients *); /* the same operator in legwise form, scale 1, shift 0 */
PETSC_INTERN PetscErrorCode StrataCoefficientsTranspose(StrataCoefficients, PetscMemType, StrataCoefficients *); /* the transpose, likewise */
PETSC_INTERN PetscErrorCode StrataCoefficientsMult(StrataCoefficients, StrataHalo, int nv, const PetscScalar *x, PetscInt ldx, const PetscScalar *add,
                                                   PetscScalar *y, PetscInt ldy, PetscMemType);
PETSC_INTERN PetscErrorCode StrataCoefficientsNullSpace(StrataCoefficients, DM, MatNullSpace *,
                                                        PetscInt *components); /* NULL if the operator is not singular */

/* Of a MATSTRATA: its grid; its coefficients, once assembled; others in their place (the matrix takes the reference; assemble it afterwards) */
PETSC_INTERN PetscErrorCode MatStrataGetGrid(Mat, StrataGrid *);
PETSC_INTERN PetscErrorCode MatStrataGetCoefficients(Mat, StrataCoefficients *);
PETSC_INTERN PetscErrorCode MatStrataReplaceCoefficients(Mat, StrataCoefficients);
PETSC_INTERN PetscErrorCode StrataComposeConversions(Mat, PetscBool);
PETSC_INTERN PetscErrorCode StrataComposeProducts(Mat, PetscBool);
PETSC_INTERN PetscErrorCode MatStrataMultArrays(Mat, PetscInt nv, const PetscScalar *x, PetscInt ldx, PetscScalar *y, PetscInt ldy,
                                                PetscMemType); /* y = A x */

/* The coefficients of any matrix that has them: a Strata operator, or an assembled one on the given grid or on that of the DM. Kept on the matrix. */
PETSC_INTERN PetscErrorCode StrataCoefficientsGet(Mat, DM, StrataGrid given, StrataCoefficients *);

/* The grid of a matrix: of a Strata operator, else of dm, else of the matrix' own DM, else NULL; checked against its size */
PETSC_INTERN PetscErrorCode StrataMatGetGrid(Mat, DM, StrataGrid *);

PETSC_INTERN PetscErrorCode StrataGridCheckMat(StrataGrid, Mat);
PETSC_INTERN PetscErrorCode StrataMatMakeGrid(Mat, PetscInt dim, const PetscInt N[], const char option[], StrataGrid *);
PETSC_INTERN PetscErrorCode StrataMatFindDM(Mat, Mat amat, DM, DM, DM *);
PETSC_INTERN PetscErrorCode StrataMatCheckVec(Mat, Vec);

PETSC_INTERN void StrataGridColumns(StrataGrid, StrataColumns *, int outside[]);

/* The tridiagonal matrices of an assembled matrix along an axis of a grid: sum of the three entries, lower, upper */
PETSC_INTERN PetscErrorCode StrataMatGetLines(Mat, StrataGrid, PetscInt axis, StrataArray *excess, StrataArray *lower, StrataArray *upper,
                                              PetscMemType *, PetscInt *nonfinite);
/* Sums over all cells of the absolute values of the legs along each axis */
PETSC_INTERN PetscErrorCode StrataMatGetHome(Mat, StrataCoefficients, PetscMemType *);
PETSC_INTERN PetscErrorCode StrataMatGetCoupling(Mat, StrataGrid, PetscReal coupling[3]);

#endif
