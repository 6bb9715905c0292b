//! Manners: exit codes, settings with their origin, pages and completions, pipes that close early.

use super::desk::Desk;
use std::process::Stdio;

#[test]
fn usage_mistakes_end_with_two_and_a_suggestion() {
    let desk = Desk::new();
    let ran = desk.run(&["confg", "show"]).ended(2);
    assert!(ran.out.is_empty());
    assert!(ran.err.contains("config"), "{}", ran.err);
}

#[test]
fn help_goes_to_stdout_and_is_the_manual() {
    let desk = Desk::new();
    let ran = desk.run(&["--help"]).ok();
    assert!(ran.err.is_empty());
    for word in [
        "Verbs",
        "config",
        "--workspace",
        "TRIAGENT_REVIEWER",
        "Exit codes",
    ] {
        assert!(ran.out.contains(word), "{word} is missing:\n{}", ran.out);
    }
}

#[test]
fn settings_show_their_origin() {
    let desk = Desk::new();
    desk.write("home/config/triagent/config.toml", "reviewer = \"ann\"\n");
    let rows = desk.run(&["config", "show", "--json"]).ok().rows();
    let of = |key: &str| rows.iter().find(|r| r["key"] == key).unwrap().clone();
    assert_eq!(of("reviewer")["value"], "ann");
    assert!(
        of("reviewer")["origin"]
            .as_str()
            .unwrap()
            .ends_with("config.toml")
    );
    assert_eq!(of("score.device")["value"], "auto");
    assert_eq!(of("score.device")["origin"], "default");
}

#[test]
fn a_wrong_setting_is_an_error_that_names_the_right_one() {
    let desk = Desk::new();
    desk.write(
        "home/config/triagent/config.toml",
        "[screen]\nthem = \"mono\"\n",
    );
    let ran = desk.run(&["config", "show"]).ended(1);
    assert!(
        ran.err
            .contains("config.toml: unknown setting `screen.them`"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("did you mean `screen.theme`?"),
        "{}",
        ran.err
    );
}

#[test]
fn the_default_settings_file_can_be_used_as_it_is() {
    let desk = Desk::new();
    let text = desk.run(&["config", "default"]).ok().out;
    desk.write("home/config/triagent/config.toml", &text);
    desk.run(&["config", "show"]).ok();
}

#[test]
fn completions_parse_in_their_shells() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = desk.run(&["completions", shell]).ok().out;
        assert!(
            script.contains("config") && script.contains("__ids"),
            "{shell}"
        );
        let file = desk.write(&format!("script.{shell}"), &script);
        let checked = std::process::Command::new(shell)
            .arg("-n")
            .arg(&file)
            .output();
        match checked {
            Ok(output) => assert!(
                output.status.success(),
                "{shell}: {}",
                String::from_utf8_lossy(&output.stderr)
            ),
            Err(_) => eprintln!("skipped: no {shell} here to parse its script"),
        }
    }
}

#[test]
fn every_verb_has_a_man_page() {
    let desk = Desk::new();
    let page = desk.run(&["man"]).ok().out;
    assert!(page.contains(".TH triagent 1"), "{page}");
    desk.run(&["man", "--out", "pages"]).ok();
    for name in ["triagent.1", "triagent-config.1", "triagent-config-show.1"] {
        assert!(desk.path("pages").join(name).is_file(), "{name}");
    }
}

#[test]
fn a_pipe_that_closes_early_is_no_failure() {
    let desk = Desk::new();
    let mut child = desk
        .command(&["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(
        ended.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    assert!(ended.stderr.is_empty());
}
