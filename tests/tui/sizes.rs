//! Any size of terminal, any screen: nothing breaks, Chinese text lines up, a wide screen uses its room.

use super::stage::{assert_shows, play};
use triagent::text::width;
use triagent::tui::Stage;

/// Keys that lead to every screen and every thing above it.
pub(super) const WAYS: &[&str] = &[
    "",
    "?",
    ":",
    "f",
    "/",
    "gr",
    "s",
    "L",
    "<space>",
    "<tab>",
    "<enter>",
    "<enter>i",
    "<enter><tab>",
    "<enter>1",
    "<enter>4",
    "<enter>e",
    "<enter>K",
    "<enter>C",
    "<space>p",
    "<space>p<enter>",
    "<space>p<enter>1",
    "xx=",
    "<space>a",
    "<space>r",
    "<space>h",
    "<space>g",
    "<space>e",
    "<space>j",
    "<space>m",
    "<space>f",
    "I",
];

#[test]
fn every_screen_fits_every_size() {
    for way in WAYS {
        let mut play = play(80, 24);
        play.stage.keys(way);
        for (columns, rows) in [
            (0, 0),
            (1, 1),
            (5, 3),
            (20, 5),
            (40, 12),
            (80, 24),
            (250, 70),
        ] {
            let screen = play.stage.resize(columns, rows).screen();
            for line in screen.lines() {
                assert!(
                    width(line) <= usize::from(columns),
                    "{way} at {columns}x{rows}: {line}"
                );
            }
            play.stage.keys("jkGgg");
        }
    }
}

#[test]
fn chinese_text_lines_up() {
    let mut play = play(120, 30);
    play.filter("text:\"报销\"");
    let screen = play.keys("<enter>");
    // The wall between list and text stands in one column on every row of the body.
    let wall = |line: &str| {
        let at = line
            .find(['│', '┃', '✗'])
            .filter(|at| line.get(*at..).is_some());
        at.map(|at| width(line.get(..at).unwrap_or("")))
    };
    let rows: Vec<&str> = screen.lines().skip(3).take(20).collect();
    let columns: Vec<usize> = rows.iter().filter_map(|l| wall(l)).collect();
    assert!(columns.len() > 10, "{screen}");
    assert!(
        columns.iter().all(|c| *c == columns[0]),
        "{columns:?}\n{screen}"
    );
}

#[test]
fn a_wide_screen_shows_more_at_once() {
    let mut play = play(200, 60);
    let screen = play.keys("");
    assert_shows(&screen, &["counts", "outcome", "family"]);
    insta::assert_snapshot!("board_200x60", screen);
    play.filter("run:four-correct-citation");
    let screen = play.keys("<enter>i");
    assert_shows(&screen, &["text", "inspector", "required documents"]);
    // Further down stands the path of the log, which is another one on every machine.
    let above: Vec<&str> = screen.lines().take(28).collect();
    insta::assert_snapshot!("run_200x60", above.join("\n"));
}

#[test]
fn without_a_workspace_the_first_screen_says_what_one_can_do() {
    let mut stage = Stage::new(None, 80, 24).unwrap();
    let screen = stage.screen();
    assert_shows(&screen, &["import logs", "open the demo", "help"]);
    insta::assert_snapshot!("welcome_80x24", screen);
    stage.keys("?");
    assert_shows(&stage.screen(), &["keys in welcome"]);
    stage.keys("<esc>j<space>a");
    assert_shows(&stage.screen(), &["open a workspace first"]);
}

/// A typed path is the path, and one that is not there is told before anything is read.
#[test]
fn the_import_prompt_starts_empty_and_refuses_what_is_not_there() {
    let mut stage = Stage::new(None, 80, 24).unwrap();
    stage.keys("I");
    stage.text("/no/such/log.jsonl").keys("<enter>");
    let screen = stage.screen();
    let said = [
        "/no/such/log.jsonl: no such file",
        "import files or folders",
    ];
    assert_shows(&screen, &said);
    assert!(!screen.contains("./no"), "{screen}");
}
