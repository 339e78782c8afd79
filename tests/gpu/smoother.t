#!/bin/bash
# Hierarchical Jacobi as smoother of PETSc's multigrid, on CUDA vectors and matrices
. "$(dirname "$0")/../tap.sh"
. tests/smoothers.sh

memory=(-dm_vec_type cuda -dm_mat_type aijcusparse)
smoothed_tutorials
finer_meshes
cycles 1 -da_refine 3 -pc_mg_levels 3 -mg_levels_ksp_type richardson -mg_levels_pc_type hjacobi -ksp_view
like "$out" "kernel [a-z, ]*, in CUDA memory" "smoothers work on the GPU"
finish
