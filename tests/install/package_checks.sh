#!/usr/bin/env bash
# Sourced by the install tests: how an installed tree is used by somebody else's projects.
# Arguments of each test: cmake, the build folder, a folder to work in, the C++ compiler.
set -euo pipefail

if [[ $# -ne 4 ]]; then
  echo "usage: $0 CMAKE BUILD_FOLDER WORK_FOLDER COMPILER" >&2
  exit 2
fi
# shellcheck disable=SC2034  # used by those who source this
cmake=$1 build=$2 work=$3 compiler=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# What the machine has installed, and what the build tree holds, must not be what is found.
unset TESSERA_DEVICE TESSERA_BACKENDS TESSERA_BACKEND_PATH LD_LIBRARY_PATH CMAKE_PREFIX_PATH PKG_CONFIG_PATH
rm -rf "$work"
mkdir -p "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# library_folder <prefix>: where libtessera lies, which depends on the distribution.
library_folder() {
  local found
  found=$(find "$1" -name libtessera.so -printf '%h\n')
  [[ -n $found ]] || fail "there is no libtessera.so under $1"
  printf '%s\n' "$found"
}

# configure_and_build <project> <build folder> <prefix> [cmake arguments]
configure_and_build() {
  local project=$1 folder=$2 prefix=$3
  shift 3
  "$cmake" -S "$project" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_COMPILER=$compiler" \
    "-DCMAKE_PREFIX_PATH=$prefix" "$@" >"$folder.log" 2>&1 || { cat "$folder.log"; fail "configuring $project"; }
  "$cmake" --build "$folder" >>"$folder.log" 2>&1 || { cat "$folder.log"; fail "building $project"; }
}

# use_with_cmake <name> <prefix>: finds the package, builds the consumer, runs it.
use_with_cmake() {
  configure_and_build "$here/consumer" "$work/$1" "$2"
  "$work/$1/consumer" "$(library_folder "$2")"
}

# use_with_pkg_config <name> <prefix>
use_with_pkg_config() {
  local folder flags
  folder=$(library_folder "$2")
  flags=$(PKG_CONFIG_PATH=$folder/pkgconfig pkg-config --cflags --libs tessera) || fail "pkg-config does not find tessera"
  # shellcheck disable=SC2086  # several flags
  "$compiler" -std=c++20 "$here/consumer/consumer.cpp" -o "$work/$1" $flags "-Wl,-rpath,$folder"
  "$work/$1" "$folder"
}

# build_own_backend <name> <prefix>: the smallest backend, as installed, built outside of the tree.
build_own_backend() {
  local template
  template=$(find "$2" -path '*/tessera/minimal_backend/minimal_backend.cpp')
  [[ -n $template ]] || fail "the template minimal_backend.cpp is not installed"
  configure_and_build "$here/own_backend" "$work/$1" "$2" "-DTEMPLATE=$template"
}
