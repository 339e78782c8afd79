#!/bin/bash
# Solvers on CUDA vectors: the known values of the examples, on one rank and on two that share the GPU, with the operator and with assembled
# matrices, the same as on the host; and the library loaded into PETSc's own tutorials
. "$(dirname "$0")/../tap.sh"

examples=$lib/examples
if ! grep -qs . build/demo/levitus.h5; then make -s build/demo/levitus.h5; fi

result() { # RANKS PROGRAM OPTIONS...: the line with the result, checked to be there
  run "$@"
  line=$(grep '^result: ' <<<"$out")
  report $((rc != 0)) "${*/#*\//}" "exit status $rc"$'\n'"$out"
}
value() { # NAME
  sed -n "s/.* $1 \([^ ]*\).*/\1/p" <<<"$line"
}
known() { # ITS NORM MAX
  is "$(value its)" "$1" "iterations"
  is "$(value reason)" CONVERGED_RTOL "reason"
  close "$(value norm)" "$2" 1e-5 "norm"
  close "$(value max)" "$3" 1e-5 "maximum"
}

cuda="-dm_vec_type cuda"
for ranks in 1 2; do
  while read -r m nz column norm max jacobi; do
    result $ranks "$examples/pressure" -m $m -nz $nz $cuda
    known $column $norm $max
    device=$line
    result $ranks "$examples/pressure" -m $m -nz $nz -dm_vec_type standard -pc_column_algorithm partition # as on the GPU
    is "$device" "$line" "the same digits as on the host"
    result $ranks "$examples/pressure" -m $m -nz $nz $cuda -axis z
    known $column $norm $max
    result $ranks "$examples/pressure" -m $m -nz $nz $cuda -assembled
    known $column $norm $max
    result $ranks "$examples/pressure" -m $m -nz $nz $cuda -pc_type jacobi
    known $jacobi $norm $max
    result $ranks "$examples/pressure" -m $m -nz $nz $cuda -axis z -ksp_type cgfused -ksp_view
    known $column $norm $max
    [ $ranks = 2 ] || like "$out" "in two passes along columns" "all of an iteration is done together"
    result $ranks "$examples/pressure" -m $m -nz $nz $cuda -axis z -ksp_type cgfused -pc_column_omega 0.9 -ksp_view
    is "$(value reason)" CONVERGED_RTOL "columns with a weight: reason"
    [ $ranks = 2 ] || like "$out" "preconditioner unfused: options of the preconditioner" "and the preconditioner is called"
  done <<E2
16 8 5 6.08055448 0.728622208 26
32 16 9 17.1521429 0.723421371 67
64 32 20 48.4797266 0.727927443 168
E2
  result $ranks "$examples/poisson" -dim 2 -n 64 $cuda -pc_type none
  device=$line
  result $ranks "$examples/poisson" -dim 2 -n 64 -dm_vec_type standard -pc_type none
  is "$device" "$line" "the same digits as on the host"
  result $ranks "$examples/ocean" -file build/demo/levitus.h5 $cuda
  close "$(value its)" 479 0.01 "iterations of the ocean"
  close "$(value norm)" 1.02228965e4 1e-5 "norm"
  close "$(value max)" 29.5885149 1e-5 "maximum"
  like "$out" "conserved" "heat is conserved"
  like "$out" "no new extremes" "the maximum principle holds"
  like "$out" "land: untouched" "land is untouched"
  while read -r name; do
    result $ranks "$examples/poisson" $name -initial 1 -ksp_type hjacobi -pc_type none -ksp_rtol 1e-4 -ksp_max_it 1000000 $cuda
    is "$(value reason)" CONVERGED_RTOL "reason"
    device=$line
    result $ranks "$examples/poisson" $name -initial 1 -ksp_type hjacobi -pc_type none -ksp_rtol 1e-4 -ksp_max_it 1000000 -dm_vec_type standard
    is "$device" "$line" "the same digits as on the host"
  done <<E2
-dim 1 -n 1024 -ksp_hjacobi_tile 32 -ksp_hjacobi_subiterations 8 -ksp_hjacobi_overlap 4
-dim 2 -n 128 -ksp_hjacobi_tile 32,32 -ksp_hjacobi_subiterations 16 -ksp_hjacobi_overlap 4
-dim 2 -n 128 -ksp_hjacobi_subiterations 8 -ksp_hjacobi_schedule chebyshev
-dim 3 -n 20 -ksp_hjacobi_subiterations 4 -assembled
E2
  for program in ex29 ex45; do
    processes="-da_processors_x $ranks -da_processors_y 1"
    [ $program = ex29 ] || processes+=" -da_processors_z 1"
    program=$lib/tutorials/ksp/ksp/tutorials/$program
    run $ranks "$program" $processes -da_refine 2 -dll_append "$lib/libstrata.so" -dm_vec_type cuda -dm_mat_type aijcusparse -ksp_type cg \
      -pc_type column -ksp_converged_reason -ksp_view
    is "$rc" 0 "$(basename "$program") on $ranks"
    like "$out" "converged due to CONVERGED_RTOL" "$(basename "$program") converges"
    like "$out" "type: column" "$(basename "$program") uses the column preconditioner"
    like "$out" "in CUDA memory" "on the GPU"
    run $ranks "$program" -da_refine 3 -dll_append "$lib/libstrata.so" -dm_vec_type cuda -dm_mat_type aijcusparse -pc_type mg -mg_levels_ksp_type richardson \
      -mg_levels_pc_type hjacobi -ksp_converged_reason -ksp_view
    is "$rc" 0 "multigrid with hjacobi in $(basename "$program") on $ranks"
    like "$out" "converged due to CONVERGED_RTOL" "it converges"
    like "$out" "type: hjacobi" "with hjacobi"
  done
done

# Ghost cells arrive in whatever way they travel; MPI is left out, since only some send device memory
for ranks in 2 3; do
  result $ranks "$examples/pressure" -m 33 -nz 16 $cuda
  auto=$line
  for transport in staged peer; do
    result $ranks "$examples/pressure" -m 33 -nz 16 $cuda -strata_halo $transport
    is "$line" "$auto" "the same digits"
  done
done

# In the steady state nothing is copied between host and device: more iterations take no more copies
copies() { # ITERATIONS
  run 1 "$examples/pressure" -m 32 -nz 16 $cuda -ksp_max_it "$1" -ksp_rtol 1e-30 -log_view
  awk '/^KSPSolve /{ print $(NF - 4), $(NF - 2) }' <<<"$out"
}
few=$(copies 5)
like "$few" "^[0-9]+ [0-9]+$" "the log counts copies"
is "$(copies 25)" "$few" "25 iterations copy as often as 5"

finish
