//! Hints at claims that a note should not make (S-91): reflection as training, rewards for everything, training for
//! missing data, random slices as a split. It hints; it never changes what somebody wrote.

use std::ops::Range;

/// A hint at a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimHint {
    /// The sentence, in bytes of the note.
    pub at: Range<usize>,
    /// Name of the claim.
    pub claim: &'static str,
    /// What to think about.
    pub hint: &'static str,
}

struct Claim {
    name: &'static str,
    /// One word of each group must stand in the sentence.
    groups: &'static [&'static [&'static str]],
    hint: &'static str,
}

const CLAIMS: &[Claim] = &[
    Claim {
        name: "reflection-is-training",
        groups: &[
            &[
                "reflect",
                "memo",
                "self-critique",
                "prompt edit",
                "skill file",
                "反思",
                "备忘",
                "改提示",
                "改了提示",
                "提示词",
            ],
            &[
                "weight",
                "parameter",
                "trained",
                "training",
                "learned",
                "learnt",
                " rl",
                "权重",
                "参数",
                "训练",
                "强化学习",
            ],
        ],
        hint: "reading a reflection changes the input; weights changed only where two checkpoint hashes differ",
    },
    Claim {
        name: "all-training-needs-reward",
        groups: &[
            &[
                "all training",
                "any training",
                "every training",
                "training always",
                "sft",
                "dpo",
                "所有训练",
                "任何训练",
                "训练都",
            ],
            &["need", "require", "must have", "需要", "必须", "都要"],
            &[
                "online reward",
                "scalar reward",
                "a reward",
                "reward model",
                "在线奖励",
                "标量奖励",
                "奖励",
            ],
        ],
        hint: "SFT needs demonstrations, DPO needs pairs; only online RL needs a reward",
    },
    Claim {
        name: "training-for-missing-data",
        groups: &[
            &[
                "missing data",
                "missing document",
                "not indexed",
                "stale",
                "not retrieved",
                "no permission",
                "数据缺失",
                "缺资料",
                "缺少资料",
                "没检索到",
                "索引没",
                "未更新",
            ],
            &[
                "train",
                "fine-tun",
                "finetun",
                " rl",
                "sft",
                "dpo",
                "训练",
                "微调",
                "强化学习",
            ],
        ],
        hint: "no training brings a document that was never there: mend the index, the context or the permission first",
    },
    Claim {
        name: "random-slice-split",
        groups: &[
            &["random", "shuffle", "随机"],
            &["slice", "turn", "step", "row", "切片", "片段", "步骤"],
            &[
                "split",
                "test set",
                "holdout",
                "切分",
                "划分",
                "测试集",
                "分训练",
            ],
        ],
        hint: "slices of one trajectory must stay together: split by task, document or scenario",
    },
    Claim {
        name: "score-rose-so-deploy",
        groups: &[
            &[
                "training score",
                "reward rose",
                "reward went up",
                "reward is up",
                "训练分数",
                "奖励上升",
                "训练集分数",
            ],
            &[
                "deploy",
                "roll out",
                "rollout to",
                "ship",
                "release",
                "上线",
                "部署",
                "发布",
            ],
        ],
        hint: "first held-out tasks and bad cases, reward holes, regressions and cost; then a small rollout",
    },
    Claim {
        name: "tool-success-is-task-success",
        groups: &[
            &[
                "tool success",
                "tool call succeeded",
                "format pass",
                "format is right",
                "工具成功",
                "格式通过",
            ],
            &["task success", "solved", "correct", "任务成功", "完成任务"],
        ],
        hint: "a tool that answered and a format that passed say nothing about the user's task",
    },
];

/// Words that turn a sentence round: it denies the claim instead of making it.
const DENIALS: &[&str] = &[
    " not ",
    "n't ",
    " no ",
    " never ",
    " without ",
    "instead of",
    "≠",
    "不等于",
    "不是",
    "不能",
    "没有",
    "并未",
    "不应",
    "不要",
    "不需要",
    "未必",
];

/// Returns hints at claims in a note.
pub fn lint_claims(note: &str) -> Vec<ClaimHint> {
    sentences(note)
        .flat_map(|at| {
            let text = format!(" {} ", note.get(at.clone()).unwrap_or("").to_lowercase());
            let denied = DENIALS.iter().any(|d| text.contains(d));
            CLAIMS
                .iter()
                .filter(move |c| {
                    !denied && c.groups.iter().all(|g| g.iter().any(|w| text.contains(w)))
                })
                .map(move |c| ClaimHint {
                    at: at.clone(),
                    claim: c.name,
                    hint: c.hint,
                })
        })
        .collect()
}

fn sentences(note: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    let ends = note
        .char_indices()
        .filter(|(_, c)| matches!(c, '.' | '!' | '?' | ';' | '\n' | '。' | '！' | '？' | '；'))
        .map(|(i, c)| i + c.len_utf8());
    let mut all = Vec::new();
    for end in ends.chain(std::iter::once(note.len())) {
        if note.get(start..end).is_some_and(|s| !s.trim().is_empty()) {
            all.push(start..end);
        }
        start = end;
    }
    all.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(note: &str) -> Vec<&'static str> {
        lint_claims(note).into_iter().map(|c| c.claim).collect()
    }

    #[test]
    fn s91_each_phrase_raises_a_hint() {
        for (note, claim) in [
            (
                "The reflection updated the weights.",
                "reflection-is-training",
            ),
            ("助手反思后已经更新了参数。", "reflection-is-training"),
            (
                "All training needs an online reward",
                "all-training-needs-reward",
            ),
            ("所有训练都需要在线奖励", "all-training-needs-reward"),
            (
                "Stronger training for the missing data should do.",
                "training-for-missing-data",
            ),
            ("新版没检索到，直接上更强训练", "training-for-missing-data"),
            (
                "I split random slices into train and test set",
                "random-slice-split",
            ),
            ("同一轨迹切片随机分训练测试", "random-slice-split"),
            (
                "Training score is up, let us deploy",
                "score-rose-so-deploy",
            ),
            (
                "Tool success means the task is solved",
                "tool-success-is-task-success",
            ),
        ] {
            assert_eq!(claims(note), [claim], "{note}");
        }
    }

    #[test]
    fn honest_notes_stay_quiet() {
        for note in [
            "Reflection is not training.",
            "反思不等于训练。",
            "Missing document: mend the index, do not train.",
            "Split by task, never random slices into a test set.",
            "The model ignored the condition although it was in view.",
            "",
        ] {
            assert_eq!(claims(note), [] as [&str; 0], "{note}");
        }
    }

    #[test]
    fn a_hint_points_at_its_sentence() {
        let note = "先看索引。反思更新了权重。完";
        let hint = &lint_claims(note)[0];
        assert_eq!(note.get(hint.at.clone()), Some("反思更新了权重。"));
    }
}
