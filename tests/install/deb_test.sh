#!/usr/bin/env bash
# Builds the .deb, reads its facts, unpacks it to a folder and uses what is in it.
set -euo pipefail
# shellcheck source=tests/install/package_checks.sh
source "$(dirname "$0")/package_checks.sh"

for tool in dpkg-deb dpkg-shlibdeps; do
  if ! command -v "$tool" >/dev/null; then
    echo "skipped: $tool is not on this machine"
    exit 77
  fi
done
(cd "$build" && "$(dirname "$cmake")/cpack" -G DEB -B "$work/cpack") >"$work/cpack.log" 2>&1 ||
  { cat "$work/cpack.log"; fail "cpack"; }
deb=$(find "$work/cpack" -maxdepth 1 -name '*.deb')
[[ -f $deb ]] || fail "cpack leaves no .deb"

field() { dpkg-deb --field "$deb" "$1"; }
[[ $(field Package) == tessera ]] || fail "the package's name is $(field Package)"
[[ $(field Maintainer) == "Tessera maintainers" ]] || fail "the maintainer is $(field Maintainer)"
[[ $(field Depends) == *libtbb* ]] || fail "the package depends on '$(field Depends)', but must name oneTBB"
[[ $(field Depends) != *opencl* && $(field Depends) != *cuda* ]] ||
  fail "the package depends on '$(field Depends)', but drivers are opened, not linked"
[[ $(field Depends) != *opencv* ]] || fail "the package depends on '$(field Depends)', but OpenCV is only compared with"

dpkg-deb --contents "$deb" >"$work/contents"
for pattern in '/bin/tessera$' '/libtessera\.so\.[0-9]+ ->' '/tessera/libtessera_cpu_tbb\.so$' '/tesseraConfig\.cmake$' \
  '/pkgconfig/tessera\.pc$' '/include/tessera/tessera\.h$' '/include/tessera/version\.h$' \
  '/include/tessera_seam/backend/backend\.h$' '/LICENSE$'; do
  grep -qE "$pattern" "$work/contents" || { cat "$work/contents"; fail "the package holds nothing like $pattern"; }
done
if grep -E '_test$|tessera_overhead' "$work/contents"; then fail "the package holds test programs"; fi

dpkg-deb -x "$deb" "$work/root"
use_with_cmake consumer "$work/root/usr"
"$work/root/usr/bin/tessera" devices | grep -F cpu:0 >/dev/null || fail "the packaged program does not list cpu:0"
echo "install.deb: all right"
