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


def sharegpt():
    path = "sharegpt/glaive_toolcall_en_demo.json"
    c = Count("sharegpt", "elements; turns by from; every function_call of this file holds one object")
    for row in load(path):
        c.add(runs=1)
        for t in row["conversations"]:
            owner = {"human": "user", "gpt": "model", "function_call": "model", "observation": "tool"}[t["from"]]
            c.step(owner)
            c.add(tool_calls=t["from"] == "function_call")
    c.done(path)
    path = "sharegpt/reason_tool_use_demo_50.jsonl"
    c = Count("openai-chat", "rows; one step per content part (parts of type reasoning, text, tool_call)")
    for row in rows(path):
        c.add(runs=1)
        for m in row["messages"]:
            chat(c, m)
            c.add(tool_calls=sum(p["type"] == "tool_call" for p in m["content"]))
    c.done(path)


def request_log():
    """A request whose messages begin with an earlier request's messages and answer belongs to the same run."""
    path = "openai-chat-jsonl/request-response-cache.jsonl"
    c = Count("request-log", "rows; a row joins the run whose prompt plus answer its prompt begins with (role, text, "
              "tool names and arguments compared); per run only new prompt messages count; assistant messages of a "
              "first prompt were answered by no logged call, so their owner is unknown")

    def key(m):
        calls = ((t["function"]["name"], json.dumps(json.loads(t["function"]["arguments"]))) for t in m.get("tool_calls") or [])
        return m["role"], (m.get("content") or "").strip(), tuple(calls)

    known = {}
    for row in rows(path):
        prompt = [key(m) for m in row["request"]["messages"]]
        answer = row["response"]["choices"][0]["message"]
        have = max((n for n in range(1, len(prompt) + 1) if tuple(prompt[:n]) in known), default=0)
        c.add(runs=0 if have else 1, calls=1)
        known[tuple(prompt + [key(answer)])] = True
        for m in row["request"]["messages"][have:]:
            if m["role"] == "assistant":
                n = parts_of(m.get("content")) + len(m.get("tool_calls") or [])
                c.step("unknown", max(n, 1))
            else:
                chat(c, m)
        chat(c, answer)
    c.done(path)


INSERTED = ("<system-reminder>", "<command-", "<local-command", "Caveat:", "<environment_context>", "This session is being")


def claude_code():
    """Rows by hand-written rules; iFlow repeats tool calls in rows of their own, which count once."""
    folder = "claude-code"
    for name in sorted(os.listdir(os.path.join(ROOT, folder))):
        path = folder + "/" + name
        c = Count("claude-code", "rows with uuid and a message object; blocks of message.content; calls are runs of "
                  "assistant rows with one message.id, or (iFlow) that repeat a tool_use id of the row before; repeated "
                  "tool_use ids count once; rows repeated word for word count once; inserted user text by its first "
                  "words, isMeta or isCompactSummary; tool errors by is_error or toolUseResult.status error")
        seen, tools, runs, last, leafs = set(), set(), {}, None, set()
        for row in rows(path):
            if not isinstance(row, dict) or row.get("type") not in ("user", "assistant", "system", "summary"):
                continue
            if row["type"] == "summary":
                c.step("runtime", row["leafUuid"] in leafs)
                continue
            runs.setdefault((row["sessionId"], row.get("isSidechain", False)), 1)
            leafs.add(row["uuid"])
            if row["type"] == "system":
                c.step("runtime")
                continue
            m = row.get("message")
            key = (row["uuid"], json.dumps(m))
            if key in seen or not isinstance(m, dict):
                continue
            seen.add(key)
            blocks = m.get("content")
            blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks or [{"type": "text", "text": ""}]
            blocks = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
            if row["type"] == "assistant":
                repeats = any(b["type"] == "tool_use" and b["id"] in tools for b in blocks)
                new_call = not (last and (last == m.get("id") or repeats))
                c.add(calls=new_call)
                last = m.get("id") or last
                for b in blocks:
                    if b["type"] == "tool_use":
                        if b["id"] in tools:
                            continue
                        tools.add(b["id"])
                        c.add(tool_calls=1)
                    c.step("model")
                continue
            last = None
            for b in blocks:
                if b["type"] == "tool_result":
                    n = parts_of(b.get("content")) or 1
                    c.step("tool", n if not isinstance(b.get("content"), dict) else 1)
                    result = row.get("toolUseResult")
                    bad = b.get("is_error") or (isinstance(result, dict) and result.get("status") == "error")
                    c.add(tool_errors=n if bad else 0)
                elif row.get("isMeta") or row.get("isCompactSummary") or b["text"].startswith(INSERTED):
                    c.step("runtime")
                else:
                    c.step("user")
        c.add(runs=len(runs))
        c.done(path)
    path = "claude-code-web-json/sample_session.json"
    c = Count("claude-code", "loglines; blocks; no ids, so adjacent assistant rows would be one call (there are none)")
    c.add(runs=1)
    for row in load(path)["loglines"]:
        m = row["message"]
        blocks = [{"type": "text"}] if isinstance(m["content"], str) else m["content"]
        c.add(calls=row["type"] == "assistant")
        for b in blocks:
            if b["type"] == "tool_result":
                c.step("tool")
                c.add(tool_errors=bool(b.get("is_error")))
            else:
                c.step("model" if row["type"] == "assistant" else "runtime" if row.get("isCompactSummary") else "user")
                c.add(tool_calls=b["type"] == "tool_use")
    c.done(path)


