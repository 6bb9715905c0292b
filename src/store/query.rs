//! Turns a parsed filter into SQL with bound values. No text of the user's becomes SQL.

use crate::domain::filter::{Compare, Condition, Feature, Field, Filter, Term};
use rusqlite::types::Value;

/// A WHERE clause over `run r` and what it binds.
#[derive(Debug, Default)]
pub(super) struct Where {
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
}

impl Where {
    pub(super) fn of(filter: &Filter) -> Self {
        let mut out = Self {
            sql: "1".to_owned(),
            values: Vec::new(),
        };
        for term in &filter.terms {
            out.add(term);
        }
        out
    }

    /// Only the given terms.
    pub(super) fn of_terms<'a>(terms: impl IntoIterator<Item = &'a Term>) -> Self {
        let mut out = Self::of(&Filter::default());
        for term in terms {
            out.add(term);
        }
        out
    }

    /// Adds a clause of our own.
    pub(super) fn and(&mut self, sql: &str, values: impl IntoIterator<Item = Value>) {
        self.sql.push_str(" AND ");
        self.sql.push_str(sql);
        self.values.extend(values);
    }

    fn add(&mut self, term: &Term) {
        self.sql.push_str(if term.negated {
            " AND NOT coalesce(("
        } else {
            " AND (("
        });
        self.condition(&term.condition);
        self.sql.push_str(if term.negated { "), 0)" } else { "))" });
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Is { field, values } => self.one_of(*field, values),
            Condition::Number {
                field,
                compare,
                value,
            } => {
                self.sql.push_str(column(*field));
                self.sql.push_str(operator(*compare));
                self.sql.push_str("CAST(? AS REAL)");
                self.bind(value.clone());
            }
            Condition::Text(words) => {
                // From the texts to their steps: the other way round every step of the workspace would be looked at.
                let sql = "r.seq IN (SELECT s.run FROM body_fts f CROSS JOIN step s ON s.body = f.rowid \
                     WHERE body_fts MATCH ?)";
                self.sql.push_str(sql);
                self.bind(super::search::phrase(words));
            }
            Condition::StepTool(tool) => {
                // One look into the index a run: most runs call the common tools many times.
                let sql = "EXISTS (SELECT 1 FROM step s WHERE s.tool = ? AND s.run = r.seq)";
                self.sql.push_str(sql);
                self.bind(tool.clone());
            }
            Condition::Labelled(None) => {
                self.sql
                    .push_str("r.id IN (SELECT run FROM current_verdict)");
            }
            Condition::Labelled(Some(reviewer)) => {
                let sql = "r.id IN (SELECT subject FROM live_decision WHERE kind = 'verdict' AND reviewer = ?)";
                self.sql.push_str(sql);
                self.bind(reviewer.clone());
            }
            Condition::Has(feature) => self.sql.push_str(feature_sql(*feature)),
        }
    }

    fn one_of(&mut self, field: Field, values: &[String]) {
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                self.sql.push_str(" OR ");
            }
            self.equals(field, value);
        }
    }

    fn equals(&mut self, field: Field, value: &str) {
        let is_none = value == "none";
        match field {
            Field::Layer | Field::Cause if is_none => {
                self.sql
                    .push_str("r.id NOT IN (SELECT run FROM current_verdict)");
            }
            Field::Layer => self.verdict("layer", value),
            Field::Cause => self.verdict("cause", value),
            Field::Outcome => {
                // The reviewers' word goes before the file's.
                let sql = "(r.outcome = ? AND r.id NOT IN (SELECT run FROM current_outcome)) \
                     OR r.id IN (SELECT run FROM current_outcome WHERE outcome = ?)";
                self.sql.push_str(sql);
                self.bind(value.to_owned());
                self.bind(value.to_owned());
            }
            Field::Run => {
                self.sql.push_str("r.id >= ? AND r.id < ?");
                self.bind(value.to_owned());
                self.bind(format!("{value}\u{10ffff}"));
            }
            Field::Source => {
                self.sql.push_str("instr(r.source, ?) > 0");
                self.bind(value.to_owned());
            }
            _ if is_none => {
                self.sql.push_str(column(field));
                self.sql.push_str(" IS NULL");
            }
            _ => {
                self.sql.push_str(column(field));
                self.sql.push_str(" = ?");
                self.bind(value.to_owned());
            }
        }
    }

    fn verdict(&mut self, column: &str, value: &str) {
        self.sql
            .push_str("r.id IN (SELECT run FROM current_verdict WHERE ");
        self.sql.push_str(column);
        self.sql.push_str(" = ?)");
        self.bind(value.to_owned());
    }

    fn bind(&mut self, value: String) {
        self.values.push(Value::Text(value));
    }
}

/// The column of `run r` behind a field.
pub(super) fn column(field: Field) -> &'static str {
    match field {
        Field::Run => "r.id",
        Field::Task => "r.task",
        Field::Family => "r.family",
        Field::Scenario => "r.scenario",
        Field::Format => "r.format",
        Field::Source => "r.source",
        Field::Outcome => {
            "coalesce((SELECT o.outcome FROM current_outcome o WHERE o.run = r.id), r.outcome)"
        }
        Field::Ending => "r.ending",
        Field::Layer => "(SELECT v.layer FROM current_verdict v WHERE v.run = r.id)",
        Field::Cause => "(SELECT v.cause FROM current_verdict v WHERE v.run = r.id)",
        Field::Model => "r.model",
        Field::Harness => "r.harness",
        Field::Index => "r.index_version",
        Field::Prompt => "r.prompt_version",
        Field::Toolset => "r.toolset_version",
        Field::Checkpoint => "r.checkpoint",
        Field::Group => "r.grp",
        Field::Steps => "r.steps",
        Field::Calls => "r.calls",
        Field::Errors => "r.errors",
        Field::RewardResult => "r.reward_result",
        Field::RewardStatus => "r.reward_status",
        Field::Imported => "r.seq",
    }
}

fn operator(compare: Compare) -> &'static str {
    match compare {
        Compare::Equal => " = ",
        Compare::Less => " < ",
        Compare::AtMost => " <= ",
        Compare::Greater => " > ",
        Compare::AtLeast => " >= ",
    }
}

fn feature_sql(feature: Feature) -> &'static str {
    match feature {
        Feature::Error => "r.errors > 0",
        Feature::Secret => {
            "r.id IN (SELECT subject FROM result WHERE kind = 'finding' AND key GLOB 'secret*')"
        }
        Feature::Retry => "r.has_retry",
        Feature::Rewrite => "r.has_rewrite",
        Feature::Pair => {
            "r.id IN (SELECT json_extract(body, '$.body.a.at.run') FROM live_decision WHERE kind = 'pair' \
             UNION SELECT json_extract(body, '$.body.b.at.run') FROM live_decision WHERE kind = 'pair')"
        }
        Feature::Score => "r.id IN (SELECT run FROM score)",
        Feature::Note => {
            "r.id IN (SELECT subject FROM live_decision WHERE kind = 'note' \
             UNION SELECT subject FROM live_decision WHERE kind = 'verdict' AND json_extract(body, '$.body.note') <> '')"
        }
        Feature::Reward => "r.reward_status <> 'missing'",
        Feature::UnknownOwner => "r.has_unknown",
        Feature::Abrupt => "r.ending = 'abrupt'",
    }
}
