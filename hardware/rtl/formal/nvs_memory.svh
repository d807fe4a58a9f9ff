// Properties of nvs_memory. Included in the module under FORMAL.
//
// The module does not look at addresses and data, so they carry the master and a number in the order of that master. Bursts of a master
// have a chosen length. Addresses by themselves: formal/nvs_address_mux.svh.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

localparam int unsigned FSeq = 3;  // bits of a number

// Length of each master's bursts: one or two beats.
logic [Masters-1:0] f_long, f_long_q;
always_ff @(posedge clk_i) f_long_q <= f_started ? f_long_q : f_long;

// Masters: numbers of addresses and beats given and arrived, place in the burst; data at most two bursts ahead of or behind addresses.
logic [FSeq*Masters-1:0] f_aw_q = '0, f_w_q = '0, f_aw_out_q = '0, f_w_out_q = '0;
logic [Masters-1:0]      f_second_q = '0;
logic [3*Masters-1:0]    f_responses_q = '0, f_reads_q = '0, f_reads_out_q = '0;
always_ff @(posedge clk_i) if (rst_ni) begin
  for (integer m = 0; m < Masters; m++) begin
    if (aw_valid_i[m] && aw_ready_o[m]) f_aw_q[FSeq*m +: FSeq] <= f_aw_q[FSeq*m +: FSeq] + 1'b1;
    if (w_valid_i[m] && w_ready_o[m]) begin
      f_w_q[FSeq*m +: FSeq] <= f_w_q[FSeq*m +: FSeq] + 1'b1;
      f_second_q[m] <= f_long_q[m] && !f_second_q[m];
    end
    if (mem_aw_valid_o && mem_aw_ready_i && 32'(mem_aw_id_o) == m) f_aw_out_q[FSeq*m +: FSeq] <= f_aw_out_q[FSeq*m +: FSeq] + 1'b1;
    if (mem_w_valid_o && mem_w_ready_i && 32'(mem_w_data_o[FSeq]) == m) f_w_out_q[FSeq*m +: FSeq] <= f_w_out_q[FSeq*m +: FSeq] + 1'b1;
    if (mem_r_valid_i && mem_r_ready_o && 32'(mem_r_id_i) == m) f_reads_q[3*m +: 3] <= f_reads_q[3*m +: 3] + 1'b1;
    if (r_valid_o[m] && r_ready_i[m]) f_reads_out_q[3*m +: 3] <= f_reads_out_q[3*m +: 3] + 1'b1;
  end
end
always_comb if (rst_ni) begin
  for (integer m = 0; m < Masters; m++) begin
    assume (aw_addr_i[RingWidth*m +: RingWidth] == RingWidth'({1'(m), f_aw_q[FSeq*m +: FSeq]}));
    assume (aw_len_i[8*m +: 8] == 8'(f_long_q[m]));
    assume (w_data_i[DataWidth*m +: DataWidth] == DataWidth'({1'(m), f_w_q[FSeq*m +: FSeq]}));
    assume (w_strb_i[BeatBytes*m +: BeatBytes] == BeatBytes'(m));
    assume (w_last_i[m] == (!f_long_q[m] || f_second_q[m]));
  end
  if (mem_r_valid_i) begin
    assume (32'(mem_r_id_i) < Masters);
    assume (mem_r_data_i == DataWidth'({mem_r_id_i[0], f_reads_q[3*mem_r_id_i[0] +: 3]}));
    assume (mem_r_last_i == mem_r_data_i[0] && mem_r_resp_i[1] == mem_r_data_i[1]);
  end
  if (mem_b_valid_i) assume (32'(mem_b_id_i) < Masters);
end

// Addresses that were offered to memory, oldest first: bursts whose data have not all left.
localparam int unsigned FBursts = 16;
logic [FBursts-1:0] f_bursts_q = '0;  // their masters
logic [4:0]         f_bursts_count_q = '0, f_first;
logic               f_offered_q = 1'b0, f_offer, f_end, f_in_burst_q = 1'b0;
logic               f_master;
assign f_offer  = mem_aw_valid_o && !f_offered_q;
assign f_end    = mem_w_valid_o && mem_w_ready_i && mem_w_last_o;
assign f_master = mem_w_data_o[FSeq];
assign f_first  = f_bursts_count_q - 5'(f_end);
always_ff @(posedge clk_i) if (rst_ni) begin
  f_offered_q      <= mem_aw_valid_o && !mem_aw_ready_i;
  f_bursts_count_q <= f_first + 5'(f_offer);
  if (f_end) f_bursts_q <= f_bursts_q >> 1;
  if (f_offer) f_bursts_q[f_first[3:0]] <= mem_aw_id_o[0];
  if (mem_w_valid_o && mem_w_ready_i) f_in_burst_q <= !mem_w_last_o;
end

always_comb if (rst_ni) begin
  if (mem_aw_valid_o) begin
    assert (32'(mem_aw_id_o) < Masters && mem_aw_len_o == 8'(f_long_q[mem_aw_id_o[0]]));
    assert (mem_aw_addr_o == RingWidth'({mem_aw_id_o[0], f_aw_out_q[FSeq*mem_aw_id_o[0] +: FSeq]}));
  end
  // Data: the next of its master, in the burst of the oldest address, which was offered before.
  if (mem_w_valid_o) begin
    assert (f_bursts_count_q != '0 && f_bursts_q[0] == f_master);
    assert (mem_w_data_o == DataWidth'({f_master, f_w_out_q[FSeq*f_master +: FSeq]}));
    assert (mem_w_strb_o == BeatBytes'(f_master));
    assert (mem_w_last_o == (!f_long_q[f_master] || f_in_burst_q));
  end
  // Read data: the next of their master.
  for (integer m = 0; m < Masters; m++) begin
    if (r_valid_o[m]) begin
      assert (r_data_o == DataWidth'({1'(m), f_reads_out_q[3*m +: 3]}));
      assert (r_last_o == r_data_o[0] && r_error_o == r_data_o[1]);
    end
  end
  assert ((r_valid_o & (r_valid_o - 1'b1)) == '0);
end

// Read data that came and were not given on are at the output in the next cycle.
always_comb if (rst_ni) assert (|r_valid_o == (f_reads_q != f_reads_out_q));

// Responses: each one is given on in the next cycle.
logic       f_response_q = 1'b0, f_error_q;
logic [2:0] f_response_id_q;
always_ff @(posedge clk_i) begin
  f_response_q    <= rst_ni && mem_b_valid_i && mem_b_ready_o;
  f_response_id_q <= mem_b_id_i;
  f_error_q       <= mem_b_resp_i[1];
end
always_comb if (rst_ni) begin
  assert (mem_b_ready_o);
  assert (b_valid_o == (f_response_q ? Masters'(8'b1 << f_response_id_q) : '0));
  if (f_response_q) assert (b_error_o == f_error_q);
end

// Outputs are stable until they are taken.
logic                           f_w_waiting_q = 1'b0, f_aw_waiting_q = 1'b0, f_ar_waiting_q = 1'b0;
logic [Masters-1:0]             f_r_waiting_q = '0;
logic [WriteWidth-1:0]          f_w_old_q;
logic [AddressWidth+2:0]        f_aw_old_q, f_ar_old_q;
logic [DataWidth+1:0]           f_r_old_q;
always_ff @(posedge clk_i) begin
  f_w_waiting_q  <= rst_ni && mem_w_valid_o && !mem_w_ready_i;
  f_aw_waiting_q <= rst_ni && mem_aw_valid_o && !mem_aw_ready_i;
  f_ar_waiting_q <= rst_ni && mem_ar_valid_o && !mem_ar_ready_i;
  f_r_waiting_q  <= rst_ni ? r_valid_o & ~r_ready_i : '0;
  f_w_old_q      <= {mem_w_data_o, mem_w_strb_o, mem_w_last_o};
  f_aw_old_q     <= {mem_aw_id_o, mem_aw_addr_o, mem_aw_len_o};
  f_ar_old_q     <= {mem_ar_id_o, mem_ar_addr_o, mem_ar_len_o};
  f_r_old_q      <= {r_data_o, r_last_o, r_error_o};
end
always_comb if (rst_ni) begin
  if (f_w_waiting_q) assert (mem_w_valid_o && {mem_w_data_o, mem_w_strb_o, mem_w_last_o} == f_w_old_q);
  if (f_aw_waiting_q) assert (mem_aw_valid_o && {mem_aw_id_o, mem_aw_addr_o, mem_aw_len_o} == f_aw_old_q);
  if (f_ar_waiting_q) assert (mem_ar_valid_o && {mem_ar_id_o, mem_ar_addr_o, mem_ar_len_o} == f_ar_old_q);
  for (integer m = 0; m < Masters; m++) if (f_r_waiting_q[m]) assert (r_valid_o[m] && {r_data_o, r_last_o, r_error_o} == f_r_old_q);
end

// A beat that is not given to the output queue stays the next one of its master.
logic [Masters-1:0]            f_beat_waiting_q = '0;
logic [WriteWidth*Masters-1:0] f_beat_old_q;
always_ff @(posedge clk_i) begin
  f_beat_waiting_q <= rst_ni ? beat_valid & ~beat_go : '0;
  f_beat_old_q     <= beat;
end
always_comb if (rst_ni) begin
  for (integer m = 0; m < Masters; m++) begin
    if (f_beat_waiting_q[m]) assert (beat_valid[m] && beat[WriteWidth*m +: WriteWidth] == f_beat_old_q[WriteWidth*m +: WriteWidth]);
  end
end

// Full rate: while all masters have addresses and data and memory takes them, a beat leaves per cycle.
logic [2:0] f_flow_q = '0;
always_ff @(posedge clk_i) begin
  if (!rst_ni || !(&f_long_q) || !(&aw_valid_i) || !(&w_valid_i) || !mem_aw_ready_i || !mem_w_ready_i) f_flow_q <= '0;
  else if (f_flow_q != 3'd6) f_flow_q <= f_flow_q + 1'b1;
end
always_comb if (rst_ni) begin
  if (f_flow_q == 3'd6) assert (mem_w_valid_o);
  if (mem_r_valid_i && &r_ready_i) assert (mem_r_ready_o || f_r_waiting_q != '0);
end
