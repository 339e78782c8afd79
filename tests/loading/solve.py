"""A program in petsc4py that knows nothing of Strata: solves a Poisson problem on a grid by whatever the options say."""

import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc

ranks = PETSc.COMM_WORLD.getSize()
da = PETSc.DMDA().create([12, 9], proc_sizes=[ranks, 1], stencil_width=1)
A = da.createMatrix()
row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
(x0, x1), (y0, y1) = da.getRanges()
for j in range(y0, y1):
    for i in range(x0, x1):
        row.index = (i, j)
        A.setValueStencil(row, row, 22.0)
        for di, dj, value in ((-1, 0, -1.0), (1, 0, -1.0), (0, -1, -10.0), (0, 1, -10.0)):
            if 0 <= i + di < 12 and 0 <= j + dj < 9:
                column.index = (i + di, j + dj)
                A.setValueStencil(row, column, value)
A.assemble()
x, b = A.createVecs()
b.set(1.0)
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setDM(da)
ksp.setDMActive(False)
ksp.setFromOptions()
ksp.solve(b, x)
residual = b.duplicate()
A.mult(x, residual)
residual.axpy(-1.0, b)
PETSc.Sys.Print(f"preconditioner {ksp.getPC().getType()}, converged {ksp.getConvergedReason() > 0}, residual small {residual.norm() < 1e-4 * b.norm()}")
