/* Included by jacobi_scale_kernels.h for each precision */

/* Where the number of cell i of an array is that holds vectors in the box `own` and their ghosts around it: that of the first vector, and the
   distance of the next ones */
STRATA_CELL const double *CELL(strata_embedded)(const StrataBox *own, const double *x, ptrdiff_t ldx, const StrataGhost ghost[], const int i[3],
                                                ptrdiff_t *distance, REAL unused)
{
  int       direction = 13, at[3];
  ptrdiff_t offset = 0;

  (void)unused;
  for (int a = 0; a < 3; a++) {
    const int step = i[a] < own->lo[a] ? -1 : i[a] >= own->hi[a] ? 1 : 0;

    direction += step * (a == 0 ? 1 : a == 1 ? 3 : 9);
    at[a] = step < 0 ? i[a] : step > 0 ? i[a] - own->hi[a] : i[a] - own->lo[a];
  }
  *distance = direction == 13 ? ldx : ghost[direction].sv;
  if (direction == 13) return x + at[0] + (own->hi[0] - own->lo[0]) * (at[1] + (ptrdiff_t)(own->hi[1] - own->lo[1]) * at[2]);
  for (int a = 0; a < 3; a++) offset += at[a] * ghost[direction].s[a];
  return (const double *)ghost[direction].p + offset;
}

STRATA_BEGIN_C

/* The cells of a box of arrays y from vectors and the ghosts around them; each frame is as wide as its ghosts */
void TYPED(StrataEmbedHost)(const int n[3], const StrataBox *own, const StrataBox *box, int nv, const double *x, ptrdiff_t ldx,
                            const StrataGhost ghost[], REAL *y, ptrdiff_t ldy);
int TYPED(StrataEmbedCUDA)(const int n[3], const StrataBox *own, const StrataBox *box, int nv, const double *x, ptrdiff_t ldx,
                           const StrataGhost ghost[], REAL *y, ptrdiff_t ldy, void *stream);

/* Vectors y = by x, added to `add` if there are such, where x is the box `own` of arrays; add has the leading dimension of y, and may be y */
void TYPED(StrataUnembedHost)(const int n[3], const StrataBox *own, int nv, const REAL *x, ptrdiff_t ldx, const double *by, const double *add,
                              double *y, ptrdiff_t ldy);
int TYPED(StrataUnembedCUDA)(const int n[3], const StrataBox *own, int nv, const REAL *x, ptrdiff_t ldx, const double *by, const double *add,
                             double *y, ptrdiff_t ldy, void *stream);

STRATA_END_C
