/* Included by column_sweep_kernels.h for each precision */

STRATA_CELL REAL CELL(strata_correct)(int colored, REAL omega, REAL e, REAL add)
{
  return colored ? FMA(omega, e, add) : add;
}

STRATA_BEGIN_C

/* z = (add ? add : 0), plus omega e on the lines of the colour; z may be add or e */
void TYPED(StrataCorrectHost)(const StrataColor *color, REAL omega, const REAL *e, const REAL *add, REAL *z);
int TYPED(StrataCorrectCUDA)(const StrataColor *color, REAL omega, const REAL *e, const REAL *add, REAL *z, void *stream);

STRATA_END_C
