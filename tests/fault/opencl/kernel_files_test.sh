#!/usr/bin/env bash
# Every kernel file compiles alone (scripts/check_kernels.sh), and the check finds what it is there for: a file that needs
# another and does not include it, one that includes what is not there, one that names what was brought in between #if and
# #endif, and one that does not say what it compiles with.
#
# usage: kernel_files_test.sh CHECK_KERNELS FOLDER, of the backend's sources
set -euo pipefail
check=$1
folder=$2

planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
alone='// Compiles alone with: -DLENGTH=4'
printf '%s\ntypedef int number;\n' "$alone" >"$planted/number.cl"
printf '%s\n#include "number.cl"\n#include "number.cl"\ntypedef struct { number numbers[LENGTH]; } Several;\n' "$alone" >"$planted/whole.cl"
status=0
said=$("$check" "$planted" 2>&1) || status=$?
if ((status != 0)); then
  echo "$said"
  ((status != 77)) || exit 77
  echo "FAILED: the check refuses files that compile alone"
  exit 1
fi

# must_refuse <text of a file> <what the check says of it>
must_refuse() {
  local said
  printf '%b' "$1" >"$planted/planted.cl"
  if said=$("$check" "$planted" 2>&1) || [[ $said != *"$2"* ]]; then
    echo "FAILED: of a planted file the check does not say '$2', but:"
    echo "$said"
    exit 1
  fi
}
must_refuse "$alone\ntypedef number other;\n" "planted.cl:2:9: error: unknown type name 'number'"
must_refuse "$alone\n#include \"number.cl\"\n\ntypedef number wrong[LENGTH +];\n" "planted.cl:4:30: error"
must_refuse "$alone\n#include \"absent.cl\"\n" 'planted.cl includes "absent.cl"'
must_refuse "$alone\n#include <number.cl>\n" "not followed by one name in quotes"
must_refuse "$alone\n#if LENGTH\n#include \"number.cl\"\n#endif\n#include \"number.cl\"\n" "which was brought in before"
must_refuse "// A file.\nint number;\n" "does not say what it compiles alone with"

said=$("$check" "$folder") || { echo "$said"; exit 1; }
echo "$said"
count=$(find "$folder" -name '*.cl' | wc -l)
if ((count < 20)); then
  echo "FAILED: only $count kernel files are found in $folder"
  exit 1
fi
