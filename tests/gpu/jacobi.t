#!/bin/bash
# Hierarchical Jacobi on CUDA vectors: its known numbers of cycles, the digits of the host from each kernel, bad input, no copies
. "$(dirname "$0")/../tap.sh"
. tests/hjacobi.sh

solver=(-dm_vec_type cuda)
known_jacobi
known_cycles 2 1 1024 32 8 exact 16095
known_cycles 2 2 128 32,32 8 exact 1663

# Each kernel; what it is asked for is what it does
while read -r kernels options; do
  solver=(-dm_vec_type standard)
  poisson 1 $options -ksp_type hjacobi -ksp_max_it 100000
  host=$result
  like "$host" "reason CONVERGED_RTOL" "$options converges"
  solver=(-dm_vec_type cuda)
  for kernel in ${kernels//,/ }; do
    poisson 1 $options -ksp_type hjacobi -ksp_max_it 100000 -ksp_hjacobi_kernel $kernel -ksp_view
    is "$result" "$host" "kernel $kernel: the digits of the host"
    like "$out" "kernel $kernel, in CUDA memory" "view names it"
  done
done <<E2
classic,register,persistent -dim 1 -n 301 -ksp_hjacobi_subiterations 16 -ksp_rtol 1e-2
classic,shared,register,persistent -dim 2 -n 131 -ksp_hjacobi_subiterations 6 -ksp_hjacobi_check_interval 5 -ksp_hjacobi_tile 20
shared,register,persistent -dim 2 -n 131 -ksp_hjacobi_subiterations 6 -ksp_hjacobi_tile 24,20 -ksp_hjacobi_overlap 4,2
classic,shared,register -dim 3 -n 37 -ksp_hjacobi_subiterations 3 -ksp_hjacobi_tile 12
classic,shared -dim 3 -n 37 -ksp_hjacobi_subiterations 3 -ksp_hjacobi_tile 12 -assembled
classic,shared,register -dim 2 -n 60 -ksp_hjacobi_subiterations 8 -ksp_hjacobi_schedule chebyshev -ksp_hjacobi_tile 30 -assembled
E2

# What cannot run
for ranks in 1 2; do
  stops $ranks "a tile with its frame takes [0-9]+ bytes of [0-9]+, at most [0-9]+ cells" "$lib/examples/poisson" -dm_vec_type cuda -n 2000 \
    -ksp_type hjacobi -ksp_hjacobi_subiterations 4 -ksp_hjacobi_overlap 0 -ksp_hjacobi_tile 900
done
poisson 1 -n 3000 -ksp_type hjacobi -ksp_hjacobi_kernel persistent -ksp_max_it 3 -ksp_view
is "$(value its) $(value reason)" "3 DIVERGED_ITS" "a grid that is too large to stay on the chip is swept all the same"
like "$out" "since persistent cannot run: .*[0-9]" "view says why, and the limit"
poisson 2 -n 100 -ksp_type hjacobi -ksp_hjacobi_kernel persistent -ksp_max_it 3 -ksp_view
like "$out" "since persistent cannot run: .*ranks" "and that it is for one rank"
for ranks in 1 2; do
  run $ranks "$lib/tests/bad_jacobi" -dm_vec_type cuda
  is "$rc" 0 "bad input on $ranks"
  like "$out" "^ok " "all of it"
  unlike "$out" "^not ok " "is refused as on the host"
done

# In the steady state nothing is copied between host and device: more cycles take no more copies
copies() { # CYCLES OPTIONS...
  run 1 "$lib/examples/poisson" -dm_vec_type cuda -n 200 -ksp_max_it "$1" -ksp_rtol 1e-30 -log_view "${@:2}"
  awk '/^KSPSolve /{ print $(NF - 4), $(NF - 2) }' <<<"$out"
}
for options in "-ksp_type hjacobi" "-ksp_type richardson -pc_type hjacobi" "-ksp_type hjacobi -assembled -ksp_norm_type none"; do
  few=$(copies 5 $options)
  like "$few" "^[0-9]+ [0-9]+$" "the log counts copies"
  is "$(copies 45 $options)" "$few" "$options: 45 cycles copy as often as 5"
done
finish
