#!/bin/bash
# Files where something is in the way: a full disk, a name that is taken, no HDF5; and XDMF that others can read
. "$(dirname "$0")/tap.sh"
export TEST_TIMEOUT=120 # nothing here may hang

compile() { # NAME FLAGS... builds tests/files/NAME.c
  local name=$1
  shift
  ok "$name is built" $CC -std=gnu11 -Iinclude $(make -s includes) "tests/files/$name.c" -o "$tmp/$name" "$@"
}
preload=$tmp/fulldisk
if [[ $SANITIZE == *address* ]]; then # must come first
  preload="$($CC -print-file-name=libasan.so) $preload"
fi
files() { (cd "$1" && echo *); }

# A disk that becomes full is an error on every rank, and leaves the files of an earlier run alone
compile fulldisk -shared -fPIC -ldl
for ranks in 1 3; do
  for when in reserve write; do
    mkdir "$tmp/$when$ranks"
    run $ranks env FULLDISK=$when LD_PRELOAD="$preload" "$lib/tests/fields" -full "$tmp/$when$ranks/a.h5"
    is "$rc $(grep -c '^ok 1 - a full disk' <<<"$out")" "0 1" "a disk that is full ($when) is an error on all of $ranks ranks"
    is "$(files "$tmp/$when$ranks")" "*" "and leaves no file"
  done
  run $ranks "$lib/examples/poisson" -dim 3 -n 20 -output "$tmp/write$ranks/a.h5"
  is "$rc" 0 "poisson writes on $ranks"
  before=$(cd "$tmp/write$ranks" && md5sum *)
  for when in reserve write; do
    run $ranks env FULLDISK=$when LD_PRELOAD="$preload" "$lib/examples/poisson" -dim 3 -n 30 -output "$tmp/write$ranks/a.h5"
    ok "poisson fails when the disk is full ($when) on $ranks" [ "$rc" != 0 ]
    like "$out" "Cannot write .*$tmp/write$ranks/a.h5.part" "and says so"
    is "$(cd "$tmp/write$ranks" && md5sum *)" "$before" "what was there stays"
  done
done

# The same with a real disk, where one can be made
small="mkdir -p '$tmp/small' && mount -t tmpfs -o size=200k none '$tmp/small'"
if unshare -m bash -c "$small" 2>/dev/null; then
  for ranks in 1 3; do
    run 1 unshare -m bash -c "$small && tests/ranks $ranks '$lib/tests/fields' -full '$tmp/small/a.h5'; ls '$tmp/small'"
    is "$rc $(grep -c '^ok 1 - a full disk' <<<"$out")" "0 1" "a small disk is full on all of $ranks ranks"
    unlike "$out" "^a[.]" "and empty again afterwards"
  done
else
  skip "no disk can be mounted here"
fi

# The name of the other file is taken by a folder
mkdir -p "$tmp/taken/a.xdmf.part"
run 3 "$lib/examples/poisson" -n 5 -output "$tmp/taken/a.h5"
ok "poisson fails when a name is taken" [ "$rc" != 0 ]
like "$out" "Cannot create file .*a.xdmf.part: Is a directory" "and says so"
is "$(files "$tmp/taken")" "a.xdmf.part" "and leaves no file"

# A PETSc without HDF5
compile nohdf5 ${SANITIZE:+-fsanitize=$SANITIZE} -L"$lib" -Wl,-rpath,"$lib" -lstrata $(make -s links) -lm
for ranks in 1 2; do
  run $ranks "$tmp/nohdf5"
  is "$rc $(grep -c '^ok' <<<"$out")" "0 2" "without HDF5, files are an error on $ranks"
done

# XDMF: well-formed, and all that it refers to is in the HDF5 file with the size that it says
for dim in 1 2 3; do
  run 2 "$lib/examples/poisson" -dim $dim -nx 7 -ny 6 -nz 5 -output "$tmp/d & $dim.h5"
  is "$rc" 0 "poisson writes in ${dim}D"
  ok "XDMF in ${dim}D refers to what is there" "$(petsc-conf/python)" tests/files/xdmf.py "$tmp/d & $dim.xdmf"
done
finish
