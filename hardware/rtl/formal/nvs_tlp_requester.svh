// Properties of nvs_tlp_requester. Included in the module under FORMAL.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

// Valid and payload of the core stay until they are taken, and it has one access at a time, as nvs_requester.
logic f_aw_waiting_q = 1'b0, f_w_waiting_q = 1'b0, f_ar_waiting_q = 1'b0;
logic [31:2] f_aw_old_q, f_ar_old_q;
logic [35:0] f_w_old_q;
always_ff @(posedge clk_i) begin
  f_aw_waiting_q <= rst_ni && bar_aw_valid_i && !bar_aw_ready_o;
  f_w_waiting_q  <= rst_ni && bar_w_valid_i && !bar_w_ready_o;
  f_ar_waiting_q <= rst_ni && bar_ar_valid_i && !bar_ar_ready_o;
  f_aw_old_q     <= bar_aw_addr_i;
  f_ar_old_q     <= bar_ar_addr_i;
  f_w_old_q      <= {bar_w_data_i, bar_w_strb_i};
end
always_comb if (rst_ni) begin
  if (f_aw_waiting_q) assume (bar_aw_valid_i && bar_aw_addr_i == f_aw_old_q);
  if (f_ar_waiting_q) assume (bar_ar_valid_i && bar_ar_addr_i == f_ar_old_q);
  if (f_w_waiting_q)  assume (bar_w_valid_i && {bar_w_data_i, bar_w_strb_i} == f_w_old_q);
end

// Writes and reads that were taken and not answered: at most one of each, and a response only to one of them.
logic [1:0] f_aws_q = '0, f_ws_q = '0, f_ars_q = '0;
always_ff @(posedge clk_i) if (rst_ni) begin
  f_aws_q <= f_aws_q + 2'(bar_aw_valid_i && bar_aw_ready_o) - 2'(bar_b_valid_o && bar_b_ready_i);
  f_ws_q  <= f_ws_q + 2'(bar_w_valid_i && bar_w_ready_o) - 2'(bar_b_valid_o && bar_b_ready_i);
  f_ars_q <= f_ars_q + 2'(bar_ar_valid_i && bar_ar_ready_o) - 2'(bar_r_valid_o && bar_r_ready_i);
