#!/usr/bin/env bash
# The main job on the sample that ships with the package.
set -euo pipefail
cd "$(dirname "$0")/.."
assay --version