def codex():
    folder = "codex-rollout"
    for name in sorted(os.listdir(os.path.join(ROOT, folder))):
        path = folder + "/" + name
        c = Count("codex", "response_item rows; reasoning, assistant message parts and calls are the model's, developer "
                  "and environment parts the harness's (content_item_kinds); base_instructions is one system step; a call "
                  "is a stretch of model items with no other item between; a failed task_complete and a spawned agent are "
                  "one event each; tool errors by exit code, 'unsupported call' and 'failed to parse'")
        c.add(runs=1)
        speaking = False
        for row in rows(path):
            p = row["payload"]
            if row["type"] == "session_meta" and p.get("base_instructions"):
                c.step("system")
            if row["type"] == "event_msg":
                c.step("runtime", p["type"] == "collab_agent_spawn_end" or bool(p.get("error")))
                speaking = speaking and p["type"] not in ("collab_agent_spawn_end",)
            if row["type"] != "response_item":
                continue
            kind = p.get("type", "message")
            if kind in ("reasoning", "function_call") or p.get("role") == "assistant":
                c.step("model", len(p["content"]) if kind == "message" else 1)
                c.add(calls=not speaking, tool_calls=kind == "function_call")
                speaking = True
                continue
            speaking = False
            if kind == "function_call_output":
                c.step("tool")
                text = p["output"]
                c.add(tool_errors=any(s in text for s in ("exited with code 1", "unsupported call", "failed to parse")))
            else:
                meta = p.get("internal_chat_message_metadata_passthrough") or {}
                kinds = meta.get("content_item_kinds") or ["user.text"] * len(p["content"])
                for k in kinds:
                    c.step("user" if p["role"] == "user" and k.startswith("user.") else "runtime")
        c.done(path)


def otlp_value(v):
    for key, value in v.items():
        if value is None:
            continue
        if key in ("intValue", "int_value"):
            return int(value)
        if key in ("arrayValue", "array_value"):
            return [otlp_value(x) for x in value["values"]]
        return value
    return None


def spans_of(path):
    """(trace, start, attributes, status code, span kind) of every span, whatever the mapping."""
    docs = rows(path) if path.endswith(".jsonl") else [load(path)]
    for d in docs:
        if "resourceSpans" in d:
            spans = [s for r in d["resourceSpans"] for sc in r["scopeSpans"] for s in sc["spans"]]
        else:
            spans = d.get("data", [d])
        for s in spans:
            a = s.get("attributes") or {}
            if isinstance(a, list):
                a = {x["key"]: otlp_value(x["value"]) for x in a}
            ctx = s.get("context", s)
            trace = ctx.get("traceId") or ctx.get("trace_id")
            start = s.get("startTimeUnixNano") or s.get("start_time_unix_nano") or s.get("start_time")
            status = s.get("status") or {}
            code = str(status.get("code", status.get("status_code", s.get("status_code"))))
            kind = a.get("openinference.span.kind") or s.get("span_kind") or a.get("gen_ai.operation.name")
            yield trace, str(start), a, code in ("2", "ERROR", "STATUS_CODE_ERROR"), kind


