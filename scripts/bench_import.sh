#!/usr/bin/env bash
# Measures import against `jq -c .` on the same files in the same run, in turn, three times each.
#   scripts/bench_import.sh CORPUS_DIR      (made by scripts/make_corpus.py)
# Needs jq and GNU time. Prints seconds, MB/s, peak memory and the ratio; nothing is asserted.
set -euo pipefail
cd "$(dirname "$0")/.."
corpus=$1 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo build --release --locked --quiet
bytes=$(cat "$corpus"/* | wc -c)
echo "corpus: $(ls "$corpus" | wc -l) files, $((bytes / 1000000)) MB"
cat "$corpus"/* >/dev/null # warm cache for both
for round in 1 2 3; do
  /usr/bin/time -f '%e %M %U %S' -o "$work/jq" taskset -c 0 jq -c . "$corpus"/* >/dev/null
  rm -rf "$work/ws"
  # Stored and listed; the search index follows, with a figure of its own.
  /usr/bin/time -f '%e %M %U %S' -o "$work/us" target/release/triagent --workspace "$work/ws/w.db" import "$corpus" --no-index --json >"$work/report"
  /usr/bin/time -f 'search index: %e s (%U + %S CPU-s)' target/release/triagent --workspace "$work/ws/w.db" import "$corpus" --json >/dev/null
  awk -v bytes="$bytes" -v round="$round" 'FNR==1 && NR==1 {jq=$1; jm=$2; jc=$3+$4} FNR==1 && NR>1 {us=$1; um=$2; uc=$3+$4}
    END {printf "round %d: jq %.1f s (%.0f MB/s, %.1f CPU-s, %d MB)  import %.1f s (%.0f MB/s, %.1f CPU-s, %d MB)  ratio %.2f\n",
      round, jq, bytes/1e6/jq, jc, jm/1024, us, bytes/1e6/us, uc, um/1024, jq/us}' "$work/jq" "$work/us"
done
/usr/bin/time -f 'unchanged re-import: %e s' target/release/triagent --workspace "$work/ws/w.db" import "$corpus" --json >/dev/null
target/release/triagent --workspace "$work/ws/w.db" doctor --json
