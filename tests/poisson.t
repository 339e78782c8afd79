#!/bin/bash
# The example `poisson`: with the operator and with an assembled matrix, batches of lines, guesses, and what it refuses
. "$(dirname "$0")/tap.sh"
python=$(petsc-conf/python)

poisson() { # RANKS OPTIONS...
  run "$1" "$lib/examples/poisson" "${@:2}"
  is "$rc" 0 "${*:2} on $1"
  result=$(tail -n 1 <<<"$out")
}
value() { sed "s/.* $1 \([^ ]*\).*/\1/" <<<"$result"; }
same() { ok "the same solution within $3" "$python" tests/files/same.py "$tmp/$1.h5" "$tmp/$2.h5" "$3"; }

# Operator and assembled matrix agree to rounding
for ranks in 1 2 3 4; do
  poisson $ranks -dim 2 -n 64 -output "$tmp/operator$ranks.h5"
  like "$result" "^result: its 93 reason CONVERGED_RTOL residual 9\.69248[0-9]e-06 norm 2\.6814696[0-9]e\+00 max 7\.3628023[0-9]e-02$" "the known result"
  poisson $ranks -dim 2 -n 64 -assembled -output "$tmp/assembled.h5"
  is "$(value its) $(value reason)" "93 CONVERGED_RTOL" "assembled: the same iterations"
  same operator$ranks assembled 1e-12
  [ $ranks = 1 ] || same operator1 operator$ranks 1e-12
done
for options in "-dim 1 -nx 33" "-dim 3 -nx 9 -ny 12 -nz 15"; do
  poisson 3 $options -output "$tmp/operator.h5"
  poisson 3 $options -output "$tmp/assembled.h5" -assembled
  same operator assembled 1e-12
done

# The solution in one dimension is x (1 - x) / 2, also at the points of the grid; copies of a line do not know each other
poisson 3 -dim 1 -n 40 -ksp_rtol 1e-13 -output "$tmp/line.h5"
ok "the exact solution" "$python" - "$tmp/line.h5" <<'END'
import h5py, numpy, sys
u = h5py.File(sys.argv[1], "r")["u"][...]
x = numpy.arange(1, 41) / 41
assert u.shape == (40,) and abs(u - x * (1 - x) / 2).max() < 1e-12
END
close "$(value max)" 0.12492564 1e-7 "its maximum"
close "$(value norm)" "$(awk 'BEGIN { for (i = 1; i <= 40; i++) s += (i / 41 * (1 - i / 41) / 2) ^ 2; printf "%.12e", sqrt(s) }')" 1e-8 "its norm"
poisson 4 -dim 1 -n 40 -copies 6 -ksp_rtol 1e-13 -output "$tmp/lines.h5"
ok "copies of a line" "$python" - "$tmp/line.h5" "$tmp/lines.h5" <<'END'
import h5py, sys
one, many = (h5py.File(name, "r")["u"][...] for name in sys.argv[1:])
assert many.shape == (6, 40) and abs(many - one).max() < 1e-12
END
poisson 1 -dim 1 -n 40 -copies 6 -ksp_type preonly -pc_type column
is "$(value reason)" CONVERGED_ITS "lines are solved by columns at once"
ok "exactly" awk "BEGIN { exit !($(value residual) < 1e-12) }"

# Damped by nothing, Jacobi's iteration needs a known number of steps from the guess 1
poisson 1 -dim 1 -n 1024 -initial 1 -ksp_type richardson -pc_type jacobi -ksp_rtol 1e-4 -ksp_max_it 200000
close "$(value its)" 128760 1e-4 "iterations of Jacobi in 1D"
poisson 1 -dim 2 -n 128 -initial 1 -ksp_type richardson -pc_type jacobi -ksp_rtol 1e-4 -ksp_max_it 20000
close "$(value its)" 13299 1e-4 "iterations of Jacobi in 2D"

# With a guess, residuals are measured by the first: in 2D it is 1 - (n + 1)^2 at sides, 1 - 2 (n + 1)^2 in corners, 1 inside
poisson 2 -n 20 -initial 1
first=$(awk 'BEGIN { n = 20; h = (n + 1) ^ 2; print sqrt((n - 2) ^ 2 + 4 * (n - 2) * (1 - h) ^ 2 + 4 * (1 - 2 * h) ^ 2) / n }')
ok "stops where it should" awk "BEGIN { r = $(value residual); exit !(r <= 1e-5 * $first && r > 1e-7 * $first && r > 1e-5) }"
poisson 1 -n 20 -initial 0
its=$(value its)
poisson 1 -n 20
is "$(value its)" "$its" "the guess 0 is no guess"
run 2 "$lib/examples/poisson" -n 20 -initial nan
result=$(grep '^result:' <<<"$out")
like "$rc $(value reason) $(value norm) $(value max) ${out//$'\n'/ }" "^1 DIVERGED_NANORINF nan nan|^[1-9].*set value nan. less than allowed" \
  "a guess that is no number gives no number, or newer versions of PETSc do not take it"

# Any KSP and PC of PETSc, geometric multigrid as well, which needs the grid
poisson 2 -n 65 -assembled -pc_type mg -pc_mg_levels 3 -pc_mg_galerkin -options_left -malloc_debug -malloc_dump
like "$out" "^result: its [0-9] reason CONVERGED_RTOL" "multigrid takes less than ten iterations"
like "$out" "no unused options" "no option is left over"
unlike "$out" "^\[ ?[0-9]+\] *[0-9]+ bytes " "nor memory"

refuses() { # RANKS WORDS OPTIONS...
  stops "$1" "$2" "$lib/examples/poisson" "${@:3}"
}
export TEST_TIMEOUT=60
refuses 3 '-dim 4: there are 1, 2 or 3' -dim 4
refuses 1 '-dim 0: there are 1, 2 or 3' -dim 0
refuses 1 '0 points along x.*-nx' -n 0
refuses 3 '-5 points along y.*-ny' -ny -5
refuses 1 '-copies 2 .*-dim 1' -copies 2 -dim 2
refuses 1 '-copies 0' -copies 0 -dim 1
refuses 1 'Input.*nonsense|nonsense.*(integer|value)' -n nonsense
finish
