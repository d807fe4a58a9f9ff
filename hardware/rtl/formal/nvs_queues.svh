// Properties of nvs_queues. Included in the module under FORMAL.
//
// The drive is free: it may write any completion entry at any time. So the properties hold for a faulty drive, too.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

logic [TagWidth-1:0] f_cmd_tag;  // of a data command that is accepted
assign f_cmd_tag = accepted_q[TagWidth-1:0];
logic [TagWidth:0] unretired;
assign unretired = accepted_q - retired_q;

// Model of the tags: what each one was last seen to do.
logic [Tags-1:0] f_busy_q = '0;       // accepted, not retired
logic [Tags-1:0] f_answered_q = '0;   // completed, not retired
logic [TagWidth-1:0] f_next_retire_q = '0;
logic [IndexWidth:0] f_unfetched_q = '0;  // accepted and not completed: the drive may still have to read their records
always_ff @(posedge clk_i) begin
  if (!rst_ni || clear_i) begin
    f_busy_q        <= '0;
    f_answered_q    <= '0;
    f_next_retire_q <= '0;
    f_unfetched_q   <= '0;
  end else begin
    if (accept_data) f_busy_q[f_cmd_tag] <= 1'b1;
    if (cqe_done && cqe_of_data) f_answered_q[cqe_tag] <= 1'b1;
    if (retire && !retire_flush_o) begin
      f_busy_q[head_tag]     <= 1'b0;
      f_answered_q[head_tag] <= 1'b0;
      f_next_retire_q <= f_next_retire_q + 1'b1;
    end
    f_unfetched_q <= f_unfetched_q + (IndexWidth + 1)'(accept) - (IndexWidth + 1)'(cqe_done);
  end
end

// Distance of each tag from the next one to retire.
logic [TagWidth-1:0] f_from_retired [Tags];
for (genvar t = 0; t < Tags; t++) begin : gen_f_distance
  assign f_from_retired[t] = TagWidth'(t) - retired_q[TagWidth-1:0];
end

