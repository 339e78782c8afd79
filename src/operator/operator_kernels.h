/*
   The star-stencil operator on the owned box of one rank, as plain numbers: coefficient structs and the kernels on them.
   The arithmetic of a cell is in operator_cell.h; host and device results are equal bit for bit.
*/
#ifndef STRATA_OPERATOR_KERNELS_H
#define STRATA_OPERATOR_KERNELS_H

#include "../sys/kernels.h"

/* How the coefficients are stored; the values are those of MatStrataForm */
enum { STRATA_CONSTANT = 1, STRATA_TENSOR, STRATA_FACES, STRATA_LEGWISE };

/* What lies beyond a side of the owned box */
enum {
  STRATA_OUTSIDE_NONE, /* nothing: the legs that cross the side are left out (no flux) */
  STRATA_OUTSIDE_ZERO, /* the value zero */
  STRATA_OUTSIDE_GHOST /* cells of this or of another rank, given as a StrataGhost */
};

/* A number of each row */
typedef enum {
  STRATA_ROW_DIAGONAL, /* the diagonal entry */
  STRATA_ROW_ABSSUM,   /* sum of the absolute values of the row */
  STRATA_ROW_EXCESS,   /* sum of the row; a leg over a Dirichlet side counts as present in it */
  STRATA_ROW_AXIS,     /* sum of the absolute values of the two legs along an axis */
  STRATA_ROW_LINE      /* sum of diagonal and the two legs along an axis: the row excess of the tridiagonal matrix of that axis */
} StrataRowQuantity;

/* What the reading of an assembled matrix found: the lowest global rows with a fault, or the largest StrataInt */
typedef struct {
  StrataInt outside;   /* an entry outside the star */
  StrataInt nonfinite; /* NaN or infinity */
} StrataCSRFaults;

/* One block of an assembled matrix, rows of this rank; column c stands for global column colmap ? colmap[c] : c + first */
typedef struct {
  const StrataInt *row, *col, *colmap;
  const double    *value;
  StrataInt        first;
} StrataCSR;

/* Global columns of the legs: cell (i, j, k) of the owned box is row start[6] + i + n0 (j + n1 k), its leg l over a side of the
   box is column start[l] + i * s[l][0] + j * s[l][1] + k * s[l][2] (the stride along the side's own axis is 0) */
typedef struct {
  StrataInt start[STRATA_LEGS + 1], s[STRATA_LEGS][3];
} StrataColumns;

STRATA_BEGIN_C

/* Reads excess and legs out of an assembled matrix, block[0] its columns of this rank, block[1] the others (row NULL: none).
   outside[] as in StrataCoef. axis < 0: the whole star, entries outside it are faults unless they are numerically zero;
   axis >= 0: only the entries on the lines along the axis, cell is their sum. Legs that are NULL are not written. */
void StrataExtractHost(const StrataCSR block[2], const StrataColumns *columns, const int n[3], const int outside[], int axis, double *cell,
                       double *const legs[], StrataCSRFaults *faults);
int  StrataExtractCUDA(const StrataCSR block[2], const StrataColumns *columns, const int n[3], const int outside[], int axis, double *cell,
                       double *const legs[], StrataCSRFaults *faults, void *stream);

STRATA_END_C

#define STRATA_TYPED "../operator/operator_kernels_typed.h"
#include "../sys/typed.h"

#endif
