/* Included by cg_columns_host.c for each precision */

TYPED(StrataCGColumns) TYPED(StrataCGColumnsPlan)(const int n[3])
{
  TYPED(StrataCGColumns) q = {{n[0], n[1], n[2]}};

  q.pad = (CHUNK - n[2] % CHUNK) % CHUNK;
  q.levels = n[2] + q.pad;
  q.columns = (ptrdiff_t)n[0] * n[1];
  q.pitch = (n[0] + 3) / 4 * 4;
  q.plane = q.pitch * n[1];
  q.energy = q.zz = 1;
  TYPED(StrataCGColumnsSetVectors)(&q, 1);
  return q;
}

void TYPED(StrataCGColumnsSetVectors)(TYPED(StrataCGColumns) *q, int vectors)
{
  const ptrdiff_t tiles = (ptrdiff_t)((q->n[0] + WIDTH - 1) / WIDTH) * ((q->n[1] + STRATA_CG_ROWS - 1) / STRATA_CG_ROWS) * vectors;

  q->vectors = vectors;
  q->rows = tiles < 100 ? STRATA_CG_PART : STRATA_CG_ROWS; /* small tiles keep more of a device at work */
}

ptrdiff_t TYPED(StrataCGColumnsLevel)(const TYPED(StrataCGColumns) *q)
{
  return (ptrdiff_t)STRATA_LEVEL * q->levels;
}

ptrdiff_t TYPED(StrataCGColumnsColumn)(const TYPED(StrataCGColumns) *q)
{
  return STRATA_COLUMN * q->columns;
}

ptrdiff_t TYPED(StrataCGColumnsVector)(const TYPED(StrataCGColumns) *q)
{
  return q->plane * q->levels;
}

ptrdiff_t TYPED(StrataCGColumnsChunks)(const TYPED(StrataCGColumns) *q)
{
  return q->columns * (q->levels / CHUNK);
}

/* Parts of tiles, which sums are made of */
static ptrdiff_t TYPED(parts)(const TYPED(StrataCGColumns) *q)
{
  return (ptrdiff_t)((q->n[0] + WIDTH - 1) / WIDTH) * ((q->n[1] + STRATA_CG_PART - 1) / STRATA_CG_PART);
}

ptrdiff_t TYPED(StrataCGColumnsWork)(const TYPED(StrataCGColumns) *q)
{
  return STRATA_CG_SUMS * TYPED(parts)(q) + 1;
}

/* ---- numbers of the operator -------------------------------------------------------------------------------------------------------- */

/* The smallest and the largest of some numbers */
static void TYPED(range)(ptrdiff_t n, const REAL *x, REAL range[2])
{
  REAL bad = 0; /* or not a number */

  range[0] = range[1] = x[0];
  for (ptrdiff_t i = 0; i < n; i++) {
    if (x[i] < range[0]) range[0] = x[i];
    if (x[i] > range[1]) range[1] = x[i];
    bad += x[i] - x[i];
  }
  range[0] += bad;
  range[1] += bad;
}

/* Is the factorization safe? Bounds over all columns at once. Within a chunk D grows by the factors den_k / g_{k+1}. */
static int TYPED(safe)(const TYPED(StrataCGColumns) *q, const REAL *level, const REAL *column, REAL *stiffness)
{
  const ptrdiff_t columns = q->columns;
  const REAL      most = sizeof(REAL) == sizeof(double) ? (REAL)1e100 : (REAL)1e12;
  REAL            area[2], inverse[2], lateral[2], shift[2], leg[2], growth = 1, total = 0;

  TYPED(range)(columns, column + STRATA_COLUMN_AREA * columns, area);
  TYPED(range)(columns, column + STRATA_COLUMN_INVERSE * columns, inverse);
  TYPED(range)(columns, column + STRATA_COLUMN_LATERAL * columns, lateral);
  TYPED(range)(columns, column + STRATA_COLUMN_SHIFT * columns, shift);
  TYPED(range)(4 * columns, column + STRATA_COLUMN_WEST * columns, leg);
  *stiffness = 1;
  if (!(area[0] > 0 && area[1] < most && inverse[1] < most)) return 0;
  for (int k = q->pad; k < q->levels; k++) {
    const REAL *l = level + STRATA_LEVEL * k, below = l[STRATA_LEVEL_LEG], above = l[STRATA_LEVEL_ABOVE];
    const REAL  d = -l[STRATA_LEVEL_LATERAL], first = d * lateral[0], second = d * lateral[1], e = l[STRATA_LEVEL_EXCESS];
    const REAL  own[2] = {e + shift[0], e + shift[1]}, least = own[0] + (first < second ? first : second);
    const REAL  largest = own[1] + (first < second ? second : first);

    if (!(own[0] >= 0 && d * leg[0] >= 0 && d * leg[1] >= 0 && largest < most)) return 0;
    total += least;
    if (!(largest <= own[0] * *stiffness)) *stiffness = largest / own[0]; /* infinite where there is nothing of its own, which is fine */
    if (k % CHUNK == 0) growth = 1;
    if (k + 1 == q->levels) continue;
    if (!(above > 0 && 1 / above < most && above < most)) return 0;
    growth *= 1 + (largest + below) / above;
    if (!(growth < most)) return 0;
  }
  return total * most > 1;
}

