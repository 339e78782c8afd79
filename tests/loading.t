#!/bin/bash
# The built library is loaded at run time into programs that know nothing of it: PETSc's own tutorials, petsc4py, and one that starts PETSc
# several times; and it refuses a PETSc that it was not built for
. "$(dirname "$0")/tap.sh"

library=$lib/libstrata.so
if [[ $SANITIZE == *address* ]]; then # must come first in a program without it, such as python
  asan=$($CC -print-file-name=libasan.so)
fi
quiet="-options_left -malloc_dump"

# What the library shows to others is its API and nothing else
api=$(tr '\n' ' ' <include/strata.h | grep -oE 'PETSC_EXTERN [^;]*;' | sed -E 's/^[^[(]*[ *]([A-Za-z]+)[[(].*/\1/')
api=$(printf '%s\n' $api PetscDLLibraryRegister_strata | LC_ALL=C sort)
is "$(nm -D --defined-only "$library" | awk '{print $3}' | LC_ALL=C sort)" "$api" "the library exports the functions of strata.h, and its entry point"
ok "the list has the ones that it must" grep -qx StrataInitializePackage <<<"$api"
like "$(readelf -d "$library")" "NEEDED.*libpetsc" "it is linked with PETSc"

# Each way to load, with a program's own options behind it: load WAY RANKS PROGRAM OPTIONS...
load() {
  local way=$1 ranks=$2
  shift 2
  case $way in
  command) run "$ranks" "$@" -dll_append "$library" ;;
  environment) PETSC_OPTIONS="${PETSC_OPTIONS:-} -dll_append $library" run "$ranks" "$@" ;;
  file)
    echo "-dll_append $library # loads Strata" >"$tmp/options"
    run "$ranks" "$@" -options_file "$tmp/options"
    ;;
  esac
}

