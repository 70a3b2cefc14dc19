#!/usr/bin/env bash
# Builds a preset (release) and lays everything that a machine without build tools needs to test and measure Tessera
# into one folder that can be moved: the install tree, the test programs and the libraries that they stand on.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/stage.sh [--pocl] [--preset NAME] [FOLDER]

Leaves the tree in FOLDER (default: stage, which git ignores; replaced if it is there). With FOLDER/lib in
$LD_LIBRARY_PATH it runs on any x86-64 Linux with a C library as new as this machine's.

  --pocl          add pocl.tar.xz: this machine's PoCL with LLVM, for a machine that has no OpenCL driver for its CPU
  --preset NAME   build this one instead of release: ci is optimised alike, has CUDA images for fewer cards, and is
                  there already after the tests, but for those images where no card was there
  --help          this text

example: scripts/stage.sh && scripts/gpu_check.sh stage results
TEXT
}

with_pocl=no
preset=release
folder=stage
while [[ $# -gt 0 ]]; do
  case "$1" in
    --pocl) with_pocl=yes ;;
    --preset) preset=${2:?--preset needs a name}; shift ;;
    --help | -h) usage; exit 0 ;;
    -*) echo "stage.sh: unknown argument '$1'; see --help" >&2; exit 2 ;;
    *) folder=$1 ;;
  esac
  shift
done
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if [[ -n $(ls -A "$folder") && ! -x $folder/bin/tessera ]]; then
  echo "stage.sh: $folder is not empty and holds no staged tree; name another folder" >&2
  exit 1
fi

# needed_libraries <files...>: paths of the shared libraries that the files load, without the C and C++ runtime, which
# belongs to the system.
needed_libraries() {
  ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|libtessera)\.so' || true
}

(cd "$root" && cmake --preset "$preset" && cmake --build --preset "$preset")
rm -rf "${folder:?}"/*
cmake --install "$root/build/$preset" --prefix "$folder" --strip >/dev/null
cmake --install "$root/build/$preset" --prefix "$folder" --strip --component tests >/dev/null
# gpu_check.sh demands every backend that is in the list.
cp "$root/backends/backends.txt" "$folder/"
library_folder=$(dirname "$(find "$folder" -name libtessera.so)")

mapfile -t binaries < <(find "$folder/bin" "$library_folder" -type f \( -perm -u+x -o -name '*.so*' \))
mapfile -t libraries < <(needed_libraries "${binaries[@]}")
# The OpenCL loader is opened at run time, so that ldd does not know of it.
loader=$({ ldconfig -p 2>/dev/null || /sbin/ldconfig -p; } | awk '/libOpenCL\.so\.1 .*x86-64/ {print $NF; exit}')
cp -L "${libraries[@]}" ${loader:+"$loader"} "$library_folder/"

# PoCL finds its kernels relative to itself; of these only what servers of today need.
stage_pocl() {
  local pocl tree=$folder/pocl-tree arch
  pocl=$(sed -n 1p /etc/OpenCL/vendors/pocl.icd)
  [[ $pocl == /* ]] || pocl=$({ ldconfig -p 2>/dev/null || /sbin/ldconfig -p; } | awk -v n="$pocl" '$1 == n {print $NF; exit}')
  [[ -f $pocl ]] || pocl=$(compgen -G "/usr/lib/*/${pocl:-libpocl.so.2}*" | head -n 1)
  arch=$(basename "$(dirname "$pocl")")
  mkdir -p "$tree/lib/$arch/pocl" "$tree/share/pocl"
  cp -L "$pocl" "$tree/lib/$arch/libpocl.so.2"
  cp "$(dirname "$pocl")"/pocl/*.so "$tree/lib/$arch/pocl/"
  mapfile -t libraries < <(needed_libraries "$pocl" "$tree/lib/$arch"/pocl/*.so)
  cp -L "${libraries[@]}" "$tree/lib/$arch/"
  cp -r /usr/share/pocl/include "$tree/share/pocl/"
  cp /usr/share/pocl/kernel-*-{GENERIC,avx2,avx512}.bc "$tree/share/pocl/"
  tar -C "$tree" -c . | xz -T0 --x86 --lzma2=preset=9 >"$folder/pocl.tar.xz"
  rm -rf "$tree"
}
if [[ $with_pocl == yes ]]; then stage_pocl; fi

size=$(du -sm "$folder" | cut -f1)
echo "stage: $folder, $size MiB"
if ((size >= 60)); then
  echo "stage: the folder must stay under 60 MiB" >&2
  exit 1
fi
