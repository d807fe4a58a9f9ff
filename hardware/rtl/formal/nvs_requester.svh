// Properties of nvs_requester. Included in the module under FORMAL.
//
// Bus, users and ticks are free: a response may come at any time, never, or without a request.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

logic f_aw, f_w, f_b, f_ar, f_r, f_request, f_doorbell;
logic [3:0] f_db_valid, f_db_ready;
assign f_aw       = bar_aw_valid_o && bar_aw_ready_i;
assign f_w        = bar_w_valid_o && bar_w_ready_i;
assign f_b        = bar_b_valid_i && bar_b_ready_o;
assign f_ar       = bar_ar_valid_o && bar_ar_ready_i;
assign f_r        = bar_r_valid_i && bar_r_ready_o;
assign f_request  = req_valid_i && req_ready_o;
assign f_db_valid = {cq_db_valid_i[1], sq_db_valid_i[1], cq_db_valid_i[0], sq_db_valid_i[0]};
assign f_db_ready = {cq_db_ready_o[1], sq_db_ready_o[1], cq_db_ready_o[0], sq_db_ready_o[0]};
assign f_doorbell = f_db_ready != '0;

logic [3:0] f_db_before_q = '0;
always_ff @(posedge clk_i) f_db_before_q <= rst_ni ? f_db_valid : '0;

