// Answers to what the drive reads, in order.
//
// Purpose: takes the requests of nvs_completer_read one after the other and answers each with words of the ring memory, or with words that
// are made in the moment: submission entries from the records of nvs_queues, admin entries, PRP lists, or zeroes.
//
// Interface:
//   next_*     the request behind the oldest one: kind, length, and first word in its area. It is the oldest one in the cycle after
//              `head_pop_o`, or after one without an oldest one
//   head_*     oldest request: kind and identifier; it stays until `head_pop_o`
//   dev_r_*, mem_r_*, record_*, admin_*, pass_*, error_o  as in nvs_completer_read
//
// Invariants, proven in formal/nvs_completer_answer.svh:
//   - every request gets its length in words, with its identifier; `dev_r_last_o` marks the last one;
//   - ring words pass unchanged, once; memory words are taken for ring requests only;
//   - submission entry words are those of the record that was looked up for them, or those of the command that is passed through;
//     PRP list entry i is the address of page i + 1;
//   - a word outside is zero, and the end of its request is a pulse of `error_o`; a word behind the PRP lists in their last page is zero.
//
// Words of the ring, of an entry and of a PRP list follow each other in every cycle. The first word of an entry takes three: one to look up
// its record in memory, one for the flip-flops behind it, one to make the word; that of a list needs no record and takes two. While words
// of the ring pass, and with the last word of an entry or of a made answer, the first word behind them is looked up. So behind the ring it
// follows in the next cycle, and behind a made word that of an entry follows one cycle later, that of a list in the next one.