def chat_of_span(a):
    """Prompt and answer as OpenAI messages."""
    def genai(text):
        out = []
        for m in json.loads(text):
            made = {"role": m["role"], "content": [], "tool_calls": []}
            for p in m["parts"]:
                if p["type"] == "tool_call":
                    made["tool_calls"].append(p)
                elif p["type"] == "tool_call_response":
                    out.append({"role": "tool", "content": str(p.get("response") or p.get("result")), "tool_call_id": p["id"]})
                else:
                    made["content"].append(p)
            if made["content"] or made["tool_calls"]:
                out.append(made)
        return out

    def flat(prefix):
        out = {}
        for k, v in a.items():
            if k.startswith(prefix + "."):
                n, rest = k[len(prefix) + 1:].split(".", 1)
                m = out.setdefault(int(n), {"content": None, "calls": set()})
                if rest == "message.role":
                    m["role"] = v
                elif rest == "message.content":
                    m["content"] = v
                elif rest == "message.tool_call_id":
                    m["tool_call_id"] = v
                elif rest.startswith("message.tool_calls."):
                    m["calls"].add(rest.split(".")[2])
        return [dict(m, tool_calls=sorted(m["calls"])) for _, m in sorted(out.items())]

    if "gen_ai.input.messages" in a:
        return genai(a["gen_ai.input.messages"]), genai(a["gen_ai.output.messages"])
    return flat("llm.input_messages"), flat("llm.output_messages")


def otel():
    paths = ["otel-genai-semconv/" + n for n in ["ok.otlp.json", "ok.sdk-spans.jsonl", "wrong-refund.otlp.json"]]
    paths += ["openinference/" + n for n in ["ok.sdk-spans.jsonl", "wrong-refund.otlp-protojson.json", "wrong-refund.sdk-spans.jsonl"]]
    paths += ["otel-genai-otlp-jsonl/vs-copilot-1.jsonl", "otel-genai-otlp-jsonl/vs-copilot-2.jsonl"]
    paths += ["phoenix/spans-api.json", "phoenix/spans-otlpv1.json"]
    for path in paths:
        c = Count("otel", "one run per trace; one call per model span; these agents only append, so the last model span's "
                  "prompt and answer hold the whole conversation; where no model span exists, every tool span is a call "
                  "and its answer; tool errors by the status of the tool's span, joined by call id")
        if path.startswith("phoenix/"):
            # Both annotations (beside the spans) are called 'correct', which judges the result.
            n = len(load("phoenix/annotations.json")["data"])
            c.how += "; annotations beside the spans are labels, and rewards where they judge the result"
            c.add(labels=n, rewards=n)
        traces = {}
        for trace, start, a, bad, kind in spans_of(path):
            traces.setdefault(trace, []).append((start, a, bad, kind))
        for spans in traces.values():
            c.add(runs=1)
            models = sorted((s for s in spans if s[3] in ("LLM", "chat")), key=lambda s: s[0])
            tools = [s for s in spans if s[3] in ("TOOL", "execute_tool")]
            failed = {s[1].get("gen_ai.tool.call.id") or s[1].get("tool_call.id") for s in tools if s[2]}
            c.add(calls=len(models))
            if not models:
                c.step("model", len(tools))
                c.step("tool", len(tools))
                c.add(tool_calls=len(tools), tool_errors=len(failed))
                continue
            prompt, answer = chat_of_span(models[-1][1])
            for m in prompt + answer:
                chat(c, m)
                c.add(tool_errors=m.get("tool_call_id") in failed)
        c.done(path)


