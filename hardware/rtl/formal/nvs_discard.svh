// Properties of nvs_discard. Included in the module under FORMAL.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

// Environment: a session runs, starts unless it is refused, and has ended in the first cycle in which it does not run.
logic f_running_q = 1'b0, f_session_q = 1'b0;  // it ran; it has started
always_ff @(posedge clk_i) begin
  f_running_q <= rst_ni && running_i;
  f_session_q <= rst_ni && running_i && (start_i || f_session_q);
end
always_comb begin
  assume (ended_i == (f_running_q && !running_i));
  if (!running_i || f_session_q) assume (!start_i);
  if (s_valid_i && !s_last_i) assume (&s_keep_i);
end

// A request for the end of a session is kept until then, also from before its start.
logic f_armed_q = 1'b0;
always_ff @(posedge clk_i) f_armed_q <= rst_ni && !ended_i && (f_armed_q || (arm_i && running_i));

// Every beat that is taken is passed on or counted, never both; a beat that waits keeps its place.
logic [63:0] f_beats_q;
logic        f_counted_q = 1'b0;
logic [4:0]  f_kept;
always_comb begin
  f_kept = '0;
  for (integer b = 0; b < BeatBytes; b = b + 16) f_kept = f_kept + 5'(s_keep_i[b]);
end
always_ff @(posedge clk_i) begin
  f_counted_q <= rst_ni && s_valid_i && s_ready_o && !m_valid_o && !start_i;
  f_beats_q   <= beats_o + 64'(f_kept);
end
always_comb if (rst_ni) begin
  if (s_valid_i && s_ready_o) assert (m_valid_o ? m_ready_i : active_o);
  if (m_valid_o) assert (s_valid_i && m_data_o == s_data_i && m_keep_o == s_keep_i && m_last_o == s_last_i);
  if (f_counted_q) assert (beats_o == f_beats_q);
  // Discarding never waits.
  if (active_o) assert (s_ready_o);
  // Nothing is discarded while a session runs.
  assert (!(f_session_q && active_o));
  assert (armed_q == f_armed_q);
end

// Discarding begins as requested and ends with the stream's last beat.
logic f_begin_q = 1'b0, f_stops_q = 1'b0, f_abort_q = 1'b0;
always_ff @(posedge clk_i) begin
  f_begin_q <= rst_ni && begin_i && !running_i && !start_i && !(active_o && (end_i || (s_valid_i && s_last_i)));
  f_stops_q <= rst_ni && active_o && !start_i && (end_i || (s_valid_i && s_last_i));
  f_abort_q <= rst_ni && ended_i && (aborted_i || f_armed_q) && !last_i && !(active_o && (end_i || (s_valid_i && s_last_i)));
end
always_comb if (rst_ni) begin
  if (f_begin_q || f_abort_q) assert (active_o);
  if (f_stops_q) assert (!active_o && finished_o);
end
