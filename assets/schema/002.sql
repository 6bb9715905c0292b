-- What the board filters, counts and sorts by, in one narrow index: a run's row holds its head and facts as well, and reading
-- 100,000 of those for a count costs a hundred times more.
CREATE INDEX run_board ON run (
  outcome, family, harness, model, format, ending, reward_status, reward_result, steps, calls, errors,
  index_version, has_retry, has_rewrite, has_unknown, task, id);
