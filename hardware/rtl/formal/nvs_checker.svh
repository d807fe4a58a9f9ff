// Properties of nvs_checker. Included in the module under FORMAL. The pattern itself: formal/nvs_pattern.svh.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

logic        f_running_q = 1'b0;
logic [63:0] f_expected_q;
always_ff @(posedge clk_i) begin
  if (rst_ni && start_i) f_running_q <= 1'b1;
  f_expected_q <= expected_beats_i;
end
always_comb begin
  if (f_running_q && !start_i) assume (expected_beats_i == f_expected_q);
  if (start_i || !f_running_q) assume (!s_valid_i);
  // Bytes are kept from byte 0 on, at least one.
  assume (!expected_beats_i[63]);
  if (s_valid_i) assume (s_keep_i[0] && (s_keep_i & (s_keep_i + 1'b1)) == '0);
end

// The results after each word, from the word as it comes.
logic [63:0] f_beats_q, f_end, f_error_beat_q;  // beats before the word, and up to its last byte
logic        f_error_q, f_length_q, f_done_q, f_wrong;
logic [63:0] f_wrong_beat;
always_comb begin
  f_end = f_beats_q;
  f_wrong = 1'b0;
  f_wrong_beat = '0;
  for (integer k = Beats - 1; k >= 0; k--) begin
    if (s_keep_i[16*k]) f_end = f_end + 1'b1;
    for (integer b = 0; b < 16; b++) begin
      if (s_keep_i[16*k+b] && s_data_i[128*k+8*b +: 8] != word[128*k+8*b +: 8]) begin
        f_wrong      = 1'b1;
        f_wrong_beat = f_beats_q + 64'(k);
      end
    end
  end
end
always_ff @(posedge clk_i) begin
  if (start_i) begin
    f_beats_q  <= '0;
    f_error_q  <= 1'b0;
    f_length_q <= 1'b0;
    f_done_q   <= 1'b0;
  end else if (s_valid_i && s_ready_o) begin
    f_beats_q <= f_beats_q + 64'(Beats);
    if (f_wrong) f_error_q <= 1'b1;
    if (f_wrong && !f_error_q) f_error_beat_q <= f_wrong_beat;
    if (expected_beats_i != '0) begin
      if (f_done_q || (s_last_i ? f_end != expected_beats_i : f_beats_q + 64'(Beats) >= expected_beats_i)) f_length_q <= 1'b1;
    end
    if (s_last_i || (expected_beats_i != '0 && f_beats_q + 64'(Beats) >= expected_beats_i)) f_done_q <= 1'b1;
  end
end

// One cycle later they are out.
logic        f_old_error_q, f_old_length_q, f_old_done_q, f_old_q = 1'b0;
logic [63:0] f_old_beat_q;
always_ff @(posedge clk_i) begin
  f_old_q        <= rst_ni && f_running_q && !start_i;
  f_old_error_q  <= f_error_q;
  f_old_length_q <= f_length_q;
  f_old_done_q   <= f_done_q;
  f_old_beat_q   <= f_error_beat_q;
end
always_comb if (rst_ni) begin
  if (f_old_q) begin
    assert (pattern_error_o == f_old_error_q && length_error_o == f_old_length_q && done_q == f_old_done_q);
    if (pattern_error_o) assert (error_beat_o == f_old_beat_q);
  end
  if (f_running_q) assert (64'(words_q) == (f_beats_q >> Shift));
end

// Between the word and its results.
logic f_now;
assign f_now = f_running_q && !start_i;
always_comb if (rst_ni) begin
  assert (!taken_q || f_running_q || fresh_q);
  assert (!f_running_q || f_beats_q % Beats == '0);
  if (f_now) begin
    assert (f_error_q == (error_q || (taken_q && |wrong_q)));
    assert (f_length_q == (length_error_o || (taken_q && length_wrong)));
    assert (f_done_q == (done_q || (taken_q && (last_q || at_end))));
    if (f_error_q) assert (f_error_beat_q[63:Shift] == error_word_q);
    if (limited && !f_done_q) assert (f_beats_q < expected_beats_i);
    if (taken_q && !error_q) assert (error_word_q == words_q - 1'b1);
    assert (f_beats_q == 64'(words_q) << Shift);
  end
  if (f_now && error_q) assert (error_beat_o == f_error_beat_q);
end
if (Beats > 1) begin : gen_f_lane
  always_comb if (rst_ni && f_now && taken_q && |wrong_q && !error_q) assert (f_error_beat_q[Shift-1:0] == gen_several.lane);
end
