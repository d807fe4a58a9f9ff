//! Every option of fio 3.33 that is known here, and what becomes of it.
//!
//! docs/fio.md shows this table; a test compares them.

/// What becomes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Converted into options of `assay job`, targets, stages or exports; how.
    Converted(&'static str),
    /// Accepted, and changes nothing; why.
    NoEffect(&'static str),
    /// An error, but for these values, which ask for nothing; and what to use instead, where there
    /// is something.
    Unsupported(&'static [&'static str], &'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FioOption {
    /// Its names; the first is the main one.
    pub names: &'static [&'static str],
    /// What becomes of it.
    pub support: Support,
}

use Support::{Converted, NoEffect, Unsupported};

const OFF: &[&str] = &["0"];
const REPORTING: &str = "changes fio's own report only";
const LAYOUT: &str = "how fio creates the files it measures; assay writes every byte of a new \
                      file before it measures it";
const BUFFERS: &str =
    "how fio allocates buffers; assay allocates aligned ones, written before measuring";
const NEW_DATA: &str = "every write has new data";
const RING: &str = "a saving of processor time within the ring; assay uses registered files and \
                    fixed buffers by itself";
const CHECKER: &str = "how fio's checker proceeds; assay checks in the worker, counts every bad \
                       block, prints the first ones and goes on";
const LOG_FORM: &str = "the form of a log; docs/fio.md says which columns assay writes";

macro_rules! options {
    ($($($name:literal)|+ => $support:expr;)+) => {
        /// All options that are known.
        pub static OPTIONS: &[FioOption] =
            &[$(FioOption { names: &[$($name),+], support: $support }),+];
    };
}

