//! The register file, `nvs_registers`.

use crate::description::{Access, BANK_BYTES, Bank, Description, Register};
use std::fmt::Write as _;

const HEADER: &str = "\
// Registers of the streaming core. Made from registers.toml by `make registers`; do not edit.
//
// Purpose: AXI4-Lite slave with the registers of both stream directions and of every drive. What
// they do is done elsewhere; the addresses, names and bits are in docs/hardware-core.md.
//
// Interface:
//   s_reg_*              AXI4-Lite. One write and one read at a time; they do not wait for each
//   other. Byte strobes count. Every response
//                        is OKAY; what is no register reads as zero
//   BANK_REGISTER_i      value of a read-only register BANK_REGISTER_o      value of a register
//   that is kept; changes in the cycle in which the write response appears BANK_REGISTER_valid_o
//   pulse: the word in BANK_REGISTER_o was written; bytes without strobe are zero. Such a register
//   reads as zero drive_*              one part per drive, drive 0 lowest
// Reading the low half of a 64-bit read-only register keeps the high half for the next read: if
// that is the register's high half, it gets the value of the same cycle.
//
// No output depends on an input of the same cycle.
//
// Invariants, proven in formal/nvs_registers.svh:
//   - one response per request, stable until it is taken; it follows within two cycles;
//   - a kept register is what was last written, byte by byte, and its reset value before; a read
//     returns it;
//   - a read returns the value of its register in the cycle before the response appears, or the
//     kept high half;
//   - a write to a register that acts gives exactly one pulse with the written word.
";

/// A line of a port list: type, name, comment.
type Port = (String, String, String);

/// Lower-case name of a register's signals: bank and register.
fn signal(bank: &Bank, register: &Register) -> String {
    format!("{}_{}", bank.name, register.name.to_lowercase())
}

/// Slice of a per-drive signal for drive `d`; nothing for the other banks.
fn part(bank: &Bank, bits: u32) -> String {
    if bank.is_per_drive() {
        format!("[{bits}*d +: {bits}]")
    } else {
        String::new()
    }
}

/// Number of a word within the core, without the drive.
fn word(bank: &Bank, offset: u32) -> u32 {
    (bank.offset + offset) / 4
}

/// The file's text.
pub(crate) fn module(description: &Description) -> String {
    let mut out = HEADER.to_owned();
    out += "\nmodule nvs_registers #(\n  parameter int unsigned Drives = 1  // 1 to 4\n) (\n";
    ports(&mut out, description);
    out += "\n);\n\n";
    out += BUS;
    writes(&mut out, description);
    reads(&mut out, description);
    properties(&mut out, description);
    out += "\nendmodule\n";
    out
}

