#!/bin/bash
# `pressure` with cgfused: the known values, and the digits of cg
. "$(dirname "$0")/tap.sh"

. tests/pressure.sh
solver=(-ksp_type cgfused)

known_pressures
for ranks in 1 2 3 4; do pressure $ranks 20 48.4797266 0.727927443 -m 64 -nz 32 -ksp_cgfused_form classic; done
pressure 1 44 137.097258 0.727588380 -m 128 -nz 64 -axis x -ksp_cgfused_form classic
pressure 1 20 48.4797266 0.727927443 -m 64 -nz 32 -assembled
pressure 3 20 48.4797266 0.727927443 -m 64 -nz 32 -assembled

# At a constant Courant number the count is bounded
pressure 1 36 - - -m 32 -nz 32 -omega2 1.072e-2
pressure 3 41 - - -m 64 -nz 32 -omega2 2.68e-3
pressure 1 44 - - -m 128 -nz 32 -omega2 6.7e-4

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
