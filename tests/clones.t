#!/bin/bash
# The host loops that are compiled for several instruction sets: those for AVX2 and AVX-512 work on whole vectors with fused multiply-adds, and
# call no function. A call in a loop, to fma() above all, costs more than all that they gain.
. "$(dirname "$0")/tap.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "host loops have clones on x86-64 only"
[ -z "$SANITIZE" ] || skip_all "sanitizers put calls into all loops"
command -v objdump >/dev/null || skip_all "there is no objdump"
! $CC -dM -E -x c /dev/null | grep -q __clang__ || skip_all "host loops have clones with GCC only"

# Of each clone: its fused multiply-adds on whole vectors and on single numbers, and the functions that it calls or jumps to. What GCC has moved
# away from a function (.cold) is a part of it. One function that is no clone, and calls others, for comparison.
control=PetscDLLibraryRegister_strata
objdump -d --no-show-raw-insn "$lib/libstrata.so" | awk -v control=$control '
  function name_of(symbol) { gsub(/[<>:]|[+]0x.*/, "", symbol); sub(/[.]cold$/, "", symbol); return symbol }
  /^[0-9a-f]+ <.*>:$/ { clone = name_of($2); if (clone !~ /[.]arch_x86_64_v[34]$/ && clone != control) clone = ""; if (clone) seen[clone] = 1 }
  !clone { next }
  /\tvfn?m(add|sub)[0-9]+p[sd] .*%[yz]mm/ { packed[clone]++ }
  /\tvfn?m(add|sub)[0-9]+s[sd] / { single[clone]++ }
  /\tcall/ || (/\tj[a-z]+ +[0-9a-f]+ </ && name_of($NF) != clone) { calls[clone] = calls[clone] " " name_of($NF) }
  END { for (clone in seen) print clone, packed[clone] + 0, single[clone] + 0 calls[clone] }' | LC_ALL=C sort >"$tmp/clones"

# All functions that are to have clones, by their names in the library
wanted=$(grep -hE '^STRATA_CLONES' src/*/*.[ch] | grep -oE '^[^(]*(TYPED\([a-z_0-9]+\)|[a-z_0-9]+)\(' |
  sed -nE 's/.*TYPED\((.*)\)\($/\1_d\n\1_f/p; t; s/.*[ *]([a-z_0-9]+)\($/\1/p' | LC_ALL=C sort -u)
is "$(sed -nE 's/[.]arch.*//p' "$tmp/clones" | uniq)" "$wanted" "all functions that have clones in the sources have them in the library"
like "$(grep "^$control " "$tmp/clones")" " .* [a-zA-Z]+" "calls are noticed"

for name in $wanted; do
  for set in arch_x86_64_v3 arch_x86_64_v4; do
    clone=$(grep "^$name[.]$set " "$tmp/clones")
    like "$clone" . "$name for $set"
    is "$(cut -d ' ' -f 4- <<<"$clone")" "" "$name for $set calls no function"
    case $name in
    strata_mult_tile_? | strata_solve_strip_?) like "$clone" "^[^ ]* [1-9]" "$name for $set has fused multiply-adds on whole vectors" ;;
    *) unlike "$clone" "^[^ ]* 0 [1-9]" "$name for $set has no fused multiply-adds on single numbers alone" ;;
    esac
  done
done
finish
