// Properties of nvs_index. Included in the module under FORMAL.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

// Environment: beats come only between a session's start and its end, and the end is a level until the next start.
logic f_running_q = 1'b0;
always_ff @(posedge clk_i) f_running_q <= rst_ni && (start_i || (f_running_q && !end_i));
always_comb begin
  if (!f_running_q || end_i) assume (!beat_i);
  if (f_running_q) assume (!start_i);
  if (start_i || (f_running_q && beat_q)) assume (!end_i);
end

// What happened in the cycle before, counted by itself.
logic                  f_beat_q = 1'b0, f_last_q;
logic [BeatBytes-1:0]  f_keep_q;
logic [CountWidth-1:0] f_beats_q = '0;  // of the session, before that beat
logic [KeptWidth-1:0]  f_kept;
always_ff @(posedge clk_i) begin
  f_beat_q  <= rst_ni && beat_i;
  f_last_q  <= last_i;
  f_keep_q  <= keep_i;
  f_beats_q <= !rst_ni || start_i ? '0 : f_beats_q + CountWidth'(f_beat_q);
end
logic f_whole;
always_comb begin
  f_kept  = '0;
  f_whole = 1'b1;  // bytes without a hole
  for (integer b = 0; b < BeatBytes; b++) f_kept = f_kept + KeptWidth'(f_keep_q[b]);
  for (integer b = 1; b < BeatBytes; b++) if (f_keep_q[b] && !f_keep_q[b-1]) f_whole = 1'b0;
end

// Beats that need an entry, and sessions' ends: each one has it at once.
logic f_begins, f_ends_q = 1'b0, f_done_q = 1'b1;  // f_done_q: the end has its entry
assign f_begins = f_beat_q && (f_beats_q % CountWidth'(ChunkPages * PageBytes / BeatBytes)) == '0;
always_ff @(posedge clk_i) f_done_q <= !rst_ni || (!start_i && (f_done_q || end_i));
logic f_due;
assign f_due = f_begins || (f_beat_q && f_last_q) || (end_i && !f_done_q) || (trigger_i && !f_done_q && !f_triggered_q);
logic f_triggered_q = 1'b0;
always_ff @(posedge clk_i) f_triggered_q <= rst_ni && !start_i && (f_triggered_q || (trigger_i && !f_done_q));

always_comb if (rst_ni) begin
  assert (write == f_due);
  assert (active_q == !f_done_q && triggered_q == f_triggered_q);
  assert (beat_q == f_beat_q && position_q == f_beats_q);
  if (beat_q) assert (last_q == f_last_q && keep_q == f_keep_q);
  if (f_beat_q) assert (!f_done_q && !ends);
end

// A chosen entry stays until its place is written again.
logic                  f_pick, f_inside_q = 1'b0;
logic [31:0]           f_number_q;
logic [EntryWidth-1:0] f_value_q;
always_ff @(posedge clk_i) begin
  if (!rst_ni) f_inside_q <= 1'b0;
  else if (write && f_pick && !f_inside_q) begin
    f_inside_q <= 1'b1;
    f_number_q <= count_o;
    f_value_q  <= {end_i && !f_done_q ? how_i : 2'd0, f_beat_q ? (f_last_q ? f_kept : KeptWidth'(BeatBytes)) : KeptWidth'(0), time_q,
                   end_i && !f_done_q, trigger_i && !f_done_q && !f_triggered_q, f_beat_q && f_last_q, f_begins, f_beats_q};
    if (f_beat_q && f_last_q && !f_whole) f_inside_q <= 1'b0;  // its session ends with PROTOCOL_ERROR
  end else if (f_inside_q && write && 32'(count_o - f_number_q) == 32'(Entries)) f_inside_q <= 1'b0;
end
always_comb if (rst_ni && f_inside_q) begin
  assert (32'(count_o - f_number_q) >= 1 && 32'(count_o - f_number_q) <= 32'(Entries));
  assert (memory[f_number_q[PtrWidth-1:0]] == f_value_q);
end

// An entry that is selected shows until another one is selected or it is overwritten.
logic [1:0] f_shown_q = '0;
always_ff @(posedge clk_i) begin
  f_shown_q[0] <= rst_ni && f_inside_q && select_valid_i && select_i == f_number_q;
  f_shown_q[1] <= rst_ni && f_inside_q && !select_valid_i && f_shown_q != '0;
end
always_comb if (rst_ni && f_inside_q && f_shown_q[1]) assert (entry_q == f_value_q);

// Time counts pulses.
logic                 f_tick_q = 1'b0;
logic [TimeWidth-1:0] f_time_q = '0;
always_ff @(posedge clk_i) begin
  f_tick_q <= rst_ni && tick_i;
  f_time_q <= rst_ni ? time_q : '0;
end
always_comb if (rst_ni) assert (time_q == f_time_q + TimeWidth'(f_tick_q));