tutorial() { # NAME OPTIONS, in which N stands for the number of ranks
  local name=$1 options=$2 way ranks first=
  local program=$lib/tutorials/${name/-//tutorials/}
  program=${program/ksp\/tutorials/ksp/ksp/tutorials}
  if [ ! -x "$program" ]; then
    skip "this PETSc has no tutorials"
    return
  fi
  for ranks in 1 3; do
    for way in command environment file; do
      load $way $ranks "$program" ${options//N/$ranks} -pc_type column -ksp_converged_reason -ksp_view $quiet
      is $rc 0 "$name on $ranks, loaded by $way"
      like "$out" "^ *type: column" "$name names the preconditioner"
      like "$out" "no unused options" "$name leaves no option unused"
      unlike "$out" "^\[ *[0-9]+\]" "$name says nothing of memory left or errors"
      iterations=$(grep -E 'solve (converged|did not)' <<<"$out")
      if [ "$first" ]; then
        is "$iterations" "$first" "$name takes the same iterations as by command on 1"
      else
        first=$iterations
        like "$iterations" "converged due to CONVERGED_" "$name converges"
        unlike "$iterations" "did not converge" "$name converges each time"
      fi
    done
  done
}

# ex2 has no grid that PETSc knows of; in the others each rank owns whole columns
tutorial ksp-ex2 "-m 9 -n 8 -pc_column_size 8"
tutorial ksp-ex29 "-da_grid_x 20 -da_grid_y 17 -da_processors_x N -da_processors_y 1 -pc_column_axis y -ksp_type cg"
tutorial ksp-ex32 "-da_grid_x 12 -da_grid_y 12 -da_processors_x 1 -da_processors_y N -pc_column_axis x"
tutorial ksp-ex34 "-da_grid_x 12 -da_grid_y 12 -da_grid_z 12 -da_processors_x N -da_processors_y 1 -da_processors_z 1 -pc_column_axis z"
tutorial ksp-ex45 "-da_grid_x 7 -da_grid_y 7 -da_grid_z 7 -da_processors_x 1 -da_processors_y N -da_processors_z 1 -pc_column_axis auto"
tutorial ksp-ex50 "-da_grid_x 11 -da_grid_y 11 -da_processors_x N -da_processors_y 1"
tutorial snes-ex5 "-da_grid_x 16 -da_grid_y 16 -da_processors_x N -da_processors_y 1 -snes_converged_reason"
tutorial snes-ex14 "-da_grid_x 8 -da_grid_y 8 -da_grid_z 8 -da_processors_x N -da_processors_y 1 -da_processors_z 1 -snes_converged_reason"

# ex25 is a single column, which three ranks cut
program=$lib/tutorials/ksp/ksp/tutorials/ex25
if [ -x "$program" ]; then
  for way in command environment file; do
    load $way 1 "$program" -pc_type column -ksp_converged_reason $quiet
    like "$rc: $out" "^0: .*Linear solve converged due to CONVERGED_RTOL iterations 1$" "ksp-ex25 on 1, loaded by $way, is solved exactly"
    load $way 3 "$program" -pc_type column -ksp_converged_reason $quiet
    like "$rc: $out" "^0: .*Linear solve converged due to CONVERGED_RTOL iterations 1$" "ksp-ex25 on 3, loaded by $way, is solved exactly"
    load $way 3 "$program" -pc_type redundant -redundant_pc_type column -redundant_ksp_type preonly -redundant_pc_column_size 128 -ksp_converged_reason $quiet
    like "$rc: $out" "^0: .*Linear solve converged due to CONVERGED_RTOL iterations 1$" "ksp-ex25 on 3, loaded by $way, is solved on every rank"
  done
else
  skip "this PETSc has no tutorials"
fi

# petsc4py
python=$(petsc-conf/python petsc4py) && same=$("$python" -c '
import petsc4py, sys
from petsc4py import PETSc
print(".".join(map(str, PETSc.Sys.getVersion())), 8 * PETSc.IntType().itemsize)' 2>/dev/null)
if [ "${same:-}" = "$petsc_version $index_size" ]; then
  for ranks in 1 3; do
    for way in command environment file; do
      LD_PRELOAD=${asan:-} load $way $ranks "$python" tests/loading/solve.py -ksp_type cg -pc_type column $quiet
      is "$rc: $(grep preconditioner <<<"$out")" "0: preconditioner column, converged True, residual small True" "petsc4py on $ranks, loaded by $way"
      like "$out" "no unused options" "petsc4py leaves no option unused"
    done
  done
else
  skip "there is no petsc4py for this PETSc"
fi

# PETSc begins and ends several times in one process
build() { # PROGRAM FLAGS...
  local program=$1
  shift
  ok "$program is built" $CC ${SANITIZE:+-fsanitize=$SANITIZE} $(make -s includes) "tests/loading/$program.c" -o "$tmp/$program" "$@"
}
build twice $(make -s links)
for ranks in 1 3; do
  for way in command environment file; do
    load $way $ranks "$tmp/twice" -malloc_dump
    is "$rc: $out" "0: time 1: column
time 2: column
time 3: column" "PETSc is initialized and finalized three times on $ranks, loaded by $way"
  done
done
load command 1 "$tmp/twice" -malloc_dump -leak
like "$out" "PCCreate" "memory left would be noticed"
run 1 "$tmp/twice"
like "$rc: $out" "Unable to find requested PC type column" "without the library there is no such type"
run 1 "$tmp/twice" -dll_append "$tmp/libstrata.so"
like "$rc: $out" "^[1-9].*" "a library that is not there is an error"
cp "$library" "$tmp/libstrata.so.0.1"
run 1 "$tmp/twice" -dll_append "$tmp/libstrata.so.0.1"
like "$rc: $out" "^0: time 1: column" "the name of the file may end in a version"
cp "$library" "$tmp/libother.so"
run 1 "$tmp/twice" -dll_append "$tmp/libother.so"
like "$out" "Unable to find requested PC type column" "under another name PETSc does not find the entry point"

# A PETSc other than the one that the library was built for
other() { # AS REGEX
  local ranks
  for ranks in 1 3; do
    OTHER_PETSC=$1 LD_PRELOAD="${asan:+$asan:}$tmp/otherpetsc" run $ranks "$tmp/twice" -dll_append "$library"
    unlike "$rc" "^0$" "a PETSc with another $1 is refused on $ranks"
    like "$out" "$2" "and it is said how they differ: $1"
    unlike "$out" "time 1|Segmentation|signal" "before anything else happens"
  done
}
build otherpetsc -shared -fPIC
mine=$index_size
[ "$mine" = 32 ] && another=64 || another=32
major=${petsc_version%%.*} minor=${petsc_version#*.}
minor=${minor%%.*} subminor=${petsc_version##*.}
what="This libstrata was built for a PETSc"
do="build Strata with the PETSC_DIR and PETSC_ARCH of the program"
other index "$what with $mine-bit indices, but the running PETSc has $another-bit indices: $do"
other major "This libstrata was built for PETSc $major.$minor, but the running PETSc is $((major + 1)).$minor.$subminor: $do"
other minor "This libstrata was built for PETSc $major.$minor, but the running PETSc is $major.$((minor + 1)).$subminor: $do"
other precision "$what in double precision, but the running PETSc has another precision: Strata needs a double precision PETSc"
other complex "$what with real numbers, but the running PETSc has complex ones: Strata needs a real PETSc"
OTHER_PETSC=subminor LD_PRELOAD="${asan:+$asan:}$tmp/otherpetsc" run 1 "$tmp/twice" -dll_append "$library"
like "$rc: $out" "^0: time 1: column" "a PETSc that differs in the subminor version alone is accepted"

finish
