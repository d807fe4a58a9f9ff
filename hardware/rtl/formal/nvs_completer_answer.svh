// Properties of nvs_completer_answer. Included in the module under FORMAL.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

// The oldest request stays until it is taken; the burst of each stays within a page. f_len_q, f_word_q: its length and first word.
logic                 f_head_waiting_q = 1'b0;
logic [3+IdWidth-1:0] f_head_q;
logic [7:0]           f_len_q;
logic [WordWidth-1:0] f_word_q;
always_ff @(posedge clk_i) begin
  f_head_waiting_q <= rst_ni && head_valid_i && !head_pop_o;
  f_head_q         <= {head_kind_i, head_id_i};
  if (!head_valid_i || head_pop_o) begin
    f_len_q  <= next_len_i;
    f_word_q <= next_word_i;
  end
end
always_comb begin
  if (f_head_waiting_q) assume (head_valid_i && {head_kind_i, head_id_i} == f_head_q);
  if (next_valid_i) assume (32'(next_word_i[PageWords-1:0]) + 32'(next_len_i) < 4096 / BeatBytes);
end

// So does the next one, until it is the oldest one.
logic                   f_next_valid_q = 1'b0, f_next_moved_q = 1'b0;
logic [3+8+WordWidth-1:0] f_next_q;
always_ff @(posedge clk_i) begin
  f_next_valid_q <= rst_ni && next_valid_i;
  f_next_moved_q <= !head_valid_i || head_pop_o;
  f_next_q       <= {next_kind_i, next_len_i, next_word_i};
end
always_comb begin
  if (!f_next_moved_q && f_next_valid_q) assume (next_valid_i && {next_kind_i, next_len_i, next_word_i} == f_next_q);
  if (f_next_moved_q) assume (head_valid_i == f_next_valid_q);
  if (f_next_moved_q && f_next_valid_q) assume (head_kind_i == f_next_q[8+WordWidth +: 3]);
  if (!f_started) assume (!head_valid_i && !next_valid_i);
end

// An answer is stable until it is taken.
logic                       f_waiting_q = 1'b0;
logic [DataWidth+IdWidth:0] f_out_q;
always_ff @(posedge clk_i) begin
  f_waiting_q <= rst_ni && dev_r_valid_o && !dev_r_ready_i;
  f_out_q     <= {dev_r_id_o, dev_r_last_o, dev_r_data_o};
end
always_comb if (rst_ni && f_waiting_q) assert (dev_r_valid_o && {dev_r_id_o, dev_r_last_o, dev_r_data_o} == f_out_q);

// The request at the head: every word takes one place at the output, the last one ends the request.
logic [7:0]             f_beat_q = '0;
logic                   f_bad_q = 1'b0;  // a word was outside
logic [MadeWidth-1:0]   f_at_lists;      // byte offset of the word in the lists
logic [MadeWidth-1:0]   f_at;            // and in its area; the others are one page
logic                   f_outside, f_beyond;  // f_beyond: behind the lists, in their last page
assign f_beyond = head_kind_i == KindList && f_at >= 2 * Slots * ChunkPages * 8;
assign f_at_lists = {f_word_q, BeatShift'(0)} + {f_beat_q, BeatShift'(0)};
assign f_at       = head_kind_i == KindList ? f_at_lists : f_at_lists[11:0];
always_comb begin
  case (head_kind_i)
    KindRing:               f_outside = 1'b0;
    KindAdmin:              f_outside = f_at >= 128;
    KindRecord, KindReplay: f_outside = f_at >= Entries * 64;
    KindList:               f_outside = 1'b0;
    default:                f_outside = 1'b1;
  endcase
end
always_ff @(posedge clk_i) if (rst_ni && move) begin
  f_beat_q <= head_pop_o ? '0 : f_beat_q + 1'b1;
  f_bad_q  <= !head_pop_o && (f_bad_q || f_outside);
end
always_comb if (rst_ni) begin
  assert (head_pop_o == (move && f_beat_q == f_len_q));
  if (move) assert (head_valid_i && (!dev_r_valid_o || dev_r_ready_i));
  if (mem_r_valid_i && mem_r_ready_o) assert (move && head_kind_i == KindRing);
  if (move && head_kind_i == KindRing) assert (mem_r_valid_i && mem_r_ready_o);
end

