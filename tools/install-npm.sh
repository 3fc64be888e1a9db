#!/usr/bin/env bash
# install-npm.sh FOLDER PACKAGE@VERSION: fetch a package of npm for the tests into .tools/FOLDER. axe-core (MPL-2.0) tells what
# screen readers would stumble over, chessops (GPL-3.0) reads PGN as Lichess does. Where there is no npm, or no network,
# the test that wants the package is skipped and says so.
set -euo pipefail
. "$(dirname "$0")/common.sh"

folder="$(dirname "$0")/../.tools/$1" name="${2%@*}"
[ -f "$folder/node_modules/$name/package.json" ] && exit 0
command -v npm >/dev/null 2>&1 || { say "no npm: the test with $name will be skipped."; exit 0; }
mkdir -p "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$folder" "$2" >/dev/null 2>&1 ||
    say "$name could not be fetched: the test with it will be skipped."
