#!/usr/bin/env bash
# Checks that every OpenCL kernel file compiles alone, with what it includes, in the language that the backend asks for.
set -euo pipefail

if [[ ${1:-} == --help || ${1:-} == -h || $# -gt 1 ]]; then
  cat <<'TEXT'
usage: scripts/check_kernels.sh [FOLDER]

FOLDER holds the files and is what their #include "..." are relative to (default: backends/opencl). Each file names, in
comment lines that begin with "// Compiles alone with:", sets of options that it compiles with; "nothing" is the empty
set. Every set is tried with clang (set CLANG to name one), as OpenCL C 1.2. Without clang it says so and exits with 77,
unless TESSERA_REQUIRE is set, which makes that a failure.
TEXT
  [[ $# -le 1 ]] || exit 2
  exit 0
fi
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(cd "${1:-$root/backends/opencl}" && pwd)

compiler=""
for candidate in ${CLANG:-} clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14; do
  if command -v "$candidate" >/dev/null; then
    compiler=$candidate
    break
  fi
done
if [[ -z $compiler ]]; then
  echo "kernels: skipped, clang is not on this machine"
  [[ -z ${TESSERA_REQUIRE:-} ]] || exit 1
  exit 77
fi

resolved=$(mktemp -d)
trap 'rm -rf "$resolved"' EXIT

# compiles <name of a file under the folder>: prints what is wrong with it.
compiles() {
  local name=$1 text sets line
  text=$resolved/${name//\//_}
  if ! cmake "-DFILE=$folder/$name" "-DROOT=$folder" "-DOUTPUT=$text" \
    -P "$root/cmake/TesseraResolveIncludes.cmake" >"$text.log" 2>&1; then
    cat "$text.log"
    return 1
  fi
  mapfile -t sets < <(sed -n 's|^// Compiles alone with: ||p' "$folder/$name")
  if [[ ${#sets[@]} -eq 0 ]]; then
    echo "$name: does not say what it compiles alone with"
    return 1
  fi
  for line in "${sets[@]}"; do
    local options=()
    if [[ $line != nothing ]]; then mapfile -t options < <(xargs -n 1 printf '%s\n' <<<"$line"); fi
    if ! "$compiler" -x cl -cl-std=CL1.2 -fsyntax-only -Werror=implicit-function-declaration "${options[@]}" "$text" \
      >"$text.log" 2>&1; then
      echo "$name: does not compile alone with: $line"
      cat "$text.log"
      return 1
    fi
  done
}

findings=0
mapfile -t files < <(cd "$folder" && find . -name '*.cl' -printf '%P\n' | sort)
if [[ ${#files[@]} -eq 0 ]]; then
  echo "kernels: $folder holds no .cl file"
  exit 1
fi
for file in "${files[@]}"; do
  compiles "$file" || findings=$((findings + 1))
done
if ((findings > 0)); then
  echo "kernels: $findings of ${#files[@]} files do not compile alone"
  exit 1
fi
echo "kernels: ${#files[@]} files compile alone ($compiler)"