int TYPED(StrataCGColumnsSetUpHost)(const TYPED(StrataLines) *lines, TYPED(StrataCGColumns) *q, REAL *level, REAL *column)
{
  const TYPED(StrataCoef) *c = &lines->coef;
  const ptrdiff_t          columns = q->columns;
  REAL                     stiffness;

  for (int k = 0; k < q->levels; k++) {
    REAL *l = level + STRATA_LEVEL * k, row[4] = {-1, -1, 0, 0}; /* levels below the grid take the value of its first one */

    if (k >= q->pad) CELL(strata_shared_level)(lines, 2, k - q->pad, row);
    if (k && k == q->pad) row[0] = -1;
    if (!k) row[0] = 0;
    l[STRATA_LEVEL_INVERSE] = row[0] == 0 ? 0 : -1 / row[0];
    l[STRATA_LEVEL_EXCESS] = row[2];
    l[STRATA_LEVEL_LATERAL] = row[3];
    l[STRATA_LEVEL_THERE] = k >= q->pad;
    l[STRATA_LEVEL_LEG] = -row[0];
    l[STRATA_LEVEL_ABOVE] = -row[1];
  }
  for (int j = 0; j < q->n[1]; j++)
    for (int i = 0; i < q->n[0]; i++) {
      const int       at[3] = {i, j, 0};
      const ptrdiff_t id = i + (ptrdiff_t)q->n[0] * j;
      const REAL      area = c->form == STRATA_TENSOR ? c->area[id] : 1, inverse = 1 / area;
      REAL            leg[4], high = 0;

      for (int l = 0; l < 4; l++) {
        const int crosses = strata_crosses(c->n, l, at);

        leg[l] = crosses && c->outside[l] == STRATA_OUTSIDE_NONE ? 0 : (c->form == STRATA_TENSOR ? c->alpha[l][id] : c->leg[l]) * inverse;
        column[(STRATA_COLUMN_WEST + l) * columns + id] = leg[l];
        if (crosses && l % 2) high += leg[l];
      }
      column[STRATA_COLUMN_AREA * columns + id] = area;
      column[STRATA_COLUMN_INVERSE * columns + id] = inverse;
      column[STRATA_COLUMN_LATERAL * columns + id] = leg[0] + leg[1] + leg[2] + leg[3];
      column[STRATA_COLUMN_SHIFT * columns + id] = c->shift * inverse;
      column[STRATA_COLUMN_HIGH * columns + id] = high;
    }
  if (!TYPED(safe)(q, level, column, &stiffness)) return 0;
  q->energy = !(stiffness * (REAL)REAL_EPSILON <= (REAL)1e-13);
  return 1;
}

/* ---- passes ------------------------------------------------------------------------------------------------------------------------- */

/* The column numbers of column id */
static void TYPED(column)(const TYPED(StrataCGColumns) *q, ptrdiff_t id, REAL column[STRATA_COLUMN])
{
  for (int m = 0; m < STRATA_COLUMN; m++) column[m] = q->column[m * q->columns + id];
}

