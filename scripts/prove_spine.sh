#!/usr/bin/env bash
# Redoes the spine's proof for real: the 29 failed tau-bench retail runs go in, reviewed pairs come out, TRL reads the files
# unchanged and its log-probs equal ours.
#
#   TRIAGENT_CONSUME_VENV   Python environment with TRL (see consume/README.md of the shared folder)   [required]
#   TRIAGENT_CONSUME        folder of dpo.py, sft.py and make_tiny_model.py                            [../shared/consume]
#   TRIAGENT_REAL_LOGS      folder of the logs that other projects wrote                               [../shared/real-logs]
#   TRIAGENT_BIN            the program                                                                [cargo build --release]
#   TRIAGENT_RECORD         write TRL's values into this file, for tests/spine.rs                       [not written]
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
venv=${TRIAGENT_CONSUME_VENV:?names a Python environment with TRL; consume/README.md says how to make one}
consume=${TRIAGENT_CONSUME:-$here/../shared/consume}
logs=${TRIAGENT_REAL_LOGS:-$here/../shared/real-logs}
for need in "$venv/bin/python" "$consume/dpo.py" "$logs/tau-bench/retail-failed-29.json"; do
  [ -e "$need" ] || { echo "missing: $need" >&2; exit 1; }
done

cd "$here"
program=${TRIAGENT_BIN:-}
if [ -z "$program" ]; then
  cargo build --quiet --release
  program=$here/target/release/triagent
fi
work=$(mktemp -d)
[ -n "${TRIAGENT_KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
"$venv/bin/python" "$consume/make_tiny_model.py" --out "$work/tiny" >/dev/null 2>&1
"$venv/bin/python" scripts/prove_spine.py walk --triagent "$program" --logs "$logs" --work "$work"
for format in dpo sft; do
  "$venv/bin/python" "$consume/$format.py" --data "$work/out/trl-$format/train.jsonl" --model "$work/tiny" --steps 0 \
    >"$work/$format.json" 2>"$work/$format.err" || { cat "$work/$format.err" >&2; cat "$work/$format.json" >&2; exit 1; }
done
"$venv/bin/python" scripts/prove_spine.py compare --work "$work" ${TRIAGENT_RECORD:+--record "$TRIAGENT_RECORD"}
