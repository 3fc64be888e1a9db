#!/usr/bin/env bash
# make-venv.sh PYTHON FOLDER: a virtual environment, or a sentence that says what is missing.
set -euo pipefail
python=$1 folder=$2
. "$(dirname "$0")/common.sh"

if ! command -v "$python" >/dev/null 2>&1; then
    say "'$python' is not installed. Install Python 3.11 or newer, or name it: make PYTHON=/path/to/python3.11"
    exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    say "$("$python" --version) is too old: Assay needs 3.11 or newer. Name a newer one: make PYTHON=/path/to/python3.11"
    exit 1
fi
if ! "$python" -m venv "$folder"; then
    rm -rf "$folder"
    say "the module venv is missing. On Debian and Ubuntu: sudo apt-get install python3-venv"
    exit 1
fi