module nvs_completer_answer #(
  parameter  int unsigned DataWidth   = 128,
  parameter  int unsigned ChunkPages  = 32,
  parameter  int unsigned Slots       = 32,
  parameter  int unsigned Entries     = 64,
  parameter  int unsigned IdWidth     = 4,
  parameter  int unsigned Drive       = 0,
  parameter  logic [63:0] BusBase     = 64'h0,
  parameter  logic [31:0] Namespace   = 32'd1,
  localparam int unsigned PageWidth   = $clog2(ChunkPages),
  localparam int unsigned SlotWidth   = $clog2(Slots),
  localparam int unsigned IndexWidth  = $clog2(Entries),
  localparam int unsigned TagWidth    = IndexWidth - 1,
  localparam int unsigned BeatBytes   = DataWidth / 8,
  localparam int unsigned BeatShift   = $clog2(BeatBytes),
  localparam int unsigned ListWidth   = 1 + SlotWidth + PageWidth + 3,        // of all PRP lists
  localparam int unsigned MadeWidth   = ListWidth > 12 ? ListWidth : 12,      // inside a made area
  localparam int unsigned WordWidth   = MadeWidth - BeatShift                 // bus word inside a made area
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic [3:0]              block_shift_i,

  input  logic                    next_valid_i,
  input  logic [2:0]              next_kind_i,
  input  logic [7:0]              next_len_i,
  input  logic [WordWidth-1:0]    next_word_i,
  input  logic                    head_valid_i,
  output logic                    head_pop_o,
  input  logic [2:0]              head_kind_i,
  input  logic [IdWidth-1:0]      head_id_i,

  output logic                    dev_r_valid_o,
  input  logic                    dev_r_ready_i,
  output logic [IdWidth-1:0]      dev_r_id_o,
  output logic [DataWidth-1:0]    dev_r_data_o,
  output logic                    dev_r_last_o,

  input  logic                    mem_r_valid_i,
  output logic                    mem_r_ready_o,
  input  logic [DataWidth-1:0]    mem_r_data_i,

  output logic [2*IndexWidth-1:0] record_index_o,
  input  logic [1:0]              record_flush_i,
  input  logic [2*TagWidth-1:0]   record_tag_i,
  input  logic [2*SlotWidth-1:0]  record_slot_i,
  input  logic [2*PageWidth-1:0]  record_page_i,
  input  logic [2*64-1:0]         record_lba_i,
  input  logic [2*16-1:0]         record_blocks_i,

  input  logic [7:0]              admin_opcode_i,
  input  logic [31:0]             admin_nsid_i,
  input  logic [39:0]             admin_prp1_i,
  input  logic [31:0]             admin_cdw10_i,
  input  logic [31:0]             admin_cdw11_i,
  input  logic [15:0]             admin_cid_i,

  input  logic                    pass_admin_i,
  input  logic                    pass_flush_i,
  output logic [1:0]              pass_part_o,
  input  logic [DataWidth-1:0]    pass_word_i,

  output logic                    error_o
);

  localparam int unsigned PageWords   = 12 - BeatShift;         // bits of a word's number in its page
  localparam int unsigned EntryShift  = 6 - BeatShift;          // bits of a word's number in a submission entry
  localparam int unsigned EntryWords  = 64 / BeatBytes;
  localparam int unsigned ListEntries = BeatBytes / 8;          // in one bus word
  localparam int unsigned ListWords   = ListWidth - BeatShift;  // bits of a word's number in the lists

  // What a read asks for, as in nvs_completer_request; any other kind is outside.
  localparam logic [2:0] KindRing   = 3'd1;
  localparam logic [2:0] KindAdmin  = 3'd4;
  localparam logic [2:0] KindRecord = 3'd5;
  localparam logic [2:0] KindReplay = 3'd6;
  localparam logic [2:0] KindList   = 3'd3;

  // Of the oldest request the word that is made next, the one behind that in its page, and how many words follow. They and what depends
  // on them begin in flip-flops, as all of it is before the memories of the records.
  logic [WordWidth-1:0] word_q;
  logic [PageWords-1:0] behind_q;
  logic [7:0]           left_q;

  // The word that is looked up: of the oldest request, or while that is one for the ring, the first one of the next. With the last word of an
  // entry or of a made answer, it is already the word behind that. A burst stays in its page, so only the number in the page counts up. Whether
  // a made word is taken does not choose what is looked up, as the path from `dev_r_ready_i` through the memories of the records would be
  // long: a last word that waits keeps its flip-flops instead.
  logic                  looked_q;  // looked up: the record is at the inputs
  logic                  made_q;    // the record is in the flip-flops, or none is needed
  logic                  admin_q, queue_q, lists_q;
  logic [EntryWords-1:0] part_q;    // word of the entry, one-hot
  logic                  ring_q, last_q, turns, waits, look_head, look_valid;
  logic [2:0]            look_kind;
  logic [PageWords-1:0]  page_word;
  logic [WordWidth-1:0]  word;
  logic                  in_admin, in_queue, in_lists;
  assign turns      = made_q && !ring_q && (last_q || (!lists_q && part_q[EntryWords-1]));
  assign look_head  = head_valid_i && !ring_q && !(made_q && last_q);
  assign look_valid = look_head || (next_valid_i && next_kind_i != KindRing);
  assign look_kind  = look_head ? head_kind_i : next_kind_i;
  assign page_word  = !look_head ? next_word_i[PageWords-1:0] : turns ? behind_q : word_q[PageWords-1:0];
  if (WordWidth > PageWords) begin : gen_word
    assign word = {look_head ? word_q[WordWidth-1:PageWords] : next_word_i[WordWidth-1:PageWords], page_word};
  end else begin : gen_short_word
    assign word = page_word;
  end
  assign in_admin = look_kind == KindAdmin && (page_word >> (EntryShift + 1)) == '0;
  assign in_queue = (look_kind == KindRecord || look_kind == KindReplay) && (page_word >> (EntryShift + IndexWidth)) == '0;
  assign in_lists = look_kind == KindList;
  assign record_index_o = {2{IndexWidth'(page_word >> EntryShift)}};

  // Selects for the cycle in which the record is there.
  logic                  follows;   // the word behind the one that moves is made of the same record, or of none
  logic                  replay_q;
  logic [WordWidth-1:0]  list_word_q;
  logic [EntryWords-1:0] part;
  always_comb begin
    for (int unsigned p = 0; p < EntryWords; p++) part[p] = (32'(page_word) & (EntryWords - 1)) == p;
  end

  // The record of the direction.
  logic                 flush_q;
  logic [TagWidth-1:0]  tag_q;
  logic [SlotWidth-1:0] slot_q;
  logic [PageWidth-1:0] page_q;
  logic [63:0]          lba_q;
  logic [15:0]          blocks_q;
  always_ff @(posedge clk_i) if (!waits) begin
    flush_q  <= record_flush_i[replay_q];
    tag_q    <= replay_q ? record_tag_i[TagWidth +: TagWidth] : record_tag_i[0 +: TagWidth];
    page_q   <= replay_q ? record_page_i[PageWidth +: PageWidth] : record_page_i[0 +: PageWidth];
    slot_q   <= replay_q ? record_slot_i[SlotWidth +: SlotWidth] : record_slot_i[0 +: SlotWidth];
    lba_q    <= replay_q ? record_lba_i[127:64] : record_lba_i[63:0];
    blocks_q <= replay_q ? record_blocks_i[31:16] : record_blocks_i[15:0];
  end

  // The made word.
  logic [511:0]         entry, admin_entry;
  logic [DataWidth-1:0] list_entries, made;
  nvs_completer_entry #(
    .ChunkPages(ChunkPages),
    .Slots     (Slots),
    .Entries   (Entries),
    .Drive     (Drive),
    .BusBase   (BusBase),
    .Namespace (Namespace)
  ) u_entry (
    .replay_i     (replay_q),
    .flush_i      (flush_q),
    .tag_i        (tag_q),
    .slot_i       (slot_q),
    .page_i       (page_q),
    .lba_i        (lba_q),
    .blocks_i     (blocks_q),
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
    assign number = {list_word_q[ListWords-1:0], (BeatShift - 3)'(k)};
    assign list_entries[64*k +: 64] = &number[PageWidth-1:0] ? 64'h0 :
      BusBase | 64'({number[ListWidth-4], 2'(Drive), number[PageWidth +: SlotWidth], PageWidth'(number[PageWidth-1:0] + 1'b1), 12'h000});
  end
  // A command that is passed through stands for the admin command, or for a flush of the recording queue.
  logic passed;
  assign passed = admin_q ? pass_admin_i : queue_q && !replay_q && flush_q && pass_flush_i;
  always_comb begin
    pass_part_o = '0;
    for (int unsigned p = 0; p < EntryWords; p++) if (part_q[p]) pass_part_o = pass_part_o | 2'(p);
  end
  always_comb begin
    made = lists_q && (list_word_q >> ListWords) == '0 ? list_entries : '0;
    for (int unsigned p = 0; p < EntryWords; p++) begin
      if (queue_q && !passed && part_q[p]) made = made | entry[DataWidth*p +: DataWidth];
      if (admin_q && !passed && part_q[p]) made = made | admin_entry[DataWidth*p +: DataWidth];
    end
    if (passed) made = made | pass_word_i;
  end

  // Answers. If a word of a request is outside, so is its last one.
  logic advance, move, outside;
  assign advance     = !dev_r_valid_o || dev_r_ready_i;
  assign mem_r_ready_o = head_valid_i && ring_q && advance;
  assign move        = head_valid_i && advance && (ring_q ? mem_r_valid_i : made_q);
  assign waits       = turns && !advance;
  assign head_pop_o  = move && last_q;
  assign outside     = !ring_q && !admin_q && !queue_q && !lists_q;
  assign follows     = move && !ring_q && !last_q && (lists_q || ((admin_q || queue_q) && !part_q[EntryWords-1]));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      looked_q    <= 1'b0;
      made_q      <= 1'b0;
      error_o     <= 1'b0;
      dev_r_valid_o <= 1'b0;
    end else begin
      if (!waits) begin
        looked_q <= look_valid && (!move || ring_q || follows || turns);
        made_q   <= ((looked_q && !turns) || in_lists) && look_valid && (!move || ring_q || follows || turns);
      end
      error_o  <= head_pop_o && outside;
      if (advance) dev_r_valid_o <= move;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!head_valid_i || head_pop_o) begin
      ring_q   <= next_kind_i == KindRing;
      word_q   <= next_word_i;
      behind_q <= next_word_i[PageWords-1:0] + 1'b1;
      left_q   <= next_len_i;
      last_q   <= next_len_i == '0;
    end else if (move) begin
      word_q[PageWords-1:0] <= behind_q;
      behind_q <= behind_q + 1'b1;
      left_q   <= left_q - 1'b1;
      last_q   <= left_q == 8'd1;
    end
    if (move) begin
      dev_r_id_o   <= head_id_i;
      dev_r_data_o <= ring_q ? mem_r_data_i : made;
      dev_r_last_o <= last_q;
    end
    if (!waits) begin
      admin_q     <= in_admin;
      queue_q     <= in_queue;
      lists_q     <= in_lists;
      replay_q    <= look_kind == KindReplay;
      list_word_q <= word;
      if (follows) list_word_q[PageWords-1:0] <= behind_q;
      part_q      <= follows ? part << 1 : part;
    end
  end

`ifdef FORMAL
  `include "formal/nvs_completer_answer.svh"
`endif

endmodule
