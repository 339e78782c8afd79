#!/bin/bash
# `pressure` and `ocean` with cgfused: what cg gives, on any number of ranks
. "$(dirname "$0")/tap.sh"

pressure() { # RANKS ITERATIONS NORM MAX OPTIONS... checks the result
  local ranks=$1 its=$2 norm=$3 max=$4
  shift 4
  run "$ranks" "$lib/examples/pressure" -ksp_type cgfused "$@"
  result=$(tail -n 1 <<<"$out")
  like "$result" "^result: its $its reason CONVERGED_RTOL residual [0-9]\.[0-9]{6}e-06 norm [0-9]\.[0-9]{8}e[+-][0-9]+ max [0-9]\.[0-9]{8}e-01$" \
    "$* on $ranks: $its iterations"
  close "$(value norm)" "$norm" 1e-5 "norm of the solution"
  close "$(value max)" "$max" 1e-5 "its maximum"
}
value() { sed "s/.* $1 \([^ ]*\).*/\1/" <<<"$result"; }

for ranks in 1 2 3 4; do
  pressure $ranks 5 6.08055448 0.728622208 -m 16 -nz 8
  pressure $ranks 9 17.1521429 0.723421371 -m 32 -nz 16 -axis x
  pressure $ranks 20 48.4797266 0.727927443 -m 64 -nz 32
  pressure $ranks 44 137.097258 0.727588380 -m 128 -nz 64
  pressure $ranks 26 6.08055448 0.728622208 -m 16 -nz 8 -pc_type jacobi
  pressure $ranks 67 17.1521429 0.723421371 -m 32 -nz 16 -pc_type jacobi
  pressure $ranks 168 48.4797266 0.727927443 -m 64 -nz 32 -pc_type jacobi -axis x
  pressure $ranks 20 48.4797266 0.727927443 -m 64 -nz 32 -ksp_cgfused_form classic
done
pressure 1 44 137.097258 0.727588380 -m 128 -nz 64 -axis x -ksp_cgfused_form classic
pressure 1 20 48.4797266 0.727927443 -m 64 -nz 32 -assembled
pressure 3 20 48.4797266 0.727927443 -m 64 -nz 32 -assembled

# The very same digits as cg; in hundreds of iterations rounding would show
for options in "-m 64 -nz 32" "-m 64 -nz 32 -axis x" "-m 32 -nz 16 -assembled -pc_type bjacobi -sub_pc_type icc"; do
  run 1 "$lib/examples/pressure" $options -ksp_type cg
  expected=$(tail -n 1 <<<"$out")
  for form in gear classic; do
    run 1 "$lib/examples/pressure" $options -ksp_type cgfused -ksp_cgfused_form $form -options_left -malloc_debug -malloc_dump
    is "$(grep '^result:' <<<"$out")" "$expected" "$options, $form: all digits of cg"
    like "$out" "no unused options" "no option is left over"
    unlike "$out" "^\[ ?[0-9]+\] *[0-9]+ bytes " "nor memory"
  done
done

# What is done together is in view
run 2 "$lib/examples/pressure" -m 16 -nz 8 -ksp_type cgfused -ksp_view
like "$out" "form gear" "view names the recurrence"
like "$out" "fused: vector updates and dot products" "and what is done together"
finish
