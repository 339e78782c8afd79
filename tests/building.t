#!/bin/bash
# What `make` does and refuses
. "$(dirname "$0")/tap.sh"

# A copy of the sources and of this build, so that nobody's work is disturbed, where the name of the folder has a blank
copy="$tmp/a copy" build=${lib#"$PWD"/}
mkdir -p "$copy/build"
cp -a makefile petsc-conf include src examples tests "$copy"
cp -a "$build" "$copy/build"
rm -rf "$copy/$build"/tests/log.*
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
settings=(SANITIZE="$SANITIZE" CUDA="$CUDA")
in_copy() { make -C "$copy" "${settings[@]}" "$@" 2>&1; }

out=$(in_copy -s)
is "$(in_copy --no-print-directory)" "make: Nothing to be done for 'all'." "a second make does nothing"
is "$(in_copy -s where)" "$copy/$build" "make where prints the folder with the library"
ok "where libstrata.so is" test -e "$copy/$build/libstrata.so"
for program in "$copy"/examples/*.c; do
  name=$(basename "$program" .c)
  ok "where examples/$name is" test -x "$copy/$build/examples/$name"
done

# What a change builds anew
touch "$copy/include/strata.h"
is "$(in_copy -n | grep -c -- ' -c -o .*package.c.o')" 1 "a changed header builds its sources anew"
in_copy -s >"$tmp/log"
objects=$(ls "$copy"/src/*/*.c | wc -l)
in_copy -n CFLAGS=-DNEW >"$tmp/flags"
is "$(grep -c -- '-DNEW -MMD .*-c -o .*/src/.*\.c\.o' "$tmp/flags")" "$objects" "other flags build all anew"
echo 'int strata_extra;' >"$copy/src/sys/extra.c"
in_copy -s >>"$tmp/log"
rm "$copy/src/sys/extra.c"
like "$(in_copy -n)" "-shared .*libstrata.so" "a library that lost a source is linked anew"

# Builds side by side
unlike "$(make -s -C "$copy" SANITIZE=undefined where)" "^$copy/$build$" "a build with sanitizers has a folder of its own"
in_copy -s clean
fails "make clean removes all builds" test -e "$copy/build"
for word in demo check install uninstall where clean petsc-cuda gpu-check gpu-bundle gpu-record PETSC_DIR CUDA=0 SANITIZE; do
  like "$(in_copy -s help)" "$word" "make help tells of $word"
done

# PETSc installations that Strata cannot use, made up
petsc=$tmp/petsc
stub() { # [SETTING=VALUE]...
  rm -rf "$petsc"
  mkdir -p "$petsc/lib/petsc/conf" "$petsc/include"
  echo 'include $(PETSC_DIR)/lib/petsc/conf/petscvariables' >"$petsc/lib/petsc/conf/variables"
  printf '%s\n' PETSC_SCALAR=real PETSC_PRECISION=double PETSC_INDEX_SIZE=32 CC=true CUDAC= "$@" >"$petsc/lib/petsc/conf/petscvariables"
  printf '#define PETSC_VERSION_%s\n' "MAJOR ${major:-3}" "MINOR ${minor:-18}" "SUBMINOR 1" >"$petsc/include/petscversion.h"
}
with_stub() {
  env -u CUDA -u SANITIZE PETSC_DIR="$petsc" PETSC_ARCH= make -s -C "$copy" "$@" 2>&1
}
refuses() { # REGEX NAME [MAKE ARGUMENTS]
  local regex=$1 name=$2 target accepted=
  shift 2
  for target in all demo check install; do
    said=$(with_stub "$target" "$@") && rc=0 || rc=$?
    [ $rc != 0 ] && grep -Eq -- "$regex" <<<"$said" || accepted+=" $target ($rc: $said)"
  done
  is "$accepted" "" "make, demo, check and install refuse $name with a sentence"
}

