//! A Slurm cluster on this machine, for the length of the tests.
//!
//! # Isolation
//! The cluster is a network namespace with nothing but loopback, and a PID namespace. A host is a
//! PID namespace inside it with a node daemon and a directory of its own at [`Cluster::work`]. The
//! first process of the cluster reads a pipe from this test: when the test ends, by whatever cause,
//! the pipe closes, that process ends, the kernel kills all others, and the folder is removed.
//!
//! # Settings
//! Slurm needs two addresses (with one its daemons resolve no names). `cred_expire` bounds how long
//! a requeued job is held back, `SlurmdTimeout` how long a lost host is not noticed. A host that is
//! back sooner is noticed only when it reports its jobs again.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock};

use rustix::process::Signal;

use crate::fixture::{ASSAY, Done, pause};

/// Where Debian and others have daemons and clients.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const PROGRAMS: [&str; 9] =
    ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "unshare", "nsenter", "ip"];

/// Hosts of the cluster that most cases share.
pub const SHARED_HOSTS: usize = 24;

/// Removed with everything in it when dropped, or when the process ends.
pub struct Cluster {
    dir: PathBuf,
    /// The first process of the cluster, as this test sees it.
    init: u32,
    hosts: Vec<String>,
    keeper: Mutex<Child>,
    /// Open as long as the cluster is wanted.
    hold: Mutex<Option<ChildStdin>>,
}

/// The cluster of most cases; `None`, with the reason printed, where none can be started.
pub fn shared() -> Option<&'static Cluster> {
    static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
    SHARED.get_or_init(|| Cluster::start(SHARED_HOSTS)).as_ref()
}

impl Cluster {
    /// A cluster of `hosts` hosts, `d0` and so on, all of them idle. `None`, with the reason
    /// printed, where none can be started.
    pub fn start(hosts: usize) -> Option<Cluster> {
        if let Some(reason) = cannot_start() {
            println!("skipped: {reason}");
            return None;
        }
        // In memory, and short enough for the path of a socket.
        let dir =
            tempfile::Builder::new().prefix("assay-slurm-").tempdir_in("/dev/shm").unwrap().keep();
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
        let mut keeper = Command::new("setsid")
            .args(["sh", "-c", KEEPER, "sh"])
            .arg(&dir)
            .env_clear()
            .env("PATH", PATH)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let hold = keeper.stdin.take();
        let mut line = String::new();
        BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let cluster = Cluster {
            init: line.trim().parse().expect("the cluster's first process reports its id"),
            hosts: (0..hosts).map(|i| format!("d{i}")).collect(),
            keeper: Mutex::new(keeper),
            hold: Mutex::new(hold),
            dir,
        };
        cluster.configure();
        let socket = cluster.path("munge.socket");
        let file = |name: &str| cluster.path(name).display().to_string();
        cluster.ok(
            "munged",
            &[
                "--force",
                &format!("--key-file={}", file("munge.key")),
                &format!("--socket={}", socket.display()),
                &format!("--pid-file={}", file("munged.pid")),
                &format!("--log-file={}", file("munged.log")),
                &format!("--seed-file={}", file("munged.seed")),
            ],
        );
        cluster.start_controller();
        for host in &cluster.hosts {
            cluster.start_host(host);
        }
        cluster.wait("all hosts are idle", || cluster.hosts_in_state("idle") == hosts);
        Some(cluster)
    }

