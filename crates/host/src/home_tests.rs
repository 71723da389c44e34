use super::*;

fn of<'a>(pairs: &'a [(&'a str, String)]) -> impl Fn(&str) -> Option<String> + 'a {
    move |name| {
        let found = pairs.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| value.clone())
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn the_folder_is_outside_of_the_project_and_of_nobody_else() {
    let root = tempfile::tempdir().unwrap();
    let at = root.path().canonicalize().unwrap();
    let (user, project) = (at.join("user"), at.join("project"));
    fs::create_dir_all(&user).unwrap();
    fs::create_dir_all(&project).unwrap();

    let state = user.join(".local/state/agentctl");
    let home = Home::find(of(&[("HOME", shown(&user))]), &project).unwrap();
    assert_eq!(home.dir(), state);
    let own = Home::find(of(&[("AGENTCTL_HOME", shown(&at.join("own")))]), &project).unwrap();
    assert_eq!(own.dir(), at.join("own"));
    assert_eq!(Home::find(of(&[]), &project), Err(NoHome::Unnamed));
    assert_eq!(
        Home::find(of(&[("HOME", "relative".into())]), &project),
        Err(NoHome::Unnamed)
    );

    // Also where a link hides that it is inside.
    let link = at.join("link");
    std::os::unix::fs::symlink(&project, &link).unwrap();
    for inside in [project.clone(), project.join("sub"), link.join("sub")] {
        let found = Home::find(of(&[("AGENTCTL_HOME", shown(&inside))]), &project);
        assert!(matches!(found, Err(NoHome::InProject { .. })), "{found:?}");
    }

    use std::os::unix::fs::PermissionsExt as _;
    fs::create_dir_all(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
    let open = Home::find(of(&[("HOME", shown(&user))]), &project);
    assert!(matches!(open, Err(NoHome::Unsafe { .. })), "{open:?}");
}

#[test]
fn files_are_for_their_owner_only_and_the_key_stays_the_same() {
    use std::os::unix::fs::PermissionsExt as _;
    let root = tempfile::tempdir().unwrap();
    let user = root.path().join("user");
    let project = root.path().join("project");
    let home = Home::find(of(&[("AGENTCTL_HOME", shown(&user))]), &project).unwrap();
    assert_eq!(home.read("trust.json").unwrap(), None);
    assert!(home.known_key().unwrap().is_none());
    home.write("deep/trust.json", b"{}").unwrap();
    assert_eq!(home.read("deep/trust.json").unwrap(), Some(b"{}".to_vec()));
    let _lock = home.lock().unwrap();
    let key = home.key().unwrap();
    let again = home.key().unwrap();
    let mac = key.mac("test", &[b"a", b"bc"]);
    assert!(again.made("test", &[b"a", b"bc"], &mac));
    for name in ["key", "lock", "deep/trust.json"] {
        let mode = fs::metadata(home.dir().join(name)).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600, "{name}");
    }
    for folder in ["", "deep"] {
        let mode = fs::metadata(home.dir().join(folder)).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o700, "{folder}");
    }
    home.remove("deep/trust.json").unwrap();
    home.remove("deep/trust.json").unwrap();
    assert_eq!(home.read("deep/trust.json").unwrap(), None);
}

#[test]
fn a_mark_is_for_one_purpose_and_these_parts_alone() {
    let key = Key::fixed([7; 32]);
    let mac = key.mac("journal", &[b"ab", b"c"]);
    assert_eq!(mac.len(), 64);
    assert!(key.made("journal", &[b"ab", b"c"], &mac));
    assert!(!key.made("journal", &[b"a", b"bc"], &mac));
    assert!(!key.made("journal", &[b"abc"], &mac));
    assert!(!key.made("snapshot", &[b"ab", b"c"], &mac));
    assert!(!Key::fixed([8; 32]).made("journal", &[b"ab", b"c"], &mac));
    for no in ["", "zz", "a", &mac[..62], &format!("{mac}00")] {
        assert!(!key.made("journal", &[b"ab", b"c"], no), "{no:?}");
    }
    assert_eq!(format!("{key:?}"), "Key(…)");
}

#[test]
fn what_a_kill_left_of_the_first_key_goes_when_it_is_made_again() {
    let root = tempfile::tempdir().unwrap();
    let user = root.path().join("user");
    let project = root.path().join("project");
    let home = Home::find(of(&[("AGENTCTL_HOME", shown(&user))]), &project).unwrap();
    fs::create_dir_all(home.dir()).unwrap();
    let left = home.dir().join(".agentctl-Ab12cD.tmp");
    fs::write(&left, [7; Key::BYTES]).unwrap();
    home.key().unwrap();
    let there = fs::read_dir(home.dir()).unwrap();
    let names: Vec<_> = there.map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["key"]);
}

#[test]
fn a_key_that_is_none_is_said() {
    let root = tempfile::tempdir().unwrap();
    let user = root.path().join("user");
    let home = Home::find(of(&[("AGENTCTL_HOME", shown(&user))]), Path::new("/p")).unwrap();
    home.write("key", b"short").unwrap();
    assert!(matches!(home.key(), Err(HomeError::Broken { .. })));
}

#[test]
fn a_file_that_others_may_write_to_is_not_the_users_word() {
    use std::os::unix::fs::PermissionsExt as _;
    let root = tempfile::tempdir().unwrap();
    let user = root.path().join("user");
    let project = root.path().join("project");
    let home = Home::find(of(&[("AGENTCTL_HOME", shown(&user))]), &project).unwrap();
    home.write("trust.json", b"{}").unwrap();
    let at = user.join("trust.json");
    let allow = |mode: u32| {
        fs::set_permissions(&at, fs::Permissions::from_mode(mode)).unwrap();
        home.read("trust.json")
    };
    for mode in [0o620, 0o602, 0o666, 0o622, 0o777] {
        match allow(mode) {
            Err(HomeError::Broken { path, why }) => {
                assert_eq!(path, user.join("trust.json"));
                assert!(why.contains("others may write to it"), "{why}");
            }
            other => panic!("{mode:o}: {other:?}"),
        }
    }
    for mode in [0o600, 0o644, 0o400] {
        assert_eq!(allow(mode).unwrap(), Some(b"{}".to_vec()), "{mode:o}");
    }
}

/// A disk that fails for a moment must not make a run nobody's.
#[cfg(unix)]
#[test]
fn a_folder_that_the_machine_could_not_look_at_is_not_taken_for_one_that_cannot_be_used() {
    use rustix::io::Errno;
    let dir = Path::new("/home/ann/agentctl");
    let of = |errno: Errno| unseen(dir, &io::Error::from_raw_os_error(errno.raw_os_error()));
    assert_eq!(of(Errno::NOENT), Ok(()));
    for errno in [Errno::IO, Errno::MFILE, Errno::NOMEM] {
        assert!(matches!(of(errno), Err(NoHome::Fault { .. })), "{errno}");
    }
    for errno in [Errno::ACCESS, Errno::LOOP, Errno::NOTDIR] {
        assert!(matches!(of(errno), Err(NoHome::Unsafe { .. })), "{errno}");
    }
}
