// Properties of nvs_tlp_us. Included in the module under FORMAL.
//
// The parts have proofs of their own. Here is what this module adds: that each field of a descriptor is where PG213 has it and comes from the request
// that it belongs to, that packets on RQ and CC are whole and stable, and that each request of the drive and each access of the core has its one
// answer. A dword of payload carries its lane on the core's side, above that a chosen number. With Reads = 4 the drive asks for nothing, with 8 the core
// does not, so that sequences can be longer.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

logic [31:0] f_any, f_any_q;    // the number in each dword
logic [1:0]  f_pick, f_pick_q;  // the request of the drive that is looked at, by its place among those of its kind
always_ff @(posedge clk_i) begin
  f_any_q  <= f_started ? f_any_q : f_any;
  f_pick_q <= f_started ? f_pick_q : f_pick;
end

always_comb begin
  if (Reads == 4) assume (!cq_valid_i && !poisoned_i);
  if (Reads == 8) assume (!bar_aw_valid_i && !bar_w_valid_i && !bar_ar_valid_i && !rc_valid_i);
end

// The block was in reset, or a packet was damaged.
logic f_abort_q = 1'b0, f_damage_q = 1'b0, f_aborted, f_damaged;
assign f_aborted = f_abort_q || block_reset_i;
assign f_damaged = f_damage_q || poisoned_i || (cq_valid_i && cq_user_i[Wide ? 96 : 41]);
always_ff @(posedge clk_i) if (rst_ni) begin
  f_abort_q  <= f_aborted;
  f_damage_q <= f_damaged;
end

// ---- CQ: packets of the drive, whole ones. Lengths are small and within 4 KiB, all bytes are enabled.

logic        f_cq_take, f_cq_posted, f_cq_np, f_cq_write, f_cq_supported;
logic [2:0]  f_cq_beat_q = '0;
logic        f_cq_write_q = 1'b0;
logic [10:0] f_cq_dwords, f_cq_dwords_q;
logic [LaneWidth-1:0] f_cq_low, f_cq_low_q;  // lane of the address
logic [3:0]  f_cq_kind;
assign f_cq_kind      = cq_data_i[78:75];
assign f_cq_take      = cq_valid_i && cq_ready_o;
assign f_cq_supported = f_cq_kind == 4'd0;
assign f_cq_posted    = f_cq_kind == 4'd1 || f_cq_kind >= 4'd12;
assign f_cq_np        = f_cq_beat_q == '0 && !f_cq_posted;
assign f_cq_write     = f_cq_beat_q == '0 ? f_cq_kind == 4'd1 : f_cq_write_q;
assign f_cq_dwords    = f_cq_beat_q == '0 ? cq_data_i[74:64] : f_cq_dwords_q;
assign f_cq_low       = f_cq_beat_q == '0 ? cq_data_i[2+:LaneWidth] : f_cq_low_q;
always_ff @(posedge clk_i) begin
  if (!rst_ni) f_cq_beat_q <= '0;
  else if (f_cq_take) begin
    f_cq_beat_q   <= cq_last_i ? '0 : f_cq_beat_q + 1'b1;
    f_cq_write_q  <= f_cq_write;
    f_cq_dwords_q <= f_cq_dwords;
    f_cq_low_q    <= f_cq_low;
  end
