#!/usr/bin/env bash
# Makes a Python environment with the real trainers (TRL and what it needs, CPU only) once, and reuses it.
#   scripts/consume_venv.sh FOLDER_WITH_SCRIPTS VENV
set -euo pipefail
scripts=$1 venv=$2
mark=$venv/.complete-$(sha256sum "$scripts/requirements-slim.txt" | cut -c1-16)
[ -f "$mark" ] && exit 0
command -v python3 >/dev/null || { echo "no python3"; exit 1; }
rm -rf "$venv"
python3 -m venv "$venv"
timeout 900 "$venv/bin/pip" install --quiet --no-deps -r "$scripts/requirements-slim.txt"
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
python3 "$scripts/cpu_torch_stubs.py" "$site" >/dev/null
"$venv/bin/python" -c 'import torch, transformers, trl' >/dev/null
touch "$mark"
