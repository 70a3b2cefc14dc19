#!/usr/bin/env bash
# Checks that every header compiles alone, and that an application that includes the public headers sees the standard
# library alone: no header of a vendor or of a library that only backends stand on.
# shellcheck disable=SC2016  # single quotes hold what an inner bash expands
set -euo pipefail

if [[ ${1:-} == --help || ${1:-} == -h || $# -gt 1 ]]; then
  cat <<'TEXT'
usage: scripts/check_headers.sh [BUILD_FOLDER]

BUILD_FOLDER is one that cmake has configured (default: build/ci); it holds the generated version.h.
TEXT
  [[ $# -le 1 ]] || exit 2
  exit 0
fi
cd "$(dirname "$0")/.."
build=${1:-build/ci}
generated=$build/api/include
if [[ ! -f $generated/tessera/version.h ]]; then
  echo "headers: $generated/tessera/version.h is not there; configure $build first" >&2
  exit 1
fi
compiler=${CXX:-c++}
findings=0
finding() {
  printf '%s\n' "$1"
  findings=$((findings + 1))
}

# CL/cl.h and cuda.h lie where the build found them; a backend whose headers are absent was not built.
includes=(-Iapi/include "-I$generated" -Iapi -Iapi/src -Ibackends -I.)
skipped=()
cuda_include=$(compgen -G '/usr/local/cuda*/include/cuda.h' | head -n 1 || true)
if [[ -n $cuda_include ]]; then includes+=(-isystem "${cuda_include%/cuda.h}"); else skipped+=(cuda); fi
[[ -f /usr/include/CL/cl.h ]] || skipped+=(opencl)

# compile_alone <header> <build folder> <command...>: a backend's header sees its own backend and no other, whose files
# may have the same names.
compile_alone() {
  local header=$1 build=$2 backend=${1#backends/} own=() output
  shift 2
  if [[ $header == backends/* ]]; then own=("-Ibackends/${backend%%/*}" "-I$build/backends/${backend%%/*}"); fi
  # A backend's fault tests stand on the backend's own files; tests find each other from tests/ and tests/fault.
  if [[ $header == tests/* ]]; then own=(-Itests -Itests/fault "-Ibackends/$(basename "$(dirname "$header")")"); fi
  if ! output=$("$@" "${own[@]}" -include "$header" /dev/null 2>&1); then
    printf '%s: does not compile alone:\n%s\n' "$header" "$output"
    return 1
  fi
}
export -f compile_alone

mapfile -t headers < <(find api backends conformance tools tests benchmarks -name '*.h' | sort)
for backend in "${skipped[@]}"; do
  echo "headers: those of backends/$backend are skipped, its vendor's headers are not on this machine"
  mapfile -t headers < <(printf '%s\n' "${headers[@]}" | grep -v "^backends/$backend/")
done
# Where a source beside it includes a header first, the build compiles that alone; but not where a precompiled header
# comes before it, nor where the build leaves the source out.
built=$(cat "$build/compile_commands.json" 2>/dev/null || true)
proven=0
alone=()
for header in "${headers[@]}"; do
  source=${header%.h}.cpp
  name=${header##*/}
  if [[ $header != tests/* && $header != tools/* && -f $source && $built == *"\"$PWD/$source\""* &&
    $(grep -m 1 '^#include' "$source") == *[\"/]"$name\"" ]]; then
    proven=$((proven + 1))
  else
    alone+=("$header")
  fi
done
command=("$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Werror '-DTESSERA_TOOL_PATH=""' -x c++ "${includes[@]}")
printf '%s\0' "${alone[@]}" |
  xargs -0 -I{} -P "$(nproc)" bash -c 'compile_alone "$@"' _ {} "$build" "${command[@]}" ||
  finding "headers: not every header compiles alone"

# A public header names either one of ours or one of the standard library, whose names hold neither slash nor dot...
while IFS= read -r place; do
  [[ -z $place ]] || finding "$place: includes what is neither Tessera's nor the standard library's"
done < <(grep -rnE '^ *# *include' api/include | grep -vE '<tessera/[a-z0-9_/]+\.h>|<[a-z_]+>')

# ...and what the preprocessor reaches from there belongs to nobody else either.
reached=$("$compiler" -std=c++20 -M -x c++ -Iapi/include "-I$generated" api/include/tessera/tessera.h)
foreign=$(tr -s ' ' '\n' <<<"$reached" |
  grep -iE '/(CL|tbb|oneapi|hwy|fmt|nlohmann|CLI|gtest)/|cuda|opencl|cublas|cudnn|nvrtc|api/backend|backends/' || true)
[[ -z $foreign ]] || finding "api/include reaches: $foreign"

if ((findings > 0)); then exit 1; fi
echo "headers: ${#alone[@]} compile alone, and $proven at the head of their sources; api/include reaches the standard library alone"