// Doorbells: one at a time, only offered ones, after the sequencer, only when enabled.
always_comb if (rst_ni) begin
  assert ((f_db_ready & (f_db_ready - 4'd1)) == '0);
  assert ((f_db_ready & ~f_db_valid) == '0);
  if (f_doorbell) assert (!req_valid_i && doorbells_enable_i);
  // None waits for more than a cycle while nothing else is to be done.
  if (req_ready_o && !req_valid_i && doorbells_enable_i && f_db_valid != '0 && f_db_valid == f_db_before_q) assert (f_doorbell);
  assert (grant_q == (grant_q & (~grant_q + 4'd1)));
  if (grant_q != '0) assert (grant_q == 4'd1 << number_q);
end

// The access as it has to appear on the bus, from what its user gave. Register k + 2 of the doorbells.
logic        f_open_q = 1'b0;  // accepted, not answered on the bus
logic        f_write_q;
logic [31:0] f_addr_q, f_data_q;
logic [31:0] f_db_addr, f_db_value;
always_comb begin
  f_db_addr  = 32'h1000_1000 + (32'd8 << doorbell_stride_i);
  f_db_value = 32'(sq_db_value_i[IndexWidth-1:0]);
  if (f_db_ready[1]) begin
    f_db_addr  = 32'h1000_1000 + (32'd12 << doorbell_stride_i);
    f_db_value = 32'(cq_db_value_i[IndexWidth-1:0]);
  end
  if (f_db_ready[2]) begin
    f_db_addr  = 32'h1000_1000 + (32'd16 << doorbell_stride_i);
    f_db_value = 32'(sq_db_value_i[2*IndexWidth-1:IndexWidth]);
  end
  if (f_db_ready[3]) begin
    f_db_addr  = 32'h1000_1000 + (32'd20 << doorbell_stride_i);
    f_db_value = 32'(cq_db_value_i[2*IndexWidth-1:IndexWidth]);
  end
end

logic f_aw_due_q = 1'b0, f_w_due_q = 1'b0, f_ar_due_q = 1'b0;  // not taken by the bus yet
always_ff @(posedge clk_i) if (rst_ni) begin
  if (f_request || f_doorbell) begin
    f_open_q   <= 1'b1;
    f_write_q  <= f_doorbell || req_write_i;
    f_addr_q   <= f_doorbell ? f_db_addr : req_addr_i;
    f_data_q   <= f_doorbell ? f_db_value : req_data_i;
    f_aw_due_q <= f_doorbell || req_write_i;
    f_w_due_q  <= f_doorbell || req_write_i;
    f_ar_due_q <= f_request && !req_write_i;
  end else begin
    if (f_b || f_r) f_open_q <= 1'b0;
    if (f_aw) f_aw_due_q <= 1'b0;
    if (f_w)  f_w_due_q <= 1'b0;
    if (f_ar) f_ar_due_q <= 1'b0;
  end
end
always_comb if (rst_ni) begin
  if (f_request || f_doorbell) assert (!f_open_q);
  // Exactly what is due is on the bus: so a valid stays until it is taken, and nothing is lost or doubled.
  assert (bar_aw_valid_o == f_aw_due_q && bar_w_valid_o == f_w_due_q && bar_ar_valid_o == f_ar_due_q);
  if (bar_aw_valid_o) assert (bar_aw_addr_o == f_addr_q);
  if (bar_w_valid_o)  assert (bar_w_data_o == f_data_q);
  if (bar_ar_valid_o) assert (bar_ar_addr_o == f_addr_q);
  // A response is taken when the request was, and only then.
  assert (bar_b_ready_o == (f_open_q && f_write_q && !f_aw_due_q && !f_w_due_q));
  assert (bar_r_ready_o == (f_open_q && !f_write_q && !f_ar_due_q));
  assert (f_open_q == !req_ready_o);
  if (f_aw_due_q || f_w_due_q) assert (f_open_q && f_write_q);
  if (f_ar_due_q) assert (f_open_q && !f_write_q);
  assert (write_q == (f_open_q && f_write_q) && read_q == (f_open_q && !f_write_q));
end

// Answers: one for each request, in time, with what the bus said. Those of given-up accesses are dropped.
logic        f_owed_q = 1'b0, f_owed_db_q = 1'b0, f_failed_q, f_read_q;
logic        f_bus_q = 1'b0;     // the bus answered in the cycle before
logic [15:0] f_ticks_q = '0;     // since the acceptance
logic [31:0] f_read_data_q;
always_ff @(posedge clk_i) if (rst_ni) begin
  if (f_request) f_owed_q <= 1'b1;
  else if (rsp_valid_o) f_owed_q <= 1'b0;
  if (f_doorbell) f_owed_db_q <= 1'b1;
  else if (!owned_q || !doorbell_q) f_owed_db_q <= 1'b0;
  if (f_request || f_doorbell) f_ticks_q <= '0;
  else if (owned_q && tick_i) f_ticks_q <= f_ticks_q + 1'b1;
  f_failed_q    <= f_b ? bar_b_error_i : f_r ? bar_r_error_i : 1'b1;
  f_bus_q       <= f_b || f_r;
  f_read_q      <= f_r;
  f_read_data_q <= bar_r_data_i;
end
always_comb if (rst_ni) begin
  if (rsp_valid_o) assert (f_owed_q);
  if (f_owed_q) assert (rsp_valid_o || (owned_q && !doorbell_q));
  if (owned_q && !doorbell_q) assert (f_owed_q && !rsp_valid_o);
  if (owned_q) assert (f_open_q && timer_q == f_ticks_q && f_ticks_q <= 16'(TimeoutTicks));
  if (rsp_valid_o) begin
    assert (rsp_error_o == f_failed_q);
    if (!f_bus_q) assert (f_ticks_q >= 16'(TimeoutTicks));
    if (f_read_q && !rsp_error_o) assert (rsp_data_o == f_read_data_q);
  end
  
  if (doorbell_error_o) assert (f_owed_db_q && f_failed_q && !(owned_q && doorbell_q));
  // A failed doorbell is reported.
  if (f_owed_db_q && !owned_q && f_failed_q) assert (doorbell_error_o);
  if (owned_q && doorbell_q) assert (f_owed_db_q);
end

// Round robin: a doorbell that stays offered is passed at most three times.
logic [31:0] f_doorbells_q = '0;
always_ff @(posedge clk_i) if (rst_ni && f_doorbell) f_doorbells_q <= f_doorbells_q + 1'b1;
always_comb if (rst_ni) assert (doorbells_o == f_doorbells_q);
for (genvar k = 0; k < 4; k++) begin : gen_f_fair
  logic [2:0] f_passed_q = '0;
  logic [1:0] f_distance;
  assign f_distance = 2'(k) - last_q - 2'd1;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !f_db_valid[k] || f_db_ready[k]) f_passed_q <= '0;
    else if (f_doorbell) f_passed_q <= f_passed_q + 1'b1;
  end
  always_comb if (rst_ni) assert (f_passed_q + f_distance <= 3);
end
