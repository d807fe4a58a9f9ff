// Discards beats of the input stream between sessions.
//
// Purpose: the flush of the input stream (FLUSH_CONTROL). Beats that no session will take are accepted and dropped, so that the next
// session begins with its own first beat.
//
// Interface:
//   begin_i   pulse: discard from now on, unless a session is running
//   arm_i     pulse: discard when the running session has ended
//   end_i     pulse: discard no more
//   start_i   pulse: a session starts; discarding ends, the counter begins anew
//   ended_i   pulse: the session has ended; aborted_i: by ABORT, which discards, too; last_i: the stream had ended, so nothing of it follows
//   s_*, m_*  stream in and out. While discarding, nothing leaves
//   beats_o   16-byte beats discarded since start_i
//
// Discarding ends with the last beat of the stream. Invariants, proven in formal/nvs_discard.svh: every beat is either passed on unchanged or
// counted; nothing is discarded while a session runs.

module nvs_discard #(
  parameter  int unsigned DataWidth = 128,
  localparam int unsigned BeatBytes = DataWidth / 8,
  localparam int unsigned Beats     = DataWidth / 128
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 begin_i,
  input  logic                 arm_i,
  input  logic                 end_i,
  input  logic                 start_i,
  input  logic                 running_i,
  input  logic                 ended_i,
  input  logic                 aborted_i,
  input  logic                 last_i,

  input  logic                 s_valid_i,
  output logic                 s_ready_o,
  input  logic [DataWidth-1:0] s_data_i,
  input  logic [BeatBytes-1:0] s_keep_i,
  input  logic                 s_last_i,

  output logic                 m_valid_o,
  input  logic                 m_ready_i,
  output logic [DataWidth-1:0] m_data_o,
  output logic [BeatBytes-1:0] m_keep_o,
  output logic                 m_last_o,

  output logic                 active_o,
  output logic                 finished_o,  // level: discarding has ended since start_i
  output logic [63:0]          beats_o
);

  logic active_q, armed_q;
  assign active_o  = active_q;
  assign m_valid_o = s_valid_i && !active_q;
  assign s_ready_o = active_q || m_ready_i;
  assign m_data_o  = s_data_i;
  assign m_keep_o  = s_keep_i;
  assign m_last_o  = s_last_i;

  logic [$clog2(Beats):0] beats;
  always_comb begin
    beats = '0;
    for (int unsigned k = 0; k < Beats; k++) beats = beats + ($clog2(Beats) + 1)'(!s_last_i || s_keep_i[16*k]);
  end

  // The first cycle after the reset: a clear in the flip-flops of a counter costs no logic (nvs_session).
  logic fresh_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) fresh_q <= 1'b1;
    else         fresh_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (fresh_q || start_i) beats_o <= '0;
    else if (active_q && s_valid_i) beats_o <= beats_o + 64'(beats);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q   <= 1'b0;
      armed_q    <= 1'b0;
      finished_o <= 1'b0;
    end else if (start_i) begin
      active_q   <= 1'b0;
      armed_q    <= armed_q || (arm_i && running_i);  // between the command and its start
      finished_o <= 1'b0;
    end else begin
      if (arm_i && running_i) armed_q <= 1'b1;
      if (ended_i) begin
        armed_q <= 1'b0;
        if ((armed_q || aborted_i) && !last_i) active_q <= 1'b1;
      end
      if (begin_i && !running_i) active_q <= 1'b1;
      if (active_q) begin
        if (end_i || (s_valid_i && s_last_i)) begin
          active_q   <= 1'b0;
          finished_o <= 1'b1;
        end
      end
    end
  end

`ifdef FORMAL
  `include "formal/nvs_discard.svh"
`endif

endmodule
