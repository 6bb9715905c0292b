#!/usr/bin/env bash
# Feeds every export to the real trainers and holds what they read, train, mask and compute against ours: the hand-made
# endings, the demo's workspace, and the 29 failed tau-bench runs where the logs are at hand. Takes about two minutes.
#
#   TRIAGENT_CONSUME_VENV   Python environment with TRL (see consume/README.md of the shared folder)
#   TRIAGENT_CONSUME        folder of dpo.py, sft.py, kto.py, grpo.py and make_tiny_model.py   [../shared/consume]
#   TRIAGENT_REAL_LOGS      folder of the logs that other projects wrote                       [../shared/real-logs]
#   TRIAGENT_CONSUME_ROOT   keep files and reports here                                        [a temporary folder]
#
# LLaMA-Factory's and verl's readers come as bare wheels (2 MB) and stay in target/tmp. What cannot be had says "skipped".
set -euo pipefail
cd "$(dirname "$0")/.."
exec cargo test --test triagent -- --nocapture real_trainers