def traces():
    """Traces whose agents only append: the last model span's prompt and answer hold the whole conversation."""
    how = ("one run per trace; one call per model span; the last model span's prompt and answer hold the conversation; tool "
           "errors by the tool's own span")
    c = Count("langsmith", how)
    by_trace = {}
    for r in rows("langsmith-runs/runs.jsonl"):
        by_trace.setdefault(r["trace_id"], []).append(r)
    for runs in by_trace.values():
        llm = sorted((r for r in runs if r["run_type"] == "llm"), key=lambda r: r["dotted_order"])
        c.add(runs=1, calls=len(llm), tool_errors=sum(bool(r.get("error")) for r in runs if r["run_type"] == "tool"))
        for m in llm[-1]["inputs"]["messages"] + [llm[-1]["outputs"]["choices"][0]["message"]]:
            chat(c, m)
    c.done("langsmith-runs/runs.jsonl")
    for name in ["ok", "wrong-refund"]:
        path = "mlflow-trace/%s.trace.json" % name
        c = Count("mlflow", how + "; one reward (the assessment 'correct') and one label")
        d = load(path)
        spans = [dict(s, a={k: json.loads(v) for k, v in s["attributes"].items()}) for s in d["data"]["spans"]]
        llm = [s for s in spans if s["a"]["mlflow.spanType"] == "CHAT_MODEL"]
        n = len(d["info"]["assessments"])
        c.add(runs=1, calls=len(llm), rewards=n, labels=n,
              tool_errors=sum(s["status"]["code"] == "STATUS_CODE_ERROR" for s in spans if s["a"]["mlflow.spanType"] == "TOOL"))
        last = max(llm, key=lambda s: s["start_time_unix_nano"])["a"]
        for m in last["mlflow.spanInputs"]["messages"] + [last["mlflow.spanOutputs"]["choices"][0]["message"]]:
            chat(c, m)
        c.done(path)
    path = "agent-lightning-0/spans.jsonl"
    c = Count("agent-lightning-0", how + "; by hand from the flattened attributes: system, user, an answer that is one tool "
              "call (its span is a child of the answer's), its result, a text; a reward in one rollout")
    spans = rows(path)
    for rollout in {s["rollout_id"] for s in spans}:
        mine = [s for s in spans if s["rollout_id"] == rollout]
        c.add(runs=1, calls=sum("gen_ai.request.model" in s["attributes"] for s in mine),
              tool_calls=sum(s["name"].startswith("tool_call.") for s in mine),
              rewards=sum("agentlightning.reward.0.value" in s["attributes"] for s in mine))
        c.step("system"), c.step("user"), c.step("model", 2), c.step("tool")
    c.done(path)

    def by_hand(path, calls, owners, tool_calls, rewards, labels, how):
        c = Count("langfuse", "read by hand: " + how)
        c.add(runs=1, calls=calls, tool_calls=tool_calls, rewards=rewards, labels=labels)
        for owner, n in owners.items():
            c.step(owner, n)
        c.done("langfuse-trace/" + path)

    by_hand("anthropic-messages.trace.json", 3, {"user": 1, "model": 10, "tool": 4}, 7, 0, 0,
            "the third prompt drops the first exchange (a rewrite), so its three calls stand there once more, as copies")
    by_hand("claude-agent.trace.json", 4, {"user": 1, "model": 4, "tool": 2}, 2, 1, 3,
            "prompts of later turns hold only the word 'role'; tools' answers stand in TOOL observations; 3 scores, of "
            "which 'correctness' judges the result")
    by_hand("langgraph-js.trace.json", 2, {"user": 1, "model": 2, "tool": 1}, 1, 0, 2,
            "two GENERATIONs among graph nodes; the tool message bears the tool's name as its role; 2 scores")
    by_hand("openai-agents.trace.json", 2, {"system": 1, "user": 1, "model": 2, "tool": 1}, 1, 0, 2,
            "Responses items; instructions stand in the answers; 2 scores")


def zip_members(path):
    """Members of a zip archive, zstd included; of equal names the last."""
    import struct
    import zipfile
    import zlib
    import zstandard  # pip install zstandard
    full = os.path.join(ROOT, path)
    out = {}
    with open(full, "rb") as f:
        for i in zipfile.ZipFile(full).infolist():
            f.seek(i.header_offset)
            head = f.read(30)
            name, extra = struct.unpack("<HH", head[26:30])
            f.seek(i.header_offset + 30 + name + extra)
            data = f.read(i.compress_size)
            if i.compress_type == 93:
                data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
            elif i.compress_type == 8:
                data = zlib.decompress(data, -15)
            out[i.filename] = json.loads(data)
    return out