/* Where the factorization stands before each chunk, and the running sum */
static void TYPED(begin)(const TYPED(StrataCGColumns) *q, const REAL *r, REAL *start, REAL *F)
{
  const ptrdiff_t columns = q->columns, plane = q->plane;

  for (int j = 0; j < q->n[1]; j++)
    for (int i = 0; i < q->n[0]; i++) {
      const ptrdiff_t id = i + (ptrdiff_t)q->n[0] * j, at = i + q->pitch * j;
      REAL            column[STRATA_COLUMN], N = 0, sum = 0;

      TYPED(column)(q, id, column);
      for (int k = 0; k < q->levels; k += CHUNK) {
        const REAL *level = q->level + STRATA_LEVEL * k;
        REAL        D[CHUNK], v[CHUNK], last, rho;

        start[id + columns * (k / CHUNK)] = N;
        F[id + columns * (k / CHUNK)] = sum;
        CELL(strata_chunk_factor)(level, column[STRATA_COLUMN_LATERAL], column[STRATA_COLUMN_SHIFT], N, D, &last);
        CELL(strata_chunk_up)(level, D, last, r + at + plane * k, plane, &sum, v, &rho, NULL, NULL);
        N = last * rho;
        sum *= rho;
      }
    }
}

void TYPED(StrataCGColumnsEnterHost)(const TYPED(StrataCGColumns) *q, const REAL *r, const REAL *p, const REAL *x, REAL *rto, REAL *pto, REAL *xto,
                                     REAL *start, REAL *F)
{
  for (int k = 0; k < q->levels; k++)
    for (int j = 0; j < q->n[1]; j++)
      for (int i = 0; i < q->n[0]; i++) {
        const ptrdiff_t from = i + q->n[0] * (j + (ptrdiff_t)q->n[1] * (k < q->pad ? 0 : k - q->pad)), to = i + q->pitch * j + q->plane * k;

        rto[to] = k < q->pad ? 0 : r[from];
        pto[to] = p[from];
        xto[to] = x[from];
      }
  TYPED(begin)(q, rto, start, F);
}

void TYPED(StrataCGColumnsLeaveHost)(const TYPED(StrataCGColumns) *q, REAL owed, const REAL *r, const REAL *p, const REAL *x, REAL *rto, REAL *pto,
                                     REAL *xto)
{
  ptrdiff_t id = 0;

  for (int k = 0; k < q->n[2]; k++)
    for (int j = 0; j < q->n[1]; j++)
      for (int i = 0; i < q->n[0]; i++, id++) {
        const ptrdiff_t at = i + q->pitch * (j + (ptrdiff_t)q->n[1] * (k + q->pad));

        if (rto) rto[id] = r[at];
        if (pto) pto[id] = p[at];
        if (xto) xto[id] = CELL(strata_cg_add)(owed, p[at], x[at]);
      }
}

