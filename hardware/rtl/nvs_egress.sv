// Ring to stream: replayed chunks, in order, become beats of the stream.
//
// Purpose: the replaying half of the data path. Memory is read in bursts of one page, and only when the queue of beats has room for the
// burst, so read data never wait and memory latency is hidden behind the beats that are still to leave.
//
// Interface:
//   chunk_*     chunk in memory: its bytes (1 ... chunk), drive and slot, and whether the stream ends with it. Taken in order
//   abort_i     level: chunks and beats are dropped, also a beat that was offered; reads under way are completed. Chunks that come while it
//               is high are dropped, too; after it, none is taken before the old ones are gone. It waits for no consumer
//   ar_*, r_*   AXI4 read channels; INCR bursts within a page, the last one of a chunk as short as its bytes. `r_ready_o` is always high
//   m_*         AXI4-Stream, but that an abort withdraws an offer; `m_keep_o` counts from byte 0 on and is partial only where a chunk ends
//               inside a beat. `m_end_o`: the beat is the last one of its chunk
//   release_o   pulse, once per chunk taken, in order: memory will not be read for it any more
//   idle_o      level: no chunk, no read under way, no beat
// No output depends on an input of the same cycle.
//
// Invariants, proven in formal/nvs_egress.svh:
//   - the stream gets the bytes of the chunks in order, none lost or doubled, `m_keep_o` and `m_last_o` as the chunks say;
//   - beats asked for and not left never exceed the queue; a read is asked for only inside its chunk;
//   - one release per chunk, after the last beat read for it;
//   - an abort breaks no handshake of the memory: addresses that were offered stay, all reads are completed, all chunks released.

