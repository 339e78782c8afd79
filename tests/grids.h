/*
   Grids for tests: every process grid of the ranks, a DMDA on it, and numbers that depend on global cells only
*/
#ifndef GRIDS_H
#define GRIDS_H

#include "tap.h"
#include <stdint.h>

/* The process grids of the world's ranks that fit a grid of N cells: call with *which from 0 on until it returns 0 */
static inline int NextProcessGrid(PetscInt dim, const PetscInt N[], int *which, PetscInt procs[3])
{
  PetscMPIInt size;
  int         count = 0;

  MPI_Comm_size(PETSC_COMM_WORLD, &size);
  for (PetscInt p = 1; p <= size; p++)
    for (PetscInt q = 1; q <= size / p; q++) {
      const PetscInt r = size / (p * q);

      if (p * q * r != size || p > N[0] || q > (dim > 1 ? N[1] : 1) || r > (dim > 2 ? N[2] : 1)) continue;
      if (count++ < *which) continue;
      procs[0] = p;
      procs[1] = q;
      procs[2] = r;
      (*which)++;
      return 1;
    }
  return 0;
}

static inline PetscErrorCode CreateDMDA(MPI_Comm comm, PetscInt dim, const PetscInt N[], const PetscInt procs[], const DMBoundaryType boundary[],
                                        PetscInt width, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(DMDACreate(comm, dm));
  PetscCall(DMSetDimension(*dm, dim));
  PetscCall(DMDASetSizes(*dm, N[0], dim > 1 ? N[1] : 1, dim > 2 ? N[2] : 1));
  PetscCall(DMDASetNumProcs(*dm, procs[0], dim > 1 ? procs[1] : PETSC_DECIDE, dim > 2 ? procs[2] : PETSC_DECIDE));
  PetscCall(DMDASetBoundaryType(*dm, boundary[0], dim > 1 ? boundary[1] : DM_BOUNDARY_NONE, dim > 2 ? boundary[2] : DM_BOUNDARY_NONE));
  PetscCall(DMDASetDof(*dm, 1));
  PetscCall(DMDASetStencilType(*dm, DMDA_STENCIL_BOX));
  PetscCall(DMDASetStencilWidth(*dm, width));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A number in [-1, 1) that looks random, the same on every rank for the same arguments */
static inline double Number(uint64_t seed, int64_t i)
{
  uint64_t z = seed * 0x9E3779B97F4A7C15u + (uint64_t)i * 0xD1B54A32D192ED03u + 0x8CB92BA72F3D8DD7u;

  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return (double)(int64_t)z / 9223372036854775808.0;
}

#endif
