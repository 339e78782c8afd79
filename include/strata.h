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
#define MATSTRATA  "strata"
#define PCCOLUMN   "column"
#define PCHJACOBI  "hjacobi"
#define KSPHJACOBI "hjacobi"
#define KSPCGFUSED "cgfused"

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

/*E
  PCColumnAlgorithm - how `PCCOLUMN` solves columns

  Values:
+ `PC_COLUMN_AUTO`      - the one that suits the memory that the vectors are in
. `PC_COLUMN_THOMAS`    - elimination from the first row to the last and back
. `PC_COLUMN_PARTITION` - segments of a column are eliminated side by side and joined by a small system
. `PC_COLUMN_TWOWAY`    - elimination from both ends to the middle row and back
- `PC_COLUMN_PCR`       - parallel cyclic reduction: all rows are freed of their neighbours at once, in steps that double the distance

  Level: intermediate

.seealso: `PCCOLUMN`, `PCColumnSetAlgorithm()`
E*/
typedef enum { PC_COLUMN_AUTO, PC_COLUMN_THOMAS, PC_COLUMN_PARTITION, PC_COLUMN_TWOWAY, PC_COLUMN_PCR } PCColumnAlgorithm;
PETSC_EXTERN const char *const PCColumnAlgorithms[];

/*E
  PCColumnSweep - the order in which `PCCOLUMN` corrects columns

  Values:
+ `PC_COLUMN_SWEEP_JACOBI`    - all together
. `PC_COLUMN_SWEEP_REDBLACK`  - those of one colour, then those of the other
- `PC_COLUMN_SWEEP_SYMMETRIC` - the colours forward and then reversed

  Level: beginner

.seealso: `PCCOLUMN`, `PCColumnSetSweep()`
E*/
typedef enum { PC_COLUMN_SWEEP_JACOBI, PC_COLUMN_SWEEP_REDBLACK, PC_COLUMN_SWEEP_SYMMETRIC } PCColumnSweep;
PETSC_EXTERN const char *const PCColumnSweeps[];

/*E
  PCColumnPrecision - the precision in which `PCCOLUMN` solves columns

  Values:
+ `PC_COLUMN_PRECISION_SAME`   - that of the vectors
- `PC_COLUMN_PRECISION_SINGLE` - single precision

  Level: intermediate

.seealso: `PCCOLUMN`, `PCColumnSetPrecision()`
E*/
typedef enum { PC_COLUMN_PRECISION_SAME, PC_COLUMN_PRECISION_SINGLE } PCColumnPrecision;
PETSC_EXTERN const char *const PCColumnPrecisions[];

/*E
  HJacobiSchedule - the weights of the sweeps of `KSPHJACOBI` and `PCHJACOBI`

  Values:
+ `HJACOBI_CONSTANT`  - the same in all
. `HJACOBI_CHEBYSHEV` - the roots of a Chebyshev polynomial, as many as a cycle has sweeps
- `HJACOBI_SRJ`       - scheduled relaxation: a few weights, each used several times

  Level: beginner

.seealso: `KSPHJACOBI`, `PCHJACOBI`, `KSPHJacobiSetSchedule()`, `PCHJacobiSetSchedule()`
E*/
typedef enum { HJACOBI_CONSTANT, HJACOBI_CHEBYSHEV, HJACOBI_SRJ } HJacobiSchedule;
PETSC_EXTERN const char *const HJacobiSchedules[];

/*E
  HJacobiKernel - how `KSPHJACOBI` and `PCHJACOBI` sweep on a GPU

  Values:
+ `HJACOBI_KERNEL_AUTO`       - the fastest for the problem
. `HJACOBI_KERNEL_CLASSIC`    - one sweep after the other through the whole grid
. `HJACOBI_KERNEL_SHARED`     - tiles in shared memory
. `HJACOBI_KERNEL_REGISTER`   - several sweeps in registers, streaming through the grid
- `HJACOBI_KERNEL_PERSISTENT` - 2D grids stay on the chip for all cycles from one test to the next, see `KSPHJacobiSetCheckInterval()`

  Level: intermediate

.seealso: `KSPHJACOBI`, `PCHJACOBI`, `KSPHJacobiSetKernel()`, `PCHJacobiSetKernel()`
E*/
typedef enum { HJACOBI_KERNEL_AUTO, HJACOBI_KERNEL_CLASSIC, HJACOBI_KERNEL_SHARED, HJACOBI_KERNEL_REGISTER, HJACOBI_KERNEL_PERSISTENT } HJacobiKernel;
PETSC_EXTERN const char *const HJacobiKernels[];

