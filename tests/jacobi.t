#!/bin/bash
# KSPHJACOBI and PCHJACOBI from the command line: known numbers of cycles, options, view, divergence, monitors
. "$(dirname "$0")/tap.sh"
. tests/hjacobi.sh

known_jacobi

# Exact iterates are those of Jacobi's iteration, on every process grid
known_cycles 3 1 1024 32 8 exact 16095
known_cycles 4 2 128 32 8 exact 1663
poisson 1 -dim 3 -n 17 -ksp_type hjacobi -ksp_hjacobi_subiterations 12
exact=$result
like "$exact" "reason CONVERGED_RTOL" "an exact solve in 3D"
for options in "-ksp_hjacobi_tile 5" "-ksp_hjacobi_tile 3,40,9" "-ksp_hjacobi_overlap 22" "-ksp_hjacobi_overlap 22,24,30 -ksp_hjacobi_tile 40" \
  "-da_processors_x 2 -da_processors_y 2 -da_processors_z 1" "-da_processors_z 4 -da_processors_y 1 -da_processors_x 1"; do
  ranks=1
  [[ $options != *processors* ]] || ranks=4
  poisson $ranks -dim 3 -n 17 -ksp_type hjacobi -ksp_hjacobi_subiterations 12 $options
  is "$result" "$exact" "$options on $ranks changes nothing"
done
for ranks in 2 3 4; do # the box of a rank is not as deep as a cycle
  poisson $ranks -dim 3 -n 17 -ksp_type hjacobi -ksp_hjacobi_subiterations 12
  is "$result" "$exact" "nor do $ranks ranks"
done

# Grids of one cell, tiles wider than the grid or narrower than the number of sweeps
for options in "-dim 1 -n 1" "-dim 3 -n 1"; do
  poisson 1 $options -ksp_type hjacobi -ksp_hjacobi_subiterations 3
  is "$(value its)" 1 "$options is solved at once"
  ok "to rounding" awk "BEGIN { exit !($(value residual) < 1e-15) }"
done
for options in "-dim 1 -n 5 -ksp_hjacobi_tile 300" "-nx 1 -ny 7 -ksp_hjacobi_tile 2" "-n 5 -ksp_hjacobi_tile 2"; do
  poisson 1 $options -ksp_type hjacobi -ksp_hjacobi_subiterations 50 -ksp_hjacobi_overlap 0
  is "$(value reason)" CONVERGED_RTOL "$options with 50 sweeps a cycle"
done

# Overlaps that are not exact: the same solution on every number of ranks
poisson 1 -n 30 -ksp_type hjacobi -ksp_hjacobi_subiterations 6 -ksp_hjacobi_overlap 4 -ksp_hjacobi_tile 9,12 -ksp_rtol 1e-11 -ksp_max_it 100000
norm=$(value norm)
for ranks in 2 3 4; do
  poisson $ranks -n 30 -ksp_type hjacobi -ksp_hjacobi_subiterations 6 -ksp_hjacobi_overlap 4 -ksp_hjacobi_tile 9,12 -ksp_rtol 1e-11 -ksp_max_it 100000
  is "$(value reason)" CONVERGED_RTOL "a partial overlap on $ranks"
  close "$(value norm)" "$norm" 1e-8 "gives the same solution"
done

# View says what is done
poisson 2 -n 20 -ksp_type hjacobi -ksp_hjacobi_subiterations 30 -ksp_hjacobi_norm infinity -ksp_hjacobi_check_interval 3 -ksp_view -ksp_rtol 1e-2 -options_left -malloc_debug -malloc_dump
like "$out" "type: hjacobi" "view names the type"
like "$out" "tests norm infinity, every 3 cycles, check overlapped, here blocking: work is on the host" "norm, interval, when tests are looked at"
like "$out" "30 sweeps a cycle, schedule constant, omega 1" "sweeps and schedule"
like "$out" "overlap exact: iterates of plain sweeps, 3 passes a cycle" "passes, as deep as the box of a rank"
like "$out" "kernel host, in host memory, precision double, coefficients: equal legs in form constant" "kernel, memory, precision, coefficients"
like "$out" "no unused options" "no option is left"
unlike "$out" "^\[ ?[0-9]+\] *[0-9]+ bytes " "nor memory"
poisson 1 -n 20 -pc_type hjacobi -ksp_view -pc_hjacobi_overlap 2 -pc_hjacobi_subiterations 5 -pc_hjacobi_tile 6 -ksp_type gmres
like "$out" "1 cycle from zero, not symmetric" "a partial overlap is not symmetric"
like "$out" "tile 6 x 6, overlap 2 x 2" "tile and overlap"
poisson 1 -n 20 -pc_type hjacobi -ksp_view
like "$out" "1 cycle from zero, symmetric" "an exact one is"
largest=$(awk 'BEGIN { printf "%.4f", 1 + cos(atan2(0, -1) / 21) }') # of the Laplace operator on 20 x 20 cells
like "$out" "2 sweeps a cycle, schedule chebyshev for eigenvalues in \[$(awk "BEGIN { print 0.1 * $largest \", \" 1.1 * $largest }")\] \(0.1 and 1.1 times the largest\)" \
  "the default is a smoother"
poisson 1 -n 20 -pc_type hjacobi -ksp_view -assembled
like "$out" "schedule chebyshev for eigenvalues in \[0.19[0-9]*, 2.1[0-9]*\] \(0.1 and 1.1 times the estimated largest\)" "of an assembled matrix it is estimated"

