/*
   Packing and reductions on the host
*/
#include "grid_kernels.h"
#include <string.h>

void StrataPackHost(const StrataPackList *list, const int n[3], int bytes, int nv, const void *x, ptrdiff_t ld)
{
  for (int b = 0; b < list->count; b++) {
    const StrataBox *box = &list->box[b];
    const size_t     row = (size_t)bytes * (box->hi[0] - box->lo[0]);
    char            *to = (char *)list->to[b];

    for (int v = 0; v < nv; v++)
      for (int k = box->lo[2]; k < box->hi[2]; k++)
        for (int j = box->lo[1]; j < box->hi[1]; j++, to += row)
          memcpy(to, (const char *)x + bytes * (v * ld + box->lo[0] + n[0] * (j + (ptrdiff_t)n[1] * k)), row);
  }
}

#define STRATA_TYPED "../grid/grid_host_typed.h"
#include "../sys/typed.h"
