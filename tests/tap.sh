# Shell tests that speak TAP: a test is a bash script that begins with
#
#   . "$(dirname "$0")/tap.sh"
#
# makes its checks, and ends with `finish`. It runs in the root of the checkout, and finds
#
#   $lib             the folder with libstrata.so; the programs are in $lib/examples, the C tests in $lib/tests
#   $tmp             a folder of its own that goes away at the end
#   $PETSC_DIR, $PETSC_ARCH, $petsc_version, $index_size, $CC, $CUDA, $SANITIZE     what the build uses
#
# Checks:
#   ok NAME COMMAND...           the command succeeds
#   fails NAME COMMAND...        the command fails
#   is GOT EXPECTED NAME         two strings are equal
#   like TEXT REGEX NAME         the text matches the extended regular expression (over lines)
#   unlike TEXT REGEX NAME
#   close GOT EXPECTED TOLERANCE NAME      two numbers agree: |got - expected| <= tolerance * |expected|
#   skip NAME...                 a check that cannot be made here
#   skip_all NAME...             a test that cannot be run here; ends it
#   stops N WORDS PROGRAM OPTIONS...       the program ends with an error of PETSc on N ranks, and a line that matches the words
#
# run N COMMAND...  runs a program on N ranks and sets $out (what it says, errors included) and $rc (its exit status).

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
if [ -z "${STRATA_TEST:-}" ]; then
  settings=$(make -s environment) || exit 1
  eval "$settings"
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/strata-test.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
tap_count=0 tap_failures=0

report() { # RESULT NAME [DIAGNOSTICS]
  tap_count=$((tap_count + 1))
  if [ "$1" = 0 ]; then
    echo "ok $tap_count - $2"
  else
    tap_failures=$((tap_failures + 1))
    echo "not ok $tap_count - $2"
    echo "#   failed at ${BASH_SOURCE[2]}:${BASH_LINENO[1]}"
    [ -z "${3:-}" ] || printf '%s\n' "$3" | tail -n 60 | sed 's/^/#   /'
  fi
}

ok() {
  local name=$1 said status
  shift
  said=$("$@" 2>&1) && status=0 || status=$?
  report $status "$name" "exit status $status of: $*"$'\n'"$said"
}

fails() {
  local name=$1 said status
  shift
  said=$("$@" 2>&1) && status=1 || status=0
  report $status "$name" "must fail: $*"$'\n'"$said"
}

is() {
  [ "$1" = "$2" ] && report 0 "$3" || report 1 "$3" "got '$1'"$'\n'"expected '$2'"
}

like() {
  grep -Eq -- "$2" <<<"$1" && report 0 "$3" || report 1 "$3" "expected a line like /$2/ in:"$'\n'"$1"
}

unlike() {
  grep -Eq -- "$2" <<<"$1" && report 1 "$3" "expected no line like /$2/ in:"$'\n'"$1" || report 0 "$3"
}

close() {
  awk -v got="$1" -v want="$2" -v tol="$3" 'BEGIN {
    number = "^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$"
    if (got !~ number || want !~ number) exit 1
    d = got - want; if (d < 0) d = -d; s = want < 0 ? -want : want + 0; exit !(d <= tol * (s ? s : 1)) }' &&
    report 0 "$4" || report 1 "$4" "got $1, expected $2 within $3"
}

skip() {
  tap_count=$((tap_count + 1))
  echo "ok $tap_count # SKIP $*"
}

skip_all() {
  echo "1..0 # SKIP $*"
  exit 0
}

run() { # a program that hangs is ended after five minutes
  local ranks=$1
  shift
  out=$(tests/ranks "$ranks" timeout -k 5 "${TEST_TIMEOUT:-300}" "$@" 2>&1) && rc=0 || rc=$?
}

stops() { # RANKS WORDS PROGRAM OPTIONS...: two checks. mpiexec may lose what a program says at its end; then it is asked again.
  local try
  for try in 1 2 3; do
    run "$1" "${@:3}"
    [ "$rc" = 0 ] || grep -Eq -- "PETSC ERROR: .*$2" <<<"$out" && break
  done
  ok "${*:4} on $1 is an error" [ "$rc" != 0 ]
  like "$out" "PETSC ERROR: .*$2" "that says so"
}

finish() {
  echo "1..$tap_count"
  exit $((tap_failures > 0))
}