    fn configure(&self) {
        let mut key = [0; 128];
        std::io::Read::read_exact(&mut fs::File::open("/dev/urandom").unwrap(), &mut key).unwrap();
        let key_file = self.path("munge.key");
        fs::write(&key_file, key).unwrap();
        fs::set_permissions(&key_file, fs::Permissions::from_mode(0o600)).unwrap();
        for folder in ["state", "spool", "hosts", "work", "bin", "drives", "reboots"] {
            fs::create_dir(self.path(folder)).unwrap();
        }
        std::os::unix::fs::symlink(ASSAY, self.path("bin/assay")).unwrap();
        self.script(
            "reboot",
            "#!/bin/sh\nexec touch \"$ASSAY_TEST_CLUSTER/reboots/$ASSAY_TEST_HOST\"\n",
        );
        let last = self.hosts.len() - 1;
        let settings = SLURM_CONF
            .replace("{dir}", self.dir.to_str().unwrap())
            .replace("{last}", &last.to_string())
            .replace("{last_port}", &(7100 + last).to_string());
        self.write("slurm.conf", settings);
    }

    /// An executable file in the cluster's folder.
    pub fn script(&self, name: &str, text: &str) {
        self.write(name, text);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.join(name)
    }

    pub fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    /// The directory that is another one on each host, like a local disk.
    pub fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// What a host has at [`Cluster::work`], as this test sees it.
    pub fn work_of(&self, host: &str) -> PathBuf {
        self.path("hosts").join(host)
    }

    /// List the drives of a host, one spec per line.
    pub fn set_drives(&self, host: &str, specs: &[String]) {
        self.write(format!("drives/{host}"), specs.join("\n") + "\n");
    }

