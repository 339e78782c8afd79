#!/bin/bash
# Nothing is left behind: no memory, and no option that nobody read
. "$(dirname "$0")/tap.sh"

for ranks in 1 3; do
  run $ranks "$lib/tests/operator" -quick -malloc_debug -malloc_dump -options_left
  is "$rc" 0 "the operator on $ranks ranks"
  unlike "$out" '^not ok' "the operator on $ranks ranks: all checks"
  is "$(grep -a ' bytes .*() at ' <<<"$out" | head -n 5)" "" "the operator on $ranks ranks: all memory is freed"
  like "$out" 'There are no unused options' "the operator on $ranks ranks: all options are read"
done
finish
