use assay_workload::options::JOB_OPTIONS;

use super::*;
use crate::ini::tests::parsed;
use crate::options::{FioOption, OPTIONS};

fn jobs(text: &str) -> Vec<FioJob> {
    converted(text, None).unwrap().jobs
}

fn converted(text: &str, drive: Option<&str>) -> Result<Conversion, JobFileError> {
    convert(&parsed(&[("a.fio", text.as_bytes())])?, drive)
}

fn line(text: &str) -> String {
    jobs(text)[0].options.command_line()
}

#[test]
fn workloads_become_options_of_a_job() {
    for (text, expected) in [
        (
            "[a]\nfilename=/dev/x\nrw=randread\nbs=4k\nioengine=libaio\niodepth=32\ndirect=1\n\
             time_based\nruntime=10",
            "--rw randread --bs 4k --iodepth 32 --runtime 10s --order \
             'fio;ioengine=libaio;time_based=1' --engine uring --direct true --seed 1",
        ),
        (
            "[a]\nfilename=/dev/x\nrw=randwrite\nnorandommap\nbssplit=4k/60:64k/40\nrate_iops=500\n\
             rate_process=poisson",
            "--rw randwrite --bs 4k/60:64k/40 --order \
             'fio;bssplit=4096/60:65536/40,4096/60:65536/40,4096/60:65536/40;norandommap=1' \
             --rate 500 --arrival poisson --engine sync --direct false --seed 1",
        ),
        (
            "[a]\nfilename=/dev/x\nrw=write\nsize=1g\nloops=3\nverify=crc32c\nthinktime=100\n\
             thinktime_iotime=5\nbuffered=0\nrate=10m",
            "--rw write --size 1073741824 --order 'fio;loops=3;rate=0,10485760,0' --thinktime \
             100us --thinktime_iotime 5s --engine sync --direct true --verify --seed 1",
        ),
        (
            "[a]\nfilename=/dev/x\nrw=randrw\nbs=4k,64k\nsize=1m",
            "--rw randrw --bs 4k,64k --size 1048576 --order 'fio;bs=4096,65536,65536' --engine \
             sync --direct false --seed 1",
        ),
        (
            "[a]\nfilename=/dev/x\nrw=write\nbssplit=4k/50:8k/50,16k/100\n\
             random_distribution=pareto",
            "--rw write --bs 16k/100 --order \
             'fio;bssplit=4096/50:8192/50,16384/100,16384/100' --engine sync --direct false \
             --seed 1",
        ),
        (
            "[a]\nfilename=/dev/x\nrw=trim\nbs=8k,16k,1m",
            "--rw trim --bs 1m --order 'fio;bs=8192,16384,1048576' --engine sync --direct false \
             --seed 1",
        ),
        (
            "[a]\nfilename=/dev/x\nrw=rw\nbs=,8k",
            "--rw rw --bs 4k,8k --order 'fio;bs=4096,8192,8192' --engine sync --direct false \
             --seed 1",
        ),
        (
            "[a]\nfilename=/dev/x\nrw=rw\nbsrange=4k-8k,16k-32k",
            "--rw rw --bs 4k:8k,16k:32k --order \
             'fio;bsrange=4096-8192,16384-32768,16384-32768' --engine sync --direct false --seed \
             1",
        ),
        (
            "[a]\nfilename=/dev/x\nrw=rw\nrwmixwrite=30\nrate=7m,3m\nruntime=5\nbsrange=4k-16k",
            "--rw rw --bs 4k:16k --runtime 5s --rwmixread 70 --order \
             'fio;bsrange=4096-16384,4096-16384,4096-16384;rate=7340032,3145728,3145728' --engine \
             sync --direct false --seed 1",
        ),
    ] {
        assert_eq!(line(text), expected, "{text}");
    }
}

#[test]
fn the_command_line_replaces_files() {
    let text = "[a]\ndirectory=/data\nnumjobs=2\nsize=1m\nioengine=libaio";
    let own: Vec<String> = jobs(text).iter().map(|job| job.target.name().to_owned()).collect();
    assert_eq!(own, ["/data/a.0.0", "/data/a.1.0"]);
    let on_drive = converted(text, Some("sim:samsung-951")).unwrap().jobs;
    assert_eq!(on_drive.len(), 1);
    assert_eq!(on_drive[0].target, Target::Drive("sim:samsung-951".to_owned()));
    assert_eq!(on_drive[0].options.numjobs, Some(2));
    assert_eq!(on_drive[0].options.engine, None);
}

