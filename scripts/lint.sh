#!/usr/bin/env bash
# Runs clang-tidy over the C++ files named, or over all that were built, with the commands of a build folder.
set -euo pipefail

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  cat <<'TEXT'
usage: scripts/lint.sh [FILES OR FOLDERS]

Default: every .cpp file that the build folder build/ci compiles. Needs clang-tidy 14 and a configured build/ci
(cmake --preset ci). Exit code 1 if there is a finding.

example: scripts/lint.sh api/src backends/cpu_tbb
TEXT
  exit 0
fi
cd "$(dirname "$0")/.."
tidy=$(command -v clang-tidy-14 || command -v clang-tidy || true)
if [[ -z $tidy ]]; then
  echo "lint: clang-tidy is not on this machine (Debian and Ubuntu: clang-tidy-14)" >&2
  exit 1
fi
database=build/ci/compile_commands.json
if [[ ! -f $database ]]; then
  echo "lint: $database is not there; run: cmake --preset ci" >&2
  exit 1
fi
[[ $# -gt 0 ]] || set -- .
mapfile -t compiled < <(sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$database" | sort -u)
files=()
for place in "$@"; do
  place=$(realpath "$place")
  for file in "${compiled[@]}"; do
    [[ $file != "$place" && $file != "$place"/* || $file == "$PWD"/build/* ]] || files+=("$file")
  done
done
if [[ ${#files[@]} -eq 0 ]]; then
  echo "lint: nothing that build/ci compiles lies in: $*" >&2
  exit 1
fi
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" "$tidy" -p build/ci --quiet \
  --extra-arg=-Wno-unknown-warning-option
echo "lint: ${#files[@]} files, nothing found"
