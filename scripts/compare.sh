#!/usr/bin/env bash
# The first of the two commands: installs what is missing, builds for what is here, and compares every operator on every
# device of this machine.
set -euo pipefail

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  cat <<'TEXT'
usage: scripts/compare.sh [ARGUMENTS OF tessera bench]

Installs what is missing, builds into build/compare, lists the devices of this machine and measures every operator on each
of them. Every result is checked before its speed is printed. CUDA images are built for the cards that nvidia-smi shows, or
for none. Running it again costs the measurement alone.

Without arguments: everything (tessera bench --all) in five to six minutes: of every case the variant that the library takes,
its next best one and other people's libraries that are here, from small cases to large ones until the time is spent. With
--all --budget 1800 there is half an hour for it. The records go to build/compare/results.json and, as a page to open and
pass on, to build/compare/report.html; with --json FILE to that file alone.

examples:
  scripts/compare.sh
  scripts/compare.sh --all --budget 1800
  scripts/compare.sh all --device cuda:0 --most-work 3
  scripts/compare.sh gemm --device cuda:0 --case 'float32_m4096_*'
  scripts/compare.sh cnn_layer --device cpu:0,opencl:0 --variant implicit_gemm --json result.json
TEXT
  exit 0
fi
root=$(cd "$(dirname "$0")/.." && pwd)

# images_for CAPABILITY: the entry of TESSERA_CUDA_ARCHITECTURES that serves a card of this compute capability, from those
# that a full build makes (CMakeLists.txt); nothing for a card that no image serves.
images_for() {
  case "$1" in
    7.5) echo 75 ;;
    8.*) echo 80 ;;
    9.*) echo 90a ;;
    [1-9][0-9].*) echo ptx90 ;;
  esac
}

# Sets `cuda` to what configure is told of CUDA, and says why. A folder of its own keeps such images out of build/release.
choose_cuda() {
  local capabilities capability image images=()
  cuda=(-DTESSERA_BACKEND_CUDA=OFF)
  capabilities=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sort -u || true)
  for capability in $capabilities; do
    image=$(images_for "$capability")
    [[ -z $image || " ${images[*]} " == *" $image "* ]] || images+=("$image")
  done
  if [[ ${#images[@]} -eq 0 ]]; then
    echo "compare: no CUDA images are built: nvidia-smi shows no card that they would serve (the preset release builds them)"
    return
  fi
  local list
  list=$(IFS=";"; echo "${images[*]}")
  cuda=(-DTESSERA_BACKEND_CUDA=AUTO "-DTESSERA_CUDA_ARCHITECTURES=$list")
  echo "compare: CUDA images are built for the cards that nvidia-smi shows: compute capability ${capabilities//$'\n'/, }"
}

"$root/scripts/setup.sh"
choose_cuda
build=$root/build/compare
(cd "$root" && cmake --preset release -B "$build" -DTESSERA_TESTS=OFF -DTESSERA_EXAMPLES=OFF -DTESSERA_BENCHMARKS=OFF \
  "${cuda[@]}" && cmake --build "$build" --target tessera_program)
tessera=$build/bin/tessera

echo
"$tessera" devices
echo
if [[ $# -eq 0 ]]; then
  set -- --all
fi
if [[ " $* " == *" --json"* ]]; then
  exec "$tessera" bench "$@"
fi
result=0
"$tessera" bench "$@" --json "$build/results.json" || result=$?
# What is measured is shown, also where a variant failed or Ctrl-C ended it.
if [[ -s $build/results.json ]] && "$tessera" report "$build/results.json" -o "$build/report.html"; then
  echo "compare: open $build/report.html, or pass it on; the records are in $build/results.json"
fi
exit "$result"
