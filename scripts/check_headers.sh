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

mapfile -t headers < <(find api backends conformance tools tests benchmarks -name '*.h' | sort)
for backend in "${skipped[@]}"; do
  echo "headers: those of backends/$backend are skipped, its vendor's headers are not on this machine"
  mapfile -t headers < <(printf '%s\n' "${headers[@]}" | grep -v "^backends/$backend/")
done

# Parsing the same few headers takes most of the time, so these are precompiled, and each header takes the first base that
# it includes itself, all of it: then nothing stands before it that it does not bring. "none" is for the others.
bases=(
  "nlohmann/json.hpp api/include/tessera/tessera.h"
  "conformance/problem_set.h"
  "api/include/tessera/tessera.h"
  "api/backend/backend.h api/backend/operator_table.h"
  "api/include/tessera/kernel.h"
  "api/include/tessera/error.h"
  "string vector"
)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
options=(-std=c++20 -Wall -Wextra -Werror -Winvalid-pch '-DTESSERA_TOOL_PATH=""' "${includes[@]}")
precompile() {
  local number=$1 name
  shift
  for name in "$@"; do echo "#include <$name>"; done >"$folder/base_$number.h"
  "$compiler" "${options[@]}" -x c++-header "$folder/base_$number.h" -o "$folder/base_$number.h.gch"
}
precompiling=()
for number in "${!bases[@]}"; do
  # shellcheck disable=SC2086  # a base is several names
  precompile "$number" ${bases[$number]} &
  precompiling+=("$!")
done
for process in "${precompiling[@]}"; do wait "$process"; done
: >"$folder/base_none.h"

# with_bases: reads headers' paths, and writes each behind the number of its base. Only what is included under no condition
# counts; a name is looked for as the compiler looks for it, and is itself where it is none of the project's.
with_bases() {
  awk -v bases="$(printf '%s|' "${bases[@]}")" '
    function place(header, name,   folder, parts, i) {
      folder = header
      sub(/[^\/]*$/, "", folder)
      if ((folder name) in known) return folder name
      split("api/include/ api/ api/src/ backends/ / tests/ tests/fault/", parts, " ")
      for (i = 1; i <= 7; ++i) {
        if (parts[i] == "/") parts[i] = ""
        if ((parts[i] name) in known) return parts[i] name
      }
      split(header, parts, "/")
      if (parts[1] == "backends" && ("backends/" parts[2] "/" name) in known) return "backends/" parts[2] "/" name
      return name
    }
    function collect(header, found,   line, depth, name, names, count, i) {
      count = 0
      depth = 0
      while ((getline line < header) > 0) {
        if (line ~ /^ *# *if/) ++depth
        if (line ~ /^ *# *endif/) --depth
        if (depth == 0 && line ~ /^ *# *include *[<"]/) {
          name = line
          gsub(/^ *# *include *[<"]|[>"].*$/, "", name)
          names[++count] = place(header, name)
        }
      }
      close(header)
      for (i = 1; i <= count; ++i) {
        if (names[i] in found) continue
        found[names[i]] = 1
        if (names[i] in known) collect(names[i], found)
      }
    }
    { known[$0] = 1; headers[NR] = $0 }
    END {
      count = split(bases, base, "|") - 1
      for (i = 1; i <= NR; ++i) {
        split("", found)
        collect(headers[i], found)
        chosen = "none"
        for (b = 1; b <= count && chosen == "none"; ++b) {
          chosen = b - 1
          parts = split(base[b], part, " ")
          for (p = 1; p <= parts; ++p) if (!(part[p] in found)) chosen = "none"
        }
        print chosen, headers[i]
      }
    }'
}

# compile_alone <base> <header> <build folder> <command...>: a backend's header sees its own backend and no other, whose
# files may have the same names.
compile_alone() {
  local base=$1 header=$2 build=$3 backend=${2#backends/} own=() output
  shift 3
  if [[ $header == backends/* ]]; then own=("-Ibackends/${backend%%/*}" "-I$build/backends/${backend%%/*}"); fi
  # A backend's fault tests stand on the backend's own files; tests find each other from tests/ and tests/fault.
  if [[ $header == tests/* ]]; then own=(-Itests -Itests/fault "-Ibackends/$(basename "$(dirname "$header")")"); fi
  if ! output=$("$@" "${own[@]}" -include "$base" -include "$header" /dev/null 2>&1); then
    printf '%s: does not compile alone:\n%s\n' "$header" "$output"
    return 1
  fi
}
export -f compile_alone

printf '%s\n' "${headers[@]}" | with_bases |
  xargs -L 1 -P "$(nproc)" bash -c 'folder=$1 build=$2; shift 2; base=${*: -2:1} header=${*: -1}
    compile_alone "$folder/base_$base.h" "$header" "$build" "${@:1:$#-2}"' _ "$folder" "$build" \
    "$compiler" -fsyntax-only -x c++ "${options[@]}" ||
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
echo "headers: ${#headers[@]} compile alone; api/include reaches the standard library alone"
