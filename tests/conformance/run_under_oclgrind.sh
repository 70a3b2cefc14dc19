#!/bin/sh
# Runs a conformance test program with Oclgrind as the only OpenCL device, looking for races and bad accesses.
#
#   run_under_oclgrind.sh clean|finds LOG PROGRAM [ARGUMENTS...]
#
# `clean`: succeeds if the program does and Oclgrind had nothing to say. `finds`: succeeds if Oclgrind reports a race;
# it shows that the first can fail. Oclgrind's findings do not change the program's exit status: they stand in the log.
set -eu

if [ $# -lt 3 ] || { [ "$1" != clean ] && [ "$1" != finds ]; }; then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
expectation=$1
log=$2
shift 2

runtime=
for candidate in ${OCLGRIND_ICD:-} /usr/lib/oclgrind/liboclgrind-rt-icd.so /usr/local/lib/liboclgrind-rt-icd.so; do
  if [ -e "$candidate" ]; then
    runtime=$candidate
    break
  fi
done
if [ -z "$runtime" ]; then
  echo "skipped: Oclgrind is not installed (package oclgrind); \$OCLGRIND_ICD names liboclgrind-rt-icd.so elsewhere"
  exit 77
fi

# The plug-in opens the ICD loader itself, so that Oclgrind's preload wrapper would not be met: it comes in as a vendor.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo "$runtime" > "$folder/oclgrind.icd"
rm -f "$log"

# Oclgrind goes through all work-items in one order, so that a case's second run would take its time and show nothing.
status=0
OCL_ICD_VENDORS="$folder/oclgrind.icd" \
  OCLGRIND_DATA_RACES=1 OCLGRIND_LOG="$log" OCLGRIND_MAX_ERRORS=20 \
  TESSERA_TEST_SECOND_RUN_OF=0 \
  TESSERA_CACHE_DIR="$folder/cache" TESSERA_REQUIRE=opencl "$@" || status=$?

if [ ! -e "$log" ]; then
  echo "FAILED: Oclgrind wrote no log, so it did not run (the program's status is $status)"
  exit 1
fi
if [ -s "$log" ]; then
  echo "Oclgrind reports:"
  cat "$log"
fi
if [ "$expectation" = finds ]; then
  if grep -qi "data race" "$log"; then exit "$status"; fi
  echo "FAILED: the planted race was not found"
  exit 1
fi
if [ -s "$log" ]; then
  echo "FAILED: the log is not empty"
  exit 1
fi
exit "$status"
