// Properties of nvs_queues. Included in the module under FORMAL.
//
// The drive is free: it may write any completion entry at any time. So the properties hold for a faulty drive, too.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

logic [SlotWidth-1:0] f_cmd_slot;  // of a data command that is accepted
assign f_cmd_slot = accepted_q[SlotWidth-1:0];
logic [SlotWidth:0] in_use, unretired;
assign in_use    = accepted_q - released_q;
assign unretired = accepted_q - retired_q;

// Model of the slots: what each one was last seen to do.
logic [Slots-1:0] f_busy_q = '0;       // accepted, not retired
logic [Slots-1:0] f_answered_q = '0;   // completed, not retired
logic [Slots-1:0] f_kept_q = '0;       // retired, not released
logic [SlotWidth-1:0] f_next_retire_q = '0, f_next_release_q = '0;
logic [IndexWidth:0] f_unfetched_q = '0;  // accepted and not completed: the drive may still have to read their records
always_ff @(posedge clk_i) begin
  if (!rst_ni || clear_i) begin
    f_busy_q         <= '0;
    f_answered_q     <= '0;
    f_kept_q         <= '0;
    f_next_retire_q  <= '0;
    f_next_release_q <= '0;
    f_unfetched_q    <= '0;
  end else begin
    if (accept_data) f_busy_q[f_cmd_slot] <= 1'b1;
    if (cqe_done && cqe_of_data) f_answered_q[cqe_slot] <= 1'b1;
    if (retire && !retire_flush_o) begin
      f_busy_q[retire_slot_o]     <= 1'b0;
      f_answered_q[retire_slot_o] <= 1'b0;
      f_kept_q[retire_slot_o]     <= 1'b1;
      f_next_retire_q <= f_next_retire_q + 1'b1;
    end
    if (release_i && f_kept_q[f_next_release_q]) begin
      f_kept_q[f_next_release_q] <= 1'b0;
      f_next_release_q <= f_next_release_q + 1'b1;
    end
    if (rewind_i && unretired == '0 && !flush_busy_q && !accept) begin
      f_kept_q         <= '0;
      f_next_retire_q  <= '0;
      f_next_release_q <= '0;
    end
    f_unfetched_q <= f_unfetched_q + (IndexWidth + 1)'(accept) - (IndexWidth + 1)'(cqe_done);
  end
end

// Distance of each slot from the two counters.
logic [SlotWidth-1:0] f_from_retired [Slots], f_from_released [Slots];
for (genvar s = 0; s < Slots; s++) begin : gen_f_distance
  assign f_from_retired[s]  = SlotWidth'(s) - retired_q[SlotWidth-1:0];
  assign f_from_released[s] = SlotWidth'(s) - released_q[SlotWidth-1:0];
end

always_comb if (rst_ni) begin
  // Counters stay in order and in range.
  assert (in_use <= Slots);
  assert (unretired <= in_use);
  assert (f_unfetched_q < Entries);
  // Exactly the slots between the counters are in the state that the counters say.
  for (integer s = 0; s < Slots; s++) begin
    assert (f_busy_q[s] == ({1'b0, f_from_retired[s]} < unretired));
    assert (outstanding_q[s] == (f_busy_q[s] && !f_answered_q[s]));
    assert (!f_answered_q[s] || f_busy_q[s]);
    assert (f_kept_q[s] == ({1'b0, f_from_released[s]} < in_use - unretired));
    assert (!(f_busy_q[s] && f_kept_q[s]));
  end
  assert (f_next_retire_q == retired_q[SlotWidth-1:0]);
  assert (f_next_release_q == released_q[SlotWidth-1:0]);
  // A command gets a free slot, retires in order and only when it was answered.
  if (accept_data) assert (!f_busy_q[f_cmd_slot] && !f_kept_q[f_cmd_slot]);
  if (retire && !retire_flush_o) assert (f_answered_q[retire_slot_o] && retire_slot_o == f_next_retire_q);
  if (retire_valid_o) assert (retire_flush_o ? flush_complete_q : f_answered_q[retire_slot_o]);
  // A completion has the identifier of a command that is outstanding.
  if (cqe_good) begin
    assert (cqe_cid_i < Slots ? f_busy_q[cqe_slot] && !f_answered_q[cqe_slot] : cqe_cid_i == Slots && flush_busy_q && !flush_complete_q);
  end
  // The flush is alone.
  if (flush_busy_q) assert (unretired == '0 && !(cmd_valid_i && cmd_ready_o));
  assert (!flush_complete_q || flush_busy_q);
end

// Unanswered commands are counted as many as are outstanding.
logic [IndexWidth:0] f_outstanding;
always_comb begin
  f_outstanding = (IndexWidth + 1)'(flush_busy_q && !flush_complete_q);
  for (integer s = 0; s < Slots; s++) f_outstanding = f_outstanding + (IndexWidth + 1)'(f_busy_q[s] && !f_answered_q[s]);
  if (rst_ni) assert (f_unfetched_q == f_outstanding);
end

// A chosen command's status is the one that the drive gave.
logic                 f_pick;
logic                 f_picked_q = 1'b0;
logic [SlotWidth-1:0] f_slot_q;
logic [14:0]          f_status_q;
always_ff @(posedge clk_i) begin
  if (!rst_ni || clear_i) f_picked_q <= 1'b0;
  else if (cqe_done && cqe_of_data && f_pick) begin
    f_picked_q <= 1'b1;
    f_slot_q   <= cqe_slot;
    f_status_q <= cqe_status_i;
  end else if (retire && !retire_flush_o && retire_slot_o == f_slot_q) f_picked_q <= 1'b0;
end
always_comb if (rst_ni && f_picked_q) begin
  assert (f_answered_q[f_slot_q] && status_q[f_slot_q] == f_status_q);
  if (retire_valid_o && !retire_flush_o && retire_slot_o == f_slot_q) begin
    assert (retire_status_o == f_status_q && retire_failed_o == (f_status_q[10:0] != '0));
  end
end

// A retirement is stable until it is taken.
logic                 f_retire_waiting_q = 1'b0;
logic [SlotWidth-1:0] f_retire_slot_q;
always_ff @(posedge clk_i) begin
  f_retire_waiting_q <= rst_ni && !clear_i && retire_valid_o && !retire_ready_i;
  f_retire_slot_q    <= retire_slot_o;
end
always_comb if (rst_ni && f_retire_waiting_q) assert (retire_valid_o && retire_slot_o == f_retire_slot_q);

// A command that has completed is offered for retirement in the next cycle, unless one retires in this one.
logic f_due_q = 1'b0;
always_ff @(posedge clk_i) f_due_q <= rst_ni && !clear_i && !retire && (flush_busy_q ? flush_complete_q : f_answered_q[retire_slot_o]);
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
end

// Head doorbells are due when a batch is complete, or nothing is outstanding.
logic f_due_cq_q = 1'b0;
always_ff @(posedge clk_i) begin
  f_due_cq_q <= rst_ni && !clear_i && !(cq_db_valid_o && cq_db_ready_i)
             && (f_taken_q >= HeadBatch || (f_taken_q != '0 && f_outstanding == '0 && f_busy_q == '0 && !flush_busy_q));
end
always_comb if (rst_ni) assert (cq_db_valid_o == f_due_cq_q);

// A failure is final when it says so, or when the command was sent again as often as it may be; a success is final at once. The command that
// is sent again is the one that failed, and the next one in the queue.
logic               f_again_q = 1'b0;
logic [SlotWidth:0] f_again_of_q;
logic [1:0]         f_again_tries_q;
always_ff @(posedge clk_i) begin
  f_again_q       <= rst_ni && !clear_i && cqe_good && cqe_status_i[10:0] != '0 && !cqe_status_i[14] && cqe_tries < Retries;
  f_again_of_q    <= cqe_cid_i[SlotWidth:0];
  f_again_tries_q <= cqe_tries;
end
always_comb if (rst_ni) begin
  assert (resend_q == f_again_q);
  if (cqe_done) assert (cqe_good && (cqe_status_i[10:0] == '0 || cqe_status_i[14] || cqe_tries >= Retries));
  if (resend_q) assert (submit && {submit_flush, resend_slot_q} == f_again_of_q && resend_try_q == f_again_tries_q + 2'd1 && !accept);
  for (integer i = 0; i < 2 * Slots; i++) if (outstanding_q[i % Slots] && i < Slots) assert (tries[i] <= Retries);
  if (flush_busy_q) assert (tries[Slots] <= Retries);
end

// The oldest outstanding command: all before it are complete. An age, and lateness, are those of a command without a completion.
logic f_waits_q = 1'b0;
always_ff @(posedge clk_i) f_waits_q <= rst_ni && !clear_i && f_outstanding != '0;
always_comb if (rst_ni) begin
  assert ((SlotWidth + 1)'(accepted_q - oldest_q) <= unretired);
  for (integer s = 0; s < Slots; s++) begin
    if ({1'b0, f_from_retired[s]} < (SlotWidth + 1)'(oldest_q - retired_q)) assert (!outstanding_q[s]);
  end
  if (age_us_o != '0 || late_o) assert (f_waits_q);
end
