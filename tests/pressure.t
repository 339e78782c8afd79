#!/bin/bash
# The example `pressure`: known values on any number of ranks, and what it refuses
. "$(dirname "$0")/tap.sh"

. tests/pressure.sh

known_pressures
pressure 1 5 6.08055448 0.728622208 -m 16 -nz 8 -axis x
pressure 2 9 17.1521429 0.723421371 -m 32 -nz 16 -axis z
pressure 3 20 48.4797266 0.727927443 -m 64 -nz 32 -axis x
pressure 4 44 137.097258 0.727588380 -m 128 -nz 64 -axis x

# An assembled matrix is the same problem
pressure 1 67 17.1521429 0.723421371 -m 32 -nz 16 -assembled -pc_type jacobi -axis x
pressure 3 20 48.4797266 0.727927443 -m 64 -nz 32 -assembled
pressure 4 9 17.1521429 0.723421371 -m 32 -nz 16 -assembled -axis x

# At a constant Courant number the count is bounded
pressure 1 36 - - -m 32 -nz 32 -omega2 1.072e-2
pressure 2 41 - - -m 64 -nz 32 -omega2 2.68e-3
pressure 3 44 - - -m 128 -nz 32 -omega2 6.7e-4

# Any KSP and PC of PETSc; nothing is left over
for options in "-ksp_type gmres -pc_type jacobi" "-ksp_type bcgs" "-assembled -pc_type bjacobi -sub_pc_type icc" "-ksp_type richardson -ksp_max_it 1000"; do
  run 1 "$lib/examples/pressure" -m 16 -nz 8 $options -options_left -malloc_debug -malloc_dump
  like "$(grep '^result:' <<<"$out")" " reason CONVERGED_RTOL residual [0-9.]*e-0[6-9] norm 6\.080[0-9]*e\+00 max 7\.286[0-9]*e-01$" "$options"
  like "$out" "no unused options" "no option is left over"
  unlike "$out" "^\[ ?[0-9]+\] *[0-9]+ bytes " "nor memory"
done

# Progress is shown when asked for, and not in the output of a script
run 1 "$lib/examples/pressure" -m 64 -nz 32 -ksp_type richardson -pc_type jacobi -ksp_rtol 1e-30 -ksp_max_it 4000 -progress
like "$out" "^  iteration [0-9]+, residual [0-9.]+e" "progress"
ok "a solve that does not converge has another exit status" [ $rc = 1 ]
like "$out" "^result: its 4000 reason DIVERGED_ITS " "and says so"
run 1 "$lib/examples/pressure" -m 16 -nz 8
is "$(wc -l <<<"$out")" 3 "three lines without"

# What it refuses
refuses() { # RANKS WORDS OPTIONS...
  stops "$1" "$2" "$lib/examples/pressure" -m 16 -nz 8 "${@:3}"
}
export TEST_TIMEOUT=60
refuses 3 'Unknown option "?y"? for -axis' -axis y
refuses 3 '-m 0 and -nz 8 must be at least 1' -m 0
refuses 1 '-m 16 and -nz -3 must be at least 1' -nz -3
refuses 1 'omega2 -1.*positive' -omega2 -1
refuses 1 'depth 0.*positive' -depth 0
refuses 1 'Unable to find requested PC type nonesuch' -pc_type nonesuch
refuses 3 'Cannot create file /none/such.h5.part: No such file' -output /none/such.h5
finish
