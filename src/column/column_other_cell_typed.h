/* Included by column_other_cell.h for each precision */

/* The solution in the middle cell, which has nothing but eliminated neighbours: their ratios E / den and what was left of their right-hand sides */
STRATA_CELL REAL CELL(strata_meet)(const REAL row[3], int singular, const REAL ratio[2], const REAL carry[2], REAL r)
{
  const REAL E = FMA(-row[1], ratio[1], FMA(-row[0], ratio[0], row[2]));
  const REAL size = CELL(strata_abs)(row[2]) + CELL(strata_abs)(row[0] * ratio[0]) + CELL(strata_abs)(row[1] * ratio[1]);

  if (singular && CELL(strata_abs)(E) <= 8 * (REAL)REAL_EPSILON * size) return 0;
  return FMA(-row[1], carry[1], FMA(-row[0], carry[0], r)) * (1 / E);
}

/* A row of cyclic reduction at the beginning; number m of it at m * step */
STRATA_CELL void CELL(strata_pcr_begin)(const REAL row[3], REAL r, REAL *p, ptrdiff_t step)
{
  p[STRATA_PCR_LOWER * step] = row[0];
  p[STRATA_PCR_UPPER * step] = row[1];
  p[STRATA_PCR_EXCESS * step] = row[2];
  p[STRATA_PCR_RIGHT * step] = r;
  p[STRATA_PCR_INVERSE * step] = 1 / (row[2] - row[0] - row[1]);
}

/* One step: the row that is freed of those at a distance before and behind it, where there are such */
STRATA_CELL void CELL(strata_pcr_step)(const REAL *own, ptrdiff_t distance, int has_before, int has_behind, REAL *to, ptrdiff_t step)
{
  const REAL *before = own - distance, *behind = own + distance;
  REAL        lower = 0, upper = 0, excess = own[STRATA_PCR_EXCESS * step], right = own[STRATA_PCR_RIGHT * step];

  if (has_before) {
    const REAL f = -own[STRATA_PCR_LOWER * step] * before[STRATA_PCR_INVERSE * step];

    lower = f * before[STRATA_PCR_LOWER * step];
    excess = FMA(f, before[STRATA_PCR_EXCESS * step], excess);
    right = FMA(f, before[STRATA_PCR_RIGHT * step], right);
  }
  if (has_behind) {
    const REAL f = -own[STRATA_PCR_UPPER * step] * behind[STRATA_PCR_INVERSE * step];

    upper = f * behind[STRATA_PCR_UPPER * step];
    excess = FMA(f, behind[STRATA_PCR_EXCESS * step], excess);
    right = FMA(f, behind[STRATA_PCR_RIGHT * step], right);
  }
  to[STRATA_PCR_LOWER * step] = lower;
  to[STRATA_PCR_UPPER * step] = upper;
  to[STRATA_PCR_EXCESS * step] = excess;
  to[STRATA_PCR_RIGHT * step] = right;
  to[STRATA_PCR_INVERSE * step] = 1 / (excess - lower - upper);
}
