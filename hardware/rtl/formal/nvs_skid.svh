// Properties of nvs_skid. Included in the module under FORMAL.
//
// Order and loss: one transfer, chosen by the solver, is followed through the module. `ahead` counts the transfers before it that
// have not left yet.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

// The source obeys the handshake.
logic             f_stalled_q = 1'b0;
logic [Width-1:0] f_data_q;
always_ff @(posedge clk_i) begin
  f_stalled_q <= rst_ni && valid_i && !ready_o;
  f_data_q    <= data_i;
end
always_comb if (f_stalled_q) assume (valid_i && data_i == f_data_q);

// The output is stable until it is taken.
logic             f_waiting_q = 1'b0;
logic [Width-1:0] f_out_q;
always_ff @(posedge clk_i) begin
  f_waiting_q <= rst_ni && valid_o && !ready_i;
  f_out_q     <= data_o;
end
always_comb if (f_waiting_q && rst_ni) assert (valid_o && data_o == f_out_q);

// A chosen transfer.
logic             f_pick;            // free: this push is the chosen one
logic             f_inside_q = 1'b0; // it is in the module
logic             f_done_q = 1'b0;   // it was chosen before
logic [1:0]       f_ahead_q;         // transfers before it
logic [Width-1:0] f_value_q;
logic [1:0]       f_count;
assign f_count = 2'(first_valid_q) + 2'(second_valid_q);
always_ff @(posedge clk_i) begin
  if (rst_ni) begin
    if (f_inside_q && pop) begin
      if (f_ahead_q == 0) f_inside_q <= 1'b0;
      else f_ahead_q <= f_ahead_q - 1;
    end
    if (push && f_pick && !f_done_q) begin
      f_done_q   <= 1'b1;
      f_inside_q <= 1'b1;
      f_ahead_q  <= f_count - 2'(pop);
      f_value_q  <= data_i;
    end
  end
end
always_comb if (rst_ni) begin
  assert (!second_valid_q || first_valid_q);
  if (f_inside_q) begin
    assert (f_ahead_q < f_count);
    assert (f_ahead_q == 0 ? first_q == f_value_q : second_q == f_value_q);
    if (f_ahead_q == 0) assert (valid_o && data_o == f_value_q);
  end
end

// Full throughput: with a ready sink the input is never refused twice in a row.
logic f_refused_q = 1'b0;
always_ff @(posedge clk_i) f_refused_q <= rst_ni && ready_i && !ready_o;
always_comb if (rst_ni && f_refused_q) assert (ready_o);
