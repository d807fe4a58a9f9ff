// Properties of nvs_completer_read. Included in the module under FORMAL.
//
// One request, chosen by the solver, is followed from its acceptance to its last word. Its expected words follow from its bus address.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

// The drive keeps an offered request, and its bursts stay within a page.
logic               f_ar_waiting_q = 1'b0;
logic [47+IdWidth:0] f_ar_q;
always_ff @(posedge clk_i) begin
  f_ar_waiting_q <= rst_ni && s_ar_valid_i && !s_ar_ready_o;
  f_ar_q         <= {s_ar_id_i, s_ar_len_i, s_ar_addr_i};
end
always_comb begin
  if (f_ar_waiting_q) assume (s_ar_valid_i && {s_ar_id_i, s_ar_len_i, s_ar_addr_i} == f_ar_q);
  assume (32'(s_ar_addr_i[11:BeatShift]) + 32'(s_ar_len_i) < (32'd1 << PageWords));
end

// The output is stable until it is taken.
logic                       f_waiting_q = 1'b0;
logic [DataWidth+IdWidth:0] f_out_q;
logic                       f_m_ar_waiting_q = 1'b0;
logic [RingWidth+7:0]       f_m_ar_q;
always_ff @(posedge clk_i) begin
  f_waiting_q      <= rst_ni && s_r_valid_o && !s_r_ready_i;
  f_out_q          <= {s_r_id_o, s_r_last_o, s_r_data_o};
  f_m_ar_waiting_q <= rst_ni && m_ar_valid_o && !m_ar_ready_i;
  f_m_ar_q         <= {m_ar_addr_o, m_ar_len_o};
end
always_comb if (rst_ni) begin
  if (f_waiting_q) assert (s_r_valid_o && {s_r_id_o, s_r_last_o, s_r_data_o} == f_out_q);
  if (f_m_ar_waiting_q) assert (m_ar_valid_o && {m_ar_addr_o, m_ar_len_o} == f_m_ar_q);
end

// Counts: accepted requests that are not answered; ring requests that are not forwarded; words that memory owes.
logic f_accept, f_answer, f_ask, f_accept_ring;
assign f_accept      = s_ar_valid_i && s_ar_ready_o;
assign f_answer      = s_r_valid_o && s_r_ready_i;
assign f_ask         = m_ar_valid_o && m_ar_ready_i;
assign f_accept_ring = f_accept && (s_ar_addr_i >> OffsetWidth) == Drive;
logic [4:0]  f_requests_q = '0, f_unasked_q = '0;
logic [11:0] f_owed_q = '0;
always_ff @(posedge clk_i) if (rst_ni) begin
  f_requests_q <= f_requests_q + 5'(f_accept) - 5'(f_answer && s_r_last_o);
  f_unasked_q  <= f_unasked_q + 5'(f_accept_ring) - 5'(f_ask);
  f_owed_q     <= f_owed_q + (f_ask ? 12'(m_ar_len_o) + 12'd1 : 12'd0) - 12'(m_r_valid_i && m_r_ready_o);
end
always_comb if (rst_ni) begin
  if (s_r_valid_o) assert (f_requests_q != '0);
  if (m_ar_valid_o) assert (f_unasked_q != '0);
  if (m_r_ready_o) assert (f_owed_q != '0);
end

// The chosen request.
logic               f_pick;              // free
logic               f_inside_q = 1'b0;   // not yet answered
logic               f_to_ask_q = 1'b0;   // a ring request that is not forwarded
logic [4:0]         f_ahead_q, f_ask_ahead_q;
logic [39:0]        f_addr_q;
logic [7:0]         f_len_q, f_beat_q;
logic [IdWidth-1:0] f_id_q;
logic               f_ring_q, f_bad_q;
logic               f_first;             // a word of it is at the output for the first cycle
logic               f_outside;           // that word
always_ff @(posedge clk_i) if (rst_ni) begin
  if (f_inside_q && f_answer) begin
    if (f_ahead_q != '0) f_ahead_q <= f_ahead_q - 5'(s_r_last_o);
    else begin
      f_beat_q <= f_beat_q + 1'b1;
      if (s_r_last_o) f_inside_q <= 1'b0;
    end
  end
  if (f_first) f_bad_q <= f_bad_q || f_outside;
  if (f_to_ask_q && f_ask) begin
    if (f_ask_ahead_q == '0) f_to_ask_q <= 1'b0;
    else f_ask_ahead_q <= f_ask_ahead_q - 1'b1;
  end
  if (f_accept && f_pick && !f_inside_q) begin
    f_inside_q    <= 1'b1;
    f_ahead_q     <= f_requests_q - 5'(f_answer && s_r_last_o);
    f_beat_q      <= '0;
    f_bad_q       <= 1'b0;
    f_addr_q      <= s_ar_addr_i;
    f_len_q       <= s_ar_len_i;
    f_id_q        <= s_ar_id_i;
    f_ring_q      <= f_accept_ring;
    f_to_ask_q    <= f_accept_ring;
    f_ask_ahead_q <= f_unasked_q - 5'(f_ask);
  end
end

// What the inputs were in the last cycle, in which the word at the output was made.
logic                    f_moved_q = 1'b0;
logic                    f_from_memory_q;
logic [DataWidth-1:0]    f_memory_q;
logic [2*IndexWidth-1:0] f_index_q, f_made_index_q;
logic [1:0]              f_flush_q;
logic [2*SlotWidth-1:0]  f_slots_q;
logic [127:0]            f_lbas_q;
logic [31:0]             f_blocks_q;
logic [31:0]             f_nsid_q, f_cdw10_q, f_cdw11_q;
logic [39:0]             f_prp1_q;
logic [7:0]              f_opcode_q;
logic [15:0]             f_cid_q;
always_ff @(posedge clk_i) begin
  f_moved_q       <= rst_ni && (!s_r_valid_o || s_r_ready_i);
  f_from_memory_q <= m_r_valid_i && m_r_ready_o;
  f_memory_q      <= m_r_data_i;
  f_index_q       <= record_index_o;
  f_made_index_q  <= f_index_q;
  f_flush_q       <= record_flush_i;
  f_slots_q       <= record_slot_i;
  f_lbas_q        <= record_lba_i;
  f_blocks_q      <= record_blocks_i;
  f_nsid_q        <= admin_nsid_i;
  f_cdw10_q       <= admin_cdw10_i;
  f_cdw11_q       <= admin_cdw11_i;
  f_prp1_q        <= admin_prp1_i;
  f_opcode_q      <= admin_opcode_i;
  f_cid_q         <= admin_cid_i;
end
assign f_first = f_moved_q && s_r_valid_o && f_inside_q && f_ahead_q == '0;

// Its expected word. `f_at` is the word's bus address.
localparam logic [39:0] FControl = 40'h80_0000_0000;
localparam logic [39:0] FLists   = 40'h80_0001_0000;
logic [39:0]         f_at, f_queue_at, f_list_number;
logic                f_in_admin, f_in_record, f_in_replay, f_in_lists;
logic [63:0]         f_list_entry [ListEntries];
logic [5:0]          f_byte;  // in a submission entry
assign f_at        = {f_addr_q[39:BeatShift], BeatShift'(0)} + 40'(f_beat_q) * BeatBytes;
assign f_in_admin  = f_at >= FControl && f_at < FControl + 128;
assign f_in_record = f_at >= FControl + 'h2000 && f_at < FControl + 'h2000 + Entries * 64;
assign f_in_replay = f_at >= FControl + 'h4000 && f_at < FControl + 'h4000 + Entries * 64;
assign f_in_lists  = f_at >= FLists && f_at < FLists + 2 * Slots * ChunkPages * 8;
assign f_outside   = !f_ring_q && !f_in_admin && !f_in_record && !f_in_replay && !f_in_lists;
assign f_byte      = f_at[5:0];
assign f_queue_at  = (f_at - (f_in_replay ? FControl + 'h4000 : FControl + 'h2000)) >> 6;
assign f_list_number = (f_at - FLists) >> 3;
for (genvar k = 0; k < ListEntries; k++) begin : gen_f_list
  logic [39:0] f_number;
  assign f_number = f_list_number + k;
  assign f_list_entry[k] = f_number % ChunkPages == ChunkPages - 1 ? 64'h0 :
    BusBase + ((f_number / (ChunkPages * Slots) * 4 + Drive) * Slots * ChunkPages + f_number % (Slots * ChunkPages) + 1) * 4096;
end

always_comb if (rst_ni) begin
  if (f_to_ask_q && f_ask_ahead_q == '0 && m_ar_valid_o) assert (m_ar_addr_o == f_addr_q[RingWidth-1:0] && m_ar_len_o == f_len_q);
  if (f_inside_q) begin
    assert (f_ahead_q < f_requests_q);
    if (s_r_valid_o && f_ahead_q == '0) assert (s_r_id_o == f_id_q && s_r_last_o == (f_beat_q == f_len_q));
  end
  if (f_first) begin
    assert (f_from_memory_q == f_ring_q);
    if (f_ring_q) assert (s_r_data_o == f_memory_q);
    if (f_outside) assert (s_r_data_o == '0);
    for (integer k = 0; k < ListEntries; k++) if (f_in_lists) assert (s_r_data_o[64*k +: 64] == f_list_entry[k]);
    assert (error_o == (s_r_last_o && (f_bad_q || f_outside)));
  end
  if (!(f_moved_q && s_r_valid_o && s_r_last_o)) assert (!error_o);
end

// Submission entries, in the words of 128 bits.
if (DataWidth == 128) begin : gen_f_entry
  logic [SlotWidth-1:0] f_slot;
  logic                 f_flush;
  assign f_slot  = f_in_replay ? f_slots_q[SlotWidth +: SlotWidth] : f_slots_q[0 +: SlotWidth];
  assign f_flush = f_in_replay ? f_flush_q[1] : f_flush_q[0];
  always_comb if (rst_ni && f_first) begin
    if (f_in_record || f_in_replay) begin
      // The record was looked up for this entry.
      assert (f_made_index_q[0 +: IndexWidth] == f_queue_at && f_made_index_q[IndexWidth +: IndexWidth] == f_queue_at);
      case (f_byte[5:4])
        2'd0: begin
          assert (s_r_data_o[31:0] == {f_flush ? 16'(Slots) : 16'(f_slot), 8'h00, f_flush ? 8'h00 : f_in_replay ? 8'h02 : 8'h01});
          assert (s_r_data_o[127:32] == 96'd1);
        end
        2'd1: begin
          assert (s_r_data_o[63:0] == '0);
          assert (s_r_data_o[127:64] == (f_flush ? 64'h0 : BusBase + ((f_in_replay ? 4 : 0) + Drive) * Slots * ChunkPages * 4096
                                                             + 64'(f_slot) * ChunkPages * 4096));
        end
        2'd2: assert (s_r_data_o[127:64] == (f_flush ? 64'h0 : f_in_replay ? f_lbas_q[127:64] : f_lbas_q[63:0]));
        2'd3: begin
          if (!f_flush) assert (16'(s_r_data_o[15:0] + 1'b1) == (f_in_replay ? f_blocks_q[31:16] : f_blocks_q[15:0]));
          assert (s_r_data_o[127:16] == '0);
        end
      endcase
    end
    if (f_in_admin) begin
      case (f_byte[5:4])
        2'd0: assert (s_r_data_o == {64'h0, f_nsid_q, f_cid_q, 8'h00, f_opcode_q});
        2'd1: assert (s_r_data_o == {f_prp1_q == '0 ? 64'h0 : BusBase + f_prp1_q, 64'h0});
        2'd2: assert (s_r_data_o == {f_cdw11_q, f_cdw10_q, 64'h0});
        2'd3: assert (s_r_data_o == '0);
      endcase
    end
  end
end

// Progress: with a ready drive and a ready memory, an accepted request is answered word by word.
logic [2:0] f_idle_q = '0;
always_ff @(posedge clk_i) begin
  if (!rst_ni || s_r_valid_o || f_requests_q == '0 || !m_ar_ready_i || !m_r_valid_i) f_idle_q <= '0;
  else f_idle_q <= f_idle_q + 1'b1;
end
always_comb if (rst_ni) assert (f_idle_q < 3'd6);
