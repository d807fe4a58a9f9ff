// Properties of nvs_ingress. Included in the module under FORMAL.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

// Environment: memory acknowledges only finished bursts; only commands that were taken are released; only the last beat is partial.
logic f_begins;
assign f_begins = start_i && done_o;
logic [UsedWidth-1:0] f_taken_q = '0;  // commands taken and not released
always_ff @(posedge clk_i) f_taken_q <= !rst_ni || f_begins ? '0 : f_taken_q + UsedWidth'(pop) - UsedWidth'(release_i);
always_comb begin
  if (written_q == acknowledged_q) assume (!b_valid_i);
  if (f_taken_q == '0 || f_begins) assume (!release_i);
  if (s_valid_i) assume (s_keep_i[0]);
end
logic f_packets_q, f_hold_q = 1'b0;
always_ff @(posedge clk_i) begin
  f_packets_q <= packets_i;
  f_hold_q    <= rst_ni && hold_i;
end
always_comb if (f_started) begin
  if (!done_o) assume (packets_i == f_packets_q);
  if (hold_i && !f_hold_q) assume (done_o);
  if (hold_i && start_i) assume (chunks_i != '0);
end

// Beats that break a rule, looked at bit by bit. Bytes are counted up to the first of them.
logic f_keep_wrong, f_keep_q = 1'b0, f_spoilt_q = 1'b0;
always_comb begin
  f_keep_wrong = !s_last_i && s_keep_i != '1;
  for (integer b = 1; b < BeatBytes; b++) if (s_keep_i[b] && !s_keep_i[b-1]) f_keep_wrong = 1'b1;
end
always_ff @(posedge clk_i) begin
  f_keep_q   <= rst_ni && s_valid_i && s_ready_o && f_keep_wrong;
  f_spoilt_q <= rst_ni && (f_spoilt_q || (s_valid_i && s_ready_o && f_keep_wrong));
end
always_comb if (rst_ni) assert (keep_error_o == f_keep_q);

// Bytes of the beat, counted one by one.
logic [SizeWidth-1:0] f_kept;
always_comb begin
  f_kept = '0;
  for (integer b = 0; b < BeatBytes; b++) f_kept = f_kept + SizeWidth'(s_keep_i[b] || packets_i);
end

// Chunks that begin, counted while they are not held: no more than the session may have.
logic [39:0] f_begun_q = '0, f_chunks_q = '0;
always_ff @(posedge clk_i) begin
  if (!rst_ni || f_begins) f_begun_q <= '0;
  else if (w_valid_o && f_position_q == '0 && !hold_i) f_begun_q <= f_begun_q + 1'b1;
  if (!rst_ni) f_chunks_q <= '0;
  else if (f_begins) f_chunks_q <= chunks_i;
end
// The end of a packet ends the stream, unless there may be several.
logic f_last_q = 1'b0;
always_ff @(posedge clk_i) f_last_q <= rst_ni && take && s_last_i && !packets_i;

// Position in the open chunk, counted in beats, independent of the module's counters.
logic [PageWidth+BeatWidth-1:0] f_position_q = '0;
logic [SlotWidth+1:0]           f_chunk_q = '0;  // complete chunks of the session, modulo 4 * Slots
logic [SizeWidth-1:0]           f_size_q = '0;
logic                           f_burst_q = 1'b0;  // a burst is open
logic [BeatWidth-1:0]           f_in_burst_q = '0;
always_ff @(posedge clk_i) begin
  if (!rst_ni) begin
    f_position_q <= '0;
    f_chunk_q    <= '0;
    f_size_q     <= '0;
    f_burst_q    <= 1'b0;
    f_in_burst_q <= '0;
  end else begin
    if (chunk_end || (active_q && (stop_i || close_i) && !f_burst_q)) f_position_q <= '0;
    else if (w_valid_o) f_position_q <= f_position_q + 1'b1;
    if (f_begins) f_chunk_q <= '0;
    else if (push_q) f_chunk_q <= f_chunk_q == (SlotWidth + 2)'(Slots * Drives - 1) ? '0 : f_chunk_q + 1'b1;
    if (chunk_end || (active_q && (stop_i || close_i) && !f_burst_q)) f_size_q <= '0;
    else if (take) f_size_q <= f_size_q + f_kept;
    if (w_valid_o) begin
      f_burst_q    <= !w_last_o;
      f_in_burst_q <= w_last_o ? '0 : f_in_burst_q + 1'b1;
    end
  end
end

logic f_room_q = 1'b0;
always_ff @(posedge clk_i) f_room_q <= rst_ni && used_q != Slots * Drives && pending_count != Pending && left_q != '0 && !ended_q && !chunk_end;

always_comb if (rst_ni) begin
  assert ({page_q, beat_q} == f_position_q);
  assert (beat_q == f_in_burst_q && f_burst_q == (f_in_burst_q != '0));
  assert (at_page_q == !f_burst_q && at_chunk_q == (f_position_q == '0));
  assert (f_chunk_q == (SlotWidth + 2)'(slot_q) * (SlotWidth + 2)'(Drives) + (SlotWidth + 2)'(drive_q));
  assert (drive_q < 3'(Drives));
  if (!ended_q && !f_spoilt_q) assert (size == f_size_q);
  assert (more_q == (left_q != '0));
  assert (f_begun_q <= f_chunks_q && left_q == f_chunks_q - f_begun_q);
  if (f_last_q) assert (ended_o && !s_ready_o);
  if (ended_o) assert (f_last_q || f_ended_q || f_closed_q);
  // Every beat that is taken goes to memory in the same cycle, unchanged; nothing else does but zeroes.
  assert (!(s_valid_i && s_ready_o) || (w_valid_o && w_ready_i));
  if (take) begin
    for (integer b = 0; b < BeatBytes; b++) assert (w_data_o[8*b +: 8] == (s_keep_i[b] || !s_last_i ? s_data_i[8*b +: 8] : 8'h00));
  end else if (w_valid_o) assert (w_data_o == '0);
  // One address per burst, with its first beat; a burst ends with its page.
  assert (!aw_valid_o || (w_valid_o && !f_burst_q && aw_ready_i));
  assert (!w_valid_o || f_burst_q || aw_valid_o);
  if (w_valid_o) assert (w_last_o == (f_in_burst_q == BeatWidth'(PageBeats - 1)));
  if (aw_valid_o) assert (aw_addr_o == {1'b0, 2'(f_chunk_q % (SlotWidth + 2)'(Drives)), SlotWidth'(f_chunk_q / (SlotWidth + 2)'(Drives)),
                                        f_position_q, {BeatShift{1'b0}}});
  // The slot is free: every other use of it has been released.
  assert (used_q <= Slots * Drives && slot_free_q == (used_q != Slots * Drives));
  if (w_valid_o) assert (used_q < Slots * Drives && !ended_q);
  assert (f_taken_q <= used_q);
  assert (used_q - f_taken_q == UsedWidth'(pending_count));
  // Page counters never lap each other.
  assert (CountWidth'(written_q - acknowledged_q) < (CountWidth'(1) << (CountWidth - 1)));
  assert (!(padding_q && !f_burst_q));
  assert (!(give_up_q && !padding_q));
  if (!active_q && !padding_q) assert (f_position_q == '0);
  if (done_o || (acknowledged_all_q && !active_q && !padding_q && !ended_q)) assert (written_q == acknowledged_q);
  // A chunk has room when it had in the cycle before, in which none ended.
  assert (room_q == f_room_q);
  if (room_q && at_chunk_q && active_q) assert (used_q < Slots * Drives && pending_count != Pending && left_q != '0 && !ended_q);
  // An open burst is completed although the stream has ended, and a ready stream is taken.
  assert (!(f_burst_q && ended_q));
  if (f_burst_q && w_ready_i) assert (padding_q ? w_valid_o : !active_q || stop_i || close_i || s_ready_o);
  assert (!f_burst_q || active_q || padding_q);
  // A stream that ended or was given up is not continued.
  if (last_q || give_up_q) assert (!active_q);
end

logic f_ended_q = 1'b0;
always_ff @(posedge clk_i) f_ended_q <= rst_ni && !f_begins && (f_ended_q || f_last_q);

// Bytes of the chunk that ended in the cycle before; of one that was given up, in DROPPED_BEATS from the next cycle on.
logic [SizeWidth-1:0] f_ended_size_q, f_dropped_q;
logic                 f_given_up_q = 1'b0;
always_ff @(posedge clk_i) begin
  f_ended_size_q <= f_size_q + (take ? f_kept : '0);
  f_dropped_q    <= ended_q ? f_ended_size_q : f_size_q;
  f_given_up_q   <= rst_ni && !(start_i && done_o) && ((ended_q && !push_q) || (active_q && stop_i && at_page_q && !ended_q));
end
always_comb if (rst_ni && f_given_up_q && !f_spoilt_q) assert (dropped_o == f_dropped_q);

// A chosen chunk: its command comes after all its pages were acknowledged, with its size.
logic                             f_pick;  // free
logic                             f_inside_q = 1'b0;
logic [CountWidth-1:0]            f_pages_q;  // pages up to its last that are not acknowledged
logic [$clog2(Pending):0]         f_ahead_q;  // descriptors before it
logic [SizeWidth-1:0]             f_bytes_q;
always_ff @(posedge clk_i) begin
  if (!rst_ni) f_inside_q <= 1'b0;
  else if (f_inside_q) begin
    if (b_valid_i && f_pages_q != '0) f_pages_q <= f_pages_q - 1'b1;
    if (pop) begin
      if (f_ahead_q == '0) f_inside_q <= 1'b0;
      else f_ahead_q <= f_ahead_q - 1'b1;
    end
  end else if (push_q && f_pick) begin
    f_inside_q <= 1'b1;
    f_pages_q  <= written_q - acknowledged_q - CountWidth'(b_valid_i);
    f_ahead_q  <= pending_count - ($clog2(Pending) + 1)'(pop);
    f_bytes_q  <= f_ended_size_q;
  end
end
always_comb if (rst_ni && f_inside_q && f_ahead_q == '0 && pop) assert (f_pages_q == '0 && (f_spoilt_q || cmd_bytes_o == f_bytes_q));

// A chunk in which the stream was stopped never becomes a command.
logic f_stopped_q = 1'b0;
always_ff @(posedge clk_i) begin
  if (!rst_ni || chunk_end) f_stopped_q <= 1'b0;
  else if (active_q && stop_i && f_burst_q) f_stopped_q <= 1'b1;
end
logic f_was_stopped_q = 1'b0;  // in the cycle before
always_ff @(posedge clk_i) f_was_stopped_q <= rst_ni && f_stopped_q;
always_comb if (rst_ni) begin
  if (f_stopped_q) assert (!active_q);
  if (f_was_stopped_q) assert (!push_q);
end

// A stream that was closed takes no further beat, and what it gave of the open chunk becomes a command.
logic f_closed_q = 1'b0, f_kept_open_q = 1'b0;
always_ff @(posedge clk_i) begin
  f_closed_q    <= rst_ni && !f_begins && (f_closed_q || (active_q && close_i && !stop_i));
  f_kept_open_q <= rst_ni && !push_q && (f_kept_open_q || (active_q && close_i && !stop_i && !at_chunk_q));
end
always_comb if (rst_ni) begin
  if (f_closed_q) assert (ended_o && !active_q && !give_up_q && !s_ready_o);
  if (f_kept_open_q) assert (!done_o && (padding_q || push_q));
end
