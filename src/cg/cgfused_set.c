/*
   What the user of KSPCGFUSED can set
*/
#include "cgimpl.h"

const char *const KSPCGFusedPrecisions[] = {"same", "single", "KSPCGFusedPrecision", "KSP_CGFUSED_", NULL};
const char *const KSPCGFusedForms[] = {"gear", "classic", "KSPCGFusedForm", "KSP_CGFUSED_", NULL};

static PetscErrorCode KSPCGFusedSetForm_CGFused(KSP ksp, KSPCGFusedForm form)
{
  KSP_CGFused *cg = (KSP_CGFused *)ksp->data;

  PetscFunctionBegin;
  PetscCheck(form == KSP_CGFUSED_GEAR || form == KSP_CGFUSED_CLASSIC, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "There is no form %d: -ksp_cgfused_form is gear or classic", (int)form);
  if (form != cg->form) ksp->setupstage = KSP_SETUP_NEW; /* other work vectors */
  cg->form = form;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCGFusedGetForm_CGFused(KSP ksp, KSPCGFusedForm *form)
{
  PetscFunctionBegin;
  *form = ((KSP_CGFused *)ksp->data)->form;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCGFusedSetPrecision_CGFused(KSP ksp, KSPCGFusedPrecision precision)
{
  PetscFunctionBegin;
  PetscCheck(precision == KSP_CGFUSED_SAME || precision == KSP_CGFUSED_SINGLE, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "There is no precision %d: -ksp_cgfused_precision is same or single", (int)precision);
  ((KSP_CGFused *)ksp->data)->precision = precision;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCGFusedGetPrecision_CGFused(KSP ksp, KSPCGFusedPrecision *precision)
{
  PetscFunctionBegin;
  *precision = ((KSP_CGFused *)ksp->data)->precision;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCGFusedSetCheckInterval_CGFused(KSP ksp, PetscInt interval)
{
  PetscFunctionBegin;
  PetscCheck(interval >= 1 || interval == PETSC_DETERMINE, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " iterations: -ksp_cgfused_check_interval must be 1 or more", interval);
  ((KSP_CGFused *)ksp->data)->interval = interval;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCGFusedGetCheckInterval_CGFused(KSP ksp, PetscInt *interval)
{
  PetscFunctionBegin;
  *interval = ((KSP_CGFused *)ksp->data)->interval;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StrataCGFusedCompose(KSP ksp, PetscBool on)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGFusedSetForm_C", on ? KSPCGFusedSetForm_CGFused : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGFusedGetForm_C", on ? KSPCGFusedGetForm_CGFused : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGFusedSetPrecision_C", on ? KSPCGFusedSetPrecision_CGFused : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGFusedGetPrecision_C", on ? KSPCGFusedGetPrecision_CGFused : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGFusedSetCheckInterval_C", on ? KSPCGFusedSetCheckInterval_CGFused : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGFusedGetCheckInterval_C", on ? KSPCGFusedGetCheckInterval_CGFused : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGFusedSetForm - Sets the recurrence of `KSPCGFUSED`

  Logically Collective

  Input Parameters:
+ ksp  - the solver, of type `KSPCGFUSED`; nothing is done for other types
- form - `KSP_CGFUSED_GEAR`, the default, or `KSP_CGFUSED_CLASSIC`

  Options Database Key:
. -ksp_cgfused_form <gear,classic> - the recurrence

  Level: intermediate

  Note:
  With `KSP_CGFUSED_GEAR` there is one reduction over the ranks in an iteration, with `KSP_CGFUSED_CLASSIC` there are two. Iterates agree up to rounding.

.seealso: `KSPCGFUSED`, `KSPCGFusedGetForm()`, `KSPCGFusedForm`
@*/
PetscErrorCode KSPCGFusedSetForm(KSP ksp, KSPCGFusedForm form)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(ksp, form, 2);
  PetscTryMethod(ksp, "KSPCGFusedSetForm_C", (KSP, KSPCGFusedForm), (ksp, form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGFusedGetForm - Gets the recurrence of `KSPCGFUSED`

  Not Collective

  Input Parameter:
. ksp - the solver, of type `KSPCGFUSED`

  Output Parameter:
. form - the recurrence

  Level: intermediate

.seealso: `KSPCGFUSED`, `KSPCGFusedSetForm()`, `KSPCGFusedForm`
@*/
PetscErrorCode KSPCGFusedGetForm(KSP ksp, KSPCGFusedForm *form)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscUseMethod(ksp, "KSPCGFusedGetForm_C", (KSP, KSPCGFusedForm *), (ksp, form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGFusedSetCheckInterval - Sets how many iterations `KSPCGFUSED` gives to a GPU before it looks at the results

  Logically Collective

  Input Parameters:
+ ksp      - the solver, of type `KSPCGFUSED`; nothing is done for other types
- interval - the number of iterations, 1 or more, or `PETSC_DETERMINE` for the default

  Options Database Key:
. -ksp_cgfused_check_interval <m> - the number of iterations

  Level: intermediate

  Notes:
  The GPU itself tests every iteration, and the solution stays as it is at the first that passes: iterations, residuals and solution do not depend on
  the interval. Histories are complete.

  With monitors, a convergence test of one's own or several ranks the host looks at each iteration, as it does for vectors on the host.

.seealso: `KSPCGFUSED`, `KSPCGFusedGetCheckInterval()`
@*/
PetscErrorCode KSPCGFusedSetCheckInterval(KSP ksp, PetscInt interval)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveInt(ksp, interval, 2);
  PetscTryMethod(ksp, "KSPCGFusedSetCheckInterval_C", (KSP, PetscInt), (ksp, interval));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGFusedGetCheckInterval - Gets how many iterations `KSPCGFUSED` gives to a GPU before it looks at the results

  Not Collective

  Input Parameter:
. ksp - the solver, of type `KSPCGFUSED`

  Output Parameter:
. interval - the number of iterations, `PETSC_DETERMINE` if it was not set

  Level: intermediate

.seealso: `KSPCGFUSED`, `KSPCGFusedSetCheckInterval()`
@*/
PetscErrorCode KSPCGFusedGetCheckInterval(KSP ksp, PetscInt *interval)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscUseMethod(ksp, "KSPCGFusedGetCheckInterval_C", (KSP, PetscInt *), (ksp, interval));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGFusedSetPrecision - Sets the precision of the steps of `KSPCGFUSED`

  Logically Collective

  Input Parameters:
+ ksp       - the solver, of type `KSPCGFUSED`; nothing is done for other types
- precision - `KSP_CGFUSED_SAME`, the default, or `KSP_CGFUSED_SINGLE`

  Options Database Key:
. -ksp_cgfused_precision <same,single> - the precision

  Level: intermediate

  Notes:
  With `KSP_CGFUSED_SINGLE` operator, preconditioner and vectors of the steps are in single precision. Now and then, and before the solve ends, the
  residual is computed from the solution in double precision, and the iteration goes on from there: tolerances of double precision are met, in a few
  more iterations.

  Single precision is there on one rank where an iteration is one pass (on the host, with an operator of type `MATSTRATA`, the form
  `KSP_CGFUSED_GEAR` and `PCCOLUMN`, `PCJACOBI` or `PCNONE`) or two passes along columns (on a GPU, see `KSPCGFUSED`). Elsewhere, and where the range
  of single precision does not do, the steps are in double precision; `-ksp_view` says why.

.seealso: `KSPCGFUSED`, `KSPCGFusedGetPrecision()`, `KSPCGFusedPrecision`
@*/
PetscErrorCode KSPCGFusedSetPrecision(KSP ksp, KSPCGFusedPrecision precision)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(ksp, precision, 2);
  PetscTryMethod(ksp, "KSPCGFusedSetPrecision_C", (KSP, KSPCGFusedPrecision), (ksp, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGFusedGetPrecision - Gets the precision of the steps of `KSPCGFUSED`

  Not Collective

  Input Parameter:
. ksp - the solver, of type `KSPCGFUSED`

  Output Parameter:
. precision - the precision that was asked for

  Level: intermediate

.seealso: `KSPCGFUSED`, `KSPCGFusedSetPrecision()`, `KSPCGFusedPrecision`
@*/
PetscErrorCode KSPCGFusedGetPrecision(KSP ksp, KSPCGFusedPrecision *precision)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscUseMethod(ksp, "KSPCGFusedGetPrecision_C", (KSP, KSPCGFusedPrecision *), (ksp, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}
