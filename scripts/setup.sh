#!/usr/bin/env bash
# Installs what building and testing Tessera needs and this machine lacks, on Debian and Ubuntu; elsewhere prints the
# list. Costs nothing when everything is there. CUDA is optional and never installed: it is used where nvcc is present.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/setup.sh [--print] [--with-intel-opencl]

Installs the packages that building and testing Tessera needs and that this machine lacks (apt-get, as root or through
sudo). On other systems, or without the right to install, it prints what is missing and goes on if the rest suffices.

  --print               say what would be installed and install nothing; exit code 1 if something required is missing
  --with-intel-opencl   also put Intel's OpenCL runtime for CPUs into build/opencl-intel, from PyPI (225 MB to fetch,
                        830 MB there), so that the tests run on a second OpenCL driver; without a network, or a Python
                        that makes virtual environments, it says so and goes on. The system is left as it is
  --help                this text

example: scripts/setup.sh --print
TEXT
}

print_only=no
with_intel_opencl=no
for argument in "$@"; do
  case "$argument" in
    --print) print_only=yes ;;
    --with-intel-opencl) with_intel_opencl=yes ;;
    --help | -h) usage; exit 0 ;;
    *) echo "setup.sh: unknown argument '$argument'; see --help" >&2; exit 2 ;;
  esac
done

