#!/usr/bin/env bash
# Find a Chromium for the browser tests and for PDF, or install Debian's with apt (with sudo if not root).
set -euo pipefail
say() { printf 'assay set-up: %s\n' "$*" >&2; }

found() {
    local name
    for name in chromium chromium-browser google-chrome; do
        command -v "$name" >/dev/null 2>&1 && return 0
    done
    return 1
}
found && exit 0

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null 2>&1; then sudo "$@"; else return 1; fi
}
if command -v apt-get >/dev/null 2>&1; then
    say "installing Chromium with apt ..."
    export DEBIAN_FRONTEND=noninteractive
    { as_root apt-get update -qq && as_root apt-get install -y -qq --no-install-recommends chromium; } >/dev/null 2>&1 \
        || say "apt could not install it."
    found && exit 0
fi
say "no Chromium found and none could be installed. Install Chromium or Chrome and put it on PATH."
exit 1
