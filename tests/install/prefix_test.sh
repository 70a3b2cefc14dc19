#!/usr/bin/env bash
# Installs to a folder; builds and runs a consumer with find_package and one with pkg-config; builds a backend of its
# own against the seam; then moves the folder and does it again.
set -euo pipefail
# shellcheck source=tests/install/package_checks.sh
source "$(dirname "$0")/package_checks.sh"

"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log" || { cat "$work/install.log"; fail "installing"; }
use_with_cmake cmake_first "$work/first"
use_with_pkg_config pkg_config_first "$work/first"

# Moved: what is built there works, and nothing points back.
mv "$work/first" "$work/moved"
use_with_cmake cmake_moved "$work/moved"
use_with_pkg_config pkg_config_moved "$work/moved"
"$work/moved/bin/tessera" devices | grep -F cpu:0 >/dev/null || fail "the moved program tessera does not list cpu:0"
left=$(grep -rlF "$work/first" "$work/moved" || true)
[[ -z $left ]] || fail "the old folder's name is still in: $left"

# A backend of its own, seen through $TESSERA_BACKEND_PATH and used, while ours stay.
build_own_backend own_backend "$work/moved"
TESSERA_BACKEND_PATH=$work/own_backend/plugins "$work/own_backend/see_backend"
if TESSERA_BACKEND_PATH='' "$work/own_backend/see_backend" 2>"$work/absent.log"; then
  fail "the own backend is found although no path leads to it"
fi
# What is linked with OpenCV is installed on request alone. Without it its variant is refused, with the file's name; with it
# the variant runs from the moved folder. It lies among the plug-ins and must not be taken for one.
module=tessera_cpu_tbb_opencv.so
verify_beside_opencv() {
  "$work/moved/bin/tessera" verify conv2d --device cpu:0 --variant vendor_opencv --case float32_h35_w53_f3x3_same
}
verify_beside_opencv >"$work/without_module.log" && fail "vendor_opencv runs, but $module is not installed"
grep -F "$module: cannot open shared object file" "$work/without_module.log" >/dev/null ||
  { cat "$work/without_module.log"; fail "the refusal does not name $module"; }
if [[ -f $build/lib/tessera/$module ]]; then
  "$cmake" --install "$build" --prefix "$work/moved" --component cpu_tbb_opencv >"$work/install_module.log"
  verify_beside_opencv >"$work/with_module.log" || { cat "$work/with_module.log"; fail "vendor_opencv with $module"; }
  plugins=$(library_folder "$work/moved")/tessera
  [[ -f $plugins/$module ]] || fail "$module is not in $plugins"
  TESSERA_BACKEND_PATH=$plugins "$work/moved/bin/tessera" devices >"$work/devices.log"
  if grep -F cpu_tbb_opencv "$work/devices.log"; then fail "$module is taken for a plug-in"; fi
fi
echo "install.prefix: all right"
