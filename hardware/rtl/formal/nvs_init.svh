// Properties of nvs_init. Included in the module under FORMAL.
//
// Free: link, restart, reset, shutdown, every word read, every completion entry, every byte of Identify data. Of nvs_requester only this is
// assumed: a response comes after its request was taken, once.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

logic f_taken_q = 1'b0;
always_ff @(posedge clk_i) begin
  if (rst_ni && req_valid_o && req_ready_i) f_taken_q <= 1'b1;
  else if (rsp_valid_i) f_taken_q <= 1'b0;
end
always_comb if (rsp_valid_i) assume (f_taken_q);

// Under way: taken and not answered, or the answer takes effect now.
logic f_open;
assign f_open = access_q && !req_q;

// The cycle before.
logic        f_past_q = 1'b0, f_before_q = 1'b0;  // there was one without reset; two
logic        f_waiting_q, f_write_q, f_ready_q = 1'b0, f_end_q, f_req_q, f_failed_q, f_link_q, f_link2_q, f_begun_q, f_late_q;
logic        f_expired_q = 1'b0, f_pass_q = 1'b0;
logic [31:0] f_addr_q, f_data_q;
logic [5:0]  f_step_q;
always_ff @(posedge clk_i) begin
  f_past_q    <= rst_ni;
  f_before_q  <= rst_ni && f_past_q;
  f_waiting_q <= req_valid_o && !req_ready_i;
  f_write_q   <= req_write_o;
  f_addr_q    <= req_addr_o;
  f_data_q    <= req_data_o;
  f_step_q    <= step_q;
  f_ready_q   <= rst_ni && ready_o;
  f_end_q     <= !link_up_i || restart_i || reset_i || shutdown_i;
  f_pass_q    <= rst_ni && step_q == StepPass;
  f_req_q     <= req_valid_o;
  f_failed_q  <= failed_q;
  f_link_q    <= link_up_i;
  f_link2_q   <= f_link_q;
  f_begun_q   <= begin_q;
  f_expired_q <= rst_ni && live && expired && !f_taken_q;
  f_late_q    <= live && expired_q && !answer;
end

