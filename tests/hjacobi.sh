# The example `poisson` with hierarchical Jacobi, and its known numbers of cycles. Included by tests after tap.sh.

solver=() # options of all runs

poisson() { # RANKS OPTIONS...
  run "$1" "$lib/examples/poisson" "${solver[@]}" "${@:2}"
  result=$(grep "^result:" <<<"$out")
}
value() { sed "s/.* $1 \([^ ]*\).*/\1/" <<<"$result"; }

# Cycles to reduce the residual by 1e-4 from the guess 1; the order of the norm's sum may move the last digit
known_cycles() { # RANKS DIM N TILE SUBITERATIONS OVERLAP CYCLES
  poisson "$1" -dim "$2" -n "$3" -initial 1 -ksp_type hjacobi -pc_type none -ksp_rtol 1e-4 -ksp_max_it 1000000 -ksp_hjacobi_tile "$4" \
    -ksp_hjacobi_subiterations "$5" -ksp_hjacobi_overlap "$6"
  is "$rc $(value reason)" "0 CONVERGED_RTOL" "$2D, n = $3, $5 sweeps, overlap $6, on $1"
  ok "takes $7 cycles" awk "BEGIN { d = $(value its) - $7; exit !(d * d <= 1) }"
}
row() { # DIM N TILE SUBITERATIONS CYCLES...: for the overlaps 0, 2, 4, 8, 16
  local overlap cycles=("${@:5}")
  for overlap in 0 2 4 8 16; do
    [ -z "${cycles[0]:-}" ] || known_cycles 1 "$1" "$2" "$3" "$4" $overlap "${cycles[0]}"
    cycles=("${cycles[@]:1}")
  done
}

# All of them on one rank
known_jacobi() {
  known_cycles 1 1 1024 32 1 0 128760
  row 1 1024 32 4 40241 29442 29056 32190 32190
  row 1 1024 32 8 25481 15714 14858 14505 16095
  row 1 1024 32 16 19555 9547 8094 7413 7252
  known_cycles 1 1 1000 32 16 4 8187
  known_cycles 1 2 128 32,32 1 0 13299
  row 2 128 32,32 4 3536 3348 3327 3325
  row 2 128 32 8 1954 1709 1675 1663
  row 2 128 32,32 16 1202 902 859 836
  known_cycles 1 2 100 32,32 8 4 1122
}