// The cycle in which the word was made, seen from the next one.
logic                    f_moved_q = 1'b0, f_last_q, f_outside_q, f_beyond_q, f_bad_pop_q = 1'b0;
logic [2:0]              f_head_kind_q;
logic [IdWidth-1:0]      f_head_id_q;
logic [MadeWidth-1:0]    f_at_q;
logic [DataWidth-1:0]    f_memory_q;
logic [2*IndexWidth-1:0] f_index_q, f_index_before_q, f_made_index_q;
logic [1:0]              f_flush_q, f_flush_before_q;        // `before`: one cycle earlier, at the inputs
logic [2*SlotWidth-1:0]  f_slots_q, f_slots_before_q;
logic [2*TagWidth-1:0]   f_tags_q, f_tags_before_q;
logic [2*PageWidth-1:0]  f_pages_q, f_pages_before_q;
logic [127:0]            f_lbas_q, f_lbas_before_q;
logic [31:0]             f_blocks_q, f_blocks_before_q, f_nsid_q, f_cdw10_q, f_cdw11_q;
logic [39:0]             f_prp1_q;
logic [7:0]              f_opcode_q;
logic [15:0]             f_cid_q;
logic                    f_pass_admin_q, f_pass_flush_q;
logic [1:0]              f_pass_part_q;
logic [DataWidth-1:0]    f_pass_word_q;
always_ff @(posedge clk_i) begin
  f_moved_q      <= rst_ni && move;
  f_last_q       <= f_beat_q == f_len_q;
  f_bad_pop_q    <= rst_ni && head_pop_o && (f_bad_q || f_outside);
  f_outside_q    <= f_outside;
  f_beyond_q     <= f_beyond;
  f_head_kind_q  <= head_kind_i;
  f_head_id_q    <= head_id_i;
  f_at_q         <= f_at;
  f_memory_q     <= mem_r_data_i;
  f_index_q      <= record_index_o;
  f_made_index_q    <= f_index_before_q;
  f_flush_q         <= f_flush_before_q;
  f_slots_q         <= f_slots_before_q;
  f_tags_q          <= f_tags_before_q;
  f_pages_q         <= f_pages_before_q;
  f_lbas_q          <= f_lbas_before_q;
  f_blocks_q        <= f_blocks_before_q;
  f_nsid_q       <= admin_nsid_i;
  f_cdw10_q      <= admin_cdw10_i;
  f_cdw11_q      <= admin_cdw11_i;
  f_prp1_q       <= admin_prp1_i;
  f_opcode_q     <= admin_opcode_i;
  f_cid_q        <= admin_cid_i;
  f_pass_admin_q <= pass_admin_i;
  f_pass_flush_q <= pass_flush_i;
  f_pass_part_q  <= pass_part_o;
  f_pass_word_q  <= pass_word_i;
  // The record in the flip-flops: while the last word of an entry waits, it is that of this entry, whatever is looked up.
  if (!waits) begin
    f_index_before_q  <= f_index_q;
    f_flush_before_q  <= record_flush_i;
    f_slots_before_q  <= record_slot_i;
    f_tags_before_q   <= record_tag_i;
    f_pages_before_q  <= record_page_i;
    f_lbas_before_q   <= record_lba_i;
    f_blocks_before_q <= record_blocks_i;
  end
end

