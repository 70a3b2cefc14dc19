#!/usr/bin/env bash
# Holds every file in the tree to the rules of style that a machine can check: formatting, names, lengths, opening
# comments, the documents' links, how the environment is read, and that what the README quotes is what the example says.
# Needs no build.
# shellcheck disable=SC2016  # single quotes hold what an inner bash expands
set -euo pipefail

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  cat <<'TEXT'
usage: scripts/check_style.sh

Checks every tracked or new file; prints each finding and exits with 1 if there is one. Formatting is checked with
clang-format 14, whose output other versions do not reproduce: without it that one check is skipped, and says so,
unless TESSERA_REQUIRE is set, which makes the skip a failure.
TEXT
  exit 0
fi
cd "$(dirname "$0")/.."

findings=0
finding() {
  printf '%s\n' "$1"
  findings=$((findings + 1))
}

list_files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard
  else
    find . \( -path ./build -o -path ./stage -o -path ./.git \) -prune -o -type f -printf '%P\n'
  fi | sort -u | while IFS= read -r file; do [[ ! -f $file ]] || printf '%s\n' "$file"; done
}

mapfile -t files < <(list_files)
cpp=() headers=() code=() shell=() documents=()
for file in "${files[@]}"; do
  case "$file" in
    *.h | *.cuh) cpp+=("$file") headers+=("$file") code+=("$file") ;;
    *.cpp | *.cu) cpp+=("$file") code+=("$file") ;;
    *.cl | *.cmake | CMakeLists.txt | */CMakeLists.txt | *.py) code+=("$file") ;;
    *.md) documents+=("$file") ;;
    *.sh | .ci/run) code+=("$file") shell+=("$file") ;;
  esac
done

