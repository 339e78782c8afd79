#!/bin/bash
# What was tested on a GPU, and whether the sources that reach the device are still the same; and the scripts that say so
. "$(dirname "$0")/tap.sh"

# The record of this checkout. A room that changed since is a warning, and an error in continuous integration.
said=$(tests/gpu/stale) && rc=0 || rc=$?
if [ $rc = 0 ] && [ ! "$said" ]; then
  ok "the kernels were tested on a GPU as they are now" true
elif [ $rc = 0 ] || [ "${CI:-}" != true ]; then
  while read -r line; do skip "$line"; done <<<"$said"
else
  is "$said" "" "the kernels were tested on a GPU as they are now"
fi

# The scripts, on made-up sources and logs
cp -r tests/gpu "$tmp"
mkdir -p "$tmp/tree/tests" "$tmp/tree/src"/{sys,fast,host}
mv "$tmp/gpu" "$tmp/tree/tests"
cd "$tmp/tree" || exit 1
rm -f tests/gpu/RECORD
mkdir src/sys/cuda src/fast/cuda src/host/cuda
for file in sys/cuda/a.cu sys/typed.h sys/kernels.h sys/package.c fast/cuda/b.cu fast/fast_cell.h fast/fast_kernels_typed.h fast/fast.c host/host.c; do
  echo "$file" >"src/$file"
done
rooms=$(tests/gpu/rooms)
like "$rooms" "^room fast [0-9a-f]{16}$" "a room with device code has a hash"
is "$(wc -l <<<"$rooms")" 2 "a room without has none"
for file in fast/cuda/b.cu fast/fast_cell.h fast/fast_kernels_typed.h; do
  echo more >>"src/$file"
  is "$(diff <(echo "$rooms") <(tests/gpu/rooms) | grep -o '> room [a-z]*')" "> room fast" "a change of $file changes the hash of its room alone"
  echo "$file" >"src/$file"
done
echo more >>src/fast/fast.c
is "$(tests/gpu/rooms)" "$rooms" "a change on the host changes none"

log() { # LAST-LINE
  printf '%s\n' "gpu NVIDIA H200" "driver 580.1" "cuda 13.0" "petsc 3.26.1" "date 2026-01-02" "$rooms" "ok 1" "part programs: 50 passed, 0 failed" "part ranks: 9 passed, 0 failed" \
    "part solvers: 6 passed, 0 failed" "part memcheck: 4 passed, 0 failed" "part racecheck: 4 passed, 0 failed" "part initcheck: 4 passed, 0 failed" "$1"
}
refuses() { # REGEX NAME ARGUMENTS...
  local regex=$1 name=$2
  shift 2
  said=$(tests/gpu/record "$@" 2>&1) && rc=0 || rc=$?
  like "$rc: ${said//$'\n'/ }" "^1: $regex" "no record $name"
  fails "and none is written" test -e tests/gpu/RECORD -o -e tests/gpu/RECORD.new
}
said=$(tests/gpu/stale) && rc=0 || rc=$?
like "$rc: $said" "^1: There is no tests/gpu/RECORD" "a missing record is told"
log "77 passed, 0 failed" >good
refuses "There is no log nothing" "without a log" nothing
log "76 passed, 1 failed" >bad
refuses "bad has failures: 76 passed, 1 failed" "of failures" bad
head -n -1 good >bad
refuses "bad has no end" "of a run that was broken off" bad
log "0 passed, 0 failed" >bad
refuses "bad has failures" "of nothing" bad
for part in programs ranks solvers memcheck racecheck initcheck; do
  grep -v "^part $part" good >bad
  refuses "bad lacks the part $part" "without the part $part" bad
  sed "s/^part $part: .*/part $part: 0 passed, 0 failed/" good >bad
  refuses "bad lacks the part $part" "with an empty part $part" bad
done
sed '/^driver/d' good >bad
refuses "bad does not say which driver" "without the driver" bad
sed 's/^room fast .*/room fast 0123456789abcdef/' good >bad
refuses "bad is of other sources than these:  *src/fast$" "of other sources" bad
refuses "UNVERIFIED must give the reason" "without a reason" -u ""

ok "a good log makes a record" tests/gpu/record good
is "$(cat tests/gpu/RECORD)" "gpu NVIDIA H200
driver 580.1
cuda 13.0
petsc 3.26.1
date 2026-01-02
programs 50 passed
ranks 9 passed
solvers 6 passed
memcheck 4 passed
racecheck 4 passed
initcheck 4 passed
$rooms" "the record"
is "$(tests/gpu/stale)" "" "it is not stale"
echo more >>src/sys/kernels.h
said=$(tests/gpu/stale) && rc=0 || rc=$?
is "$rc: $said" "1: src/sys changed since its kernels were tested on a GPU: run make gpu-check and make gpu-record" "after a change it is"
mkdir -p src/host/cuda
echo new >src/host/cuda/c.cu
is "$(tests/gpu/stale | wc -l)" 2 "and so is one without a room that came later"
rm -r src/host/cuda src/fast/cuda
is "$(tests/gpu/stale | grep -c src/fast)" 1 "or one with a room that went"
mkdir src/fast/cuda
echo fast/cuda/b.cu >src/fast/cuda/b.cu

ok "without a GPU, the record says so" tests/gpu/record -u "the GPU is on holiday"
like "$(cat tests/gpu/RECORD)" "^unverified the GPU is on holiday" "with the reason"
said=$(tests/gpu/stale) && rc=0 || rc=$?
is "$rc: $said" "0: UNVERIFIED: the kernels were not tested on a GPU as they are now: the GPU is on holiday" "which is told, but is no failure"
ok "it may be written again for the same sources" tests/gpu/record -u "the GPU is still on holiday"
echo more >>src/sys/kernels.h
before=$(cat tests/gpu/RECORD)
said=$(tests/gpu/record -u "on holiday again" 2>&1) && rc=0 || rc=$?
like "$rc: $said" "^1: tests/gpu/RECORD is unverified already, for older sources: these must be tested on a GPU" "but not for the next change"
is "$(cat tests/gpu/RECORD)" "$before" "and the record stays as it was"
rooms=$(tests/gpu/rooms)
log "77 passed, 0 failed" >good
ok "a run on a GPU makes it good" tests/gpu/record good
is "$(tests/gpu/stale)" "" "and no longer stale"

# The hash of a room takes in every file of src/ that the CUDA compiler read, but those that declare what the host calls
cd "$OLDPWD" || exit 1
if [ "$CUDA" = 1 ]; then
  sources=$(cat "${lib#"$PWD"/}"/src/*/cuda/*.cu.d | tr ' \\' '\n' | grep -oE '^(src|include)/.*[^:]$' | while read -r file; do realpath --relative-to=. "$file"; done | sort -u)
  like "$sources" "^src/.*/cuda/" "the CUDA compiler read sources"
  is "$(grep -vE '^src/[a-z]+/(cuda/[^/]*|[a-z_]*kernels[a-z_]*\.h|[a-z_]*_cell[a-z_]*\.h|typed\.h)$|^(src/sys/(strataimpl|compat)|include/strata)\.h$' <<<"$sources")" "" "all of them are in the hashes"
else
  skip "what the CUDA compiler reads is known in a build with CUDA only"
fi

finish
