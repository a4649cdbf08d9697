#!/bin/bash
# Install, upgrade, roll back or remove novuss as a service. Run it again at any time: it changes only what is not as it should be.
#
#   sudo systemd/install.sh                 install or upgrade from this checkout
#   sudo systemd/install.sh rollback        back to the version before
#   sudo systemd/install.sh remove          take it off; settings and match logs stay
#   sudo systemd/install.sh remove --purge  settings and match logs too
#
# DESTDIR=/some/root installs into another root (an image being built); nothing is started there.
# PYTHON and PIP_ARGS are handed on, SOURCE is what pip installs (default: this checkout).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${DESTDIR:-}
source=${SOURCE:-$(dirname "$here")}
python=${PYTHON:-/usr/bin/python3}
opt=$root/opt/novuss
etc=$root/etc/novuss
units="novuss.service novuss-board.service"
# Versions kept: the one that runs, and the one to roll back to.
keep=2

say() { echo "novuss: $*" >&2; }
die() { say "$*"; exit 1; }

# Whether this is the running system, with systemd as its first process.
running() { [ -z "$root" ] && [ -d /run/systemd/system ]; }

# put SOURCE TARGET MODE: only when different, and never half.
put() {
  cmp -s "$1" "$2" && return
  install -D -m "$3" "$1" "$2.new"
  mv -f "$2.new" "$2"
  say "wrote $2"
}

# keep TARGET MODE: from stdin, only when there is none; what a person wrote stays.
put_once() {
  [ -e "$1" ] && { cat > /dev/null; return; }
  mkdir -p "$(dirname "$1")"
  (umask 077 && cat > "$1.new")
  chmod "$2" "$1.new"
  mv "$1.new" "$1"
  say "wrote $1"
}

point() { # point LINK VERSION, at once: there is no moment without a current version
  ln -sfn "versions/$2" "$opt/$1.new"
  mv -T "$opt/$1.new" "$opt/$1"
}

version_of() { [ -L "$opt/$1" ] && basename "$(readlink "$opt/$1")"; }

check() {
  [ -n "$root" ] || [ "$(id -u)" = 0 ] || die "needs root: sudo $0"
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || die "$python is older than 3.11; set PYTHON"
  "$python" -c 'import venv, ensurepip' 2> /dev/null || die "venv is missing: apt install python3-venv"
}

# fit_camera_library PYTHON: the system's simplejpeg is built for the system's numpy, pip may have brought a newer one; a build for that goes
# beside it. Without the camera library everything else works, so that nothing here is a reason to stop.
fit_camera_library() {
  "$1" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("picamera2") is None)' || return 0
  "$1" -c 'import picamera2' 2> /dev/null && return 0
  # shellcheck disable=SC2086 # several arguments are meant
  "$1" -m pip install --quiet --disable-pip-version-check ${PIP_ARGS:-} --ignore-installed --no-deps simplejpeg || true
  "$1" -c 'import picamera2' 2> /dev/null || say "picamera2 is there and cannot be imported: $("$1" -c 'import picamera2' 2>&1 | tail -n 1)"
}

install_version() {
  local new old
  new=$(date +%Y%m%d-%H%M%S)-$$
  old=$(version_of current || true)
  mkdir -p "$opt/versions"
  # libcamera and picamera2 come from the system's packages: a plain environment would not see them.
  "$python" -m venv --system-site-packages "$opt/versions/$new"
  # shellcheck disable=SC2086 # several arguments are meant
  "$opt/versions/$new/bin/python" -m pip install --quiet --disable-pip-version-check ${PIP_ARGS:-} "$source" \
    || { rm -rf "$opt/versions/$new"; die "pip could not install $source; the version that was there goes on running"; }
  fit_camera_library "$opt/versions/$new/bin/python"
  "$opt/versions/$new/bin/novuss" --version > /dev/null \
    || { rm -rf "$opt/versions/$new"; die "the new version does not start; the version that was there goes on running"; }
  [ -z "$old" ] || point previous "$old"
  point current "$new"
  say "version $new installed"
  find "$opt/versions" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort -r | tail -n +$((keep + 1)) | while read -r name; do
    [ "$name" = "$(version_of current)" ] || [ "$name" = "$(version_of previous || true)" ] || rm -rf "${opt:?}/versions/$name"
  done
}

