//! Makes a model of `hardware/rtl/nvs_core.sv` for each configuration: SystemVerilog to C++
//! (Verilator), C++ to one static library.
//!
//! Without the feature `model`, `verilator`, a C++ compiler or the RTL the crate is built without
//! models, and `CoreModel::new` says what is missing. With the feature `shared-model` there is one
//! model, w128c16, in a shared library that `hardware/rtl/check coverage` and `cosim-mutants`
//! exchange for others without a new build of the tests. A model is made anew when the RTL, `csrc/`
//! or its configuration have changed, by content.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

#[path = "src/config.rs"]
#[allow(dead_code, reason = "the crate uses all of it")]
mod config;
use config::{CONFIGURATIONS, Configuration};

/// Models made at the same time.
const JOBS: usize = 2;

/// The configuration of the feature `shared-model`.
const SHARED_MODEL: &str = "w128c16";

fn main() -> io::Result<()> {
    println!("cargo:rustc-check-cfg=cfg(core_model)");
    println!("cargo:rerun-if-env-changed=CXX");
    for file in ["build.rs", "csrc", "src/config.rs", "src/signals.rs", "../rtl"] {
        println!("cargo:rerun-if-changed={file}");
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let (variable, reason) = match Builder::new(out)? {
        Ok(builder) => match builder.build() {
            Ok(()) => {
                println!("cargo:rustc-cfg=core_model");
                return Ok(());
            }
            Err(broken) => ("ASSAY_COSIM_BROKEN", broken),
        },
        Err(missing) => ("ASSAY_COSIM_MISSING", missing),
    };
    let reason = reason.replace('\n', "; ");
    if std::env::var_os("CARGO_FEATURE_MODEL").is_some() {
        println!("cargo:warning=built without the model of the core: {reason}");
    }
    println!("cargo:rustc-env={variable}={reason}");
    Ok(())
}

struct Builder {
    out: PathBuf,
    rtl: PathBuf,
    csrc: PathBuf,
    compiler: String,
    /// Verilator's own sources.
    runtime: PathBuf,
    trace: bool,
    /// Of everything that all models depend on.
    common: u64,
}

impl Builder {
    /// The inner error: what is missing.
    fn new(out: PathBuf) -> io::Result<Result<Builder, String>> {
        if std::env::var_os("CARGO_FEATURE_MODEL").is_none() {
            return Ok(Err("built without the feature `model`".to_owned()));
        }
        let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
        let (rtl, csrc) = (here.join("../rtl"), here.join("csrc"));
        if !rtl.join("nvs_core.sv").exists() {
            return Ok(Err("hardware/rtl/nvs_core.sv does not exist".to_owned()));
        }
        let target = std::env::var("CARGO_CFG_TARGET_ENDIAN").unwrap_or_default();
        if target != "little" {
            return Ok(Err("the shim needs a little-endian processor".to_owned()));
        }
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "g++".to_owned());
        let version = text_of(Command::new("verilator").arg("--version"));
        let root = text_of(Command::new("verilator").args(["--getenv", "VERILATOR_ROOT"]));
        let cxx = text_of(Command::new(&compiler).arg("--version"));
        let (Some(version), Some(root), Some(cxx)) = (version, root, cxx) else {
            // Cargo runs this again while the file is missing, so a program that is installed later
            // is found.
            println!("cargo:rerun-if-changed={}", out.join("missing").display());
            let install = "apt-get install verilator g++ zlib1g-dev";
            return Ok(Err(format!("verilator or {compiler} is not installed: {install}")));
        };
        let runtime = PathBuf::from(root.trim()).join("include");
        let probe = out.join("probe.cpp");
        fs::write(&probe, "#include <zlib.h>\n")?;
        let trace = run(Command::new(&compiler).arg("-E").arg(&probe)).is_ok();
        let mut hasher = DefaultHasher::new();
        (version, cxx, trace).hash(&mut hasher);
        let mut sources = files(&rtl, "sv")?;
        sources.extend(files(&csrc, "cpp")?);
        sources.extend(files(&csrc, "h")?);
        sources.extend([here.join("src/signals.rs"), here.join("build.rs")]);
        for source in sources {
            fs::read(source)?.hash(&mut hasher);
        }
        let signals = fs::read_to_string(here.join("src/signals.rs"))?;
        fs::write(out.join("signals.h"), header_of(&signals))?;
        Ok(Ok(Builder { out, rtl, csrc, compiler, runtime, trace, common: hasher.finish() }))
    }

    fn build(&self) -> Result<(), String> {
        let all = std::env::var_os("CARGO_FEATURE_ALL_CONFIGURATIONS").is_some();
        let shared = std::env::var_os("CARGO_FEATURE_SHARED_MODEL").is_some();
        let wanted = CONFIGURATIONS.iter().filter(|one| match shared {
            true => one.name == SHARED_MODEL,
            false => all || one.default,
        });
        let wanted: Vec<&Configuration> = wanted.collect();
        let names: String = wanted.iter().map(|one| format!(" X({})", one.name)).collect();
        write(&self.out.join("models.h"), &format!("#define MODELS(X){names}\n"))?;
        // The longest first: the runtime, then the models with most logic.
        let queue = Mutex::new(wanted);
        let objects = Mutex::new(Vec::new());
        let work = || -> Result<(), String> {
            loop {
                let next = queue.lock().expect("no thread panics").pop();
                let Some(next) = next else { return Ok(()) };
                let object = self.model(next)?;
                objects.lock().expect("no thread panics").push(object);
            }
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (1..JOBS).map(|_| scope.spawn(work)).collect();
            let runtime = self.runtime_objects();
            let ended = work();
            for thread in threads {
                thread.join().expect("no thread panics")?;
            }
            ended?;
            objects.lock().expect("no thread panics").extend(runtime?);
            Ok::<(), String>(())
        })?;
        let objects = objects.into_inner().expect("no thread panics");
        println!("cargo:rustc-link-search=native={}", self.out.display());
        if shared {
            let library = self.out.join("libassay_cosim_models.so");
            let mut linker = Command::new(&self.compiler);
            linker.arg("-shared").args(objects);
            linker.arg("-o").arg(&library).arg("-lz");
            run(&mut linker)?;
            println!("cargo:rustc-link-lib=dylib=assay_cosim_models");
            return Ok(());
        }
        let library = self.out.join("libassay_cosim_models.a");
        let _ = fs::remove_file(&library);
        run(Command::new("ar").arg("rcs").arg(&library).args(objects))?;
        println!("cargo:rustc-link-lib=static=assay_cosim_models");
        println!("cargo:rustc-link-lib=dylib=stdc++");
        if self.trace {
            println!("cargo:rustc-link-lib=dylib=z");
        }
        Ok(())
    }

    /// One object with the model and its shim.
    fn model(&self, configuration: &Configuration) -> Result<PathBuf, String> {
        let Configuration { name, data_width, chunk_pages, slots, drives, namespace, .. } =
            *configuration;
        let object = self.out.join(format!("{name}.o"));
        let prefix = format!("V{name}");
        let mut verilator = Command::new("verilator");
        verilator
            .args(["--cc", "--top-module", "nvs_core", "--prefix", &prefix])
            .args(["-O3", "--no-timing", "--assert", "--x-assign", "unique"])
            .args(["--timescale", "1ns/1ns", "-Wno-fatal", "-Wno-lint", "-Wno-style"])
            .arg(format!("-GDataWidth={data_width}"))
            .arg(format!("-GChunkPages={chunk_pages}"))
            .arg(format!("-GSlots={slots}"))
            .arg(format!("-GDrives={drives}"))
            .arg(format!("-GNamespace={namespace}"));
        if self.trace {
            verilator.arg("--trace-fst");
        }
        let folder = self.out.join(name);
        verilator.arg("--Mdir").arg(&folder).arg("-y").arg(&self.rtl);
        verilator.arg(self.rtl.join("nvs_core.sv"));
        let ring_width = configuration.ring_address_bits();
        let mut compiler = self.compiler();
        compiler
            .arg(format!("-DPREFIX={prefix}"))
            .arg(format!("-DSHIM=shim_{name}"))
            .arg(format!("-DDATA_WIDTH={data_width}"))
            .arg(format!("-DRING_WIDTH={ring_width}"))
            .arg(format!("-DDRIVES={drives}"))
            .arg("-I")
            .arg(&folder);
        let unit = self.out.join(format!("{name}.cpp"));
        compiler.arg("-c").arg(&unit).arg("-o").arg(&object);
        let key = self.key(&[&verilator, &compiler]);
        unless_current(&object, &key, || {
            let _ = fs::remove_dir_all(&folder);
            run(&mut verilator)?;
            let mut text = String::new();
            let parts = files(&folder, "cpp").map_err(|error| error.to_string())?;
            for part in parts.iter().chain([&self.csrc.join("shim.cpp")]) {
                let _ = writeln!(text, "#include \"{}\"", part.display());
            }
            write(&unit, &text)?;
            run(&mut compiler)
        })?;
        Ok(object)
    }

    /// Verilator's runtime and the table of models.
    fn runtime_objects(&self) -> Result<Vec<PathBuf>, String> {
        let mut sources = vec![
            self.csrc.join("table.cpp"),
            self.runtime.join("verilated.cpp"),
            self.runtime.join("verilated_threads.cpp"),
        ];
        if self.trace {
            sources.push(self.runtime.join("verilated_fst_c.cpp"));
        }
        let mut objects = Vec::new();
        for source in sources {
            let name = source.file_stem().expect("a file").to_string_lossy();
            let object = self.out.join(format!("runtime_{name}.o"));
            let mut compiler = self.compiler();
            compiler.arg("-c").arg(&source).arg("-o").arg(&object);
            // Part of the key: the table depends on it.
            let models = fs::read_to_string(self.out.join("models.h")).unwrap_or_default();
            compiler.env("ASSAY_COSIM_MODELS", models);
            let key = self.key(&[&compiler]);
            unless_current(&object, &key, || run(&mut compiler))?;
            objects.push(object);
        }
        Ok(objects)
    }

    fn compiler(&self) -> Command {
        let mut compiler = Command::new(&self.compiler);
        compiler
            .args(["-std=gnu++17", "-O2", "-fPIC", "-w"])
            .args(["-DVL_USER_STOP", "-DVL_USER_FATAL", "-DVM_COVERAGE=0"])
            .arg(format!("-DVM_TRACE={}", u8::from(self.trace)))
            .arg(format!("-DVM_TRACE_FST={}", u8::from(self.trace)))
            .arg(format!("-DTRACE={}", u8::from(self.trace)));
        for folder in [&self.out, &self.csrc, &self.runtime, &self.runtime.join("vltstd")] {
            compiler.arg("-I").arg(folder);
        }
        compiler
    }

    /// Of commands and of the sources.
    fn key(&self, commands: &[&Command]) -> String {
        let mut hasher = DefaultHasher::new();
        self.common.hash(&mut hasher);
        format!("{commands:?}").hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}

