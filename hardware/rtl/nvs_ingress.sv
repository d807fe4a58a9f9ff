// Stream to ring: beats become bursts of one page, pages become chunks, and a chunk whose pages are all in memory becomes a command.
//
// Purpose: the recording half of the data path. Store and forward: a command is given on when memory has acknowledged the last page of
// its chunk, since a drive that has begun to read must be answered, and a stream may stop inside a chunk.
//
// Interface:
//   start_i     pulse while idle: a session of at most `chunks_i` chunks begins
//   stop_i      level: no further beat is taken. The open page is completed with zeroes, the open chunk is given up
//   close_i     pulse: the stream ends with the beat before, as if that had been its last one: the open chunk is padded and becomes a command.
//               Not heeded with stop_i
//   packets_i   level, constant in a session: the last beat of a packet does not end it. Packets follow each other in the chunks, each from
//               a beat of its own on, the last one before it padded with zeroes
//   hold_i      level: `chunks_i`, above 0 then, is not counted down, so that the session goes on. It falls once, and rises between sessions
//   s_*         AXI4-Stream; only the last beat may be partial, and what it keeps begins at byte 0 without a hole; see keep_error_o
//   aw_*, w_*, b_*  AXI4 write channels; one burst per page. The address is offered in the cycle of the first beat, so no burst is open
//               without data. Readies come from register slices (nvs_skid), so the combinational path ends there
//   cmd_*       chunk in memory: its bytes. Chunk k of a session is in slot (k / Drives) mod Slots of
//               drive k mod Drives, as nvs_queues gives them out after its rewind_i
//   release_i   the oldest used slot is free again
//   ended_o     level: the stream has ended by its last beat or by close_i
//   full_o      level: the stream waits for a slot
//   done_o      level: the session has ended and nothing is under way
//   dropped_o   bytes taken of the chunk that was given up
//   error_o     pulse: memory answered a write with an error
//   keep_error_o pulse, one cycle after the beat: a beat was partial inside the packet, or its kept bytes have a hole. Nothing is recorded
//               from it on: its chunk becomes no command if the session stops at the pulse
//
// Invariants, proven in formal/nvs_ingress.svh:
//   - beat n of a session goes to its chunk n / ChunkBeats, beat n % ChunkBeats; none is lost, doubled or moved;
//   - a burst is one page, `w_last_o` is its last beat; addresses lie in a free slot;
//   - a command follows the acknowledgement of all its pages, one command per chunk.

