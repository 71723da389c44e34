//! Command lines that fetch a package and run it (`npx`, `uvx`, …): which package, and where the server's own arguments begin.
//! Pure. A line with an option that is not known here is not understood, which is said: what it would run is then not promised.

/// Whose settings and folders decide where the package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Node,
    Python,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Runner {
    /// The command and what must follow it, e.g. `npm exec`.
    pub words: &'static [&'static str],
    pub family: Family,
    /// Options without a value.
    switches: &'static [&'static str],
    /// Options whose value changes neither which package is meant nor what else is loaded.
    valued: &'static [&'static str],
    /// Options whose value is the package.
    packages: &'static [&'static str],
}

const NPM_SWITCHES: &[&str] = &[
    "-y",
    "--yes",
    "-q",
    "--quiet",
    "-s",
    "--silent",
    "--offline",
    "--prefer-offline",
    "--prefer-online",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
];
const NPM_VALUED: &[&str] = &["--registry", "--loglevel"];
const UV_SWITCHES: &[&str] = &[
    "-q",
    "--quiet",
    "--offline",
    "--isolated",
    "--no-cache",
    "--refresh",
    "--no-progress",
    "--native-tls",
    "--no-config",
    "-U",
    "--upgrade",
];
const UV_VALUED: &[&str] = &[
    "-p",
    "--python",
    "--with",
    "--prerelease",
    "--index-url",
    "--default-index",
    "--index",
    "--extra-index-url",
    "--exclude-newer",
    "--color",
];

const RUNNERS: &[Runner] = &[
    npm(&["npx"]),
    npm(&["npm", "exec"]),
    npm(&["npm", "x"]),
    Runner {
        words: &["pnpm", "dlx"],
        family: Family::Node,
        switches: &["-s", "--silent", "--reporter=silent"],
        valued: &[],
        packages: &["--package"],
    },
    Runner {
        words: &["pnpx"],
        family: Family::Node,
        switches: &["-s", "--silent"],
        valued: &[],
        packages: &["--package"],
    },
    Runner {
        words: &["yarn", "dlx"],
        family: Family::Node,
        switches: &["-q", "--quiet"],
        valued: &[],
        packages: &["-p", "--package"],
    },
    bun(&["bunx"]),
    bun(&["bun", "x"]),
    uv(&["uvx"]),
    uv(&["uv", "tool", "run"]),
    Runner {
        words: &["pipx", "run"],
        family: Family::Python,
        switches: &["-q", "--quiet", "-v", "--verbose", "--no-cache"],
        valued: &["--python", "-i", "--index-url"],
        packages: &["--spec"],
    },
];

const fn npm(words: &'static [&'static str]) -> Runner {
    Runner {
        words,
        family: Family::Node,
        switches: NPM_SWITCHES,
        valued: NPM_VALUED,
        packages: &["-p", "--package"],
    }
}

const fn bun(words: &'static [&'static str]) -> Runner {
    Runner {
        words,
        family: Family::Node,
        switches: &["--bun", "-y", "--silent"],
        valued: &[],
        packages: &["-p", "--package"],
    }
}

const fn uv(words: &'static [&'static str]) -> Runner {
    Runner {
        words,
        family: Family::Python,
        switches: UV_SWITCHES,
        valued: UV_VALUED,
        packages: &["--from"],
    }
}

/// What a command line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Fetches these packages and runs one of them.
    Fetches {
        runner: &'static Runner,
        packages: Vec<String>,
        /// Values of other options, e.g. a registry.
        options: Vec<(String, String)>,
        /// The first argument that the server itself gets.
        rest: usize,
    },
    /// A runner, with something that is not known here.
    Unclear {
        runner: &'static Runner,
        packages: Vec<String>,
        why: String,
    },
    /// No runner of packages.
    Other,
}

/// Reads a command line. `command` may be a path; only its last part counts here.
pub(super) fn read(command: &str, args: &[String]) -> Line {
    let name = program(command);
    let found = RUNNERS.iter().find(|runner| {
        let mut words = runner.words.iter();
        words.next() == Some(&name.as_str())
            && words.zip(args).filter(|(a, b)| *a == b).count() == runner.words.len() - 1
    });
    let Some(runner) = found else {
        return Line::Other;
    };
    let mut packages = Vec::new();
    let mut options = Vec::new();
    let mut at = runner.words.len() - 1;
    let unclear = |packages: &[String], why: String| Line::Unclear {
        runner,
        packages: packages.to_vec(),
        why,
    };
    loop {
        let Some(arg) = args.get(at) else {
            // `npx -p PACKAGE` alone starts a shell.
            return unclear(&packages, "it names no program".to_owned());
        };
        at += 1;
        if arg == "--" {
            break;
        }
        if !arg.starts_with('-') {
            at -= 1;
            break;
        }
        if runner.switches.contains(&arg.as_str()) {
            continue;
        }
        let (flag, value) = match arg.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value.to_owned())),
            _ => (arg.as_str(), None),
        };
        let names = runner.packages.contains(&flag);
        if !names && !runner.valued.contains(&flag) {
            return unclear(
                &packages,
                format!("the option {flag} is not one that agentctl knows"),
            );
        }
        let value = match value {
            Some(value) => value,
            None => {
                at += 1;
                match args.get(at - 1) {
                    Some(value) => value.clone(),
                    None => return unclear(&packages, format!("{flag} has no value")),
                }
            }
        };
        match names {
            true => packages.push(value),
            false => options.push((flag.to_owned(), value)),
        }
    }
    let Some(program) = args.get(at) else {
        return unclear(&packages, "it names no program".to_owned());
    };
    if packages.is_empty() {
        packages.push(program.clone());
    }
    for package in packages
        .iter()
        .chain(options.iter().map(|(_, value)| value))
    {
        if !is_published(package) {
            let why = format!("{package:?} is no name of a published package");
            return unclear(&packages, why);
        }
    }
    Line::Fetches {
        runner,
        packages,
        options,
        rest: at + 1,
    }
}

