#!/usr/bin/env bash
# Runs TRL's DPO trainer on an exported file and compares its log-probs, margins and losses with ours.
#
#   scripts/compare_with_trl.sh PYTHON CONSUME_DIR [PAIRS.jsonl [MODEL_DIR [REF_DIR]]]
#
# PYTHON has torch, transformers and trl; CONSUME_DIR holds dpo.py and make_tiny_model.py. Without a
# model, two tiny ones are made (a Llama policy and a Qwen2 reference). Takes about a minute.
set -euo pipefail
python=$1 consume=$2
data=${3:-$consume/samples/dpo.jsonl}
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
model=${4:-$work/policy} ref=${5:-$work/reference}
if [ ! -e "$model" ]; then "$python" "$consume/make_tiny_model.py" --out "$model" --arch llama --seed 0 >/dev/null; fi
if [ ! -e "$ref" ]; then "$python" "$consume/make_tiny_model.py" --out "$ref" --arch qwen2 --seed 7 >/dev/null; fi
"$python" "$consume/dpo.py" --data "$data" --model "$model" --ref "$ref" --steps 0 >"$work/report.json"
cd "$root"
TRIAGENT_TRL_MODEL=$model TRIAGENT_TRL_REF=$ref TRIAGENT_TRL_DATA=$(realpath "$data") TRIAGENT_TRL_REPORT=$work/report.json \
    cargo test --test triagent score::trl -- --nocapture
