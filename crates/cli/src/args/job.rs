//! The workload options of `assay job`, made from the definition that suites share.

use std::sync::LazyLock;

use assay_workload::options::{JOB_OPTIONS, JobOption, JobOptions, OptionKind};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::fio::verify_method;

/// Every option of a workload as a command-line argument.
#[derive(Clone, Debug)]
pub struct WorkloadArguments(pub JobOptions);

/// The names are fio's, underscores included; hyphens are accepted too.
static WITH_HYPHENS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let names = JOB_OPTIONS.iter().map(|option| option.name);
    names.map(|name| name.replace('_', "-")).collect()
});

fn argument(option: &'static JobOption, with_hyphens: &'static str) -> Arg {
    // Help has no Markdown, and no links into docs/.
    let help = option
        .help()
        .replace(", see [real-drives.md](real-drives.md)", "")
        .replace(" ([traces.md](traces.md))", "")
        .replace(" ([fio.md](fio.md))", "");
    let mut help = help.replace('`', "");
    let argument = Arg::new(option.name).long(option.name).help_heading(option.heading);
    let argument = match with_hyphens == option.name {
        true => argument,
        false => argument.alias(with_hyphens),
    };
    // As assay trace has them.
    let argument = match option.name.strip_prefix("trace_") {
        Some(short @ ("format" | "columns" | "device" | "repeat")) => argument.alias(short),
        _ => argument,
    };
    if option.name == "verify" {
        let help = format!("{help}; fio's --verify=crc32c is the same");
        return argument
            .help(help)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_name("METHOD")
            .value_parser(|text: &str| verify_method(text).map(|verify| verify.to_string()));
    }
    if option.kind == OptionKind::Flag {
        return argument.help(help).action(ArgAction::SetTrue);
    }
    help = format!("{help} [default: {}]", option.default.replace('`', ""));
    let check = |text: &str| {
        let checked = JobOptions::default().set(option.name, text);
        checked.map(|()| text.to_owned())
    };
    argument.help(help).value_name(option.value_name).value_parser(check)
}

impl Args for WorkloadArguments {
    fn augment_args(command: Command) -> Command {
        let arguments = JOB_OPTIONS.iter().zip(WITH_HYPHENS.iter());
        command.args(arguments.map(|(option, with_hyphens)| argument(option, with_hyphens)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        WorkloadArguments::augment_args(command)
    }
}

impl FromArgMatches for WorkloadArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<WorkloadArguments, clap::Error> {
        let mut options = JobOptions::default();
        for JobOption { name, kind, .. } in JOB_OPTIONS {
            let text = match kind {
                OptionKind::Flag if *name != "verify" => matches.get_flag(name).then_some("true"),
                _ => matches.get_one::<String>(name).map(String::as_str),
            };
            if let Some(text) = text {
                let set = options.set(name, text);
                set.expect("the value parser of the argument has accepted it");
            }
        }
        Ok(WorkloadArguments(options))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = WorkloadArguments::from_arg_matches(matches)?;
        Ok(())
    }
}
