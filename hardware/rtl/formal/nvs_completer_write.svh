// Properties of nvs_completer_write. Included in the module under FORMAL.
//
// What a bus address means; that every burst gets from the port to its words and its answer, unchanged (one burst, chosen by the solver, is
// followed); what each word does; and that every completion entry is given on after its data (one entry is followed).

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

// The drive keeps an offered word, and its bursts stay within a page.
logic                           f_w_waiting_q = 1'b0;
logic [DataWidth+BeatBytes:0]   f_w_q;
always_ff @(posedge clk_i) begin
  f_w_waiting_q <= rst_ni && dev_w_valid_i && !dev_w_ready_o;
  f_w_q         <= {dev_w_data_i, dev_w_strb_i, dev_w_last_i};
end
always_comb begin
  if (f_w_waiting_q) assume (dev_w_valid_i && {dev_w_data_i, dev_w_strb_i, dev_w_last_i} == f_w_q);
  if (dev_w_valid_i && burst_valid && (&word)) assume (dev_w_last_i);
end

// Requests to memory are stable until they are taken.
logic                         f_aw_waiting_q = 1'b0, f_mw_waiting_q = 1'b0, f_b_waiting_q = 1'b0;
logic [RingWidth+7:0]         f_aw_q;
logic [DataWidth+BeatBytes:0] f_mw_q;
logic [IdWidth-1:0]           f_b_q;
always_ff @(posedge clk_i) begin
  f_aw_waiting_q <= rst_ni && mem_aw_valid_o && !mem_aw_ready_i;
  f_aw_q         <= {mem_aw_addr_o, mem_aw_len_o};
  f_mw_waiting_q <= rst_ni && mem_w_valid_o && !mem_w_ready_i;
  f_mw_q         <= {mem_w_data_o, mem_w_strb_o, mem_w_last_o};
  f_b_waiting_q  <= rst_ni && dev_b_valid_o && !dev_b_ready_i;
  f_b_q          <= dev_b_id_o;
end
always_comb if (rst_ni) begin
  if (f_aw_waiting_q) assert (mem_aw_valid_o && {mem_aw_addr_o, mem_aw_len_o} == f_aw_q);
  if (f_mw_waiting_q) assert (mem_w_valid_o && {mem_w_data_o, mem_w_strb_o, mem_w_last_o} == f_mw_q);
  if (f_b_waiting_q) assert (dev_b_valid_o && dev_b_id_o == f_b_q);
end

// Meaning of a bus address: ranges of the address map.
localparam int unsigned OffsetWidth = SlotWidth + PageWidth + 12;  // inside the ring part
localparam logic [2:0]  KindRecord = 3'd5;
localparam logic [2:0]  KindReplay = 3'd6;
localparam logic [39:0] FControl = 40'h80_0000_0000;
localparam logic [39:0] FRing    = (4 + Drive) * Slots * ChunkPages * 4096;
logic [2:0] f_kind;
always_comb begin
  f_kind = KindNone;
  if (dev_aw_addr_i < FControl) begin
    if (dev_aw_addr_i >= FRing && dev_aw_addr_i < FRing + Slots * ChunkPages * 4096) f_kind = KindRing;
  end
  else if (dev_aw_addr_i >= FControl + 'h1000 && dev_aw_addr_i < FControl + 'h2000) f_kind = KindAdmin;
  else if (dev_aw_addr_i >= FControl + 'h3000 && dev_aw_addr_i < FControl + 'h4000) f_kind = KindRecord;
  else if (dev_aw_addr_i >= FControl + 'h5000 && dev_aw_addr_i < FControl + 'h6000) f_kind = KindReplay;
  else if (dev_aw_addr_i >= FControl + 'h6000 && dev_aw_addr_i < FControl + 'h7000) f_kind = KindIdentify;
  if (!dev_aw_whole_i) f_kind = KindNone;
end

