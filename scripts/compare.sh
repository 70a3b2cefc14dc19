#!/usr/bin/env bash
# The first of the two commands: installs what is missing, builds, and compares every backend present on this machine.
set -euo pipefail

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  cat <<'TEXT'
usage: scripts/compare.sh [ARGUMENTS OF tessera bench]

Installs what is missing, builds the preset release, lists the devices of this machine and measures gemm with every
variant on each of them. Every result is checked before its speed is printed. Without arguments: two small sizes, which
take about two minutes on two cores; a GPU needs larger ones to show what it can do. Running it again costs the
measurement alone.

examples:
  scripts/compare.sh
  scripts/compare.sh gemm --device cuda:0 --case 'float32_m4096_*'
  scripts/compare.sh gemm --device cpu:0,opencl:0 --variant tiled --json result.json
TEXT
  exit 0
fi
root=$(cd "$(dirname "$0")/.." && pwd)

"$root/scripts/setup.sh"
(cd "$root" && cmake --preset release && cmake --build --preset release --target tessera_program)
tessera=$root/build/release/bin/tessera

echo
"$tessera" devices
echo
if [[ $# -eq 0 ]]; then
  set -- gemm --device all --variant all --case 'float32_m256_*,float32_m512_*'
fi
"$tessera" bench "$@"
