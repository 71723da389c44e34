//! A program that can do nothing but reckon: it reads the system's own programs and libraries and what it is given, writes to one folder,
//! and reaches no network and no other process. Landlock and a filter of system calls see to it from its first instruction on; where
//! the system has them not, nothing is started.

use crate::family::Family;
use std::io;
use std::path::{Path, PathBuf};
use tokio::process::Child;

/// What is started, and what it may see.
#[derive(Debug, Clone)]
pub struct Program {
    pub path: PathBuf,
    pub args: Vec<String>,
    /// All of its environment.
    pub env: Vec<(String, String)>,
    /// Where it starts, and the only place that it may write to.
    pub folder: PathBuf,
    /// Folders and files that it may read besides.
    pub reads: Vec<PathBuf>,
}

/// What a program may take, besides time.
#[derive(Debug, Clone, Copy)]
pub struct Most {
    /// Bytes of address space.
    pub memory: u64,
    /// Bytes of one file that it writes.
    pub file: u64,
    /// Seconds of computing.
    pub cpu_s: u64,
}

/// Why it was not started.
#[derive(Debug, thiserror::Error)]
pub enum NotStarted {
    #[error(
        "this system cannot confine a program ({0}); Linux 6.2 or newer with Landlock and seccomp can"
    )]
    Unconfined(String),
    #[error("{path}: {error}")]
    Program { path: PathBuf, error: io::Error },
}

/// Starts it with pipes for stdin, stdout and stderr, as the leader of a group of its own; when the family is dropped, nothing of it is
/// left. Needs a tokio runtime.
pub async fn spawn(program: Program, most: Most) -> Result<(Child, Family), NotStarted> {
    let runtime = tokio::runtime::Handle::current();
    let (tell, told) = tokio::sync::oneshot::channel();
    // What confines a thread stays with it, and a child inherits it: so the thread is this child's alone, and ends here.
    let started = std::thread::Builder::new()
        .name("confined".to_owned())
        .spawn(move || {
            let _entered = runtime.enter();
            // Whoever asked may have gone; then the child is dropped, and killed.
            let _ = tell.send(system::start(&program, most));
        });
    let failed = |error| NotStarted::Unconfined(format!("no thread for it: {error}"));
    started.map_err(failed)?;
    told.await
        .unwrap_or_else(|_| Err(NotStarted::Unconfined("its thread ended early".to_owned())))
}

/// Whether a file stands there that could be started.
pub fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let meta = std::fs::metadata(path);
    meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{Child, Family, Most, NotStarted, Program};

    pub fn start(_: &Program, _: Most) -> Result<(Child, Family), NotStarted> {
        Err(NotStarted::Unconfined("it is no Linux".to_owned()))
    }
}

