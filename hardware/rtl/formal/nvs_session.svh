// Properties of nvs_session. Included in the module under FORMAL. The queues, the source and the stream are free within their contracts.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

// Environment: the queues of one drive. A command is outstanding from acceptance to retirement; a flush is alone.
localparam int unsigned FWidth = 6;
logic [FWidth-1:0] f_data_q  [Drives];
logic [Drives-1:0] f_flush_q = '0;
for (genvar d = 0; d < Drives; d++) begin : gen_f_queue
  logic [FWidth-1:0] f_count_q = '0;
  assign f_data_q[d] = f_count_q;
  logic f_accept, f_retire, f_new_q = 1'b0;  // f_new_q: accepted in the cycle before
  assign f_accept = queue_cmd_valid_o[d] && queue_cmd_ready_i[d];
  assign f_retire = queue_retire_valid_i[d] && queue_retire_ready_o[d];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      f_count_q    <= '0;
      f_new_q      <= 1'b0;
      f_flush_q[d] <= 1'b0;
    end else begin
      f_new_q      <= f_accept && !queue_cmd_flush_o;
      f_count_q    <= f_count_q + FWidth'(f_accept && !queue_cmd_flush_o) - FWidth'(f_retire && !queue_retire_flush_i[d]);
      f_flush_q[d] <= (f_flush_q[d] && !f_retire) || (f_accept && queue_cmd_flush_o);
    end
  end
  always_comb begin
    // As nvs_queues: a flush waits for all data commands, and they for it.
    if (f_flush_q[d] || f_count_q >= FWidth'(Slots) || (queue_cmd_flush_o && f_count_q != '0)) assume (!queue_cmd_ready_i[d]);
    assume (queue_retire_flush_i[d] == f_flush_q[d]);
    // A command retires in the third cycle after its acceptance or later.
    if (!f_flush_q[d] && f_count_q == FWidth'(f_new_q)) assume (!queue_retire_valid_i[d]);
    assume (queue_retire_failed_i[d] == (queue_retire_status_i[15*d +: 11] != '0));
    if (!f_flush_q[d] && f_count_q == '0) assume (!queue_late_i[d]);
    assume (queue_idle_i[d] == (!f_flush_q[d] && f_count_q == '0));
    assume (block_shift_i[4*d +: 4] == 4'd9 || block_shift_i[4*d +: 4] == 4'd12);
    assert (!(f_flush_q[d] && f_count_q != '0));
  end
end

// Environment: drives stay up (their loss is tried in co-simulation), the media are constant; a range has few chunks.
logic [64*Drives-1:0] f_media_q;
logic [4*Drives-1:0]  f_shift_q;
logic [63:0]          f_length_q;
logic [31:0]          f_post_q;
always_ff @(posedge clk_i) begin
  f_media_q <= media_blocks_i;
  f_shift_q <= block_shift_i;
  f_length_q <= length_i;
  f_post_q   <= post_chunks_i;
end
always_comb begin
  assume (&ready_i);
  if (f_started) assume (media_blocks_i == f_media_q && block_shift_i == f_shift_q && length_i == f_length_q);
  if (f_started) assume (post_chunks_i == f_post_q);
  assume (source_bytes_i <= ChunkBytes);
  // nvs_ingress offers no more chunks than it was asked for, only the last one of them short, and none when it is done.
  if (any_short_q || ((next_valid_q || made_before_q) && next_bytes_q != ChunkBytes) || source_done_i) assume (!source_valid_i);
  if (made_q + CountWidth'(next_valid_q) + CountWidth'(made_before_q) == total_q && state_q == Run && !ring_q) assume (!source_valid_i);
end

// Counters of what happened, independent of the module's.
logic [CountWidth-1:0] f_made_q = '0;
logic [CountWidth-1:0] f_accepted;
always_comb begin
  f_accepted = '0;
  for (integer d = 0; d < Drives; d++) f_accepted = f_accepted + CountWidth'(queue_cmd_valid_o[d] && queue_cmd_ready_i[d] && !queue_cmd_flush_o);
end
always_ff @(posedge clk_i) begin
  if (!rst_ni || (state_q == Idle && start_i)) begin
    f_made_q <= '0;
  end else begin
    f_made_q <= f_made_q + f_accepted;
  end
end

// Environment of a replay: nvs_egress holds up to three chunks that it was given, and delivers them in order or drops them.
logic [1:0] f_egress_q = '0;
logic       f_give, f_deliver;
assign f_give    = chunk_valid_o && chunk_ready_i;
assign f_deliver = Replay != 0 && delivered_i;
always_ff @(posedge clk_i) begin
  if (!rst_ni || (drop_o && egress_idle_i)) f_egress_q <= '0;
  else f_egress_q <= f_egress_q + 2'(f_give) - 2'(f_deliver);
end
always_comb if (Replay != 0) begin
  if (f_egress_q == 2'd3) assume (!chunk_ready_i);
  if (f_egress_q == 2'd0) assume (!delivered_i);
  if (f_egress_q == 2'd0) assume (egress_idle_i);
  else if (!drop_o) assume (!egress_idle_i);
  if (egress_idle_i) assume (!delivered_i);
end

// A ring: the place of each command is behind that of the command before, or the first one behind the last one. No chunk is made at a place
// where one is under way.
logic [NoWidth-1:0]    f_no_q, f_newest_q;
logic [1:0]            f_drive_q;
logic                  f_wrapped_q;
logic [CountWidth-1:0] f_run_q;  // chunks that succeeded before the first failure, or were delivered
always_ff @(posedge clk_i) begin
  if (state_q == Idle && start_i) begin
    f_no_q      <= first_address_i[63:ChunkShift];
    f_drive_q   <= '0;
    f_wrapped_q <= 1'b0;
  end else if (f_accepted != '0) begin
    f_drive_q <= f_drive_q == 2'(Drives - 1) ? '0 : f_drive_q + 1'b1;
    if (f_drive_q == 2'(Drives - 1)) begin
      f_no_q <= f_no_q == last_q && ring_q ? first_q : f_no_q + 1'b1;
      if (f_no_q == last_q && ring_q) f_wrapped_q <= 1'b1;
    end
  end
  if (!rst_ni || (state_q == Idle && start_i)) f_run_q <= '0;
  else if (Replay != 0 ? delivered_i && !drop_o && running_q : retire_take && !retire_failed && !failed_q && !lost_q) f_run_q <= f_run_q + 1'b1;
end
always_comb if (rst_ni && !fresh_q) begin
  if (queue_cmd_valid_o != '0 && !queue_cmd_flush_o) assert (made_no_q == f_no_q && made_drive_q == f_drive_q);
  if (ended_q && Replay == 0 && refusal_q == '0) assert (next_address_o == {f_no_q, {ChunkShift{1'b0}}} && status_o[13] == f_wrapped_q);
  if (f_accepted != '0 && ring_q) assert ({1'b0, last_q} - {1'b0, first_q} + 1'b1 >= (NoWidth + 1)'(Slots));
  if (!ring_q) assert (!status_o[13] && !status_o[14] && !status_o[15] && !hold_o);
  if (ended_q && Replay == 0 && ring_q) assert (status_o[15] == (f_made_q != f_run_q));
  if (started_o && ring_q) assert (source_chunks_o == (post_chunks_i == '0 ? 40'd1 : 40'(post_chunks_i)));
end
// The trigger counts from START on until the stream has ended.
logic f_triggered_q = 1'b0;
always_ff @(posedge clk_i) f_triggered_q <= rst_ni && !(state_q == Idle && start_i)
  && (f_triggered_q || (trigger_i && ring_q && (state_q == Order || state_q == Media || state_q == Count || state_q == Total || state_q == Run)));
always_comb if (rst_ni) begin
  assert (triggered_o == f_triggered_q && status_o[14] == f_triggered_q);
  assert (hold_o == (ring_q && !f_triggered_q));
end

// Bytes of the chunks that succeeded before the first failure, by the sizes that were given with their commands; of a replay, of those that
// were delivered.
logic [SizeWidth-1:0] f_size_q [8];
logic [2:0]           f_size_in_q = '0, f_size_mid_q = '0, f_size_out_q = '0;
logic [63:0]          f_bytes_q = '0;
always_ff @(posedge clk_i) begin
  if (!rst_ni || (state_q == Idle && start_i)) begin
    f_size_in_q  <= '0;
    f_size_mid_q <= '0;
    f_size_out_q <= '0;
    f_bytes_q    <= '0;
  end else begin
    if (f_accepted != '0) begin
      f_size_q[f_size_in_q] <= next_bytes_q;
      f_size_in_q <= f_size_in_q + 1'b1;
    end
    if (retire_take) f_size_mid_q <= f_size_mid_q + 1'b1;
    if (Replay == 0 ? retire_take : delivered_i) f_size_out_q <= f_size_out_q + 1'b1;
    if (Replay != 0 && delivered_i && !drop_o) f_bytes_q <= f_bytes_q + 64'(f_size_q[f_size_out_q]);
    if (Replay == 0 && retire_take && !retire_failed && !failed_q && !lost_q) f_bytes_q <= f_bytes_q + 64'(f_size_q[f_size_out_q]);
  end
end

// From the second cycle after the reset on, when the counters have begun.
always_comb if (rst_ni && !fresh_q) begin
  // Commands: one at a time, counted, in the range and on the drives in turn.
  assert (f_accepted <= 1);
  assert (f_made_q == made_q + CountWidth'(made_before_q));
  assert (made_drive_q < Drives && retired_drive_q < Drives);
  if (queue_cmd_valid_o != '0) assert (state_q == Run || state_q == Flush);
  if (queue_cmd_valid_o != '0 && !queue_cmd_flush_o) begin
    assert (refusal_q == '0 && !failed_q);
    assert (queue_cmd_blocks_o != '0);
    assert (made_no_q >= first_q && made_no_q <= last_q);
  end
  // The run: whole chunks, but for the last one of a stream.
  assert (bytes_o + (run_add_q ? 64'(run_bytes_q) : 64'd0) == f_bytes_q);
  if (ended_q) assert (!run_add_q);
  // A replay hands on what its command read, until it fails or is stopped; nothing is under way at its end.
  if (f_give) assert (Replay != 0 && chunk_bytes_o == f_size_q[f_size_mid_q] && !failed_q && !lost_q && !stopped_q);
  if (Replay != 0 && (state_q == Idle || state_q == Total)) assert (f_egress_q == '0 || stopped_q || lost_q);
  if (Replay != 0 && ended_q && status_o[1]) assert (run == total_q && bytes_o == f_bytes_q);
  // All chunks of the range, or of LENGTH, are the session's.
  if (state_q == Run && !length_short_q && !ring_q) assert ((NoWidth + 3)'(total_q) == (NoWidth + 3)'(Drives) * ((NoWidth + 3)'(last_q - first_q) + 1'b1));
  if (state_q == Run && length_short_q) assert ((NoWidth + 1)'(total_q) == length_chunks_q && length_chunks_q <= (NoWidth + 1)'(total));
  if (state_q == Run && !length_short_q && Replay != 0) assert (length_chunks_q == '0);
  // What is reported was completed, and what was completed was made.
  if (ended_q) assert (any_run_q == (f_run_q != '0));
  assert (retired_q <= made_q);
  // Nothing is outstanding when no session runs.
  for (integer d = 0; d < Drives; d++) begin
    if (state_q == Idle || state_q == Order || state_q == Media || state_q == Count || state_q == Total)
      assert (f_data_q[d] == '0 && !f_flush_q[d]);
  end
  assert (running_q == (state_q != Idle) && started_q == (state_q == Total));
  // Status: refused, or ended in exactly one way.
  if (status_o[0]) assert (!ended_q);
  if (ended_q) assert (status_o[1] + status_o[3] + status_o[4] <= 1);
  if (status_o[1]) assert (status_o[8:5] == '0);
  assert (durable_bytes_o <= bytes_o);
  // An ABORT, first or behind a STOP, is followed by a flush.
  if (Replay == 0 && ended_q && status_o[4] && !status_o[8]) assert (durable_bytes_o == bytes_o);
end

// An ABORT while a session is stopped makes it an aborted one.
logic f_abort_q = 1'b0;
always_ff @(posedge clk_i) f_abort_q <= rst_ni && abort_i && stopped_q && state_q != Idle;
always_comb if (rst_ni && f_abort_q) assert (status_o[4]);

// A flush that succeeded makes the whole run durable, and nothing else does.
logic        f_flushed_q = 1'b0, f_kept_q = 1'b0;
logic [63:0] f_run_bytes_q, f_durable_q;
always_ff @(posedge clk_i) begin
  f_flushed_q   <= rst_ni && flushing && (&flush_done_q) && !failed_q && !lost_q && !fails;
  f_kept_q      <= rst_ni && !fresh_q && !(flushing && (&flush_done_q)) && !(state_q == Idle && start_i);
  f_run_bytes_q <= bytes_o;
  f_durable_q   <= durable_bytes_o;
end
always_comb if (rst_ni) begin
  if (f_flushed_q) assert (durable_bytes_o == f_run_bytes_q);
  if (f_kept_q) assert (durable_bytes_o == f_durable_q);
end

// FLUSH_AFTER_WRITE while a recording runs, and an ABORT at any time before its end, are followed by a flush; STOP alone is not.
logic f_flush_after_q = 1'b0;
always_ff @(posedge clk_i) begin
  if (!rst_ni || (state_q == Idle && start_i)) f_flush_after_q <= rst_ni && flush_after_i;
  else if (abort_i ? state_q == Run || state_q == Drain || state_q == Flush : flush_after_i && state_q == Run) f_flush_after_q <= 1'b1;
end
always_comb if (rst_ni && Replay == 0 && ended_q && f_flush_after_q && !status_o[3] && !status_o[8]) begin
  assert (durable_bytes_o == bytes_o);
end
