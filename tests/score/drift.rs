//! The self-check as people run it.

use serde_json::Value;
use std::process::Command;

fn self_check(precision: &str) -> (Value, Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_triagent"))
        .args([
            "score",
            "--self-check",
            "--json",
            "--device",
            "cpu",
            "--precision",
            precision,
        ])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let talk = String::from_utf8_lossy(&out.stderr).into_owned();
    (
        serde_json::from_slice(&out.stdout).expect(&talk),
        out.status.code(),
        talk,
    )
}

/// F32 on the CPU is the reference itself; sixteen bits are told by how much they move margins, and
/// refused where that may turn a preference around.
#[test]
fn the_self_check_tells_the_drift_of_a_mode() {
    let (exact, code, _) = self_check("f32");
    assert_eq!((&exact["max"], code), (&Value::from(0.0), Some(0)));
    for precision in ["f16", "bf16"] {
        let (check, code, talk) = self_check(precision);
        let margin = check["max_margin"].as_f64().unwrap();
        assert!(margin > 0.0, "{check}");
        assert_eq!(check["mode"], format!("{precision} on cpu"));
        let passes = margin <= 1.0;
        assert_eq!(
            (check["passes"].as_bool(), code),
            (Some(passes), Some(i32::from(!passes)))
        );
        assert_eq!(talk.contains("--precision f32"), !passes, "{talk}");
    }
}