def inspect():
    def one(c, s):
        for r in s.get("error_retries") or []:
            c.add(runs=1)
            pool = s["events_data"]["messages"]
            for e in r.get("events", []):
                if e["event"] == "model":
                    c.add(calls=1)
                    for m in [m for a, b in e.get("input_refs") or [] for m in pool[a:b]] or e["input"]:
                        say(c, m)
                    for ch in [] if e.get("error") else e["output"]["choices"]:
                        say(c, ch["message"])
        c.add(runs=1, rewards=len(s.get("scores") or {}))
        events = s.get("events") or (s.get("transcript") or {}).get("events") or []
        c.add(calls=sum(e["event"] == "model" for e in events))
        for m in s["messages"]:
            say(c, m)

    def say(c, m):
        owners = {"user": "user" if m.get("source") == "input" else "runtime"}
        chat(c, m, owners)
        c.add(tool_errors=bool(m.get("error")))

    how = ("samples and failed attempts before a retry; sample.messages hold the whole conversation of these samples; calls are "
           "model events; users that are not source=input are the solver's; message.error is a tool error; rewards are scores")
    for name in sorted(os.listdir(os.path.join(ROOT, "inspect-eval"))):
        path = "inspect-eval/" + name
        c = Count("inspect", how)
        for member, s in zip_members(path).items():
            if member.startswith("samples/"):
                one(c, s)
        c.done(path)
    for name in sorted(os.listdir(os.path.join(ROOT, "inspect-json"))):
        path = "inspect-json/" + name
        c = Count("inspect", how)
        for s in load(path)["samples"]:
            one(c, s)
        c.done(path)


def swe_agent():
    folder = "swe-agent-traj"
    for name in sorted(os.listdir(os.path.join(ROOT, folder))):
        path = folder + "/" + name
        c = Count("swe-agent", "history items; demonstrations (is_demo) are the harness's; the first other user item is the "
                  "request, later ones and tool items are observations; one call per assistant item")
        c.add(runs=1)
        asked = False
        for m in load(path)["history"]:
            if m.get("is_demo"):
                c.step("runtime")
                continue
            chat(c, m, {"user": "tool" if asked else "user"})
            asked = asked or m["role"] == "user"
            c.add(calls=m["role"] == "assistant")
        c.done(path)


def nemo_gym():
    folder = "nemo-gym-rollouts"
    for name in sorted(os.listdir(os.path.join(ROOT, folder))):
        path = folder + "/" + name
        c = Count("nemo-gym", "rows; input messages and output items (of a list of lists the last list); a call is a stretch of "
                  "reasoning, function_call and assistant items; labels are failure_labels and trajectory_invalid_reasons")
        for row in rows(path):
            c.add(runs=1, rewards=1,
                  labels=len(row.get("failure_labels") or []) + len(row.get("trajectory_invalid_reasons") or []))
            given = row["responses_create_params"]
            said = given["input"] if isinstance(given["input"], list) else [{"role": "user", "content": given["input"]}]
            if given.get("instructions"):
                c.step("system")
            for m in said:
                c.step({"developer": "system"}.get(m["role"], m["role"]), max(parts_of(m["content"]), 1))
            out = row["response"]["output"]
            out = out[-1] if out and isinstance(out[0], list) else out
            speaking = False
            for x in out:
                kind = x.get("type") or "message"
                mine = kind in ("reasoning", "function_call") or x.get("role") == "assistant"
                c.add(calls=mine and not speaking, tool_calls=kind == "function_call")
                speaking = mine
                if kind == "function_call_output":
                    c.step("tool")
                else:
                    c.step("model" if mine else "user", max(parts_of(x["content"]), 1) if kind == "message" else 1)
        c.done(path)