stub
is "$(with_stub where)" "$copy/build/petsc-3.18.1-cpu" "PETSc 3.18 is accepted"
stub PETSC_INDEX_SIZE=64
is "$(with_stub where)" "$copy/build/petsc-3.18.1-int64-cpu" "64-bit indices are accepted, in a folder of their own"
stub CUDAC=true
is "$(with_stub where)" "$copy/build/petsc-3.18.1-cuda" "CUDA is used when PETSc has it, in a folder of its own"
is "$(with_stub where CUDA=0)" "$copy/build/petsc-3.18.1-cpu" "CUDA=0 leaves it out"
minor=100 stub
is "$(with_stub where)" "$copy/build/petsc-3.100.1-cpu" "PETSc 3.100 is accepted"
minor=17 stub
refuses "PETSc 3.17.1 in $petsc is too old: Strata needs PETSc 3.18 or newer" "an old PETSc"
major=2 minor=30 stub
refuses "PETSc 2.30.1 in $petsc is too old" "a very old PETSc"
stub PETSC_SCALAR=complex
refuses "built for complex numbers: Strata needs one for real numbers" "complex numbers"
stub PETSC_PRECISION=single
refuses "built in single precision: Strata needs one in double precision" "single precision"
stub PETSC_PRECISION=__float128
refuses "built in __float128 precision: Strata needs one in double precision" "quadruple precision"
stub CC=no-such-compiler
refuses "compiler no-such-compiler, .* is not on the PATH: install it" "a missing C compiler"
stub CUDAC=/no/such/nvcc
refuses "compiler /no/such/nvcc, .* is not there: install CUDA, or leave out the GPU code with CUDA=0" "a missing CUDA compiler"
stub
refuses "CUDA=1 was asked for, but PETSc in $petsc was built without CUDA" "CUDA=1 without CUDA" CUDA=1
rm -rf "$petsc"
refuses "There is no PETSc in $petsc: its file lib/petsc/conf/variables is missing. Set PETSC_DIR" "a folder without PETSc"
out=$(make -s -C "$copy" petsc_missing=yes 2>&1) && rc=0 || rc=$?
like "$rc: $out" "^[1-9].*There is no PETSc on this machine, .*apt-get install petsc-dev.* PETSC_DIR" "no PETSc at all"
ok "help and clean need no PETSc" with_stub help clean

# What is missing is installed as root or by sudo, else named; a machine that has all is asked for nothing. The commands are made up.
bin=$tmp/bin
mkdir "$bin"
for command in bash dirname grep realpath cat tail mktemp rm env; do ln -s "$(command -v $command)" "$bin"; done
fake() { # NAME SCRIPT
  printf '#!/bin/bash\n%s\n' "$2" >"$bin/$1"
  chmod +x "$bin/$1"
}
needs() { # PURPOSE [SETTING=VALUE]...
  local purpose=$1
  shift
  : >"$tmp/calls"
  said=$(env -i PATH="$bin" PYTHON= petsc_missing= petsc_problem= petsc_root="$petsc" petsc_version=3.18.1 mpiexec=mpiexec "$@" \
    bash petsc-conf/needs "$purpose" 2>&1) && rc=0 || rc=$?
  calls=$(cat "$tmp/calls")
}
stub
echo '#define PETSC_HAVE_HDF5 1' >"$petsc/include/petscconf.h"
for command in cc gcc mpiexec prove pkg-config python3; do fake $command :; done
fake apt-get "echo apt-get \$* >>'$tmp/calls'"
fake id 'echo 0'
if [ -e /usr/share/ferret-vis/data/levitus_climatology.cdf ]; then
  needs demo
  is "$rc: $said$calls" "0: " "demo asks for nothing when all is there"
  needs check
  is "$rc: $said$calls" "0: " "check asks for nothing when all is there"
else
  skip "the ocean data are not installed"
fi
needs demo petsc_missing=yes
like "$rc: $calls" "install -y --no-install-recommends petsc-dev" "PETSc is installed by root"
like "$rc: $said" "PETSc, and the MPI and HDF5 that it uses" "and said to be needed"
rm "$bin/prove"
needs check
like "$calls" "install .*perl" "prove is installed for check"
needs demo
unlike "$calls" "perl" "and not for demo"
fake python3 'exit 1'
needs demo PATH="$bin"
if PYTHON=/usr/bin/python3 PATH=/usr/bin:/bin petsc-conf/python >/dev/null; then
  unlike "$calls" "python3-h5py" "the system's python3 is found behind one without h5py"
else
  like "$calls" "install .*python3-h5py python3-matplotlib python3-netcdf4" "what python lacks is installed"
fi
fake id 'echo 1000'
fake sudo "echo sudo \$* >>'$tmp/calls'"
needs demo petsc_missing=yes
like "$rc: $calls" "sudo apt-get install -y .*petsc-dev|sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y .*petsc-dev" "another user installs by sudo"
fake sudo "echo sudo \$* >>'$tmp/calls'; echo may not >&2; exit 1"
needs demo petsc_missing=yes
like "$rc: ${said//$'\n'/ }" "^1: .*may not.* Please run this as root, then make demo again: apt-get install -y .*petsc-dev" "if sudo is refused, the line to run is printed"
rm "$bin/sudo"
needs demo petsc_missing=yes
like "$rc: ${said//$'\n'/ }$calls" "^1: .* Please run this as root, then make demo again: apt-get install -y --no-install-recommends petsc-dev[^;]*$" "without sudo, the line to run is printed"
rm "$bin/apt-get"
needs demo petsc_missing=yes
like "$rc: ${said//$'\n'/ }" "^1: .*On Debian 12 it would be: apt-get install" "without apt-get, what to install is named"
rm "$petsc/include/petscconf.h"
needs demo
like "$rc: $said" "^1: PETSc in $petsc was built without HDF5" "a PETSc without HDF5 is refused by the demonstration"

finish
