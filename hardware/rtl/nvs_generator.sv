// Source of the test pattern, instead of the stream that is recorded.
//
// Purpose: gives the beats of nvs_pattern from beat 0 on, one word per cycle.
//
// Interface:
//   start_i         pulse: begins with `beat0_i`; what is offered is withdrawn. The first word comes DataWidth / 128 cycles later
//   packet_beats_i  16-byte beats of a packet, 0: 2^64, so no end. Constant from the cycle before start_i on. A packet that ends inside a
//                   word leaves out the rest of the word: the next packet begins with the next word
//   stop_i          level: nothing more is offered; a word that was offered stays until it is taken
//   m_*             AXI4-Stream
// No output depends on an input of the same cycle.
//
// Invariants, proven in formal/nvs_generator.svh:
//   - words follow each other as the pattern does, none left out or repeated;
//   - `m_last_o` with the last word of each packet, whose `m_keep_o` has the packet's beats;
//   - the output is stable until it is taken, also when it is stopped.

module nvs_generator #(
  parameter  int unsigned DataWidth = 128,  // 128, 256 or 512
  localparam int unsigned BeatBytes = DataWidth / 8
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 start_i,
  input  logic                 stop_i,
  input  logic [127:0]         beat0_i,
  input  logic [63:0]          packet_beats_i,

  output logic                 m_valid_o,
  input  logic                 m_ready_i,
  output logic [DataWidth-1:0] m_data_o,
  output logic [BeatBytes-1:0] m_keep_o,
  output logic                 m_last_o
);

  localparam int unsigned Beats = DataWidth / 128;
  localparam int unsigned Shift = $clog2(Beats);

  // Words of a packet less one, and beats of its last word (as keep).
  logic [63:0]          words_q;
  logic [BeatBytes-1:0] last_keep;
  always_ff @(posedge clk_i) words_q <= (packet_beats_i - 1'b1) >> Shift;
  if (Beats == 1) begin : gen_whole
    assign last_keep = '1;
  end else begin : gen_part
    logic [Shift-1:0] last_beat_q;
    always_ff @(posedge clk_i) if (start_i) last_beat_q <= packet_beats_i[Shift-1:0] - 1'b1;
    for (genvar k = 0; k < Beats; k++) begin : gen_keep
      assign last_keep[16*k +: 16] = {16{k == 0 || last_beat_q >= Shift'(k)}};
    end
  end

  logic        running_q, last_q, pattern_valid, move;
  logic [63:0] left_q;  // words after the one that is offered, in its packet
  assign m_valid_o = running_q && pattern_valid;
  assign m_last_o  = last_q;
  assign m_keep_o  = last_q ? last_keep : '1;
  assign move      = m_valid_o && m_ready_i;

  nvs_pattern #(
    .DataWidth(DataWidth)
  ) u_pattern (
    .clk_i,
    .rst_ni,
    .load_i (start_i),
    .beat0_i,
    .step_i (move),
    .valid_o(pattern_valid),
    .word_o (m_data_o)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      running_q <= 1'b0;
      last_q    <= 1'b0;
      left_q    <= '0;
    end else if (start_i || (move && last_q)) begin
      last_q <= words_q == '0;
      left_q <= words_q;
      if (start_i) running_q <= 1'b1;
      else if (stop_i) running_q <= 1'b0;
    end else begin
      if (move) begin
        last_q <= left_q == 64'd1;
        left_q <= left_q - 1'b1;
      end
      if (stop_i && (!m_valid_o || m_ready_i)) running_q <= 1'b0;
    end
  end

`ifdef FORMAL
  `include "formal/nvs_generator.svh"
`endif

endmodule
