#!/bin/bash
# make install and uninstall, and programs outside of Strata that use it, from an installed prefix and from the checkout
. "$(dirname "$0")/tap.sh"

unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
settings=(SANITIZE="$SANITIZE" CUDA="$CUDA")
prefix=$tmp/prefix
version=$(sed -n 's/^#define STRATA_VERSION_[A-Z]* *//p' include/strata.h | paste -sd.)
expected="Strata $version, PETSc $petsc_version, $([ "$CUDA" = 1 ] && echo CUDA || echo "no CUDA"), maximum 15.000000"
[ "$SANITIZE" ] && flags="-fsanitize=$SANITIZE" || flags=

files() { (cd "$1" && find . ! -type d | LC_ALL=C sort); }
list="./include/strata.h
./lib/libstrata.so
./lib/pkgconfig/strata.pc
./share/strata/petsc-conf/installed
./share/strata/petsc-conf/petsc
./share/strata/petsc-conf/rules
./share/strata/petsc-conf/variables"

ok "make install" make -s "${settings[@]}" install PREFIX="$prefix"
is "$(files "$prefix")" "$list" "what it installs"
ok "make install below DESTDIR" make -s "${settings[@]}" install PREFIX=/opt/strata DESTDIR="$tmp/stage"
is "$(files "$tmp/stage/opt/strata")" "$list" "the same files below DESTDIR"
is "$(grep -rlI "$tmp" "$tmp/stage")" "" "no installed file names DESTDIR"
like "$(cat "$tmp/stage/opt/strata/lib/pkgconfig/strata.pc")" "^libdir=/opt/strata/lib$" "strata.pc names the prefix"

# The same program by pkg-config and by a makefile, with the checkout and with the prefix
by_pkg_config() { # NAME FOLDER
  ok "a program is built with pkg-config, $1" env PKG_CONFIG_PATH="$2" bash -c \
    "\$(pkg-config --variable=ccompiler strata) $flags tests/installing/program.c -o '$tmp/program' \$(pkg-config --cflags --libs strata)"
  run 1 "$tmp/program"
  is "$out" "$expected" "and runs, $1"
  is "$(PKG_CONFIG_PATH=$2 pkg-config --modversion strata)" "$version" "strata.pc has the version, $1"
  rm -f "$tmp/program"
}
by_makefile() { # NAME STRATA_DIR [SETTING=VALUE]...
  local name=$1 dir=$2
  shift 2
  mkdir "$tmp/outside"
  cp tests/installing/program.c tests/installing/makefile "$tmp/outside"
  ok "a program is built with petsc-conf/variables, $name" env "$@" make -C "$tmp/outside" STRATA_DIR="$dir" CFLAGS="$flags" "${settings[@]}"
  for ranks in 1 2; do
    run $ranks "$tmp/outside/program"
    is "$out" "$expected" "and runs on $ranks, $name"
  done
  like "$(ldd "$tmp/outside/program" | grep libstrata)" "=> $(realpath "$dir/../..")/.*libstrata.so|=> $lib/libstrata.so" "with the library of $name"
  rm -r "$tmp/outside"
}
by_pkg_config "from the prefix" "$prefix/lib/pkgconfig"
by_pkg_config "from the checkout" "$lib"
by_makefile "from the prefix" "$prefix/share/strata"
by_makefile "from the prefix, PETSC_DIR unset" "$prefix/share/strata" -u PETSC_DIR -u PETSC_ARCH
by_makefile "from the checkout" "$PWD"
mv "$prefix" "$tmp/moved"
by_makefile "from a prefix that was moved" "$tmp/moved/share/strata"
mv "$tmp/moved" "$prefix"

# Another PETSc than the one that the installed library was built for
cp -r "$PETSC_DIR/$PETSC_ARCH/lib/petsc/conf" "$tmp/conf"
mkdir -p "$tmp/other/lib/petsc" "$tmp/other/include"
mv "$tmp/conf" "$tmp/other/lib/petsc"
cp "$PETSC_DIR/include/petscversion.h" "$tmp/other/include"
out=$(make -s -C tests/installing -n STRATA_DIR="$prefix/share/strata" PETSC_DIR="$tmp/other" PETSC_ARCH= 2>&1) && rc=0 || rc=$?
like "$rc: $out" "^[1-9].*This Strata was built for PETSc in .*, not for the one in $tmp/other" "another PETSc is refused"
mkdir "$tmp/tree"
cp -r petsc-conf include "$tmp/tree"
out=$(make -s -C tests/installing -n STRATA_DIR="$tmp/tree" 2>&1) && rc=0 || rc=$?
like "$rc: $out" "^[1-9].*There is no $tmp/tree/build/.*/libstrata.so: run .make. in $tmp/tree" "a checkout that was not built is refused"

# Folders that make and pkg-config cannot name
for bad in PREFIX="$tmp/a b" DESTDIR="$tmp/a b" PREFIX=some/folder PREFIX=; do
  for target in install uninstall; do
    out=$(make -s "${settings[@]}" $target "$bad" 2>&1) && rc=0 || rc=$?
    ok "make $target $bad is an error" [ $rc != 0 ]
    like "$out" "PREFIX .*(without a blank|beginning with /)" "that says so"
  done
done

touch "$prefix/lib/other"
ok "make uninstall" make -s uninstall PREFIX="$prefix"
is "$(files "$prefix")" "./lib/other" "removes what make install made, and nothing else"
fails "and its folder" test -e "$prefix/share/strata"

finish