# Tests, histories, monitors
poisson 1 -n 20 -ksp_type hjacobi -ksp_hjacobi_check_interval 7 -ksp_monitor -ksp_rtol 1e-3 -ksp_converged_reason
is "$(sed -n 's/^ *\([0-9]*\) KSP Residual.*/\1/p' <<<"$out")" "$(seq 0 7 "$(value its)")" "a monitor sees what is tested"
is $(($(value its) % 7)) 0 "cycles are a multiple of the interval"
poisson 1 -n 20 -ksp_type hjacobi -ksp_hjacobi_norm update -ksp_atol 1e-5 -ksp_monitor -ksp_max_it 1000
is "$(value reason)" CONVERGED_ATOL "the update is tested against the absolute tolerance"
unlike "$out" "^ *0 KSP Residual" "it has no value at the beginning"
ok "and is below it at the end" awk "BEGIN { exit !($(sed -n 's/.*KSP Residual norm \([^ ]*\).*/\1/p' <<<"$out" | tail -n 1) <= 1e-5) }"
first=$(value its)
poisson 3 -n 20 -ksp_type hjacobi -ksp_hjacobi_norm update -ksp_atol 1e-5 -ksp_max_it 1000
is "$(value its) $(value reason)" "$first CONVERGED_ATOL" "on three ranks as well"
poisson 2 -n 20 -ksp_type hjacobi -ksp_max_it 5
is "$(value its) $(value reason)" "5 DIVERGED_ITS" "the end of the iterations is told"
poisson 2 -n 20 -ksp_type hjacobi -ksp_max_it 5 -ksp_norm_type none
is "$(value its) $(value reason)" "5 CONVERGED_ITS" "without a norm it is the end that was wanted"

# Divergence is seen, at once or late
poisson 2 -n 20 -ksp_type hjacobi -ksp_hjacobi_omega 1.2 -ksp_max_it 100000
is "$(value reason)" DIVERGED_DTOL "a weight that is too large"
for norm in 2 infinity update; do
  poisson 1 -n 20 -ksp_type hjacobi -ksp_hjacobi_omega 3 -ksp_hjacobi_subiterations 100 -ksp_hjacobi_check_interval 50 -ksp_max_it 1000 -ksp_hjacobi_norm $norm
  is "$(value reason)" DIVERGED_DTOL "numbers out of all bounds between two tests, norm $norm"
done

# Schedules: as many sweeps, fewer are needed; bounds that fit the spectrum make a solver of them
poisson 1 -n 63 -ksp_type hjacobi -ksp_hjacobi_subiterations 64 -ksp_max_it 10000
constant=$(value its)
low=$(awk 'BEGIN { print 1 - cos(atan2(0, -1) / 64) }')
for k in 64 128; do
  poisson 1 -n 63 -ksp_type hjacobi -ksp_hjacobi_subiterations $k -ksp_hjacobi_schedule chebyshev -ksp_hjacobi_chebyshev_bounds $low,2
  is "$(value reason)" CONVERGED_RTOL "$k Chebyshev weights"
  ok "converge at least ten times as fast" [ $((10 * $(value its) * k)) -le $((constant * 64)) ]
done
for levels in 2 3 4 5; do
  poisson 1 -n 63 -ksp_type hjacobi -ksp_hjacobi_subiterations 8 -ksp_hjacobi_schedule srj -ksp_hjacobi_srj_levels $levels -ksp_hjacobi_chebyshev_bounds $low,2
  is "$(value reason)" CONVERGED_RTOL "$levels weights of scheduled relaxation"
  ok "converge at least three times as fast" [ $((3 * $(value its) * 8)) -le $((constant * 64)) ]
done

# Single precision on corrections reaches the tolerances of double precision; an assembled matrix does the same
for options in "" "-assembled" "-ksp_hjacobi_overlap 2 -ksp_hjacobi_tile 8"; do
  poisson 2 -n 20 -ksp_type hjacobi -ksp_hjacobi_precision single -ksp_hjacobi_schedule chebyshev -ksp_rtol 1e-13 -ksp_max_it 1000 $options
  is "$(value reason)" CONVERGED_RTOL "single precision $options"
  ok "has a residual below 2e-13" awk "BEGIN { exit !($(value residual) < 2e-13) }"
done
poisson 3 -dim 3 -n 12 -assembled -ksp_type hjacobi -ksp_view
like "$out" "coefficients: legs of each cell in form faces" "of an assembled matrix"
its=$(value its)
poisson 3 -dim 3 -n 12 -ksp_type hjacobi
is "$its" "$(value its)" "as many cycles as with the operator"

refuses() { # RANKS WORDS OPTIONS...
  stops "$1" "$2" "$lib/examples/poisson" "${@:3}"
}
refuses 2 "uses no preconditioner, but -pc_type jacobi was given" -ksp_type hjacobi -pc_type jacobi
refuses 1 "overlap of 3 cells: -ksp_hjacobi_overlap must be even" -ksp_type hjacobi -ksp_hjacobi_overlap 3
refuses 3 "-ksp_hjacobi_overlap -2: it must not be negative" -ksp_type hjacobi -ksp_hjacobi_overlap -2
refuses 1 "-pc_hjacobi_overlap 2,x: it must be exact" -pc_type hjacobi -pc_hjacobi_overlap 2,x
refuses 2 "The overlap 8 along x must be less than the tile, which is 8 cells wide there" -ksp_type hjacobi -ksp_hjacobi_overlap 8 -ksp_hjacobi_tile 8
finish
