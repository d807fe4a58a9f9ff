// Properties of nvs_address_mux. Included in the module under FORMAL.
//
// The module does not look at the data, so each address carries its master and its number in the order of that master.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

localparam int unsigned FSeq = Width - 3;
logic [FSeq*Masters-1:0] f_sent_q = '0, f_left_q = '0;
logic [2*Masters-1:0]    f_passed_q = '0;  // addresses of others that went to the queue while one of this master waited
logic [4*Masters-1:0]    f_inside_q = '0;  // addresses of the master in the module
always_ff @(posedge clk_i) begin
  for (integer m = 0; m < Masters; m++) begin
    if (rst_ni && valid_i[m] && ready_o[m]) f_sent_q[FSeq*m +: FSeq] <= f_sent_q[FSeq*m +: FSeq] + 1'b1;
    if (rst_ni && valid_o && ready_i && 32'(id_o) == m) f_left_q[FSeq*m +: FSeq] <= f_left_q[FSeq*m +: FSeq] + 1'b1;
    if (!waiting[m] || grant_o[m]) f_passed_q[2*m +: 2] <= '0;
    else if (|grant_o) f_passed_q[2*m +: 2] <= f_passed_q[2*m +: 2] + 1'b1;
    f_inside_q[4*m +: 4] <= f_inside_q[4*m +: 4] + 4'(rst_ni && valid_i[m] && ready_o[m])
      - 4'(rst_ni && valid_o && ready_i && 32'(id_o) == m);
  end
end

// Grants in the order of the output.
logic [3*8-1:0] f_order_q = '0;
logic [3:0]     f_orders_q = '0;
logic [2:0]     f_granted;
always_comb begin
  f_granted = '0;
  for (integer m = 0; m < Masters; m++) if (grant_o[m]) f_granted = 3'(m);
end
always_ff @(posedge clk_i) begin
  if (rst_ni) begin
    f_orders_q <= f_orders_q + 4'(|grant_o) - 4'(valid_o && ready_i);
    if (valid_o && ready_i) begin
      f_order_q <= f_order_q >> 3;
      if (|grant_o) f_order_q[3*(f_orders_q-1) +: 3] <= f_granted;
    end else if (|grant_o) f_order_q[3*f_orders_q +: 3] <= f_granted;
  end
end

always_comb if (rst_ni) begin
  for (integer m = 0; m < Masters; m++) begin
    assume (data_i[Width*m +: Width] == {3'(m), f_sent_q[FSeq*m +: FSeq]});
    assert (32'(f_passed_q[2*m +: 2]) < Masters);
    assert (f_inside_q[4*m +: 4] <= 6);
  end
  assert ((grant_o & ~waiting) == '0 && (grant_o & (grant_o - 1'b1)) == '0);
  assert (grant_ready_i || grant_o == '0);
  // Whatever leaves is the next address of its master.
  if (valid_o) begin
    assert (32'(id_o) < Masters && data_o[Width-1 -: 3] == id_o && data_o[FSeq-1:0] == f_left_q[FSeq*id_o +: FSeq]);
    assert (f_inside_q[4*id_o +: 4] != '0);
    assert (f_orders_q != '0 && f_order_q[2:0] == id_o);
  end
  // Nothing is kept while there is room: a granted address is at the output in the next cycle.
  assert (valid_o == (f_orders_q != '0));
end

// The output is stable until it is taken.
logic             f_waiting_q = 1'b0;
logic [Width+2:0] f_out_q;
always_ff @(posedge clk_i) begin
  f_waiting_q <= rst_ni && valid_o && !ready_i;
  f_out_q     <= {id_o, data_o};
end
always_comb if (rst_ni && f_waiting_q) assert (valid_o && {id_o, data_o} == f_out_q);

// Full rate: with addresses, grants and a ready sink in two cycles, there is an address at the output in the third; a master that is
// alone is not refused from its second cycle on.
logic [1:0] f_flow_q = '0;
logic       f_alone;
assign f_alone = (valid_i & (valid_i - 1'b1)) == '0 && (waiting & ~valid_i) == '0;
always_ff @(posedge clk_i) f_flow_q <= {f_flow_q[0], rst_ni && |valid_i && grant_ready_i && ready_i};
always_comb if (rst_ni && &f_flow_q) assert (valid_o);
logic [4:0] f_free_q = '0;
logic       f_alone_q = 1'b0;
always_ff @(posedge clk_i) begin
  f_free_q  <= {f_free_q[3:0], rst_ni && ready_i && grant_ready_i};
  f_alone_q <= rst_ni && f_alone;
end
always_comb if (rst_ni && &f_free_q && f_alone && f_alone_q && grant_ready_i) assert ((valid_i & ~ready_o) == '0);