logic f_in_admin, f_in_queue, f_in_lists, f_replay;
assign f_in_admin = f_moved_q && !f_outside_q && f_head_kind_q == KindAdmin;
assign f_in_queue = f_moved_q && !f_outside_q && (f_head_kind_q == KindRecord || f_head_kind_q == KindReplay);
assign f_in_lists = f_moved_q && !f_beyond_q && f_head_kind_q == KindList;
assign f_replay   = f_head_kind_q == KindReplay;
always_comb if (rst_ni) begin
  assert (error_o == f_bad_pop_q);
  if (f_moved_q) begin
    assert (dev_r_valid_o && dev_r_id_o == f_head_id_q && dev_r_last_o == f_last_q);
    if (f_head_kind_q == KindRing) assert (dev_r_data_o == f_memory_q);
    if (f_outside_q || f_beyond_q) assert (dev_r_data_o == '0);
  end else if (!f_waiting_q) assert (!dev_r_valid_o);
end

// PRP list entries.
for (genvar k = 0; k < ListEntries; k++) begin : gen_f_list
  logic [MadeWidth-1:0]           f_number;  // {direction, slot, entry}
  logic [SlotWidth+PageWidth-1:0] f_page;    // of the direction's ring part
  assign f_number = f_at_q[MadeWidth-1:3] + k;
  assign f_page   = f_number + 1'b1;
  always_comb if (rst_ni && f_in_lists) begin
    assert (dev_r_data_o[64*k +: 64] == (&f_number[PageWidth-1:0] ? 64'h0 :
      BusBase + {f_number[SlotWidth+PageWidth], 2'(Drive), f_page, 12'h000}));
  end
end

// Submission entries, in quarters of 16 bytes. The fields that follow from the length are proven in nvs_completer_entry.
logic [SlotWidth-1:0] f_slot;
logic [TagWidth-1:0]  f_tag;
logic [PageWidth-1:0] f_of_page;
logic                 f_flush;
assign f_slot  = f_replay ? f_slots_q[SlotWidth +: SlotWidth] : f_slots_q[0 +: SlotWidth];
assign f_tag   = f_replay ? f_tags_q[TagWidth +: TagWidth] : f_tags_q[0 +: TagWidth];
assign f_of_page = f_replay ? f_pages_q[PageWidth +: PageWidth] : f_pages_q[0 +: PageWidth];
assign f_flush = f_replay ? f_flush_q[1] : f_flush_q[0];
// A command that is passed through, instead of an admin command or a flush of recordings.
logic f_passed;
assign f_passed = f_in_admin ? f_pass_admin_q : f_in_queue && f_pass_flush_q && f_flush && !f_replay;
always_comb if (rst_ni && f_passed) assert (dev_r_data_o == f_pass_word_q && f_pass_part_q == 2'(f_at_q[5:0] >> BeatShift));
// The record was looked up for this entry.
always_comb if (rst_ni && f_in_queue) begin
  assert (f_made_index_q[0 +: IndexWidth] == f_at_q[MadeWidth-1:6] && f_made_index_q[IndexWidth +: IndexWidth] == f_at_q[MadeWidth-1:6]);
end
for (genvar q = 0; q < DataWidth / 128; q++) begin : gen_f_quarter
  logic [1:0]   f_quarter;
  logic [127:0] f_part;
  assign f_quarter = f_at_q[5:4] + 2'(q);
  assign f_part    = dev_r_data_o[128*q +: 128];
  always_comb if (rst_ni) begin
    if (f_in_queue && !f_passed) begin
      case (f_quarter)
        2'd0: assert (f_part == {64'h0, Namespace, f_flush ? 16'(Entries / 2) : 16'(f_tag), 8'h00, f_flush ? 8'h00 : f_replay ? 8'h02 : 8'h01});
        2'd1: begin
          assert (f_part[63:0] == '0);
          assert (f_part[127:64] == (f_flush ? 64'h0 : BusBase + {f_replay, 2'(Drive), f_slot, f_of_page, 12'h000}));
        end
        2'd2: assert (f_part[127:64] == (f_flush ? 64'h0 : f_replay ? f_lbas_q[127:64] : f_lbas_q[63:0]));
        2'd3: begin
          assert (f_part[15:0] == (f_flush ? 16'h0 : 16'((f_replay ? f_blocks_q[31:16] : f_blocks_q[15:0]) - 1'b1)));
          assert (f_part[127:16] == '0);
        end
      endcase
    end
    if (f_in_admin && !f_passed) begin
      case (f_quarter)
        2'd0: assert (f_part == {64'h0, f_nsid_q, f_cid_q, 8'h00, f_opcode_q});
        2'd1: assert (f_part == {f_prp1_q == '0 ? 64'h0 : BusBase + f_prp1_q, 64'h0});
        2'd2: assert (f_part == {f_cdw11_q, f_cdw10_q, 64'h0});
        2'd3: assert (f_part == '0);
      endcase
    end
  end
end