    /// A program inside the cluster, on no host of it.
    pub fn command<S: AsRef<OsStr>>(&self, program: &str, arguments: &[S]) -> Command {
        let mut command = Command::new("nsenter");
        command
            .arg(format!("--target={}", self.init))
            .args(["--net", "--pid", "--mount", "--", "env"])
            // Not nsenter's --wd, which stays on the mount outside.
            .arg(format!("--chdir={}", self.dir.display()))
            .arg(program)
            .args(arguments)
            .env_clear()
            .env("PATH", format!("{}:{PATH}", self.path("bin").to_str().unwrap()))
            .env("SLURM_CONF", self.path("slurm.conf"))
            .env("ASSAY_TEST_CLUSTER", &self.dir)
            .env("ASSAY_FLEET_DRIVES", self.path("drives"))
            .env("ASSAY_FLEET_DIR", self.work())
            .env("ASSAY_STATE_DIR", self.work().join("state"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Run a program inside the cluster to its end.
    #[track_caller]
    pub fn run(&self, program: &str, arguments: &[&str]) -> Done {
        let child = self.command(program, arguments).spawn().unwrap();
        Done::new(&format!("({program} {})", arguments.join(" ")), child)
    }

    /// As [`Cluster::run`], expecting status 0; gives its stdout.
    #[track_caller]
    pub fn ok(&self, program: &str, arguments: &[&str]) -> String {
        self.run(program, arguments).expect(0).stdout
    }

    /// `assay` inside the cluster, with arguments separated by spaces.
    #[track_caller]
    pub fn assay(&self, words: &str) -> Done {
        self.run("assay", &words.split_whitespace().collect::<Vec<_>>())
    }

    /// Start the controller; it finds the state that an earlier one has saved.
    pub fn start_controller(&self) {
        self.ok("slurmctld", &["-f", self.path("slurm.conf").to_str().unwrap()]);
        self.wait("the controller answers", || {
            self.run("scontrol", &["ping"]).stdout.contains("is UP")
        });
    }

    /// Kill the controller, as a crash does.
    pub fn kill_controller(&self) {
        let controllers = self.processes(|p| p.name == "slurmctld" || p.name == "slurmscriptd");
        assert!(!controllers.is_empty(), "the controller runs");
        self.kill(&controllers, Signal::KILL);
    }

    /// Start a host with its node daemon, at once, as after a boot.
    pub fn start_host(&self, host: &str) {
        fs::create_dir_all(self.work_of(host)).unwrap();
        let _ = fs::remove_file(self.path(format!("{host}.pid")));
        let child = self
            .command("setsid", &["sh", "-c", HOST, "sh", host, self.dir.to_str().unwrap()])
            .env("ASSAY_TEST_HOST", host)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Done::new(host, child).expect(0);
    }

    /// End a host with all of its processes at the same time, as a loss of power does.
    pub fn kill_host(&self, host: &str) {
        let init = fs::read_to_string(self.path(format!("{host}.pid"))).unwrap();
        self.kill(&[init.trim().parse().unwrap()], Signal::KILL);
        self.wait("the host's processes are gone", || {
            self.processes(|p| p.host.as_deref() == Some(host)).is_empty()
        });
    }

    /// End a host's node daemon, and nothing else of the host.
    pub fn kill_node_daemon(&self, host: &str) {
        let daemons = self.processes(|p| p.name == "slurmd" && p.host.as_deref() == Some(host));
        assert_eq!(daemons.len(), 1, "{host} has a node daemon");
        self.kill(&daemons, Signal::KILL);
    }

    /// Start a node daemon on a host that runs without one.
    pub fn start_node_daemon(&self, host: &str) {
        let init = fs::read_to_string(self.path(format!("{host}.pid"))).unwrap();
        let child = self
            .command(
                "nsenter",
                &[
                    &format!("--target={}", init.trim()),
                    "--pid",
                    "--mount",
                    "--",
                    "slurmd",
                    "-N",
                    host,
                    "-f",
                    self.path("slurm.conf").to_str().unwrap(),
                ],
            )
            .env("ASSAY_TEST_HOST", host)
            .spawn()
            .unwrap();
        Done::new("slurmd", child).expect(0);
    }

    /// The processes of the cluster that a condition selects, by their ids inside of it.
    pub fn processes(&self, wanted: impl Fn(&Process) -> bool) -> Vec<u32> {
        let table = PathBuf::from(format!("/proc/{}/root/proc", self.init));
        let Ok(entries) = fs::read_dir(&table) else {
            return Vec::new();
        };
        entries
            .filter_map(|entry| {
                let id: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
                Process::read(&table.join(id.to_string())).filter(&wanted).map(|_| id)
            })
            .collect()
    }

    /// The folder in /proc of a process of the cluster, as this test sees it.
    pub fn process_folder(&self, id: u32) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root/proc/{id}", self.init))
    }

    /// Send a signal to processes of the cluster; one that has ended meanwhile is no error.
    pub fn kill(&self, processes: &[u32], signal: Signal) {
        for id in processes {
            self.run("kill", &[&format!("-{}", signal.as_raw()), &id.to_string()]);
        }
    }

    /// How many hosts are in this state of Slurm.
    pub fn hosts_in_state(&self, state: &str) -> usize {
        let answer = self.run("sinfo", &["--noheader", "--Node", "--format=%T"]);
        answer.stdout.lines().filter(|line| *line == state).count()
    }

    /// A job's state as Slurm names it; `None` if the queue has forgotten it, or does not answer.
    pub fn job_state(&self, job: &str) -> Option<String> {
        let answer =
            self.run("squeue", &["--noheader", "--states=all", "--format=%T", "--jobs", job]);
        let state = answer.stdout.trim();
        (answer.status == 0 && !state.is_empty()).then(|| state.to_owned())
    }

    /// Wait until the controller has given up a host that was killed.
    #[track_caller]
    pub fn wait_for_loss_of(&self, host: &str) {
        self.wait("the controller misses the host", || {
            self.run("sinfo", &["--noheader", "--nodes", host, "--format=%T"])
                .stdout
                .starts_with("down")
        });
    }

    /// Wait for a condition that takes a command to check.
    #[track_caller]
    pub fn wait(&self, what: &str, mut condition: impl FnMut() -> bool) {
        for _ in 0..900 {
            if condition() {
                return;
            }
            pause(200);
        }
        panic!("after three minutes still not: {what}\n{}", self.report());
    }

    /// What Slurm shows, and the ends of its logs, for the message of a failed test.
    pub fn report(&self) -> String {
        let mut text = self.run("squeue", &["--states=all"]).stdout;
        text += &self.run("sinfo", &["--Node", "--long"]).stdout;
        let log = crate::fixture::text_so_far(&self.path("slurmctld.log"));
        let lines: Vec<&str> = log.lines().collect();
        text += &lines[lines.len().saturating_sub(40)..].join("\n");
        text
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.hold.lock().unwrap().take();
        // The keeper ends when every process is gone and the folder is removed.
        self.keeper.lock().unwrap().wait().unwrap();
    }
}

/// A process of the cluster.
pub struct Process {
    /// Name of the program, as the kernel has it.
    pub name: String,
    pub command: String,
    /// The host on which it runs.
    pub host: Option<String>,
}

impl Process {
    fn read(folder: &Path) -> Option<Process> {
        let text = |name: &str| {
            fs::read(folder.join(name))
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .ok()
        };
        let command = text("cmdline")?.replace('\0', " ");
        // A process that has ended and was not waited for has none.
        if command.is_empty() {
            return None;
        }
        let environment = text("environ")?;
        Some(Process {
            name: text("comm")?.trim().to_owned(),
            command,
            host: environment
                .split('\0')
                .find_map(|pair| {
                    pair.strip_prefix("ASSAY_TEST_HOST=").or(pair.strip_prefix("SLURMD_NODENAME="))
                })
                .map(str::to_owned),
        })
    }
}

fn cannot_start() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("a Slurm cluster in namespaces needs root".to_owned());
    }
    for program in PROGRAMS {
        let found = PATH.split(':').any(|folder| Path::new(folder).join(program).exists());
        if !found {
            return Some(format!(
                "{program} is missing; scripts/ensure-packages installs slurmctld, slurmd, \
                 slurm-client and munge"
            ));
        }
    }
    let namespaces = Command::new("unshare")
        .args(["--net", "--pid", "--mount", "--fork", "true"])
        .stderr(Stdio::null())
        .status();
    match namespaces {
        Ok(status) if status.success() => None,
        _ => Some("this machine permits no new namespaces".to_owned()),
    }
}

