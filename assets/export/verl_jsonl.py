"""Reads the JSON lines beside this file into verl's SFT trainer without bending them.

verl reads its SFT sets from parquet, which merges the keys of different tools and arguments and fills the gaps with
nulls. Point verl here instead:

    data.custom_cls.path=.../triagent_verl.py data.custom_cls.name=TriagentJsonl
    data.train_files=[.../train.jsonl] data.val_files=[.../validation.jsonl]
"""

import json

import pandas as pd
from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset
from verl.utils.tokenizer.chat_template import extract_system_prompt_and_generation


class TriagentJsonl(MultiTurnSFTDataset):
    """The same set, read line by line."""

    def _read_files_and_process(self):
        rows = []
        for path in self.parquet_files:
            with open(path, encoding="utf-8") as lines:
                rows += [json.loads(line) for line in lines if line.strip()]
        if 0 < self.max_samples < len(rows):
            rows = rows[: self.max_samples]
        columns = {key: [row.get(key) for row in rows] for key in (self.messages_key, self.tools_key)}
        self.dataframe = pd.DataFrame({key: pd.Series(values, dtype=object) for key, values in columns.items()})
        self.messages = columns[self.messages_key]
        self.tools = columns[self.tools_key]
        self.enable_thinking = [row.get(self.enable_thinking_key) for row in rows]
        self.system_prompt, self.generation_prompt = extract_system_prompt_and_generation(
            self.tokenizer, **self.apply_chat_template_kwargs
        )
