//! The register file: the template `nvs_registers.sv.template`, with what follows from the
//! description in place of its marks.

use crate::description::{Access, BANK_BYTES, Bank, Description, Register};
use std::fmt::Write as _;

const TEMPLATE: &str = include_str!("nvs_registers.sv.template");

/// A register of a bank, as signals of the module. Those of a bank per drive have a part for each,
/// drive 0 lowest.
struct Signal<'a> {
    bank: &'a Bank,
    register: &'a Register,
}

impl Signal<'_> {
    fn stem(&self) -> String {
        format!("{}_{}", self.bank.name, self.register.name.to_lowercase())
    }

    fn name(&self) -> String {
        let side = if self.register.access == Access::Ro { "i" } else { "o" };
        format!("{}_{side}", self.stem())
    }

    /// `width` bits from bit `low` plus `step`, in the part of drive `d`; nothing for all bits.
    fn slice(&self, low: u32, step: &str, width: u32) -> String {
        let bits = self.register.bits;
        let drive = self.bank.is_per_drive().then(|| format!("{bits}*d"));
        let low = (low > 0).then(|| low.to_string());
        let step = (!step.is_empty()).then(|| step.to_owned());
        let terms: Vec<String> = [drive, low, step].into_iter().flatten().collect();
        match terms.is_empty() {
            true if width == bits => String::new(),
            true => format!("[0 +: {width}]"),
            false => format!("[{} +: {width}]", terms.join(" + ")),
        }
    }

    /// What a read of the word at bit `low` returns.
    fn word(&self, low: u32) -> String {
        match self.register.access {
            Access::Constant => format!("32'h{:x}", self.register.value),
            Access::W1p => "32'h0".to_owned(),
            Access::Ro | Access::Rw => self.name() + &self.slice(low, "", 32),
        }
    }

    /// Whether the signal `address` is the number of the word at bit `low`.
    fn is_addressed(&self, address: &str, low: u32) -> String {
        let word = (self.bank.offset + self.register.offset + low / 8) / 4;
        match self.bank.is_per_drive() {
            true => format!("{address} == 10'(32'h{word:03x} + {}*d)", BANK_BYTES / 4),
            false => format!("{address} == 10'h{word:03x}"),
        }
    }

    /// The flag of a register that acts.
    fn valid(&self) -> String {
        let part = if self.bank.is_per_drive() { "[d]" } else { "" };
        format!("{}_valid_o{part}", self.stem())
    }

    /// Begins of its words.
    fn lows(&self) -> impl Iterator<Item = u32> {
        (0..self.register.bits).step_by(32)
    }
}

