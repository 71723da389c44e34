//! Values that look like secrets and are none.

// Put together here, so that no scanner takes the test for a leak.
/// One or more of each kind, with the kind's name.
pub fn samples() -> Vec<(&'static str, String)> {
    let a = |n: usize| "aB3dE6gH9jK2mN5pQ8sT1vX4zA7cF0hL".repeat(3)[..n].to_owned();
    vec![
        ("anthropic", format!("sk-ant-api03-{}", a(40))),
        ("openai", format!("sk-proj-{}", a(40))),
        ("stripe", format!("sk_live_{}", a(24))),
        ("github", format!("ghp_{}", a(36))),
        ("github", format!("github_pat_{}", a(40))),
        ("gitlab", format!("glpat-{}", a(20))),
        ("slack", format!("xoxb-1234567890-{}", a(20))),
        ("aws", format!("AKIA{}", "ABCDEFGHIJ234567")),
        ("google", format!("AIza{}", a(35))),
        ("sendgrid", format!("SG.{}.{}", a(22), a(40))),
        ("telegram", format!("123456789:AA{}", a(33))),
        ("jwt", format!("eyJ{}.eyJ{}.{}", a(20), a(30), a(20))),
        (
            "private-key",
            format!(
                "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
                a(60)
            ),
        ),
    ]
}