options! {
    "name" => Converted("the name of the job");
    "description" => NoEffect("a comment");
    "filename" =>
        Converted("the drive; several with `:` between take turns, as the drive `files:A:B`");
    "directory" =>
        Converted("the folder of the file; several with `:` between are those of the clones in \
            turn");
    "nrfiles" | "nr_files" =>
        Converted("the files of a job, which take turns");
    "file_service_type" =>
        Converted("`--order`: roundrobin, sequential and random, with `:N` too; zipf, pareto and \
            normal");
    "openfiles" => Converted("`--order`: others have their turn when one of these is done");
    "filename_format" => Converted("names of files, with $jobname, $jobnum and $filenum");
    "unique_filename" | "opendir" | "lockfile" => Unsupported(&["0", "1", "none"], "");
    "rw" | "readwrite" => Converted("`--rw`, with `:N` too");
    "rw_sequencer" => Converted("`--order`: sequential or identical");
    "bs" | "blocksize" =>
        Converted("`--bs`, also with commas between those of reads, writes and trims");
    "bsrange" | "blocksize_range" =>
        Converted("`--bs` and `--order`: multiples of the smallest size");
    "bssplit" =>
        Converted("`--bs` and `--order`; the random map cuts an I/O that meets an accessed block, \
            as in fio");
    "ba" | "blockalign" => Converted("`--order`; without a random map, as in fio");
    "bs_unaligned" | "blocksize_unaligned" => Converted("`--order`; refused beside `verify`");
    "bs_is_seq_rand" => Converted("`--order`");
    "size" => Converted("`--size`; limited to the drive");
    "filesize" =>
        Converted("`--order`: the area, of a range `64k-128k` at random for each file, as in \
            fio; `size` then is what a pass transfers");
    "io_size" | "io_limit" => Converted("`--io_size`");
    "number_ios" => Converted("`--number_ios`");
    "loops" => Converted("`--order`: so many passes");
    "fill_device" | "fill_fs" =>
        Converted("`--size`: the whole drive; refused for a file, which fio makes longer until its \
            file system is full");
    "offset" | "fileoffset" => Converted("`--offset`");
    "offset_increment" => Converted("`--offset_increment`");
    "offset_align" => Converted("`--order`");
    "file_append" => Unsupported(OFF, "");
    "ioengine" =>
        Converted("`--engine`: libaio, io_uring, posixaio, xnvme, windowsaio, SPDK's spdk and \
            spdk_bdev as uring, the last three with the drive on the command line; sync, psync, \
            pvsync, pvsync2, vsync as sync; io_uring_cmd as passthru; null and cpp_null as the \
            drive null:");
    "iodepth" => Converted("`--iodepth`; 1 with a synchronous engine");
    "iodepth_batch" | "iodepth_batch_submit" =>
        NoEffect("assay submits together what completed together, and as many are in flight; \
            contiguous I/Os reach the drive as they are, where fio's batches above 2 have the \
            kernel merge them");
    "iodepth_batch_complete_min" | "iodepth_batch_complete" =>
        Converted("`--iodepth_batch_complete_min`");
    "iodepth_batch_complete_max" => NoEffect("assay takes every completion there is");
    "iodepth_low" => Converted("`--iodepth_batch_complete_min`: the rest of iodepth");
    "io_submit_mode" =>
        NoEffect("a worker submits an I/O when it is due; none waits for another's completion \
            while there is room in the queue");
    "serialize_overlap" => Converted("`--serialize_overlap`");
    "runtime" | "timeout" => Converted("`--runtime`");
    "time_based" =>
        Converted("`--order`: with it only the time ends a job; without it the bytes do too");
    "ramp_time" => Converted("`--ramp_time`");
    "startdelay" => Converted("`--startdelay`");
    "numjobs" => Converted("`--numjobs`");
    "thread" | "threads" => NoEffect("jobs always are threads");
    "stonewall" | "wait_for_previous" => Converted("the job starts when all before it have ended");
    "wait_for" => Converted("the same, for the job named and all before it");
    "new_group" => Converted("`--exit_group`; every section has a result of its own anyway");
    "group_reporting" => NoEffect("the threads of a section always are reported together");
    "per_job_logs" =>
        Converted("0: the logs of the jobs follow each other in one file without a number");
    "unified_rw_reporting" | "clat_percentiles" | "lat_percentiles" | "slat_percentiles"
        | "percentile_list" | "significant_figures" | "disk_util" | "block_error_percentiles"
        | "stats" | "unit_base" => NoEffect(REPORTING);
    "gtod_reduce" | "disable_lat" | "disable_clat" | "disable_slat" | "disable_bw_measurement"
        | "disable_bw" | "gtod_cpu" | "clocksource" =>
        NoEffect("a saving of clock readings; assay reads the clock once per batch");
    "kb_base" => Converted("units of sizes");
    "direct" => Converted("`--direct`");
    "buffered" => Converted("`--direct`, inverted");
    "invalidate" =>
        Converted("the page cache of the file is dropped before each pass of a buffered job");
    "fsync" => Converted("`--fsync`");
    "fdatasync" => Converted("`--fdatasync`");
    "end_fsync" => Converted("`--end_fsync`");
    "fsync_on_close" => Converted("`--end_fsync`");
    "sync" => Converted("`--sync`");
    "writefua" => Converted("`--sync dsync`");
    "readfua" => Unsupported(&["0"], "");
    "atomic" => Converted("`--atomic`");
    "write_barrier" => Unsupported(&["0", "none"], "");
    "fdp" | "dataplacement" =>
        Converted("`--fdp`: all identifiers, or those of fdp_pli");
    "fdp_pli" | "plids" | "plid" => Converted("`--fdp`");
    "plid_select" | "fdp_pli_select" => Converted("`--fdp`: in turn, or random: at random");
    "dp_scheme" => Unsupported(&[], "");
    "sync_file_range" => Unsupported(&[], "fdatasync=N, which waits for the drive, too");
    "random_distribution" => Converted("`--order`, zoned_abs and centres too");
    "random_generator" => Converted("`--order`: fio's generators");
    "norandommap" => Converted("`--order`");
    "sprandom" => Converted("`--order`: the I/Os of fio 3.42");
    "spr_num_regions" => Converted("`--order`");
    "spr_op" => Converted("`--order`");
    "spr_cs" => Converted("`--order`");
    "softrandommap" => NoEffect("memory of a random map that is too large");
    "randseed" => Converted("`--order` and `--seed`");
    "randrepeat" =>
        Converted("`--order`: 0: each pass has an order of its own, from the default seed");
    "allrandrepeat" => Converted("`--order`");
    "percentage_random" => Converted("`--order`");
    "rwmixread" => Converted("`--rwmixread`");
    "rwmixwrite" => Converted("`--rwmixread`, 100 minus it");
    "zonemode" => Converted("`--order`: none, strided and zbd");
    "zonesize" => Converted("`--zonesize`");
    "zonerange" => Converted("`--zonerange`");
    "zoneskip" => Converted("`--zoneskip`");
    "zonecapacity" => Converted("`--order`, with zonemode=zbd on a drive without zones");
    "read_beyond_wp" => Converted("`--order`, with zonemode=zbd");
    "max_open_zones" =>
        Converted("`--order`, with zonemode=zbd; of a zoned drive at most its own limit");
    "job_max_open_zones" => Converted("`--order`, with zonemode=zbd");
    "ignore_zone_limits" => Converted("`--order`, with zonemode=zbd");
    "zone_reset_threshold" => Converted("`--order`, with zonemode=zbd");
    "zone_reset_frequency" => Converted("`--order`, with zonemode=zbd");
    "rate" =>
        Converted("`--order`: reads, writes and trims each at their rate, from which the mix \
            follows");
    "rate_iops" =>
        Converted("`--order`, in bytes by the smallest block size, as fio has it; with \
            rate_process=poisson `--rate` and `--arrival poisson`");
    "rate_process" => Converted("`--arrival`");
    "rate_min" | "ratemin" => Converted("checked after the run, interval by interval");
    "rate_iops_min" => Converted("checked after the run, interval by interval");
    "rate_cycle" | "ratecycle" => Converted("`--interval`, with rate_min");
    "rate_ignore_thinktime" => Unsupported(OFF, "");
    "thinktime" => Converted("`--thinktime`");
    "thinktime_blocks" => Converted("`--thinktime_blocks`");
    "thinktime_blocks_type" => Converted("`--order`: complete, or issue");
    "thinktime_iotime" => Converted("`--thinktime_iotime`");
    "thinktime_spin" => Unsupported(OFF, "thinktime without it waits as long");
    "latency_target" =>
        Converted("`--latency_target`; a job that is too slow at one I/O in flight ends, too");
    "latency_window" => Converted("`--latency_window`; 1 s without it, where fio has none");
    "latency_percentile" => Converted("`--latency_percentile`");
    "latency_run" => Converted("`--latency_run`");
    "max_latency" => Converted("checked after the run; fio ends a job at the first slower I/O");
    "verify" =>
        Converted("`--verify`: every checksum of fio as assay's own, CRC-32C with seed, offset \
            and generation");
    "do_verify" =>
        Converted("`--do_verify`; 0: also, a file at its end has no turn in further passes");
    "verify_interval" => Converted("`--verify_interval`");
    "verify_pattern" => NoEffect("verified blocks have assay's data");
    "verify_fatal" | "verify_dump" | "verify_async" | "verify_async_cpus" | "experimental_verify"
        | "verify_offset" | "error_dump" => NoEffect(CHECKER);
    "verify_backlog" => Converted("`--verify_backlog`; as many at a time");
    "verify_only" => Converted("`--verify` of a job that reads, in the order of the writes");
    "verify_backlog_batch" | "verify_header_seed" =>
        Unsupported(OFF, "verify_backlog=N reads N blocks back at a time");
    "verify_state_load" =>
        NoEffect("the blocks that an interrupted job has written describe themselves, and others \
            are not judged");
    "verify_state_save" => NoEffect("of an interrupted job; the blocks describe themselves");
    "verify_write_sequence" => NoEffect(CHECKER);
    "trim_verify_zero" => NoEffect("of blocks that trim_percentage trims, which is an error");
    "trim_percentage" | "trim_backlog" | "trim_backlog_batch" =>
        Unsupported(OFF, "rw=trim in a job of its own");
    "zero_buffers" => Converted("`--data zero`");
    "buffer_compress_percentage" =>
        Converted("`--data compress=R`, R from 1.05 to 20; 100: zeros, or the buffer_pattern");
    "buffer_compress_chunk" => NoEffect("compressible data repeat within every block");
    "buffer_pattern" =>
        Converted("`--data pattern=HEX`, up to 512 bytes, as in fio 3.33, of a file too");
    "refill_buffers" | "scramble_buffers" => NoEffect(NEW_DATA);
    "dedupe_percentage" => Converted("`--dedupe_percentage`");
    "dedupe_mode" => Converted("repeat; working_set: `--dedupe_working_set`");
    "dedupe_working_set_percentage" => Converted("`--dedupe_working_set`, in percent of size");
    "dedupe_global" =>
        Unsupported(OFF, "dedupe_mode=working_set without it, a working set for each job");
    "cpus_allowed" => Converted("`--cpus_allowed`");
    "cpumask" => Converted("`--cpus_allowed`");
    "cpus_allowed_policy" => Converted("`--cpus_allowed_policy`");
    "numa_mem_policy" =>
        Converted("local, default, and bind or prefer of the nodes in numa_cpu_nodes: a thread is \
            the first to write its buffers, which Linux then takes from its own node");
    "numa_cpu_nodes" => Converted("`--cpus_allowed` nodeN");
    "write_bw_log" => Converted("`PREFIX_bw.N.log`, an entry per interval");
    "write_iops_log" => Converted("`PREFIX_iops.N.log`");
    "write_lat_log" => Converted("`PREFIX_lat.N.log` and `PREFIX_clat.N.log`");
    "write_hist_log" => Converted("`PREFIX_clat_hist.N.log`");
    "log_avg_msec" => Converted("`--interval`, with a log");
    "log_hist_msec" => Converted("`--interval`, with a log");
    "log_issue_time" | "log_hist_coarseness" | "log_max_value" | "log_window_value"
        | "log_offset" | "log_unix_epoch" | "log_alternate_epoch"
        | "log_alternate_epoch_clock_id" | "log_entries" | "log_compression"
        | "log_compression_cpus" | "log_store_compressed" | "bwavgtime" | "iopsavgtime" =>
        NoEffect(LOG_FORM);
    "log_prio" => NoEffect(LOG_FORM);
    "create_serialize" | "create_fsync" | "create_on_open" | "fallocate" | "overwrite"
        | "fadvise_hint" | "write_hint" => NoEffect(LAYOUT);
    "create_only" =>
        Unsupported(OFF, "run the job without it: a missing file is made and filled before it");
    "pre_read" => Unsupported(OFF, "a job before it with rw=read and invalidate=0 in both");
    "unlink" =>
        Converted("files that are made for the job are removed after the run; others stay");
    "unlink_each_loop" => Unsupported(OFF, "unlink=1");
    "allow_file_create" => Converted("0: a file that does not exist is an error");
    "allow_mounted_write" => NoEffect("assay's interlock decides");
    "mem" | "iomem" | "iomem_align" | "mem_align" | "hugepage-size" | "lockmem" =>
        NoEffect(BUFFERS);
    "continue_on_error" =>
        NoEffect("a failed I/O is counted, the job goes on, and the exit status tells");
    "ignore_error" =>
        Unsupported(&[], "continue_on_error: failed I/Os are counted, and the job goes on");
    "exitall" => Converted("`--exitall group` for all jobs of the file");
    "exitall_on_error" =>
        Unsupported(OFF, "without it: failed I/Os are counted, and the exit status tells");
    "exit_what" =>
        Converted("group; stonewall and all: `--exitall stage`; with all, jobs of later stages \
            never run and are left out");
    "flow" => Converted("`--flow`");
    "flow_id" => Converted("`--flow_id`");
    "flow_sleep" => Converted("`--flow_sleep`");
    "flow_watermark" => Unsupported(OFF, "");
    "steadystate" | "ss" => Converted("`--steadystate`, of a job that runs by itself");
    "steadystate_duration" | "ss_dur" => Converted("`--steadystate_duration`");
    "steadystate_ramp_time" | "ss_ramp" => Converted("`--steadystate_ramp_time`");
    "steadystate_check_interval" | "ss_interval" => Converted("`--interval`, with steadystate");
    "prio" =>
        Converted("`--ioprio`; the level, of the class best-effort without prioclass; it changes \
            nothing on a simulated drive");
    "prioclass" => Converted("`--ioprio`: 1 rt, 2 be, 3 idle");
    "nice" => Unsupported(OFF, "nice starts assay with a priority");
    "priohint" => Converted("`--ioprio`: the hint of newer fio, from Linux 6.5 on");
    "cmdprio_percentage" =>
        Converted("`--order`: as many I/Os, drawn as by fio, have a priority of their own, with \
            ioengine=io_uring and libaio; it changes nothing on a simulated drive");
    "cmdprio_bssplit" => Converted("`--order`: the same by sizes");
    "cmdprio_class" => Converted("their class; rt without it, as in fio");
    "cmdprio" => Converted("their level");
    "cmdprio_hint" => Converted("their hint, as priohint");
    "exec_prerun" | "exec_postrun" => Unsupported(&[], "run the program before or after assay");
    "ioscheduler" =>
        Converted("checked against the drive: assay sets none, and says how to, if it has another");
    "profile" => Unsupported(&[], "the options that the profile stands for");
    "cgroup" | "cgroup_weight" | "cgroup_nodelete" | "uid" | "gid" =>
        Unsupported(&[], "systemd-run starts assay in a control group, or as another user");
    "read_iolog" =>
        Converted("`--trace`: a log of fio, or the text of blkparse in place of a binary \
            blktrace; rw, bs, sizes and offsets of the job do not count, as in fio");
    "replay_no_stall" =>
        Converted("`--trace_timing closed`, else timed: latency counts from when a request is due");
    "replay_redirect" => Converted("the drive");
    "replay_scale" => Converted("`--trace_map divide:N`");
    "replay_align" => Converted("`--trace_align`");
    "replay_time_scale" => Converted("`--trace_time_scale`, 100 divided by it");
    "replay_skip" => Converted("`--trace_skip`");
    "read_iolog_chunked" => NoEffect("a trace is always read piece by piece");
    "write_iolog" => Converted("`--write_iolog`: a log of version 3, which is appended to");
    "merge_blktrace_file" | "merge_blktrace_scalars" | "merge_blktrace_iters" =>
        Unsupported(&[], "");
    "hipri" => Converted("`--hipri`");
    "sqthread_poll" => Converted("`--sqpoll`");
    "sqthread_poll_cpu" => Converted("`--sqpoll_cpu`");
    "registerfiles" | "fixedbufs" | "nonvectored" | "force_async" | "userspace_reap"
        | "libaio_vectored" => NoEffect(RING);
    "spdk_json_conf" | "spdk_conf" | "spdk_mem" | "spdk_single_seg" | "spdk_env_context"
        | "enable_sgl" | "sge_size" | "bit_bucket_data_len" | "mem_size_mb" | "shm_id"
        | "enable_vmd" | "disable_pcie_sgl_merge" | "num_qpairs" | "transport" | "log_flags"
        | "print_qid_mappings" | "hostnqn" | "hostaddr" | "hostsvcid" =>
        NoEffect("of SPDK's driver");
    "write_mode" =>
        Unsupported(&["write"], "assay job DRIVE --rw write --engine passthru --zone_append in \
            place of zone_append; other commands are not sent");
    "zone_append" => Unsupported(OFF, "assay job DRIVE --rw write --engine passthru --zone_append");
    "initial_zone_reset" => Unsupported(OFF, "assay purge DRIVE, which resets all zones");
    "md_per_io_size" | "pi_act" | "pi_chk" | "apptag" | "apptag_mask" => Unsupported(OFF, "");
    "xnvme_async" | "xnvme_sync" | "xnvme_admin" | "xnvme_be" | "xnvme_mem" | "xnvme_iovec"
        | "xnvme_dev_subnqn" => NoEffect("of the library xNVMe");
    "uncached" | "nowait" | "cmdprio_split" => Unsupported(OFF, "");
    "cmd_type" => Unsupported(&["nvme"], "");
}