// Counts: bursts accepted whose words are not; ring bursts that are not forwarded; forwarded ones whose words are not; ring bursts that
// memory has not acknowledged; bursts that are not answered.
logic f_accept, f_accept_ring, f_forward, f_ring_end, f_answer;
assign f_accept      = dev_aw_valid_i && dev_aw_ready_o;
assign f_accept_ring = f_accept && f_kind == KindRing;
assign f_forward     = mem_aw_valid_o && mem_aw_ready_i;
assign f_ring_end    = mem_w_valid_o && mem_w_ready_i && mem_w_last_o;
assign f_answer      = dev_b_valid_o && dev_b_ready_i;
logic [4:0] f_bursts_q = '0, f_unforwarded_q = '0, f_open_q = '0, f_unacked_q = '0, f_unanswered_q = '0;
always_ff @(posedge clk_i) if (rst_ni) begin
  f_bursts_q      <= f_bursts_q + 5'(f_accept) - 5'(burst_pop);
  f_unforwarded_q <= f_unforwarded_q + 5'(f_accept_ring) - 5'(f_forward);
  f_open_q        <= f_open_q + 5'(f_forward) - 5'(f_ring_end);
  f_unacked_q     <= f_unacked_q + 5'(f_ring_end) - 5'(mem_b_valid_i);
  f_unanswered_q  <= f_unanswered_q + 5'(f_accept) - 5'(f_answer);