check_formatting() {
  local tool="" candidate file
  for candidate in clang-format-14 clang-format; do
    if command -v "$candidate" >/dev/null && "$candidate" --version | grep -q 'version 14\.'; then
      tool=$candidate
      break
    fi
  done
  if [[ -z $tool ]]; then
    if [[ -n ${TESSERA_REQUIRE:-} ]]; then
      finding "formatting: clang-format 14 is not on this machine, but TESSERA_REQUIRE is set"
    else
      echo "formatting: skipped, clang-format 14 is not on this machine"
    fi
    return
  fi
  # Starting the program takes longer than what it does: many files at once, and one by one where a lot is refused.
  while IFS= read -r file; do
    [[ -z $file ]] || finding "$file: is not formatted; run: $tool -i $file"
  done < <(printf '%s\0' "${cpp[@]}" | TOOL=$tool xargs -0 -n 25 -P "$(nproc)" bash -c '
    "$TOOL" --dry-run -Werror "$@" >/dev/null 2>&1 && exit
    for file; do "$TOOL" --dry-run -Werror "$file" >/dev/null 2>&1 || echo "$file"; done' _ | sort)
}

check_names_and_lengths() {
  local file lines opening place
  for file in "${code[@]}"; do
    case "${file##*/}" in
      utils* | util.* | misc* | common* | helpers* | helper.*) finding "$file: is named after nothing in particular" ;;
    esac
    [[ ${file##*/} =~ ^[a-z0-9_]+(\.[a-z0-9_]+)*$|^CMakeLists\.txt$|^Tessera[A-Za-z]*\.cmake$ ]] ||
      finding "$file: file names are in snake_case"
    lines=$(wc -l <"$file")
    ((lines <= 300)) || finding "$file: has $lines lines, but must have at most 300"
    opening=$(head -n 1 "$file")
    [[ $opening != '#!'* ]] || opening=$(sed -n 2p "$file")
    [[ $opening == //* || $opening == '# '* || $opening == '"""'* ]] ||
      finding "$file:1: does not open with a comment that says what the file is responsible for"
  done
  for file in "${headers[@]}"; do
    # Highway includes some headers once for every instruction set.
    grep -qE '^#pragma once$|== defined\(HWY_TARGET_TOGGLE\)$' "$file" || finding "$file: has no #pragma once"
  done
  # clang-format leaves comments as they are written, so their width is checked here.
  while IFS= read -r place; do
    [[ -z $place ]] || finding "$place: has more than 120 characters"
  done < <(LC_ALL=C.UTF-8 grep -nE '^.{121}' "${cpp[@]}" /dev/null | cut -d: -f1,2)
  for file in "${shell[@]}"; do
    grep -qE '^set -eu(o pipefail)?$' "$file" || finding "$file: does not set -euo pipefail (-eu in sh)"
    [[ -x $file ]] || finding "$file: is not executable"
  done
  while IFS= read -r place; do
    [[ -z $place ]] || finding "$place: a bare TODO"
  done < <(grep -nE '\b(TODO|FIXME|XXX)\b' "${code[@]}" /dev/null | grep -v '^scripts/check_style.sh:' | cut -d: -f1,2)
}

# A suite ends in Test, and a test's name says in lower case what holds.
check_test_names() {
  local place
  while IFS= read -r place; do
    [[ -z $place ]] || finding "$place: must read TEST(SomethingTest, what_holds_in_lower_case)"
  done < <(printf '%s\n' "${cpp[@]}" | grep '^tests/' | xargs awk '
    /^(TYPED_)?TEST(_F|_P)?\(/ {
      line = $0
      place = FILENAME ":" FNR
      while (line !~ /\)/ && (getline rest) > 0) line = line rest
      if (line !~ /\([A-Z][A-Za-z0-9]*Test, *(DISABLED_)?[a-z][a-z0-9_]*\)/) print place
    }')
}

# A program that runs with rights that its caller has not must not take paths from the caller's environment.
check_environment() {
  local place
  while IFS= read -r place; do
    [[ -z $place ]] || finding "$place: reads the environment, but not with secure_getenv"
  done < <(printf '%s\n' "${cpp[@]}" | grep -E '^(api|backends|tools)/' |
    xargs grep -nE '(^|[^_[:alnum:]])getenv *\(|envname *\(' /dev/null | cut -d: -f1,2)
}

# A quote stands in README.md between "<!-- quote FILE -->" and "<!-- end quote -->", in a fence; it is the whole file
# but for its opening comment.
check_quotes() {
  local file quoted original
  if [[ ! -f README.md ]] || ! grep -q '^<!-- quote ' README.md; then
    finding "README.md: quotes no example"
    return
  fi
  while IFS= read -r file; do
    if [[ ! -f $file ]]; then
      finding "README.md: quotes $file, which is not there"
      continue
    fi
    quoted=$(awk -v start="<!-- quote $file -->" '
      $0 == start {inside = 1; next} $0 == "<!-- end quote -->" {inside = 0}
      inside && !/^```/' README.md)
    original=$(awk 'started || !/^\/\// {started = 1; print}' "$file")
    [[ $quoted == "$original" ]] || finding "README.md: its quote of $file differs from the file"
  done < <(sed -n 's/^<!-- quote \(.*\) -->$/\1/p' README.md)
}

# Relative links of the documents must lead somewhere.
check_links() {
  local file link target
  for file in "${documents[@]}"; do
    while IFS= read -r link; do
      target=${link%%#*}
      [[ -z $target || -e $(dirname "$file")/$target ]] || finding "$file: links to $target, which is not there"
    done < <(grep -oE '\]\([^)]+\)' "$file" | sed 's/^](\(.*\))$/\1/' | grep -vE '^[a-z]+:' || true)
  done
}

# The numbers of README, docs/speed.md, docs/classify.md and studies must be those of the committed result files, the newest of each kind.
check_speed() {
  command -v python3 >/dev/null || return 0
  scripts/speed_table.py --check || finding "README.md, docs/speed.md, docs/classify.md: their numbers are not those of benchmarks/results"
  scripts/study.py --check || finding "docs/studies: its numbers are not those of benchmarks/results"
}

# What is compiled for each instruction set lies in a namespace of that set, which all operators share, and the linker takes
# one of two functions of the same name for both. So each file has a namespace of its own there.
check_instruction_sets() {
  local file stem
  for file in "${cpp[@]}"; do
    grep -q '::HWY_NAMESPACE {$' "$file" || continue
    stem=${file##*/}
    grep -q "^inline namespace ${stem%.*} {\$" "$file" ||
      finding "$file: has no 'inline namespace ${stem%.*}' in HWY_NAMESPACE, so that its names may be another file's, too"
  done
}

# Code and documents name a decision by its number.
check_decisions() {
  local number
  while IFS= read -r number; do
    [[ -z $number ]] || finding "docs/decisions: several decisions have the number $number"
  done < <(printf '%s\n' "${documents[@]}" | sed -nE 's|^docs/decisions/([0-9]+)-.*|\1|p' | sort | uniq -d)
}

check_formatting
check_names_and_lengths
check_instruction_sets
check_decisions
check_test_names
check_environment
check_quotes
check_links
check_speed
if ((findings > 0)); then
  echo "style: $findings findings in ${#files[@]} files"
  exit 1
fi
echo "style: ${#files[@]} files, nothing found"
