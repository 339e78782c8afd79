/*
   Tests in C that speak TAP. A test program looks like

     #include "tap.h"
     // ranks: 1 2 3          the numbers of ranks that `make check` runs it on (1 when there is no such line)
     // sanitize              present when `make gpu-check` is to run it under compute-sanitizer as well

     int main(int argc, char **argv)
     {
       PetscFunctionBeginUser;
       PetscCall(TapBegin(&argc, &argv));
       ok(x == y, "x and y of case %d agree", i);
       is_int(n, 3, "three of them");
       is_real(norm, 1.25, 1e-12, "the norm");
       is_string(type, "strata", "the type");
       is_bits(u, v, n * sizeof(*u), "host and device agree bit for bit");
       is_error(MatMult(A, x, y), PETSC_ERR_ARG_SIZ, "which words, whatever the order", "the message must have");
       if (TapHasDevice()) { ... }
       else skip("no GPU");
       return TapEnd();
     }

   (the two comment lines in the form of C). All checks are collective on PETSC_COMM_WORLD: the result is "ok" if the check holds
   on every rank, and rank 0 prints it with what the first rank where it fails has to say. Condition and values may differ from
   rank to rank, the number and order of the checks must not.
*/
#ifndef TAP_H
#define TAP_H

#include <strata.h>
#include "../src/sys/compat.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if STRATA_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

static int  tap_count, tap_failures;
static char tap_message[4096];