always_comb if (rst_ni) begin
  // One request at a time, only of a step that has one.
  if (req_valid_o) assert (access_q && !f_taken_q);
  assert (f_taken_q == (f_open && !answer_q));
  if (answer_q) assert (f_open);
  if (!stepped_q) assert (write_q == is_write && read_q == is_read && admin_q == is_admin);
  else assert (!access_q);
  if (access_q) assert (is_write || is_read || (is_admin && part_q != Wait));
  assert (part_q != 2'd3);
  if (!is_admin) assert (part_q == Tail);
  assert (step_q <= StepPass);
  if (cqe_q) assert (is_admin && part_q != Head);
end

always_comb if (rst_ni && f_past_q) begin
  // A request is stable until it is taken.
  if (f_waiting_q) assert (req_valid_o && req_write_o == f_write_q && req_addr_o == f_addr_q && req_data_o == f_data_q);
  // Steps in order; back only to the first one, and that when it was asked for.
  assert (step_q == f_step_q || (step_q == f_step_q + 6'd1 && f_step_q != StepDown && f_step_q < StepRelease) ||
          (f_step_q == StepReady && step_q == StepPass) || (f_step_q == StepPass && step_q == StepReady) || ((step_q == StepLink || in_reset) && f_begun_q)
       || (step_q == StepLink && (f_step_q == StepHold || f_step_q == StepRelease)));
  // A drive that fails with a command of the software is brought up again.
  if (f_pass_q && !f_failed_q) assert (!failed_q);
  // A failed sequencer and one whose link was seen down begin no access. (One may begin in the cycle in which the link fails.)
  if (req_valid_o && !f_req_q) assert (!f_failed_q);
  if (req_valid_o && !f_req_q && f_before_q) assert (f_link2_q || in_reset);
  // A failure has a reason and stays in its step.
  if (failed_q && f_failed_q) assert (step_q == f_step_q);
  assert (failed_q == (reason_q != ReasonNone));
  // A step that took too long has failed, unless its answer came at last.
  if (f_late_q) assert (!live);
  if (f_expired_q && !f_end_q && step_q == f_step_q) assert (expired_q);
  // Not ready after any reason to end.
  if (f_end_q) assert (!ready_o);
end

// Admin commands: rung (tail doorbell), done (good completion), acknowledged (head doorbell), counted at the ports.
localparam logic [31:0] FTail = 32'h1000_1000;
logic [3:0]  f_rung_q = '0, f_done_q = '0, f_acknowledged_q = '0;
logic [31:0] f_head;
logic        f_completion;
assign f_head = 32'h1000_1000 + (32'd4 << doorbell_stride_o);
// The commands behind the eighth are those of the software; the counts go on modulo 4 from there, that is from 8 to 11.
assign f_completion = admin_cqe_valid_i && f_rung_q != f_done_q && admin_cqe_cid_i == (f_done_q[3] ? 16'd47 : 16'd32 + 16'(f_done_q)) &&
                      admin_cqe_index_i == f_done_q[0] && admin_cqe_phase_i == !f_done_q[1] && (f_done_q[3] || admin_cqe_status_i[10:0] == '0);
function automatic logic [3:0] f_next(input logic [3:0] count);
  f_next = count == 4'd11 ? 4'd8 : count + 4'd1;
endfunction
always_ff @(posedge clk_i) begin
  if (!rst_ni || step_q == StepLink || in_reset) begin
    f_rung_q         <= '0;
    f_done_q         <= '0;
    f_acknowledged_q <= '0;
  end else begin
    if (req_valid_o && req_ready_i && req_write_o && req_addr_o == FTail) f_rung_q <= f_next(f_rung_q);
    if (req_valid_o && req_ready_i && req_write_o && req_addr_o == f_head) f_acknowledged_q <= f_next(f_acknowledged_q);
    if (f_completion) f_done_q <= f_next(f_done_q);
  end
end

// Any other completion fails.
logic f_wrong_q = 1'b0;
always_ff @(posedge clk_i) f_wrong_q <= rst_ni && live && is_admin && admin_cqe_valid_i && !f_completion;
always_comb if (rst_ni && f_wrong_q) assert (!live);

logic [3:0] f_command;  // of the step
logic       f_running;  // a bring-up goes on
assign f_command = step_q < StepController ? 4'd0 : step_q > StepSq2 ? {2'b10, place_q} : {1'b0, step_q[2:0]};
assign f_running = rst_ni && live && step_q != StepLink && !in_reset;
always_comb if (f_running) begin
  assert (f_rung_q == (is_admin && (part_q != Tail || f_open) ? f_next(f_command) : f_command));
  assert (f_done_q == (is_admin && (cqe_q || part_q == Head) ? f_next(f_command) : f_command));
  assert (f_acknowledged_q == (is_admin && part_q == Head && f_open ? f_next(f_command) : f_command));
  assert (place_q == f_command[1:0]);
  if (cqe_q) assert (part_q == Wait || f_open);
  // The right completion is no reason to fail, whatever its status if the command is the software's.
  if (f_completion) assert (!cqe_bad);
end

// What the drive fetches after the n-th tail doorbell, and the values of the doorbells.
logic [7:0]  f_opcode;
logic [15:0] f_prp1;
logic [31:0] f_cdw10, f_cdw11;
always_comb begin
  f_opcode = 8'h06;
  f_prp1   = 16'h6000;
  f_cdw10  = '0;
  f_cdw11  = '0;
  case (f_rung_q)
    4'd0: f_cdw10 = 32'd1;
    4'd1, 4'd2: ;
    4'd3: begin f_opcode = 8'h09; f_prp1 = '0; f_cdw10 = 32'd7; f_cdw11 = 32'h1_0001; end
    4'd4: begin f_opcode = 8'h05; f_prp1 = 16'h3000; f_cdw10 = ((Entries - 1) << 16) + 1; f_cdw11 = 32'h1; end
    4'd5: begin f_opcode = 8'h05; f_prp1 = 16'h5000; f_cdw10 = ((Entries - 1) << 16) + 2; f_cdw11 = 32'h1; end
    4'd6: begin f_opcode = 8'h01; f_prp1 = 16'h2000; f_cdw10 = ((Entries - 1) << 16) + 1; f_cdw11 = 32'h1_0001; end
    default: begin f_opcode = 8'h01; f_prp1 = 16'h4000; f_cdw10 = ((Entries - 1) << 16) + 2; f_cdw11 = 32'h2_0001; end
  endcase
end
always_comb if (f_running && req_valid_o) begin
  if (req_addr_o == FTail) begin
    assert (req_write_o && req_data_o == 32'(!f_rung_q[0]) && f_rung_q == f_acknowledged_q);
    assert (f_rung_q[3] == pass_busy_o);
  end
  if (req_addr_o == FTail && !f_rung_q[3]) begin
    assert (admin_opcode_o == f_opcode && admin_cid_o == 16'd32 + 16'(f_rung_q) && admin_cdw10_o == f_cdw10 && admin_cdw11_o == f_cdw11);
    assert (admin_prp1_o == (f_prp1 == '0 ? 40'h0 : 40'h80_0000_0000 + 40'(f_prp1)));
    assert (admin_nsid_o == ((f_rung_q == 4'd1 || f_rung_q == 4'd2) ? Namespace : 32'd0));
  end
  if (req_addr_o == f_head) assert (req_write_o && req_data_o == 32'(f_done_q[0]) && f_done_q == f_next(f_acknowledged_q));
  // No other doorbell.
  if (req_addr_o >= 32'h1000_1000 && !req_addr_o[31]) assert (req_addr_o == FTail || req_addr_o == f_head);
end

// Ready: all commands succeeded, what the drive reported is usable, and the queues were cleared since it was ready before, or only a
// command of the software was executed.
logic f_used_q = 1'b0;
always_ff @(posedge clk_i) f_used_q <= rst_ni && step_q != StepPass && (ready_o || (f_used_q && !clear_o));
always_comb if (rst_ni) begin
  if (ready_o && !f_ready_q) assert (!f_used_q);
  if (ready_o) assert (f_done_q[3] && f_acknowledged_q[3] && doorbells_enable_o && !failed_q);
  if (ready_o && step_q == StepReady) assert (f_done_q == f_acknowledged_q && f_rung_q == f_done_q);
  if (ready_o) assert (max_transfer_pages_o != 16'd1 && (max_transfer_pages_o & (max_transfer_pages_o - 1'b1)) == '0);
  if (ready_o) assert ((block_512_q || block_4096_q) && !metadata_q);
  if (ready_o) assert (cap_o[15:0] >= 16'(Entries - 1) && cap_o[37] && cap_o[51:48] == '0);
  // Steps towards it.
  if (ready_q) assert (step_q == StepReady || step_q == StepShutdown || (step_q == StepPass && !f_pass_q) || begin_q);
  if (ready_o) assert (!failed_q);
  if (pass_done_o) assert (f_done_q[3] && f_done_q == f_acknowledged_q && f_done_q == f_rung_q);
  if (f_running && step_q == StepAqa) assert (clear_o || !f_used_q);
  if (f_running && step_q > StepAqa && step_q < StepReady) assert (!f_used_q);
  if (f_running && step_q == StepReady && !ready_o && !shutting_q) assert (!f_used_q);
  if (f_running && step_q > StepController) assert (mdts_any_q);
  if (f_running && step_q > StepFormat) assert ((block_512_q || block_4096_q) && !metadata_q);
  if (f_running && step_q > StepCapLow) assert (cap_o[15:0] >= 16'(Entries - 1));
  if (f_running && step_q > StepCapHigh) assert (cap_o[37] && cap_o[51:48] == '0);
  assert (sequencer_o[20] == (step_q == StepDown));
end

// The queues are cleared when a bring-up begins.
always_comb if (rst_ni && f_past_q && step_q == StepBuses && f_step_q == StepLink) assert (clear_o);

// Largest payload: the same at both ends, not above what either can take. 512 bytes per read request.
logic [2:0] f_root_payload_q, f_end_payload_q;
always_ff @(posedge clk_i) begin
  if (rsp_valid_i && step_q == StepRootCap) f_root_payload_q <= rsp_data_i[2:0];
  if (rsp_valid_i && step_q == StepEndCap)  f_end_payload_q <= rsp_data_i[2:0];
end
always_comb if (f_running) begin
  if (step_q > StepRootCap && step_q <= StepEndControl) assert (payload_q <= f_root_payload_q);
  if (step_q > StepRootCap && step_q <= StepEndCap && !answer_q) assert (payload_q == f_root_payload_q);
  if (step_q > StepEndCap && step_q <= StepEndControl) assert (payload_q <= f_end_payload_q);
  if (req_valid_o && (step_q == StepRootControl || step_q == StepEndControl))
    assert (req_data_o[7:5] == payload_q && req_data_o[14:12] == 3'd2);
end

// Resets. From a reset on, PERST# is asserted until step 45 ends; that lasts 2^ResetShift ticks, all of them after the root port was told
// to reset, too. Until then no access goes beyond the root port but the one that was under way.
logic [ResetShift:0] f_held_q = '0;     // ticks in step 45
logic                f_reset_q = 1'b1;  // the end of a reset is due
logic                f_perst_q = 1'b0, f_told_q = 1'b0, f_ending_q = 1'b0;
always_ff @(posedge clk_i) begin
  f_held_q   <= !rst_ni || step_q != StepHold ? '0 : f_held_q + (ResetShift + 1)'(tick_i && !(&f_held_q));
  f_reset_q  <= !rst_ni || reset_i || (f_reset_q && !held);
  f_perst_q  <= rst_ni && perst_o;
  f_ending_q <= rst_ni && f_held_q >= (ResetShift + 1)'(1 << ResetShift);
  // Secondary bus reset in the root port, as far as it was written.
  if (!rst_ni) f_told_q <= 1'b0;
  else if (req_valid_o && req_ready_i && req_write_o && req_addr_o == 32'h8000_003c) f_told_q <= req_data_o[22];
end
always_comb if (rst_ni) begin
  assert (perst_o == f_reset_q);
  if (f_perst_q && !perst_o) assert (f_ending_q);
  if (step_q == StepHold) begin
    assert (perst_o && timer_q == (UnitShift + 9)'(f_held_q) && !failed_q);
    assert (timer_q < (UnitShift + 9)'(1 << ResetShift) || (timer_q == (UnitShift + 9)'(1 << ResetShift) && (live || begin_q)));
    assert (f_told_q == hot_q);
  end
  if (req_valid_o && in_reset) assert (req_write_o && req_addr_o == 32'h8000_003c && req_data_o == (step_q == StepReset ? 32'h0040_0000 : '0));
  if (step_q == StepReset) assert (perst_o);
  // The root port is told to end what it was told to begin.
  if (f_told_q) assert (hot_q);
  if (hot_q) assert (in_reset);
  if (step_q == StepReset && access_q && !req_q) assert (f_told_q);
  if (step_q == StepRelease) assert (hot_q && (!access_q || req_q || !f_told_q));
  if (perst_o) assert (begin_q || step_q == StepReset || step_q == StepHold);
end

// A ready drive is looked at: an access is under way in 2^PollShift ticks after the last answer and one more. What it says of a lost drive
// ends ready_o, is told once, and begins a bring-up.
logic [PollShift+1:0] f_unseen_q = '0;  // ticks
logic                 f_fatal_q = 1'b0, f_fatal2_q = 1'b0;
always_ff @(posedge clk_i) begin
  if (!rst_ni || step_q != StepReady || access_q || answer) f_unseen_q <= '0;
  else if (tick_i && !(&f_unseen_q)) f_unseen_q <= f_unseen_q + 1'b1;
  f_fatal_q  <= rst_ni && arrived && step_q == StepReady && live && (rsp_error_i || rsp_data_i[1]);
  f_fatal2_q <= f_fatal_q && live && step_q == StepReady;
end
always_comb if (rst_ni) begin
  if (ready_o && live && !f_end_q) assert (f_unseen_q <= (PollShift + 2)'((1 << PollShift) + 1));
  if (step_q == StepReady && live && !access_q && !answer) begin
    assert (timer_q == (UnitShift + 9)'(f_unseen_q));
    assert (timer_q <= (UnitShift + 9)'(1 << PollShift));
  end
  if (f_fatal2_q) assert (lost_o != '0 && begin_q);
  assert (lost_o == (lost_o & -lost_o));
  if (lost_o != '0) assert (begin_q);
end
