// Properties of nvs_tlp_inbound. Included in the module under FORMAL.
//
// Every packet of the proof asks for the same: a chosen lane and a chosen number of dwords, so that it is known without a queue which packet a
// word belongs to. Each dword of payload carries its place in the packet.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

logic [LaneWidth-1:0] f_lane, f_lane_q;
logic [2:0]           f_dwords, f_dwords_q;
always_ff @(posedge clk_i) begin
  f_lane_q   <= f_started ? f_lane_q : f_lane;
  f_dwords_q <= f_started ? f_dwords_q : f_dwords;
end

// The block: place of the beat in its packet; kind of the packet.
logic [2:0] f_beat_q = '0;
logic       f_write_q = 1'b0;
logic       f_take;
assign f_take = s_valid_i && s_ready_o;
always_ff @(posedge clk_i) begin
  if (!rst_ni || aborting) f_beat_q <= '0;
  else if (f_take) f_beat_q <= s_last_i ? '0 : f_beat_q + 1'b1;
  if (rst_ni && f_take && f_beat_q == '0) f_write_q <= s_kind_i == KindWrite;
end
logic f_any_write;
assign f_any_write = f_beat_q == '0 ? s_kind_i == KindWrite : f_write_q;
always_comb if (rst_ni) begin
  assume (f_dwords_q != '0 && f_dwords_q <= 5);
  assume (s_addr_i[2 +: LaneWidth] == f_lane_q && s_addr_i[11:2+LaneWidth] == '0 && s_dwords_i == 11'(f_dwords_q));
  for (integer m = 0; m < Lanes; m++) begin
    // Place: the first dword behind the header has 1.
    assume (s_data_i[32*m +: 32] == 32'(Lanes * f_beat_q + m + 1 - HeaderLanes));
    assume (s_strb_i[4*m +: 4] ==
      (32'(f_beat_q) * Lanes + m >= HeaderLanes && 32'(f_beat_q) * Lanes + m < HeaderLanes + 32'(f_dwords_q) ? 4'hf : 4'h0));
  end
  // A packet of a read is one beat; one of a write is as long as its header says.
  assume (s_last_i == (!f_any_write || (f_beat_q + 1) * Lanes >= HeaderLanes + 32'(f_dwords_q)));
end

// Bursts: as many words as address and length ask for, and none more than addresses.
logic [2:0]  f_word_q = '0;    // number of the word in its burst
logic [7:0]  f_len;
assign f_len = 8'((32'(f_lane_q) + 32'(f_dwords_q) - 1) / Lanes);
always_ff @(posedge clk_i) if (rst_ni) begin
  if (w_valid_o && w_ready_i) f_word_q <= w_last_o ? '0 : f_word_q + 1'b1;
end
logic f_damage_q = 1'b0;  // words outside may be among the bursts
always_ff @(posedge clk_i) if (rst_ni) f_damage_q <= f_damage_q || poisoned_i || (f_take && s_bad_i) || abort_i;
always_comb if (rst_ni) begin
  if (aw_valid_o) assert (aw_len_o == f_len || (f_damage_q && aw_addr_o == Outside && aw_len_o == '0));
  if (ar_valid_o) assert (ar_len_o == f_len && ar_addr_o[2+LaneWidth-1:0] == '0);
  // Without damage: each dword in its lane, and no other strobe.
  if (w_valid_o && !f_damage_q) begin
    assert (w_last_o == (8'(f_word_q) == f_len));
    for (integer m = 0; m < Lanes; m++) begin
      if (32'(f_word_q) * Lanes + m >= 32'(f_lane_q) && 32'(f_word_q) * Lanes + m < 32'(f_lane_q) + 32'(f_dwords_q)) begin
        assert (w_strb_o[4*m +: 4] == 4'hf && w_data_o[32*m +: 32] == 32'(f_word_q) * Lanes + m - 32'(f_lane_q) + 1);
      end else begin
        assert (w_strb_o[4*m +: 4] == 4'h0);
      end
    end
  end
  // With it, too, no burst is longer than its address says.
  assert (8'(f_word_q) <= f_len);
end

// Addresses and ends of bursts: as many of the one as of the other, when nothing is under way.
logic [3:0] f_aws_q = '0, f_ends_q = '0, f_writes_q = '0, f_reads_q = '0, f_ars_q = '0, f_entries_q = '0, f_others_q = '0;
always_ff @(posedge clk_i) if (rst_ni) begin
  f_aws_q     <= f_aws_q + 4'(aw_valid_o && aw_ready_i);
  f_ends_q    <= f_ends_q + 4'(w_valid_o && w_ready_i && w_last_o);
  f_ars_q     <= f_ars_q + 4'(ar_valid_o && ar_ready_i);
  f_entries_q <= f_entries_q + 4'(read_valid_o && read_ready_i);
  f_others_q  <= f_others_q + 4'(read_valid_o && read_ready_i && read_unsupported_o);
  if (f_take && f_beat_q == '0) begin
    f_writes_q <= f_writes_q + 4'(s_kind_i == KindWrite);
    f_reads_q  <= f_reads_q + 4'(s_kind_i == KindRead || s_kind_i == KindOther);
  end
end
logic f_quiet;
assign f_quiet = !a_valid && !b_valid_q && !aw_valid_o && !w_valid_o && !ar_valid_o && !inject_q && first_q;
always_comb if (rst_ni) begin
  if (f_quiet) assert (f_aws_q == f_ends_q && 4'(f_ars_q + f_others_q) == f_entries_q);
  if (f_quiet && !f_damage_q) assert (f_aws_q == f_writes_q && f_entries_q == f_reads_q);
  if (f_quiet && !f_damage_q) assert (begun_o[3:0] == f_writes_q);
  if (read_valid_o && !read_unsupported_o) assert (read_dwords_o == 11'(f_dwords_q) && read_addr_o[11:2] == 10'(f_lane_q));
end

// What is given up has an end: after the abort nothing is under way once the core has taken what it was offered.
logic [3:0] f_taking_q = '0;
always_ff @(posedge clk_i) begin
  if (!rst_ni || abort_i || s_valid_i || !aw_ready_i || !w_ready_i || !ar_ready_i || !read_ready_i || poisoned_i) f_taking_q <= '0;
  else if (!(&f_taking_q)) f_taking_q <= f_taking_q + 1'b1;
end
always_comb if (rst_ni && f_taking_q >= 4'd10 && f_beat_q == '0) assert (f_quiet);

// Outputs are stable until they are taken.
logic                         f_aw_waiting_q = 1'b0, f_w_waiting_q = 1'b0, f_ar_waiting_q = 1'b0;
logic [47:0]                  f_aw_old_q, f_ar_old_q;
logic [DataWidth+BeatBytes:0] f_w_old_q;
always_ff @(posedge clk_i) begin
  f_aw_waiting_q <= rst_ni && aw_valid_o && !aw_ready_i;
  f_w_waiting_q  <= rst_ni && w_valid_o && !w_ready_i;
  f_ar_waiting_q <= rst_ni && ar_valid_o && !ar_ready_i;
  f_aw_old_q     <= {aw_addr_o, aw_len_o};
  f_ar_old_q     <= {ar_addr_o, ar_len_o};
  f_w_old_q      <= {w_data_o, w_strb_o, w_last_o};
end
always_comb if (rst_ni) begin
  if (f_aw_waiting_q) assert (aw_valid_o && {aw_addr_o, aw_len_o} == f_aw_old_q);
  if (f_ar_waiting_q) assert (ar_valid_o && {ar_addr_o, ar_len_o} == f_ar_old_q);
  if (f_w_waiting_q)  assert (w_valid_o && {w_data_o, w_strb_o, w_last_o} == f_w_old_q);
end