static inline PetscErrorCode TapBegin(int *argc, char ***argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(argc, argv, NULL, NULL));
  PetscCall(StrataInitializePackage());
  setvbuf(stdout, NULL, _IOLBF, 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What MatView(), PCView() or KSPView() says, on every rank */
static inline PetscErrorCode TapView(PetscObject object, char text[], size_t len)
{
  PetscViewer viewer;
  FILE       *file = tmpfile();
  size_t      got;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_WORLD, file, &viewer));
  PetscCall(PetscObjectView(object, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  rewind(file);
  got = fread(text, 1, len - 1, file);
  text[got] = 0;
  fclose(file);
  PetscCallMPI(MPI_Bcast(text, (PetscMPIInt)len, MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends the test: the plan, and the exit status that main() is to return, nonzero if a check failed on any rank */
static inline int TapEnd(void)
{
  PetscMPIInt rank;

  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (!rank) printf("1..%d\n", tap_count);
  if (PetscFinalize()) return 1;
  return tap_failures > 0;
}

/* One check. `details` is what a rank where it fails has to say, lines beginning with # */
__attribute__((format(printf, 5, 0))) static inline int TapCheckVA(int good, const char *file, int line, const char *details, const char *format,
                                                                   va_list args)
{
  PetscMPIInt rank, size;
  int         first;
  char        text[4096];

  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &size);
  first = good ? size : rank;
  (void)MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD);
  snprintf(text, sizeof(text), "%s", details);
  if (first < size) (void)MPI_Bcast(text, sizeof(text), MPI_CHAR, first, PETSC_COMM_WORLD);
  tap_count++;
  if (first < size) tap_failures++;
  if (!rank) {
    printf("%sok %d - ", first < size ? "not " : "", tap_count);
    vprintf(format, args);
    printf("\n");
    if (first < size) printf("#   failed at %s:%d, first on rank %d of %d\n%s", file, line, first, size, text);
  }
  return first == size;
}

__attribute__((format(printf, 5, 6))) static inline int TapCheck(int good, const char *file, int line, const char *details, const char *format, ...)
{
  va_list args;
  int     result;

  va_start(args, format);
  result = TapCheckVA(good, file, line, details, format, args);
  va_end(args);
  return result;
}

/* Returns text that lasts for three more calls */
__attribute__((format(printf, 1, 2))) static inline const char *TapText(const char *format, ...)
{
  static char texts[4][4096];
  static int  next;
  char       *text = texts[next++ % 4];
  va_list     args;

  va_start(args, format);
  vsnprintf(text, sizeof(texts[0]), format, args);
  va_end(args);
  return text;
}

#define ok(good, ...) TapCheck((good) ? 1 : 0, __FILE__, __LINE__, "#   it must hold that " #good "\n", __VA_ARGS__)

#define is_int(got, expected, ...)                                                                                                                   \
  do {                                                                                                                                               \
    const long long tap_g = (long long)(got), tap_e = (long long)(expected);                                                                         \
    TapCheck(tap_g == tap_e, __FILE__, __LINE__, TapText("#   got %s = %lld, expected %lld\n", #got, tap_g, tap_e), __VA_ARGS__);                    \
  } while (0)

/* |got - expected| <= tolerance * |expected|, or <= tolerance where zero is expected */
#define is_real(got, expected, tolerance, ...)                                                                                                       \
  do {                                                                                                                                               \
    const double tap_g = (got), tap_e = (expected), tap_t = (tolerance), tap_d = fabs(tap_g - tap_e);                                                \
    TapCheck(tap_d <= tap_t * (tap_e != 0 ? fabs(tap_e) : 1), __FILE__, __LINE__,                                                                    \
             TapText("#   got %s = %.17g, expected %.17g, difference %g, tolerance %g\n", #got, tap_g, tap_e, tap_d, tap_t), __VA_ARGS__);           \
  } while (0)

#define is_string(got, expected, ...)                                                                                                                \
  do {                                                                                                                                               \
    const char *tap_g = (got), *tap_e = (expected);                                                                                                  \
    TapCheck(tap_g &&tap_e ? !strcmp(tap_g, tap_e) : tap_g == tap_e, __FILE__, __LINE__,                                                             \
             TapText("#   got '%s', expected '%s'\n", tap_g ? tap_g : "(null)", tap_e ? tap_e : "(null)"), __VA_ARGS__);                             \
  } while (0)

/* The text contains these words */
#define has_words(got, words, ...)                                                                                                                   \
  do {                                                                                                                                               \
    const char *tap_g = (got), *tap_w = (words);                                                                                                     \
    TapCheck(tap_g &&TapHasWords(tap_g, tap_w), __FILE__, __LINE__, TapText("#   got '%.3000s', expected the words '%.500s'\n", tap_g, tap_w),       \
             __VA_ARGS__);                                                                                                                           \
  } while (0)

/* Two arrays on the host agree in every bit */
#define is_bits(got, expected, bytes, ...)                                                                                                           \
  do {                                                                                                                                               \
    const unsigned char *tap_g = (const unsigned char *)(got), *tap_e = (const unsigned char *)(expected);                                           \
    size_t               tap_n = (bytes), tap_i = 0;                                                                                                 \
    while (tap_i < tap_n && tap_g[tap_i] == tap_e[tap_i]) tap_i++;                                                                                   \
    TapCheck(tap_i == tap_n, __FILE__, __LINE__, TapText("#   first difference at byte %zu of %zu of %s\n", tap_i, tap_n, #got), __VA_ARGS__);       \
  } while (0)

/* The call fails on every rank with this error code, and the message of every rank contains all of the words, given in one
   string and separated by blanks. A collective call that fails on some ranks only must be made to fail on all. */
#define is_error(call, code, words, ...)                                                                                                             \
  do {                                                                                                                                               \
    PetscErrorCode tap_code;                                                                                                                         \
    TapErrorBegin();                                                                                                                                 \
    tap_code = (call);                                                                                                                               \
    TapErrorEnd();                                                                                                                                   \
    TapCheck(tap_code == (PetscErrorCode)(code) && TapHasWords(tap_message, words), __FILE__, __LINE__,                                              \
             TapText("#   got error %d '%.2000s'\n#   expected error %d %s with the words '%.500s'\n", (int)tap_code, tap_message, (int)(code),      \
                     #code, words),                                                                                                                  \
             __VA_ARGS__);                                                                                                                           \
  } while (0)

/* A test that cannot run here counts as skipped */
#define skip(...)                                                                                                                                    \
  do {                                                                                                                                               \
    PetscMPIInt tap_rank;                                                                                                                            \
    MPI_Comm_rank(PETSC_COMM_WORLD, &tap_rank);                                                                                                      \
    tap_count++;                                                                                                                                     \
    if (!tap_rank) {                                                                                                                                 \
      printf("ok %d # SKIP ", tap_count);                                                                                                            \
      printf(__VA_ARGS__);                                                                                                                           \
      printf("\n");                                                                                                                                  \
    }                                                                                                                                                \
  } while (0)

/* Is every word of the second string, as separated by blanks, somewhere in the first? */
static inline int TapHasWords(const char *text, const char *words)
{
  char copy[1024], *rest = NULL;

  snprintf(copy, sizeof(copy), "%s", words);
  for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
    if (!strstr(text, word)) return 0;
  }
  return 1;
}

/* Keeps what the first raising of an error says, and lets the code travel up */
static inline PetscErrorCode TapErrorHandler(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                                             PetscErrorType type, const char *message, void *context)
{
  if (type == PETSC_ERROR_INITIAL && message) snprintf(tap_message, sizeof(tap_message), "%s", message);
  return code;
}

#if defined(PETSC_USE_DEBUG)
static int tap_stack;
#endif

static inline void TapErrorBegin(void)
{
  tap_message[0] = 0;
  (void)PetscPushErrorHandler(TapErrorHandler, NULL);
#if defined(PETSC_USE_DEBUG)
  tap_stack = petscstack.currentsize;
#endif
}

static inline void TapErrorEnd(void)
{
#if defined(PETSC_USE_DEBUG)
  petscstack.currentsize = tap_stack;
#endif
  (void)PetscPopErrorHandler();
}

/* Is there a GPU that this build can use? */
static inline int TapHasDevice(void)
{
#if STRATA_HAVE_CUDA
  int n = 0;

  return cudaGetDeviceCount(&n) == cudaSuccess && n > 0;
#else
  return 0;
#endif
}

#endif
