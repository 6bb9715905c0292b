//! Pages for people: what the layers mean, how data flows, questions and exercises. Text only; it decides nothing.

/// A page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// What is typed to open it.
    pub topic: &'static str,
    /// One line for the list.
    pub about: &'static str,
    /// Markdown.
    pub text: &'static str,
}

/// All pages, in reading order.
pub const PAGES: &[Page] = &[
    Page {
        topic: "layers",
        about: "which layer failed: four layers, four questions, what each change changes",
        text: include_str!("../assets/guide/layers.md"),
    },
    Page {
        topic: "data-flow",
        about: "trainer, gateway, controller, harness, environment; ids and token boundaries",
        text: include_str!("../assets/guide/data-flow.md"),
    },
    Page {
        topic: "questions",
        about: "Q090–Q092 with follow-ups, cases and misconceptions",
        text: include_str!("../assets/guide/questions.md"),
    },
    Page {
        topic: "exercises",
        about: "exercises on the sample logs, and a self-check",
        text: include_str!("../assets/guide/exercises.md"),
    },
    Page {
        topic: "probe",
        about: "what a log-prob probe can tell, and what it cannot",
        text: include_str!("../assets/guide/probe.md"),
    },
    Page {
        topic: "calibration",
        about: "is the machine's suggestion any good: figures on the fault suite, and against people",
        text: include_str!("../docs/calibration.md"),
    },
    Page {
        topic: "three-failures",
        about: "three real failures: what the program said, what a careful person says",
        text: include_str!("../docs/three-failures.md"),
    },
    Page {
        topic: "graders",
        about: "the hack suite, rule graders, and the JSON of your own grader",
        text: include_str!("../docs/graders.md"),
    },
];

/// Returns the page of that name.
pub fn page(topic: &str) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.topic == topic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(topic: &str) -> &'static str {
        page(topic).unwrap().text
    }

    // S-93: nine follow-ups, three a question, each with the place that shows the evidence.
    #[test]
    fn the_questions_page_answers_nine_follow_ups() {
        let page = text("questions");
        let anchors = page
            .lines()
            .filter(|line| line.starts_with("### F"))
            .count();
        assert_eq!(anchors, 9);
        for question in ["Q090", "Q091", "Q092"] {
            assert!(page.contains(&format!("## {question} ")));
        }
        for part in ["**Short answer.**", "**Case.**", "**Misconceptions.**"] {
            assert_eq!(page.matches(part).count(), 3, "{part}");
        }
    }

    // S-06 to S-10: five rows, each with what it changes and its evidence.
    #[test]
    fn the_layers_page_has_the_five_rows() {
        let rows = [
            "mend index",
            "edit prompt",
            "SFT",
            "preference optimisation",
            "agent RL",
        ];
        let page = text("layers");
        for row in rows {
            assert!(
                page.lines()
                    .any(|l| l.starts_with(&format!("| {row}")) && l.matches('|').count() == 4),
                "{row}"
            );
        }
    }

    // S-33: five parts and the chain of ids. S-32: the paper stays valid for concepts. S-30: harness and task shift.
    #[test]
    fn the_data_flow_page_names_its_parts() {
        let page = text("data-flow");
        for part in [
            "Trainer",
            "Gateway",
            "Rollout Controller",
            "harness",
            "environment",
            "attempt",
            "event",
        ] {
            assert!(page.contains(part), "{part}");
        }
        assert!(page.contains("still the place to learn the"));
        assert!(page.contains("task families"));
    }

    // S-60: these words never appear anywhere.
    #[test]
    fn no_page_says_that_a_gradient_is_zero() {
        for page in PAGES {
            assert!(
                !page.text.to_lowercase().contains("gradient is zero"),
                "{}",
                page.topic
            );
        }
    }

    // S-87, S-88, S-84: what the calculator does, the self-check, what to mend first.
    #[test]
    fn the_exercises_say_what_they_must() {
        let page = text("exercises");
        for words in [
            "parameters are updated elsewhere",
            "was there training?* No",
            "punish every step?* Not directly",
            "Mend the system first",
        ] {
            assert!(page.contains(words), "{words}");
        }
    }
}
