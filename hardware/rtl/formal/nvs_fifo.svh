// Properties of nvs_fifo. Included in the module under FORMAL.
//
// A chosen entry is followed through the queue by its address and value.

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

logic [PtrWidth:0] f_age;
assign f_age = f_at_q - head_q;
always_comb if (rst_ni) begin
  assert (count_o <= Depth);
  assert (valid_o == (count_o != 0));
  assert (ready_o == (count_o != Depth));
  if (f_inside_q) begin
    assert (f_age < count_o);
    assert (entries_q[f_at_q[PtrWidth-1:0]] == f_value_q);
    if (f_age == 0) assert (valid_o && data_o == f_value_q);
  end
end
