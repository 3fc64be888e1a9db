#!/usr/bin/env bash
# Fetch axe-core (MPL-2.0) for the browser tests, which ask it what screen readers would stumble over. Where there is no
# npm, or no network, that one test is skipped and says so.
set -euo pipefail
. "$(dirname "$0")/common.sh"

folder="$(dirname "$0")/../.tools/axe"
[ -f "$folder/node_modules/axe-core/axe.min.js" ] && exit 0
command -v npm >/dev/null 2>&1 || { say "no npm: the test with axe-core will be skipped."; exit 0; }
mkdir -p "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$folder" axe-core@4 >/dev/null 2>&1 ||
    say "axe-core could not be fetched: the test with it will be skipped."
