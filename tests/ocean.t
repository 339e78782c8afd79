#!/bin/bash
# The example `ocean`: known values of the real oceans, a small sea beside dense matrices, its checks, and what it refuses
. "$(dirname "$0")/tap.sh"
python=$(petsc-conf/python)
small=$tmp/small.h5

ocean() { # RANKS OPTIONS...
  run "$1" "$lib/examples/ocean" "${@:2}"
  result=$(grep '^result:' <<<"$out")
}
value() { sed "s/.* $1 \([^ ]*\).*/\1/" <<<"$result"; }
checks() { # NAME
  is "$rc $(grep -cE '^  (heat .*: conserved|water .*: no new extremes|land: untouched)$' <<<"$out")" "0 ${2:-3}" "$1: checks"
}

# A small sea against a reference, with all options, on any number of ranks
ok "a small sea" "$python" tests/ocean/reference.py make "$small"
check() { # RANKS REFINE DAYS KH KV KCONV OPTIONS...
  local ranks=$1 refine=$2 days=$3 kh=$4 kv=$5 kconv=$6
  shift 6
  ocean $ranks -file "$small" -refine $refine -dt $days -kh $kh -kv $kv -kconv $kconv -ksp_rtol 1e-14 -output "$tmp/result.h5" "$@"
  checks "-refine $refine -dt $days -kh $kh -kv $kv -kconv $kconv $* on $ranks"
  ok "the temperature of the reference" "$python" tests/ocean/reference.py check "$small" "$tmp/result.h5" $refine $days $kh $kv $kconv
}
check 1 1 30 1000 1e-4 1
check 2 2 30 1e6 1e-4 1
check 3 1 200 1e7 1e-2 10
check 4 2 200 1e6 0 1 -ksp_initial_guess_nonzero 0
check 3 3 5 1e6 1e-3 0 -assembled
ocean 2 -file "$small" -steps 3 -kh 1e6 -options_left -malloc_debug -malloc_dump
checks "three steps" 9
is "$(value its)" "$(sed -n 's/.*Solved in \([0-9]*\) iterations.*/\1/p' <<<"$out" | awk '{ n += $1 } END { print n }')" "iterations of all steps are counted"
like "$out" "no unused options" "no option is left over"
unlike "$out" "^\[ ?[0-9]+\] *[0-9]+ bytes " "nor memory"

# The checks can fail
ok "checks is built" $CC -std=gnu11 ${SANITIZE:+-fsanitize=$SANITIZE} -Iinclude $(make -s includes) tests/ocean/checks.c -o "$tmp/checks" \
  -L"$lib" -Wl,-rpath,"$lib" -lstrata $(make -s links) -lm
for ranks in 1 2; do
  run $ranks "$tmp/checks" -file "$small"
  is "$rc $(grep -c '^ok' <<<"$out")" "0 5" "what is wrong is seen on $ranks"
  like "$out" "land: TOUCHED" "land"
  like "$out" "NOT CONSERVED" "heat"
  like "$out" "NEW EXTREMES" "extremes"
done
ocean 1 -file "$small" -kh 1e6 -ksp_max_it 1
is "$rc $(value reason)" "1 DIVERGED_ITS" "a solve that does not converge has another exit status"
ocean 2 -file "$small" -kh 1e6 -ksp_max_it 12 -steps 3
is "$rc $(grep -c '^Step' <<<"$out") $(value its)" "1 1 12" "and no step after it"