/* Up, one right-hand side */
static void TYPED(up)(const TYPED(StrataCGColumns) *q, const StrataCG_d *cg, const REAL *z, const REAL *r, const REAL *p, REAL *rnew, REAL *pnew,
                      REAL *x, REAL *F)
{
  const int      *n = q->n;
  const ptrdiff_t columns = q->columns, plane = q->plane;
  const REAL      beta = (REAL)cg->beta, alpha = (REAL)cg->alpha, owed = (REAL)cg->owed;

  if (cg->done) return;
  for (int j = 0; j < n[1]; j++) /* p of all columns */
    for (int i = 0; i < n[0]; i++) {
      const ptrdiff_t id = i + (ptrdiff_t)n[0] * j, at = i + q->pitch * j;
      REAL            column[STRATA_COLUMN], N = 0, sum = 0;

      TYPED(column)(q, id, column);
      for (int k = 0; k < q->levels; k += CHUNK) {
        const REAL *level = q->level + STRATA_LEVEL * k;
        REAL        D[CHUNK], v[CHUNK], last, rho, w;

        CELL(strata_chunk_factor)(level, column[STRATA_COLUMN_LATERAL], column[STRATA_COLUMN_SHIFT], N, D, &last);
        CELL(strata_chunk_up)(level, D, last, r + at + plane * k, plane, &sum, v, &rho, NULL, NULL);
        w = k + CHUNK < q->levels ? z[id + columns * (k / CHUNK + 1)] * rho : 0;
        for (int m = CHUNK - 1; m >= 0; m--) {
          const ptrdiff_t cell = at + plane * (k + m);
          const REAL      now = CELL(strata_cg_add)(beta, p[cell], CELL(strata_chunk_down)(D, v, column[STRATA_COLUMN_INVERSE], m, &w));

          pnew[cell] = now;
          if (x) x[cell] = CELL(strata_cg_add)(alpha, now, CELL(strata_cg_add)(owed, p[cell], x[cell]));
        }
        N = last * rho;
        sum *= rho;
      }
    }
  for (int j = 0; j < n[1]; j++) /* then r, and its running sum */
    for (int i = 0; i < n[0]; i++) {
      const ptrdiff_t id = i + (ptrdiff_t)n[0] * j, at = i + q->pitch * j;
      REAL            column[STRATA_COLUMN], N = 0, sum = 0, across = 0;

      TYPED(column)(q, id, column);
      for (int k = 0; k < q->levels; k += CHUNK) {
        const REAL *level = q->level + STRATA_LEVEL * k, slope = alpha * column[STRATA_COLUMN_AREA];
        REAL        D[CHUNK], v[CHUNK], last, rho, unused = 0;

        for (int m = 0; m < CHUNK; m++) {
          const ptrdiff_t cell = at + plane * (k + m);
          const REAL     *l = level + STRATA_LEVEL * m, u = pnew[cell], below = k + m ? pnew[cell - plane] : 0;
          const REAL      above = k + m + 1 < q->levels ? pnew[cell + plane] : 0;
          const REAL      beside[4] = {i ? pnew[cell - 1] : 0, i + 1 < n[0] ? pnew[cell + 1] : 0, j ? pnew[cell - q->pitch] : 0,
                                  j + 1 < n[1] ? pnew[cell + q->pitch] : 0};
          const REAL left = CELL(strata_cell_residual)(l, column + STRATA_COLUMN_WEST, column[STRATA_COLUMN_SHIFT], slope, u, beside,
                                                       l[STRATA_LEVEL_LEG] * (u - below), r[cell]);

          rnew[cell] = CELL(strata_cg_add)(slope, l[STRATA_LEVEL_ABOVE] * (above - u), left);
        }
        if (k) sum = CELL(strata_cg_add)(across, rnew[at + plane * (k - 1)], sum);
        F[id + columns * (k / CHUNK)] = sum;
        CELL(strata_chunk_factor)(level, column[STRATA_COLUMN_LATERAL], column[STRATA_COLUMN_SHIFT], N, D, &last);
        CELL(strata_chunk_up)(level, D, last, r + at + plane * k, plane, &unused, v, &rho, NULL, NULL);
        for (int m = 0; m + 1 < CHUNK; m++) sum = CELL(strata_cg_add)(D[m], rnew[at + plane * (k + m)], sum);
        N = last * rho;
        sum *= rho;
        across = D[CHUNK - 1] * rho;
      }
    }
}

void TYPED(StrataCGColumnsUpHost)(const TYPED(StrataCGColumns) *q, const StrataCG_d *cg, const REAL *z, const REAL *r, const REAL *p, REAL *rnew,
                                  REAL *pnew, REAL *x, REAL *F)
{
  for (int v = 0; v < q->vectors; v++) {
    const ptrdiff_t at = v * TYPED(StrataCGColumnsVector)(q), chunk = v * TYPED(StrataCGColumnsChunks)(q);

    TYPED(up)(q, cg + v, z + chunk, r + at, p + at, rnew + at, pnew + at, x ? x + at : NULL, F + chunk);
  }
}

/* z and the sums of a column, but for what its faces add to (z,Az) */
static void TYPED(solve)(const TYPED(StrataCGColumns) *q, const REAL column[], ptrdiff_t id, ptrdiff_t at, const REAL *r, const REAL *start,
                         const REAL *F, REAL *z, REAL *cells, double sum[STRATA_CG_SUMS])
{
  const ptrdiff_t columns = q->columns, plane = q->plane;
  REAL            next = 0;

  for (int m = 0; m < STRATA_CG_SUMS; m++) sum[m] = 0;
  for (int k = q->levels - CHUNK; k >= 0; k -= CHUNK) {
    const REAL *level = q->level + STRATA_LEVEL * k;
    REAL        D[CHUNK], v[CHUNK], last, rho, w, run = F[id + columns * (k / CHUNK)], gamma = 0, rr = 0, zz = 0;

    CELL(strata_chunk_factor)(level, column[STRATA_COLUMN_LATERAL], column[STRATA_COLUMN_SHIFT], start[id + columns * (k / CHUNK)], D, &last);
    CELL(strata_chunk_up)(level, D, last, r + at + plane * k, plane, &run, v, &rho, &gamma, &rr);
    w = next * rho;
    for (int m = CHUNK - 1; m >= 0; m--) {
      next = cells[at + plane * (k + m)] = CELL(strata_chunk_down)(D, v, column[STRATA_COLUMN_INVERSE], m, &w);
      if (q->zz && k + m >= q->pad) zz = FMA(next, next, zz);
    }
    sum[STRATA_CG_GAMMA] += gamma;
    sum[STRATA_CG_RR] += rr;
    sum[STRATA_CG_ZZ] += zz;
    z[id + columns * (k / CHUNK)] = next;
  }
  sum[STRATA_CG_GAMMA] *= column[STRATA_COLUMN_INVERSE];
}