end
always_comb if (rst_ni) begin
  assert (f_aws_q == 2'(aw_q) && f_ws_q == 2'(w_q) && f_ars_q == 2'(ar_q));
  assert (!(bar_b_valid_o && bar_r_valid_o));
  if (bar_b_valid_o) assert (aw_q && w_q && state_q == Answer && write_q);
  if (bar_r_valid_o) assert (ar_q && state_q == Answer && !write_q);
  if (state_q != Idle) assert (write_q ? aw_q && w_q : ar_q);
  assert (state_q <= Answer);
  // One access is under way at a time.
  assert (!(mgmt_read_o && mgmt_write_o));
  assert ((mgmt_read_o || mgmt_write_o) == (state_q == Mgmt));
  if (state_q == Mgmt) assert (mgmt_write_o == write_q && mgmt_addr_o == (write_q ? addr_q[11:2] : read_addr_q[11:2]));
  if (mgmt_write_o) assert (mgmt_data_o == data_q && mgmt_be_o == be_q);
  assert (timer_q <= 16'(TimeoutTicks));
  if (state_q == Idle) assert (!bar_b_valid_o && !bar_r_valid_o);
end

// An access that waits longer than TimeoutTicks is answered.
logic [4:0] f_age_q = '0;
always_ff @(posedge clk_i) begin
  if (!rst_ni || state_q == Idle || state_q == Answer) f_age_q <= '0;
  else if (tick_i) f_age_q <= f_age_q + 1'b1;
end
always_comb if (rst_ni) assert (32'(f_age_q) <= TimeoutTicks + 2);
always_comb if (rst_ni && (state_q == Send || state_q == Wait || state_q == Order || state_q == Mgmt)) begin
  if (timer_q == 16'(TimeoutTicks)) assert (32'(f_age_q) <= TimeoutTicks + 2);
  else assert (32'(f_age_q) <= 32'(timer_q));
end
logic f_late_q = 1'b0;
always_ff @(posedge clk_i) f_late_q <= rst_ni && late && state_q != Idle && state_q != Answer;
always_comb if (rst_ni && f_late_q) assert (state_q == Answer || state_q == Order);

// The request is that of the access, stable until it is taken.
logic        f_req_waiting_q = 1'b0;
logic [73:0] f_req_old_q;
always_ff @(posedge clk_i) begin
  f_req_waiting_q <= rst_ni && req_valid_o && !req_ready_i && !abort_i;
  f_req_old_q     <= {1'b0, req_write_o, req_config_o, req_addr_o, req_be_o, req_data_o, req_tag_o};
end
always_comb if (rst_ni) begin
  if (f_req_waiting_q) assert (req_valid_o && {1'b0, req_write_o, req_config_o, req_addr_o, req_be_o, req_data_o, req_tag_o} == f_req_old_q);
  if (state_q == Wait) begin
    assert (req_write_o == write_q && req_addr_o == (write_q ? addr_q : read_addr_q) && req_config_o == req_addr_o[31]);
    assert (write_q ? req_be_o == be_q && req_data_o == data_q : req_be_o == 4'hf);
    assert (tag_q == 5'(req_tag_o + 1'b1));
    if (req_config_o) assert (req_addr_o[30:20] == 11'h001 && req_addr_o[19:15] == '0);
  end
end

// A read without an error has the data of the completion with its tag, which said success and had data; none is given on before the writes
// that came before it.
logic        f_any_q = 1'b0;
logic [31:0] f_data_q;
logic [7:0]  f_mark_q;
always_ff @(posedge clk_i) begin
  if (state_q == Idle) f_any_q <= 1'b0;
  else if (state_q == Wait && cpl_valid_i && cpl_tag_i == 8'(req_tag_o) && !cpl_error_i && cpl_data_valid_i) begin
    f_any_q  <= 1'b1;
    f_data_q <= cpl_data_i;
    f_mark_q <= begun_i;
  end else if (state_q == Mgmt && mgmt_done_i) begin
    f_any_q  <= 1'b1;
    f_data_q <= mgmt_data_i;
  end
end
always_comb if (rst_ni) begin
  if (state_q == Send || state_q == Wait || state_q == Mgmt) assert (error_q);
  if (state_q == Order && !write_q && !error_q) assert (f_any_q && bar_r_data_o == f_data_q && mark_q == f_mark_q);
  if (state_q == Answer && !write_q && !error_q) assert (f_any_q && bar_r_data_o == f_data_q);
end
logic f_early_q = 1'b0;
always_ff @(posedge clk_i) f_early_q <= rst_ni && state_q == Order && 8'(ended_i - mark_q) >= 8'd128 && !late;
always_comb if (rst_ni && f_early_q) assert (state_q == Order);

// Responses are stable until they are taken.
logic        f_b_waiting_q = 1'b0, f_r_waiting_q = 1'b0;
logic [33:0] f_r_old_q;
logic [1:0]  f_b_old_q;
always_ff @(posedge clk_i) begin
  f_b_waiting_q <= rst_ni && bar_b_valid_o && !bar_b_ready_i;
  f_r_waiting_q <= rst_ni && bar_r_valid_o && !bar_r_ready_i;
  f_b_old_q     <= bar_b_resp_o;
  f_r_old_q     <= {bar_r_data_o, bar_r_resp_o};
end
always_comb if (rst_ni) begin
  if (f_b_waiting_q) assert (bar_b_valid_o && bar_b_resp_o == f_b_old_q);
  if (f_r_waiting_q) assert (bar_r_valid_o && {bar_r_data_o, bar_r_resp_o} == f_r_old_q);
end
