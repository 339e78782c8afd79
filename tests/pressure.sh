# The example `pressure`, and its known values. Included by tests after tap.sh.

solver=() # options of all runs

pressure() { # RANKS ITERATIONS NORM MAX OPTIONS...: checks the result; - where a value is not known
  local ranks=$1 its=$2 norm=$3 max=$4
  shift 4
  run "$ranks" "$lib/examples/pressure" "${solver[@]}" "$@"
  result=$(tail -n 1 <<<"$out")
  like "$result" "^result: its $its reason CONVERGED_RTOL residual [0-9]\.[0-9]{6}e-06 norm [0-9]\.[0-9]{8}e[+-][0-9]+ max [0-9]\.[0-9]{8}e-01$" \
    "$* on $ranks: $its iterations"
  is "$rc" 0 "exit status"
  [ "$norm" = - ] || close "$(value norm)" "$norm" 1e-5 "norm of the solution"
  [ "$max" = - ] || close "$(value max)" "$max" 1e-5 "its maximum"
}
value() { sed "s/.* $1 \([^ ]*\).*/\1/" <<<"$result"; }

# Iterations, norm and maximum with columns and with Jacobi, on all numbers of ranks
known_pressures() {
  local ranks
  for ranks in 1 2 3 4; do
    pressure $ranks 5 6.08055448 0.728622208 -m 16 -nz 8
    pressure $ranks 9 17.1521429 0.723421371 -m 32 -nz 16 -axis x
    pressure $ranks 20 48.4797266 0.727927443 -m 64 -nz 32
    pressure $ranks 44 137.097258 0.727588380 -m 128 -nz 64
    pressure $ranks 26 6.08055448 0.728622208 -m 16 -nz 8 -pc_type jacobi
    pressure $ranks 67 17.1521429 0.723421371 -m 32 -nz 16 -pc_type jacobi
    pressure $ranks 168 48.4797266 0.727927443 -m 64 -nz 32 -pc_type jacobi -axis x
  done
}
