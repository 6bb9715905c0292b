#!/usr/bin/env python3
"""Times the real screen on a real pseudo-terminal: from starting the program until words stand on the screen.

usage: scripts/time_screen.py TRIAGENT WORKSPACE.db WORDS [TIMES]

WORDS are what the first frame must show, such as the name of the first run. The workspace of `benches/screen.rs`
(target/bench-screen/100000x50.db, first run `run-000000`) is the one that docs/speed.md speaks of.
"""
import fcntl
import os
import pty
import select
import statistics
import struct
import sys
import termios
import time


def once(program, workspace, words, columns=200, rows=60, patience=10.0):
    begun = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.environ["TERM"] = "xterm-256color"
        os.execv(program, [program, "--read-only", "--workspace", workspace])
    seen, took = b"", None
    while took is None and time.perf_counter() - begun < patience:
        if select.select([terminal], [], [], 0.01)[0]:
            seen += os.read(terminal, 65536)
            if words.encode() in seen:
                took = time.perf_counter() - begun
    os.write(terminal, b"\x03")
    time.sleep(0.2)
    os.close(terminal)
    os.waitpid(pid, 0)
    return took


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    program, workspace, words = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
    times = int(sys.argv[4]) if len(sys.argv) > 4 else 7
    took = [once(program, workspace, words) for _ in range(times)]
    missed = sum(t is None for t in took)
    took = sorted(t * 1e3 for t in took if t is not None)
    if took:
        print(f"first frame: {statistics.median(took):.0f} ms median, {took[0]:.0f} to {took[-1]:.0f} ms of {len(took)}")
    if missed:
        print(f"{missed} times the words did not come")


main()
