#!/usr/bin/env bash
# What an NVIDIA GPU did while a variant ran, by NVIDIA's ncu: occupancy, shares of what compute and memory can do, hit
# rates of the caches, and what threads waited for. Writes JSON that scripts/study.py shows in docs/studies.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/profile_gpu.sh [options] OPERATOR VARIANT[:NAME=VALUE,...]...

Each variant computes the operator's study case once under ncu. What stands behind a variant forces its tuning:
naive:down_columns=1. Needs ncu (NVIDIA Nsight Compute) in PATH or where CUDA installs it, and permission to read the
GPU's counters.

  --tessera PROGRAM    the tool (default: the newest of build/*/bin/tessera)
  --device NAME        default: cuda:0
  --problem WORDS      another problem, as `tessera bench --problem` takes it
  --json FILE          adds the profiles to FILE, made if it is not there (default: profile.json)
  --keep FOLDER        keeps ncu's tables there
  --help               this text

example: scripts/profile_gpu.sh --json benchmarks/results/h200-2026-11-25-profile.json conv2d naive naive:down_columns=1 tiled
TEXT
}

root=$(cd "$(dirname "$0")/.." && pwd)
tessera="" device=cuda:0 problem="" json=profile.json keep=""
while [[ ${1:-} == --* ]]; do
  case "$1" in
    --tessera | --device | --problem | --json | --keep) (($# >= 2)) || { usage >&2; exit 2; } ;;&
    --tessera) tessera=$2; shift 2 ;;
    --device) device=$2; shift 2 ;;
    --problem) problem=$2; shift 2 ;;
    --json) json=$2; shift 2 ;;
    --keep) keep=$2; shift 2 ;;
    --help) usage; exit 0 ;;
    *) echo "profile_gpu.sh: unknown option '$1'; see --help" >&2; exit 2 ;;
  esac
done
(($# >= 2)) || { usage >&2; exit 2; }
operator=$1
shift

find_ncu() {
  command -v ncu && return
  local candidate
  for candidate in /usr/local/cuda/bin/ncu /opt/nvidia/nsight-compute/*/ncu; do
    if [[ -x $candidate ]]; then echo "$candidate"; return; fi
  done
  echo "profile_gpu.sh: ncu is not installed; it comes with CUDA's toolkit (package nsight-compute)" >&2
  return 1
}
ncu=$(find_ncu)
if [[ -z $tessera ]]; then
  # shellcheck disable=SC2012
  tessera=$(ls -t "$root"/build/*/bin/tessera 2>/dev/null | head -n 1) || true
  [[ -n $tessera ]] || { echo "profile_gpu.sh: there is no build/*/bin/tessera; name one with --tessera" >&2; exit 1; }
fi
# The published studies' own cases.
if [[ -z $problem ]]; then
  case "$operator" in
    gemm) problem=m=2048,n=2048,k=2048,type=float32 ;;
    conv2d) problem=height=4096,width=4096,filter_height=7,filter_width=7,type=int32 ;;
    cnn_layer) problem=input_channels=256,output_channels=256,height=228,width=228,filter_height=5,filter_width=5,pool_size=2 ;;
    kernel_regression) problem=training_rows=60000,columns=784,queries=1000,type=uint8,scale=0.00392156862745098 ;;
    patch_match) problem=size=176x120x75,patch=4x4x4,window=11x11x11,step=3x3x3,max_patches=16,type=uint8 ;;
    *) echo "profile_gpu.sh: no study's case of '$operator' is known; name one with --problem" >&2; exit 1 ;;
  esac
fi

folder=${keep:-$(mktemp -d)}
[[ -n $keep ]] || trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"
failed=0
for wanted in "$@"; do
  variant=${wanted%%:*}
  settings=()
  if [[ $wanted == *:* ]]; then
    IFS=, read -ra pairs <<<"${wanted#*:}"
    for pair in "${pairs[@]}"; do settings+=(--set "$pair"); done
  fi
  table=$folder/$operator-${wanted//[:=,]/-}.csv
  # The first launch of each kernel counts; the clocks stay as they are. ncu repeats a launch until it has read all.
  "$ncu" --clock-control none --csv --page raw --print-units base --log-file "$table" \
    --kernel-name "regex:^tessera_(?!fill)" --launch-count 4 \
    --section SpeedOfLight --section Occupancy --section WarpStateStats --section MemoryWorkloadAnalysis \
    "$tessera" verify "$operator" --device "$device" --variant "$variant" --problem "$problem" "${settings[@]}" \
    >"$table.log" 2>&1 || { echo "profile_gpu.sh: $operator $wanted failed:" >&2; tail -n 5 "$table.log" "$table" >&2; failed=1; continue; }
  python3 "$(dirname "$0")/profile_records.py" --operator "$operator" --variant "$wanted" --device "$device" \
    --problem "$problem" --ncu "$("$ncu" --version | grep -o 'Version [^ ]*' | head -n 1)" --json "$json" "$table" || failed=1
done
exit "$failed"
