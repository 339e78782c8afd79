#!/bin/bash
# Hierarchical Jacobi as smoother of PETSc's multigrid, on the host
. "$(dirname "$0")/tap.sh"
. tests/smoothers.sh

smoothed_tutorials
finer_meshes
finish