module nvs_ingress #(
  parameter  int unsigned DataWidth  = 128,
  parameter  int unsigned ChunkPages = 32,   // a power of two
  parameter  int unsigned PageBytes  = 4096,
  parameter  int unsigned Slots      = 32,   // per drive; a power of two
  parameter  int unsigned Drives     = 1,    // 1 to 4
  localparam int unsigned BeatBytes  = DataWidth / 8,
  localparam int unsigned PageBeats  = PageBytes / BeatBytes,
  localparam int unsigned BeatShift  = $clog2(BeatBytes),
  localparam int unsigned BeatWidth  = $clog2(PageBeats),
  localparam int unsigned PageWidth  = $clog2(ChunkPages),
  localparam int unsigned SlotWidth  = $clog2(Slots),
  localparam int unsigned AddrWidth  = 3 + SlotWidth + PageWidth + BeatWidth + BeatShift,  // direction, drive, slot, page, byte
  localparam int unsigned UsedWidth  = $clog2(Slots * Drives + 1),
  localparam int unsigned SizeWidth  = PageWidth + BeatWidth + BeatShift + 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 start_i,
  input  logic                 stop_i,
  input  logic                 close_i,
  input  logic [39:0]          chunks_i,
  input  logic                 packets_i,
  input  logic                 hold_i,

  input  logic                 s_valid_i,
  output logic                 s_ready_o,
  input  logic [DataWidth-1:0] s_data_i,
  input  logic [BeatBytes-1:0] s_keep_i,
  input  logic                 s_last_i,

  output logic                 aw_valid_o,
  input  logic                 aw_ready_i,
  output logic [AddrWidth-1:0] aw_addr_o,
  output logic                 w_valid_o,
  input  logic                 w_ready_i,
  output logic [DataWidth-1:0] w_data_o,
  output logic                 w_last_o,
  input  logic                 b_valid_i,
  input  logic                 b_error_i,

  output logic                 cmd_valid_o,
  input  logic                 cmd_ready_i,
  output logic [SizeWidth-1:0] cmd_bytes_o,  // 1 ... chunk
  input  logic                 release_i,

  output logic                 done_o,
  output logic                 ended_o,
  output logic                 full_o,
  output logic [SizeWidth-1:0] dropped_o,
  output logic                 error_o,
  output logic                 keep_error_o
);

  // Chunks whose pages are written and perhaps not acknowledged: more than one, so that memory latency costs nothing.
  localparam int unsigned Pending   = 4;
  // Page counters wrap; they differ by the pages of the pending and the open chunk at most.
  localparam int unsigned CountWidth = PageWidth + $clog2(Pending) + 2;

  logic                  active_q;         // beats are taken
  logic                  padding_q;        // the open page is completed with zeroes
  logic                  last_q;           // the stream has ended
  logic                  give_up_q;        // the open chunk will not become a command
  logic [39:0]           left_q;           // chunks that may still begin
  logic                  more_q;           // above 0
  logic [BeatWidth-1:0]  beat_q;
  logic [PageWidth-1:0]  page_q;
  logic [SizeWidth-1:0]  size_q;           // bytes of the stream in the open chunk, but for those of the beat before
  logic [BeatShift:0]    kept_q;           // bytes of the beat before
  logic                  ended_q, push_q;  // the beat before ended its chunk; which becomes a command
  logic [1:0]            drive_q;          // of the open chunk
  logic [SlotWidth-1:0]  slot_q;
  logic [UsedWidth-1:0]  used_q;           // slots of complete chunks
  logic                  slot_free_q;      // they are not all of them
  logic [CountWidth-1:0] written_q, acknowledged_q;

  // A beat moves when memory takes it. The first of a page needs its address taken, too; the first of a chunk a slot and a descriptor, for
  // which it waits two cycles: the chunk before is entered in the cycle after its last beat, and the room that it leaves known in the next.
  logic pending_ready, may_move, take, pad, move;
  logic at_page_q, at_chunk_q, room_q;  // the next beat is the first of a page, of a chunk; which has room
  assign may_move  = w_ready_i && (!at_page_q || aw_ready_i) && (!at_chunk_q || room_q);
  assign s_ready_o = active_q && !stop_i && !close_i && may_move;
  assign take      = s_valid_i && s_ready_o;
  assign pad       = padding_q && may_move;
  assign move      = take || pad;

  logic               ends;  // the beat ends the stream
  logic [BeatShift:0] kept;
  assign ends = s_last_i && !packets_i;
  always_comb begin
    kept = s_keep_i[BeatBytes-1] || !ends ? (BeatShift + 1)'(BeatBytes) : '0;
    for (int unsigned b = 0; b + 1 < BeatBytes; b++) if (ends && s_keep_i[b] && !s_keep_i[b+1]) kept = kept | (BeatShift + 1)'(b + 1);
    for (int unsigned b = 0; b < BeatBytes; b++) begin
      w_data_o[8*b +: 8] = take && (!s_last_i || s_keep_i[b]) ? s_data_i[8*b +: 8] : 8'h00;
    end
  end

  // Every beat but the last one is whole; its kept bytes are the lowest ones.
  logic keep_wrong;
  assign keep_wrong = s_last_i ? |(s_keep_i[BeatBytes-1:1] & ~s_keep_i[BeatBytes-2:0]) : !(&s_keep_i);

  logic page_end, chunk_end;
  assign w_valid_o  = move;
  assign w_last_o   = &beat_q;
  assign aw_valid_o = move && at_page_q;
  assign aw_addr_o  = {1'b0, drive_q, slot_q, page_q, {(BeatWidth + BeatShift){1'b0}}};
  assign page_end   = move && w_last_o;
  // A chunk ends with its last page, or with the page in which the stream ended or was stopped.
  assign chunk_end  = page_end && (&page_q || last_q || (take && ends) || give_up_q);

  // A chunk that is complete in the ring waits for its acknowledgements.
  logic                  pending_valid, pop;
  logic [SizeWidth-1:0]  size;
  logic [CountWidth-1:0] pending_end, pending_distance;
  logic [$clog2(Pending):0] pending_count;
  assign size = size_q + SizeWidth'(kept_q);
  nvs_fifo #(
    .Width(CountWidth + SizeWidth),
    .Depth(Pending)
  ) u_pending (
    .clk_i,
    .rst_ni,
    .valid_i(push_q),
    .ready_o(pending_ready),
    .data_i ({written_q, size}),
    .valid_o(pending_valid),
    .ready_i(pop),
    .data_o ({pending_end, cmd_bytes_o}),
    .count_o(pending_count)
  );
  logic unused;
  assign unused = ^pending_count;
  assign pending_distance = acknowledged_q - pending_end;
  assign cmd_valid_o      = pending_valid && !pending_distance[CountWidth-1];
  assign pop              = cmd_valid_o && cmd_ready_i;

  assign error_o = b_valid_i && b_error_i;
  assign ended_o = last_q;
  assign full_o  = active_q && s_valid_i && at_chunk_q && !slot_free_q;
  // That all pages are acknowledged is known a cycle late: the cycle after the last page of a chunk is that of ended_q.
  logic acknowledged_all_q;
  always_ff @(posedge clk_i) acknowledged_all_q <= written_q == acknowledged_q;
  assign done_o  = !active_q && !padding_q && !ended_q && !pending_valid && acknowledged_all_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q       <= 1'b0;
      padding_q      <= 1'b0;
      last_q         <= 1'b0;
      give_up_q      <= 1'b0;
      left_q         <= '0;
      more_q         <= 1'b0;
      kept_q         <= '0;
      ended_q        <= 1'b0;
      push_q         <= 1'b0;
      beat_q         <= '0;
      page_q         <= '0;
      size_q         <= '0;
      drive_q        <= '0;
      slot_q         <= '0;
      used_q         <= '0;
      slot_free_q    <= 1'b1;
      written_q      <= '0;
      acknowledged_q <= '0;
      dropped_o      <= '0;
      keep_error_o   <= 1'b0;
      at_page_q      <= 1'b1;
      at_chunk_q     <= 1'b1;
      room_q         <= 1'b0;
    end else begin
      room_q       <= slot_free_q && pending_ready && more_q && !ended_q && !chunk_end;
      keep_error_o <= take && keep_wrong;
      if (b_valid_i) acknowledged_q <= acknowledged_q + 1'b1;
      if (push_q != release_i) begin
        used_q      <= push_q ? used_q + 1'b1 : used_q - 1'b1;
        slot_free_q <= !push_q || used_q != UsedWidth'(Slots * Drives - 1);
      end

      kept_q  <= take ? kept : '0;
      ended_q <= chunk_end;
      push_q  <= chunk_end && !give_up_q;
      size_q  <= ended_q ? '0 : size;
      if (push_q) begin
        drive_q <= drive_q == 2'(Drives - 1) ? '0 : drive_q + 1'b1;
        if (drive_q == 2'(Drives - 1)) slot_q <= slot_q + 1'b1;
      end
      if (ended_q && !push_q) dropped_o <= size;

      if (move) begin
        beat_q     <= beat_q + 1'b1;
        at_page_q  <= w_last_o;
        at_chunk_q <= chunk_end;
        if (at_chunk_q) begin
          left_q <= left_q - 40'(!hold_i);
          more_q <= hold_i || left_q != 40'd1;
        end
        if (take && ends) begin
          last_q    <= 1'b1;
          active_q  <= 1'b0;
          padding_q <= !w_last_o;
        end
        if (page_end) begin
          written_q <= written_q + 1'b1;
          padding_q <= 1'b0;
          page_q    <= chunk_end ? '0 : page_q + 1'b1;
        end
        if (chunk_end) begin
          give_up_q <= 1'b0;
          if (!more_q) active_q <= 1'b0;  // counted down by the chunk's first beat, which is not its last
        end
      end

      // Stop: an open page is completed, an open chunk is given up; between pages both at once. Close: the same, but the chunk is kept.
      if (active_q && (stop_i || close_i)) begin
        active_q  <= 1'b0;
        last_q    <= !stop_i;
        padding_q <= !at_page_q;
        give_up_q <= !at_page_q && stop_i;
        if (at_page_q) begin
          page_q     <= '0;
          at_chunk_q <= 1'b1;
          if (stop_i) begin
            if (!ended_q) dropped_o <= size;
            size_q <= '0;
          end else if (!at_chunk_q) begin
            ended_q <= 1'b1;
            push_q  <= 1'b1;
          end
        end
      end

      if (start_i && done_o) begin
        active_q   <= chunks_i != '0;
        last_q     <= 1'b0;
        drive_q    <= '0;
        slot_q     <= '0;
        used_q     <= '0;
        slot_free_q <= 1'b1;
        left_q     <= chunks_i;
        more_q     <= chunks_i != '0;
        dropped_o  <= '0;
      end
    end
  end

`ifdef FORMAL
  `include "formal/nvs_ingress.svh"
`endif

endmodule
