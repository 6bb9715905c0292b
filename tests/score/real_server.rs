//! A real server: llama-cpp-python on SmolLM2, on the loopback. `TRIAGENT_LLAMA_PYTHON` names a Python that
//! has `llama-cpp-python[server]`, `TRIAGENT_SMOLLM2` the GGUF file; both together run it.

use std::ffi::OsString;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use triagent::domain::{ChatMessage, Progress, Role};
use triagent::score::{ActionScore, ModelSource, Options, Request, ScoreError, Scorer};

/// Loading takes seconds; importing its web framework takes longer.
const START_WAIT: Duration = Duration::from_secs(120);

/// The very process that was started, and ends with the test.
struct Server {
    process: Child,
    url: String,
    gguf: OsString,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn server() -> Option<Server> {
    let (python, gguf) = (
        std::env::var_os("TRIAGENT_LLAMA_PYTHON"),
        std::env::var_os("TRIAGENT_SMOLLM2"),
    );
    let (Some(python), Some(gguf)) = (python, gguf) else {
        eprintln!("skipped: set TRIAGENT_LLAMA_PYTHON and TRIAGENT_SMOLLM2");
        return None;
    };
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let process = Command::new(python)
        .args(["-m", "llama_cpp.server", "--host", "127.0.0.1"])
        .args(["--port", &address.port().to_string()])
        .args(["--logits_all", "true", "--n_ctx", "512", "--model"])
        .arg(&gguf)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut server = Server {
        process,
        url: format!("http://{address}/v1"),
        gguf,
    };
    let start = Instant::now();
    while TcpStream::connect(address).is_err() {
        let ended = server.process.try_wait().unwrap();
        assert!(ended.is_none(), "the server ended: {ended:?}");
        assert!(start.elapsed() < START_WAIT, "the server does not listen");
        std::thread::sleep(Duration::from_millis(200));
    }
    Some(server)
}

fn scores(
    source: &str,
    options: &Options,
    question: &str,
    answers: [&str; 2],
) -> Vec<Result<ActionScore, ScoreError>> {
    let source = ModelSource::parse(Some(source)).unwrap();
    let mut scorer = Scorer::open(&source, options).unwrap();
    let request = Request {
        context: &[ChatMessage::text(Role::User, question)],
        tools: &[],
        actions: &answers.map(|a| ChatMessage::text(Role::Assistant, a)),
        now_us: None,
    };
    scorer.score(&request, &Progress::default())
}

/// Against our own F32, whose numbers are transformers' (`smollm2`): llama.cpp multiplies 4-bit weights by
/// 8-bit activations, which moves a token by 0.08 nats on average and by up to half a nat.
#[test]
fn a_real_server_gives_our_own_numbers() {
    let Some(server) = server() else { return };
    let cases = [
        (
            "What is the capital of France?",
            [
                "The capital of France is Paris.",
                "The capital of France is Lyon.",
            ],
        ),
        (
            "我是会员，二十天后还能退吗？",
            ["可以，会员在三十天内可以退款。", "不可以，只有十四天。"],
        ),
    ];
    let options = Options {
        tokenizer: Some(server.gguf.clone().into()),
        ..Options::default()
    };
    let (mut off, mut tokens, mut worst) = (0.0, 0, 0.0_f32);
    for (question, answers) in cases {
        let own = scores(
            server.gguf.to_str().unwrap(),
            &Options::default(),
            question,
            answers,
        );
        let theirs = scores(
            &format!("{}#smollm2", server.url),
            &options,
            question,
            answers,
        );
        let sums: Vec<[f64; 2]> = own
            .iter()
            .zip(&theirs)
            .map(|(own, theirs)| {
                let (own, theirs) = (own.as_ref().unwrap(), theirs.as_ref().unwrap());
                assert_eq!(own.per_token.len(), theirs.per_token.len());
                for (a, b) in own.per_token.iter().zip(&theirs.per_token) {
                    assert_eq!(a.id, b.id);
                    off += (a.logp - b.logp).abs();
                    worst = worst.max((a.logp - b.logp).abs());
                    tokens += 1;
                }
                [own.logp_sum, theirs.logp_sum]
            })
            .collect();
        let margin = |side: usize| sums[0][side] - sums[1][side];
        eprintln!("margin {:.3} here, {:.3} there", margin(0), margin(1));
        assert!((margin(0) - margin(1)).abs() < 3.0);
    }
    let mean = off / tokens as f32;
    eprintln!("{tokens} tokens, mean {mean:.4}, farthest {worst:.4} nats");
    assert!(tokens > 40 && mean < 0.2 && worst < 1.5);
}

/// Without a start token llama-cpp-python puts every number one place too early; that is seen and refused.
#[test]
fn a_real_servers_shifted_numbers_are_refused() {
    let Some(server) = server() else { return };
    let folder = tempfile::tempdir().unwrap();
    let template = folder.path().join("bare.jinja");
    std::fs::write(
        &template,
        "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}",
    )
    .unwrap();
    let options = Options {
        tokenizer: Some(server.gguf.clone().into()),
        template: Some(template),
        ..Options::default()
    };
    let question = "Count with me: one, two, three, four, five, six, seven, eight, nine, ten. Again: one, two, three, four, five, six, seven, eight, nine, ten.";
    let answers = [
        "one, two, three, four, five, six",
        "ten, nine, eight, seven",
    ];
    for score in scores(
        &format!("{}#smollm2", server.url),
        &options,
        question,
        answers,
    ) {
        let error = score.unwrap_err().to_string();
        assert!(error.contains("successor"), "{error}");
    }
}