/*E
  HJacobiPrecision - the precision of the sweeps of `KSPHJACOBI` and `PCHJACOBI`

  Values:
+ `HJACOBI_PRECISION_SAME`   - that of the vectors
- `HJACOBI_PRECISION_SINGLE` - single precision, on corrections only: the residual is computed in double precision before each cycle

  Level: intermediate

.seealso: `KSPHJACOBI`, `PCHJACOBI`, `KSPHJacobiSetPrecision()`, `PCHJacobiSetPrecision()`
E*/
typedef enum { HJACOBI_PRECISION_SAME, HJACOBI_PRECISION_SINGLE } HJacobiPrecision;
PETSC_EXTERN const char *const HJacobiPrecisions[];

/*E
  HJacobiNorm - what `KSPHJACOBI` tests for convergence

  Values:
+ `HJACOBI_NORM_2`        - the 2-norm of the residual
. `HJACOBI_NORM_INFINITY` - its largest absolute value
- `HJACOBI_NORM_UPDATE`   - the largest change of an unknown in the last sweep of a cycle

  Level: beginner

.seealso: `KSPHJACOBI`, `KSPHJacobiSetNorm()`
E*/
typedef enum { HJACOBI_NORM_2, HJACOBI_NORM_INFINITY, HJACOBI_NORM_UPDATE } HJacobiNorm;
PETSC_EXTERN const char *const HJacobiNorms[];

/*E
  HJacobiCheck - when `KSPHJACOBI` looks at the tests for convergence that a GPU makes

  Values:
+ `HJACOBI_CHECK_OVERLAPPED` - later, while the GPU goes on with the next cycles
- `HJACOBI_CHECK_BLOCKING`   - at once, before the next cycle

  Level: intermediate

.seealso: `KSPHJACOBI`, `KSPHJacobiSetCheck()`
E*/
typedef enum { HJACOBI_CHECK_OVERLAPPED, HJACOBI_CHECK_BLOCKING } HJacobiCheck;
PETSC_EXTERN const char *const HJacobiChecks[];

/*E
  KSPCGFusedForm - the recurrence of `KSPCGFUSED`

  Values:
+ `KSP_CGFUSED_GEAR`    - that of Chronopoulos and Gear, with one reduction over the ranks in an iteration
- `KSP_CGFUSED_CLASSIC` - that of Hestenes and Stiefel, with two

  Level: intermediate

.seealso: `KSPCGFUSED`, `KSPCGFusedSetForm()`
E*/
typedef enum { KSP_CGFUSED_GEAR, KSP_CGFUSED_CLASSIC } KSPCGFusedForm;
PETSC_EXTERN const char *const KSPCGFusedForms[];

/*E
  KSPCGFusedPrecision - the precision of the steps of `KSPCGFUSED`

  Values:
+ `KSP_CGFUSED_SAME`   - that of PETSc
- `KSP_CGFUSED_SINGLE` - single precision, with residuals in double precision so often that the tolerances are met

  Level: intermediate

.seealso: `KSPCGFUSED`, `KSPCGFusedSetPrecision()`
E*/
typedef enum { KSP_CGFUSED_SAME, KSP_CGFUSED_SINGLE } KSPCGFusedPrecision;
PETSC_EXTERN const char *const KSPCGFusedPrecisions[];

