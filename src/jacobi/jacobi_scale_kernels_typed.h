/* Included by jacobi_scale_kernels.h for each precision */

/* What an array of n[0] x n[1] x n[2] cells has in cell i: the vector in the box `own`, the ghosts around it */
STRATA_CELL REAL CELL(strata_embedded)(const StrataBox *own, const double *x, const StrataGhost ghost[], const int i[3], REAL unused)
{
  int       direction = 13, at[3];
  ptrdiff_t offset = 0;

  (void)unused;
  for (int a = 0; a < 3; a++) {
    const int step = i[a] < own->lo[a] ? -1 : i[a] >= own->hi[a] ? 1 : 0;

    direction += step * (a == 0 ? 1 : a == 1 ? 3 : 9);
    at[a] = step < 0 ? i[a] : step > 0 ? i[a] - own->hi[a] : i[a] - own->lo[a];
  }
  if (direction == 13) return (REAL)x[at[0] + (own->hi[0] - own->lo[0]) * (at[1] + (ptrdiff_t)(own->hi[1] - own->lo[1]) * at[2])];
  for (int a = 0; a < 3; a++) offset += at[a] * ghost[direction].s[a];
  return (REAL)((const double *)ghost[direction].p)[offset];
}

STRATA_BEGIN_C

/* The cells of a box of an array y from a vector and the ghosts around it; each frame is as wide as its ghosts */
void TYPED(StrataEmbedHost)(const int n[3], const StrataBox *own, const StrataBox *box, const double *x, const StrataGhost ghost[], REAL *y);
int TYPED(StrataEmbedCUDA)(const int n[3], const StrataBox *own, const StrataBox *box, const double *x, const StrataGhost ghost[], REAL *y,
                           void *stream);

/* The vector y = (add ? add : 0) + *by x, where x is the box `own` of an array; y may be add */
void TYPED(StrataUnembedHost)(const int n[3], const StrataBox *own, const REAL *x, const double *by, const double *add, double *y);
int TYPED(StrataUnembedCUDA)(const int n[3], const StrataBox *own, const REAL *x, const double *by, const double *add, double *y, void *stream);

STRATA_END_C
