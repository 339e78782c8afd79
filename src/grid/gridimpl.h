/*
   A structured grid as its ranks see it, in plain numbers, and the exchange of cells between them
*/
#ifndef STRATA_GRIDIMPL_H
#define STRATA_GRIDIMPL_H

#include "../sys/strataimpl.h"
#include "grid_kernels.h"

/* The owner of the cells next to the owned box in one direction */
typedef struct {
  PetscMPIInt rank;  /* -1: nobody, the grid ends there */
  PetscInt    n[3];  /* its box */
  PetscInt    start; /* its first global row */
} StrataNeighbor;

typedef struct _n_StrataGrid *StrataGrid;
struct _n_StrataGrid {
  PetscInt       refct;
  MPI_Comm       comm;
  PetscMPIInt    rank, size, tag[STRATA_DIRECTIONS];
  PetscInt       dim, N[3]; /* the whole grid, 1 in directions it lacks */
  PetscBool      periodic[3];
  PetscInt       procs[3];          /* the process grid */
  PetscInt       lo[3], n[3];       /* the owned box, perhaps empty: first cell and widths */
  PetscInt       size_local, start; /* number of owned cells, and the global row of the first; rows run through the box, x fastest */
  StrataNeighbor neighbor[STRATA_DIRECTIONS];
  StrataArray    work; /* of reductions */
};

PETSC_INTERN PetscErrorCode StrataGridCreateDMDA(DM, StrataGrid *);
PETSC_INTERN PetscErrorCode StrataGridCreateBox(MPI_Comm, PetscInt dim, const PetscInt N[], const PetscBool periodic[], const PetscInt procs[],
                                                const PetscInt *const widths[], StrataGrid *);
PETSC_INTERN PetscErrorCode StrataGridCreateSlabs(MPI_Comm, PetscInt dim, const PetscInt N[], PetscInt rows, StrataGrid *);
PETSC_INTERN PetscErrorCode StrataGridReference(StrataGrid);
PETSC_INTERN PetscErrorCode StrataGridDestroy(StrataGrid *);
PETSC_INTERN PetscErrorCode StrataGridCheckSame(StrataGrid, StrataGrid, const char[]);
PETSC_INTERN PetscErrorCode StrataGridCheckVec(StrataGrid, Vec, const char what[]);
PETSC_INTERN PetscErrorCode StrataGridGetBox(StrataGrid, int n[3]); /* the owned box as kernels want it */
PETSC_INTERN PetscErrorCode StrataGridRowWords(StrataGrid, PetscInt row, char words[], size_t len);

/* Has leg l of the owned box a neighbour, of whatever rank? */
static inline StrataNeighbor *StrataGridLeg(StrataGrid g, int l)
{
  return &g->neighbor[STRATA_LEG_DIRECTION(l)];
}

/* Global dot product, maximum, ... of vectors on the owned boxes, the same bits each time */
PETSC_INTERN PetscErrorCode StrataGridReduce(StrataGrid, StrataReduction, const PetscScalar *x, const PetscScalar *y, PetscMemType, PetscReal *);
PETSC_INTERN PetscErrorCode StrataGridMax(StrataGrid, int count, PetscReal[]);

/* Exchange of the cells around the owned boxes, to some depth in each direction */
typedef struct _n_StrataHalo *StrataHalo;
PETSC_INTERN PetscErrorCode   StrataHaloCreate(StrataGrid, const PetscInt depth[3], PetscBool corners, StrataHalo *);
PETSC_INTERN PetscErrorCode   StrataHaloDestroy(StrataHalo *);
PETSC_INTERN PetscErrorCode   StrataHaloBegin(StrataHalo, const void *x, int bytes, int nv, PetscInt ld, PetscMemType);
PETSC_INTERN PetscErrorCode   StrataHaloEnd(StrataHalo, StrataGhost ghosts[]);     /* valid until the next begin */
PETSC_INTERN PetscErrorCode   StrataHaloEndLegs(StrataHalo, StrataGhost ghosts[]); /* the faces only, in the order of the legs */
/* The other way round: x += what the ranks around have in the frames of their arrays for cells of this one, on the host; own: the owned box in the
   array of n cells */
PETSC_INTERN PetscErrorCode StrataHaloReturn(StrataHalo, const int n[3], const StrataBox *own, const PetscScalar *array, PetscScalar *x);
PETSC_INTERN PetscErrorCode StrataHaloViewLegs(StrataHalo, StrataGhost ghosts[]); /* between begin and end: those that need no message */

#endif