/// Make a file unless it was made with this key.
fn unless_current(
    file: &Path,
    key: &str,
    make: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    let stamp = file.with_extension("key");
    if file.exists() && fs::read_to_string(&stamp).is_ok_and(|text| text == key) {
        return Ok(());
    }
    let _ = fs::remove_file(&stamp);
    make()?;
    write(&stamp, key)
}

/// C++ structures and lists of ports from the lists in `src/signals.rs`.
fn header_of(signals: &str) -> String {
    let mut header =
        "// Made by build.rs from src/signals.rs.\n#pragma once\n#include <cstdint>\n".to_owned();
    let mut structures: Vec<(String, String)> = Vec::new();
    let mut blocks = signals.split("\nsignals! {\n").skip(1);
    for block in &mut blocks {
        let block = block.split("\n}\n").next().expect("a part");
        let (mut name, mut fields, mut list) = (String::new(), String::new(), String::new());
        for line in block.lines().map(str::trim) {
            if let Some(head) = line.strip_suffix(" {") {
                head.clone_into(&mut name);
            } else if let Some(drives) = line.strip_prefix("drives: ") {
                let _ = writeln!(fields, "  {drives} drives[4];");
            } else if let Some((port, rest)) = line.split_once(": ").filter(|_| line.ends_with(','))
            {
                let (kind, bits) = rest.trim_end_matches(',').split_once(" = ").expect("a width");
                let field = match kind {
                    "u8" => format!("uint8_t {port}"),
                    "u32" => format!("uint32_t {port}"),
                    "u64" => format!("uint64_t {port}"),
                    "BusWord" => format!("uint8_t {port}[64]"),
                    other => panic!("unknown type of a signal: {other}"),
                };
                let _ = writeln!(fields, "  {field};");
                let _ = write!(list, " \\\n  X({port}, {bits})");
            }
        }
        let upper = name.chars().flat_map(|c| {
            let split = c.is_uppercase().then_some('_');
            split.into_iter().chain(c.to_uppercase())
        });
        let upper: String = upper.skip(1).collect();
        structures.push((
            name.clone(),
            format!("struct {name} {{\n{fields}}};\n#define {upper}(X){list}\n"),
        ));
    }
    assert_eq!(structures.len(), 4, "src/signals.rs has four lists");
    // Those of a drive are parts of the others.
    structures.sort_by_key(|(name, _)| !name.starts_with("Drive"));
    for (_, text) in structures {
        header += &text;
    }
    header
}

fn files(folder: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Output of a command that succeeds.
fn text_of(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().take(20).collect();
    Err(format!("{command:?} failed:\n{}", lines.join("\n")))
}