# What it refuses
export TEST_TIMEOUT=60
refuses() { # RANKS WORDS OPTIONS...
  stops "$1" "$2" "$lib/examples/ocean" "${@:3}"
}
spoilt() { # NAME PYTHON  makes $tmp/NAME.h5, the small sea with a change
  cp "$small" "$tmp/$1.h5"
  ok "a file with $1" "$python" -c "import h5py, numpy; f = h5py.File('$tmp/$1.h5', 'r+'); $2"
}
refuses 3 "There is no file $tmp/none.h5 .*ferret-datasets.*levitus.py $tmp/none.h5" -file "$tmp/none.h5"
echo "not HDF5" >"$tmp/text.h5"
refuses 3 "dataset longitude of file $tmp/text.h5: the file is not an HDF5 file" -file "$tmp/text.h5"
head -c 3000 "$small" >"$tmp/short.h5"
refuses 1 "dataset longitude of file $tmp/short.h5: the file is truncated" -file "$tmp/short.h5"
spoilt missing "del f['salinity']"
refuses 3 "File $tmp/missing.h5 has no dataset salinity" -file "$tmp/missing.h5"
spoilt shape "del f['temperature']; f['temperature'] = numpy.zeros((4, 9, 6))"
refuses 1 "Dataset temperature of file $tmp/shape.h5 has the shape 4 x 9 x 6, expected is 4 x 6 x 9" -file "$tmp/shape.h5"
spoilt level "del f['level']; f['level'] = numpy.zeros(3)"
refuses 1 "Dataset level of file $tmp/level.h5 has the shape 3, expected is 4" -file "$tmp/level.h5"
spoilt order "f['latitude'][2] = f['latitude'][1]"
refuses 3 "Dataset latitude of file $tmp/order.h5 must increase, but -60.? follows -60" -file "$tmp/order.h5"
spoilt edges "del f['depth']; f['depth'] = numpy.zeros(1)"
refuses 1 "$tmp/edges.h5 must hold the edges of at least one cell" -file "$tmp/edges.h5"
spoilt infinite "f['depth'][4] = numpy.inf"
refuses 3 "Dataset depth of file $tmp/infinite.h5 holds inf" -file "$tmp/infinite.h5"
spoilt poles "f['latitude'][0] = -91"
refuses 1 "latitude of file $tmp/poles.h5 goes from -91.? to 90.? degrees, beyond the poles" -file "$tmp/poles.h5"
spoilt around "f['longitude'][...] *= 2"
refuses 1 "longitude of file $tmp/around.h5 goes from 30.? to 750.? degrees, more than once" -file "$tmp/around.h5"
spoilt above "f['level'][2] = 39"
refuses 1 "Level 2 of file $tmp/above.h5 is 39.?, not between the edges of its cells, 40.? and 100" -file "$tmp/above.h5"
spoilt fill "t = f['temperature'][...]; f['temperature'][...] = numpy.where(numpy.isnan(t), -1e34, t)"
refuses 3 "temperature of file $tmp/fill.h5 holds -1e\\+34 degrees Celsius: land is to be NaN" -file "$tmp/fill.h5"
spoilt salt "f['salinity'][0, 2] = numpy.inf"
refuses 1 "salinity of file $tmp/salt.h5 holds inf.*NaN" -file "$tmp/salt.h5"
spoilt dry "f['temperature'][...] = numpy.nan"
refuses 3 "no water in file $tmp/dry.h5" -file "$tmp/dry.h5"
refuses 3 "-refine 477218589 makes [0-9.]*e\\+19 cells" -file "$small" -refine 477218589
refuses 3 "-steps 1 and -refine 0 must be at least 1" -file "$small" -refine 0
refuses 1 "-steps -1 and" -file "$small" -steps -1
refuses 1 "-dt -3.? must be positive" -file "$small" -dt -3
refuses 1 "-kv -1.*must not be negative" -file "$small" -kv -1
unset TEST_TIMEOUT

# Without -file the data are where make puts them
mkdir -p "$tmp/build/any/examples" "$tmp/build/demo"
cp "$lib/examples/ocean" "$tmp/build/any/examples"
for there in no yes; do
  run 1 env LD_LIBRARY_PATH="$lib" "$tmp/build/any/examples/ocean"
  if [ $there = no ]; then
    like "$out" "There is no file $tmp/build/any/examples/../../demo/levitus.h5 " "there are no data"
    cp "$small" "$tmp/build/demo/levitus.h5"
  else
    checks "now there are"
  fi
done

# The real oceans
if [ ! -e /usr/share/ferret-vis/data/levitus_climatology.cdf ]; then
  skip "no climatology: install ferret-datasets"
  finish
fi
levitus=$tmp/levitus.h5
ok "levitus.py" "$(petsc-conf/python)" examples/levitus.py "$levitus"
known() { # RANKS ITERATIONS OPTIONS...  within 1%, since sums are rounded in other orders
  ocean "$1" -file "$levitus" "${@:3}"
  checks "${*:3} on $1"
  like "$out" "^Ocean of 360 x 180 x 20 cells, 718725 of them wet, 42874 unstable faces$" "cells and faces"
  close "$(sed -n 's/.*heat \([^ ]*\) before.*/\1/p' <<<"$out")" 4.9932432541e18 1e-9 "heat before"
  close "$(sed -n 's/.*before, \([^ ]*\) after, .*beside.*/\1/p' <<<"$out")" 4.9932432541e18 1e-9 "heat after"
  close "$(value its)" "$2" 0.01 "$2 iterations"
  is "$(value reason)" CONVERGED_RTOL "convergence"
  close "$(value norm)" 1.02228965e4 1e-5 "norm"
  close "$(value max)" 29.5885149 1e-5 "maximum"
}
if [ "$SANITIZE" ]; then # which is slow
  known 2 479
else
  for ranks in 1 2 3 4; do known $ranks 479; done
  known 2 506 -ksp_initial_guess_nonzero 0
  if [ "${CI:-}" ]; then
    known 2 1901 -ksp_initial_guess_nonzero 0 -pc_type jacobi
  else
    skip "Jacobi in the real oceans takes as long as all else: set CI=true"
  fi
fi

# An assembled matrix, and refined cells: the same cells and heat after a few iterations
ocean 2 -file "$levitus" -ksp_max_it 20 -ksp_converged_maxits -output "$tmp/operator.h5"
checks "twenty iterations"
ocean 2 -file "$levitus" -ksp_max_it 20 -ksp_converged_maxits -assembled -output "$tmp/assembled.h5"
checks "the same assembled"
ok "the same temperature" "$python" tests/files/same.py "$tmp/operator.h5" "$tmp/assembled.h5" 1e-10
ocean 3 -file "$levitus" -refine 2 -ksp_max_it 5 -ksp_converged_maxits
checks "-refine 2"
like "$out" "^Ocean of 720 x 360 x 20 cells, 2874900 of them wet, 171496 unstable faces$" "four times as many cells and faces"
close "$(sed -n 's/.*heat \([^ ]*\) before.*/\1/p' <<<"$out")" 4.9932432541e18 1e-9 "the same heat"
finish