/* What the faces of a column add to (z,Az), or all of it; chunks from above, levels in them from below */
static double TYPED(faces)(const TYPED(StrataCGColumns) *q, const REAL column[], int i, int j, const REAL *cells)
{
  const ptrdiff_t plane = q->plane;
  double          total = 0;

  for (int k = q->levels - CHUNK; k >= 0; k -= CHUNK) {
    REAL sum = 0;

    for (int m = 0; m < CHUNK; m++) {
      const REAL *level = q->level + STRATA_LEVEL * (k + m), *z = cells + i + q->pitch * j + plane * (k + m);
      const REAL  west = i ? z[-1] : 0, south = j ? z[-q->pitch] : 0, above = k + m + 1 < q->levels ? z[plane] : 0;

      if (q->energy)
        sum = CELL(strata_cell_energy)(level, column[STRATA_COLUMN_WEST], column[STRATA_COLUMN_SOUTH], column[STRATA_COLUMN_HIGH],
                                       column[STRATA_COLUMN_SHIFT], *z, west, south, above, sum);
      else
        sum = CELL(strata_cell_faces)(level, column[STRATA_COLUMN_WEST], column[STRATA_COLUMN_SOUTH], *z, west, south, sum);
    }
    total += sum;
  }
  return total;
}

/* Down, one right-hand side */
static void TYPED(down)(const TYPED(StrataCGColumns) *q, StrataCG_d *cg, const REAL *r, const REAL *start, const REAL *F, REAL *z, REAL *work,
                        double (*history)[STRATA_CG_SUMS])
{
  double lane[STRATA_CG_SUMS][WIDTH] = {{0}}, *sum; /* lane l takes the parts l, l + WIDTH, ... */
  int    part = 0;

  if (cg->done) return;
  sum = history ? history[cg->its] : cg->sum;
  for (int j0 = 0; j0 < q->n[1]; j0 += STRATA_CG_PART)
    for (int i0 = 0; i0 < q->n[0]; i0 += WIDTH, part++) {
      double row[STRATA_CG_SUMS][STRATA_CG_PART] = {{0}};

      for (int j = j0; j < q->n[1] && j < j0 + STRATA_CG_PART; j++) {
        double one[STRATA_CG_SUMS][WIDTH] = {{0}};

        for (int i = i0; i < q->n[0] && i < i0 + WIDTH; i++) {
          const ptrdiff_t id = i + (ptrdiff_t)q->n[0] * j;
          REAL            column[STRATA_COLUMN];
          double          own[STRATA_CG_SUMS];

          TYPED(column)(q, id, column);
          TYPED(solve)(q, column, id, i + q->pitch * j, r, start, F, z, work, own);
          own[STRATA_CG_DELTA] =
              strata_column_delta(q->energy, column[STRATA_COLUMN_AREA], own[STRATA_CG_GAMMA], TYPED(faces)(q, column, i, j, work));
          for (int m = 0; m < STRATA_CG_SUMS; m++) one[m][i - i0] = own[m];
        }
        for (int m = 0; m < STRATA_CG_SUMS; m++) row[m][j - j0] = halves(WIDTH, one[m]);
      }
      for (int m = 0; m < STRATA_CG_SUMS; m++) lane[m][part % WIDTH] = lane[m][part % WIDTH] + halves(STRATA_CG_PART, row[m]);
    }
  for (int m = 0; m < STRATA_CG_SUMS; m++) sum[m] = halves(WIDTH, lane[m]);
  if (history) strata_cg_judge_d(cg, sum);
}

void TYPED(StrataCGColumnsDownHost)(const TYPED(StrataCGColumns) *q, StrataCG_d *cg, const REAL *r, const REAL *start, const REAL *F, REAL *z,
                                    REAL *work, double (*history)[STRATA_CG_SUMS])
{
  for (int v = 0; v < q->vectors; v++) {
    const ptrdiff_t at = v * TYPED(StrataCGColumnsVector)(q), chunk = v * TYPED(StrataCGColumnsChunks)(q);

    TYPED(down)(q, cg + v, r + at, start, F + chunk, z + chunk, work, history ? history + v * (ptrdiff_t)q->room : NULL);
  }
}
