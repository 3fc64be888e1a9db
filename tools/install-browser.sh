#!/usr/bin/env bash
# Find a Chromium for the browser tests and for PDF, or install Debian's with apt (with sudo if not root).
set -euo pipefail
. "$(dirname "$0")/common.sh"

found() {
    local name
    for name in chromium chromium-browser google-chrome; do
        command -v "$name" >/dev/null 2>&1 && return 0
    done
    return 1
}
found && exit 0

apt_install chromium
found && exit 0
say "no Chromium found and none could be installed. Install Chromium or Chrome and put it on PATH."
exit 1
