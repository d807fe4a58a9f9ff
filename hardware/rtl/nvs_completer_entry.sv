// Made I/O submission entry.
//
// Purpose: the 64 bytes that the drive reads as an entry of an I/O submission queue, from the record of its command (NVMe Base 2.0c,
// 3.3.3.1; NVM Command Set 1.0c, 3.2.4 and 3.2.6). Combinational.
//
// Interface: the record as nvs_queues gives it (`blocks_i` is their number, not less one); `replay_i` is the direction; `block_shift_i` is
// 9 or 12. `entry_o` byte n is bits 8n+7 ... 8n.
//
// Invariants, proven in formal/nvs_completer_entry.svh:
//   - opcode, CID, NSID, first block and number of blocks are those of the record; the fields that a flush does not use are zero;
//   - PRP1 is the first page; PRP2 is zero for one page, the next page for two, and the slot's PRP list from that on for more.

module nvs_completer_entry #(
  parameter  int unsigned ChunkPages = 32,
  parameter  int unsigned Slots      = 32,
  parameter  int unsigned Entries    = 64,
  parameter  int unsigned Drive      = 0,
  parameter  logic [63:0] BusBase    = 64'h0,
  parameter  logic [31:0] Namespace  = 32'd1,
  localparam int unsigned PageWidth  = $clog2(ChunkPages),
  localparam int unsigned SlotWidth  = $clog2(Slots),
  localparam int unsigned TagWidth   = $clog2(Entries) - 1
) (
  input  logic                 replay_i,
  input  logic                 flush_i,
  input  logic [TagWidth-1:0]  tag_i,
  input  logic [SlotWidth-1:0] slot_i,
  input  logic [PageWidth-1:0] page_i,  // even
  input  logic [63:0]          lba_i,
  input  logic [15:0]          blocks_i,
  input  logic [3:0]           block_shift_i,
  output logic [511:0]         entry_o
);

  localparam logic [7:0]  OpcodeFlush = 8'h00;
  localparam logic [7:0]  OpcodeWrite = 8'h01;
  localparam logic [7:0]  OpcodeRead  = 8'h02;
  localparam logic [39:0] ListBase    = 40'h80_0001_0000;

  // Pages of the data: a page is 8 blocks of 512 bytes or 1 block of 4096 bytes.
  logic large_blocks, one_page, two_pages;
  assign large_blocks = block_shift_i == 4'd12;
  assign one_page     = large_blocks ? blocks_i <= 16'd1 : blocks_i <= 16'd8;
  assign two_pages    = large_blocks ? blocks_i <= 16'd2 : blocks_i <= 16'd16;

  logic [39:0] first_page, second_page, list, second;
  assign first_page  = 40'({replay_i, 2'(Drive), slot_i, page_i, 12'h000});
  assign second_page = 40'({replay_i, 2'(Drive), slot_i, page_i | PageWidth'(1), 12'h000});
  assign list        = ListBase + 40'({replay_i, slot_i, page_i, 3'b000});
  assign second      = two_pages ? second_page : list;

  logic [7:0] opcode;
  assign opcode = flush_i ? OpcodeFlush : replay_i ? OpcodeRead : OpcodeWrite;

  always_comb begin
    entry_o          = '0;
    entry_o[7:0]     = opcode;
    entry_o[31:16]   = flush_i ? 16'(Entries / 2) : 16'(tag_i);
    entry_o[63:32]   = Namespace;
    if (!flush_i) begin
      entry_o[255:192] = BusBase | 64'(first_page);                     // PRP1
      if (!one_page) entry_o[319:256] = BusBase | 64'(second);          // PRP2
      entry_o[383:320] = lba_i;                                         // command dwords 10 and 11
      entry_o[399:384] = blocks_i - 1'b1;                               // command dword 12
    end
  end

`ifdef FORMAL
  `include "formal/nvs_completer_entry.svh"
`endif

endmodule
