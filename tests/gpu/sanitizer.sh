# The kernel tests, which have the comment /* sanitize */ or, for some tools only, /* sanitize: TOOL... */, under a tool of compute-sanitizer: what it finds is a failure, and so is a test
# that fails. Included by memcheck.t, racecheck.t and initcheck.t.
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"

sanitizer() { # TOOL ARGUMENTS...
  local tool=$1 file name programs
  # one case in so many: racecheck takes several times as long as the others
  [ "$1" = racecheck ] && export STRATA_TEST_FEW=13 || export STRATA_TEST_FEW=3
  programs=$(grep -lE "^ */\* *sanitize(:.* $1( .*)?)? *\*/" tests/*.c)
  ok "there are kernel tests" test -n "$programs"
  for file in $programs; do # three at a time
    name=$(basename "$file" .c)
    while [ "$(jobs -rp | wc -l)" -ge 3 ]; do wait -n; done
    (
      TEST_TIMEOUT=${TEST_TIMEOUT:-600} run 1 compute-sanitizer --tool "$@" --error-exitcode 99 "$lib/tests/$name"
      echo "$rc" >"$tmp/$name.rc"
      echo "$out" >"$tmp/$name.out"
    ) &
  done
  wait
  for file in $programs; do
    name=$(basename "$file" .c)
    rc=$(cat "$tmp/$name.rc") out=$(cat "$tmp/$name.out")
    report "$rc" "$name" "exit status $rc"$'\n'"$out"
    like "$out" "(ERROR|RACECHECK) SUMMARY: 0 (errors|hazards)" "$name: $tool found nothing"
  done
  finish
}