fn ports(out: &mut String, description: &Description) {
    let fixed = |line: &(&str, &str)| (line.0.to_owned(), line.1.to_owned(), String::new());
    let mut groups: Vec<Vec<Port>> = vec![BUS_PORTS.iter().map(fixed).collect()];
    for bank in &description.banks {
        let vector = |bits: u32| match bank.is_per_drive() {
            true => format!("logic [{bits}*Drives-1:0]"),
            false => format!("logic [{}:0]", bits - 1),
        };
        let mut group = Vec::new();
        for register in description.of_bank(bank) {
            let name = signal(bank, register);
            let mut port = |direction: &str, kind: String, name: String| {
                group.push((
                    format!("{direction} {kind}"),
                    name,
                    format!("{:#05x}", bank.offset + register.offset),
                ));
            };
            match register.access {
                Access::Constant => {}
                Access::Ro => port("input ", vector(register.bits), format!("{name}_i")),
                Access::Rw => port("output", vector(register.bits), format!("{name}_o")),
                Access::W1p => {
                    let flag = if bank.is_per_drive() {
                        "logic [Drives-1:0]"
                    } else {
                        "logic"
                    };
                    port("output", vector(register.bits), format!("{name}_o"));
                    port("output", flag.to_owned(), format!("{name}_valid_o"));
                }
            }
        }
        groups.push(group);
    }
    let width = groups
        .iter()
        .flatten()
        .map(|port| port.0.len())
        .max()
        .unwrap_or(0);
    let longest = groups
        .iter()
        .flatten()
        .map(|port| port.1.len())
        .max()
        .unwrap_or(0)
        + 1;
    let last = groups.iter().map(Vec::len).sum::<usize>();
    let mut number = 0;
    let groups = groups.into_iter().map(|group| {
        let lines = group.into_iter().map(|(kind, name, comment)| {
            number += 1;
            let name = if number == last { name } else { name + "," };
            match comment.is_empty() {
                true => format!("  {kind:width$} {name}"),
                false => format!("  {kind:width$} {name:longest$}  // {comment}"),
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    });
    *out += &groups.collect::<Vec<_>>().join("\n\n");
}

const BUS_PORTS: [(&str, &str); 19] = [
    ("input  logic", "clk_i"),
    ("input  logic", "rst_ni"),
    ("input  logic", "s_reg_aw_valid_i"),
    ("output logic", "s_reg_aw_ready_o"),
    ("input  logic [11:0]", "s_reg_aw_addr_i"),
    ("input  logic", "s_reg_w_valid_i"),
    ("output logic", "s_reg_w_ready_o"),
    ("input  logic [31:0]", "s_reg_w_data_i"),
    ("input  logic [3:0]", "s_reg_w_strb_i"),
    ("output logic", "s_reg_b_valid_o"),
    ("input  logic", "s_reg_b_ready_i"),
    ("output logic [1:0]", "s_reg_b_resp_o"),
    ("input  logic", "s_reg_ar_valid_i"),
    ("output logic", "s_reg_ar_ready_o"),
    ("input  logic [11:0]", "s_reg_ar_addr_i"),
    ("output logic", "s_reg_r_valid_o"),
    ("input  logic", "s_reg_r_ready_i"),
    ("output logic [31:0]", "s_reg_r_data_o"),
    ("output logic [1:0]", "s_reg_r_resp_o"),
];

const BUS: &str = "  // Registers are addressed by word: bits 9:6 are the bank. A pair of words \
                   is a row.
  logic unused_address;
  assign unused_address = &{s_reg_aw_addr_i[1:0], s_reg_ar_addr_i[1:0]};

  // Writes: address and data are taken each on its own. A write happens when both are there and \
                   the
  // response before it was taken.
  logic        aw_full_q, w_full_q, b_valid_q, write;
  logic [9:0]  aw_word_q;
  logic [31:0] w_data_q;
  logic [3:0]  w_strb_q;
  assign write            = aw_full_q && w_full_q && !b_valid_q;
  assign s_reg_aw_ready_o = !aw_full_q;
  assign s_reg_w_ready_o  = !w_full_q;
  assign s_reg_b_valid_o  = b_valid_q;
  assign s_reg_b_resp_o   = 2'b00;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_full_q <= 1'b0;
      w_full_q  <= 1'b0;
      b_valid_q <= 1'b0;
    end else begin
      if (write) begin
        aw_full_q <= 1'b0;
        w_full_q  <= 1'b0;
        b_valid_q <= 1'b1;
      end else begin
        if (s_reg_aw_valid_i) aw_full_q <= 1'b1;
        if (s_reg_w_valid_i)  w_full_q <= 1'b1;
        if (s_reg_b_ready_i)  b_valid_q <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!aw_full_q) aw_word_q <= s_reg_aw_addr_i[11:2];
    if (!w_full_q) begin
      w_data_q <= s_reg_w_data_i;
      w_strb_q <= s_reg_w_strb_i;
    end
  end

  // Reads: each bank's row is looked up in the cycle after the address was taken, and the bank
  // chosen in the next one, unless the high half is there from the read before.
  logic        ar_full_q, looked_q, r_valid_q, keep_q, keep;
  logic [9:0]  ar_word_q;
  logic [63:0] row_q, row;
  assign s_reg_ar_ready_o = !ar_full_q && !looked_q && !r_valid_q;
  assign s_reg_r_valid_o  = r_valid_q;
  assign s_reg_r_data_o   = ar_word_q[0] ? row_q[63:32] : row_q[31:0];
  assign s_reg_r_resp_o   = 2'b00;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ar_full_q <= 1'b0;
      looked_q  <= 1'b0;
      r_valid_q <= 1'b0;
      keep_q    <= 1'b0;
      ar_word_q <= '0;
    end else begin
      ar_full_q <= s_reg_ar_valid_i && s_reg_ar_ready_o;
      looked_q  <= ar_full_q;
      if (looked_q) r_valid_q <= 1'b1;
      else if (s_reg_r_ready_i) r_valid_q <= 1'b0;
      if (s_reg_ar_valid_i && s_reg_ar_ready_o) begin
        keep_q    <= keep && s_reg_ar_addr_i[11:2] == (ar_word_q | 10'h001);
        ar_word_q <= s_reg_ar_addr_i[11:2];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (looked_q && !keep_q) row_q <= row;
  end
";

/// Registers that are kept or act.
fn writes(out: &mut String, description: &Description) {
    *out += "
  // Registers that act.
  logic [31:0] written;
  always_comb for (int unsigned b = 0; b < 4; b++) written[8*b +: 8] = w_strb_q[b] ? w_data_q[8*b \
             +: 8] : 8'h00;
";
    for bank in &description.banks {
        let registers = description.of_bank(bank);
        let (mut act, mut reset, mut set) = (String::new(), String::new(), String::new());
        for register in registers {
            let name = signal(bank, register);
            let hit = |half: u32| match bank.is_per_drive() {
                true => format!(
                    "aw_word_q == 10'(32'h{:03x} + {}*d)",
                    word(bank, register.offset + half),
                    BANK_BYTES / 4
                ),
                false => format!(
                    "aw_word_q == 10'h{:03x}",
                    word(bank, register.offset + half)
                ),
            };
            match register.access {
                Access::Constant | Access::Ro => {}
                Access::W1p => {
                    let index = if bank.is_per_drive() { "[d]" } else { "" };
                    let _ = writeln!(act, "assign {name}_o{} = written;", part(bank, 32));
                    let _ = writeln!(act, "assign {name}_valid_o{index} = write && {};", hit(0));
                }
                Access::Rw => {
                    let bits = register.bits;
                    let _ = writeln!(
                        reset,
                        "{name}_o{} <= {bits}'h{:x};",
                        part(bank, bits),
                        register.reset
                    );
                    for low in (0..bits).step_by(32) {
                        let drive = if bank.is_per_drive() {
                            format!("{bits}*d + ")
                        } else {
                            String::new()
                        };
                        let low_bit = if low == 0 {
                            String::new()
                        } else {
                            format!("{low} + ")
                        };
                        let byte = format!("{drive}{low_bit}8*b +: 8");
                        let _ = writeln!(
                            set,
                            "if ({}) {name}_o[{byte}] <= w_data_q[8*b +: 8];",
                            hit(low / 8)
                        );
                    }
                }
            }
        }
        let mut body = act;
        if !set.is_empty() {
            body += "always_ff @(posedge clk_i or negedge rst_ni) begin\n  if (!rst_ni) begin\n";
            body += &indented(&reset, 4);
            body += "  end else if (write) begin\n    for (int unsigned b = 0; b < 4; b++) if \
                     (w_strb_q[b]) begin\n";
            body += &indented(&set, 6);
            body += "    end\n  end\nend\n";
        }
        let _ = writeln!(out, "\n  // Bank `{}`.", bank.name);
        *out += &per_drive(bank, "write", &body);
    }
}

/// The lines as part of the module, in a loop over the drives if the bank is there for each.
fn per_drive(bank: &Bank, what: &str, body: &str) -> String {
    if bank.is_per_drive() {
        let inner = indented(body, 4);
        format!(
            "  for (genvar d = 0; d < Drives; d++) begin : gen_{}_{what}\n{inner}  end\n",
            bank.name
        )
    } else {
        indented(body, 2)
    }
}

fn indented(lines: &str, by: usize) -> String {
    let pad = " ".repeat(by);
    lines.lines().map(|line| format!("{pad}{line}\n")).collect()
}

/// A word of a row, as SystemVerilog.
fn half(bank: &Bank, registers: &[&Register], offset: u32) -> String {
    let register = registers
        .iter()
        .find(|register| (register.offset..register.offset + register.bits / 8).contains(&offset));
    let Some(register) = register else {
        return "32'h0".to_owned();
    };
    let name = signal(bank, register);
    let low = (offset - register.offset) * 8;
    let slice = match (bank.is_per_drive(), register.bits) {
        (true, bits) if low == 0 => format!("[{bits}*d +: 32]"),
        (true, bits) => format!("[{bits}*d + {low} +: 32]"),
        (false, 32) => String::new(),
        (false, _) => format!("[{low} +: 32]"),
    };
    match register.access {
        Access::Constant => format!("32'h{:x}", register.value),
        Access::Ro => format!("{name}_i{slice}"),
        Access::Rw => format!("{name}_o{slice}"),
        Access::W1p => "32'h0".to_owned(),
    }
}

/// The rows that are not zero: number and value.
fn rows(bank: &Bank, registers: &[&Register]) -> Vec<(u32, String)> {
    let rows = (0..BANK_BYTES).step_by(8).map(|offset| {
        let wide = registers
            .iter()
            .find(|register| register.offset == offset && register.bits == 64);
        let value = match wide {
            Some(register) => {
                let end = if register.access == Access::Rw {
                    "o"
                } else {
                    "i"
                };
                format!("{}_{end}{}", signal(bank, register), part(bank, 64))
            }
            None => format!(
                "{{{}, {}}}",
                half(bank, registers, offset + 4),
                half(bank, registers, offset)
            ),
        };
        (offset / 8, value)
    });
    rows.filter(|(_, value)| value != "{32'h0, 32'h0}")
        .collect()
}

fn reads(out: &mut String, description: &Description) {
    *out += "\n  // Rows by bank.\n";
    let mut select = String::new();
    let mut held = Vec::new();
    for bank in &description.banks {
        let registers = description.of_bank(bank);
        let (name, number) = (&bank.name, bank.offset / BANK_BYTES);
        let (target, width) = match bank.is_per_drive() {
            true => (format!("{name}_row_q[64*d +: 64]"), "64*Drives-1:0"),
            false => (format!("{name}_row_q"), "63:0"),
        };
        let mut body = "always_ff @(posedge clk_i) case (ar_word_q[5:1])\n".to_owned();
        for (row, value) in rows(bank, &registers) {
            let _ = writeln!(body, "  5'h{row:02x}: {target} <= {value};");
        }
        let _ = writeln!(body, "  default: {target} <= '0;\nendcase");
        let _ = writeln!(out, "  logic [{width}] {name}_row_q;");
        *out += &per_drive(bank, "read", &body);
        let (scope, hit) = match bank.is_per_drive() {
            true => (
                "for (int unsigned d = 0; d < Drives; d++) ",
                format!("4'({number} + d)"),
            ),
            false => ("", format!("4'd{number}")),
        };
        let _ = writeln!(
            select,
            "    {scope}if (ar_word_q[9:6] == {hit}) row = {target};"
        );
        let rows: Vec<_> = registers
            .iter()
            .filter(|register| register.is_held())
            .map(|register| register.offset / 8)
            .collect();
        held.push((bank, number, rows));
    }
    let _ = writeln!(out, "\n  always_comb begin\n    row = '0;\n{select}  end\n");
    *out += "  // The last read was of the low half of a 64-bit read-only register.\n  \
             always_comb begin\n    keep = 1'b0;\n";
    for (bank, number, rows) in held {
        let rows: Vec<_> = rows.iter().map(|row| format!("5'h{row:02x}")).collect();
        let hit = match bank.is_per_drive() {
            true => {
                format!("ar_word_q[9:6] >= 4'd{number} && 32'(ar_word_q[9:6]) < {number} + Drives")
            }
            false => format!("ar_word_q[9:6] == 4'd{number}"),
        };
        let _ = writeln!(
            out,
            "    if ({hit}) case (ar_word_q[5:1])\n      {}: keep = !ar_word_q[0];\n      \
             default: ;\n    endcase",
            rows.join(", ")
        );
    }
    *out += "  end\n";
}

/// For the proof: what the description says of a word that the solver chooses, one line per word.
fn properties(out: &mut String, description: &Description) {
    *out += "
`ifdef FORMAL
  // The chosen word by the description: kept, acts, half of a 64-bit read-only register; its \
             value;
  // its pulse.
  logic        f_chosen_q = 1'b0;
  logic [9:0]  f_word_q, f_choice, f_word;
  assign f_word = f_chosen_q ? f_word_q : f_choice;
  logic        f_rw, f_w1p, f_held, f_pulse;
  logic [31:0] f_value, f_reset, f_order;
  always_comb begin
    {f_rw, f_w1p, f_held, f_pulse} = '0;
    {f_value, f_reset, f_order} = '0;
";
    for bank in &description.banks {
        let registers = description.of_bank(bank);
        let mut body = String::new();
        for register in &registers {
            for low in (0..register.bits).step_by(32) {
                let offset = register.offset + low / 8;
                let number = word(bank, offset);
                let condition = match bank.is_per_drive() {
                    true => format!("f_word == 10'(32'h{number:03x} + {}*d)", BANK_BYTES / 4),
                    false => format!("f_word == 10'h{number:03x}"),
                };
                let name = signal(bank, register);
                let value = half(bank, &registers, offset);
                let index = if bank.is_per_drive() { "[d]" } else { "" };
                let facts = match register.access {
                    Access::Rw => format!(
                        "f_rw = 1'b1; f_value = {value}; f_reset = 32'h{:x};",
                        register.reset >> low & 0xffff_ffff
                    ),
                    Access::W1p => format!(
                        "f_w1p = 1'b1; f_pulse = {name}_valid_o{index}; f_order = {name}_o{};",
                        part(bank, 32)
                    ),
                    Access::Ro if register.is_held() => {
                        format!("f_held = 1'b1; f_value = {value};")
                    }
                    Access::Ro | Access::Constant => format!("f_value = {value};"),
                };
                let _ = writeln!(body, "if ({condition}) begin {facts} end");
            }
        }
        *out += &match bank.is_per_drive() {
            true => format!(
                "    for (int unsigned d = 0; d < Drives; d++) begin\n{}    end\n",
                indented(&body, 6)
            ),
            false => indented(&body, 4),
        };
    }
    *out += "  end\n\n  `include \"formal/nvs_registers.svh\"\n`endif\n";
}