// State between the lookup of a word and its making: of the oldest request, or of the next one while that is for the ring.
logic                   f_of_head;
logic [2:0]             f_kind;
logic [WordWidth-1:0]   f_word;
logic [PageWords-1:0]   f_page_word;
logic [EntryWords-1:0]  f_part_of_word;
logic [2*IndexWidth-1:0] f_index;
assign f_of_head   = head_valid_i && head_kind_i != KindRing;
assign f_kind      = f_of_head ? head_kind_i : next_kind_i;
assign f_word      = (f_of_head ? word_q : next_word_i);
assign f_page_word = f_word[PageWords-1:0];
assign f_index     = {2{IndexWidth'(f_page_word >> EntryShift)}};
always_comb for (integer p = 0; p < EntryWords; p++) f_part_of_word[p] = (32'(f_page_word) & (EntryWords - 1)) == p;
always_comb if (rst_ni) begin
  if (head_valid_i) begin
    assert (ring_q == (head_kind_i == KindRing));
    assert (word_q == f_word_q + WordWidth'(f_beat_q) && behind_q == PageWords'(word_q + 1'b1));
    assert (left_q == f_len_q - f_beat_q && last_q == (left_q == '0));
    assert (32'(f_word_q[PageWords-1:0]) + 32'(f_len_q) < 4096 / BeatBytes);
  end
  if (f_bad_q) assert (f_outside);  // so the last word is outside, too
  if (head_valid_i) assert (f_beat_q <= f_len_q);
  if (!f_head_waiting_q) assert (f_beat_q == '0 && !f_bad_q);
  if (made_q) assert (looked_q);
  if (made_q && !lists_q) begin
    assert (f_index_before_q == f_index);
    assert (flush_q == (replay_q ? f_flush_before_q[1] : f_flush_before_q[0]));
    assert (slot_q == (replay_q ? f_slots_before_q[SlotWidth +: SlotWidth] : f_slots_before_q[0 +: SlotWidth]));
    assert (tag_q == (replay_q ? f_tags_before_q[TagWidth +: TagWidth] : f_tags_before_q[0 +: TagWidth]));
    assert (page_q == (replay_q ? f_pages_before_q[PageWidth +: PageWidth] : f_pages_before_q[0 +: PageWidth]));
    assert (lba_q == (replay_q ? f_lbas_before_q[127:64] : f_lbas_before_q[63:0]));
    assert (blocks_q == (replay_q ? f_blocks_before_q[31:16] : f_blocks_before_q[15:0]));
  end
  if (looked_q) begin
    assert (head_valid_i && (f_of_head || next_valid_i));
    assert (f_kind != KindRing && lists_q == (f_kind == KindList));
    assert (admin_q == (f_kind == KindAdmin && (f_page_word >> (EntryShift + 1)) == '0));
    assert (queue_q == ((f_kind == KindRecord || f_kind == KindReplay) && (f_page_word >> (EntryShift + IndexWidth)) == '0));
    assert (replay_q == (f_kind == KindReplay) && list_word_q == f_word && (lists_q || part_q == f_part_of_word));
    assert (lists_q || turns || f_index_q == f_index);
  end
end

// Progress: with a ready drive, a word is made in the third cycle, a PRP list's in the second; in the first one behind a word of the same
// entry or list, and behind words of the ring if the request was there for so long; one cycle sooner behind the last word of an entry,
// and of a made answer if the request was there.
logic [1:0] f_idle_q = '0, f_seen_q = '0;  // f_seen_q: cycles for which the next request has been looked up
logic       f_follows_q = 1'b0, f_ahead_q = 1'b0, f_ahead_before_q = 1'b0;
always_ff @(posedge clk_i) begin
  if (!rst_ni || move || !head_valid_i || (head_kind_i == KindRing && !mem_r_valid_i) || !dev_r_ready_i) f_idle_q <= '0;
  else f_idle_q <= f_idle_q + 1'b1;
  if (!rst_ni || !next_valid_i || next_kind_i == KindRing || !head_valid_i || head_kind_i != KindRing) f_seen_q <= '0;
  else if (f_seen_q != 2'd2) f_seen_q <= f_seen_q + 1'b1;
  f_ahead_q        <= rst_ni && move && (head_pop_o ? head_kind_i != KindRing && next_valid_i && next_kind_i != KindRing
                                                    : head_kind_i[2] && !f_outside && ((f_at >> BeatShift) & (EntryWords - 1)) == EntryWords - 1);
  f_ahead_before_q <= rst_ni && f_ahead_q;
  f_follows_q <= rst_ni && move && !head_pop_o
              && (head_kind_i == KindList || (!f_outside && head_kind_i[2] && EntryWords > 1 && f_at[5:BeatShift] != '1));
end
always_comb if (rst_ni) begin
  assert (f_idle_q < 2'd3);
  if (f_idle_q != '0) assert (head_kind_i != KindRing && looked_q);
  if (f_idle_q == 2'd2) assert (made_q);
  if (f_idle_q == 2'd1 && (f_kind == KindList || f_ahead_before_q)) assert (made_q);
  if (f_ahead_q) assert (f_kind == KindList ? made_q : looked_q);
  if (f_follows_q) assert (made_q);
  if (f_seen_q == 2'd2) assert (made_q);
  if (f_seen_q == 2'd1) assert (looked_q);
end