#[test]
fn stages_follow_stonewalls_and_named_jobs() {
    let text =
        "[global]\nfilename=/dev/x\n[a]\n[b]\n[c]\nstonewall\n[d]\nwait_for=a\n[e]\nwait_for=d\n";
    let stages: Vec<(String, usize)> =
        jobs(text).into_iter().map(|job| (job.name, job.stage)).collect();
    let expected = [("a", 0), ("b", 0), ("c", 1), ("d", 1), ("e", 2)];
    assert_eq!(stages, expected.map(|(name, stage)| (name.to_owned(), stage)));
}

#[test]
fn what_is_not_supported_is_named() {
    for (text, expected) in [
        ("[a]\nrw=trimread", "a.fio:2: [a]: rw=trimread is none of"),
        ("[a]\nioengine=rbd", "ioengine=rbd is not supported"),
        ("[a]\nsync=some\nrw=write", "sync=some: none, dsync or sync"),
        ("[a]\nreadfua=1", "readfua=1 is not supported"),
        ("[a]\nexit_what=some", "exit_what=some: group, stonewall or all"),
        ("[a]\nblokcsize=4k", "did you mean \"blocksize\""),
        ("[a]\nbs=4k,8q\nrw=rw", "bs=4k,8q is not a size"),
        ("[a]\nzonemode=host", "zonemode=host is not supported"),
        ("[a]\nfilename=a:/dev/null", "null: beside other files"),
        (
            "[a]\nfile_service_type=zipf\nrw=randread\nrandom_distribution=pareto\nfilename=a:b",
            "random_distribution=pareto of one job are not supported",
        ),
        ("[a]\ninterval=1s", "is an option of assay job that fio has not"),
        ("[a]\nplid_select=scheme\nfdp=1\nrw=write", "plid_select=scheme is not supported"),
        ("[a]\nexec_prerun=x", "instead: run the program before"),
        ("[a]\nsize=4q", "size=4q is not a size"),
        ("[a]\nwait_for=b", "no section before"),
        ("[a]\nbuffer_pattern='f'", "buffer_pattern='f' is not a number"),
    ] {
        let error = converted(text, None).unwrap_err().to_string();
        assert!(error.contains(expected), "{error} for {text:?}");
        assert!(error.starts_with("a.fio:2: [a]: "), "{error}");
    }
    // What asks for nothing is no error.
    assert_eq!(jobs("[a]\nsync=0\nnrfiles=1\nfilename=/dev/x").len(), 1);
}

#[test]
fn flushes_and_backlogs_are_of_jobs_that_write() {
    let text = "[global]\nfilename=/dev/x\nverify=crc32c\nverify_backlog=8\nfsync=1\nend_fsync=1\n\
                [w]\nrw=write\n[r]\nrw=read\n[t]\nrw=trim";
    let jobs = jobs(text);
    let of = |n: usize| {
        let options = &jobs[n].options;
        (options.fsync, options.end_fsync, options.verify_backlog)
    };
    assert_eq!(of(0), (Some(1), Some(true), Some(8)));
    assert_eq!(of(1), (None, None, None));
    assert_eq!(of(2), (None, None, None));
    assert_eq!(jobs[2].options.verify, None);
}

#[test]
fn synchronous_writes_are_of_jobs_that_write() {
    let text = "[global]\nfilename=/dev/x\n[d]\nrw=write\nsync=dsync\n[s]\nrw=randrw\nsync=1\n[n]\n\
                rw=write\nsync=0\n[r]\nrw=read\nsync=1\n[f]\nrw=write\nwritefua=1";
    let found: Vec<Option<String>> = jobs(text).into_iter().map(|job| job.options.sync).collect();
    let found: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
    assert_eq!(found, [Some("dsync"), Some("1"), None, None, Some("dsync")]);
}

