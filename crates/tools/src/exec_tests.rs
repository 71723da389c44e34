use super::{KIND, Spec, ran};
use crate::kind::Work;
use crate::mock::Mode;
use crate::toolset::Surroundings;
use agentctl_base::yaml;
use agentctl_engine::pack::ToolLimits;
use agentctl_engine::toolset::Outcome;
use agentctl_host::confined::{self, Most};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

fn faults(text: &str) -> Vec<String> {
    let node = yaml::read(text, "tool.yaml").unwrap();
    let faults = (KIND.check)(&node, &[]);
    faults
        .into_iter()
        .map(|(place, why)| format!("{}: {why}", place.line))
        .collect()
}

fn shell(script: &str) -> Spec {
    Spec::of(&json!({"program": "/bin/sh", "args": ["-c", script], "env": ["GIVEN"]}))
}

/// What comes of a script that gets `input`, as `status words`.
async fn came(spec: &Spec, folder: &Path, limits: ToolLimits) -> String {
    let given = |name: &str| (name == "GIVEN").then(|| "yes".to_owned());
    let most = Most {
        memory: 1 << 30,
        file: 1 << 20,
        cpu_s: 5,
    };
    let started = confined::spawn(spec.program(folder, given), most)
        .await
        .unwrap();
    match ran(
        started,
        &json!({"q": "x; echo y"}).to_string(),
        limits,
        false,
    )
    .await
    {
        Outcome::Ok(content) => format!("ok {}", content["result"]),
        Outcome::Failed(content) => format!("failed {}", content["error"].as_str().unwrap()),
        other => format!("{other:?}"),
    }
}

async fn said(script: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    came(&shell(script), folder.path(), ToolLimits::default()).await
}

#[test]
fn a_file_names_one_program_by_its_whole_path_and_no_value_is_an_argument() {
    assert_eq!(
        faults("{program: /usr/bin/jq, args: [-c, .], reads: [/srv/data], env: [LANG]}"),
        Vec::<String>::new()
    );
    for wrong in [
        "{program: jq}",
        "{program: ./jq}",
        "{program: /usr/../home/x}",
        "{args: [x]}",
        "{program: /bin/x, args: x}",
        "{program: /bin/x, reads: [data]}",
        "{program: /bin/x, reads: [/srv/../etc]}",
        "{program: /bin/x, env: [LD_PRELOAD]}",
        "{program: /bin/x, env: [\"A=b\"]}",
        "{program: /bin/x, shell: true}",
    ] {
        assert_eq!(faults(wrong).len(), 1, "{wrong}: {:?}", faults(wrong));
    }
}

#[tokio::test]
async fn a_program_is_given_json_and_answers_json() {
    assert_eq!(said("cat").await, r#"ok {"q":"x; echo y"}"#);
    assert_eq!(
        said("echo '{\"n\": 1} {\"n\": 2}'").await,
        "failed what the program said is not one JSON value"
    );
    assert_eq!(
        said("echo bad luck >&2; exit 3").await,
        "failed the program ended with exit status: 3: bad luck"
    );
    // Its environment is what the file says and what any program needs, and it starts in an empty folder of its own.
    let said = said("printf '[\"%s\",\"%s\",%s,%s]' \"$GIVEN\" \"$CARGO_MANIFEST_DIR\" $(env | wc -l) $(ls -A | wc -l); [ \"$PWD\" = \"$HOME\" ]").await;
    assert!(
        said.starts_with(r#"ok ["yes","","#) && said.ends_with(",0]"),
        "{said}"
    );
}

#[tokio::test]
async fn a_program_reads_and_writes_only_where_it_may() {
    let secret = tempfile::tempdir().unwrap();
    let file = secret.path().join("key");
    std::fs::write(&file, "\"seed\"").unwrap();
    let reads = format!("cat {}", file.display());
    assert!(
        said(&reads).await.contains("Permission denied"),
        "{}",
        said(&reads).await
    );
    let writes = format!(
        "(echo 1 > {0}); (: > {0}); rm {0}; (echo 1 > {0}.new); echo '[]'",
        file.display()
    );
    assert_eq!(said(&writes).await, "ok []");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "\"seed\"");
    assert_eq!(said("echo 5 > here; cat here").await, "ok 5");
    assert_eq!(
        said("cp /bin/cat here; ./here /dev/null && echo 1 || echo 2").await,
        "ok 2"
    );
    assert!(said("cat /etc/passwd").await.contains("Permission denied"));

    let mut spec = shell(&reads);
    spec.reads.push(file.clone());
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        came(&spec, folder.path(), ToolLimits::default()).await,
        "ok \"seed\""
    );
}

#[tokio::test]
async fn a_program_reaches_no_network_and_no_other_process() {
    let here = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let script = format!(
        "for way in tcp udp; do (exec 3<>/dev/$way/127.0.0.1/{}) 2>/dev/null && echo reached; done; kill -0 {} 2>/dev/null && echo seen; echo '[]'",
        here.local_addr().unwrap().port(),
        std::process::id(),
    );
    let bash = Spec::of(&json!({"program": "/bin/bash", "args": ["-c", script]}));
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        came(&bash, folder.path(), ToolLimits::default()).await,
        "ok []"
    );
    // It is the confinement that keeps it from there.
    let free = std::process::Command::new("/bin/bash")
        .args(["-c", &script])
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&free.stdout),
        "reached\nreached\nseen\n[]\n"
    );
}

#[tokio::test]
async fn a_program_takes_no_more_time_or_words_than_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let short = ToolLimits {
        timeout_s: 1,
        max_bytes: 1000,
        ..ToolLimits::default()
    };
    let began = std::time::Instant::now();
    let waits = shell("sleep 600 & sleep 600");
    assert_eq!(
        came(&waits, folder.path(), short).await,
        "failed no answer came in time"
    );
    let floods = shell("yes");
    assert_eq!(
        came(&floods, folder.path(), short).await,
        "failed the answer is larger than 1000 bytes"
    );
    assert!(began.elapsed() < Duration::from_secs(30));
    let words = shell("yes >&2 & sleep 0.2; kill $! 2>/dev/null; echo 1 >&2; exec 2>&-; exit 1");
    assert!(
        came(&words, folder.path(), short)
            .await
            .starts_with("failed ")
    );
    let large = shell("head -c 3000000 /dev/zero > f; [ $(wc -c < f) -le 1048576 ] && echo true");
    assert_eq!(
        came(&large, folder.path(), ToolLimits::default()).await,
        "ok true"
    );
}

#[test]
fn what_is_missing_is_named() {
    let of = |spec: Value| {
        let surroundings = Surroundings {
            mode: Mode::Auto,
            variable: |_| None,
            allow: agentctl_host::reach::Addresses::default(),
            servers: None,
            agents: Default::default(),
            workflows: None,
            packs: None,
            root: None,
            folder: None,
            engine: None,
            reader: None,
        };
        Spec::of(&spec).lacks(&surroundings)
    };
    assert_eq!(of(json!({"program": "/bin/sh"})), None);
    assert_eq!(
        of(json!({"program": "/bin/none"})).unwrap(),
        "/bin/none is no program of this machine"
    );
    assert_eq!(
        of(json!({"program": "/bin/sh", "reads": ["/srv/none"]})).unwrap(),
        "/srv/none is not there"
    );
    assert_eq!(
        of(json!({"program": "/bin/sh", "env": ["KEY"]})).unwrap(),
        "KEY is not set"
    );
}
