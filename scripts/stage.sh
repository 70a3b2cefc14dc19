#!/usr/bin/env bash
# Builds the preset release and lays everything that a machine without build tools needs to test and measure Tessera
# into one folder that can be moved: the install tree, the test programs and the libraries that they stand on.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/stage.sh [--pocl] [FOLDER]

Leaves the tree in FOLDER (default: stage, which git ignores; replaced if it is there). With FOLDER/lib in
$LD_LIBRARY_PATH it runs on any x86-64 Linux with a C library as new as this machine's.

  --pocl    add pocl.tar.xz: this machine's PoCL with LLVM, for a machine that has no OpenCL driver for its CPU
  --help    this text

example: scripts/stage.sh && scripts/gpu_check.sh stage results
TEXT
}

with_pocl=no
folder=stage
for argument in "$@"; do
  case "$argument" in
    --pocl) with_pocl=yes ;;
    --help | -h) usage; exit 0 ;;
    -*) echo "stage.sh: unknown argument '$argument'; see --help" >&2; exit 2 ;;
    *) folder=$argument ;;
  esac
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

(cd "$root" && cmake --preset release && cmake --build --preset release)
rm -rf "${folder:?}"/*
cmake --install "$root/build/release" --prefix "$folder" --strip >/dev/null
cmake --install "$root/build/release" --prefix "$folder" --strip --component tests >/dev/null
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
