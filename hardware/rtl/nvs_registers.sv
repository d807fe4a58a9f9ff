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

module nvs_registers #(
  parameter int unsigned Drives = 1  // 1 to 4
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 s_reg_aw_valid_i,
  output logic                 s_reg_aw_ready_o,
  input  logic [11:0]          s_reg_aw_addr_i,
  input  logic                 s_reg_w_valid_i,
  output logic                 s_reg_w_ready_o,
  input  logic [31:0]          s_reg_w_data_i,
  input  logic [3:0]           s_reg_w_strb_i,
  output logic                 s_reg_b_valid_o,
  input  logic                 s_reg_b_ready_i,
  output logic [1:0]           s_reg_b_resp_o,
  input  logic                 s_reg_ar_valid_i,
  output logic                 s_reg_ar_ready_o,
  input  logic [11:0]          s_reg_ar_addr_i,
  output logic                 s_reg_r_valid_o,
  input  logic                 s_reg_r_ready_i,
  output logic [31:0]          s_reg_r_data_o,
  output logic [1:0]           s_reg_r_resp_o,

  output logic [31:0]          write_control_o,               // 0x008
  output logic                 write_control_valid_o,         // 0x008
  input  logic [31:0]          write_status_i,                // 0x00c
  output logic [63:0]          write_first_address_o,         // 0x010
  output logic [63:0]          write_last_address_o,          // 0x018
  input  logic [31:0]          write_chunk_bytes_i,           // 0x020
  input  logic [63:0]          write_last_address_written_i,  // 0x028
  input  logic [63:0]          write_bytes_i,                 // 0x030
  input  logic [63:0]          write_beats_i,                 // 0x038
  input  logic [63:0]          write_stalls_i,                // 0x040
  input  logic [63:0]          write_stall_time_i,            // 0x048
  output logic [63:0]          write_pattern_seed_o,          // 0x050
  output logic [63:0]          write_packet_beats_o,          // 0x058
  input  logic [63:0]          write_durable_bytes_i,         // 0x060
  input  logic [63:0]          write_error_beat_i,            // 0x068
  input  logic [63:0]          write_device_status_i,         // 0x070
  output logic [31:0]          write_flush_control_o,         // 0x078
  output logic                 write_flush_control_valid_o,   // 0x078
  input  logic [31:0]          write_flush_status_i,          // 0x07c
  input  logic [63:0]          write_dropped_beats_i,         // 0x080
  input  logic [63:0]          write_cycles_i,                // 0x088
  output logic [63:0]          write_pattern_seed_high_o,     // 0x090
  output logic [31:0]          write_post_chunks_o,           // 0x0a0
  input  logic [63:0]          write_next_address_i,          // 0x0a8
  input  logic [31:0]          write_index_count_i,           // 0x0b0
  output logic [31:0]          write_index_select_o,          // 0x0b4
  output logic                 write_index_select_valid_o,    // 0x0b4
  input  logic [63:0]          write_index_position_i,        // 0x0b8
  input  logic [63:0]          write_index_time_i,            // 0x0c0
  input  logic [63:0]          write_time_i,                  // 0x0c8

  output logic [31:0]          read_control_o,                // 0x108
  output logic                 read_control_valid_o,          // 0x108
  input  logic [31:0]          read_status_i,                 // 0x10c
  output logic [63:0]          read_first_address_o,          // 0x110
  output logic [63:0]          read_last_address_o,           // 0x118
  input  logic [31:0]          read_chunk_bytes_i,            // 0x120
  input  logic [63:0]          read_last_address_written_i,   // 0x128
  input  logic [63:0]          read_bytes_i,                  // 0x130
  input  logic [63:0]          read_beats_i,                  // 0x138
  input  logic [63:0]          read_stalls_i,                 // 0x140
  input  logic [63:0]          read_stall_time_i,             // 0x148
  output logic [63:0]          read_pattern_seed_o,           // 0x150
  output logic [63:0]          read_packet_beats_o,           // 0x158
  input  logic [63:0]          read_durable_bytes_i,          // 0x160
  input  logic [63:0]          read_error_beat_i,             // 0x168
  input  logic [63:0]          read_device_status_i,          // 0x170
  output logic [31:0]          read_flush_control_o,          // 0x178
  output logic                 read_flush_control_valid_o,    // 0x178
  input  logic [31:0]          read_flush_status_i,           // 0x17c
  input  logic [63:0]          read_dropped_beats_i,          // 0x180
  input  logic [63:0]          read_cycles_i,                 // 0x188
  output logic [63:0]          read_pattern_seed_high_o,      // 0x190
  output logic [63:0]          read_length_o,                 // 0x198

  input  logic [32*Drives-1:0] drive_link_i,                  // 0x200
  input  logic [32*Drives-1:0] drive_sequencer_i,             // 0x204
  input  logic [64*Drives-1:0] drive_media_bytes_i,           // 0x208
  input  logic [32*Drives-1:0] drive_block_bytes_i,           // 0x210
  input  logic [32*Drives-1:0] drive_max_transfer_i,          // 0x214
  input  logic [64*Drives-1:0] drive_cap_i,                   // 0x218
  output logic [32*Drives-1:0] drive_command_timeout_o,       // 0x220
  input  logic [32*Drives-1:0] drive_oldest_command_i,        // 0x224
  input  logic [32*Drives-1:0] drive_commands_i,              // 0x228
  input  logic [32*Drives-1:0] drive_doorbells_i,             // 0x22c
  input  logic [32*Drives-1:0] drive_protocol_errors_i,       // 0x230
  output logic [32*Drives-1:0] drive_control_o,               // 0x234
  output logic [Drives-1:0]    drive_control_valid_o,         // 0x234
  input  logic [32*Drives-1:0] drive_lost_i,                  // 0x238
  output logic [32*Drives-1:0] drive_pass_dw0_o,              // 0x240
  output logic [Drives-1:0]    drive_pass_dw0_valid_o,        // 0x240
  output logic [32*Drives-1:0] drive_pass_dw1_o,              // 0x244
  output logic [Drives-1:0]    drive_pass_dw1_valid_o,        // 0x244
  output logic [32*Drives-1:0] drive_pass_dw10_o,             // 0x268
  output logic [Drives-1:0]    drive_pass_dw10_valid_o,       // 0x268
  output logic [32*Drives-1:0] drive_pass_dw11_o,             // 0x26c
  output logic [Drives-1:0]    drive_pass_dw11_valid_o,       // 0x26c
  output logic [32*Drives-1:0] drive_pass_dw12_o,             // 0x270
  output logic [Drives-1:0]    drive_pass_dw12_valid_o,       // 0x270
  output logic [32*Drives-1:0] drive_pass_dw13_o,             // 0x274
  output logic [Drives-1:0]    drive_pass_dw13_valid_o,       // 0x274
  output logic [32*Drives-1:0] drive_pass_dw14_o,             // 0x278
  output logic [Drives-1:0]    drive_pass_dw14_valid_o,       // 0x278
  output logic [32*Drives-1:0] drive_pass_dw15_o,             // 0x27c
  output logic [Drives-1:0]    drive_pass_dw15_valid_o,       // 0x27c
  input  logic [32*Drives-1:0] drive_pass_status_i,           // 0x280
  input  logic [32*Drives-1:0] drive_pass_result_i            // 0x284
);

  // Registers are addressed by word: bits 9:6 are the bank. A pair of words is a row.
  logic unused_address;
  assign unused_address = &{s_reg_aw_addr_i[1:0], s_reg_ar_addr_i[1:0]};

  // Writes: address and data are taken each on its own. A write happens when both are there and the
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

  // Registers that act.
  logic [31:0] written;
  always_comb for (int unsigned b = 0; b < 4; b++) written[8*b +: 8] = w_strb_q[b] ? w_data_q[8*b +: 8] : 8'h00;

  // Bank `write`.
  assign write_control_o = written;
  assign write_control_valid_o = write && aw_word_q == 10'h002;
  assign write_flush_control_o = written;
  assign write_flush_control_valid_o = write && aw_word_q == 10'h01e;
  assign write_index_select_o = written;
  assign write_index_select_valid_o = write && aw_word_q == 10'h02d;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_first_address_o <= 64'h0;
      write_last_address_o <= 64'h0;
      write_pattern_seed_o <= 64'h0;
      write_packet_beats_o <= 64'h0;
      write_pattern_seed_high_o <= 64'h0;
      write_post_chunks_o <= 32'h0;
    end else if (write) begin
      for (int unsigned b = 0; b < 4; b++) if (w_strb_q[b]) begin
        if (aw_word_q == 10'h004) write_first_address_o[8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h005) write_first_address_o[32 + 8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h006) write_last_address_o[8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h007) write_last_address_o[32 + 8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h014) write_pattern_seed_o[8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h015) write_pattern_seed_o[32 + 8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h016) write_packet_beats_o[8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h017) write_packet_beats_o[32 + 8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h024) write_pattern_seed_high_o[8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h025) write_pattern_seed_high_o[32 + 8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h028) write_post_chunks_o[8*b +: 8] <= w_data_q[8*b +: 8];
      end
    end
  end

  // Bank `read`.
  assign read_control_o = written;
  assign read_control_valid_o = write && aw_word_q == 10'h042;
  assign read_flush_control_o = written;
  assign read_flush_control_valid_o = write && aw_word_q == 10'h05e;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_first_address_o <= 64'h0;
      read_last_address_o <= 64'h0;
      read_pattern_seed_o <= 64'h0;
      read_packet_beats_o <= 64'h0;
      read_pattern_seed_high_o <= 64'h0;
      read_length_o <= 64'h0;
    end else if (write) begin
      for (int unsigned b = 0; b < 4; b++) if (w_strb_q[b]) begin
        if (aw_word_q == 10'h044) read_first_address_o[8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h045) read_first_address_o[32 + 8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h046) read_last_address_o[8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h047) read_last_address_o[32 + 8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h054) read_pattern_seed_o[8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h055) read_pattern_seed_o[32 + 8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h056) read_packet_beats_o[8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h057) read_packet_beats_o[32 + 8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h064) read_pattern_seed_high_o[8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h065) read_pattern_seed_high_o[32 + 8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h066) read_length_o[8*b +: 8] <= w_data_q[8*b +: 8];
        if (aw_word_q == 10'h067) read_length_o[32 + 8*b +: 8] <= w_data_q[8*b +: 8];
      end
    end
  end

  // Bank `drive`.
  for (genvar d = 0; d < Drives; d++) begin : gen_drive_write
    assign drive_control_o[32*d +: 32] = written;
    assign drive_control_valid_o[d] = write && aw_word_q == 10'(32'h08d + 64*d);
    assign drive_pass_dw0_o[32*d +: 32] = written;
    assign drive_pass_dw0_valid_o[d] = write && aw_word_q == 10'(32'h090 + 64*d);
    assign drive_pass_dw1_o[32*d +: 32] = written;
    assign drive_pass_dw1_valid_o[d] = write && aw_word_q == 10'(32'h091 + 64*d);
    assign drive_pass_dw10_o[32*d +: 32] = written;
    assign drive_pass_dw10_valid_o[d] = write && aw_word_q == 10'(32'h09a + 64*d);
    assign drive_pass_dw11_o[32*d +: 32] = written;
    assign drive_pass_dw11_valid_o[d] = write && aw_word_q == 10'(32'h09b + 64*d);
    assign drive_pass_dw12_o[32*d +: 32] = written;
    assign drive_pass_dw12_valid_o[d] = write && aw_word_q == 10'(32'h09c + 64*d);
    assign drive_pass_dw13_o[32*d +: 32] = written;
    assign drive_pass_dw13_valid_o[d] = write && aw_word_q == 10'(32'h09d + 64*d);
    assign drive_pass_dw14_o[32*d +: 32] = written;
    assign drive_pass_dw14_valid_o[d] = write && aw_word_q == 10'(32'h09e + 64*d);
    assign drive_pass_dw15_o[32*d +: 32] = written;
    assign drive_pass_dw15_valid_o[d] = write && aw_word_q == 10'(32'h09f + 64*d);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        drive_command_timeout_o[32*d +: 32] <= 32'h989680;
      end else if (write) begin
        for (int unsigned b = 0; b < 4; b++) if (w_strb_q[b]) begin
          if (aw_word_q == 10'(32'h088 + 64*d)) drive_command_timeout_o[32*d + 8*b +: 8] <= w_data_q[8*b +: 8];
        end
      end
    end
  end

  // Rows by bank.
  logic [63:0] write_row_q;
  always_ff @(posedge clk_i) case (ar_word_q[5:1])
    5'h00: write_row_q <= {32'h2, 32'h59415341};
    5'h01: write_row_q <= {write_status_i, 32'h0};
    5'h02: write_row_q <= write_first_address_o;
    5'h03: write_row_q <= write_last_address_o;
    5'h04: write_row_q <= {32'h0, write_chunk_bytes_i};
    5'h05: write_row_q <= write_last_address_written_i;
    5'h06: write_row_q <= write_bytes_i;
    5'h07: write_row_q <= write_beats_i;
    5'h08: write_row_q <= write_stalls_i;
    5'h09: write_row_q <= write_stall_time_i;
    5'h0a: write_row_q <= write_pattern_seed_o;
    5'h0b: write_row_q <= write_packet_beats_o;
    5'h0c: write_row_q <= write_durable_bytes_i;
    5'h0d: write_row_q <= write_error_beat_i;
    5'h0e: write_row_q <= write_device_status_i;
    5'h0f: write_row_q <= {write_flush_status_i, 32'h0};
    5'h10: write_row_q <= write_dropped_beats_i;
    5'h11: write_row_q <= write_cycles_i;
    5'h12: write_row_q <= write_pattern_seed_high_o;
    5'h14: write_row_q <= {32'h0, write_post_chunks_o};
    5'h15: write_row_q <= write_next_address_i;
    5'h16: write_row_q <= {32'h0, write_index_count_i};
    5'h17: write_row_q <= write_index_position_i;
    5'h18: write_row_q <= write_index_time_i;
    5'h19: write_row_q <= write_time_i;
    default: write_row_q <= '0;
  endcase
  logic [63:0] read_row_q;
  always_ff @(posedge clk_i) case (ar_word_q[5:1])
    5'h00: read_row_q <= {32'h2, 32'h59415341};
    5'h01: read_row_q <= {read_status_i, 32'h0};
    5'h02: read_row_q <= read_first_address_o;
    5'h03: read_row_q <= read_last_address_o;
    5'h04: read_row_q <= {32'h0, read_chunk_bytes_i};
    5'h05: read_row_q <= read_last_address_written_i;
    5'h06: read_row_q <= read_bytes_i;
    5'h07: read_row_q <= read_beats_i;
    5'h08: read_row_q <= read_stalls_i;
    5'h09: read_row_q <= read_stall_time_i;
    5'h0a: read_row_q <= read_pattern_seed_o;
    5'h0b: read_row_q <= read_packet_beats_o;
    5'h0c: read_row_q <= read_durable_bytes_i;
    5'h0d: read_row_q <= read_error_beat_i;
    5'h0e: read_row_q <= read_device_status_i;
    5'h0f: read_row_q <= {read_flush_status_i, 32'h0};
    5'h10: read_row_q <= read_dropped_beats_i;
    5'h11: read_row_q <= read_cycles_i;
    5'h12: read_row_q <= read_pattern_seed_high_o;
    5'h13: read_row_q <= read_length_o;
    default: read_row_q <= '0;
  endcase
  logic [64*Drives-1:0] drive_row_q;
  for (genvar d = 0; d < Drives; d++) begin : gen_drive_read
    always_ff @(posedge clk_i) case (ar_word_q[5:1])
      5'h00: drive_row_q[64*d +: 64] <= {drive_sequencer_i[32*d +: 32], drive_link_i[32*d +: 32]};
      5'h01: drive_row_q[64*d +: 64] <= drive_media_bytes_i[64*d +: 64];
      5'h02: drive_row_q[64*d +: 64] <= {drive_max_transfer_i[32*d +: 32], drive_block_bytes_i[32*d +: 32]};
      5'h03: drive_row_q[64*d +: 64] <= drive_cap_i[64*d +: 64];
      5'h04: drive_row_q[64*d +: 64] <= {drive_oldest_command_i[32*d +: 32], drive_command_timeout_o[32*d +: 32]};
      5'h05: drive_row_q[64*d +: 64] <= {drive_doorbells_i[32*d +: 32], drive_commands_i[32*d +: 32]};
      5'h06: drive_row_q[64*d +: 64] <= {32'h0, drive_protocol_errors_i[32*d +: 32]};
      5'h07: drive_row_q[64*d +: 64] <= {32'h0, drive_lost_i[32*d +: 32]};
      5'h10: drive_row_q[64*d +: 64] <= {drive_pass_result_i[32*d +: 32], drive_pass_status_i[32*d +: 32]};
      default: drive_row_q[64*d +: 64] <= '0;
    endcase
  end

  always_comb begin
    row = '0;
    if (ar_word_q[9:6] == 4'd0) row = write_row_q;
    if (ar_word_q[9:6] == 4'd1) row = read_row_q;
    for (int unsigned d = 0; d < Drives; d++) if (ar_word_q[9:6] == 4'(2 + d)) row = drive_row_q[64*d +: 64];
  end

  // The last read was of the low half of a 64-bit read-only register.
  always_comb begin
    keep = 1'b0;
    if (ar_word_q[9:6] == 4'd0) case (ar_word_q[5:1])
      5'h05, 5'h06, 5'h07, 5'h08, 5'h09, 5'h0c, 5'h0d, 5'h0e, 5'h10, 5'h11, 5'h15, 5'h17, 5'h18, 5'h19: keep = !ar_word_q[0];
      default: ;
    endcase
    if (ar_word_q[9:6] == 4'd1) case (ar_word_q[5:1])
      5'h05, 5'h06, 5'h07, 5'h08, 5'h09, 5'h0c, 5'h0d, 5'h0e, 5'h10, 5'h11: keep = !ar_word_q[0];
      default: ;
    endcase
    if (ar_word_q[9:6] >= 4'd2 && 32'(ar_word_q[9:6]) < 2 + Drives) case (ar_word_q[5:1])
      5'h01, 5'h03: keep = !ar_word_q[0];
      default: ;
    endcase
  end

`ifdef FORMAL
  // The chosen word by the description: kept, acts, half of a 64-bit read-only register; its value;
  // its pulse.
  logic        f_chosen_q = 1'b0;
  logic [9:0]  f_word_q, f_choice, f_word;
  assign f_word = f_chosen_q ? f_word_q : f_choice;
  logic        f_rw, f_w1p, f_held, f_pulse;
  logic [31:0] f_value, f_reset, f_order;
  always_comb begin
    {f_rw, f_w1p, f_held, f_pulse} = '0;
    {f_value, f_reset, f_order} = '0;
    if (f_word == 10'h000) begin f_value = 32'h59415341; end
    if (f_word == 10'h001) begin f_value = 32'h2; end
    if (f_word == 10'h002) begin
      f_w1p = 1'b1; f_pulse = write_control_valid_o; f_order = write_control_o;
    end
    if (f_word == 10'h003) begin f_value = write_status_i; end
    if (f_word == 10'h004) begin f_rw = 1'b1; f_value = write_first_address_o[0 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h005) begin f_rw = 1'b1; f_value = write_first_address_o[32 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h006) begin f_rw = 1'b1; f_value = write_last_address_o[0 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h007) begin f_rw = 1'b1; f_value = write_last_address_o[32 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h008) begin f_value = write_chunk_bytes_i; end
    if (f_word == 10'h00a) begin f_held = 1'b1; f_value = write_last_address_written_i[0 +: 32]; end
    if (f_word == 10'h00b) begin f_held = 1'b1; f_value = write_last_address_written_i[32 +: 32]; end
    if (f_word == 10'h00c) begin f_held = 1'b1; f_value = write_bytes_i[0 +: 32]; end
    if (f_word == 10'h00d) begin f_held = 1'b1; f_value = write_bytes_i[32 +: 32]; end
    if (f_word == 10'h00e) begin f_held = 1'b1; f_value = write_beats_i[0 +: 32]; end
    if (f_word == 10'h00f) begin f_held = 1'b1; f_value = write_beats_i[32 +: 32]; end
    if (f_word == 10'h010) begin f_held = 1'b1; f_value = write_stalls_i[0 +: 32]; end
    if (f_word == 10'h011) begin f_held = 1'b1; f_value = write_stalls_i[32 +: 32]; end
    if (f_word == 10'h012) begin f_held = 1'b1; f_value = write_stall_time_i[0 +: 32]; end
    if (f_word == 10'h013) begin f_held = 1'b1; f_value = write_stall_time_i[32 +: 32]; end
    if (f_word == 10'h014) begin f_rw = 1'b1; f_value = write_pattern_seed_o[0 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h015) begin f_rw = 1'b1; f_value = write_pattern_seed_o[32 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h016) begin f_rw = 1'b1; f_value = write_packet_beats_o[0 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h017) begin f_rw = 1'b1; f_value = write_packet_beats_o[32 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h018) begin f_held = 1'b1; f_value = write_durable_bytes_i[0 +: 32]; end
    if (f_word == 10'h019) begin f_held = 1'b1; f_value = write_durable_bytes_i[32 +: 32]; end
    if (f_word == 10'h01a) begin f_held = 1'b1; f_value = write_error_beat_i[0 +: 32]; end
    if (f_word == 10'h01b) begin f_held = 1'b1; f_value = write_error_beat_i[32 +: 32]; end
    if (f_word == 10'h01c) begin f_held = 1'b1; f_value = write_device_status_i[0 +: 32]; end
    if (f_word == 10'h01d) begin f_held = 1'b1; f_value = write_device_status_i[32 +: 32]; end
    if (f_word == 10'h01e) begin
      f_w1p = 1'b1; f_pulse = write_flush_control_valid_o; f_order = write_flush_control_o;
    end
    if (f_word == 10'h01f) begin f_value = write_flush_status_i; end
    if (f_word == 10'h020) begin f_held = 1'b1; f_value = write_dropped_beats_i[0 +: 32]; end
    if (f_word == 10'h021) begin f_held = 1'b1; f_value = write_dropped_beats_i[32 +: 32]; end
    if (f_word == 10'h022) begin f_held = 1'b1; f_value = write_cycles_i[0 +: 32]; end
    if (f_word == 10'h023) begin f_held = 1'b1; f_value = write_cycles_i[32 +: 32]; end
    if (f_word == 10'h024) begin f_rw = 1'b1; f_value = write_pattern_seed_high_o[0 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h025) begin f_rw = 1'b1; f_value = write_pattern_seed_high_o[32 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h028) begin f_rw = 1'b1; f_value = write_post_chunks_o; f_reset = 32'h0; end
    if (f_word == 10'h02a) begin f_held = 1'b1; f_value = write_next_address_i[0 +: 32]; end
    if (f_word == 10'h02b) begin f_held = 1'b1; f_value = write_next_address_i[32 +: 32]; end
    if (f_word == 10'h02c) begin f_value = write_index_count_i; end
    if (f_word == 10'h02d) begin
      f_w1p = 1'b1; f_pulse = write_index_select_valid_o; f_order = write_index_select_o;
    end
    if (f_word == 10'h02e) begin f_held = 1'b1; f_value = write_index_position_i[0 +: 32]; end
    if (f_word == 10'h02f) begin f_held = 1'b1; f_value = write_index_position_i[32 +: 32]; end
    if (f_word == 10'h030) begin f_held = 1'b1; f_value = write_index_time_i[0 +: 32]; end
    if (f_word == 10'h031) begin f_held = 1'b1; f_value = write_index_time_i[32 +: 32]; end
    if (f_word == 10'h032) begin f_held = 1'b1; f_value = write_time_i[0 +: 32]; end
    if (f_word == 10'h033) begin f_held = 1'b1; f_value = write_time_i[32 +: 32]; end
    if (f_word == 10'h040) begin f_value = 32'h59415341; end
    if (f_word == 10'h041) begin f_value = 32'h2; end
    if (f_word == 10'h042) begin
      f_w1p = 1'b1; f_pulse = read_control_valid_o; f_order = read_control_o;
    end
    if (f_word == 10'h043) begin f_value = read_status_i; end
    if (f_word == 10'h044) begin f_rw = 1'b1; f_value = read_first_address_o[0 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h045) begin f_rw = 1'b1; f_value = read_first_address_o[32 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h046) begin f_rw = 1'b1; f_value = read_last_address_o[0 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h047) begin f_rw = 1'b1; f_value = read_last_address_o[32 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h048) begin f_value = read_chunk_bytes_i; end
    if (f_word == 10'h04a) begin f_held = 1'b1; f_value = read_last_address_written_i[0 +: 32]; end
    if (f_word == 10'h04b) begin f_held = 1'b1; f_value = read_last_address_written_i[32 +: 32]; end
    if (f_word == 10'h04c) begin f_held = 1'b1; f_value = read_bytes_i[0 +: 32]; end
    if (f_word == 10'h04d) begin f_held = 1'b1; f_value = read_bytes_i[32 +: 32]; end
    if (f_word == 10'h04e) begin f_held = 1'b1; f_value = read_beats_i[0 +: 32]; end
    if (f_word == 10'h04f) begin f_held = 1'b1; f_value = read_beats_i[32 +: 32]; end
    if (f_word == 10'h050) begin f_held = 1'b1; f_value = read_stalls_i[0 +: 32]; end
    if (f_word == 10'h051) begin f_held = 1'b1; f_value = read_stalls_i[32 +: 32]; end
    if (f_word == 10'h052) begin f_held = 1'b1; f_value = read_stall_time_i[0 +: 32]; end
    if (f_word == 10'h053) begin f_held = 1'b1; f_value = read_stall_time_i[32 +: 32]; end
    if (f_word == 10'h054) begin f_rw = 1'b1; f_value = read_pattern_seed_o[0 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h055) begin f_rw = 1'b1; f_value = read_pattern_seed_o[32 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h056) begin f_rw = 1'b1; f_value = read_packet_beats_o[0 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h057) begin f_rw = 1'b1; f_value = read_packet_beats_o[32 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h058) begin f_held = 1'b1; f_value = read_durable_bytes_i[0 +: 32]; end
    if (f_word == 10'h059) begin f_held = 1'b1; f_value = read_durable_bytes_i[32 +: 32]; end
    if (f_word == 10'h05a) begin f_held = 1'b1; f_value = read_error_beat_i[0 +: 32]; end
    if (f_word == 10'h05b) begin f_held = 1'b1; f_value = read_error_beat_i[32 +: 32]; end
    if (f_word == 10'h05c) begin f_held = 1'b1; f_value = read_device_status_i[0 +: 32]; end
    if (f_word == 10'h05d) begin f_held = 1'b1; f_value = read_device_status_i[32 +: 32]; end
    if (f_word == 10'h05e) begin
      f_w1p = 1'b1; f_pulse = read_flush_control_valid_o; f_order = read_flush_control_o;
    end
    if (f_word == 10'h05f) begin f_value = read_flush_status_i; end
    if (f_word == 10'h060) begin f_held = 1'b1; f_value = read_dropped_beats_i[0 +: 32]; end
    if (f_word == 10'h061) begin f_held = 1'b1; f_value = read_dropped_beats_i[32 +: 32]; end
    if (f_word == 10'h062) begin f_held = 1'b1; f_value = read_cycles_i[0 +: 32]; end
    if (f_word == 10'h063) begin f_held = 1'b1; f_value = read_cycles_i[32 +: 32]; end
    if (f_word == 10'h064) begin f_rw = 1'b1; f_value = read_pattern_seed_high_o[0 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h065) begin f_rw = 1'b1; f_value = read_pattern_seed_high_o[32 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h066) begin f_rw = 1'b1; f_value = read_length_o[0 +: 32]; f_reset = 32'h0; end
    if (f_word == 10'h067) begin f_rw = 1'b1; f_value = read_length_o[32 +: 32]; f_reset = 32'h0; end
    for (int unsigned d = 0; d < Drives; d++) begin
      if (f_word == 10'(32'h080 + 64*d)) begin f_value = drive_link_i[32*d +: 32]; end
      if (f_word == 10'(32'h081 + 64*d)) begin f_value = drive_sequencer_i[32*d +: 32]; end
      if (f_word == 10'(32'h082 + 64*d)) begin f_held = 1'b1; f_value = drive_media_bytes_i[64*d +: 32]; end
      if (f_word == 10'(32'h083 + 64*d)) begin f_held = 1'b1; f_value = drive_media_bytes_i[64*d + 32 +: 32]; end
      if (f_word == 10'(32'h084 + 64*d)) begin f_value = drive_block_bytes_i[32*d +: 32]; end
      if (f_word == 10'(32'h085 + 64*d)) begin f_value = drive_max_transfer_i[32*d +: 32]; end
      if (f_word == 10'(32'h086 + 64*d)) begin f_held = 1'b1; f_value = drive_cap_i[64*d +: 32]; end
      if (f_word == 10'(32'h087 + 64*d)) begin f_held = 1'b1; f_value = drive_cap_i[64*d + 32 +: 32]; end
      if (f_word == 10'(32'h088 + 64*d)) begin f_rw = 1'b1; f_value = drive_command_timeout_o[32*d +: 32]; f_reset = 32'h989680; end
      if (f_word == 10'(32'h089 + 64*d)) begin f_value = drive_oldest_command_i[32*d +: 32]; end
      if (f_word == 10'(32'h08a + 64*d)) begin f_value = drive_commands_i[32*d +: 32]; end
      if (f_word == 10'(32'h08b + 64*d)) begin f_value = drive_doorbells_i[32*d +: 32]; end
      if (f_word == 10'(32'h08c + 64*d)) begin f_value = drive_protocol_errors_i[32*d +: 32]; end
      if (f_word == 10'(32'h08d + 64*d)) begin
        f_w1p = 1'b1; f_pulse = drive_control_valid_o[d]; f_order = drive_control_o[32*d +: 32];
      end
      if (f_word == 10'(32'h08e + 64*d)) begin f_value = drive_lost_i[32*d +: 32]; end
      if (f_word == 10'(32'h090 + 64*d)) begin
        f_w1p = 1'b1; f_pulse = drive_pass_dw0_valid_o[d]; f_order = drive_pass_dw0_o[32*d +: 32];
      end
      if (f_word == 10'(32'h091 + 64*d)) begin
        f_w1p = 1'b1; f_pulse = drive_pass_dw1_valid_o[d]; f_order = drive_pass_dw1_o[32*d +: 32];
      end
      if (f_word == 10'(32'h09a + 64*d)) begin
        f_w1p = 1'b1; f_pulse = drive_pass_dw10_valid_o[d]; f_order = drive_pass_dw10_o[32*d +: 32];
      end
      if (f_word == 10'(32'h09b + 64*d)) begin
        f_w1p = 1'b1; f_pulse = drive_pass_dw11_valid_o[d]; f_order = drive_pass_dw11_o[32*d +: 32];
      end
      if (f_word == 10'(32'h09c + 64*d)) begin
        f_w1p = 1'b1; f_pulse = drive_pass_dw12_valid_o[d]; f_order = drive_pass_dw12_o[32*d +: 32];
      end
      if (f_word == 10'(32'h09d + 64*d)) begin
        f_w1p = 1'b1; f_pulse = drive_pass_dw13_valid_o[d]; f_order = drive_pass_dw13_o[32*d +: 32];
      end
      if (f_word == 10'(32'h09e + 64*d)) begin
        f_w1p = 1'b1; f_pulse = drive_pass_dw14_valid_o[d]; f_order = drive_pass_dw14_o[32*d +: 32];
      end
      if (f_word == 10'(32'h09f + 64*d)) begin
        f_w1p = 1'b1; f_pulse = drive_pass_dw15_valid_o[d]; f_order = drive_pass_dw15_o[32*d +: 32];
      end
      if (f_word == 10'(32'h0a0 + 64*d)) begin f_value = drive_pass_status_i[32*d +: 32]; end
      if (f_word == 10'(32'h0a1 + 64*d)) begin f_value = drive_pass_result_i[32*d +: 32]; end
    end
  end

  `include "formal/nvs_registers.svh"
`endif

endmodule
