#!/usr/bin/env bash
# Everything that is checked and measured on a machine with an NVIDIA GPU, from a staged folder (scripts/stage.sh): the
# tests on all devices, compute-sanitizer, the library's cost beside the driver, benchmark and studies. Builds nothing.
set -euo pipefail

all_stages=(devices conformance misuse memcheck racecheck verify overhead bench study)
usage() {
  cat <<TEXT
usage: scripts/gpu_check.sh [OPTIONS] FOLDER RESULTS [ARGUMENTS OF tessera bench]

FOLDER is what scripts/stage.sh left; logs and JSON files are written to the folder RESULTS. Exit code 0 only if every
stage passed. The arguments of tessera bench are for the stages bench and study, which adds --study to them.

stages: ${all_stages[*]}

  --only STAGE[,STAGE...]  these alone
  --shards N               processes at once in conformance, memcheck and racecheck (default: one for each processor)
  --part K/N               of these three stages the K-th of N parts, for a machine that is lent for minutes
  --filter FILTER          of these three stages the tests that GoogleTest's filter names: 'gemm/cuda_0/register.*'
  --limit SECONDS          bench and study each end after so long as by Ctrl-C, with the records so far; the stage fails
  --help                   this text

environment:
  TESSERA_REQUIRE   backends whose absence is a failure (default here: every one in the list, FOLDER/backends.txt)
TEXT
}

stages=("${all_stages[@]}")
shards=$(nproc)
part=1/1
filter=""
limit=0
while [[ ${1:-} == -* ]]; do
  case "$1" in
    --only) IFS=, read -r -a stages <<<"${2:?--only needs the names of stages}"; shift 2 ;;
    --shards) shards=${2:?--shards needs a number}; shift 2 ;;
    --part) part=${2:?--part needs K/N}; shift 2 ;;
    --limit) limit=${2:?--limit needs seconds}; shift 2 ;;
    --filter) filter=${2:?--filter needs a filter}; shift 2 ;;
    --help | -h) usage; exit 0 ;;
    *) echo "gpu_check.sh: unknown argument '$1'; see --help" >&2; exit 2 ;;
  esac
