/* Included by column_cell_partition.h for each precision */

/* Some rows in turn, seen from outside. From the carry of the row before them and the solution of the row after them follow the carry of the
   last one, carry[0] before + carry[1], and the solution of the first one, first[0] before + first[1] after + first[2]. */
typedef struct {
  REAL carry[2], first[3];
} TYPED(StrataPart);

STRATA_CELL TYPED(StrataPart) TYPED(strata_part_none)(void)
{
  const TYPED(StrataPart) p = {{1, 0}, {0, 1, 0}};

  return p;
}

/* One row more */
STRATA_CELL void CELL(strata_part_row)(TYPED(StrataPart) *p, REAL f, REAL c, REAL b)
{
  p->carry[0] = f * p->carry[0];
  p->carry[1] = FMA(f, p->carry[1], b);
  p->first[0] = FMA(p->first[1], p->carry[0], p->first[0]);
  p->first[2] = FMA(p->first[1], p->carry[1], p->first[2]);
  p->first[1] = -c * p->first[1];
}

/* Two parts, the second one behind the first */
STRATA_CELL TYPED(StrataPart) CELL(strata_part_join)(TYPED(StrataPart) a, TYPED(StrataPart) b)
{
  TYPED(StrataPart) p;

  p.carry[0] = b.carry[0] * a.carry[0];
  p.carry[1] = FMA(b.carry[0], a.carry[1], b.carry[1]);
  p.first[0] = FMA(a.first[1], b.first[0] * a.carry[0], a.first[0]);
  p.first[1] = a.first[1] * b.first[1];
  p.first[2] = FMA(a.first[1], FMA(b.first[0], a.carry[1], b.first[2]), a.first[2]);
  return p;
}

STRATA_CELL REAL CELL(strata_part_carry)(const TYPED(StrataPart) *p, REAL before)
{
  return FMA(p->carry[0], before, p->carry[1]);
}

STRATA_CELL REAL CELL(strata_part_first)(const TYPED(StrataPart) *p, REAL before, REAL after)
{
  return FMA(p->first[1], after, FMA(p->first[0], before, p->first[2]));
}

/* A linear function s[0] x + s[1], and what follows it */
STRATA_CELL void CELL(strata_then)(REAL s[2], REAL factor, REAL term)
{
  s[0] = factor * s[0];
  s[1] = FMA(factor, s[1], term);
}

/* Numbers of a line with shared rows, once it is divided by its area: 1 / area, and of lateral legs and shift what is in a row */
STRATA_CELL void CELL(strata_partition_line)(REAL area, REAL lateral, REAL shift, REAL line[3])
{
  const REAL unit = TYPED(strata_unit)(area);

  line[0] = TYPED(strata_reciprocal)(area * unit) * unit;
  line[1] = lateral * line[0];
  line[2] = shift * line[0];
}

STRATA_CELL void CELL(strata_partition_shared_row)(const REAL level[4], const REAL line[3], REAL row[3])
{
  row[0] = level[0];
  row[1] = level[1];
  row[2] = FMA(-level[3], line[1], level[2] + line[2]);
}

/* One step of the factorization: gives 1 / den, or 0 at the end of a singular run if these are looked for, as strata_factor() does */
STRATA_CELL REAL CELL(strata_partition_factor)(const REAL row[3], int singular, REAL *N, REAL *D)
{
  const REAL whole = row[2] * *D, E = FMA(-row[0], *N, whole), den = FMA(-row[1], *D, E), unit = TYPED(strata_unit)(den);
  const REAL next = den * unit, inverse = *D * TYPED(strata_reciprocal)(next) * unit;

  if (singular && row[1] == 0 && CELL(strata_abs)(E) <= 8 * (REAL)REAL_EPSILON * (CELL(strata_abs)(whole) + CELL(strata_abs)(row[0] * *N))) {
    *N = 0;
    *D = 1;
    return 0;
  }
  *N = E * unit;
  *D = next;
  return inverse;
}

/* Some rows in turn as a map of N and D before them to those behind them: N is map[0] N + map[1] D, D is map[2] N + map[3] D. It is taken for
   rows of an M-matrix only, where nothing cancels. */
STRATA_CELL void CELL(strata_map_row)(REAL map[4], const REAL row[3])
{
  REAL unit;

  if (row[0] == 0) map[0] = map[2] = 0, map[1] = map[3] = 1; /* it begins anew: whatever comes before has no part in it */
  for (int m = 0; m < 2; m++) {
    const REAL E = FMA(-row[0], map[m], row[2] * map[2 + m]);

    map[2 + m] = FMA(-row[1], map[2 + m], E);
    map[m] = E;
  }
  unit = TYPED(strata_unit)(map[2] + map[3]);
  for (int m = 0; m < 4; m++) map[m] *= unit;
}

/* N / D behind the rows; both are 0 at the end of a singular run, where nothing follows that needs them */
STRATA_CELL REAL CELL(strata_map_ratio)(const REAL map[4], REAL ratio)
{
  const REAL D = FMA(map[2], ratio, map[3]);

  return D == 0 ? 0 : FMA(map[0], ratio, map[1]) / D;
}

/* Running sums: g_k (in the first row of a segment) or 1 / g_k, g_{k+1}, excess and lateral factor of a level */
STRATA_CELL void CELL(strata_sums_level)(const REAL level[4], int first, REAL number[STRATA_SUMS_LEVEL])
{
  number[0] = first ? -level[0] : 1 / -level[0];
  number[1] = -level[1];
  number[2] = level[2];
  number[3] = level[3];
}

/* Are the legs between two levels fit for them? */
STRATA_CELL int CELL(strata_sums_fit_legs)(REAL upper, REAL nextlower)
{
  const REAL range = (REAL)(sizeof(REAL) == 8 ? 0x1p200 : 0x1p30);

  return upper == nextlower && -upper >= 1 / range && -upper <= range;
}

/* Is a row? inverse: 1 / den; shrink: what D has grown by since the segment began, the inverse of it */
STRATA_CELL int CELL(strata_sums_fit_row)(const REAL row[3], REAL area, REAL inverse, REAL *shrink)
{
  const REAL range = (REAL)(sizeof(REAL) == 8 ? 0x1p200 : 0x1p30), least = (REAL)(sizeof(REAL) == 8 ? 0x1p-300 : 0x1p-44), last = inverse * area;

  *shrink *= -row[1] * inverse;
  return row[2] >= 0 && (row[1] == 0 ? last >= 1 / range && last <= range : *shrink >= least);
}

/* One row: N and D of the row before become those of this one. start: N / D of the general factorization, before a first row */
STRATA_CELL void CELL(strata_sums_factor)(const REAL number[STRATA_SUMS_LEVEL], const REAL line[3], int first, REAL start, REAL *N, REAL *D)
{
  const REAL excess = FMA(-number[3], line[1], number[2] + line[2]);

  *D = first ? 1 : FMA(number[0], *N, *D);
  *N = first ? FMA(number[0], start, excess) : FMA(excess, *D, *N);
}
