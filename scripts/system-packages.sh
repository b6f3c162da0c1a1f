#!/usr/bin/env bash
# Programs that Corpus calls and pip cannot bring. Installs the missing ones as root on Debian and its kin,
# otherwise says what to install. Their absence stops nothing: the formats that need them fail with a message.
set -euo pipefail

packages=()
need() { # PROGRAM PACKAGE...
  command -v "$1" >/dev/null 2>&1 || packages+=("${@:2}")
}
need tesseract tesseract-ocr tesseract-ocr-osd
need soffice libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui
ldconfig -p 2>/dev/null | grep -q 'libmagic\.so\.1' || packages+=(libmagic1)

[ ${#packages[@]} -eq 0 ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing ${packages[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
else
  echo "missing programs; on Debian or Ubuntu install them with:"
  echo "  sudo apt-get install ${packages[*]}"
fi
