/*
   The plan of an exchange, shared by its host and device sides
*/
#ifndef STRATA_HALOIMPL_H
#define STRATA_HALOIMPL_H

#include "gridimpl.h"

/* How ghost cells travel between GPUs (-strata_halo) */
typedef enum {
  STRATA_HALO_AUTO,   /* mpi if MPI can send device memory, else staged */
  STRATA_HALO_MPI,    /* MPI sends device memory */
  STRATA_HALO_STAGED, /* MPI sends pinned host buffers */
  STRATA_HALO_PEER    /* kernels write into the other rank's GPU memory; ranks on one host */
} StrataHaloTransport;

typedef struct {
  int             direction;
  StrataNeighbor *to;
  ptrdiff_t       extent[3], cells, offset; /* offset: in the buffers, in cells of one vector */
  StrataBox       send;
} StrataMessage;

typedef struct _n_StrataHaloDevice *StrataHaloDevice;

struct _n_StrataHalo {
  StrataGrid          grid;
  PetscInt            depth[3];
  PetscBool           corners;
  int                 count;
  ptrdiff_t           cells; /* of all messages */
  StrataMessage       message[STRATA_DIRECTIONS];
  StrataHaloTransport transport;
  size_t              capacity; /* of the host buffers, in bytes */
  char               *send, *recv;
  StrataHaloDevice    device;
  /* the exchange under way */
  PetscBool    active;
  const void  *x;
  int          bytes, nv;
  PetscInt     ld;
  PetscMemType type;
  MPI_Request  request[2 * STRATA_DIRECTIONS];
};

/* The bytes of all messages of the exchange under way, and where message m starts among them */
static inline size_t StrataHaloBytes(StrataHalo h)
{
  return (size_t)h->bytes * h->nv * h->cells;
}

static inline size_t StrataHaloStart(StrataHalo h, const StrataMessage *m)
{
  return (size_t)h->bytes * h->nv * m->offset;
}

/* Posts all messages, from and to the given buffers, in whatever memory */
PETSC_INTERN PetscErrorCode StrataHaloPost(StrataHalo, char *send, char *recv);
/* Packs what the others want; to[m] is the place of message m */
PETSC_INTERN PetscErrorCode StrataHaloPack(StrataHalo, void *const to[], void *stream);

/* The device side: begin starts, end leaves the ghosts where it says, ready for work in PETSc's stream */
PETSC_INTERN PetscErrorCode StrataHaloDeviceBegin(StrataHalo);
PETSC_INTERN PetscErrorCode StrataHaloDeviceEnd(StrataHalo, char **recv);
PETSC_INTERN PetscErrorCode StrataHaloDeviceDestroy(StrataHalo);

#endif
