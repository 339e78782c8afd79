/*
   The star-stencil operator on the host
*/
#include "operator_cell.h"
#include <string.h>

/* Cells of a row of a tile, and columns of a tile at most: what is known of them stays in the cache of a core */
#define WIDTH   512
#define COLUMNS 1024

#define STRATA_TYPED "../operator/operator_host_typed.h"
#include "../sys/typed.h"

void StrataExtractHost(const StrataCSR block[2], const StrataColumns *columns, const int n[3], const int outside[], int axis, double *cell,
                       double *const legs[], StrataCSRFaults *faults)
{
  ptrdiff_t id = 0;
  int       x[3];

  for (x[2] = 0; x[2] < n[2]; x[2]++)
    for (x[1] = 0; x[1] < n[1]; x[1]++)
      for (x[0] = 0; x[0] < n[0]; x[0]++, id++) {
        const StrataInt row = columns->start[STRATA_LEGS] + (StrataInt)id;
        double          leg[STRATA_LEGS];
        const int       fault = strata_extract(block, columns, n, outside, axis, x, &cell[id], leg);

        if (fault & 1 && row < faults->outside) faults->outside = row;
        if (fault & 2 && row < faults->nonfinite) faults->nonfinite = row;
        for (int l = 0; l < STRATA_LEGS; l++)
          if (legs[l]) legs[l][id] = leg[l];
      }
}
