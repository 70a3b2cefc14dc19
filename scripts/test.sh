#!/usr/bin/env bash
# The second of the two commands: installs what is missing, builds, and runs every check that this project has. CI runs
# exactly this.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/test.sh [--quick | --whole]

Installs what is missing, then: style, build (preset ci), headers, the tests, the table in docs/support.md; the front half
and the backend cpu_tbb under AddressSanitizer with UBSan, by clang, and under ThreadSanitizer; and by clang too what the
former leaves out, the OpenCL backend and the tool. A stage that fails does not keep the next ones from running. Exit code
0 only if every stage passed.

  --quick   leave clang and the sanitizers out
  --whole   also the tests labelled slow, without a sanitizer; and every case where otherwise a share of them is run
            again: under sanitizers, with fewer instructions, on a second OpenCL driver. CUDA images are optimised,
            which otherwise they are where nvidia-smi shows a card
  --help    this text

environment:
  TESSERA_REQUIRE        backends whose absence is a failure (default here: cpu_tbb,opencl)
  TESSERA_TEST_MINUTES   when so many have passed, no build of a sanitizer's or clang's begins any more; the summary names
                         what was left out (default: no such limit)
TEXT
}

quick=no
whole=no
for argument in "$@"; do
  case "$argument" in
    --quick) quick=yes ;;
    --whole) whole=yes ;;
    --help | -h) usage; exit 0 ;;
    *) echo "test.sh: unknown argument '$argument'; see --help" >&2; exit 2 ;;
  esac
done
cd "$(dirname "$0")/.."
export TESSERA_REQUIRE=${TESSERA_REQUIRE:-cpu_tbb,opencl}
# The user's settings must not decide what is tested, nor what is tested fill the user's caches.
unset TESSERA_DEVICE TESSERA_BACKENDS TESSERA_BACKEND_PATH
export TESSERA_CACHE_DIR=$PWD/build/cache/tessera POCL_CACHE_DIR=$PWD/build/cache/pocl

rows=()
failed=0
run_logs=$(mktemp -d)
trap 'rm -rf "$run_logs"' EXIT

# stage <name> <command...>: runs it, keeps its result for the summary, and returns it.
stage() {
  local name=$1 start=$SECONDS result=0 log="$run_logs/${#rows[@]}" note
  shift
  echo
  echo "=== $name"
  "$@" 2>&1 | tee "$log" || result=$?
  note=$(grep -E '^[0-9]+% tests passed' "$log" | tail -n 1 || true)
  if ((result != 0)); then
    failed=$((failed + 1))
    rows+=("$(printf '%-16s FAILED %5d s  %s' "$name" $((SECONDS - start)) "$note")")
  else
    rows+=("$(printf '%-16s passed %5d s  %s' "$name" $((SECONDS - start)) "$note")")
  fi
  return "$result"
}
left_out=0
skip() {
  left_out=$((left_out + 1))
  rows+=("$(printf '%-16s not run, %s' "$1" "$2")")
}

without_slow=(-LE '^slow$')
share=OFF
if [[ $whole == yes ]]; then
  without_slow=()
  share=ON
fi
# CUDA's images are optimised where a card may run them.
optimised=$share
if command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q GPU; then optimised=ON; fi
build() {
  cmake --preset "$1" -DTESSERA_TEST_WHOLE="$share" -DTESSERA_CUDA_OPTIMISED="$optimised" && cmake --build --preset "$1"
}
conformance_results=build/ci/tests/conformance/results
# One more than there are processors: where the driver's calls fail one by one, a test waits for most of its time.
at_once=$(($(nproc) + 1))
all_tests() {
  rm -rf "$conformance_results"
  ctest --preset ci --no-tests=error -j "$at_once" "${without_slow[@]}"
}
# docs/support.md must not claim more or less than the tests found on this machine.
support_table() {
  if ! command -v python3 >/dev/null; then
    echo "skipped: python3 is not on this machine"
    return
  fi
  scripts/support_table.py --check "$conformance_results"/*.json
}
# The front half and the one backend whose code is all ours: drivers and their threads are not instrumented.
sanitized_tests() {
  TESSERA_REQUIRE=cpu_tbb ctest --preset "$1" --no-tests=error -j "$at_once" -L '^(unit|conformance|misuse|fault)$' -LE '^slow$'
}
# Has a machine that is slow today so much time left that another build is begun?
limit=${TESSERA_TEST_MINUTES:-}
if [[ -n $limit && ! $limit =~ ^[0-9]+$ ]]; then
  echo "test.sh: TESSERA_TEST_MINUTES is '$limit', but must be a whole number of minutes" >&2
  exit 2
fi
has_time() {
  [[ -z $limit ]] || ((SECONDS < 10#$limit * 60)) && return 0
  skip "$1" "because $limit minutes have passed (TESSERA_TEST_MINUTES)"
  return 1
}
sanitizer() {
  has_time "$1" || return 0
  if stage "$1 build" build "$1"; then
    stage "$1 tests" sanitized_tests "$1" || true
  else
    skip "$1 tests" "because $1 did not build"
  fi
}

stage set-up scripts/setup.sh --with-intel-opencl || exit 1
stage style scripts/check_style.sh || true
if stage "ci build" build ci; then
  stage headers scripts/check_headers.sh build/ci || true
  stage "ci tests" all_tests || true
  stage "support table" support_table || true
else
  skip "ci tests" "because ci did not build"
fi
# For clang's warnings, of what is not in AddressSanitizer's build, which is clang's as well.
clang_build() { cmake --preset clang && cmake --build --preset clang --target tessera_opencl tessera_tool_parts; }
if [[ $quick == no ]]; then
  sanitizer asan
  sanitizer tsan
  if has_time clang; then stage "clang build" clang_build || true; fi
fi

echo
echo "=== summary, ${SECONDS} s"
printf '%s\n' "${rows[@]}"
run=$((${#rows[@]} - left_out))
not_run=""
if ((left_out > 0)); then not_run=", and $left_out were not run"; fi
if ((failed > 0)); then
  echo "$failed of $run stages failed$not_run"
  exit 1
fi
echo "all $run stages passed$not_run"
