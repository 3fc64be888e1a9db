#!/usr/bin/env bash
# Find a chess engine, or install Stockfish: apt (with sudo if not root), Homebrew, the WASM build from npm.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/common.sh

usual_places=(/usr/games /usr/local/games /usr/local/bin /opt/homebrew/bin /usr/bin "$PWD/.tools/bin")
found() {
    local folder name
    for name in stockfish fairy-stockfish ethereal-chess ethereal; do  # any of them will do
        command -v "$name" >/dev/null 2>&1 && return 0
        for folder in "${usual_places[@]}"; do
            [ -x "$folder/$name" ] && return 0
        done
    done
    return 1
}
found && exit 0

apt_install stockfish
found && exit 0
if command -v brew >/dev/null 2>&1; then
    say "installing Stockfish with Homebrew ..."
    brew install --quiet stockfish || say "Homebrew could not install it."
    found && exit 0
fi
if command -v npm >/dev/null 2>&1 && command -v node >/dev/null 2>&1; then
    say "installing the WASM build of Stockfish from npm (about 2.5 times slower than a native one) ..."
    mkdir -p .tools/bin
    npm install --silent --no-fund --no-audit --prefix .tools stockfish >/dev/null 2>&1 || say "npm could not install it."
    script=$(find .tools/node_modules/stockfish -name 'stockfish*single*.js' -not -name '*lite*' 2>/dev/null | sort | head -n 1)
    [ -n "$script" ] || script=$(find .tools/node_modules/stockfish -name 'stockfish*.js' 2>/dev/null | sort | head -n 1)
    if [ -n "$script" ]; then
        printf '#!/bin/sh\nexec node "%s/%s" "$@"\n' "$PWD" "$script" > .tools/bin/stockfish
        chmod +x .tools/bin/stockfish
        found && exit 0
    fi
fi
say "no chess engine found and none could be installed. Install Stockfish (https://stockfishchess.org) and put it on PATH."
exit 1