/// Whether an option has a value on fio's command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    None,
    /// Behind `=` only.
    Optional,
    Required,
}

/// Options of type FIO_OPT_STR_SET in fio's options.c and engines: `fio --cmdhelp` calls their type
/// "empty or boolean value".
const FLAGS: &[&str] = &[
    "bs_unaligned",
    "blocksize_unaligned",
    "norandommap",
    "time_based",
    "verify_only",
    "exitall",
    "exitall_on_error",
    "stonewall",
    "wait_for_previous",
    "new_group",
    "thread",
    "threads",
    "group_reporting",
    "zero_buffers",
    "refill_buffers",
    "hipri",
    "fixedbufs",
    "registerfiles",
    "sqthread_poll",
    "userspace_reap",
];

pub fn operand(name: &str) -> Operand {
    match FLAGS.contains(&name) {
        true => Operand::Optional,
        false => Operand::Required,
    }
}

pub fn names() -> impl Iterator<Item = &'static str> {
    OPTIONS.iter().flat_map(|option| option.names).copied()
}

/// This name, if an option has it.
pub fn known_name(name: &str) -> Option<&'static str> {
    names().find(|known| *known == name)
}

/// The option of this name.
pub fn find(name: &str) -> Option<&'static FioOption> {
    OPTIONS.iter().find(|option| option.names.contains(&name))
}

/// The first name of an option that is converted; any other name as it is.
pub fn main_name(name: &str) -> &str {
    let converted = find(name).filter(|option| matches!(option.support, Converted(_)));
    converted.map_or(name, |option| option.names[0])
}

impl FioOption {
    /// It is converted into this option of `assay job`.
    pub fn becomes(&self, job_option: &str) -> bool {
        let Converted(how) = self.support else {
            return false;
        };
        let mut quoted = how.split('`').skip(1).step_by(2);
        quoted.any(|words| {
            words.split(' ').next().and_then(|w| w.strip_prefix("--")) == Some(job_option)
        })
    }

    /// Its row in the table of docs/fio.md.
    pub fn markdown_row(&self) -> String {
        let names: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
        let what = match self.support {
            Converted(how) => how.to_owned(),
            NoEffect(why) => format!("accepted, changes nothing: {why}"),
            Unsupported(harmless, instead) => {
                let but = match harmless {
                    [] => String::new(),
                    harmless => format!(", but for {}", harmless.join(", ")),
                };
                let colon = if instead.is_empty() { "" } else { "; instead: " };
                format!("error{but}{colon}{instead}")
            }
        };
        format!("| {} | {what} |", names.join(", "))
    }
}