#[cfg(target_os = "linux")]
mod system {
    use super::{Child, Family, Most, NotStarted, Program};
    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
        RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
    };
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
    use std::collections::BTreeMap;
    use std::process::Stdio;
    use tokio::process::Command;

    /// The system's own programs and libraries.
    const SYSTEM: [&str; 7] = [
        "/usr",
        "/bin",
        "/sbin",
        "/lib",
        "/lib32",
        "/lib64",
        "/nix/store",
    ];
    /// What nearly every program looks at while it starts.
    const LOOKED_AT: [&str; 6] = [
        "/etc/ld.so.cache",
        "/etc/localtime",
        "/dev/null",
        "/dev/zero",
        "/dev/random",
        "/dev/urandom",
    ];
    /// Ways to a network or to other processes, and to more than a file's own rights. A socket's pair is no way out, so it is not here.
    const REFUSED: [i64; 22] = [
        libc::SYS_socket,
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        libc::SYS_kill,
        libc::SYS_tkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_getfd,
        libc::SYS_pidfd_send_signal,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_bpf,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_perf_event_open,
        libc::SYS_mount,
        libc::SYS_unshare,
        libc::SYS_setns,
    ];
    /// The bit by which x86-64 numbers the system calls of its x32 form.
    const X32: i64 = 0x4000_0000;

    pub fn start(program: &Program, most: Most) -> Result<(Child, Family), NotStarted> {
        // The shell takes the limits upon itself and then becomes the program: one that was limited after its start could have
        // started others before. Arguments are no words of the script.
        let mut command = Command::new("/bin/sh");
        command
            .arg("-c")
            .arg(limited(most))
            .arg(&program.path)
            .args(&program.args)
            .env_clear()
            .envs(program.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&program.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        files(program).map_err(|e| NotStarted::Unconfined(e.to_string()))?;
        calls().map_err(|e| NotStarted::Unconfined(e.to_string()))?;
        let failed = |error| NotStarted::Program {
            path: program.path.clone(),
            error,
        };
        let child = command.spawn().map_err(failed)?;
        let Some(id) = child.id() else {
            return Err(failed(std::io::Error::other("it has no process")));
        };
        let family = Family::of(id);
        Ok((child, family))
    }

    /// The script that takes limits and becomes the program that its first argument names. A limit that is refused ends it.
    fn limited(most: Most) -> String {
        const BLOCK: u64 = 512;
        const KIB: u64 = 1024;
        format!(
            "ulimit -c 0 && ulimit -t {} && ulimit -f {} && ulimit -v {} && exec \"$0\" \"$@\"",
            most.cpu_s,
            most.file / BLOCK,
            most.memory / KIB
        )
    }

    fn files(program: &Program) -> Result<(), String> {
        let told = |e: RulesetError| format!("Landlock: {e}");
        let all = AccessFs::from_all(ABI::V3);
        let run: BitFlags<AccessFs> = AccessFs::from_read(ABI::V3);
        let look = run & !BitFlags::from(AccessFs::Execute);
        let write = all & !BitFlags::from(AccessFs::Execute);
        let rules = Ruleset::default()
            // Older kernels do not know how to keep a file from being cut.
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(all)
            .map_err(told)?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessNet::from_all(ABI::V4))
            .and_then(|rules| rules.scope(Scope::from_all(ABI::V6)))
            .and_then(Ruleset::create)
            .map_err(told)?;
        let status = rules
            .add_rules(path_beneath_rules(SYSTEM, run))
            .and_then(|rules| rules.add_rules(path_beneath_rules([&program.path], run)))
            .and_then(|rules| rules.add_rules(path_beneath_rules(LOOKED_AT, look)))
            .and_then(|rules| {
                let null = look | AccessFs::WriteFile;
                rules.add_rules(path_beneath_rules(["/dev/null"], null))
            })
            .and_then(|rules| rules.add_rules(path_beneath_rules(&program.reads, look)))
            .and_then(|rules| rules.add_rules(path_beneath_rules([&program.folder], write)))
            .and_then(|rules| rules.restrict_self())
            .map_err(told)?;
        match status.ruleset {
            RulesetStatus::NotEnforced => Err("it has no Landlock".to_owned()),
            _ => Ok(()),
        }
    }

    fn calls() -> Result<(), String> {
        let told = |e: seccompiler::BackendError| format!("seccomp: {e}");
        let mut refused: BTreeMap<i64, Vec<seccompiler::SeccompRule>> =
            REFUSED.into_iter().map(|call| (call, Vec::new())).collect();
        if cfg!(target_arch = "x86_64") {
            refused.extend(REFUSED.into_iter().map(|call| (call | X32, Vec::new())));
        }
        let filter = SeccompFilter::new(
            refused,
            SeccompAction::Allow,
            SeccompAction::Errno(libc::EPERM.unsigned_abs()),
            std::env::consts::ARCH.try_into().map_err(told)?,
        )
        .map_err(told)?;
        let filter: BpfProgram = filter.try_into().map_err(told)?;
        seccompiler::apply_filter(&filter).map_err(|e| format!("seccomp: {e}"))
    }
}
