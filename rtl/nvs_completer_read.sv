// What the drive reads of the core.
//
// Purpose: forwards reads of the record half of the ring to memory; answers reads of the submission queues and PRP lists with entries that
// are made in the moment; answers everything else with zeroes.
//
// Interface:
//   s_ar_*, s_r_*  AXI4 read channels of the drive. INCR bursts of whole bus words within 4 KiB; the first address may be unaligned
//   m_ar_*, m_r_*  AXI4 read channels of the ring memory; answers in request order
//   record_*       submission records of nvs_queues, direction 0 and 1; data one cycle after the index
//   admin_*        the admin submission entry that is made at present
//   error_o        pulse: a read that ran outside of what may be read has been answered
//
// Invariants, proven in formal/nvs_completer_read.svh:
//   - answers come in request order, with the identifier and the length of the request; `s_r_last_o` marks the last word;
//   - a read of the own drive's record ring is forwarded once, with its address and length; no other read is;
//   - ring data pass unchanged; PRP list entry i is the address of page i + 1; outside is zero, with a pulse of `error_o`.
//
// Ring words follow each other in every cycle, across bursts. A made word takes two: one to look up the record, one to make the word.
// Both directions of the answer channel end in the output register.

module nvs_completer_read #(
  parameter  int unsigned DataWidth   = 128,
  parameter  int unsigned ChunkPages  = 32,
  parameter  int unsigned Slots       = 32,
  parameter  int unsigned Entries     = 64,
  parameter  int unsigned IdWidth     = 4,
  parameter  int unsigned Drive       = 0,
  parameter  logic [63:0] BusBase     = 64'h0,
  parameter  int unsigned Outstanding = 16,
  localparam int unsigned PageWidth   = $clog2(ChunkPages),
  localparam int unsigned SlotWidth   = $clog2(Slots),
  localparam int unsigned IndexWidth  = $clog2(Entries),
  localparam int unsigned RingWidth   = 1 + 2 + SlotWidth + PageWidth + 12
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic [3:0]              block_shift_i,

  input  logic                    s_ar_valid_i,
  output logic                    s_ar_ready_o,
  input  logic [IdWidth-1:0]      s_ar_id_i,
  input  logic [39:0]             s_ar_addr_i,
  input  logic [7:0]              s_ar_len_i,
  output logic                    s_r_valid_o,
  input  logic                    s_r_ready_i,
  output logic [IdWidth-1:0]      s_r_id_o,
  output logic [DataWidth-1:0]    s_r_data_o,
  output logic                    s_r_last_o,

  output logic                    m_ar_valid_o,
  input  logic                    m_ar_ready_i,
  output logic [RingWidth-1:0]    m_ar_addr_o,
  output logic [7:0]              m_ar_len_o,
  input  logic                    m_r_valid_i,
  output logic                    m_r_ready_o,
  input  logic [DataWidth-1:0]    m_r_data_i,

  output logic [2*IndexWidth-1:0] record_index_o,
  input  logic [1:0]              record_flush_i,
  input  logic [2*SlotWidth-1:0]  record_slot_i,
  input  logic [2*64-1:0]         record_lba_i,
  input  logic [2*16-1:0]         record_blocks_i,

  input  logic [7:0]              admin_opcode_i,
  input  logic [31:0]             admin_nsid_i,
  input  logic [39:0]             admin_prp1_i,
  input  logic [31:0]             admin_cdw10_i,
  input  logic [31:0]             admin_cdw11_i,
  input  logic [15:0]             admin_cid_i,

  output logic                    error_o
);

  localparam int unsigned BeatBytes   = DataWidth / 8;
  localparam int unsigned BeatShift   = $clog2(BeatBytes);
  localparam int unsigned OffsetWidth = SlotWidth + PageWidth + 12;           // inside the ring part
  localparam int unsigned ListWidth   = 1 + SlotWidth + PageWidth + 3;        // of all PRP lists
  localparam int unsigned MadeWidth   = ListWidth > 12 ? ListWidth : 12;      // inside a made area
  localparam int unsigned WordWidth   = MadeWidth - BeatShift;                // bus word inside a made area
  localparam int unsigned PageWords   = 12 - BeatShift;                       // bits of a word's number in its page
  localparam int unsigned EntryShift  = 6 - BeatShift;                        // bits of a word's number in a submission entry
  localparam int unsigned EntryWords  = 64 / BeatBytes;
  localparam int unsigned ListEntries = BeatBytes / 8;                        // in one bus word
  localparam int unsigned ListWords   = ListWidth - BeatShift;                // bits of a word's number in the lists

  // What a read asks for.
  localparam logic [2:0] KindNone   = 3'd0;
  localparam logic [2:0] KindRing   = 3'd1;
  localparam logic [2:0] KindAdmin  = 3'd2;
  localparam logic [2:0] KindRecord = 3'd3;
  localparam logic [2:0] KindReplay = 3'd4;
  localparam logic [2:0] KindList   = 3'd5;

  // Decoded before the queue: only the kind and the offset are kept.
  logic                   in_list;
  logic [ListWidth-1:0]   list_offset;
  if (ListWidth <= 16) begin : gen_list
    assign in_list     = s_ar_addr_i[38:ListWidth] == (39 - ListWidth)'(39'h1_0000 >> ListWidth);
    assign list_offset = s_ar_addr_i[ListWidth-1:0];
  end else begin : gen_long_list
    logic [22:0] list_high;
    assign list_high   = s_ar_addr_i[38:16] - 1'b1;
    assign in_list     = s_ar_addr_i[38:16] != '0 && list_high[22:ListWidth-16] == '0;
    assign list_offset = {list_high[ListWidth-17:0], s_ar_addr_i[15:0]};
  end

  logic in_ring;
  assign in_ring = s_ar_addr_i[38:OffsetWidth] == (39 - OffsetWidth)'(Drive);

  logic [2:0]             kind;
  logic [OffsetWidth-1:0] offset;
  always_comb begin
    kind   = KindNone;
    offset = s_ar_addr_i[OffsetWidth-1:0];
    if (!s_ar_addr_i[39]) begin
      if (in_ring) kind = KindRing;
    end else if (in_list) begin
      kind   = KindList;
      offset = OffsetWidth'(list_offset);
    end else if (s_ar_addr_i[38:16] == '0) begin
      case (s_ar_addr_i[15:12])
        4'h0:    kind = KindAdmin;
        4'h2:    kind = KindRecord;
        4'h4:    kind = KindReplay;
        default: kind = KindNone;
      endcase
    end
  end

  // Requests: forwarded to memory if they are for it, and put into the order of answers.
  logic                   request_valid, request_take, request_ring, order_ready;
  logic [2:0]             request_kind;
  logic [IdWidth-1:0]     request_id;
  logic [7:0]             request_len;
  logic [OffsetWidth-1:0] request_offset;
  /* verilator lint_off PINCONNECTEMPTY */
  nvs_fifo #(
    .Width(3 + IdWidth + 8 + OffsetWidth),
    .Depth(2)
  ) u_request (
    .clk_i,
    .rst_ni,
    .valid_i(s_ar_valid_i),
    .ready_o(s_ar_ready_o),
    .data_i ({kind, s_ar_id_i, s_ar_len_i, offset}),
    .valid_o(request_valid),
    .ready_i(request_take),
    .data_o ({request_kind, request_id, request_len, request_offset}),
    .count_o()
  );
  /* verilator lint_on PINCONNECTEMPTY */
  assign request_ring = request_kind == KindRing;
  assign m_ar_valid_o = request_valid && request_ring && order_ready;
  assign m_ar_addr_o  = {1'b0, 2'(Drive), request_offset};
  assign m_ar_len_o   = request_len;
  assign request_take = order_ready && (!request_ring || m_ar_ready_i);

  logic                 head_valid, head_pop;
  logic [2:0]           head_kind;
  logic [IdWidth-1:0]   head_id;
  logic [7:0]           head_len;
  logic [WordWidth-1:0] head_word;
  /* verilator lint_off PINCONNECTEMPTY */
  nvs_fifo #(
    .Width(3 + IdWidth + 8 + WordWidth),
    .Depth(Outstanding)
  ) u_order (
    .clk_i,
    .rst_ni,
    .valid_i(request_valid && request_take),
    .ready_o(order_ready),
    .data_i ({request_kind, request_id, request_len, request_offset[MadeWidth-1:BeatShift]}),
    .valid_o(head_valid),
    .ready_i(head_pop),
    .data_o ({head_kind, head_id, head_len, head_word}),
    .count_o()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // The word that is looked up. A burst stays in its page, so only the number in the page counts up.
  logic [7:0]           beat_q;
  logic [PageWords-1:0] page_word;
  logic [WordWidth-1:0] word;
  logic                 in_admin, in_queue, in_lists;
  assign page_word = head_word[PageWords-1:0] + PageWords'(beat_q);
  if (WordWidth > PageWords) begin : gen_word
    assign word = {head_word[WordWidth-1:PageWords], page_word};
  end else begin : gen_short_word
    assign word = page_word;
  end
  assign in_admin = head_kind == KindAdmin && (page_word >> (EntryShift + 1)) == '0;
  assign in_queue = (head_kind == KindRecord || head_kind == KindReplay) && (page_word >> (EntryShift + IndexWidth)) == '0;
  assign in_lists = head_kind == KindList && (word >> ListWords) == '0;
  assign record_index_o = {2{IndexWidth'(page_word >> EntryShift)}};

  // Selects for the cycle in which the record is there.
  logic                  made_q;    // looked up
  logic                  admin_q, queue_q, lists_q, replay_q;
  logic [ListWords-1:0]  list_word_q;
  logic [EntryWords-1:0] part_q;    // word of the entry, one-hot
  logic [EntryWords-1:0] part;
  always_comb begin
    for (int unsigned p = 0; p < EntryWords; p++) part[p] = (32'(page_word) & (EntryWords - 1)) == p;
  end

  // The made word.
  logic [511:0]         entry, admin_entry;
  logic [DataWidth-1:0] list_entries, made;
  nvs_completer_entry #(
    .ChunkPages(ChunkPages),
    .Slots     (Slots),
    .Drive     (Drive),
    .BusBase   (BusBase)
  ) u_entry (
    .replay_i     (replay_q),
    .flush_i      (record_flush_i[replay_q]),
    .slot_i       (replay_q ? record_slot_i[SlotWidth +: SlotWidth] : record_slot_i[0 +: SlotWidth]),
    .lba_i        (replay_q ? record_lba_i[127:64] : record_lba_i[63:0]),
    .blocks_i     (replay_q ? record_blocks_i[31:16] : record_blocks_i[15:0]),
    .block_shift_i,
    .entry_o      (entry)
  );
  always_comb begin
    admin_entry          = '0;
    admin_entry[7:0]     = admin_opcode_i;
    admin_entry[31:16]   = admin_cid_i;
    admin_entry[63:32]   = admin_nsid_i;
    if (admin_prp1_i != '0) admin_entry[255:192] = BusBase | 64'(admin_prp1_i);
    admin_entry[351:320] = admin_cdw10_i;
    admin_entry[383:352] = admin_cdw11_i;
  end
  for (genvar k = 0; k < ListEntries; k++) begin : gen_list_entry
    logic [ListWidth-4:0] number;  // direction, slot, entry
    assign number = {list_word_q, (BeatShift - 3)'(k)};
    assign list_entries[64*k +: 64] = &number[PageWidth-1:0] ? 64'h0 :
      BusBase | 64'({number[ListWidth-4], 2'(Drive), number[PageWidth +: SlotWidth], PageWidth'(number[PageWidth-1:0] + 1'b1), 12'h000});
  end
  always_comb begin
    made = lists_q ? list_entries : '0;
    for (int unsigned p = 0; p < EntryWords; p++) begin
      if (queue_q && part_q[p]) made = made | entry[DataWidth*p +: DataWidth];
      if (admin_q && part_q[p]) made = made | admin_entry[DataWidth*p +: DataWidth];
    end
  end

  // Answers.
  logic ring, advance, move, last, outside, outside_q;
  assign ring        = head_kind == KindRing;
  assign advance     = !s_r_valid_o || s_r_ready_i;
  assign m_r_ready_o = head_valid && ring && advance;
  assign move        = head_valid && advance && (ring ? m_r_valid_i : made_q);
  assign last        = beat_q == head_len;
  assign head_pop    = move && last;
  assign outside     = !ring && !admin_q && !queue_q && !lists_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_q      <= '0;
      made_q      <= 1'b0;
      outside_q   <= 1'b0;
      error_o     <= 1'b0;
      s_r_valid_o <= 1'b0;
    end else begin
      made_q  <= head_valid && !ring && !move;
      error_o <= head_pop && (outside || outside_q);
      if (advance) s_r_valid_o <= move;
      if (move) begin
        beat_q    <= last ? '0 : beat_q + 1'b1;
        outside_q <= (outside || outside_q) && !last;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (move) begin
      s_r_id_o   <= head_id;
      s_r_data_o <= ring ? m_r_data_i : made;
      s_r_last_o <= last;
    end
    admin_q     <= in_admin;
    queue_q     <= in_queue;
    lists_q     <= in_lists;
    replay_q    <= head_kind == KindReplay;
    list_word_q <= word[ListWords-1:0];
    part_q      <= part;
  end

`ifdef FORMAL
  `include "formal/nvs_completer_read.svh"
`endif

endmodule