def verifiers():
    for name in ["arc-agi-3-gpt-5", "tool-test", "wiki-search-gpt-4.1-mini"]:
        path = "verifiers-results/%s.results.jsonl" % name
        c = Count("verifiers", "rows; messages of prompt and completion; user messages of a completion are the environment's; "
                  "assistant messages of a prompt were sampled by no logged call; one call per assistant message of a completion")
        for row in rows(path):
            c.add(runs=1, rewards=1)
            for m in row["prompt"]:
                chat(c, m, {"assistant": "unknown"})
            for m in row["completion"]:
                chat(c, m, {"user": "runtime"})
                c.add(calls=m["role"] == "assistant")
        c.done(path)
    path = "verifiers-v1-traces/run/traces.jsonl"
    c = Count("verifiers", "traces of episodes; nodes' messages (none is on a branch that was left); calls as listed")
    for row in rows(path):
        for t in row["traces"]:
            c.add(runs=1, rewards=1, calls=len(t["calls"]))
            for n in t["nodes"]:
                chat(c, n["message"])
    c.done(path)


def agentdojo():
    for path in ["ground_truth/banking/user_task_3/none/none.json",
                 "gpt-4o-2024-05-13-scripted-a/banking/user_task_0/none/none.json",
                 "gpt-4o-2024-05-13-scripted-c/banking/user_task_1/important_instructions/injection_task_0.json"]:
        path = "agentdojo/" + path
        c = Count("agentdojo", "messages; tool messages with error; one call per assistant message; utility is the reward")
        d = load(path)
        c.add(runs=1, rewards=1)
        for m in d["messages"]:
            chat(c, m)
            c.add(calls=m["role"] == "assistant", tool_errors=bool(m.get("error")))
        c.done(path)


def who_and_when():
    for name in sorted(os.listdir(os.path.join(ROOT, "who-and-when"))):
        path = "who-and-when/" + name
        c = Count("who-and-when", "history items: human asked, the terminal is a tool, all other speakers are models; exitcode other "
                  "than 0 is a tool error; one label and one reward per file")
        d = load(path)
        c.add(runs=1, rewards=1, labels=1)
        for m in d["history"]:
            who = m.get("name") or m["role"]
            c.step("user" if who == "human" else "tool" if who == "Computer_terminal" else "model")
            c.add(tool_errors=m["content"].startswith("exitcode: 1"))
        c.done(path)
    path = "magentic-one-list/magentic-0a3cd321.json"
    c = Count("who-and-when", "list items by role, as above; no label inside")
    c.add(runs=1)
    for m in load(path):
        c.step("user" if m["role"] == "human" else "tool" if m["role"] == "ComputerTerminal" else "model")
    c.done(path)


def tau2():
    for name in sorted(os.listdir(os.path.join(ROOT, "tau2-bench"))):
        path = "tau2-bench/" + name
        c = Count("tau2", "simulations; one system step (the policy in info) each; messages by role; one call per assistant "
                  "message; tool messages with error")
        d = load(path)
        for s in d["simulations"]:
            c.add(runs=1, rewards=1)
            c.step("system")
            for m in s["messages"]:
                for t in m.get("tool_messages") or [m]:
                    chat(c, t)
                    c.add(calls=t["role"] == "assistant", tool_errors=bool(t.get("error")))
        c.done(path)


def harbor():
    for name in ["sum-file__fail", "sum-file__killed", "sum-file__oracle"]:
        path = "harbor-trial/" + name
        c = Count("harbor", "agent/trajectory.json as for ATIF; one reward from result.json (missing for the killed trial)")
        c.add(runs=1, rewards=1)
        file = path + "/agent/trajectory.json"
        if os.path.exists(os.path.join(ROOT, file)):
            for s in load(file)["steps"]:
                calls = s.get("tool_calls") or []
                owner = {"agent": "model", "user": "user", "system": "system"}[s["source"]]
                n = len(calls) + parts_of(s["message"])
                n += bool(s.get("reasoning_content") and s["reasoning_content"] != s["message"])
                c.step(owner, max(n, 1))
                c.add(calls=owner == "model", tool_calls=len(calls))
                for r in (s.get("observation") or {}).get("results", []):
                    mine = bool(calls) or '"commands"' in s["message"]
                    c.step("tool" if mine else "runtime", max(parts_of(r.get("content")), 1))
        c.done(path)


