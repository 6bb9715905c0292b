"""Trains the dictionary with which the workspace packs heads and calls (assets/schema/blobs-1.dict).

    python scripts/make_blob_dictionary.py WORKSPACE.db OUT.dict

WORKSPACE.db: a fresh workspace into which `sample-logs` and `tests/data` of this repository were imported, so that the dictionary
holds words of ours alone: our field names and the samples' tools. Needs the `zstandard` package.

A dictionary that is in use never changes: workspaces out there are packed with it. A better one gets a new number beside it.
"""

import pathlib
import sqlite3
import sys

import zstandard

SIZE = 8 << 10


def main(workspace, out):
    db = sqlite3.connect(workspace)
    old = zstandard.ZstdDecompressor()
    texts = []
    for (blob,) in db.execute("SELECT head FROM run UNION ALL SELECT data FROM call"):
        flag, size, data = blob[0], int.from_bytes(blob[1:9], "little"), blob[9:]
        if flag == 0:
            texts.append(data)
        elif flag == 1:
            texts.append(old.decompress(data, max_output_size=size))
        else:
            sys.exit("this workspace is packed with a dictionary already; import with a program that has none")
    pathlib.Path(out).write_bytes(zstandard.train_dictionary(SIZE, texts, dict_id=1).as_bytes())
    print(f"{len(texts)} blobs, {sum(map(len, texts))} bytes")


main(*sys.argv[1:])
