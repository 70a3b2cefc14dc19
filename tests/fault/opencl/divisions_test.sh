#!/usr/bin/env bash
# No kernel divides whole numbers by what is known at run time only, but through quotient(): a lane that is idle may hold
# a 0 (ops/quotient.cl). Fails for a `/` or `%` whose right side begins with a small letter, as names of variables do and
# those of options do not, outside of comments and text.
#
# usage: divisions_test.sh FOLDER, of the backend's sources
set -euo pipefail
folder=$1

# Prints file, line number and line of every such division.
divisions_in() {
  local file
  while read -r file; do
    sed -E 's/"[^"]*"//g; s,//.*,,; s,/\*.*\*/,,' "$file" | grep -nE '[/%]=? *\(*[a-z]' | sed "s|^|$file:|" || true
  done < <(find "$1" -name '*.cl' ! -name quotient.cl ! -name '*ratio.cl')
}

planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
printf 'x = y / (int)pool;\nx %%= count;\nx = y / TILE; // of y / pool\n' >"$planted/planted.cl"
if [[ $(divisions_in "$planted" | wc -l) != 2 ]]; then
  echo "FAILED: of the planted divisions not exactly two are found"
  exit 1
fi
count=$(find "$folder" -name '*.cl' | wc -l)
if ((count < 20)); then
  echo "FAILED: only $count kernel files are found in $folder"
  exit 1
fi
found=$(divisions_in "$folder")
if [[ -n $found ]]; then
  echo "$found"
  echo "FAILED: these divide by what is known at run time only; quotient() does it safely"
  exit 1
fi
echo "$count kernel files divide by options and numbers alone"
