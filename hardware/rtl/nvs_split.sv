// Chunks to commands: of one direction of one drive, between nvs_session and nvs_queues.
//
// Purpose: a chunk that is larger than the drive's largest transfer (MDTS) becomes several commands, which retire as one chunk; any other
// becomes one. Gives each chunk its slot, the chunk buffer of the ring.
//
//   chunk accepted           its commands retired       released
//   free slot -------------> in use ------------------> retired ------------> free
//
// Interface:
//   enable_i     level: the drive is ready. Without it no command is accepted
//   clear_i      controller reset: everything is given up
//   max_pages_i  largest transfer in pages of 4 KiB, a power of two from 2 on; 0: no limit. block_shift_i: 9 or 12. Both are constant while
//                enable_i is set
//   cmd_*        next chunk, or a flush, which waits here until nothing is outstanding. The first block is the first of a chunk of the drive
//   retire_*     oldest chunk that has not retired, when all of its commands are complete. Its status is that of its first command that
//                failed, if one did; retire_page_o is the first page of that command
//   rewind_i     slots are given out from 0 on again; has an effect only while nothing is outstanding
//   release_i    the oldest retired slot may be used again (a record: at once; a replay: when the stream has taken it)
//   part_*, done_*  commands to and retirements from nvs_queues, as its cmd_* and retire_*
//
// Invariants, proven in formal/nvs_split.svh:
//   - the commands of a chunk follow each other and cover it: from its first block and page on, each as long as the largest transfer, the
//     last one as long as what is left;
//   - a chunk retires once, after its last command, and has failed if one of them has;
//   - a slot is given to a chunk only when it is free, and released only after it retired;
//   - a flush passes only between chunks.