/// Threads that verify do not overwrite one another.
#[test]
fn verifying_threads_work_apart() {
    let text = "[a]\nfilename=/dev/x\nrw=write\nnumjobs=4\noffset_increment=1g\nio_size=2g\n";
    assert_eq!(jobs(text)[0].options.size, None);
    let verifying = converted(&format!("{text}verify=crc32c"), None).unwrap();
    assert_eq!(verifying.jobs[0].options.size.as_deref(), Some("1073741824"));
    assert!(verifying.notes[0].contains("overwrite one another"));
}

/// What waits for a job of its group never starts when the end of that job ends the group.
#[test]
fn a_group_ends_before_what_waits_in_it() {
    let text = "[global]\nfilename=/dev/x\nexitall\n[a]\n[b]\nwait_for=a\n[c]\nstonewall";
    let conversion = converted(text, None).unwrap();
    let names: Vec<&str> = conversion.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["a", "c"]);
    assert!(conversion.notes[0].contains("[b] never runs"));
}

/// fio counts clones backwards, and random numbers depend on the count.
#[test]
fn threads_have_the_numbers_of_fio() {
    let text = "[a]\nfilename=/dev/x\nnumjobs=2\n[b]\nsize=1m\nnumjobs=3";
    let orders: Vec<String> = jobs(text).into_iter().filter_map(|job| job.options.order).collect();
    let expected = [
        "fio",
        "fio;thread_number=3",
        "fio;thread_number=5;subjob_number=1",
        "fio;thread_number=4;subjob_number=2",
    ];
    assert_eq!(orders, expected);
}

/// Groups begin at `stonewall` and `new_group`; the end of a job with `exit_what=all` is the end of
/// the file.
#[test]
fn ends_of_jobs_have_groups() {
    let text = "[global]\nfilename=/dev/x\n[a]\nexitall\n[b]\n[c]\nnew_group\nexit_what=stonewall\n\
                [d]\nstonewall\nexit_what=all\n[e]\nstonewall";
    let conversion = converted(text, None).unwrap();
    let exits: Vec<(&str, &str, u32)> = conversion
        .jobs
        .iter()
        .map(|job| {
            let options = &job.options;
            let scope = options.exitall.as_deref().unwrap();
            (job.name.as_str(), scope, options.exit_group.unwrap_or(0))
        })
        .collect();
    let expected = [("a", "group", 0), ("b", "group", 0), ("c", "stage", 1), ("d", "stage", 2)];
    assert_eq!(exits, expected);
    assert_eq!(conversion.notes.len(), 1);
    assert!(conversion.notes[0].contains("[e] never runs"));
}

/// An error of the plan is reported at the option that it is from, else at the section.
#[test]
fn errors_of_the_plan_have_a_place() {
    let job =
        &jobs("[global]\nrw=randread\n[a]\nfilename=/dev/x\nzonemode=strided\nzonesize=64k")[0];
    assert_eq!(
        job.error(&["bs", "zonesize"], "wrong").to_string(),
        "a.fio:6: [a]: zonesize: wrong"
    );
    assert_eq!(job.error(&["bs"], "wrong").to_string(), "a.fio:3: [a]: wrong");
}

/// The places of hot blocks depend on the name of the file, which the null target does not have.
#[test]
fn files_of_the_null_engine_keep_their_names() {
    let order = |file: &str| {
        let text =
            format!("[a]\nioengine=null\n{file}rw=randread\nsize=1m\nrandom_distribution=zipf");
        jobs(&text)[0].options.order.clone().unwrap()
    };
    assert!(order("filename=f0\n").contains(";filename=f0;"), "{}", order("filename=f0\n"));
    assert!(order("directory=/d\n").contains(";filename=/d/a.0.0;"), "{}", order(""));
}

#[test]
fn logs_and_least_rates_are_requests() {
    let job = &jobs(
        "[a]\nfilename=/dev/x\nwrite_bw_log\nwrite_lat_log=run\nlog_avg_msec=500\nrate_min=1m",
    )[0];
    let prefixes: Vec<&str> = job.logs.iter().map(|log| log.prefix.as_str()).collect();
    assert_eq!(prefixes, ["a", "run"]);
    assert_eq!(job.options.interval.as_deref(), Some("500ms"));
    assert_eq!(job.limits.bytes, Some(1 << 20));
}

