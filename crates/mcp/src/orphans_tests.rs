use super::orphans::{Running, end_orphans, enter};
use agentctl_host::files::write_atomic;
use agentctl_host::process::Identity;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command};

/// A server that does not heed the end of its stdin.
fn server() -> Child {
    let mut command = Command::new("sleep");
    command.arg("600").process_group(0).spawn().unwrap()
}

fn entries(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn a_server_is_ended_when_its_owner_is_gone_and_never_before() {
    let folder = tempfile::tempdir().unwrap();
    let (mut server, mut owner) = (server(), server());
    let entry = enter(folder.path(), server.id(), owner.id()).unwrap();
    end_orphans(folder.path());
    assert!(server.try_wait().unwrap().is_none());
    assert_eq!(entries(folder.path()), 1);
    owner.kill().unwrap();
    owner.wait().unwrap();
    // As after `kill -9`: nobody takes the entry out.
    std::mem::forget(entry);
    end_orphans(folder.path());
    assert_eq!(server.wait().unwrap().signal(), Some(9));
    assert_eq!(entries(folder.path()), 0);
}

#[test]
fn a_pid_that_is_used_again_and_a_file_of_another_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = server();
    let now = Identity::of(server.id()).unwrap();
    let before = |pid| Identity {
        pid,
        began: "before/1".into(),
    };
    let reused = Running {
        server: before(now.pid),
        owner: before(std::process::id()),
    };
    let text = serde_json::to_vec(&reused).unwrap();
    let own = format!("{}-{}.json", std::process::id(), now.pid);
    write_atomic(&folder.path().join(own), &text).unwrap();
    write_atomic(&folder.path().join("notes.json"), b"not ours").unwrap();
    end_orphans(folder.path());
    assert!(server.try_wait().unwrap().is_none());
    assert_eq!(entries(folder.path()), 1);
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn a_server_that_ended_is_no_longer_among_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = server();
    let entry = enter(folder.path(), server.id(), std::process::id()).unwrap();
    assert_eq!(entries(folder.path()), 1);
    drop(entry);
    assert_eq!(entries(folder.path()), 0);
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn what_another_could_have_written_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let (mut server, mut owner) = (server(), server());
    let entry = enter(folder.path(), server.id(), owner.id()).unwrap();
    owner.kill().unwrap();
    owner.wait().unwrap();
    std::mem::forget(entry);
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap();
    let file = file.unwrap().path();
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    let mut still_runs = |why: &str| {
        end_orphans(folder.path());
        assert!(server.try_wait().unwrap().is_none(), "{why}");
    };
    mode(&file, 0o666);
    still_runs("anyone can write the file");
    mode(&file, 0o600);
    mode(folder.path(), 0o777);
    still_runs("anyone can write into the folder");
    mode(folder.path(), 0o700);
    let other = folder.path().join("1-2.json");
    std::fs::rename(&file, &other).unwrap();
    still_runs("the name says other processes");
    std::fs::rename(&other, &file).unwrap();
    std::os::unix::fs::symlink(&file, &other).unwrap();
    end_orphans(folder.path());
    assert_eq!(server.wait().unwrap().signal(), Some(9));
}

#[test]
fn the_first_process_and_our_own_are_never_ended() {
    for pid in [1, std::process::id()] {
        Identity::of(pid).unwrap().kill_group();
    }
}