always_comb if (rst_ni) begin
  // Counters stay in order and in range.
  assert (unretired <= Tags && unretired_q == unretired && none_q == (unretired == '0) && free_q == (unretired != Tags));
  assert (f_unfetched_q < Entries);
  // Exactly the tags between the counters are in the state that the counters say.
  for (integer t = 0; t < Tags; t++) begin
    assert (f_busy_q[t] == ({1'b0, f_from_retired[t]} < unretired));
    assert (outstanding_q[t] == (f_busy_q[t] && !f_answered_q[t]));
    assert (!f_answered_q[t] || f_busy_q[t]);
  end
  assert (f_next_retire_q == retired_q[TagWidth-1:0]);
  // A command gets a free tag, retires in order and only when it was answered.
  if (accept_data) assert (!f_busy_q[f_cmd_tag]);
  if (retire && !retire_flush_o) assert (f_answered_q[head_tag] && head_tag == f_next_retire_q);
  if (retire_valid_o) assert (retire_flush_o ? flush_complete_q : f_answered_q[head_tag]);
  // A completion has the identifier of a command that is outstanding.
  if (cqe_good) begin
    assert (cqe_cid_i < Tags ? f_busy_q[cqe_tag] && !f_answered_q[cqe_tag] : cqe_cid_i == Tags && flush_busy_q && !flush_complete_q);
  end
  // The flush is alone.
  if (flush_busy_q) assert (unretired == '0 && !(cmd_valid_i && cmd_ready_o));
  assert (!flush_complete_q || flush_busy_q);
end

// Unanswered commands are counted as many as are outstanding.
logic [IndexWidth:0] f_outstanding;
always_comb begin
  f_outstanding = (IndexWidth + 1)'(flush_busy_q && !flush_complete_q);
  for (integer t = 0; t < Tags; t++) f_outstanding = f_outstanding + (IndexWidth + 1)'(f_busy_q[t] && !f_answered_q[t]);
  if (rst_ni) assert (f_unfetched_q == f_outstanding);
end

// A chosen command's status is the one that the drive gave, its place the one that it was accepted with.
logic                f_pick, f_place;
logic                f_picked_q = 1'b0, f_placed_q = 1'b0;
logic [TagWidth-1:0] f_tag_q, f_placed_tag_q;
logic [14:0]         f_status_q;
logic [PageWidth:0]  f_place_q;
always_ff @(posedge clk_i) begin
  if (!rst_ni || clear_i) f_picked_q <= 1'b0;
  else if (cqe_done && cqe_of_data && f_pick) begin
    f_picked_q <= 1'b1;
    f_tag_q    <= cqe_tag;
    f_status_q <= cqe_status_i;
  end else if (retire && !retire_flush_o && head_tag == f_tag_q) f_picked_q <= 1'b0;
  if (!rst_ni || clear_i) f_placed_q <= 1'b0;
  else if (accept_data && f_place) begin
    f_placed_q     <= 1'b1;
    f_placed_tag_q <= f_cmd_tag;
    f_place_q      <= {cmd_page_i, cmd_last_i};
  end else if (retire && !retire_flush_o && head_tag == f_placed_tag_q) f_placed_q <= 1'b0;
end
always_comb if (rst_ni) begin
  if (f_picked_q) assert (f_answered_q[f_tag_q] && status_q[f_tag_q] == f_status_q);
  if (f_picked_q && retire_valid_o && !retire_flush_o && head_tag == f_tag_q) begin
    assert (retire_status_o == f_status_q && retire_failed_o == (f_status_q[10:0] != '0));
  end
  if (f_placed_q) assert (f_busy_q[f_placed_tag_q] && places[f_placed_tag_q] == f_place_q);
  if (f_placed_q && retire_valid_o && !retire_flush_o && head_tag == f_placed_tag_q) assert ({retire_page_o, retire_last_o} == f_place_q);
end

// A retirement is stable until it is taken.
logic                f_retire_waiting_q = 1'b0;
logic [TagWidth-1:0] f_retire_tag_q;
always_ff @(posedge clk_i) begin
  f_retire_waiting_q <= rst_ni && !clear_i && retire_valid_o && !retire_ready_i;
  f_retire_tag_q     <= head_tag;
end
always_comb if (rst_ni && f_retire_waiting_q) assert (retire_valid_o && head_tag == f_retire_tag_q);

// A command that has completed is offered for retirement in the next cycle, unless one retires in this one.
logic f_due_q = 1'b0;
always_ff @(posedge clk_i) f_due_q <= rst_ni && !clear_i && !retire && (flush_busy_q ? flush_complete_q : f_answered_q[head_tag]);
always_comb if (rst_ni && f_due_q) assert (retire_valid_o);

// Doorbells report every command and every completion, and nothing else: distance between reported and own pointer.
logic [IndexWidth-1:0] f_new_q = '0, f_taken_q = '0;  // since the last doorbell
always_ff @(posedge clk_i) begin
  if (!rst_ni || clear_i) begin
    f_new_q   <= '0;
    f_taken_q <= '0;
  end else begin
    f_new_q   <= (sq_db_valid_o && sq_db_ready_i ? '0 : f_new_q) + IndexWidth'(submit);
    f_taken_q <= (cq_db_valid_o && cq_db_ready_i ? '0 : f_taken_q) + IndexWidth'(cqe_good);
  end
end
always_comb if (rst_ni) begin
  assert (IndexWidth'(sq_tail_q - sq_reported_q) == f_new_q);
  assert (cq_unreported == f_taken_q);
  if (idle_o) assert (unretired == '0 && !flush_busy_q && f_new_q == '0 && f_taken_q == '0);
  if (f_idle_q) assert (idle_o);
end
// It is idle when it was in the cycle before, in which no command came.
logic f_idle_q = 1'b0;
always_ff @(posedge clk_i) begin
  f_idle_q <= rst_ni && !clear_i && unretired == '0 && !flush_busy_q && f_new_q == '0 && f_taken_q == '0 && !(cmd_valid_i && cmd_ready_o);
end

// Head doorbells are due when a batch is complete, or nothing is outstanding.
logic f_due_cq_q = 1'b0;
always_ff @(posedge clk_i) begin
  f_due_cq_q <= rst_ni && !clear_i && !(cq_db_valid_o && cq_db_ready_i)
             && (f_taken_q >= HeadBatch || (f_taken_q != '0 && f_outstanding == '0 && f_busy_q == '0 && !flush_busy_q));
end
always_comb if (rst_ni) assert (cq_db_valid_o == f_due_cq_q);

// A failure is final when it says so, or when the command was sent again as often as it may be; a success is final at once. A command that
// is to be sent again is sent in the first cycle without a new command, after those that failed before it; it delays no new one.
logic                f_await, f_awaits_q = 1'b0;  // a chosen one waits
logic [TagWidth:0]   f_awaits_at_q, f_before, f_waiting;
logic [TagWidth+2:0] f_awaited_q;
assign f_before  = f_awaits_at_q - again_out_q;  // before it
assign f_waiting = again_in_q - again_out_q;
always_ff @(posedge clk_i) begin
  if (!rst_ni || clear_i) f_awaits_q <= 1'b0;
  else if (cqe_again && f_await && !f_awaits_q) begin
    f_awaits_q    <= 1'b1;
    f_awaits_at_q <= again_in_q;
    f_awaited_q   <= {cqe_tries + 2'd1, cqe_of_flush, cqe_tag};
  end else if (submit && !accept && f_before == '0) f_awaits_q <= 1'b0;
end
// It can be accepted when it could in the cycle before, in which none was.
logic f_flush_ready_q = 1'b0, f_data_ready_q = 1'b0;
always_ff @(posedge clk_i) begin
  f_flush_ready_q <= rst_ni && !clear_i && !flush_busy_q && unretired == '0 && !(cmd_valid_i && cmd_ready_o);
  f_data_ready_q  <= rst_ni && !clear_i && !flush_busy_q && unretired != Tags && !(cmd_valid_i && cmd_ready_o);
end
always_comb if (rst_ni) begin
  assert (f_waiting <= Tags);
  if (f_awaits_q) begin
    assert (f_before < f_waiting && again[f_awaits_at_q[TagWidth-1:0]] == f_awaited_q);
    if (submit && !accept && f_before == '0) begin
      assert ({resend_try, submit_flush, submit_tag} == {f_awaited_q[TagWidth+2 -: 2], f_awaited_q[TagWidth:0]});
    end
    assert (submit);
  end
  assert (cmd_ready_o == (cmd_flush_i ? f_flush_ready_q : f_data_ready_q));
  if (cmd_ready_o) assert (!flush_busy_q && (cmd_flush_i ? unretired == '0 : unretired != Tags));
  if (cqe_done) assert (cqe_good && (cqe_status_i[10:0] == '0 || cqe_status_i[14] || cqe_tries >= Retries || f_waiting == Tags));
  if (cqe_again) assert (cqe_good && cqe_status_i[10:0] != '0 && !cqe_status_i[14] && cqe_tries < Retries);
  for (integer t = 0; t < Tags; t++) begin
    if (outstanding_q[t]) assert (tries[t] <= Retries);
    if ({1'b0, TagWidth'(TagWidth'(t) - again_out_q[TagWidth-1:0])} < f_waiting) begin
      assert (again[t][TagWidth+2 -: 2] <= Retries);
      if (again[t][TagWidth]) assert (again[t][TagWidth-1:0] == '0);
    end
  end
  if (flush_busy_q) assert (tries[Tags] <= Retries);
end

// The oldest outstanding command: all before it are complete. An age, and lateness, are those of a command without a completion.
logic f_waits_q = 1'b0, f_waited_q = 1'b0;  // a cycle before, two
always_ff @(posedge clk_i) begin
  f_waits_q  <= rst_ni && !clear_i && f_outstanding != '0;
  f_waited_q <= rst_ni && !clear_i && f_waits_q;
end
always_comb if (rst_ni) begin
  assert ((TagWidth + 1)'(accepted_q - oldest_q) <= unretired);
  for (integer t = 0; t < Tags; t++) begin
    if ({1'b0, f_from_retired[t]} < (TagWidth + 1)'(oldest_q - retired_q)) assert (!outstanding_q[t]);
  end
  if (waits_q) assert (f_waits_q);
  if (age_us_o != '0 || late_o) assert (f_waited_q);
end