#[test]
fn an_area_is_limited_to_the_drive() {
    let job = jobs("[a]\nfilename=/dev/x\nsize=100g\noffset=1g")[0].clone();
    assert_eq!(job.end_bytes(&[]), Some(101 << 30));
    assert!(job.limit_to(200 << 30).is_none());
    assert!(job.limit_to(50 << 30).unwrap().contains("limited to"));
    let file = jobs("[a]\nfilename=x\nsize=1m\nfilesize=4m")[0].clone();
    assert_eq!(file.end_bytes(&[]), Some(4 << 20));
}

/// No name twice, and every option that a row names exists here.
#[test]
fn the_table_is_consistent() {
    let mut names: Vec<&str> = OPTIONS.iter().flat_map(|o| o.names).copied().collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "an option is in the table twice");
    for option in OPTIONS {
        if let Support::Converted(how) = option.support {
            for word in how.split('`').skip(1).step_by(2).filter_map(|w| w.strip_prefix("--")) {
                let name = word.split([' ', ',']).next().unwrap();
                assert!(
                    JOB_OPTIONS.iter().any(|o| o.name == name),
                    "--{name} in {:?}",
                    option.names
                );
            }
        }
    }
}

/// The table of docs/fio.md is made from the options: `ASSAY_WRITE_DOCS=1 cargo test -p
/// assay-fio-job the_document_has_the_table` writes it.
#[test]
fn the_document_has_the_table() {
    const HEAD: &str = "| option of fio | here |\n|---|---|\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fio.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (before, rest) = document.split_once(HEAD).unwrap();
    let (table, after) = rest.split_once("\n\n").unwrap();
    let rows: Vec<String> = OPTIONS.iter().map(FioOption::markdown_row).collect();
    if std::env::var_os("ASSAY_WRITE_DOCS").is_some() {
        let written = format!("{before}{HEAD}{}\n\n{after}", rows.join("\n"));
        std::fs::write(path, written).unwrap();
        return;
    }
    assert!(table.lines().eq(&rows), "docs/fio.md has another table: write it anew");
}

/// fio's replay of a log: the log takes the place of order and sizes.
#[test]
fn a_log_is_a_trace_replay() {
    let conversion = converted(
        "[a]\nread_iolog=/tmp/a.log\nreplay_redirect=/dev/x\nreplay_time_scale=200\n\
         replay_scale=4\nreplay_align=4k\nreplay_skip=trim,sync\nrw=randrw\nbs=8k\nsize=1g\n\
         iodepth=8\nioengine=libaio\ndirect=1",
        None,
    )
    .unwrap();
    let job = &conversion.jobs[0];
    assert_eq!(job.target.name(), "/dev/x");
    assert_eq!(
        job.options.command_line(),
        "--iodepth 8 --engine uring --direct true --trace /tmp/a.log --trace_skip trim,sync \
         --trace_timing timed --trace_time_scale 0.5 --trace_map divide:4 --trace_align 4096 \
         --seed 1"
    );
    assert!(conversion.notes[0].contains("latency counts from when"));
    let stalls =
        converted("[a]\nread_iolog=a.log\nreplay_no_stall=1\nreplay_time_scale=50", Some("sim:x"))
            .unwrap();
    let line = stalls.jobs[0].options.command_line();
    assert!(
        line.contains("--iodepth 1 ") && line.contains("--trace_timing closed --trace_map offset"),
        "{line}"
    );
    assert!(!line.contains("--rw"), "{line}");
    let own = jobs("[a]\nfilename=/dev/x\nread_iolog=a.log");
    assert_eq!(own[0].target, Target::OfLog("a.log".to_owned()));
}

