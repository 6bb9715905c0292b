-- The workspace, first form. Text columns hold the words of the domain, so that a person can read it in sqlite3.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- A file or folder that was imported, and what its import said.
CREATE TABLE source (
  id          INTEGER PRIMARY KEY,
  path        TEXT NOT NULL UNIQUE,
  size        INTEGER NOT NULL,
  mtime_us    INTEGER NOT NULL,
  format      TEXT NOT NULL,
  imported_us INTEGER NOT NULL,
  report      TEXT NOT NULL
) STRICT;

-- Content-addressed texts: logs repeat their prefix in every call, and it is kept once.
CREATE TABLE body (
  id     INTEGER PRIMARY KEY,
  hash   BLOB NOT NULL UNIQUE,
  size   INTEGER NOT NULL,
  packed INTEGER NOT NULL,
  data   BLOB NOT NULL
) STRICT;

CREATE TABLE run (
  seq             INTEGER PRIMARY KEY,
  id              TEXT NOT NULL UNIQUE,
  base_id         TEXT NOT NULL,
  task            TEXT,
  family          TEXT,
  scenario        TEXT,
  grp             TEXT,
  trial           TEXT,
  format          TEXT NOT NULL,
  source          TEXT NOT NULL,
  src_offset      INTEGER NOT NULL,
  outcome         TEXT NOT NULL,
  ending          TEXT NOT NULL,
  model           TEXT,
  harness         TEXT,
  harness_version TEXT,
  index_version   TEXT,
  prompt_version  TEXT,
  toolset_version TEXT,
  checkpoint      TEXT,
  steps           INTEGER NOT NULL,
  calls           INTEGER NOT NULL,
  errors          INTEGER NOT NULL,
  reward_result   REAL,
  reward_status   TEXT NOT NULL,
  has_retry       INTEGER NOT NULL,
  has_rewrite     INTEGER NOT NULL,
  has_unknown     INTEGER NOT NULL,
  started_us      INTEGER,
  imported_us     INTEGER NOT NULL,
  chain           BLOB NOT NULL,
  facts           BLOB NOT NULL,
  head            BLOB NOT NULL
) STRICT;
CREATE INDEX run_base ON run (base_id);
CREATE INDEX run_chain ON run (chain);
CREATE INDEX run_task ON run (task);
CREATE INDEX run_place ON run (source, src_offset);

CREATE TABLE step (
  run          INTEGER NOT NULL REFERENCES run (seq),
  idx          INTEGER NOT NULL,
  owner        TEXT NOT NULL,
  kind         TEXT NOT NULL,
  role         TEXT NOT NULL,
  message      INTEGER NOT NULL,
  call         INTEGER,
  status       TEXT NOT NULL,
  off_path     INTEGER NOT NULL,
  copied       INTEGER NOT NULL,
  tool         TEXT,
  tool_call_id TEXT,
  at_us        INTEGER,
  body         INTEGER NOT NULL REFERENCES body (id),
  size         INTEGER NOT NULL,
  src_offset   INTEGER NOT NULL,
  src_len      INTEGER NOT NULL,
  src_line     INTEGER NOT NULL,
  rest         TEXT,
  PRIMARY KEY (run, idx)
) STRICT, WITHOUT ROWID;
CREATE INDEX step_body ON step (body);
CREATE INDEX step_tool ON step (tool, run) WHERE tool IS NOT NULL;

CREATE TABLE call (
  run      INTEGER NOT NULL REFERENCES run (seq),
  idx      INTEGER NOT NULL,
  event_id TEXT,
  logical  TEXT,
  request  TEXT,
  attempt  TEXT,
  adopted  TEXT NOT NULL,
  reports  INTEGER NOT NULL,
  data     BLOB NOT NULL,
  PRIMARY KEY (run, idx)
) STRICT, WITHOUT ROWID;

-- Four separate fields; there is no score column.
CREATE TABLE reward (
  run          INTEGER NOT NULL REFERENCES run (seq),
  idx          INTEGER NOT NULL,
  grader       TEXT NOT NULL,
  version      TEXT,
  isolated     INTEGER,
  result       REAL,
  evidence     REAL,
  side_effects TEXT,
  cost         REAL,
  status       TEXT NOT NULL,
  detail       TEXT NOT NULL,
  PRIMARY KEY (run, idx)
) STRICT, WITHOUT ROWID;

