//! What npx leaves when it is ended in the middle of an installation: a folder without its package.json, which it takes for an
//! installation ever after and fails on. It is named after the packages, so it is known whose it is; only a broken one is removed.

use super::config::{McpServer, McpTransport};
use super::runner::{self, Line};
use agentctl_host::home::variable;
use sha2::{Digest, Sha512};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// npm that installs writes more often than this: what is older, nobody works on.
const AT_WORK: Duration = Duration::from_secs(600);
/// So many letters of the hash name the folder.
const NAMED: usize = 16;

/// Where npx installs the server's packages. None: it is not npx that starts the server, or nobody knows where.
pub(super) fn folder(server: &McpServer) -> Option<PathBuf> {
    let McpTransport::Stdio { command, args, env } = &server.transport else {
        return None;
    };
    let args: Vec<String> = args.iter().map(|arg| arg.expose().to_owned()).collect();
    let Line::Fetches {
        runner, packages, ..
    } = runner::read(command.expose(), &args)
    else {
        return None;
    };
    matches!(runner.words.first(), Some(&"npx" | &"npm")).then_some(())?;
    let set = |name: &str| env.get(name).map(|value| value.expose().to_owned());
    let cache = set("npm_config_cache").or_else(|| set("NPM_CONFIG_CACHE"));
    let home = || set("HOME").or_else(|| variable("HOME"));
    let cache = match cache {
        Some(cache) => PathBuf::from(cache),
        None => PathBuf::from(home()?).join(".npm"),
    };
    let absolute = cache.is_absolute();
    absolute.then(|| cache.join("_npx").join(named(packages)))
}

fn named(mut packages: Vec<String>) -> String {
    packages.sort();
    let hash = Sha512::digest(packages.join("\n"));
    let hex = hash.iter().map(|byte| format!("{byte:02x}"));
    hex.collect::<String>().chars().take(NAMED).collect()
}

fn is_broken(folder: &Path) -> bool {
    folder.is_dir() && !folder.join("package.json").exists()
}

/// Removes a broken installation that we ourselves ended just now. True: there was one.
pub(super) fn remove(folder: &Path) -> bool {
    is_broken(folder) && std::fs::remove_dir_all(folder).is_ok()
}

/// Removes a broken installation that nobody works on any more.
pub(super) fn remove_left(folder: &Path) {
    let touched = [folder.to_owned(), folder.join("node_modules")];
    let fresh = touched.iter().any(|path| {
        let changed = path.metadata().and_then(|about| about.modified());
        // A time in the future is no old one.
        changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < AT_WORK) || at.elapsed().is_err())
    });
    if !fresh {
        remove(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_folder_is_named_as_npx_names_it() {
        // As npm 10 and 11 made them.
        assert_eq!(named(vec!["n8n-mcp@2.87.0".to_owned()]), "e7bebad4cb0d5201");
        assert_eq!(named(vec!["n8n-mcp".to_owned()]), "b6a381d62ce0fe56");
    }

    #[test]
    fn a_broken_installation_goes_and_a_whole_one_stays() {
        let cache = tempfile::tempdir().unwrap();
        let (whole, broken) = (cache.path().join("whole"), cache.path().join("broken"));
        for folder in [&whole, &broken] {
            fs::create_dir_all(folder.join("node_modules")).unwrap();
        }
        fs::write(whole.join("package.json"), "{}").unwrap();
        // Somebody may be at work on it.
        remove_left(&broken);
        assert!(broken.exists());
        let old = std::time::SystemTime::now() - AT_WORK - AT_WORK;
        for path in [broken.join("node_modules"), broken.clone(), whole.clone()] {
            fs::File::open(&path).unwrap().set_modified(old).unwrap();
        }
        remove_left(&broken);
        remove_left(&whole);
        assert!(!broken.exists() && whole.exists());
        fs::create_dir(&broken).unwrap();
        assert!(remove(&broken) && !remove(&broken) && !remove(&whole));
    }
}