module nvs_split #(
  parameter  int unsigned ChunkPages = 32,  // a power of two, at least 4
  parameter  int unsigned Slots      = 32,  // a power of two
  localparam int unsigned PageWidth  = $clog2(ChunkPages),
  localparam int unsigned SlotWidth  = $clog2(Slots),
  localparam int unsigned BlockWidth = PageWidth + 4  // blocks of a chunk, of 512 bytes
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 clear_i,
  input  logic                 enable_i,
  input  logic                 rewind_i,
  input  logic [3:0]           block_shift_i,
  input  logic [15:0]          max_pages_i,

  input  logic                 cmd_valid_i,
  output logic                 cmd_ready_o,
  input  logic                 cmd_flush_i,
  input  logic [63:0]          cmd_lba_i,
  input  logic [15:0]          cmd_blocks_i,
  output logic                 retire_valid_o,
  input  logic                 retire_ready_i,
  output logic                 retire_flush_o,
  output logic [SlotWidth-1:0] retire_slot_o,
  output logic [PageWidth-1:0] retire_page_o,
  output logic [14:0]          retire_status_o,
  output logic                 retire_failed_o,
  input  logic                 release_i,
  output logic                 idle_o,

  output logic                 part_valid_o,
  input  logic                 part_ready_i,
  output logic                 part_flush_o,
  output logic [63:0]          part_lba_o,
  output logic [15:0]          part_blocks_o,
  output logic [SlotWidth-1:0] part_slot_o,
  output logic [PageWidth-1:0] part_page_o,
  output logic                 part_last_o,
  input  logic                 done_valid_i,
  output logic                 done_ready_o,
  input  logic                 done_flush_i,
  input  logic                 done_last_i,
  input  logic [PageWidth-1:0] done_page_i,
  input  logic [14:0]          done_status_i,
  input  logic                 done_failed_i,
  input  logic                 done_idle_i
);

  // Slot counters run modulo 2 * Slots, so that full and empty differ.
  logic [SlotWidth:0] accepted_q, retired_q, released_q;
  logic slot_free, none_unretired;
  assign slot_free      = accepted_q != {!released_q[SlotWidth], released_q[SlotWidth-1:0]};
  assign none_unretired = accepted_q == retired_q;

  // The flush that waits, or the chunk that is being split: what is left of it.
  logic                  left_any_q, flush_q;
  logic [63:0]           lba_q;
  logic [BlockWidth-1:0] left_q;   // blocks
  logic [PageWidth-1:0]  page_q;
  logic [SlotWidth-1:0]  slot_q;

  // The largest transfer, if it is below a chunk, in pages and in blocks; else 0.
  logic [PageWidth-1:0]  step_pages;
  logic [BlockWidth-1:0] step_q;
  logic                  last;
  assign step_pages = max_pages_i[PageWidth-1:0];
  assign last       = step_pages == '0 || left_q <= step_q;
  always_ff @(posedge clk_i) step_q <= block_shift_i == 4'd12 ? BlockWidth'(step_pages) : {1'b0, step_pages, 3'b000};

  // That the next one can be accepted is known a cycle late. A flush needs no slot, but waits for one, too: its queue then is empty anyway.
  logic ready_q, accept, move;
  always_ff @(posedge clk_i) ready_q <= !left_any_q && slot_free && !accept;
  assign cmd_ready_o   = enable_i && ready_q;
  assign accept        = cmd_valid_i && cmd_ready_o;
  assign part_valid_o  = enable_i && left_any_q;
  assign part_flush_o  = flush_q;
  assign part_lba_o    = lba_q;
  assign part_blocks_o = last ? 16'(left_q) : 16'(step_q);
  assign part_slot_o   = slot_q;
  assign part_page_o   = page_q;
  assign part_last_o   = last;
  assign move          = part_valid_o && part_ready_i;

  // Retirement. All commands of a chunk but the last one retire here.
  logic                 whole, retire;
  logic                 failed_q;  // one of the chunk that retires next has failed: which, and how
  logic [PageWidth-1:0] failed_page_q;
  logic [14:0]          failed_status_q;
  assign whole           = done_flush_i || done_last_i;
  assign retire_valid_o  = done_valid_i && whole;
  assign done_ready_o    = !whole || retire_ready_i;
  assign retire_flush_o  = done_flush_i;
  assign retire_slot_o   = retired_q[SlotWidth-1:0];
  assign retire_failed_o = failed_q || done_failed_i;
  assign retire_page_o   = failed_q ? failed_page_q : done_page_i;
  assign retire_status_o = failed_q ? failed_status_q : done_status_i;
  assign retire          = done_valid_i && done_ready_o && !done_flush_i;

  assign idle_o = done_idle_i && !left_any_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      accepted_q <= '0;
      retired_q  <= '0;
      released_q <= '0;
      left_any_q <= 1'b0;
      failed_q   <= 1'b0;
    end else if (clear_i || (rewind_i && none_unretired && !left_any_q && !accept)) begin
      accepted_q <= '0;
      retired_q  <= '0;
      released_q <= '0;
      left_any_q <= 1'b0;
      failed_q   <= 1'b0;
    end else begin
      if (accept) begin
        if (!cmd_flush_i) accepted_q <= accepted_q + 1'b1;
        left_any_q <= 1'b1;
      end else if (move && (flush_q || last)) begin
        left_any_q <= 1'b0;
      end
      if (retire) begin
        failed_q <= !done_last_i && (failed_q || done_failed_i);
        if (done_last_i) retired_q <= retired_q + 1'b1;
      end
      if (release_i && released_q != retired_q) released_q <= released_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!failed_q) begin
      failed_page_q   <= done_page_i;
      failed_status_q <= done_status_i;
    end
    if (accept) begin
      flush_q <= cmd_flush_i;
      lba_q   <= cmd_lba_i;
      left_q  <= cmd_blocks_i[BlockWidth-1:0];
      page_q  <= '0;
      slot_q  <= accepted_q[SlotWidth-1:0];
    end else if (move) begin
      // A chunk begins at a multiple of its size: no carry leaves its blocks.
      lba_q[BlockWidth-2:0] <= lba_q[BlockWidth-2:0] + step_q[BlockWidth-2:0];
      left_q <= left_q - step_q;
      page_q <= page_q + step_pages;
    end
  end

  logic unused;
  assign unused = ^{cmd_blocks_i, max_pages_i};

`ifdef FORMAL
  `include "formal/nvs_split.svh"
`endif

endmodule