end
always_comb begin
  if (f_unacked_q == '0) assume (!mem_b_valid_i);
  if (rst_ni) begin
    if (burst_valid) assert (f_bursts_q != '0);
    if (mem_aw_valid_o) assert (f_unforwarded_q != '0);
    if (mem_w_valid_o) assert (f_open_q != '0);
    if (dev_b_valid_o) assert (f_unanswered_q != '0);
  end
end

// The chosen burst.
logic                   f_pick;               // free
logic                   f_inside_q = 1'b0;    // not answered
logic                   f_written_q;          // its words were accepted
logic                   f_forwarded_q;
logic [4:0]             f_ahead_q, f_forward_ahead_q, f_answer_ahead_q, f_acks_q;
logic [2:0]             f_kind_q;
logic [OffsetWidth-1:0] f_offset_q;
logic [7:0]             f_len_q;
logic [IdWidth-1:0]     f_id_q;
always_ff @(posedge clk_i) if (rst_ni) begin
  if (f_inside_q) begin
    if (!f_written_q && burst_pop) begin
      if (f_ahead_q == '0) begin
        f_written_q <= 1'b1;
        f_acks_q    <= f_unacked_q + 5'(f_ring_end) - 5'(mem_b_valid_i);
      end else f_ahead_q <= f_ahead_q - 1'b1;
    end
    if (f_written_q && mem_b_valid_i && f_acks_q != '0) f_acks_q <= f_acks_q - 1'b1;
    if (!f_forwarded_q && f_forward) begin
      if (f_forward_ahead_q == '0) f_forwarded_q <= 1'b1;
      else f_forward_ahead_q <= f_forward_ahead_q - 1'b1;
    end
    if (f_answer) begin
      if (f_answer_ahead_q == '0) f_inside_q <= 1'b0;
      else f_answer_ahead_q <= f_answer_ahead_q - 1'b1;
    end
  end
  if (f_accept && f_pick && !f_inside_q) begin
    f_inside_q        <= 1'b1;
    f_written_q       <= 1'b0;
    f_forwarded_q     <= !f_accept_ring;
    f_ahead_q         <= f_bursts_q - 5'(burst_pop);
    f_forward_ahead_q <= f_unforwarded_q - 5'(f_forward);
    f_answer_ahead_q  <= f_unanswered_q - 5'(f_answer);
    f_kind_q          <= f_kind;
    f_offset_q        <= dev_aw_addr_i;
    f_len_q           <= dev_aw_len_i;
    f_id_q            <= dev_aw_id_i;
  end
end
always_comb if (rst_ni && f_inside_q) begin
  if (!f_forwarded_q && f_forward_ahead_q == '0 && mem_aw_valid_o) assert (mem_aw_addr_o == FRing + f_offset_q && mem_aw_len_o == f_len_q);
  if (!f_written_q && f_ahead_q == '0 && burst_valid) begin
    assert (f_forwarded_q);
    assert (burst_kind == f_kind_q && burst_id == f_id_q && burst_word == f_offset_q[11:BeatShift]);
  end
  // Its answer: after its words, and after the acknowledgement of it and of every ring write before it.
  if (f_answer_ahead_q == '0 && dev_b_valid_o) assert (f_written_q && dev_b_id_o == f_id_q && f_acks_q == '0);
end

// A word goes to memory, unchanged, or stays for a while.
logic [WordWidth-1:0] f_beat_q = '0;
logic [11:0]          f_at;       // its byte offset in the page
logic [Lanes-1:0]     f_entries;  // completion entries in it
logic                 f_bad, f_bad_q = 1'b0;
assign f_at = {burst_word, BeatShift'(0)} + {f_beat_q, BeatShift'(0)};
always_comb begin
  f_entries = '0;
  f_bad     = burst_kind == KindNone;
  for (integer l = 0; l < Lanes; l++) begin
    if (burst_kind == KindAdmin || burst_kind == KindRecord || burst_kind == KindReplay) begin
      if (dev_w_strb_i[16*l +: 16] == '1 && f_at + 16 * l < (burst_kind == KindAdmin ? 32 : 16 * Entries)) f_entries[l] = 1'b1;
      else if (dev_w_strb_i[16*l +: 16] != '0) f_bad = 1'b1;
    end
  end
end
logic f_error_q = 1'b0;
always_ff @(posedge clk_i) if (rst_ni) begin
  f_error_q <= take && dev_w_last_i && (f_bad_q || f_bad);
  if (take) begin
    f_beat_q <= dev_w_last_i ? '0 : f_beat_q + 1'b1;
    f_bad_q  <= !dev_w_last_i && (f_bad_q || f_bad);
  end
end
always_comb if (rst_ni) begin
  assert (error_o == f_error_q);
  assert ((mem_w_valid_o && mem_w_ready_i) == (take && burst_kind == KindRing));
  if (mem_w_valid_o) assert (dev_w_valid_i && {mem_w_data_o, mem_w_strb_o, mem_w_last_o} == {dev_w_data_i, dev_w_strb_i, dev_w_last_i});
end

// Identify data are given out once, as they came.
logic                 f_identify_q = 1'b0;
logic [11:0]          f_identify_at_q;
logic [DataWidth-1:0] f_identify_data_q;
logic [BeatBytes-1:0] f_identify_strb_q;
always_ff @(posedge clk_i) if (rst_ni) begin
  if (identify_valid_o) f_identify_q <= 1'b0;
  if (take && burst_kind == KindIdentify) begin
    f_identify_q      <= 1'b1;
    f_identify_at_q   <= f_at;
    f_identify_data_q <= dev_w_data_i;
    f_identify_strb_q <= dev_w_strb_i;
  end
end
always_comb if (rst_ni) begin
  if (identify_valid_o) begin
    assert (f_identify_q && identify_addr_o == f_identify_at_q);
    assert (identify_data_o == f_identify_data_q && identify_strb_o == f_identify_strb_q);
  end
  if (take) assert (!f_identify_q);
end

// Completion entries that are held back, and a chosen one of them.
logic       f_give;
logic [4:0] f_held_q = '0, f_new;
logic       f_pick_entry;  // free
logic [1:0] f_pick_lane;   // free
logic       f_picked;
logic [63:0] f_picked_fields;
logic [4:0] f_lower;       // entries of the word below the chosen one
assign f_give = cqe_valid_o != '0 || admin_cqe_valid_o;
always_comb begin
  f_new   = '0;
  f_lower = '0;
  f_picked = 1'b0;
  f_picked_fields = '0;
  for (integer l = 0; l < Lanes; l++) begin
    f_new = f_new + 5'(f_entries[l]);
    if (l < f_pick_lane) f_lower = f_lower + 5'(f_entries[l]);
    if (l == f_pick_lane) begin
      f_picked        = f_pick_entry && f_entries[l];
      f_picked_fields = {dev_w_data_i[128*l + 96 +: 32], dev_w_data_i[128*l +: 32]};
    end
  end
end
logic                  f_entry_q = 1'b0;
logic [4:0]            f_entry_ahead_q, f_entry_acks_q;
logic [2:0]            f_entry_kind_q;
logic [IndexWidth-1:0] f_entry_index_q;
logic [31:0]           f_entry_dw0_q, f_entry_dw3_q;
always_ff @(posedge clk_i) if (rst_ni) begin
  if (clear_i) f_held_q <= '0;
  else f_held_q <= f_held_q + (take ? f_new : '0) - 5'(f_give);
  if (f_entry_q && mem_b_valid_i && f_entry_acks_q != '0) f_entry_acks_q <= f_entry_acks_q - 1'b1;
  if (f_entry_q && f_give) begin
    if (f_entry_ahead_q == '0) f_entry_q <= 1'b0;
    else f_entry_ahead_q <= f_entry_ahead_q - 1'b1;
  end
  if (clear_i) f_entry_q <= 1'b0;
  else if (take && f_picked && !f_entry_q) begin
    f_entry_q       <= 1'b1;
    f_entry_ahead_q <= f_held_q - 5'(f_give) + f_lower;
    f_entry_acks_q  <= f_unacked_q - 5'(mem_b_valid_i);
    f_entry_kind_q  <= burst_kind;
    f_entry_index_q <= f_at[11:4] + f_pick_lane;
    {f_entry_dw3_q, f_entry_dw0_q} <= f_picked_fields;
  end
end
always_comb if (rst_ni) begin
  assert (cqe_valid_o != 2'b11 && !(cqe_valid_o != '0 && admin_cqe_valid_o));
  if (f_give) assert (f_held_q != '0 && !clear_i);
  if (f_entry_q && f_entry_ahead_q == '0 && f_give) begin
    // Its queue and its fields; and every ring write before it is in memory.
    assert (cqe_valid_o[0] == (f_entry_kind_q == KindRecord) && cqe_valid_o[1] == (f_entry_kind_q == KindReplay));
    assert (f_entry_acks_q == '0);
    if (admin_cqe_valid_o) begin
      assert (admin_cqe_index_o == f_entry_index_q[0] && admin_cqe_dw0_o == f_entry_dw0_q);
      assert ({admin_cqe_status_o, admin_cqe_phase_o, admin_cqe_cid_o} == f_entry_dw3_q);
    end else assert (cqe_index_o == f_entry_index_q && {cqe_status_o, cqe_phase_o, cqe_cid_o} == f_entry_dw3_q);
  end
end

// No entry is lost on its way to the order.
logic [4:0] f_in_order_q = '0;
always_ff @(posedge clk_i) if (rst_ni) begin
  if (clear_i) f_in_order_q <= '0;
  else f_in_order_q <= f_in_order_q + 5'(token_push && order_ready && word_valid_q && entry_valid) - 5'(f_give);
end
always_comb if (rst_ni && !word_valid_q) assert (f_in_order_q == f_held_q);

// Progress: with a ready memory and a ready drive, words are taken, entries given and writes answered.
logic [2:0] f_idle_q = '0;
always_ff @(posedge clk_i) begin
  if (!rst_ni || take || f_answer || f_give || !mem_aw_ready_i || !mem_w_ready_i || !dev_b_ready_i || f_unacked_q != '0 ||
      (f_bursts_q != '0 && !dev_w_valid_i) || (f_unanswered_q == '0 && f_held_q == '0)) f_idle_q <= '0;
  else f_idle_q <= f_idle_q + 1'b1;
end
always_comb if (rst_ni) assert (f_idle_q < 3'd5);
