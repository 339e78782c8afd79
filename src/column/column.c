#include "../operator/operatorimpl.h"
PetscErrorCode PCCreate_Column(PC pc)
{
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "not yet");
  PetscFunctionReturn(PETSC_SUCCESS);
}