-- Labels that travelled in a file. Never ours.
CREATE TABLE foreign_label (
  run      INTEGER NOT NULL REFERENCES run (seq),
  idx      INTEGER NOT NULL,
  source   TEXT NOT NULL,
  step     INTEGER,
  category TEXT NOT NULL,
  reason   TEXT NOT NULL,
  detail   TEXT NOT NULL,
  PRIMARY KEY (run, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE document (
  doc_id  TEXT NOT NULL,
  version TEXT NOT NULL,
  data    TEXT NOT NULL,
  PRIMARY KEY (doc_id, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE task (
  id     TEXT PRIMARY KEY,
  family TEXT,
  data   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The append-only log of what people decided. Rows are never updated and never deleted.
CREATE TABLE decision (
  id       TEXT PRIMARY KEY,
  reviewer TEXT NOT NULL,
  at_us    INTEGER NOT NULL,
  kind     TEXT NOT NULL,
  subject  TEXT NOT NULL,
  body     TEXT NOT NULL,
  codebook TEXT NOT NULL,
  replaces TEXT,
  batch    TEXT,
  target   TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX decision_subject ON decision (kind, subject, reviewer, id);
CREATE INDEX decision_target ON decision (target, id) WHERE target IS NOT NULL;
CREATE INDEX decision_reviewer ON decision (reviewer, id);
CREATE TRIGGER decision_keeps BEFORE UPDATE ON decision
  BEGIN SELECT raise(ABORT, 'the decision log is append-only'); END;
CREATE TRIGGER decision_stays BEFORE DELETE ON decision
  BEGIN SELECT raise(ABORT, 'the decision log is append-only'); END;

-- A decision counts unless the last word about it is an undo.
CREATE VIEW live_decision AS
  SELECT d.* FROM decision d
  WHERE d.target IS NULL
    AND coalesce((SELECT u.kind FROM decision u WHERE u.target = d.id ORDER BY u.id DESC LIMIT 1), 'redo') = 'redo';

-- The newest live decision of each reviewer on each subject.
CREATE VIEW own_decision AS
  SELECT d.* FROM live_decision d
  WHERE NOT EXISTS (
    SELECT 1 FROM live_decision e
    WHERE e.kind = d.kind AND e.subject = d.subject AND e.reviewer = d.reviewer AND e.id > d.id);

-- One verdict a run: an adjudication if there is one, else the newest label.
CREATE VIEW current_verdict AS
  SELECT d.id, d.reviewer, d.at_us, d.kind, d.subject AS run, d.body,
         json_extract(d.body, '$.body.layer') AS layer,
         json_extract(d.body, '$.body.cause') AS cause
  FROM live_decision d
  WHERE d.kind IN ('verdict', 'adjudication')
    AND NOT EXISTS (
      SELECT 1 FROM live_decision e
      WHERE e.kind IN ('verdict', 'adjudication') AND e.subject = d.subject
        AND (CASE e.kind WHEN 'adjudication' THEN 1 ELSE 0 END, e.id)
          > (CASE d.kind WHEN 'adjudication' THEN 1 ELSE 0 END, d.id));

-- Pass or fail by the newest reviewer who said so.
CREATE VIEW current_outcome AS
  SELECT d.id, d.reviewer, d.subject AS run, json_extract(d.body, '$.body.outcome') AS outcome
  FROM live_decision d
  WHERE d.kind = 'outcome'
    AND NOT EXISTS (
      SELECT 1 FROM live_decision e WHERE e.kind = 'outcome' AND e.subject = d.subject AND e.id > d.id);

CREATE TABLE score (
  subject  TEXT NOT NULL,
  binding  TEXT NOT NULL,
  run      TEXT NOT NULL,
  at_us    INTEGER NOT NULL,
  data     BLOB NOT NULL,
  PRIMARY KEY (subject, binding)
) STRICT, WITHOUT ROWID;
CREATE INDEX score_run ON score (run);

-- Results of cleaning, probes, advice and whatever else a room wants to find again.
CREATE TABLE result (
  kind    TEXT NOT NULL,
  subject TEXT NOT NULL,
  key     TEXT NOT NULL,
  at_us   INTEGER NOT NULL,
  data    BLOB NOT NULL,
  PRIMARY KEY (kind, subject, key)
) STRICT, WITHOUT ROWID;

-- Words a reviewer has typed and not yet saved.
CREATE TABLE draft (
  reviewer TEXT NOT NULL,
  subject  TEXT NOT NULL,
  at_us    INTEGER NOT NULL,
  text     TEXT NOT NULL,
  PRIMARY KEY (reviewer, subject)
) STRICT, WITHOUT ROWID;

-- Search over distinct bodies. Contentless: the words live in body. CJK characters are spaced by the writer.
CREATE VIRTUAL TABLE body_fts USING fts5 (text, content = '', tokenize = 'unicode61 remove_diacritics 2');