/// Holds the cluster while its input is open, then removes the folder. In a session of its own: an
/// interrupt of the test does not end it before it has tidied up.
const KEEPER: &str = r#"
unshare --net --pid --mount --fork --kill-child sh -c '
  read -r pid rest </proc/self/stat
  mount -t proc proc /proc
  ip link set lo up
  ip address add 127.0.0.2/8 dev lo
  echo "$pid"
  # Ended processes without a parent are not kept.
  exec env --ignore-signal=CHLD cat >/dev/null'
rm -rf "$1"
"#;

/// Starts a host; returns when its node daemon was started.
const HOST: &str = r#"
unshare --pid --mount --fork --kill-child sh -c '
  read -r pid rest </proc/self/stat
  mount -t proc proc /proc
  mount --bind "$2/hosts/$1" "$2/work"
  slurmd -N "$1" -f "$2/slurm.conf"
  echo "$pid" >"$2/$1.pid"
  exec env --ignore-signal=CHLD sleep infinity' sh "$1" "$2" >/dev/null 2>&1 </dev/null &
while [ ! -s "$2/$1.pid" ]; do sleep 0.02; done
"#;

const SLURM_CONF: &str = "\
ClusterName=assay
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=7000
AuthType=auth/munge
AuthInfo=socket={dir}/munge.socket,cred_expire=5
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool/%n
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/spool/%n.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmdLogFile={dir}/spool/%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
BatchStartTimeout=1
SlurmdTimeout=6
SlurmctldTimeout=10
MessageTimeout=5
KillWait=10
MinJobAge=600
JobRequeue=1
RebootProgram={dir}/reboot
ResumeTimeout=60
GresTypes=nvme
NodeName=d[0-{last}] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[7100-{last_port}] CPUs=8 \
                          RealMemory=1000
PartitionName=rack Nodes=ALL Default=YES State=UP MaxTime=INFINITE
";