/// Several files are one drive, on which they take turns.
#[test]
fn several_files_take_turns() {
    let text = "[a]\nfilename=/dev/x:/dev/y:/dev/z\nrw=randread\nsize=3g\nopenfiles=2\n\
                file_service_type=roundrobin:4";
    let several = jobs(text);
    assert_eq!(several.len(), 1);
    assert_eq!(several[0].target.name(), "files:/dev/x:/dev/y:/dev/z");
    assert_eq!(several[0].options.size.as_deref(), Some("3221225472"));
    assert_eq!(several[0].end_bytes(&[]), Some(1 << 30));
    let order = several[0].options.order.as_deref().unwrap();
    assert!(order.ends_with(";file_service_type=roundrobin:4;openfiles=2"), "{order}");
    let own = jobs("[a]\nnrfiles=2\nnumjobs=2\ndirectory=/p:/q\nsize=1g");
    let names: Vec<&str> = own.iter().map(|job| job.target.name()).collect();
    assert_eq!(names, ["files:/p/a.0.0:/p/a.0.1", "files:/q/a.1.0:/q/a.1.1"]);
    let shared = jobs("[a]\nfilename_format=f$filenum\nnumjobs=4\nsize=1g");
    assert_eq!((shared.len(), shared[0].target.name()), (1, "f0"));
    assert_eq!(shared[0].options.numjobs, Some(4));
    // Each has a part of the size, and begins anew.
    let one = jobs("[a]\nfilename_format=f$jobnum\nnrfiles=2\nnumjobs=2\nsize=1g");
    let names: Vec<&str> = one.iter().map(|job| job.target.name()).collect();
    assert_eq!(names, ["files:f0:f0", "files:f1:f1"]);
    let error = converted("[a]\nfilename=x:y\n[b]\nfilename=y", None).unwrap_err();
    assert!(error.to_string().contains("give both the same files"), "{error}");
}

#[test]
fn queues_processors_and_data_are_fios() {
    for (text, expected) in [
        ("iodepth=32\niodepth_low=8\nioengine=libaio", "--iodepth_batch_complete_min 24"),
        ("iodepth=32\niodepth_batch_complete_min=40\nioengine=libaio", "_min 32"),
        ("cpus_allowed=0-1\ncpus_allowed_policy=split", "--cpus_allowed_policy split "),
        ("rw=randwrite\nserialize_overlap=1", "--serialize_overlap"),
        ("rw=write\nbuffer_pattern=0xdeadbeef", "--data pattern=deadbeef"),
        ("rw=randwrite\nverify=pattern\nverify_only", "--rw randread "),
        ("size=100%%", "--size 100%"),
        ("runtime=1.5", "--runtime 1s"),
        ("rw=write\natomic=1", "--atomic "),
        ("rw=write\nfdp=1\nfdp_pli=3", "--fdp 3 "),
        ("rw=write\ndataplacement=fdp\nplids=2", "--fdp 2 "),
        ("rw=write\nfdp=1", "--fdp all "),
        ("rw=write\nfdp=1\nfdp_pli=0,2-4", "--fdp 0,2-4 "),
        ("rw=write\nfdp=1\nplids=1,2\nplid_select=random", "--fdp random:1,2 "),
    ] {
        let shown = line(&format!("[a]\nfilename=/dev/x\n{text}"));
        assert!(shown.contains(expected), "{shown} for {text}");
    }
    let second = &jobs(
        "[a]\nfilename=/dev/x\nnumjobs=3\n[b]\nfilename=/dev/x\ncpus_allowed=0-1\n\
                        cpus_allowed_policy=split",
    )[1];
    let policy = second.options.cpus_allowed_policy.as_deref();
    assert_eq!(policy, Some("split:3"));
    let notes = converted("[a]\nfilename=/dev/x\nruntime=1.5", None).unwrap().notes;
    assert!(notes[0].contains("runtime=1.5 means 1"), "{notes:?}");
}

/// fio names a log after the job and its first thread, or all alike.
#[test]
fn logs_are_named_as_fio_names_them() {
    let text = "[global]\nfilename=/dev/x\nwrite_bw_log\n[a]\nname=c\nnumjobs=2\n[b]\n\
                write_bw_log=p\nper_job_logs=0";
    let found: Vec<(String, Option<u32>)> = (jobs(text).into_iter())
        .flat_map(|job| job.logs)
        .map(|log| (log.prefix, log.thread))
        .collect();
    assert_eq!(found, [("c".to_owned(), Some(1)), ("p".to_owned(), None)]);
}