install_system_files() {
  for unit in $units; do put "$here/$unit" "$root/etc/systemd/system/$unit" 644; done
  put "$here/mosquitto.service.d/novuss.conf" "$root/etc/systemd/system/mosquitto.service.d/novuss.conf" 644
  put "$here/novuss.sysusers" "$root/etc/sysusers.d/novuss.conf" 644
  put "$here/70-novuss.rules" "$root/etc/udev/rules.d/70-novuss.rules" 644
  [ ! -d "$root/etc/NetworkManager" ] || put "$here/novuss-wifi.conf" "$root/etc/NetworkManager/conf.d/novuss-wifi.conf" 644
  # A machine set up before there was a settings file goes on with its arguments.
  [ -e "$etc/novuss.env" ] || put_once "$etc/novuss.toml" 644 < "$here/novuss.toml"
  for secret in mqtt-password:1 board-password:board; do
    local from="$etc/broker/passwords/${secret#*:}"
    if [ -r "$from" ]; then put_once "$etc/${secret%:*}" 600 < "$from"; else put_once "$etc/${secret%:*}" 600 < /dev/null; fi
  done
}

make_broker() {
  [ ! -e "$etc/broker/mosquitto.conf" ] || return 0
  if ! command -v mosquitto_passwd > /dev/null || ! command -v openssl > /dev/null; then
    say "no broker made: apt install mosquitto openssl, then run this again"
    return 0
  fi
  "$opt/current/bin/novuss" broker "$etc/broker" --table 1
}

# An older version's access list refuses the topics that came since. Nobody's password changes, and an image's broker is renewed too.
renew_broker() {
  [ ! -e "$etc/broker/acl" ] || "$opt/current/bin/novuss" broker "$etc/broker" --renew \
    || say "the broker's access list could not be renewed; see: novuss doctor"
}

restart() {
  running || return 0
  systemd-sysusers
  udevadm control --reload && udevadm trigger --subsystem-match=video4linux --subsystem-match=media --subsystem-match=dma_heap
  systemctl daemon-reload
  systemctl enable --quiet $units
  systemctl restart mosquitto.service novuss-board.service
  # Not waited for: there is nothing to watch before `novuss setup`, and afterwards it is ready once the camera and the broker are.
  systemctl restart --no-block novuss.service
}

remove() {
  if running; then systemctl disable --now --quiet $units || true; fi
  for unit in $units; do rm -f "$root/etc/systemd/system/$unit"; done
  rm -rf "$root/etc/systemd/system/mosquitto.service.d/novuss.conf" "$root/etc/sysusers.d/novuss.conf" \
    "$root/etc/udev/rules.d/70-novuss.rules" "$root/etc/NetworkManager/conf.d/novuss-wifi.conf" "$opt"
  if [ "${1:-}" = --purge ]; then rm -rf "$etc" "$root/var/lib/novuss"; else say "settings stay in $etc, match logs in $root/var/lib/novuss"; fi
  if running; then systemctl daemon-reload && systemctl try-restart mosquitto.service; fi
}

case ${1:-install} in
  install)
    check
    install_version
    [ -n "$root" ] || make_broker
    renew_broker
    install_system_files
    restart
    ;;
  rollback)
    check
    before=$(version_of previous) || die "there is no version to go back to"
    now=$(version_of current)
    point current "$before"
    point previous "$now"
    restart
    say "back to $before"
    ;;
  remove)
    [ -n "$root" ] || [ "$(id -u)" = 0 ] || die "needs root: sudo $0 remove"
    remove "${2:-}"
    ;;
  *)
    sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