/* An overlap as wide as it has to be for the iterates of plain sweeps */
#define STRATA_EXACT (-1)

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
PETSC_EXTERN PetscErrorCode PCColumnSetAxes(PC, PetscInt, const PetscInt[]);
PETSC_EXTERN PetscErrorCode PCColumnGetAxes(PC, PetscInt *, PetscInt[]);
PETSC_EXTERN PetscErrorCode PCColumnSetSize(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCColumnGetSize(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCColumnSetGrid(PC, PetscInt, const PetscInt[]);
PETSC_EXTERN PetscErrorCode PCColumnGetGrid(PC, PetscInt *, PetscInt[]);
PETSC_EXTERN PetscErrorCode PCColumnSetColumns(PC, PetscSection, IS);
PETSC_EXTERN PetscErrorCode PCColumnGetColumns(PC, PetscSection *, IS *);
PETSC_EXTERN PetscErrorCode PCColumnSetAlgorithm(PC, PCColumnAlgorithm);
PETSC_EXTERN PetscErrorCode PCColumnGetAlgorithm(PC, PCColumnAlgorithm *);
PETSC_EXTERN PetscErrorCode PCColumnSetSweep(PC, PCColumnSweep);
PETSC_EXTERN PetscErrorCode PCColumnGetSweep(PC, PCColumnSweep *);
PETSC_EXTERN PetscErrorCode PCColumnSetOmega(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCColumnGetOmega(PC, PetscReal *);
PETSC_EXTERN PetscErrorCode PCColumnSetIterations(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCColumnGetIterations(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCColumnSetPrecision(PC, PCColumnPrecision);
PETSC_EXTERN PetscErrorCode PCColumnGetPrecision(PC, PCColumnPrecision *);

/* Conjugate gradients in few passes */
PETSC_EXTERN PetscErrorCode KSPCGFusedSetForm(KSP, KSPCGFusedForm);
PETSC_EXTERN PetscErrorCode KSPCGFusedGetForm(KSP, KSPCGFusedForm *);
PETSC_EXTERN PetscErrorCode KSPCGFusedSetPrecision(KSP, KSPCGFusedPrecision);
PETSC_EXTERN PetscErrorCode KSPCGFusedGetPrecision(KSP, KSPCGFusedPrecision *);
PETSC_EXTERN PetscErrorCode KSPCGFusedSetCheckInterval(KSP, PetscInt);
PETSC_EXTERN PetscErrorCode KSPCGFusedGetCheckInterval(KSP, PetscInt *);

/* Hierarchical Jacobi as a solver */
PETSC_EXTERN PetscErrorCode KSPHJacobiSetSubiterations(KSP, PetscInt);
PETSC_EXTERN PetscErrorCode KSPHJacobiGetSubiterations(KSP, PetscInt *);
PETSC_EXTERN PetscErrorCode KSPHJacobiSetTile(KSP, PetscInt, const PetscInt[]);
PETSC_EXTERN PetscErrorCode KSPHJacobiGetTile(KSP, PetscInt *, PetscInt[]);
PETSC_EXTERN PetscErrorCode KSPHJacobiSetOverlap(KSP, PetscInt, const PetscInt[]);
PETSC_EXTERN PetscErrorCode KSPHJacobiGetOverlap(KSP, PetscInt *, PetscInt[]);
PETSC_EXTERN PetscErrorCode KSPHJacobiSetOmega(KSP, PetscReal);
PETSC_EXTERN PetscErrorCode KSPHJacobiGetOmega(KSP, PetscReal *);
PETSC_EXTERN PetscErrorCode KSPHJacobiSetSchedule(KSP, HJacobiSchedule);
PETSC_EXTERN PetscErrorCode KSPHJacobiGetSchedule(KSP, HJacobiSchedule *);
PETSC_EXTERN PetscErrorCode KSPHJacobiSetChebyshevBounds(KSP, PetscReal, PetscReal);
PETSC_EXTERN PetscErrorCode KSPHJacobiGetChebyshevBounds(KSP, PetscReal *, PetscReal *);
PETSC_EXTERN PetscErrorCode KSPHJacobiSetSRJLevels(KSP, PetscInt);
PETSC_EXTERN PetscErrorCode KSPHJacobiGetSRJLevels(KSP, PetscInt *);
PETSC_EXTERN PetscErrorCode KSPHJacobiSetKernel(KSP, HJacobiKernel);
PETSC_EXTERN PetscErrorCode KSPHJacobiGetKernel(KSP, HJacobiKernel *);
PETSC_EXTERN PetscErrorCode KSPHJacobiSetPrecision(KSP, HJacobiPrecision);
PETSC_EXTERN PetscErrorCode KSPHJacobiGetPrecision(KSP, HJacobiPrecision *);
PETSC_EXTERN PetscErrorCode KSPHJacobiSetGrid(KSP, PetscInt, const PetscInt[]);
PETSC_EXTERN PetscErrorCode KSPHJacobiGetGrid(KSP, PetscInt *, PetscInt[]);
PETSC_EXTERN PetscErrorCode KSPHJacobiSetCheckInterval(KSP, PetscInt);
PETSC_EXTERN PetscErrorCode KSPHJacobiGetCheckInterval(KSP, PetscInt *);
PETSC_EXTERN PetscErrorCode KSPHJacobiSetCheck(KSP, HJacobiCheck);
PETSC_EXTERN PetscErrorCode KSPHJacobiGetCheck(KSP, HJacobiCheck *);
PETSC_EXTERN PetscErrorCode KSPHJacobiSetNorm(KSP, HJacobiNorm);
PETSC_EXTERN PetscErrorCode KSPHJacobiGetNorm(KSP, HJacobiNorm *);

/* Hierarchical Jacobi as a preconditioner */
PETSC_EXTERN PetscErrorCode PCHJacobiSetSubiterations(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCHJacobiGetSubiterations(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCHJacobiSetTile(PC, PetscInt, const PetscInt[]);
PETSC_EXTERN PetscErrorCode PCHJacobiGetTile(PC, PetscInt *, PetscInt[]);
PETSC_EXTERN PetscErrorCode PCHJacobiSetOverlap(PC, PetscInt, const PetscInt[]);
PETSC_EXTERN PetscErrorCode PCHJacobiGetOverlap(PC, PetscInt *, PetscInt[]);
PETSC_EXTERN PetscErrorCode PCHJacobiSetOmega(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCHJacobiGetOmega(PC, PetscReal *);
PETSC_EXTERN PetscErrorCode PCHJacobiSetSchedule(PC, HJacobiSchedule);
PETSC_EXTERN PetscErrorCode PCHJacobiGetSchedule(PC, HJacobiSchedule *);
PETSC_EXTERN PetscErrorCode PCHJacobiSetChebyshevBounds(PC, PetscReal, PetscReal);
PETSC_EXTERN PetscErrorCode PCHJacobiGetChebyshevBounds(PC, PetscReal *, PetscReal *);
PETSC_EXTERN PetscErrorCode PCHJacobiSetSRJLevels(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCHJacobiGetSRJLevels(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCHJacobiSetKernel(PC, HJacobiKernel);
PETSC_EXTERN PetscErrorCode PCHJacobiGetKernel(PC, HJacobiKernel *);
PETSC_EXTERN PetscErrorCode PCHJacobiSetPrecision(PC, HJacobiPrecision);
PETSC_EXTERN PetscErrorCode PCHJacobiGetPrecision(PC, HJacobiPrecision *);
PETSC_EXTERN PetscErrorCode PCHJacobiSetGrid(PC, PetscInt, const PetscInt[]);
PETSC_EXTERN PetscErrorCode PCHJacobiGetGrid(PC, PetscInt *, PetscInt[]);
PETSC_EXTERN PetscErrorCode PCHJacobiSetCycles(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCHJacobiGetCycles(PC, PetscInt *);

/* Fields in files */
PETSC_EXTERN PetscErrorCode StrataWriteFields(DM, const char[], PetscInt, const Vec[], const char *const[], const PetscReal *const[]);
PETSC_EXTERN PetscErrorCode StrataReadArray(MPI_Comm, const char[], const char[], PetscInt, PetscInt[], PetscReal *[]);

#endif