module nvs_egress #(
  parameter  int unsigned DataWidth  = 128,
  parameter  int unsigned ChunkPages = 32,   // a power of two
  parameter  int unsigned PageBytes  = 4096,
  parameter  int unsigned Slots      = 32,   // a power of two
  parameter  int unsigned Drives     = 1,    // 1 to 4
  parameter  int unsigned FifoBeats  = 512,  // a power of two, at least two pages
  parameter  int unsigned Bursts     = 8,    // bursts under way at most; a power of two: a queue of full pages at 512 bits
  localparam int unsigned BeatBytes  = DataWidth / 8,
  localparam int unsigned PageBeats  = PageBytes / BeatBytes,
  localparam int unsigned BeatShift  = $clog2(BeatBytes),
  localparam int unsigned BeatWidth  = $clog2(PageBeats),
  localparam int unsigned PageShift  = $clog2(PageBytes),
  localparam int unsigned PageWidth  = $clog2(ChunkPages),
  localparam int unsigned SlotWidth  = $clog2(Slots),
  localparam int unsigned DriveWidth = Drives > 1 ? $clog2(Drives) : 1,
  localparam int unsigned RingWidth  = 1 + 2 + SlotWidth + PageWidth + PageShift,
  localparam int unsigned SizeWidth  = PageWidth + PageShift + 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic                  chunk_valid_i,
  output logic                  chunk_ready_o,
  input  logic [SizeWidth-1:0]  chunk_bytes_i,
  input  logic                  chunk_last_i,
  input  logic [DriveWidth-1:0] chunk_drive_i,
  input  logic [SlotWidth-1:0]  chunk_slot_i,
  input  logic                  abort_i,

  output logic                  ar_valid_o,
  input  logic                  ar_ready_i,
  output logic [RingWidth-1:0]  ar_addr_o,
  output logic [7:0]            ar_len_o,
  input  logic                  r_valid_i,
  output logic                  r_ready_o,
  input  logic [DataWidth-1:0]  r_data_i,

  output logic                  m_valid_o,
  input  logic                  m_ready_i,
  output logic [DataWidth-1:0]  m_data_o,
  output logic [BeatBytes-1:0]  m_keep_o,
  output logic                  m_last_o,
  output logic                  m_end_o,

  output logic                  release_o,
  output logic                  idle_o
);

  localparam int unsigned OffsetWidth = PageWidth + PageShift;
  localparam int unsigned CountWidth  = $clog2(FifoBeats) + 1;

  // The chunk whose pages are being asked for.
  logic                   active_q;
  logic [OffsetWidth-1:0] end_q;    // offset of its last byte
  logic                   last_q;
  logic [DriveWidth-1:0]  drive_q;
  logic [SlotWidth-1:0]   slot_q;
  logic [PageWidth-1:0]   page_q;   // next page
  logic                   ar_valid_q;
  logic [CountWidth-1:0]  credit_q; // beats of the queue that were not asked for
  logic                   asking_q; // the burst was asked for in the cycle before: its beats are not taken off yet

  // An abort lasts until nothing is left.
  logic abort_q, dropping_q;

  // A burst is offered when a whole page has room. Its descriptor is waiting when its first beat comes.
  logic burst_ready, at_last_page, ask, asked, give_up, take_chunk;
  logic [BeatWidth-1:0] len, len_q;  // beats less one of the next burst, of the one that is offered
  assign at_last_page = page_q == end_q[PageShift +: PageWidth];
  assign len          = at_last_page ? end_q[BeatShift +: BeatWidth] : '1;
  assign ask          = active_q && !ar_valid_q && !dropping_q && burst_ready && credit_q >= CountWidth'(PageBeats);
  assign asked        = ar_valid_q && ar_ready_i;
  assign ar_valid_o   = ar_valid_q;
  assign ar_addr_o    = {1'b1, 2'(drive_q), slot_q, page_q, {PageShift{1'b0}}};
  assign ar_len_o     = 8'(len_q);

  // Descriptors: beats less one; the chunk's last burst, the stream's last burst, bytes of its last beat less one.
  logic                    burst_valid, burst_end, burst_last, beat_end;
  logic [BeatWidth-1:0]    burst_len, beat_q;
  logic [BeatShift-1:0]    burst_bytes;
  logic [$clog2(Bursts):0] burst_count;
  assign beat_end = r_valid_i && beat_q == burst_len;
  nvs_fifo #(
    .Width(BeatWidth + 2 + BeatShift),
    .Depth(Bursts)
  ) u_bursts (
    .clk_i,
    .rst_ni,
    .valid_i(ask),
    .ready_o(burst_ready),
    .data_i ({len, at_last_page, at_last_page && last_q, end_q[BeatShift-1:0]}),
    .valid_o(burst_valid),
    .ready_i(beat_end),
    .data_o ({burst_len, burst_end, burst_last, burst_bytes}),
    .count_o(burst_count)
  );

  // Beats, each with: last of its chunk, last of the stream, bytes less one.
  logic                 fifo_ready, beat_valid, pop, chunk_beat_end;
  logic [BeatShift-1:0] fifo_bytes;
  logic [CountWidth-1:0] fifo_space;
  assign r_ready_o      = 1'b1;
  assign chunk_beat_end = beat_end && burst_end;
  nvs_ram_fifo #(
    .Width(DataWidth + 2 + BeatShift),
    .Depth(FifoBeats)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .valid_i(r_valid_i),
    .ready_o(fifo_ready),
    .data_i ({r_data_i, chunk_beat_end, beat_end && burst_last, chunk_beat_end ? burst_bytes : '1}),
    .valid_o(beat_valid),
    .ready_i(pop),
    .data_o ({m_data_o, m_end_o, m_last_o, fifo_bytes}),
    .space_o(fifo_space)
  );

  // While dropping, nothing goes to the stream.
  assign m_valid_o   = beat_valid && !dropping_q;
  assign pop         = beat_valid && (m_ready_i || dropping_q);
  assign m_keep_o[0] = 1'b1;
  for (genvar b = 1; b < BeatBytes; b++) begin : gen_keep
    assign m_keep_o[b] = fifo_bytes >= BeatShift'(b);
  end

  // A chunk that an abort interrupts is given up when the reads before it are completed.
  logic release_q;
  assign give_up       = dropping_q && active_q && !ar_valid_q && burst_count == '0;
  assign chunk_ready_o = !active_q && dropping_q == abort_q;
  assign take_chunk    = chunk_valid_i && chunk_ready_o;
  assign release_o     = release_q;
  assign idle_o        = !active_q && !ar_valid_q && credit_q == CountWidth'(FifoBeats) && !release_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q   <= 1'b0;
      page_q     <= '0;
      ar_valid_q <= 1'b0;
      asking_q   <= 1'b0;
      credit_q   <= CountWidth'(FifoBeats);
      beat_q     <= '0;
      release_q  <= 1'b0;
      abort_q    <= 1'b0;
      dropping_q <= 1'b0;
    end else begin
      abort_q    <= abort_i;
      dropping_q <= abort_i || (dropping_q && !idle_o);
      release_q  <= chunk_beat_end || give_up;
      asking_q   <= ask;
      credit_q   <= credit_q + CountWidth'(pop) - (asking_q ? CountWidth'(len_q) + 1'b1 : '0);

      if (take_chunk) begin
        active_q <= 1'b1;
        page_q   <= '0;
      end
      if (ask) ar_valid_q <= 1'b1;
      if (asked) begin
        ar_valid_q <= 1'b0;
        page_q     <= page_q + 1'b1;
        if (at_last_page) active_q <= 1'b0;
      end
      if (give_up) active_q <= 1'b0;

      if (r_valid_i) beat_q <= beat_end ? '0 : beat_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (ask) len_q <= len;
    if (take_chunk) begin
      end_q   <= OffsetWidth'(chunk_bytes_i - 1'b1);
      last_q  <= chunk_last_i;
      drive_q <= chunk_drive_i;
      slot_q  <= chunk_slot_i;
    end
  end

  // The queue always has room and a beat always has its descriptor.
  logic unused;
  assign unused = &{1'b0, fifo_ready, fifo_space, burst_valid};

`ifdef FORMAL
  `include "formal/nvs_egress.svh"
`endif

endmodule
