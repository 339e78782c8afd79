/*
   Solves along lines on the host: strips of neighbouring lines together, so that loops run across lines. A strip's right-hand sides are
   read once and its solutions written once; what is needed in between stays in cache.
*/
#include "column_cell.h"
#include <string.h>

/* Lines of a strip at most, and lines that are turned together: those along x are not neighbours in memory */
#define STRIP 64
#define TURN  8

/* Levels that are fetched ahead, and bytes of a cache line */
#define AHEAD 8
#define LINE  64

/* As many lines as leave what is kept of a strip in cache */
static inline int strip_width(int levels)
{
  return levels <= 512 ? STRIP : STRIP / 4;
}

#define STRATA_TYPED "../column/column_host_typed.h"
#include "../sys/typed.h"
