// Properties of nvs_ram_fifo. Included in the module under FORMAL.
//
// A chosen entry is followed from memory through the two registers to the output.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

logic              f_pick;
logic              f_inside_q = 1'b0;
logic              f_done_q = 1'b0;
logic [PtrWidth:0] f_at_q;
logic [Width-1:0]  f_value_q;
always_ff @(posedge clk_i) begin
  if (rst_ni) begin
    if (f_inside_q && pop && head_q == f_at_q) f_inside_q <= 1'b0;
    if (push && f_pick && !f_done_q) begin
      f_done_q   <= 1'b1;
      f_inside_q <= 1'b1;
      f_at_q     <= tail_q;
      f_value_q  <= data_i;
    end
  end
end

logic [PtrWidth:0] f_used, f_read, f_age;
assign f_used = tail_q - head_q;                                     // entries inside
assign f_read = (PtrWidth + 1)'(read_valid_q) + (PtrWidth + 1)'(out_valid_q);  // of them, in the registers
assign f_age  = f_at_q - head_q;                                     // entries before the chosen one
always_comb if (rst_ni) begin
  assert (f_used <= Depth);
  assert (space_o == Depth - f_used);
  assert (ready_o == (space_o != 0));
  assert (unread_q == (read_q != tail_q));
  assert (read_q - head_q == f_read);
  assert (f_read <= f_used);
  if (f_inside_q) begin
    assert (f_age < f_used);
    if (f_age >= f_read) assert (memory[f_at_q[PtrWidth-1:0]] == f_value_q);
    else if (f_age == 0 && out_valid_q) assert (out_q == f_value_q);
    else assert (read_data_q == f_value_q);
  end
end

// The output is stable until it is taken.
logic             f_waiting_q = 1'b0;
logic [Width-1:0] f_out_q;
always_ff @(posedge clk_i) begin
  f_waiting_q <= rst_ni && valid_o && !ready_i;
  f_out_q     <= data_o;
end
always_comb if (rst_ni && f_waiting_q) assert (valid_o && data_o == f_out_q);

// Full rate: two cycles after the sink was last not ready, an entry that was inside is at the output.
logic [1:0] f_ready_q = '0;
logic [1:0] f_held_q = '0;
always_ff @(posedge clk_i) begin
  f_ready_q <= {f_ready_q[0], rst_ni && ready_i};
  f_held_q  <= {f_held_q[0], rst_ni && f_used >= 3};
end
always_comb if (rst_ni && (&f_ready_q) && (&f_held_q)) assert (valid_o);
