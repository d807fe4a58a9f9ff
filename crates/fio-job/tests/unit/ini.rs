use std::io::ErrorKind;

use proptest::prelude::*;

use super::*;

pub(crate) const SUBSTITUTION: Substitution<'static> =
    Substitution { variable: &|_| None, page_bytes: 4096, memory_mib: 1024, cpus: 8 };

pub(crate) fn parsed(files: &[(&str, &[u8])]) -> Result<JobFile, JobFileError> {
    let mut read = |path: &Path| {
        let known = files.iter().find(|(name, _)| Path::new(name) == path);
        known.map(|(_, text)| text.to_vec()).ok_or_else(|| ErrorKind::NotFound.into())
    };
    JobFile::read(Path::new(files[0].0), &SUBSTITUTION, &mut read)
}

fn values(section: &Section) -> Vec<(&str, Option<&str>)> {
    let options = section.options.iter();
    options.map(|o| (o.name.as_str(), o.value.as_deref())).collect()
}

#[test]
fn global_sections_apply_to_later_ones() {
    let text = b"; a comment\n[global]\nbs=4k ; behind a value\n\n[one]\nrw=read\n[global]\nbs = 8k\nthread\n[two]\n# nothing\n";
    let file = parsed(&[("a.fio", text)]).unwrap();
    let names: Vec<&str> = file.sections.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
    assert_eq!(values(&file.sections[0]), [("bs", Some("4k")), ("rw", Some("read"))]);
    assert_eq!(
        values(&file.sections[1]),
        [("bs", Some("4k")), ("bs", Some("8k")), ("thread", None)]
    );
    assert_eq!(file.sections[1].options[1].place.to_string(), "a.fio:8");
}

#[test]
fn includes_are_beside_their_file() {
    let files: [(&str, &[u8]); 2] = [
        ("jobs/a.fio", b"[global]\ninclude common.inc\n[one]\n"),
        ("jobs/common.inc", b"bs=16k\niodepth=4\n"),
    ];
    let file = parsed(&files).unwrap();
    assert_eq!(values(&file.sections[0]), [("bs", Some("16k")), ("iodepth", Some("4"))]);
    assert_eq!(file.sections[0].options[1].place.to_string(), "jobs/common.inc:2");
}

#[test]
fn includes_are_in_the_working_directory_first_and_may_have_an_equals_sign() {
    for line in ["include common.inc", "include=common.inc", "include\tcommon.inc"] {
        let text = format!("[one]\n{line}\n");
        let here = ("common.inc", b"bs=8k\n".as_slice());
        let beside = ("jobs/common.inc", b"bs=16k\n".as_slice());
        let job = ("jobs/a.fio", text.as_bytes());
        let of = |files: &[(&str, &[u8])]| {
            let file = parsed(files).unwrap();
            file.sections[0].options[0].value.clone()
        };
        assert_eq!(of(&[job, here, beside]).as_deref(), Some("8k"), "{line}");
        assert_eq!(of(&[job, beside]).as_deref(), Some("16k"), "{line}");
    }
}

#[test]
fn errors_name_file_line_and_section() {
    for (text, expected) in [
        ("rw=read\n", "a.fio:1: \"rw=read\" is before the first section"),
        ("[global]\nbs=4k\n", "a.fio: has no job"),
        ("[one]\ninclude gone\n", "a.fio:2: [one]: include: cannot read gone"),
        ("[one]\ninclude a.fio\n", "a.fio:1: [one]: an included file has options only"),
        ("[]\n", "a.fio:1: a section needs a name"),
        ("[one]\nsize=${GONE}\n", "a.fio:2: [one]: size: the environment variable GONE is not set"),
    ] {
        let error = parsed(&[("a.fio", text.as_bytes())]).unwrap_err();
        assert!(error.to_string().contains(expected), "{error} for {text:?}");
    }
}

/// A file that includes options which include themselves ends, whatever it multiplies to.
#[test]
fn an_include_cycle_ends() {
    let files: [(&str, &[u8]); 2] =
        [("a.fio", b"[one]\ninclude b\n"), ("b", b"bs=4k\ninclude b\ninclude b\n")];
    assert!(parsed(&files).is_err());
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        if let Ok(file) = parsed(&[("a.fio", &bytes)]) {
            let _ = crate::convert(&file, None);
        }
    }

    /// Lines that look like job files reach the conversion.
    #[test]
    fn no_option_panics(lines in proptest::collection::vec(
        ("(\\[[a-z]{0,3}\\]|rw|bs|size|bssplit|bsrange|rate|numjobs|offset|loops|io_size|filename|cpumask|verify|startdelay|random_distribution|zonesize|buffer_compress_percentage|wait_for|log_avg_msec)",
         "(|=(|[0-9]{1,20}|[0-9]{1,3}[kmgtp%]|4k-8k|1:2,3/4|rand(rw|read):[0-9-]{1,4}|(read|write):-?[0-9]{1,19}|zoned:5/5|[(][0-9]{1,4}[)]))"), 0..20,
    )) {
        let mut text = "[job]\n".to_owned();
        for (name, value) in lines {
            text.push_str(&name);
            text.push_str(&value);
            text.push('\n');
        }
        if let Ok(file) = parsed(&[("a.fio", text.as_bytes())]) {
            for job in crate::convert(&file, Some("null:")).map(|c| c.jobs).unwrap_or_default() {
                let _ = job.end_bytes(&[]);
                let _ = job.limit_to(1 << 30);
            }
        }
    }
}