/// What replaces a mark, for one bank.
type Part = fn(&Bank, &[Signal<'_>]) -> String;

/// The file's text.
pub(crate) fn module(description: &Description) -> String {
    let signals = |bank| {
        let registers = description.registers_of(&[bank]).into_iter();
        registers.map(|register| Signal { bank, register }).collect()
    };
    let banks = description.banks.iter();
    let banks: Vec<(&Bank, Vec<Signal<'_>>)> = banks.map(|bank| (bank, signals(bank))).collect();
    let parts: [(&str, Part); 5] = [
        ("@WRITES@\n", writes),
        ("@ROWS@\n", rows),
        ("@ROW@\n", row),
        ("@KEEP@\n", keep),
        ("@WORDS@\n", words),
    ];
    let mut text = TEMPLATE.replace("@PORTS@\n", &ports(&banks));
    for (mark, part) in parts {
        let of_banks = banks.iter().map(|(bank, signals)| part(bank, signals));
        text = text.replace(mark, &of_banks.collect::<String>());
    }
    text
}

fn ports(banks: &[(&Bank, Vec<Signal<'_>>)]) -> String {
    let mut groups = Vec::new();
    for (bank, signals) in banks {
        let mut group = Vec::new();
        for signal in signals {
            let Register { bits, access, offset, .. } = *signal.register;
            let (kind, flag) = match bank.is_per_drive() {
                true => (format!("[{bits}*Drives-1:0]"), "[Drives-1:0]"),
                false => (format!("[{}:0]", bits - 1), ""),
            };
            let direction = if access == Access::Ro { "input " } else { "output" };
            let address = bank.offset + offset;
            if access != Access::Constant {
                group.push((format!("{direction} logic {kind}"), signal.name(), address));
            }
            if access == Access::W1p {
                let name = format!("{}_valid_o", signal.stem());
                group.push((format!("output logic {flag}"), name, address));
            }
        }
        groups.push(group);
    }
    let longest = groups.iter().flatten().map(|port| port.1.len()).max().unwrap_or(0) + 1;
    let mut out = String::new();
    for group in groups {
        out.push('\n');
        for (kind, name, address) in group {
            let name = name + ",";
            let _ = writeln!(out, "  {kind:28} {name:longest$}  // {address:#05x}");
        }
    }
    // No comma behind the last port.
    if let Some(at) = out.rfind(',') {
        out.replace_range(at..=at, " ");
    }
    out
}

/// Registers that are kept or act.
fn writes(bank: &Bank, signals: &[Signal<'_>]) -> String {
    let (mut act, mut reset, mut set) = (String::new(), String::new(), String::new());
    for signal in signals {
        let (name, bits) = (signal.name(), signal.register.bits);
        let all = signal.slice(0, "", bits);
        match signal.register.access {
            Access::Constant | Access::Ro => {}
            Access::W1p => {
                let (valid, hit) = (signal.valid(), signal.is_addressed("aw_word_q", 0));
                let _ = writeln!(act, "assign {name}{all} = written;");
                let _ = writeln!(act, "assign {valid} = write && {hit};");
            }
            Access::Rw => {
                let _ = writeln!(reset, "{name}{all} <= {bits}'h{:x};", signal.register.reset);
                for low in signal.lows() {
                    let hit = signal.is_addressed("aw_word_q", low);
                    let byte = signal.slice(low, "8*b", 8);
                    let _ = writeln!(set, "if ({hit}) {name}{byte} <= w_data_q[8*b +: 8];");
                }
            }
        }
    }
    if !set.is_empty() {
        let _ = write!(
            act,
            "always_ff @(posedge clk_i or negedge rst_ni) begin\n  if (!rst_ni) begin\n{}  end \
             else if (write) begin\n    for (int unsigned b = 0; b < 4; b++) if (w_strb_q[b]) \
             begin\n{}    end\n  end\nend\n",
            indented(&reset, 4),
            indented(&set, 6)
        );
    }
    format!("\n  // Bank `{}`.\n{}", bank.name, per_drive(bank, "write", &act))
}

/// The lines as part of the module, in a loop over the drives if the bank is there for each.
fn per_drive(bank: &Bank, what: &str, body: &str) -> String {
    match bank.is_per_drive() {
        true => format!(
            "  for (genvar d = 0; d < Drives; d++) begin : gen_{}_{what}\n{}  end\n",
            bank.name,
            indented(body, 4)
        ),
        false => indented(body, 2),
    }
}

fn indented(lines: &str, by: usize) -> String {
    let pad = " ".repeat(by);
    lines.lines().map(|line| format!("{pad}{line}\n")).collect()
}

/// The row of a bank that an address chooses.
fn row_of(bank: &Bank) -> String {
    let part = if bank.is_per_drive() { "[64*d +: 64]" } else { "" };
    format!("{}_row_q{part}", bank.name)
}

/// The rows of a bank; those without a register are zero.
fn rows(bank: &Bank, signals: &[Signal<'_>]) -> String {
    let at = |offset: u32| {
        let mut signals = signals.iter();
        signals.find(|Signal { register, .. }| {
            (register.offset..register.offset + register.bits / 8).contains(&offset)
        })
    };
    let word = |offset: u32| match at(offset) {
        Some(signal) => signal.word((offset - signal.register.offset) * 8),
        None => "32'h0".to_owned(),
    };
    let mut body = "always_ff @(posedge clk_i) case (ar_word_q[5:1])\n".to_owned();
    let target = row_of(bank);
    for offset in (0..BANK_BYTES).step_by(8) {
        let value = match at(offset).filter(|signal| signal.register.bits == 64) {
            Some(signal) => signal.name() + &signal.slice(0, "", 64),
            None => format!("{{{}, {}}}", word(offset + 4), word(offset)),
        };
        if value != "{32'h0, 32'h0}" {
            let _ = writeln!(body, "  5'h{:02x}: {target} <= {value};", offset / 8);
        }
    }
    let _ = writeln!(body, "  default: {target} <= '0;\nendcase");
    let width = if bank.is_per_drive() { "64*Drives-1" } else { "63" };
    let rows = per_drive(bank, "read", &body);
    format!("  logic [{width}:0] {}_row_q;\n{rows}", bank.name)
}

/// Chooses the row of the bank that is read.
fn row(bank: &Bank, _: &[Signal<'_>]) -> String {
    let (number, row) = (bank.offset / BANK_BYTES, row_of(bank));
    let (each, hit) = match bank.is_per_drive() {
        true => ("for (int unsigned d = 0; d < Drives; d++) ", format!("4'({number} + d)")),
        false => ("", format!("4'd{number}")),
    };
    format!("    {each}if (ar_word_q[9:6] == {hit}) row = {row};\n")
}

/// Whether the high half is kept for the next read.
fn keep(bank: &Bank, signals: &[Signal<'_>]) -> String {
    let number = bank.offset / BANK_BYTES;
    let held = signals.iter().filter(|signal| signal.register.is_held());
    let rows: Vec<_> =
        held.map(|signal| format!("5'h{:02x}", signal.register.offset / 8)).collect();
    let bank_of = "ar_word_q[9:6]";
    let hit = match bank.is_per_drive() {
        true => format!("{bank_of} >= 4'd{number} && 32'({bank_of}) < {number} + Drives"),
        false => format!("{bank_of} == 4'd{number}"),
    };
    format!(
        "    if ({hit}) case (ar_word_q[5:1])\n      {}: keep = !ar_word_q[0];\n      default: \
         ;\n    endcase\n",
        rows.join(", ")
    )
}

/// For the proof: what the description says of a word that the solver chooses, one line per word.
fn words(bank: &Bank, signals: &[Signal<'_>]) -> String {
    let mut body = String::new();
    for signal in signals {
        for low in signal.lows() {
            let (register, value) = (signal.register, signal.word(low));
            let facts = match register.access {
                Access::Rw => {
                    let reset = register.reset >> low & 0xffff_ffff;
                    format!("f_rw = 1'b1; f_value = {value}; f_reset = 32'h{reset:x};")
                }
                Access::W1p => {
                    let order = signal.name() + &signal.slice(0, "", 32);
                    let pulse = signal.valid();
                    format!("f_w1p = 1'b1; f_pulse = {pulse}; f_order = {order};")
                }
                Access::Ro if register.is_held() => format!("f_held = 1'b1; f_value = {value};"),
                Access::Ro | Access::Constant => format!("f_value = {value};"),
            };
            let hit = signal.is_addressed("f_word", low);
            let (open, close) = match register.access {
                Access::W1p => ("\n  ", "\n"),
                _ => (" ", " "),
            };
            let _ = writeln!(body, "if ({hit}) begin{open}{facts}{close}end");
        }
    }
    match bank.is_per_drive() {
        true => format!(
            "    for (int unsigned d = 0; d < Drives; d++) begin\n{}    end\n",
            indented(&body, 6)
        ),
        false => indented(&body, 4),
    }
}
