"""Feeds exports to LLaMA-Factory's converters and verl's dataset classes: their own code, read from unpacked wheels.

    python consume_others.py --data ROOT… --model DIR [--llamafactory UNPACKED] [--verl UNPACKED]

Each ROOT holds one folder a format, as `triagent export FORMAT --out ROOT/FORMAT` leaves them. Prints one JSON object a
check and exits 1 when one fails. Modules of theirs that only matter on a cluster (ray, vision) are replaced by empty
ones; nothing that reads a row is.
"""

import argparse
import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import types

FAILED = []


WHERE = [""]


def say(check, ok, **more):
    line = {"workspace": WHERE[0], "check": check, "ok": bool(ok), **more}
    print(json.dumps(line, ensure_ascii=False, default=str), flush=True)
    if not ok:
        FAILED.append(check)


class Empty(types.ModuleType):
    """A module where every name is another empty thing."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def stub(*names):
    missing = {top for top in {n.split(".")[0] for n in names} if importlib.util.find_spec(top) is None}
    for name in names:
        if name not in sys.modules and name.split(".")[0] in missing:
            sys.modules[name] = Empty(name)
            sys.modules[name].__spec__ = importlib.machinery.ModuleSpec(name, None)
            if "." in name:
                setattr(sys.modules[name.rsplit(".", 1)[0]], name.rsplit(".", 1)[1], sys.modules[name])


def lines(path):
    with open(path, encoding="utf-8") as fh:
        return [json.loads(line) for line in fh if line.strip()]


# --- LLaMA-Factory ---------------------------------------------------------------------------------------------------


def llamafactory(roots, source):
    sys.path.insert(0, source)
    stub("omegaconf", "fire", "av", "librosa", "peft")
    package = types.ModuleType("llamafactory")
    package.__path__ = [str(pathlib.Path(source) / "llamafactory")]
    sys.modules["llamafactory"] = package
    data = types.ModuleType("llamafactory.data")
    data.__path__ = [str(pathlib.Path(source) / "llamafactory/data")]
    sys.modules["llamafactory.data"] = data
    extras = types.ModuleType("llamafactory.extras")
    extras.__path__ = [str(pathlib.Path(source) / "llamafactory/extras")]
    sys.modules["llamafactory.extras"] = extras
    for name, names in {
        "llamafactory.extras.logging": [],
        "llamafactory.extras.misc": ["use_modelscope", "use_openmind"],
        "llamafactory.hparams": [],
    }.items():
        module = Empty(name)
        for fn in names:
            setattr(module, fn, lambda: False)
        sys.modules[name] = module
        setattr(package if name.count(".") == 1 else sys.modules[name.rsplit(".", 1)[0]], name.rsplit(".", 1)[1], module)
    log = sys.modules["llamafactory.extras.logging"]
    complaints = []
    logger = types.SimpleNamespace(
        warning_rank0=complaints.append, warning_rank0_once=complaints.append, info_rank0=lambda *_: None
    )
    log.get_logger = lambda *_: logger
    from llamafactory.data.converter import get_dataset_converter
    from llamafactory.data.parser import DatasetAttr

    for root, kind in ((root, kind) for root in roots for kind in ("sft", "dpo")):
        WHERE[0] = root.name
        folder = root / f"llamafactory-{kind}"
        if not (folder / "dataset_info.json").is_file():
            continue
        info = json.loads((folder / "dataset_info.json").read_text())
        for name, entry in info.items():
            attr = DatasetAttr("file", dataset_name=entry["file_name"])
            attr.join(entry)
            args = types.SimpleNamespace(media_dir=str(folder))
            convert = get_dataset_converter(attr.formatting, attr, args)
            complaints.clear()
            rows = lines(folder / entry["file_name"])
            done = [convert(row) for row in rows]
            emptied = [i for i, row in enumerate(done) if not row["_prompt"] or not row["_response"]]
            broken = [
                i for i, row in enumerate(done) for m in row["_prompt"] + row["_response"]
                if m["role"] == "function" and not isinstance(json.loads(m["content"]), (dict, list))
            ]
            tools = [i for i, row in enumerate(done) if row["_tools"] and not isinstance(json.loads(row["_tools"]), list)]
            say(f"llamafactory {name}", not (emptied or broken or tools or complaints), rows=len(rows), emptied=emptied,
                complaints=complaints[:3])


# --- verl ------------------------------------------------------------------------------------------------------------


def verl(roots, source, model):
    sys.path.insert(0, source)
    # These look for optional packages themselves, so they must come before the stand-ins.
    import datasets  # noqa: F401
    from transformers import AutoTokenizer

    tok = AutoTokenizer.from_pretrained(model)
    stub("ray", "tensordict", "tensordict.tensorclass", "omegaconf", "codetiming", "hydra", "qwen_vl_utils", "torchvision", "PIL",
         "PIL.Image", "torchdata", "torchdata.stateful_dataloader", "cachetools", "orjson", "vllm", "sglang")
    if isinstance(sys.modules.get("omegaconf"), Empty):
        sys.modules["omegaconf"].DictConfig = dict
        sys.modules["omegaconf"].ListConfig = list
    for name, at in (("verl", "verl"), ("verl.utils", "verl/utils"), ("verl.utils.dataset", "verl/utils/dataset"),
                     ("verl.utils.tokenizer", "verl/utils/tokenizer"), ("verl.models", "verl/models"),
                     ("verl.models.transformers", "verl/models/transformers")):
        module = types.ModuleType(name)
        module.__path__ = [str(pathlib.Path(source) / at)]
        sys.modules[name] = module
    for name in ("verl.models.transformers.qwen2_vl", "verl.utils.dataset.vision_utils", "verl.utils.import_utils"):
        sys.modules[name] = Empty(name)
    fs = Empty("verl.utils.fs")
    fs.copy_local_path_from_hdfs = lambda path, **_: path
    fs.copy_to_local = lambda src, **_: src
    sys.modules["verl.utils.fs"] = fs
    sys.modules["verl.utils"].hf_tokenizer = lambda *_: tok
    tokenizer_file = pathlib.Path(source) / "verl/utils/tokenizer/__init__.py"
    spec = importlib.util.spec_from_file_location(
        "verl.utils.tokenizer", tokenizer_file, submodule_search_locations=[str(tokenizer_file.parent)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["verl.utils.tokenizer"] = module
    spec.loader.exec_module(module)
    for root in roots:
        WHERE[0] = root.name
        verl_sft(root / "verl-sft", tok)
        verl_rl(root / "verl-rl", tok)


def trained(sample, tok):
    ids, mask = sample["input_ids"], sample["loss_mask"]
    return tok.decode([int(i) for i, m in zip(ids, mask) if m])


def verl_sft(folder, tok):
    if not (folder / "train.jsonl").is_file():
        return
    from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset

    spec = importlib.util.spec_from_file_location("triagent_verl", folder / "triagent_verl.py")
    own = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(own)
    config = {"max_length": 65536, "pad_mode": "no_padding", "truncation": "error"}
    rows = lines(folder / "train.jsonl")
    data = own.TriagentJsonl([str(folder / "train.jsonl")], tok, config)
    same = [i for i, row in enumerate(rows) if data.messages[i] != row["messages"] or data.tools[i] != row["tools"]]
    texts = [trained(data[i], tok) for i in range(len(data))]
    # Our own count of what should be trained: the assistant messages, rendered one by one after the prompt.
    want = []
    for row in rows:
        text = ""
        for at, m in enumerate(row["messages"]):
            if m["role"] == "assistant":
                before = tok.apply_chat_template(row["messages"][:at], tools=row["tools"], tokenize=False, add_generation_prompt=True)
                after = tok.apply_chat_template(row["messages"][: at + 1], tools=row["tools"], tokenize=False)
                text += after[len(before):]
        want.append(text)
    wrong = [i for i, (a, b) in enumerate(zip(texts, want)) if a != b]
    say("verl-sft jsonl", len(data) == len(rows) and not same and not wrong, rows=len(rows), changed=same, trained_differs=wrong,
        first=texts[:1])
    shards = sorted(folder.glob("parquet/train-*.parquet"))
    by_id = {row["id"]: row for row in rows}
    import pandas as pd

    read = 0
    for shard in shards:
        data = MultiTurnSFTDataset([str(shard)], tok, config)
        ids = list(pd.read_parquet(shard)["id"])
        bent = []
        for i, name in enumerate(ids):
            row = by_id[name]
            got = [{k: v for k, v in m.items() if v is not None} for m in data.messages[i]]
            for m in got:
                m["tool_calls"] = [
                    {**c, "function": {**c["function"], "arguments": json.loads(c["function"]["arguments"])}}
                    for c in m.get("tool_calls", [])
                ] or None
            got = [{k: v for k, v in m.items() if v is not None} for m in got]
            if got != row["messages"] or (data.tools is not None and data.tools[i] != row["tools"]):
                bent.append(name)
        read += len(ids)
        say(f"verl-sft {shard.name}", not bent, rows=len(ids), bent=bent)
    say("verl-sft parquet rows", read <= len(rows), parquet=read, jsonl=len(rows))


def verl_rl(folder, tok):
    if not (folder / "train.jsonl").is_file():
        return
    from verl.utils.dataset.rl_dataset import RLHFDataset

    rows = lines(folder / "train.jsonl")
    for path in (folder / "train.jsonl", folder / "parquet/train.parquet"):
        config = {"max_prompt_length": 65536, "cache_dir": "/tmp", "filter_overlong_prompts_workers": 1}
        data = RLHFDataset([str(path)], tok, config)
        bare = lambda ms: [{k: v for k, v in m.items() if v is not None} for m in ms]  # noqa: E731
        bent = [i for i, row in enumerate(rows) if bare(data[i]["raw_prompt"]) != bare(row["prompt"])
                or data[i]["reward_model"] != row["reward_model"]]
        say(f"verl-rl {path.suffix}", len(data) == len(rows) and not bent, rows=len(rows), read=len(data), bent=bent)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--data", required=True, nargs="+", type=pathlib.Path)
    p.add_argument("--model", required=True)
    p.add_argument("--llamafactory")
    p.add_argument("--verl")
    a = p.parse_args()
    if a.llamafactory:
        llamafactory(a.data, a.llamafactory)
    if a.verl:
        verl(a.data, a.verl, a.model)
    sys.exit(1 if FAILED else 0)


main()
