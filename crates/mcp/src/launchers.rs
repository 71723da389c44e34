//! What is known of programs by their names, of variables that change what a program loads, and of where packages come from or lie:
//! lists, and the questions that they answer.

use super::runner::program;
use std::path::{Path, PathBuf};

/// Programs that run what other words, files or settings of the folder say, by their names without a version.
const LAUNCHERS: &[&str] = &[
    "ash",
    "asdf",
    "awk",
    "bash",
    "bun",
    "bundle",
    "busybox",
    "cargo",
    "cmd",
    "command",
    "conda",
    "corepack",
    "dash",
    "deno",
    "devbox",
    "direnv",
    "docker",
    "docker-compose",
    "dotnet",
    "env",
    "exec",
    "fish",
    "flox",
    "gawk",
    "go",
    "gradle",
    "gradlew",
    "hatch",
    "java",
    "julia",
    "just",
    "ksh",
    "lua",
    "make",
    "mamba",
    "micromamba",
    "mise",
    "mvn",
    "nice",
    "nix",
    "nix-shell",
    "node",
    "nodejs",
    "nohup",
    "npm",
    "npx",
    "osascript",
    "pdm",
    "perl",
    "php",
    "pipenv",
    "pipx",
    "pixi",
    "pnpm",
    "pnpx",
    "podman",
    "poetry",
    "powershell",
    "pwsh",
    "py",
    "pypy",
    "python",
    "rake",
    "Rscript",
    "ruby",
    "rye",
    "script",
    "setsid",
    "sh",
    "stdbuf",
    "sudo",
    "swift",
    "task",
    "tclsh",
    "timeout",
    "ts-node",
    "tsx",
    "uv",
    "uvx",
    "volta",
    "vite-node",
    "wsl",
    "xargs",
    "yarn",
    "zsh",
];

/// Variables that change which code a program loads, or where it is fetched from.
const LOADS: &[&str] = &[
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "RUBYOPT",
    "RUBYLIB",
    "PERL5OPT",
    "PERL5LIB",
    "BASH_ENV",
    "ENV",
    "PATH",
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "JAVA_TOOL_OPTIONS",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "GIT_SSH_COMMAND",
    "SHELL",
];
const LOADS_BY_BEGINNING: &[&str] = &[
    "NPM_CONFIG_",
    "UV_",
    "PIP_",
    "PIPX_",
    "YARN_",
    "BUN_",
    "PNPM_",
    "GIT_CONFIG",
];

/// Whether a variable of this name changes which code a program loads, or where from.
pub(super) fn changes_what_loads(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    LOADS.contains(&upper.as_str())
        || LOADS_BY_BEGINNING
            .iter()
            .any(|begin| upper.starts_with(begin))
}

/// Whether a program runs what others say: by its name without a version (`python3.12`).
pub(super) fn is_launcher(command: &str) -> bool {
    let name = program(command);
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    LAUNCHERS.contains(&name.as_str()) || LAUNCHERS.contains(&plain)
}

/// Where a virtual environment lies in a project, by custom.
pub(super) const VENVS: &[&str] = &[".venv", "venv"];

/// The folders of a package in a virtual environment: one for each version of Python.
pub(super) fn installed_as(venv: &Path, package: &str) -> Vec<PathBuf> {
    let versions = match std::fs::read_dir(venv.join("lib")) {
        Ok(entries) if !package.is_empty() => entries,
        _ => return Vec::new(),
    };
    let mut found: Vec<PathBuf> = versions
        .filter_map(Result::ok)
        .map(|version| version.path().join("site-packages").join(package))
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

/// Which registry a package comes from, as far as the entry decides it.
pub(super) fn whose_registry(options: &[(String, String)], env: &[(String, String)]) -> String {
    const INSTEAD: &[&str] = &["--registry", "--index-url", "-i", "--default-index"];
    const BESIDE: &[&str] = &["--index", "--extra-index-url"];
    let option = |known: &[&str]| {
        let flags = options.iter().map(|(flag, _)| flag);
        let named = flags
            .into_iter()
            .find(|flag| known.contains(&flag.as_str()));
        named.cloned()
    };
    let names_one = |name: &str| name.contains("REGISTRY") || name.contains("INDEX");
    let variable = env.iter().find(|(name, _)| {
        let name = name.to_ascii_uppercase();
        let begins = LOADS_BY_BEGINNING.iter().any(|b| name.starts_with(b));
        begins && names_one(&name)
    });
    if let Some(flag) = option(INSTEAD) {
        return format!("that its {flag} names");
    }
    if let Some((name, _)) = variable {
        return format!("that its variable {name} names");
    }
    match option(BESIDE) {
        Some(flag) => format!("of your own settings and the one that its {flag} names"),
        None => "of your own settings".to_owned(),
    }
}