def openhands():
    import glob

    def events(c, found):
        responses = set()
        for e in found:
            kind = e["kind"]
            if kind == "SystemPromptEvent":
                c.step("system")
            elif kind == "MessageEvent":
                c.step({"user": "user", "agent": "model"}[e["source"]], parts_of(e["llm_message"]["content"]))
            elif kind == "ActionEvent":
                said = sum(bool(p["text"]) for p in e["thought"])
                c.step("model", 1 + said + bool(e.get("reasoning_content")))
                c.add(tool_calls=1)
            elif kind == "ObservationEvent":
                o = e["observation"]
                content = o.get("content") if o.get("content") is not None else o.get("output")
                n = max(parts_of(content), 1)
                c.step("tool", n)
                bad = o.get("is_error") or (o.get("error") and o.get("error") is not False) or o.get("exit_code") not in (None, 0, -1)
                c.add(tool_errors=n if bad or o.get("timeout") is True else 0)
            if e.get("llm_response_id"):
                responses.add(e["llm_response_id"])
        c.add(calls=len(responses))

    how = "events by kind; thought and reasoning are steps of their own; calls are distinct llm_response_id"
    for name in ["conversation-b2688296", "conversation-pwd"]:
        path = "openhands-events/" + name
        c = Count("openhands", how)
        c.add(runs=1)
        events(c, [load(os.path.relpath(f, ROOT)) for f in sorted(glob.glob(os.path.join(ROOT, path, "events", "*.json")))])
        c.done(path)
    c = Count("openhands", how)
    c.add(runs=1)
    events(c, rows("openhands-events/goal-events.jsonl"))
    c.done("openhands-events/goal-events.jsonl")
    path = "openhands-output-jsonl/openagentsafety-output.jsonl"
    c = Count("openhands", how + "; the instruction is the request where no message event stands among the events")
    for row in rows(path):
        c.add(runs=1, rewards=1)
        c.step("user", not any(e["kind"] == "MessageEvent" for e in row["history"]))
        events(c, row["history"])
    c.done(path)


def gemini_cli():
    how = ("messages by their last row (a row with a known id replaces the earlier one); thoughts, text and tool calls of a "
           "gemini message are steps; every toolCalls entry with a result is an observation, and the user row that repeats "
           "it is not counted; <session_context> is the program's; an error status or a non-zero 'Exit Code:' is a tool error")
    for name in sorted(os.listdir(os.path.join(ROOT, "gemini-cli"))):
        path = "gemini-cli/" + name
        c = Count("gemini-cli", how)
        found = {}
        if name.endswith(".jsonl"):
            for row in rows(path):
                for m in (row.get("$set") or {}).get("messages", []) + ([row] if "type" in row else []):
                    found[m["id"]] = m
        else:
            found = {m["id"]: m for m in load(path)["messages"]}
        c.add(runs=1)
        for m in found.values():
            content = m["content"] if isinstance(m["content"], list) else [{"text": m["content"]}]
            texts = [p["text"] for p in content if p.get("text")]
            if m["type"] == "user":
                c.step("runtime", sum(t.startswith("<session_context>") for t in texts))
                c.step("user", sum(not t.startswith("<session_context>") for t in texts))
                continue
            tools = m.get("toolCalls") or []
            c.add(calls=1, tool_calls=len(tools))
            c.step("model", max(len(texts) + len(m.get("thoughts") or []) + len(tools), 1))
            for t in tools:
                said = json.dumps(t["result"])
                c.step("tool")
                c.add(tool_errors=t["status"] != "success" or ("Exit Code: " in said and "Exit Code: 0" not in said))
        c.done(path)


def opencode():
    def part(c, p, owner):
        if p["type"] in ("text", "reasoning"):
            c.step(owner)
        elif p["type"] == "tool":
            c.step("model")
            c.step("tool")
            c.add(tool_calls=1, tool_errors=p["state"]["status"] == "error" or p["tool"] == "invalid"
                  or p["state"].get("metadata", {}).get("exit", 0) != 0)
        elif p["type"] == "patch":
            c.step("runtime")

    how = ("parts by type: text and reasoning one step, a tool its call and its answer, a patch an event of the program; one "
           "call per assistant message; status error, tool 'invalid' or a non-zero metadata.exit is a tool error")
    for name in ["edit-errors-then-fixed.export.json", "killed-mid-answer.export.json"]:
        path = "opencode/" + name
        c = Count("opencode", how)
        c.add(runs=1)
        for m in load(path)["messages"]:
            c.add(calls=m["info"]["role"] == "assistant")
            for p in m["parts"]:
                part(c, p, {"user": "user", "assistant": "model"}[m["info"]["role"]])
        c.done(path)
    path = "opencode/edit-errors-then-fixed.stream.jsonl"
    c = Count("opencode", how + "; here calls are distinct messageIDs; the stream has no user message")
    c.add(runs=1, calls=len({r["part"]["messageID"] for r in rows(path)}))
    for r in rows(path):
        part(c, r["part"], "model")
    c.done(path)