done
if [[ $# -lt 2 ]]; then
  usage >&2
  exit 2
fi
for stage in "${stages[@]}"; do
  if [[ " ${all_stages[*]} " != *" $stage "* ]]; then
    echo "gpu_check.sh: there is no stage '$stage'; the stages are: ${all_stages[*]}" >&2
    exit 2
  fi
done
if [[ ! $shards =~ ^[1-9][0-9]*$ || ! $part =~ ^[1-9][0-9]*/[1-9][0-9]*$ ]] || ((${part%/*} > ${part#*/})); then
  echo "gpu_check.sh: --shards is '$shards' and --part '$part', but must be a number from 1, and K/N with K up to N" >&2
  exit 2
fi
bin=$(cd "$1/bin" && pwd)
staged=$(cd "$1" && pwd)
mkdir -p "$2"
results=$(cd "$2" && pwd)
shift 2
bench_arguments=("$@")
study_arguments=("$@")
if [[ $# -eq 0 ]]; then
  bench_arguments=(all --device all --variant all --time-limit 5)
  study_arguments=(all --device all)
fi
if [[ -z ${TESSERA_REQUIRE:-} ]]; then TESSERA_REQUIRE=$(awk '!/^#/ {print $1}' "$staged/backends.txt" | paste -sd,); fi
export TESSERA_REQUIRE

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TESSERA_CACHE_DIR=${TESSERA_CACHE_DIR:-$scratch/cache} POCL_CACHE_DIR=${POCL_CACHE_DIR:-$scratch/pocl-cache}

# The OpenCL loader knows drivers by the files in one folder. Where NVIDIA's file is missing beside its driver, and where
# the staged folder brings PoCL, a folder of our own names them all.
find_opencl_drivers() {
  local vendors=$scratch/vendors library place
  mkdir -p "$vendors"
  cp /etc/OpenCL/vendors/*.icd "$vendors/" 2>/dev/null || true
  if ! grep -qs nvidia "$vendors"/*.icd; then
    for place in "$(ldconfig -p 2>/dev/null | awk '/libnvidia-opencl\.so\.1/ {print $NF; exit}')" \
      /usr/local/nvidia/lib64/libnvidia-opencl.so.1; do
      [[ ! -f $place ]] || { echo "$place" >"$vendors/nvidia.icd"; break; }
    done
  fi
  if [[ -f $staged/pocl.tar.xz ]] && ! grep -qs pocl "$vendors"/*.icd; then
    mkdir -p "$scratch/pocl"
    tar -C "$scratch/pocl" -xJf "$staged/pocl.tar.xz"
    library=$(find "$scratch/pocl/lib" -name libpocl.so.2)
    echo "$library" >"$vendors/pocl.icd"
    pocl_libraries=$(dirname "$library")
  fi
  export OCL_ICD_VENDORS=$vendors
}
pocl_libraries=""
find_opencl_drivers
# What the programs' libraries need in turn lies beside them too.
export LD_LIBRARY_PATH=$staged/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# PoCL's own libraries are for the program alone, not for this shell's tools.
with_drivers() { env ${pocl_libraries:+"LD_LIBRARY_PATH=$pocl_libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"} "$@"; }

# in_shards FILTER COMMAND...: the conformance tests that the filter names, as several processes at once that share them
# out; with --part their K-th part alone. COMMAND runs a program with what it needs. A shard that fails is printed, and
# is a failure of the whole; what the others say goes to a file.
in_shards() {
  local program=$bin/tessera_conformance_test tests=$1 listed count=$shards index status failures=0 log
  local parts=${part#*/} first ran=0 passed=0 skipped=0 start=$SECONDS pids=()
  shift
  listed=$(with_drivers "$program" --gtest_list_tests "--gtest_filter=$tests" | grep -c '^  ' || true)
  # A program that has nothing to run fails, so there are no more shards than tests.
  ((count * parts <= listed)) || count=$((listed / parts))
  if ((count == 0)); then
    echo "FAILED: the filter names $listed tests, which is too few for $parts parts: $tests"
    return 1
  fi
  first=$(((${part%/*} - 1) * count))
  for ((index = 0; index < count; ++index)); do
    GTEST_TOTAL_SHARDS=$((count * parts)) GTEST_SHARD_INDEX=$((first + index)) \
      "$@" "$program" --gtest_brief=1 "--gtest_filter=$tests" >"$scratch/shard.$index" 2>&1 &
    pids+=($!)
  done
  for ((index = 0; index < count; ++index)); do
    status=0
    wait "${pids[index]}" || status=$?
    log=$scratch/shard.$index
    ran=$((ran + $(number_before "$log" 'tests? from')))
    passed=$((passed + $(number_after "$log" 'PASSED')))
    skipped=$((skipped + $(number_after "$log" 'SKIPPED')))
    if ((status != 0)); then
      failures=$((failures + 1))
      echo "--- shard $((index + 1)) of $count ended with status $status:"
      grep -vE ': Skipped$|^(unsupported|skipped): ' "$log" || true
    else
      { echo "--- shard $((index + 1)) of $count"; cat "$log"; } >>"$results/shards.txt"
    fi
  done
  echo "$listed tests, part $part in $count shards: $ran ran, $passed passed, $skipped skipped, $((SECONDS - start)) s"
  if ((failures > 0 || ran == 0)); then
    echo "FAILED: $failures of $count shards"
    return 1
  fi
}
# From the last lines that GoogleTest prints: "[==========] 98 tests from ...", "[  PASSED  ] 79 tests."
number_before() { sed -nE "s/^\[=+\] ([0-9]+) $2 .*/\1/p" "$1" | tail -n 1 | grep . || echo 0; }
number_after() { sed -nE "s/^\[ +$2 +\] ([0-9]+) tests?\.?.*/\1/p" "$1" | tail -n 1 | grep . || echo 0; }

# Tests of the API look at times, so nothing else may run beside them.
api_filter='api/*:FloorTest.*:DeviceTest.*'
# Slow cases take 8 to 24 GiB of a card, and fail where others have taken them: so many at once as find room.
slow_shards_of_card() {
  local mebibytes
  mebibytes=$(nvidia-smi --query-gpu=memory.total --format=csv,noheader,nounits 2>/dev/null | sort -n | head -n 1)
  echo $((${mebibytes:-0} / (64 * 1024) > 1 ? ${mebibytes:-0} / (64 * 1024) : 1))
}
conformance() {
  if [[ -n $filter ]]; then
    in_shards "$filter" with_drivers
    return
  fi
  local result=0
  if [[ ${part%/*} == 1 ]]; then
    with_drivers "$bin/tessera_conformance_test" --gtest_brief=1 "--gtest_filter=$api_filter" || result=1
  fi
  in_shards "*-$api_filter:*/slow.*" with_drivers || result=1
  local slow_shards
  slow_shards=$(slow_shards_of_card)
  local shards=$((shards < slow_shards ? shards : slow_shards))
  in_shards "*/slow.*" with_drivers || result=1
  return "$result"
}

# Kernels of the backend cuda alone, our own, on cases that straddle tiles and are small enough for the sanitizer's pace.
sanitizer_filter='gemm/cuda_0/*m3?_*:gemm/cuda_0/*m18_*:gemm/cuda_0/*m17_*:gemm/cuda_0/*m13?_*:conv2d/cuda_0/*h20_*'
sanitizer_filter+=':conv2d/cuda_0/*h45_*:conv2d/cuda_0/*h19_*:cnn_layer/cuda_0/*c31_o33_*:cnn_layer/cuda_0/*c9_o13_*'
sanitizer_filter+=':cnn_layer/cuda_0/*c5_o11_*nhwc*:cnn_layer/cuda_0/*batch2*'
# Volumes, rows and stacks that no tile divides, in each type; step and basic estimate of denoise apart and together.
small_sets='kernel_regression/cuda_0/*_n17_d19_q5_*:kernel_regression/cuda_0/*_n300_d67_q70_*'
small_sets+=':patch_match/cuda_0/*_19x14x11_p4x3x2_w7x6x5_s3x2x4_n16*:patch_match/cuda_0/*_23x18x17_p4x4x4_*'
small_sets+=':patch_match/cuda_0/*_21x14x11_p4x4x4_*'
small_sets+=':patch_match/cuda_0/box_sums.uint8_25x17x14_p4x4x4_*'
small_sets+=':denoise/cuda_0/fused*_40x45x19*odd_columns:denoise/cuda_0/fused*_dense'
small_sets+=':denoise/cuda_0/*_23x18x13_*:denoise/cuda_0/*_53x37x1_*:denoise/cuda_0/*_29x31x1_*'
small_sets+=':nonlocal_means/cuda_0/*_23x18x13_*:nonlocal_means/cuda_0/*_53x37x1_*'
sanitizer_filter+=":$small_sets:-*/slow.*:*vendor*"
# racecheck takes seconds for a test. Of gemm what reaches every kernel once: each transpose, tile and way of splitting k
# (none, in a cluster, in parts), with rows that begin at 16 bytes (m132) and that do not (m33), and a batch.
race_filter='gemm/cuda_0/*_m12_n10_k1030*:gemm/cuda_0/naive.*_m33_n17_*:gemm/cuda_0/tiled.*_m33_n17_*'
race_filter+=':gemm/cuda_0/coalesced_a.*_m33_n17_*:conv2d/cuda_0/*h20_*:conv2d/cuda_0/*h45_*:conv2d/cuda_0/*h19_*'
for size in m132_n136 m33_n17; do
  for split in 1 2 4; do race_filter+=":gemm/cuda_0/register.*_${size}_*__split_k_${split}_*"; done
  for variant in shallow split scaled_half split_mma scaled_half_mma; do
    race_filter+=":gemm/cuda_0/$variant.*_${size}_*"
  done
done
race_filter+=':cnn_layer/cuda_0/*c31_o33_*:cnn_layer/cuda_0/*c9_o13_*nhwc*'
race_filter+=":$small_sets:-*/slow.*:*vendor*"
# sanitize TOOL FILTER
sanitize() {
  local sanitizer
  sanitizer=$({ command -v compute-sanitizer || compgen -G '/usr/local/cuda*/bin/compute-sanitizer' ||
    compgen -G '/usr/local/cuda*/compute-sanitizer/compute-sanitizer'; } | head -n 1)
  [[ -n $sanitizer ]] || { echo "compute-sanitizer is not on this machine"; return 1; }
  TESSERA_REQUIRE=cuda TESSERA_BACKENDS=cuda in_shards "${filter:-$2}" \
    "$sanitizer" --tool "$1" --error-exitcode 9 --launch-timeout 120
}

run_stage() {
  case "$1" in
    devices)
      nvidia-smi || true
      lscpu | grep -E '^(Model name|CPU\(s\)|Socket)' || true
      with_drivers "$bin/tessera" devices --json "$results/devices.json"
      ;;
    conformance) conformance ;;
    misuse) with_drivers "$bin/tessera_misuse_test" --gtest_brief=1 ;;
    memcheck) sanitize memcheck "$sanitizer_filter" ;;
    racecheck) sanitize racecheck "$race_filter" ;;
    verify) with_drivers "$bin/tessera" verify --json "$results/verify.json" ;;
    overhead) with_drivers "$bin/tessera_overhead" --json "$results/overhead.json" ;;
    bench) with_drivers timeout --signal=INT "$limit" "$bin/tessera" bench "${bench_arguments[@]}" --json "$results/bench.json" ;;
    study) with_drivers timeout --signal=INT "$limit" "$bin/tessera" bench "${study_arguments[@]}" --study --json "$results/study.json" ;;
  esac
}

rows=()
failed=0
for stage in "${stages[@]}"; do
  echo
  echo "=== $stage"
  start=$SECONDS
  if run_stage "$stage" 2>&1 | tee "$scratch/$stage.log" | tail -n 40; then
    rows+=("$(printf '%-12s passed %5d s' "$stage" $((SECONDS - start)))")
  else
    failed=$((failed + 1))
    rows+=("$(printf '%-12s FAILED %5d s' "$stage" $((SECONDS - start)))")
  fi
  { echo "=== $stage"; cat "$scratch/$stage.log"; } >>"$results/log.txt"
done

echo
printf '%s\n' "${rows[@]}" | tee -a "$results/log.txt"
((failed == 0)) || exit 1