#[test]
fn engines_that_bypass_the_kernel_need_a_drive_of_this_host() {
    for (engine, name) in [
        ("spdk", "trtype=PCIe traddr=0000.04.00.0 ns=1"),
        ("external:/opt/spdk/build/fio/spdk_nvme", "trtype=TCP traddr=10.0.0.1"),
        ("spdk_bdev", "Nvme0n1"),
        ("windowsaio", r"\\.\PhysicalDrive1"),
    ] {
        let text = format!("[a]\nioengine={engine}\nspdk_json_conf=x\niodepth=4\nfilename={name}");
        let error = converted(&text, None).unwrap_err().to_string();
        assert!(error.contains("add the drive to the command line"), "{error}");
        let given = converted(&text, Some("/dev/nvme0n1")).unwrap();
        let job = &given.jobs[0];
        assert_eq!(job.target, Target::Drive("/dev/nvme0n1".to_owned()));
        assert_eq!(job.options.engine.as_deref(), Some("uring"));
        assert_eq!(job.options.direct, Some(engine != "windowsaio"));
        assert!(given.notes[0].contains("block layer"), "{:?}", given.notes);
    }
    assert_eq!(jobs("[a]\nioengine=windowsaio\nfilename=test.dat").len(), 1);
}

#[test]
fn zones_of_drives_are_in_the_order() {
    let job = "[a]\nfilename=/dev/x\nrw=randwrite\nzonemode=zbd\nzonesize=1m\nsize=16z\noffset=2z\n\
               max_open_zones=8\njob_max_open_zones=2\nzone_reset_frequency=0.25\n\
               zone_reset_threshold=0.5\nread_beyond_wp=1\nzonecapacity=768k\ndirect=1";
    let expected = "--rw randwrite --size 16777216 --offset 2097152 --zonesize 1048576 --order \
                    'fio;zonemode=zbd;zonecapacity=786432;max_open_zones=8;job_max_open_zones=2;\
                    read_beyond_wp=1;zone_reset_threshold=0.5;zone_reset_frequency=0.25' --engine \
                    sync --direct true --seed 1";
    assert_eq!(line(job), expected);
    for (options, named) in [
        ("zonemode=zbd\nsize=xz", "size=xz: a number of zones"),
        ("zonemode=zbd\nzone_reset_frequency=2", "a share from 0 to 1"),
        ("zonemode=host", "none, strided or zbd"),
    ] {
        let text = format!("[a]\nfilename=/dev/x\nrw=write\n{options}");
        let error = converted(&text, None).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
    // The drive says how long its zones are.
    let of_drive = jobs("[a]\nfilename=/dev/x\nrw=write\nzonemode=zbd\nsize=4z\noffset=1z");
    let options = &of_drive[0].options;
    assert_eq!(options.size.as_deref(), Some("4z"));
    assert_eq!(options.offset.as_deref(), Some("1z"));
}

#[test]
fn nodes_of_processors_are_lists_of_them() {
    let text = "[a]\nfilename=/dev/x\nnuma_cpu_nodes=0-1,3\nnuma_mem_policy=bind:0-1,3";
    let own = jobs(text);
    let cpus = own[0].options.cpus_allowed.as_deref();
    assert_eq!(cpus, Some("node0,node1,node3"));
    for (options, named) in [
        ("numa_mem_policy=bind:1", "numactl --membind"),
        ("numa_mem_policy=interleave:0\nnuma_cpu_nodes=0", "numactl"),
        ("numa_cpu_nodes=1\ncpus_allowed=0", "exclude one another"),
        ("numa_cpu_nodes=x", "a list of nodes"),
    ] {
        let text = format!("[a]\nfilename=/dev/x\n{options}");
        let error = converted(&text, None).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
}

#[test]
fn a_share_of_the_writes_repeats_data() {
    let job = "[a]\nfilename=/dev/x\nrw=write\ndedupe_percentage=40\ndedupe_mode=repeat";
    assert_eq!(jobs(job)[0].options.dedupe_percentage, Some(40));
}

#[path = "job/priorities.rs"]
mod priorities;
