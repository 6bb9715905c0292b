#!/usr/bin/env python3
"""Counts what each real log holds, independently of triagent, and writes expected.json.

Usage: counts.py REAL_LOGS > expected.json

It reads the files with Python's own json module and counts with the plainest code that can do it, following
what the format's documentation says about roles. It shares nothing with the Rust importers; where the two
disagree, one of them is wrong. Each entry says in `how` what was counted.
"""
import json
import os
import sys
from collections import Counter

ROOT = sys.argv[1]
OUT = {}


def load(path):
    with open(os.path.join(ROOT, path), encoding="utf-8-sig") as f:
        return json.load(f)


def rows(path):
    found = []
    with open(os.path.join(ROOT, path), encoding="utf-8-sig") as f:
        for line in f:
            if line.strip():
                try:
                    found.append(json.loads(line))
                except ValueError:
                    pass
    return found


class Count:
    """Counts of one file."""

    def __init__(self, fmt, how):
        self.fmt, self.how = fmt, how
        self.owners = Counter()
        self.n = Counter()

    def step(self, owner, n=1):
        self.owners[owner] += n

    def add(self, **more):
        for key, value in more.items():
            self.n[key] += value

    def done(self, path):
        OUT[path] = {
            "format": self.fmt,
            "how": self.how,
            "runs": self.n["runs"],
            "calls": self.n["calls"],
            "owners": {k: v for k, v in sorted(self.owners.items()) if v},
            "tool_calls": self.n["tool_calls"],
            "tool_errors": self.n["tool_errors"],
            "rewards": self.n["rewards"],
            "labels": self.n["labels"],
        }


def parts_of(content):
    """Number of content parts that say something."""
    if content is None:
        return 0
    if isinstance(content, str):
        return 1 if content else 0
    return len(content)


def chat(c, m, owners=None):
    """One OpenAI message: reasoning, one step per part, one per tool call; an empty message is one step."""
    owner = (owners or {}).get(m["role"]) or {
        "system": "system", "developer": "system", "user": "user",
        "assistant": "model", "tool": "tool", "function": "tool"}.get(m["role"], "unknown")
    n = parts_of(m.get("content"))
    if owner == "model":
        n += 1 if (m.get("reasoning_content") or m.get("reasoning")) else 0
        calls = len(m.get("tool_calls") or []) + (1 if m.get("function_call") else 0)
        c.add(tool_calls=calls)
        n += calls
    c.step(owner, max(n, 1))


def openai_chat():
    for path in ["openai-chat-jsonl/finetune-tools-tau2.jsonl", "openai-chat-jsonl/finetune-weight.jsonl"]:
        c = Count("openai-chat", "rows; roles of messages; tool_calls; no inference is recorded, so no calls")
        for row in rows(path):
            c.add(runs=1)
            for m in row["messages"]:
                chat(c, m)
        c.done(path)


def tau_bench():
    for name in ["airline-gpt-4o-tasks0-2.json", "error-trial.json", "retail-failed-29.json"]:
        path = "tau-bench/" + name
        c = Count("tau-bench", "list elements; roles in traj; one call per assistant message; tool content "
                  "starting 'Error:' is a tool error; one reward per element (missing for a crashed one)")
        for t in load(path):
            c.add(runs=1, rewards=1)
            for m in t["traj"]:
                chat(c, m)
                c.add(calls=m["role"] == "assistant")
                c.add(tool_errors=m["role"] == "tool" and m["content"].startswith("Error:"))
        c.done(path)


def atif():
    for name in sorted(os.listdir(os.path.join(ROOT, "atif"))):
        path = "atif/" + name
        c = Count("atif", "steps by source; a system step after the first other step is the harness's; one call per "
                  "agent step that is not copied; observation results are the tool's if the step has tool_calls or "
                  "the message is terminus JSON with commands, else the harness's; reasoning that repeats the "
                  "message is not counted")
        c.add(runs=1)
        begun = False
        for s in load(path)["steps"]:
            src = s["source"]
            owner = {"agent": "model", "user": "user"}.get(src, "runtime" if begun else "system")
            begun = begun or src != "system"
            calls = s.get("tool_calls") or []
            n = len(calls)
            if s.get("reasoning_content") and s["reasoning_content"] != s["message"]:
                n += 1
            n += parts_of(s["message"])
            c.step(owner, max(n, 1))
            c.add(tool_calls=len(calls), calls=src == "agent" and not s.get("is_copied_context"))
            for r in (s.get("observation") or {}).get("results", []):
                is_tool = src == "agent" and (calls or '"commands"' in s["message"])
                c.step("tool" if is_tool else "runtime", max(parts_of(r.get("content")), 1))
        c.done(path)


def mini():
    for name in sorted(os.listdir(os.path.join(ROOT, "mini-swe-agent"))):
        path = "mini-swe-agent/" + name
        c = Count("mini-swe-agent", "messages by role; first user message is the request, later ones with "
                  "<returncode> are observations, others the program's; exit is an event of the program; one call per "
                  "assistant message; returncode other than 0 is a tool error")
        c.add(runs=1)
        doc = load(path)
        users = 0
        for m in doc if isinstance(doc, list) else doc["messages"]:
            if m["role"] == "exit":
                c.step("runtime")
                continue
            owner = None
            if m["role"] == "user":
                users += 1
                if users > 1:
                    owner = "tool" if m["content"].lstrip().startswith("<returncode>") else "runtime"
            chat(c, m, {"user": owner})
            c.add(calls=m["role"] == "assistant")
            if m["role"] == "tool" or owner == "tool":
                code = m["content"].split("<returncode>")[1].split("</returncode>")[0].strip()
                c.add(tool_errors=code != "0")
        c.done(path)


def agent_lightning_1():
    """Replays the conversation: prompts repeat what is known, so each message is counted once per rollout."""
    for name in ["events.jsonl", "r0.events.json", "r1.events.json", "r2.events.json"]:
        path = "agent-lightning-1/" + name
        c = Count("agent-lightning-1", "events by rollout; per rollout every distinct prompt message once (looked up by "
                  "role, text and calls) and every answer once; an answer that comes back in a prompt is not counted "
                  "again; custom events are one step each; one reward per rollout, the last")
        events = rows(path) if name.endswith("l") else load(path)
        for rollout in dict.fromkeys(e["rollout_id"] for e in events):
            c.add(runs=1)
            seen, rewarded = set(), False
            for e in (e for e in events if e["rollout_id"] == rollout):
                if e["event_type"] == "reward":
                    rewarded = True
                elif e["event_type"] != "model_request":
                    c.step("runtime")
                else:
                    c.add(calls=1)
                    answer = e["data"]["response"]["choices"][0]["message"]
                    for m in e["data"]["request"]["messages"]:
                        key = (m["role"], m.get("content"), str([t["function"] for t in m.get("tool_calls") or []]))
                        if key not in seen:
                            seen.add(key)
                            chat(c, m)
                    seen.add((answer["role"], answer.get("content"),
                              str([t["function"] for t in answer.get("tool_calls") or []])))
                    chat(c, answer)
            c.add(rewards=rewarded)
        c.done(path)


for count in [openai_chat, tau_bench, atif, mini, agent_lightning_1]:
    count()
json.dump(OUT, sys.stdout, indent=1, ensure_ascii=False, sort_keys=True)
print()