# need | Debian package | how its presence is seen elsewhere | what it is for
requirements='
required|g++|command c++|the C++20 compiler
required|cmake|command cmake|the build, 3.25 or newer
required|ninja-build|command ninja|the build
required|git|command git|the commit that result files name
required|pkg-config|command pkg-config|the test of the installed package
required|libtbb-dev|header tbb/task_arena.h|oneTBB, under the backend cpu_tbb
required|libhwy-dev|header hwy/highway.h|Highway, SIMD chosen at run time, under the backend cpu_tbb
required|opencl-c-headers|header CL/cl.h|the OpenCL headers, under the backend opencl
required|ocl-icd-libopencl1|library libOpenCL.so.1|the loader that finds OpenCL drivers
required|pocl-opencl-icd|file /etc/OpenCL/vendors/*|an OpenCL driver: PoCL, on the CPU
required|libcli11-dev|header CLI/CLI.hpp|the command line of the program tessera
required|nlohmann-json3-dev|header nlohmann/json.hpp|result files
required|libfmt-dev|header fmt/format.h|tables on the terminal
required|libpng-dev|header png.h|the images of tessera convolve and tessera denoise
required|zlib1g-dev|header zlib.h|packed files of tessera classify and tessera denoise
required|libtiff-dev|header tiffio.h|the TIFF volumes of tessera denoise
required|libgtest-dev|header gtest/gtest.h|the tests
optional|ccache|command ccache|building a second time at no cost
optional|clang-format|command clang-format|the check of formatting
optional|clang|command clang++|a second compiler: it builds for AddressSanitizer, and its warnings are looked at too
optional|libclang-rt-dev|file /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.asan-*.a|the AddressSanitizer of clang
optional|oclgrind|command oclgrind|running OpenCL kernels under a race checker
optional|valgrind|command valgrind|counting the data reads of the versions of conv2d
optional|libopencv-imgproc-dev|file /usr/include/opencv4/opencv2/imgproc.hpp|OpenCV beside conv2d, under the variant vendor_opencv (33 MB)
optional|python3|command python3|the checks of the tables in docs/
optional|dpkg-dev|command dpkg-shlibdeps|the dependencies of the .deb
'

has_header() {
  command -v c++ >/dev/null || return 1
  printf '#if !__has_include(<%s>)\n#error absent\n#endif\n' "$1" | c++ -std=c++20 -E -x c++ - >/dev/null 2>&1
}

# True if the package, or what it brings from elsewhere, is there.
is_there() {
  local package=$1 kind=${2%% *} what=${2#* }
  if command -v dpkg-query >/dev/null &&
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]]; then
    return 0
  fi
  case "$kind" in
    command) command -v "$what" >/dev/null ;;
    header) has_header "$what" ;;
    library) { ldconfig -p 2>/dev/null || /sbin/ldconfig -p; } | grep -q -F "$what" ;;
    file) compgen -G "$what" >/dev/null ;;
  esac
}

# Fills required_missing and optional_missing with package names, and prints a line for each.
find_missing() {
  required_missing=() optional_missing=()
  local need package seen purpose
  while IFS='|' read -r need package seen purpose; do
    [[ -n $need ]] || continue
    if ! is_there "$package" "$seen"; then
      if [[ $need == required ]]; then required_missing+=("$package"); else optional_missing+=("$package"); fi
      printf '  %-20s %s, %s\n' "$package" "$need" "$purpose"
    fi
  done <<<"$requirements"
}

# Sets `apt` to the command that may install; fails if there is no right to.
find_apt() {
  apt=(env DEBIAN_FRONTEND=noninteractive apt-get -y -q)
  if [[ $EUID -ne 0 ]]; then
    command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; } || return 1
    apt=(sudo "${apt[@]}")
  fi
}

install_missing() {
  echo "setup: installing the above through: ${apt[*]} install --no-install-recommends"
  # A source that does not answer must not stop us if the others know the packages.
  "${apt[@]}" update </dev/null || echo "setup: apt-get update failed, going on with the lists that are there" >&2
  if [[ ${#required_missing[@]} -gt 0 ]]; then
    "${apt[@]}" install --no-install-recommends "${required_missing[@]}" </dev/null
  fi
  if [[ ${#optional_missing[@]} -gt 0 ]]; then
    # One by one, because apt-get installs nothing where it does not know one of several names.
    local package
    for package in "${optional_missing[@]}"; do
      "${apt[@]}" install --no-install-recommends "$package" </dev/null ||
        echo "setup: going on without: $package" >&2
    done
  fi
}

check_cmake_version() {
  local version
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
  if [[ $(printf '%s\n' 3.25 "$version" | sort -V | head -n 1) != 3.25 ]]; then
    echo "setup: cmake is $version, but must be at least 3.25 (Ubuntu 22.04 brings 3.22). Install a newer one from" >&2
    echo "       https://cmake.org/download or with 'snap install cmake --classic', put it first in PATH, run again." >&2
    return 1
  fi
}

# Intel's runtime in a virtual environment of its own, and an ICD file that names it: nothing finds it but who sets
# OCL_ICD_VENDORS to that folder.
intel_opencl_folder=$(dirname "$(dirname "$(realpath "$0")")")/build/opencl-intel
install_intel_opencl() {
  local folder=$intel_opencl_folder
  if [[ -s $folder/vendors/intel.icd && -e $(<"$folder/vendors/intel.icd") ]]; then
    echo "setup: Intel's OpenCL runtime is in $folder"
    return
  fi
  echo "setup: installing Intel's OpenCL runtime for CPUs into $folder"
  rm -rf "$folder"
  if ! python3 -m venv "$folder/python" >/dev/null 2>&1; then
    echo "setup: going on without it: python3 makes no virtual environment here (Debian: python3-venv)" >&2
  elif ! "$folder/python/bin/pip" --quiet --disable-pip-version-check --timeout 20 --retries 1 --no-cache-dir \
    install intel-opencl-rt intel-cmplr-lib-rt </dev/null; then
    echo "setup: going on without it: pip does not install intel-opencl-rt" >&2
  elif [[ ! -e $folder/python/lib/libintelocl.so ]]; then
    echo "setup: going on without it: this version of intel-opencl-rt has no lib/libintelocl.so" >&2
  else
    mkdir -p "$folder/vendors"
    echo "$folder/python/lib/libintelocl.so" >"$folder/vendors/intel.icd"
    return
  fi
  rm -rf "$folder"
}

missing_list=$(mktemp)
trap 'rm -f "$missing_list"' EXIT
find_missing >"$missing_list"
missing=("${required_missing[@]}" "${optional_missing[@]}")

if [[ ${#missing[@]} -gt 0 ]]; then
  echo "setup: not on this machine (names of Debian packages):"
  cat "$missing_list"
  if [[ $print_only == yes ]]; then
    [[ ${#required_missing[@]} -eq 0 ]] || exit 1
  elif ! command -v apt-get >/dev/null; then
    echo "setup: this is neither Debian nor Ubuntu; install the above with this system's package manager" >&2
    [[ ${#required_missing[@]} -eq 0 ]] || exit 1
  elif ! find_apt; then
    echo "setup: installing needs root or sudo. As root: apt-get install --no-install-recommends ${missing[*]}" >&2
    [[ ${#required_missing[@]} -eq 0 ]] || exit 1
  else
    install_missing
  fi
else
  echo "setup: everything needed is on this machine"
fi
[[ $print_only == yes && -z $(command -v cmake) ]] || check_cmake_version

nvcc=$(command -v nvcc || compgen -G '/usr/local/cuda*/bin/nvcc' | head -n 1 || true)
echo "setup: CUDA toolkit: ${nvcc:-none (optional: the backend cuda stays off)}"
if [[ $with_intel_opencl == yes && $print_only == no ]]; then install_intel_opencl; fi