end
always_comb if (rst_ni) begin
  assume (f_cq_dwords != '0 && f_cq_dwords <= 11'd5);
  if (f_cq_beat_q == '0) begin
    assume (11'(cq_data_i[11:2]) + cq_data_i[74:64] <= 11'd1024);
    assume (cq_user_i[3:0] == 4'hf && cq_user_i[(Wide ? 8 : 4) +: 4] == (f_cq_dwords == 11'd1 ? 4'h0 : 4'hf));
  end
  assume (cq_last_i == (!f_cq_write || (32'(f_cq_beat_q) + 1) * Lanes >= 4 + 32'(f_cq_dwords)));
  for (integer m = 0; m < Lanes; m++) begin
    if (32'(f_cq_beat_q) * Lanes + m >= 4) assume (cq_data_i[32*m +: 32] == {f_any_q[31:LaneWidth], LaneWidth'(f_cq_low + LaneWidth'(m - 4))});
    assume (cq_user_i[(Wide ? 16 : 8) + 4*m +: 4] == (f_cq_write && 32'(f_cq_beat_q) * Lanes + m >= 4
      && 32'(f_cq_beat_q) * Lanes + m < 4 + 32'(f_cq_dwords) ? 4'hf : 4'h0));
  end
end

// Requests that want a completion, one of them looked at; the block holds one back for which pcie_cq_np_req gave no credit.
logic [3:0]  f_np_q = '0, f_credit_q = '0, f_done_q = '0;
logic [63:2] f_np_addr_q;
logic [10:0] f_np_dwords_q;
logic [29:0] f_np_label_q;  // attributes, class, requester, tag
logic        f_np_supported_q;
always_ff @(posedge clk_i) if (rst_ni) begin
  f_credit_q <= f_credit_q + 4'(cq_np_req_o) - 4'(f_cq_take && f_cq_np);
  if (f_cq_take && f_cq_np) begin
    f_np_q <= f_np_q + 1'b1;
    if (f_np_q == 4'(f_pick_q)) begin
      f_np_addr_q      <= cq_data_i[63:2];
      f_np_dwords_q    <= cq_data_i[74:64];
      f_np_label_q     <= {cq_data_i[126:121], cq_data_i[95:80], cq_data_i[103:96]};
      f_np_supported_q <= f_cq_supported;
    end
  end
end
always_comb if (rst_ni) begin
  if (f_cq_np && f_credit_q == '0) assume (!cq_valid_i);
  // There is room for what has credit; two completions may be in the register slice of CC.
  if (!f_aborted) assert (32'(f_credit_q) + 32'(4'(f_np_q - f_done_q)) <= Reads + 2);
end

// ---- Bursts of the core: each write and each read of the drive has one, with its address.

logic [3:0]  f_wr_q = '0, f_aws_q = '0, f_lasts_q = '0, f_bs_q = '0, f_rd_q = '0, f_ars_q = '0;
logic [6:0]  f_wr_dwords_q = '0, f_w_dwords_q = '0, f_strobed;
logic [63:0] f_wr_addr_q, f_rd_addr_q;
logic [10:0] f_wr_len_q, f_rd_len_q;
logic [5:0]  f_due_q = '0;  // words of r_*
logic [39:0] f_wr_bus, f_rd_bus;
logic [7:0]  f_wr_len, f_rd_len;
assign f_wr_bus = {f_wr_addr_q[63:40] == BusBase[63:40] ? f_wr_addr_q[39:12] : 28'hfffffff, f_wr_addr_q[11:2+LaneWidth], (2+LaneWidth)'(0)};
assign f_rd_bus = {f_rd_addr_q[63:40] == BusBase[63:40] ? f_rd_addr_q[39:12] : 28'hfffffff, f_rd_addr_q[11:2+LaneWidth], (2+LaneWidth)'(0)};
assign f_wr_len = 8'((32'(f_wr_addr_q[2+:LaneWidth]) + 32'(f_wr_len_q) - 1) / Lanes);
assign f_rd_len = 8'((32'(f_rd_addr_q[2+:LaneWidth]) + 32'(f_rd_len_q) - 1) / Lanes);
always_comb begin
  f_strobed = '0;
  for (integer m = 0; m < Lanes; m++) f_strobed = f_strobed + 7'(w_strb_o[4*m]);
end
always_ff @(posedge clk_i) if (rst_ni) begin
  if (f_cq_take && f_cq_beat_q == '0 && f_cq_kind == 4'd1) begin
    f_wr_q        <= f_wr_q + 1'b1;
    f_wr_dwords_q <= f_wr_dwords_q + 7'(cq_data_i[74:64]);
    if (f_wr_q == 4'(f_pick_q)) begin
      f_wr_addr_q <= cq_data_i[63:0];
      f_wr_len_q  <= cq_data_i[74:64];
    end
  end
  if (f_cq_take && f_cq_np && f_cq_supported) begin
    f_rd_q <= f_rd_q + 1'b1;
    if (f_rd_q == 4'(f_pick_q)) begin
      f_rd_addr_q <= cq_data_i[63:0];
      f_rd_len_q  <= cq_data_i[74:64];
    end
  end
  f_aws_q   <= f_aws_q + 4'(aw_valid_o && aw_ready_i);
  f_ars_q   <= f_ars_q + 4'(ar_valid_o && ar_ready_i);
  f_lasts_q <= f_lasts_q + 4'(w_valid_o && w_ready_i && w_last_o);
  f_bs_q    <= f_bs_q + 4'(b_valid_i);
  if (w_valid_o && w_ready_i) f_w_dwords_q <= f_w_dwords_q + f_strobed;
  f_due_q   <= f_due_q + (ar_valid_o && ar_ready_i ? 6'(ar_len_o) + 1'b1 : '0) - 6'(r_valid_i && r_ready_o);
end
always_comb if (rst_ni) begin
  if (f_bs_q == f_lasts_q || f_bs_q == f_aws_q) assume (!b_valid_i);
  if (f_due_q == '0) assume (!r_valid_i);
  for (integer m = 0; m < Lanes; m++) assume (r_data_i[32*m +: 32] == {f_any_q[31:LaneWidth], LaneWidth'(m)});
  assert (32'(aw_size_o) == $clog2(BeatBytes) && 32'(ar_size_o) == $clog2(BeatBytes) && aw_burst_o == 2'b01 && ar_burst_o == 2'b01);
  if (!f_abort_q && !f_damage_q) begin
    if (aw_valid_o) assert (f_aws_q != f_wr_q);
    if (aw_valid_o && f_aws_q == 4'(f_pick_q)) assert (aw_addr_o == f_wr_bus && aw_len_o == f_wr_len);
    if (w_valid_o) assert (f_lasts_q != f_wr_q && f_w_dwords_q + f_strobed <= f_wr_dwords_q);
  end
  if (!f_abort_q) begin
    if (ar_valid_o) assert (f_ars_q != f_rd_q);
    if (ar_valid_o && f_ars_q == 4'(f_pick_q)) assert (ar_addr_o == f_rd_bus && ar_len_o == f_rd_len);
  end
  if (w_valid_o) begin
    for (integer m = 0; m < Lanes; m++) begin
      assert (w_strb_o[4*m +: 4] == 4'h0 || w_strb_o[4*m +: 4] == 4'hf);
      if (w_strb_o[4*m]) assert (w_data_o[32*m +: 32] == {f_any_q[31:LaneWidth], LaneWidth'(m)});
    end
  end
end

// What came has left when the drive has paused and the core takes: all writes with all their dwords, all reads; and a damaged write is followed
// by one outside.
logic [2:0] f_pause_q = '0;
logic       f_hurt_q = 1'b0, f_outside_q = 1'b0;
always_ff @(posedge clk_i) begin
  if (!rst_ni || cq_valid_i || poisoned_i || !aw_ready_i || !w_ready_i || !ar_ready_i || f_aborted) f_pause_q <= '0;
  else if (!(&f_pause_q)) f_pause_q <= f_pause_q + 1'b1;
  if (rst_ni) begin
    f_hurt_q    <= f_hurt_q || poisoned_i || (f_cq_take && f_cq_write && cq_user_i[Wide ? 96 : 41]);
    f_outside_q <= f_outside_q || (aw_valid_o && aw_ready_i && aw_addr_o == 40'hff_ffff_f000 && aw_len_o == '0);
  end
end
always_comb if (rst_ni && f_pause_q >= 3'd6 && f_cq_beat_q == '0 && f_wr_dwords_q <= 7'd8) begin
  if (f_hurt_q) assert (f_outside_q);
  else assert (f_aws_q == f_wr_q && f_lasts_q == f_wr_q && f_w_dwords_q == f_wr_dwords_q);
end

// ---- CC: packets are whole, and those of a request have its label, address and data.

logic        f_cc_take, f_cc_ends, f_cc_unsupported;
logic [2:0]  f_cc_beat_q = '0;
logic [10:0] f_cc_sent_q = '0;  // dwords in completions of the request before this one
logic [10:0] f_cc_dwords, f_cc_dwords_q;
logic [LaneWidth-1:0] f_cc_low, f_cc_low_q;
logic        f_cc_final, f_cc_final_q;  // the request is complete with this packet
assign f_cc_take        = cc_valid_o && cc_ready_i;
assign f_cc_ends        = (32'(f_cc_beat_q) + 1) * Lanes >= 3 + 32'(f_cc_dwords);
assign f_cc_unsupported = cc_data_o[45:43] != '0;
assign f_cc_dwords      = f_cc_beat_q == '0 ? cc_data_o[42:32] : f_cc_dwords_q;
assign f_cc_low         = f_cc_beat_q == '0 ? cc_data_o[2+:LaneWidth] : f_cc_low_q;
assign f_cc_final       = f_cc_beat_q == '0 ? f_cc_unsupported || {cc_data_o[42:32], 2'b00} >= cc_data_o[28:16] : f_cc_final_q;
always_ff @(posedge clk_i) if (rst_ni && f_cc_take) begin
  f_cc_beat_q   <= cc_last_o ? '0 : f_cc_beat_q + 1'b1;
  f_cc_dwords_q <= f_cc_dwords;
  f_cc_low_q    <= f_cc_low;
  f_cc_final_q  <= f_cc_final;
  if (cc_last_o && f_cc_final)  f_done_q <= f_done_q + 1'b1;
  if (cc_last_o)                f_cc_sent_q <= f_cc_final ? '0 : f_cc_sent_q + f_cc_dwords;
end
always_comb if (rst_ni && cc_valid_o && !f_aborted) begin
  assert (f_done_q != f_np_q);
  assert (cc_last_o == f_cc_ends);
  for (integer m = 0; m < Lanes; m++) begin
    assert (cc_keep_o[m] == (32'(f_cc_beat_q) * Lanes + m < 3 + 32'(f_cc_dwords)));
    if (cc_keep_o[m] && 32'(f_cc_beat_q) * Lanes + m >= 3) assert (cc_data_o[32*m +: 32] == {f_any_q[31:LaneWidth], LaneWidth'(f_cc_low + LaneWidth'(m - 3))});
  end
  if (f_cc_beat_q == '0) begin
    assert (cc_data_o[15:7] == '0 && cc_data_o[31:29] == '0 && cc_data_o[47:46] == '0 && cc_data_o[88:72] == 17'h10000 && !cc_data_o[95]);
    if (f_done_q == 4'(f_pick_q)) begin
      assert ({cc_data_o[94:89], cc_data_o[63:48], cc_data_o[71:64]} == f_np_label_q);
      if (f_np_supported_q) begin
        assert (cc_data_o[45:43] == 3'b000 && cc_data_o[42:32] != '0);
        assert (f_cc_sent_q + cc_data_o[42:32] <= f_np_dwords_q);
        assert (cc_data_o[28:16] == {f_np_dwords_q - f_cc_sent_q, 2'b00});
        assert (cc_data_o[6:0] == 7'({f_np_addr_q + 62'(f_cc_sent_q), 2'b00}));
        // It ends with the request or at a multiple of the payload size.
        if (!f_cc_final) assert (10'(10'(f_np_addr_q) + 10'(f_cc_sent_q) + 10'(cc_data_o[42:32])) % (10'd32 << cfg_max_payload_i) == '0);
      end else begin
        assert (cc_data_o[45:43] == 3'b001 && cc_data_o[42:32] == '0 && cc_data_o[28:16] == 13'd4);
      end
    end
  end
end
logic [1:0] f_mps_q;
always_ff @(posedge clk_i) f_mps_q <= cfg_max_payload_i;
always_comb if (f_started) assume (cfg_max_payload_i == f_mps_q);

// ---- Accesses of the core: one of each kind at a time, stable until they are taken, as nvs_requester.

logic [1:0]  f_aw_open_q = '0, f_w_open_q = '0, f_ar_open_q = '0;
logic        f_aw_waiting_q = 1'b0, f_w_waiting_q = 1'b0, f_ar_waiting_q = 1'b0;
logic [31:0] f_aw_q, f_ar_q;  // of the access that was taken
logic [35:0] f_w_q;
logic [31:0] f_aw_old_q, f_ar_old_q;
logic [35:0] f_w_old_q;
always_ff @(posedge clk_i) begin
  f_aw_waiting_q <= rst_ni && bar_aw_valid_i && !bar_aw_ready_o;
  f_w_waiting_q  <= rst_ni && bar_w_valid_i && !bar_w_ready_o;
  f_ar_waiting_q <= rst_ni && bar_ar_valid_i && !bar_ar_ready_o;
  f_aw_old_q     <= bar_aw_addr_i;
  f_ar_old_q     <= bar_ar_addr_i;
  f_w_old_q      <= {bar_w_data_i, bar_w_strb_i};
  if (rst_ni) begin
    f_aw_open_q <= f_aw_open_q + 2'(bar_aw_valid_i && bar_aw_ready_o) - 2'(bar_b_valid_o && bar_b_ready_i);
    f_w_open_q  <= f_w_open_q + 2'(bar_w_valid_i && bar_w_ready_o) - 2'(bar_b_valid_o && bar_b_ready_i);
    f_ar_open_q <= f_ar_open_q + 2'(bar_ar_valid_i && bar_ar_ready_o) - 2'(bar_r_valid_o && bar_r_ready_i);
    if (bar_aw_valid_i && bar_aw_ready_o) f_aw_q <= bar_aw_addr_i;
    if (bar_ar_valid_i && bar_ar_ready_o) f_ar_q <= bar_ar_addr_i;
    if (bar_w_valid_i && bar_w_ready_o)   f_w_q  <= {bar_w_data_i, bar_w_strb_i};
  end
end
always_comb if (rst_ni) begin
  if (f_aw_waiting_q) assume (bar_aw_valid_i && bar_aw_addr_i == f_aw_old_q);
  if (f_ar_waiting_q) assume (bar_ar_valid_i && bar_ar_addr_i == f_ar_old_q);
  if (f_w_waiting_q)  assume (bar_w_valid_i && {bar_w_data_i, bar_w_strb_i} == f_w_old_q);
  assert (f_aw_open_q <= 2'd1 && f_w_open_q <= 2'd1 && f_ar_open_q <= 2'd1);
  if (bar_b_valid_o) assert (f_aw_open_q == 2'd1 && f_w_open_q == 2'd1);
  if (bar_r_valid_o) assert (f_ar_open_q == 2'd1);
end

// RQ: a packet is one access of one dword, with the next tag. It belongs to an access that is open when it begins; what it carries then, it keeps.
logic         f_rq_open_q = 1'b0;    // it has begun and has not been taken
logic         f_rq_second_q = 1'b0;  // its next beat is the second one
logic         f_rq_begins, f_rq_write, f_rq_config, f_rq_take;
logic [127:0] f_rq_descriptor;
logic [31:0]  f_rq_addr;             // of the access that it may be
logic [4:0]   f_rq_tag_q = '0;       // of the next packet
logic [4:0]   f_rq_last_tag_q;       // of the newest packet
assign f_rq_descriptor = rq_data_o[127:0];
assign f_rq_begins     = rq_valid_o && !f_rq_open_q;
assign f_rq_take       = rq_valid_o && rq_ready_i;
assign f_rq_write      = f_rq_descriptor[75] || f_rq_descriptor[76];
assign f_rq_config     = f_rq_descriptor[78];
assign f_rq_addr       = f_rq_write ? f_aw_q : f_ar_q;
always_ff @(posedge clk_i) begin
  if (!rst_ni || abort) begin
    f_rq_open_q   <= 1'b0;
    f_rq_second_q <= 1'b0;
  end else if (rq_valid_o) begin
    f_rq_open_q   <= !(rq_ready_i && rq_last_o);
    f_rq_second_q <= rq_ready_i ? !rq_last_o : f_rq_second_q;
  end
  if (rst_ni && !f_aborted && f_rq_begins) begin
    f_rq_tag_q      <= f_rq_tag_q + 1'b1;
    f_rq_last_tag_q <= f_rq_descriptor[100:96];
  end
end
logic [31:0] f_rq_data_q;
always_ff @(posedge clk_i) if (f_rq_begins) f_rq_data_q <= f_w_q[35:4];
always_comb if (rst_ni) begin
  if (f_rq_begins) begin
    assert (f_rq_write ? f_aw_open_q == 2'd1 && f_w_open_q == 2'd1 : f_ar_open_q == 2'd1);
    assert (f_rq_descriptor[78:75] == (f_rq_addr[31] ? (f_rq_write ? 4'b1010 : 4'b1000) : f_rq_write ? 4'b0001 : 4'b0000));
    assert (f_rq_descriptor[63:0] == (f_rq_addr[31] ? {52'b0, f_rq_addr[11:2], 2'b00} : {32'b0, f_rq_addr[31:2], 2'b00}));
    assert (f_rq_descriptor[119:104] == (f_rq_addr[31] ? f_rq_addr[27:12] : '0));
    if (f_rq_addr[31]) assert (f_rq_addr[30:15] == 16'h0020);
    assert (f_rq_descriptor[74:64] == 11'd1 && f_rq_descriptor[95:79] == '0 && f_rq_descriptor[127:120] == 8'h01);
    assert (f_rq_descriptor[103:101] == '0);
    if (!f_aborted) assert (f_rq_descriptor[100:96] == f_rq_tag_q);
    assert (rq_user_o[3:0] == (f_rq_write ? f_w_q[3:0] : 4'hf));
    assert (rq_last_o == (Lanes > 4 || !f_rq_write));
    for (integer m = 0; m < Lanes; m++) assert (rq_keep_o[m] == (m < 4 || (m == 4 && f_rq_write)));
    if (Lanes > 4 && f_rq_write) assert (rq_data_o >> 128 == DataWidth'(f_w_q[35:4]));
  end
  if (rq_valid_o) begin
    if (f_rq_second_q) assert (rq_last_o && rq_keep_o == Lanes'(1) && rq_data_o[31:0] == f_rq_data_q);
    assert (rq_user_o >> 4 == (Wide ? RqUser'({f_rq_write ? 4'd4 : 4'd3, 2'b00, 2'b01, 4'd0, 2'b01, 16'd0}) : '0));
  end
end

// RC: the answer of a read is that of the completion with the tag of its request, which has one dword and reports no error; one of a write to
// configuration space needs such a completion, too, one to memory only that its request was taken. No access has two requests.
logic        f_rc_first_q = 1'b1, f_rc_good, f_rc_of_write;
logic [4:0]  f_rc_tag;  // of the request whose completion is awaited
logic        f_req_q = 1'b0, f_gone_q = 1'b0, f_ok_q = 1'b0, f_mgmt_q = 1'b0;  // of the access: request begun, taken; answered, by the block itself
logic [31:0] f_ok_data_q;
logic        f_rq_was_write_q;
logic        f_answer, f_own, f_posted;
logic [31:0] f_access;  // address of the access that is answered
assign f_rc_tag      = f_rq_begins ? f_rq_descriptor[100:96] : f_rq_last_tag_q;
assign f_rc_of_write = f_rq_begins ? f_rq_write : f_rq_was_write_q;
assign f_rc_good = rc_valid_i && f_rc_first_q && rc_last_i && (f_req_q || f_rq_begins) && rc_data_i[71:64] == {3'b000, f_rc_tag} && rc_data_i[15:12] == '0
  && rc_data_i[45:43] == '0 && !rc_data_i[46] && !rc_user_i[Wide ? 96 : 42];
assign f_answer  = (bar_b_valid_o && bar_b_ready_i) || (bar_r_valid_o && bar_r_ready_i);
assign f_access  = bar_b_valid_o ? f_aw_q : f_ar_q;
assign f_own     = f_access[31] && f_access[30:12] == '0;
assign f_posted  = bar_b_valid_o && !f_access[31];
always_ff @(posedge clk_i) begin
  if (!rst_ni || abort) f_rc_first_q <= 1'b1;
  else if (rc_valid_i)  f_rc_first_q <= rc_last_i;
  if (!rst_ni || f_answer) begin
    f_req_q  <= 1'b0;
    f_gone_q <= 1'b0;
    f_ok_q   <= 1'b0;
    f_mgmt_q <= 1'b0;
  end else begin
    if (f_rq_begins) f_req_q <= 1'b1;
    if ((f_req_q || f_rq_begins) && f_rq_take && rq_last_o) f_gone_q <= 1'b1;
    if (!f_ok_q && f_rc_good && !abort && (rc_data_i[42:32] == 11'd1 || f_rc_of_write)) begin
      f_ok_q      <= 1'b1;
      f_ok_data_q <= rc_data_i[127:96];
    end
    if ((cfg_mgmt_read_o || cfg_mgmt_write_o) && cfg_mgmt_read_write_done_i) begin
      f_mgmt_q    <= 1'b1;
      f_ok_data_q <= cfg_mgmt_read_data_i;
    end
  end
end
always_ff @(posedge clk_i) if (f_rq_begins) f_rq_was_write_q <= f_rq_write;
always_comb if (rst_ni) begin
  // Nothing is completed before it is asked for.
  if (!f_rq_begins && rc_data_i[71:64] == {3'b000, f_rq_tag_q}) assume (!rc_valid_i);
  assert (rc_ready_o);
  if (f_rq_begins) assert (!f_req_q);
  if (bar_b_valid_o && bar_b_resp_o == 2'b00) assert (f_own ? f_mgmt_q : f_posted ? f_gone_q : f_ok_q);
  if (bar_r_valid_o && bar_r_resp_o == 2'b00) assert ((f_own ? f_mgmt_q : f_ok_q) && bar_r_data_o == f_ok_data_q);
  assert (!bar_b_resp_o[0] && !bar_r_resp_o[0]);
end

// The configuration port of the block: only for bus 0; Secondary Bus Reset of Bridge Control is repeated.
logic        f_mgmt_write_q = 1'b0, f_hot_q = 1'b0, f_hot;
logic [31:0] f_mgmt_addr;
assign f_mgmt_addr = cfg_mgmt_write_o ? f_aw_q : f_ar_q;
assign f_hot = cfg_mgmt_write_o && !f_mgmt_write_q && cfg_mgmt_addr_o == 10'h00f && cfg_mgmt_byte_enable_o[2] ? cfg_mgmt_write_data_o[22] : f_hot_q;
always_ff @(posedge clk_i) begin
  f_mgmt_write_q <= rst_ni && cfg_mgmt_write_o;
  f_hot_q        <= rst_ni && f_hot;
end
always_comb if (rst_ni) begin
  if (cfg_mgmt_read_o || cfg_mgmt_write_o) begin
    assert (!(cfg_mgmt_read_o && cfg_mgmt_write_o));
    assert (f_mgmt_addr[31] && f_mgmt_addr[30:12] == '0 && cfg_mgmt_addr_o == f_mgmt_addr[11:2]);
    assert (cfg_mgmt_write_o ? f_aw_open_q == 2'd1 && f_w_open_q == 2'd1 : f_ar_open_q == 2'd1);
  end
  if (cfg_mgmt_write_o) assert ({cfg_mgmt_write_data_o, cfg_mgmt_byte_enable_o} == f_w_q);
  assert (hot_reset_o == f_hot);
  // Speeds 2.5, 5, 8, 16 GT/s; 1, 2, 4, 8, 16 lanes.
  assert (link_speed_o == (cfg_current_speed_i == 2'd0 ? 4'd1 : cfg_current_speed_i == 2'd1 ? 4'd2 : cfg_current_speed_i == 2'd2 ? 4'd3 : 4'd4));
  if (cfg_negotiated_width_i <= 3'd4) assert (link_width_o[cfg_negotiated_width_i] || cfg_negotiated_width_i == 3'd4 && link_width_o == 8'd16);
end

// Reset of the block: from its first cycle to eight behind its last one nothing is given to it or taken from it.
logic [3:0] f_calm_q = '0;
always_ff @(posedge clk_i) f_calm_q <= !rst_ni ? '0 : block_reset_i ? 4'd8 : f_calm_q == '0 ? '0 : f_calm_q - 1'b1;
always_comb if (rst_ni && (block_reset_i || f_calm_q != '0)) assert (!rq_valid_o && !cc_valid_o && !cq_ready_o && !cq_np_req_o);

// Outputs are stable until they are taken.
logic f_rq_held_q = 1'b0, f_cc_held_q = 1'b0, f_aw_held_q = 1'b0, f_w_held_q = 1'b0, f_ar_held_q = 1'b0, f_b_held_q = 1'b0, f_r_held_q = 1'b0;
logic [DataWidth+Lanes+RqUser:0]  f_rq_old_q;
logic [DataWidth+Lanes+CcUser:0]  f_cc_old_q;
logic [IdWidth+47:0]              f_dev_aw_old_q, f_dev_ar_old_q;
logic [DataWidth+BeatBytes:0]     f_dev_w_old_q;
logic [33:0]                      f_r_old_q;
logic [1:0]                       f_b_old_q;
always_ff @(posedge clk_i) begin
  f_rq_held_q    <= rst_ni && rq_valid_o && !rq_ready_i;
  f_cc_held_q    <= rst_ni && cc_valid_o && !cc_ready_i;
  f_aw_held_q    <= rst_ni && aw_valid_o && !aw_ready_i;
  f_w_held_q     <= rst_ni && w_valid_o && !w_ready_i;
  f_ar_held_q    <= rst_ni && ar_valid_o && !ar_ready_i;
  f_b_held_q     <= rst_ni && bar_b_valid_o && !bar_b_ready_i;
  f_r_held_q     <= rst_ni && bar_r_valid_o && !bar_r_ready_i;
  f_rq_old_q     <= {rq_data_o, rq_keep_o, rq_user_o, rq_last_o};
  f_cc_old_q     <= {cc_data_o, cc_keep_o, cc_user_o, cc_last_o};
  f_dev_aw_old_q <= {aw_id_o, aw_addr_o, aw_len_o};
  f_dev_ar_old_q <= {ar_id_o, ar_addr_o, ar_len_o};
  f_dev_w_old_q  <= {w_data_o, w_strb_o, w_last_o};
  f_b_old_q      <= bar_b_resp_o;
  f_r_old_q      <= {bar_r_data_o, bar_r_resp_o};
end
always_comb if (rst_ni) begin
  if (f_rq_held_q && !abort) assert (rq_valid_o && {rq_data_o, rq_keep_o, rq_user_o, rq_last_o} == f_rq_old_q);
  if (f_cc_held_q && !abort) assert (cc_valid_o && {cc_data_o, cc_keep_o, cc_user_o, cc_last_o} == f_cc_old_q);
  if (f_aw_held_q) assert (aw_valid_o && {aw_id_o, aw_addr_o, aw_len_o} == f_dev_aw_old_q);
  if (f_ar_held_q) assert (ar_valid_o && {ar_id_o, ar_addr_o, ar_len_o} == f_dev_ar_old_q);
  if (f_w_held_q)  assert (w_valid_o && {w_data_o, w_strb_o, w_last_o} == f_dev_w_old_q);
  if (f_b_held_q)  assert (bar_b_valid_o && bar_b_resp_o == f_b_old_q);
  if (f_r_held_q)  assert (bar_r_valid_o && {bar_r_data_o, bar_r_resp_o} == f_r_old_q);
end
