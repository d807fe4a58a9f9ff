// Properties of nvs_generator. Included in the module under FORMAL. The pattern itself: formal/nvs_pattern.svh.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

// The packet length is constant from the start on.
logic        f_running_q = 1'b0;
logic [63:0] f_packet_q;
always_ff @(posedge clk_i) begin
  if (rst_ni && start_i) f_running_q <= 1'b1;
  f_packet_q <= packet_beats_i;
end
always_comb begin
  if (f_started && (f_running_q || start_i)) assume (packet_beats_i == f_packet_q);
  assume (!packet_beats_i[63]);
end

// Beats of the open packet that were taken.
logic [63:0] f_beats_q, f_after;
assign f_after = f_beats_q + 64'(Beats);
always_ff @(posedge clk_i) begin
  if (start_i || (move && m_last_o)) f_beats_q <= '0;
  else if (move) f_beats_q <= f_after;
end
always_comb if (rst_ni) begin
  assert (words_q == (f_packet_q - 1'b1) >> Shift);
  assert (!running_q || f_running_q);
  assert (!f_moved_q || f_running_q);
  if (f_running_q && !start_i) begin
    assert (m_last_o == (f_beats_q >> Shift == (packet_beats_i - 1'b1) >> Shift));
    assert (f_beats_q <= packet_beats_i - 1'b1 && left_q == ((packet_beats_i - 1'b1) >> Shift) - (f_beats_q >> Shift));
    assert (f_beats_q % Beats == '0);
    for (integer k = 0; k < Beats; k++) begin
      assert (m_keep_o[16*k +: 16] == {16{!m_last_o || f_beats_q + 64'(k) <= packet_beats_i - 1'b1}});
    end
  end
end

// A word is stable until it is taken; the pattern goes on with each word that is taken, and only then.
logic                 f_waiting_q = 1'b0, f_moved_q = 1'b0, f_new_q = 1'b0, f_stop_q;
logic [DataWidth-1:0] f_word_q;
logic [BeatBytes:0]   f_side_q;
logic [127:0]         f_beat0_q;
always_ff @(posedge clk_i) begin
  f_waiting_q <= rst_ni && m_valid_o && !m_ready_i && !start_i;
  f_moved_q   <= rst_ni && m_valid_o && m_ready_i && !start_i;
  f_new_q     <= rst_ni && start_i;
  f_stop_q    <= stop_i;
  f_word_q    <= m_data_o;
  f_side_q    <= {m_keep_o, m_last_o};
  f_beat0_q   <= beat0_i;
end
// Upper half of the first beat of the next word: times x^(128 Beats); what is shifted out comes back in the lower half.
function automatic logic [127:0] f_next(input logic [127:0] r);
  f_next = (r ^ (r << Beats) ^ (r << (2 * Beats)) ^ (r << (7 * Beats))) & {{64{1'b1}}, 64'b0};
endfunction
always_comb if (rst_ni) begin
  if (f_waiting_q) assert (m_valid_o && m_data_o == f_word_q && {m_keep_o, m_last_o} == f_side_q);
  if (f_moved_q) assert (m_valid_o == !f_stop_q && {m_data_o[127:64], 64'b0} == f_next(f_word_q[127:0]));
  if (f_new_q && Beats == 1) assert (m_valid_o && m_data_o == DataWidth'(f_beat0_q));
end
if (Beats > 1) begin : gen_f_part
  always_comb if (rst_ni && f_running_q && !start_i) assert (gen_part.last_beat_q == packet_beats_i[Shift-1:0] - 1'b1);
end
