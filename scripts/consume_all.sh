#!/usr/bin/env bash
# Feeds every export to the real trainers and says what each made of it.
#
#   scripts/consume_all.sh [ROOT]
#
# ROOT holds one folder a format (trl-dpo, verl-sft, …), as `triagent export FORMAT --out ROOT/FORMAT` leaves them;
# without ROOT the test fixture writes them. Needs a Python with torch, transformers, trl and datasets
# (TRIAGENT_CONSUME_PYTHON) and the consumer scripts (TRIAGENT_CONSUME, by default ../shared/consume). Where they are
# absent it says so and exits 0. LLaMA-Factory and verl are fetched as bare wheels (2 MB) unless
# TRIAGENT_CONSUME_WHEELS names a folder that holds them unpacked as `llamafactory` and `verl`.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
python=${TRIAGENT_CONSUME_PYTHON:-python3}
consume=${TRIAGENT_CONSUME:-$here/../shared/consume}
if [ ! -f "$consume/dpo.py" ] || ! "$python" -c "import torch, transformers, trl, datasets" 2>/dev/null; then
  echo "skipped: no consumer scripts or no Python with torch, transformers, trl and datasets (set TRIAGENT_CONSUME_PYTHON)"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=${1:-$work/out}
if [ $# -eq 0 ]; then
  (cd "$here" && TRIAGENT_CONSUME_DIR="$root" cargo test --quiet --test triagent every_format_writes >/dev/null)
fi
wheels=${TRIAGENT_CONSUME_WHEELS:-$work/wheels}
if [ ! -d "$wheels/verl" ] || [ ! -d "$wheels/llamafactory" ]; then
  mkdir -p "$wheels"
  "$python" -m pip download --quiet --no-deps --dest "$wheels" verl==0.9.1 llamafactory==0.9.5 || echo "skipped: LLaMA-Factory and verl could not be fetched"
  for wheel in "$wheels"/*.whl; do
    [ -f "$wheel" ] && "$python" -m zipfile -e "$wheel" "$wheels/$(basename "$wheel" | cut -d- -f1)"
  done
fi
"$python" "$consume/make_tiny_model.py" --out "$work/tiny" >/dev/null 2>&1
failed=0
# name, script, file, more options
trl() {
  local name=$1 script=$2 file=$3; shift 3
  [ -f "$file" ] || return 0
  "$python" "$consume/$script" --data "$file" --model "$work/tiny" "$@" >"$work/report.json" 2>"$work/errors" || true
  "$python" - "$name" "$work/report.json" <<'PY' || failed=1
import json, sys
name, path = sys.argv[1:]
try:
    r = json.load(open(path))
except ValueError:
    print(f"FAIL {name}: no report"); sys.exit(1)
changed, dropped = r.get("data", {}).get("rows_changed_by_reader"), r.get("rows_dropped_by_trainer", 0)
cut, same = r.get("rows_cut", 0), r.get("same_pairs", 0)
good = r.get("ok") and changed == [] and not (dropped or cut or same)
loss = [round(s["loss"], 6) for s in (r.get("steps") or r.get("log") or [])]
print(f"{'ok  ' if good else 'FAIL'} {name}: rows {r.get('data', {}).get('rows')} changed {changed} dropped {dropped} cut {cut} loss {loss} {r.get('message', '')}")
sys.exit(0 if good else 1)
PY
}
trl trl-sft sft.py "$root/trl-sft/train.jsonl"
trl trl-sft-messages sft.py "$root/trl-sft-messages/train.jsonl" --assistant-only
trl trl-dpo dpo.py "$root/trl-dpo/train.jsonl"
trl trl-kto kto.py "$root/trl-kto/train.jsonl"
trl trl-grpo grpo.py "$root/trl-grpo/train.jsonl"
if [ -d "$wheels/llamafactory" ]; then
  "$python" "$here/scripts/consume_others.py" --data "$root" --model "$work/tiny" --llamafactory "$wheels/llamafactory" 2>"$work/errors" | grep '^{' || { failed=1; tail -3 "$work/errors"; }
fi
if [ -d "$wheels/verl" ]; then
  "$python" "$here/scripts/consume_others.py" --data "$root" --model "$work/tiny" --verl "$wheels/verl" 2>"$work/errors" | grep '^{' || { failed=1; tail -3 "$work/errors"; }
fi
exit $failed
