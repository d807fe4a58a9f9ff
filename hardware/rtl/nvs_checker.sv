// Sink of the replayed stream that compares it with the test pattern.
//
// Purpose: finds the first wrong beat and a wrong length without a host that looks at the data.
//
// Interface:
//   start_i           pulse, while no stream is offered: begins with `beat0_i` as the first beat; clears the results
//   expected_beats_i  16-byte beats until `s_last_i`; 0: any number. Constant from start on
//   s_*               AXI4-Stream; a word is compared in its bytes of `s_keep_i`. Always ready once the pattern is computed
//   pattern_error_o   level, from the first wrong byte to the next start; `error_beat_o` is its 16-byte beat
//   length_error_o    level: `s_last_i` at another beat than the expected last one, or not there, or a word after it
// Results follow their word by one cycle. No output depends on an input of the same cycle.
//
// Invariants, proven in formal/nvs_checker.svh: results are exactly those of a comparison of each word as it comes.

module nvs_checker #(
  parameter  int unsigned DataWidth = 128,  // 128, 256 or 512
  localparam int unsigned BeatBytes = DataWidth / 8
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 start_i,
  input  logic [127:0]         beat0_i,
  input  logic [63:0]          expected_beats_i,

  input  logic                 s_valid_i,
  output logic                 s_ready_o,
  input  logic [DataWidth-1:0] s_data_i,
  input  logic [BeatBytes-1:0] s_keep_i,
  input  logic                 s_last_i,

  output logic                 pattern_error_o,
  output logic                 length_error_o,
  output logic [63:0]          error_beat_o
);

  localparam int unsigned Beats     = DataWidth / 128;
  localparam int unsigned Shift     = $clog2(Beats);
  localparam int unsigned WordWidth = 64 - Shift;

  logic [DataWidth-1:0] word;
  logic                 take;
  assign take = s_valid_i && s_ready_o;
  nvs_pattern #(
    .DataWidth(DataWidth)
  ) u_pattern (
    .clk_i,
    .rst_ni,
    .load_i (start_i),
    .beat0_i,
    .step_i (take),
    .valid_o(s_ready_o),
    .word_o (word)
  );

  // First stage: which beats of the word are wrong, and which there are.
  logic [Beats-1:0] wrong, wrong_q, present, present_q;
  always_comb begin
    wrong   = '0;
    present = '0;
    for (int unsigned k = 0; k < Beats; k++) begin
      for (int unsigned b = 16 * k; b < 16 * (k + 1); b++) begin
        if (s_keep_i[b] && s_data_i[8*b +: 8] != word[8*b +: 8]) wrong[k] = 1'b1;
      end
      present[k] = |s_keep_i[16*k +: 16];
    end
  end

  // Second stage: `words_q` counts the words up to and with this one.
  logic                 taken_q, last_q, error_q, done_q;  // done: the last word has come
  logic                 fresh_q;  // the first cycle after the reset: a clear in the flip-flops costs no logic (nvs_session)
  logic [WordWidth-1:0] words_q, error_word_q;
  always_ff @(posedge clk_i) begin
    wrong_q   <= wrong;
    present_q <= present;
    last_q    <= s_last_i;
    if (take && !error_q && !(taken_q && |wrong_q)) error_word_q <= words_q;
  end

  // The expected end: words, and which beats of the last word.
  logic [WordWidth-1:0] expected_words;
  logic [Beats-1:0]     expected_present;
  logic                 limited, at_end;
  assign limited = expected_beats_i != '0;
  assign at_end  = limited && words_q == expected_words;
  if (Beats == 1) begin : gen_single
    assign expected_words   = expected_beats_i;
    assign expected_present = '1;
    assign error_beat_o     = error_word_q;
  end else begin : gen_several
    logic [Shift-1:0] rest, lane, lane_q;
    assign rest           = expected_beats_i[Shift-1:0];
    assign expected_words = expected_beats_i[63:Shift] + WordWidth'(|rest);
    assign expected_present = rest == '0 ? '1 : ~({Beats{1'b1}} << rest);
    // The first wrong beat of the word.
    always_comb begin
      lane = '0;
      for (int unsigned k = Beats; k > 0; k--) if (wrong_q[k-1]) lane = Shift'(k - 1);
    end
    always_ff @(posedge clk_i) if (!error_q) lane_q <= lane;
    assign error_beat_o = {error_word_q, lane_q};
  end

  logic length_wrong;
  assign length_wrong = limited && (done_q || (last_q ? !at_end || present_q != expected_present : at_end));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) fresh_q <= 1'b1;
    else         fresh_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (fresh_q || start_i) begin
      taken_q        <= 1'b0;
      words_q        <= '0;
      error_q        <= 1'b0;
      length_error_o <= 1'b0;
      done_q         <= 1'b0;
    end else begin
      taken_q <= take;
      if (take) words_q <= words_q + 1'b1;
      if (taken_q) begin
        if (|wrong_q)          error_q        <= 1'b1;
        if (length_wrong)      length_error_o <= 1'b1;
        if (last_q || at_end)  done_q         <= 1'b1;
      end
    end
  end
  assign pattern_error_o = error_q;

`ifdef FORMAL
  `include "formal/nvs_checker.svh"
`endif

endmodule