/// The name of a program without its folder and the ending that Windows gives it.
pub(super) fn program(command: &str) -> String {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let name = [".exe", ".cmd", ".ps1", ".bat"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(name);
    name.to_owned()
}

/// True for what a runner looks for elsewhere, whatever lies beside it: a name, a version, an address; no path, no variable.
fn is_published(package: &str) -> bool {
    let path = package.starts_with(['.', '/', '~', '-'])
        || package.contains(['\\', '$', '\0'])
        || package.is_empty();
    let local = ["file:", "link:", "portal:", "workspace:", "patch:", "exec:"]
        .iter()
        .any(|scheme| package.contains(scheme));
    let archive = !package.contains("://")
        && [".tgz", ".tar.gz", ".tar", ".whl", ".zip"]
            .iter()
            .any(|ending| package.ends_with(ending));
    let up = package.split('/').any(|part| part == "..");
    !path && !local && !archive && !up
}

/// Whether the package is named with one exact version, so that each start runs the same.
pub(super) fn is_pinned(package: &str) -> bool {
    let version = package
        .rsplit_once("==")
        .or_else(|| {
            package
                .rsplit_once('@')
                .filter(|(name, _)| !name.is_empty())
        })
        .map(|(_, version)| version);
    version.is_some_and(|version| {
        let parts: Vec<&str> = version.split(['.', '-', '+']).take(3).collect();
        let number = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        parts.len() == 3 && parts.iter().all(number)
    })
}

/// The package's name without its version, where it is a plain name.
pub(super) fn package_name(package: &str) -> &str {
    let end = match package.char_indices().skip(1).find(|(_, c)| *c == '@') {
        Some((at, _)) => at,
        None => package.find("==").unwrap_or(package.len()),
    };
    package.get(..end).unwrap_or(package)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> String {
        let mut words = line.split(' ').map(str::to_owned);
        let command = words.next().unwrap();
        match read(&command, &words.collect::<Vec<_>>()) {
            Line::Other => "other".to_owned(),
            Line::Unclear { why, .. } => format!("unclear: {why}"),
            Line::Fetches { packages, rest, .. } => format!("{} from {rest}", packages.join("+")),
        }
    }

    #[test]
    fn a_package_and_the_servers_own_arguments_are_found() {
        for (line, want) in [
            ("npx -y n8n-mcp@2.87.0", "n8n-mcp@2.87.0 from 2"),
            ("npx -y @a/b --stdio ./x", "@a/b from 2"),
            ("/usr/bin/npx.cmd n8n-mcp", "n8n-mcp from 1"),
            ("npx -p n8n-mcp@1 -p x n8n-mcp --go", "n8n-mcp@1+x from 5"),
            ("npx --package=n8n-mcp -- n8n-mcp", "n8n-mcp from 3"),
            ("npm exec -y -- n8n-mcp a", "n8n-mcp from 4"),
            ("npm x n8n-mcp", "n8n-mcp from 2"),
            ("pnpm dlx n8n-mcp", "n8n-mcp from 2"),
            ("yarn dlx -q n8n-mcp", "n8n-mcp from 3"),
            ("bunx n8n-mcp", "n8n-mcp from 1"),
            ("uvx --from a==1.2.3 b --x", "a==1.2.3 from 3"),
            (
                "uv tool run mcp-server-git --repository .",
                "mcp-server-git from 3",
            ),
            ("pipx run --spec a b", "a from 4"),
            ("npx github:a/b", "github:a/b from 1"),
            ("node server.js", "other"),
            ("npm run mcp", "other"),
            ("uv run server.py", "other"),
            ("npx", "unclear: it names no program"),
            ("npx -p n8n-mcp", "unclear: it names no program"),
            (
                "npx -c evil",
                "unclear: the option -c is not one that agentctl knows",
            ),
            (
                "npx --prefix . n8n-mcp",
                "unclear: the option --prefix is not one that agentctl knows",
            ),
            (
                "npx --node-options=--require=./x n8n-mcp",
                "unclear: the option --node-options is not one that agentctl knows",
            ),
            (
                "npx ./evil",
                "unclear: \"./evil\" is no name of a published package",
            ),
            (
                "npx a/../../evil",
                "unclear: \"a/../../evil\" is no name of a published package",
            ),
            (
                "npx file:evil",
                "unclear: \"file:evil\" is no name of a published package",
            ),
            (
                "npx evil.tgz",
                "unclear: \"evil.tgz\" is no name of a published package",
            ),
            (
                "npx ${PACKAGE}",
                "unclear: \"${PACKAGE}\" is no name of a published package",
            ),
            (
                "uvx --with-editable . a",
                "unclear: the option --with-editable is not one that agentctl knows",
            ),
            (
                "uvx --with ./x a",
                "unclear: \"./x\" is no name of a published package",
            ),
        ] {
            assert_eq!(told(line), want, "{line}");
        }
    }

    #[test]
    fn versions_are_read() {
        for pinned in ["a@1.2.3", "@a/b@1.2.3-rc.1", "a==0.10.2"] {
            assert!(is_pinned(pinned), "{pinned}");
        }
        for open in [
            "a", "@a/b", "a@latest", "a@^1.2.3", "a@1", "a@1.x.0", "a@1.2.x",
        ] {
            assert!(!is_pinned(open), "{open}");
        }
        assert_eq!(package_name("@a/b@1.2.3"), "@a/b");
        assert_eq!(package_name("@a/b"), "@a/b");
        assert_eq!(package_name("a==1"), "a");
    }
}
