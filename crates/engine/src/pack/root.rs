//! Where the texts of a pack are looked for: below the project, where its files count, and among those that are compiled in. A
//! project's file stands for the compiled-in one of the same path.

use super::BuiltIn;
use super::source::{BUILT_IN, Source, own_text, unreadable};
use agentctl_base::yaml::Problem;
use agentctl_host::files::{LEADS_OUT, Within, within};
use std::collections::BTreeSet;
use std::path::Path;

/// One pack's places.
#[derive(Clone, Copy)]
pub(super) struct Root<'a> {
    pub built_in: &'a BuiltIn,
    /// The project, where its files count.
    pub project: Option<&'a Path>,
}

impl Root<'_> {
    /// What the path of a file of the pack is below a project.
    pub fn path(&self, relative: &str) -> String {
        self.built_in.path(relative)
    }

    /// The compiled-in text.
    pub fn built_in(&self, relative: &str) -> Option<Source> {
        let text = self.built_in.text(relative)?;
        Some(Source {
            file: format!("{BUILT_IN}{}", self.path(relative)),
            text,
        })
    }

    /// The project's; None: there is none, or the project does not count. One that cannot be read is a problem, never a silent default.
    pub fn own(&self, relative: &str, problems: &mut Vec<Problem>) -> Option<Source> {
        let project = self.project?;
        let file = self.path(relative);
        match own_text(project, Path::new(&file)) {
            Ok(Some(text)) => Some(Source { file, text }),
            // A link to nothing is no file that was left out.
            Ok(None) if project.join(&file).is_symlink() => {
                problems.push(unreadable(&file, &std::io::ErrorKind::NotFound.into()));
                None
            }
            Ok(None) => None,
            Err(error) => {
                problems.push(unreadable(&file, &error));
                None
            }
        }
    }

    /// The project's, else the compiled-in one.
    pub fn source(&self, relative: &str, problems: &mut Vec<Problem>) -> Option<Source> {
        self.own(relative, problems)
            .or_else(|| self.built_in(relative))
    }

    /// The names of the files in a folder of the pack, the project's and those that are compiled in, sorted.
    pub fn names(&self, folder: &str, problems: &mut Vec<Problem>) -> BTreeSet<String> {
        let mut names: BTreeSet<String> = self.built_in.names(folder).map(str::to_owned).collect();
        names.extend(self.own_names(folder, problems));
        names
    }

    /// The names of the folders right in a folder of the pack that have one of these files, sorted.
    pub fn folders(
        &self,
        folder: &str,
        files: &[&str],
        problems: &mut Vec<Problem>,
    ) -> BTreeSet<String> {
        let built_in = files
            .iter()
            .flat_map(|file| self.built_in.folders(folder, file));
        let mut names: BTreeSet<String> = built_in.collect();
        if let Some(project) = self.project {
            let place = project.join(self.path(folder));
            let own = self.own_names(folder, problems).into_iter();
            names.extend(own.filter(|name| {
                files
                    .iter()
                    .any(|file| place.join(name).join(file).symlink_metadata().is_ok())
            }));
        }
        names
    }

    fn own_names(&self, folder: &str, problems: &mut Vec<Problem>) -> Vec<String> {
        let Some(project) = self.project else {
            return Vec::new();
        };
        let path = self.path(folder);
        let entries = within(project, Path::new(&path)).and_then(|place| match place {
            Within::Inside(below) => std::fs::read_dir(project.join(below)).map(Some),
            Within::Missing => Ok(None),
            Within::Outside => Err(std::io::Error::other(LEADS_OUT)),
        });
        let mut names = Vec::new();
        match entries {
            Ok(None) => {}
            Ok(Some(entries)) => {
                for entry in entries {
                    match entry {
                        Ok(entry) => names.extend(entry.file_name().into_string().ok()),
                        Err(error) => problems.push(unreadable(&path, &error)),
                    }
                }
            }
            Err(error) => problems.push(unreadable(&path, &error)),
        }
        names.retain(|name| !name.starts_with('.'));
        names
    }
}
