/*
   Calls of PETSc in benchmarks: an error ends the program
*/
#ifndef STRATA_BENCH_CALLS_H
#define STRATA_BENCH_CALLS_H

#include <strata.h>
#include <cstdio>
#include <cstdlib>

#define PETSC(...)                                                                                                                                   \
  do {                                                                                                                                               \
    const PetscErrorCode bench_code_ = (__VA_ARGS__);                                                                                                \
    if (bench_code_) {                                                                                                                               \
      fprintf(stderr, "%s:%d: PETSc error %d\n", __FILE__, __LINE__, (int)bench_code_);                                                              \
      exit(1);                                                                                                                                       \
    }                                                                                                                                                \
  } while (0)

#endif