def pi():
    path = "pi-session/session.jsonl"
    c = Count("pi", "rows by type; blocks of assistant messages are steps (thinking, text, toolCall); a compaction is the "
              "program's text; model_change and thinking_level_change are events; one line is broken and one type unknown")
    c.add(runs=1)
    for r in rows(path):
        if r["type"] == "message":
            m = r["message"]
            owner = {"user": "user", "assistant": "model", "toolResult": "tool"}[m["role"]]
            c.step(owner, len(m["content"]))
            c.add(calls=m["role"] == "assistant", tool_calls=sum(b["type"] == "toolCall" for b in m["content"]),
                  tool_errors=bool(m.get("isError")))
        elif r["type"] in ("compaction", "model_change", "thinking_level_change"):
            c.step("runtime")
    c.done(path)


def table(path):
    """Rows of a parquet table, by pyarrow."""
    import pyarrow.parquet
    return pyarrow.parquet.read_table(os.path.join(ROOT, path)).to_pylist()


def tables():
    for name in ["chat", "text"]:
        path = "trl-completions/%s_completions_00001.parquet" % name
        c = Count("trl", "rows by pyarrow; messages of prompt and completion (or one text each); one call per sampled answer; "
                  "two reward functions (tool_json, length) a row")
        for row in table(path):
            c.add(runs=1, rewards=2)
            for m in row["prompt"] if isinstance(row["prompt"], list) else [{"role": "user", "content": row["prompt"]}]:
                chat(c, m)
            done = row["completion"]
            for m in done if isinstance(done, list) else [{"role": "assistant", "content": done}]:
                chat(c, m)
                c.add(calls=m["role"] == "assistant")
        c.done(path)
    path = "art-trajectories/0003.parquet"
    c = Count("art", "rows by pyarrow; messages by role, tool_calls out of their JSON text; a trainable answer is a call; an "
              "answer that is not trainable has no owner")
    for row in table(path):
        c.add(runs=1, rewards=1)
        for m in row["messages"]:
            m = {k: v for k, v in m.items() if v is not None}
            if "tool_calls" in m:
                m["tool_calls"] = json.loads(m["tool_calls"])
            sampled = m["role"] == "assistant" and m["trainable"]
            chat(c, m, None if sampled else {"assistant": "unknown"})
            c.add(calls=sampled)
    c.done(path)
    path = "verl-rollout-dump/rollout/12.jsonl"
    c = Count("verl", "lines; the input has no owner (system and user in one text); the output is the model's unless a line with "
              "only a speaker's name or a tool_response shows that others speak in it; one call and one score a line")
    for row in rows(path):
        c.add(runs=1, calls=1, rewards=1)
        mixed = "<tool_response>" in row["output"] or any(line in ("user", "assistant") for line in row["output"].split("\n"))
        c.step("unknown", 1 + mixed)
        c.step("model", not mixed)
    c.done(path)
    api, parquet = load("phoenix/spans-api.json")["data"], table("phoenix/spans.parquet")
    assert sorted(s["context"]["span_id"] for s in api) == sorted(s["context.span_id"] for s in parquet)
    twin = OUT["phoenix/spans-api.json"]
    OUT["phoenix/spans.parquet"] = dict(twin, how="by pyarrow the same 13 span ids as spans-api.json, so the same counts: " + twin["how"])


for count in [gemini_cli, opencode, pi, tau2, harbor, openhands, swe_agent, nemo_gym, verifiers, agentdojo, who_and_when, inspect, traces, otel, claude_code, codex, sharegpt, request_log, openai_chat, tau_bench, atif, mini, agent_lightning_1, tables]:
    count()
json.dump(OUT, sys.stdout, indent=1, ensure_ascii=False, sort_keys=True)
print()
