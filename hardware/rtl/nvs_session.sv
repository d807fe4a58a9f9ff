// Session of one direction: a range of chunks, from its start to its end status.
//
// Purpose: checks the addresses, turns chunks into commands of the drives in turn, counts the unbroken run of completed chunks, makes it
// durable, and ends for every reason of the STATUS register. Chunk k of a session is on drive k mod Drives, at chunk k / Drives of the range.
//
// Interface:
//   start_i ... flush_now_i  pulses, from the CONTROL register; flush_after_i and the addresses are sampled with start_i
//   chunk source of a recording: source_* (nvs_ingress); a replay makes its chunks from the range and length_i
//   queue_*     commands to and retirements from nvs_split, one set per drive
//   chunk_*     retired chunk of a replay, to nvs_egress; delivered_i: pulse, the stream has taken a whole chunk
//   queue_late_i  level: a drive did not complete a command in its time
//   lost        a drive whose ready_i falls has given up its commands: the session ends with DEVICE_ERROR
//   restart_o   pulse: the drive is late and is to be brought up again
//   ring_i      sampled with start_i: the recording goes round the range until trigger_i, and ends when post_chunks_i chunks (at least one)
//               have begun behind that. Of a range of fewer chunks per drive than Slots it is refused, as a chunk could be written while the
//               one before it at the same place is
//   hold_o      level: of a ring, the trigger has not come
//   next_address_o  place of the next chunk: when the ring has been round (STATUS.WRAPPED), that of the oldest one
//   drop_o      level: a replay was stopped or lost its drive. Chunks on their way to the stream are dropped; its end waits for no consumer
//   end_o       how it ended, valid with ended_o: 0 complete, 1 STOP, 2 ABORT, 3 error
//
// Ends: the source ended or the range is full (FINISHED), STOP, ABORT (followed by a flush), or a failure. A STOP becomes an ABORT when that
// follows before the session has ended. After a failed command no further chunk is counted and no command is made; what is outstanding is
// awaited.
//
// Invariants, proven in formal/nvs_session.svh:
//   - a command lies within [first, last] of the range, and follows the one before it, in a ring the first one the last one;
//   - BYTES, LAST_ADDRESS_WRITTEN describe exactly the completed chunks before the first failed one; durable bytes never exceed BYTES;
//   - a refused session makes no command; a session ends only with nothing outstanding on a drive that is ready;
//   - an aborted recording without a failure is durable;
//   - commands and flushes are never outstanding together.

module nvs_session #(
  parameter  int unsigned Replay     = 0,  // 0: record, 1: replay
  parameter  int unsigned ChunkPages = 32,
  parameter  int unsigned Slots      = 32,
  parameter  int unsigned Drives     = 1,
  localparam int unsigned ChunkShift = $clog2(ChunkPages) + 12,
  localparam int unsigned SizeWidth  = ChunkShift + 1,
  localparam int unsigned PageWidth  = $clog2(ChunkPages),
  localparam int unsigned SlotWidth  = $clog2(Slots),
  localparam int unsigned NoWidth    = 64 - ChunkShift, // chunk numbers on a drive
  localparam int unsigned SpanWidth  = 37,              // chunks of a session on one drive: at most 2^37, of 16 KiB and more
  localparam int unsigned CountWidth = 40               // chunks of a session: at most 4 * 2^37
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    tick_i,

  input  logic                    start_i,
  input  logic                    stop_i,
  input  logic                    abort_i,
  input  logic                    flush_now_i,
  input  logic                    flush_after_i,
  input  logic [63:0]             first_address_i,
  input  logic [63:0]             last_address_i,
  input  logic [63:0]             length_i,           // replay: bytes to deliver, 0 for the whole range
  input  logic                    ring_i,
  input  logic                    trigger_i,
  input  logic [31:0]             post_chunks_i,
  output logic [31:0]             status_o,
  output logic [63:0]             last_address_written_o,
  output logic [63:0]             next_address_o,
  output logic [63:0]             bytes_o,
  output logic [63:0]             stalls_o,
  output logic [63:0]             stall_time_ns_o,
  output logic [63:0]             durable_bytes_o,
  output logic [63:0]             device_status_o,
  output logic [63:0]             cycles_o,
  output logic                    running_o,
  output logic                    started_o,          // pulse: the range was accepted
  output logic                    hold_o,
  output logic                    triggered_o,        // level: the trigger has come; until the next start
  output logic                    stopping_o,         // level: no more of the stream is taken; one cycle late
  output logic                    stopped_o,          // level: STOP or ABORT has ended the session; until the next start
  output logic                    aborted_o,          // level: it was ABORT
  output logic                    ended_o,            // level: a session has ended since the last start
  output logic [1:0]              end_o,
  output logic                    drop_o,

  input  logic [Drives-1:0]       ready_i,
  input  logic [64*Drives-1:0]    media_blocks_i,
  input  logic [4*Drives-1:0]     block_shift_i,
  input  logic                    protocol_error_i,
  output logic [Drives-1:0]       restart_o,

  // Recording: the chunks of nvs_ingress. Replay: unused.
  output logic [39:0]             source_chunks_o,
  input  logic                    source_valid_i,
  output logic                    source_ready_o,
  input  logic [SizeWidth-1:0]    source_bytes_i,
  input  logic                    source_ended_i,
  input  logic                    source_done_i,
  input  logic                    source_full_i,

  output logic [Drives-1:0]       queue_cmd_valid_o,
  input  logic [Drives-1:0]       queue_cmd_ready_i,
  output logic                    queue_cmd_flush_o,
  output logic [63:0]             queue_cmd_lba_o,
  output logic [15:0]             queue_cmd_blocks_o,
  input  logic [Drives-1:0]       queue_retire_valid_i,
  output logic [Drives-1:0]       queue_retire_ready_o,
  input  logic [Drives-1:0]       queue_retire_flush_i,
  input  logic [SlotWidth*Drives-1:0] queue_retire_slot_i,
  input  logic [PageWidth*Drives-1:0] queue_retire_page_i,     // first page of the command that failed, in its chunk
  input  logic [15*Drives-1:0]    queue_retire_status_i,
  input  logic [Drives-1:0]       queue_retire_failed_i,   // the status is no success
  input  logic [Drives-1:0]       queue_late_i,
  input  logic [Drives-1:0]       queue_idle_i,

  output logic                    chunk_valid_o,
  input  logic                    chunk_ready_i,
  output logic [SizeWidth-1:0]    chunk_bytes_o,
  output logic                    chunk_last_o,
  output logic [1:0]              chunk_drive_o,
  output logic [SlotWidth-1:0]    chunk_slot_o,
  input  logic                    delivered_i,
  input  logic                    egress_idle_i
);

  localparam logic [SizeWidth-1:0] ChunkBytes = SizeWidth'(1) << ChunkShift;
  localparam logic [14:0]          NoStatus   = 15'h7fff;  // DEVICE_STATUS of a command that was never completed

  typedef enum logic [2:0] {Idle, Order, Media, Count, Total, Run, Drain, Flush} state_e;
  state_e state_q;
  logic   running_q, started_q;  // state_q is not Idle; is Total

  // Registers of the range, sampled by the start.
  logic [NoWidth-1:0]    first_q, last_q;
  logic [CountWidth-1:0] per_drive_q;
  logic [CountWidth-1:0] total_q;      // chunks of the session
  logic [SizeWidth-1:0]  short_q;      // bytes of the last chunk if it is short
  logic                  any_short_q;  // it is
  logic [CountWidth-1:0] newest_q;     // number of the last chunk: of the range for a replay, that was made until now for a recording
  logic                  flush_after_q, stopped_q, aborted_q, failed_q, lost_q, protocol_q, early_q, ended_q;
  logic [3:0]            refusal_q;    // bits 8:5 of STATUS

  // Three positions in the session: commands made, commands retired, chunks of the reported run.
  // What a recording has retired is its run, until a chunk fails.
  logic [CountWidth-1:0] made_q, retired_q, run;
  logic [1:0]            made_drive_q, retired_drive_q;
  logic [NoWidth-1:0]    made_no_q, retired_no_q, run_no;
  logic [NoWidth-1:0]    last_run_no_q;
  logic                  any_run_q;    // the run has a chunk

  logic                  ring_q, triggered_q, wrapped_q;
  logic [SlotWidth+2:0]  unrecorded_q;  // chunks of a recording that were made and are not in the run
  logic                  made_last_q, retired_last_q;  // of a ring: the number is the range's last one

  function automatic logic [1:0] next_drive(input logic [1:0] drive);
    next_drive = drive == 2'(Drives - 1) ? 2'd0 : drive + 2'd1;
  endfunction

  // The next chunk of a drive: behind the last one of a ring, the first.
  function automatic logic [NoWidth-1:0] next_no(input logic [NoWidth-1:0] no, input logic last, input logic [NoWidth-1:0] first);
    next_no = (last ? first : no) + NoWidth'(!last);
  endfunction

  // One drive's part of the vectors.
  logic                 made_ready, retire_valid, retire_flush, retire_failed;
  logic [3:0]           made_shift, retired_shift;
  logic [SlotWidth-1:0] retire_slot;
  logic [PageWidth-1:0] retire_page;
  logic [14:0]          retire_status;
  always_comb begin
    made_ready    = 1'b0;
    made_shift    = '0;
    retire_valid  = 1'b0;
    retire_flush  = 1'b0;
    retire_failed = 1'b0;
    retire_slot   = '0;
    retire_page   = '0;
    retire_status = '0;
    retired_shift = '0;
    for (int unsigned d = 0; d < Drives; d++) begin
      if (made_drive_q == 2'(d)) begin
        made_ready = queue_cmd_ready_i[d];
        made_shift = block_shift_i[4*d +: 4];
      end
      if (retired_drive_q == 2'(d)) begin
        retire_valid  = queue_retire_valid_i[d];
        retire_flush  = queue_retire_flush_i[d];
        retire_failed = queue_retire_failed_i[d];
        retire_slot   = queue_retire_slot_i[SlotWidth*d +: SlotWidth];
        retire_page   = queue_retire_page_i[PageWidth*d +: PageWidth];
        retire_status = queue_retire_status_i[15*d +: 15];
        retired_shift = block_shift_i[4*d +: 4];
      end
    end
  end

  // Refusals.
  logic unaligned, beyond;
  assign unaligned = first_address_i[ChunkShift-1:0] != '0 || last_address_i[ChunkShift-1:0] != '0;
  always_comb begin
    beyond = 1'b0;
    for (int unsigned d = 0; d < Drives; d++) begin
      if ({1'b0, last_q} >= (block_shift_i[4*d +: 4] == 4'd12 ? (NoWidth + 1)'(media_blocks_i[64*d +: 64] >> (ChunkShift - 12))
                                                              : (NoWidth + 1)'(media_blocks_i[64*d +: 64] >> (ChunkShift - 9)))) begin
        beyond = 1'b1;
      end
    end
  end

  logic [NoWidth-1:0] span;  // chunks of a drive, less one
  assign span = last_q - first_q;

  // A ring of fewer chunks per drive than Slots.
  logic ring_short;
  assign ring_short = ring_q && (per_drive_q >> SlotWidth) == '0;

  // Found in the state Order, for Media: what is wrong with the range.
  logic reversed_q, beyond_q, long_q;
  always_ff @(posedge clk_i) begin
    reversed_q <= first_q > last_q;
    beyond_q   <= beyond;
    long_q     <= (span >> SpanWidth) != '0;
  end

  // Flush: of all drives, with no data command outstanding.
  logic              flush_wanted_q;           // while the stream continues
  logic [Drives-1:0] flush_sent_q, flush_done_q;
  logic              flushing;
  assign flushing = state_q == Flush || (state_q == Run && flush_wanted_q);

  logic stopping;
  assign stopping = stopped_q || failed_q || lost_q;

  // Chunks to commands.
  // The next chunk waits in flip-flops for its command.
  logic                 source_valid, next_valid_q, next_empty_q, next_drop, made;
  logic                 made_before_q;  // a command was made in the cycle before: its number is not counted yet
  logic [SizeWidth-1:0] source_bytes, next_bytes_q;
  if (Replay != 0) begin : gen_source_of_range
    assign source_valid   = state_q == Run && made_q != total_q;
    assign source_bytes   = made_q == newest_q && any_short_q ? short_q : ChunkBytes;
    assign source_ready_o = 1'b0;
    logic unused;
    assign unused = ^{source_valid_i, source_bytes_i, source_ended_i, source_done_i, source_full_i};
  end else begin : gen_source_of_stream
    assign source_valid   = source_valid_i;
    assign source_bytes   = source_bytes_i;
    assign source_ready_o = !next_valid_q && !made_before_q;
  end
  // A stream's last beat may be empty: then its chunk is, too, and needs no command.
  assign next_drop = failed_q || lost_q || next_empty_q || (Replay != 0 && stopping);
  assign made      = next_valid_q && state_q == Run && !flushing && !next_drop && made_ready;
  always_comb begin
    queue_cmd_valid_o = '0;
    for (int unsigned d = 0; d < Drives; d++) begin
      queue_cmd_valid_o[d] = flushing ? !flush_sent_q[d] && !failed_q && !lost_q
                                      : next_valid_q && state_q == Run && !next_drop && made_drive_q == 2'(d);
    end
  end
  assign queue_cmd_flush_o  = flushing;
  assign queue_cmd_lba_o    = made_shift == 4'd12 ? 64'(made_no_q) << (ChunkShift - 12) : 64'(made_no_q) << (ChunkShift - 9);
  assign queue_cmd_blocks_o = made_shift == 4'd12 ? 16'((SizeWidth + 1)'(next_bytes_q + SizeWidth'(4095)) >> 12)
                                                  : 16'((SizeWidth + 1)'(next_bytes_q + SizeWidth'(511)) >> 9);

  // Retirement. A chunk counts when it succeeded and none before it failed; a replay hands it to the stream. Chunks retire in every other
  // cycle at most, so that what is known of the next one comes from flip-flops.
  logic retire_data, retire_good, retire_bad, retire_discard, retire_take, in_run;
  logic retire_gap_q, retire_final_q;  // a chunk retired in the cycle before; the next one is the last of the range
  assign retire_data    = retire_valid && !retire_flush && running_q && !retire_gap_q;
  assign retire_discard = failed_q || lost_q || (Replay != 0 && stopping);
  assign retire_good    = retire_data && !retire_discard && !retire_failed;
  assign retire_bad     = retire_data && !retire_discard && retire_failed;
  assign chunk_valid_o  = Replay != 0 && retire_good;
  assign chunk_bytes_o  = retire_final_q && any_short_q ? short_q : ChunkBytes;
  assign chunk_last_o   = retire_final_q;
  assign chunk_drive_o  = retired_drive_q;
  assign chunk_slot_o   = retire_slot;
  assign retire_take    = retire_data && (Replay != 0 ? !retire_good || chunk_ready_i : 1'b1);
  assign in_run         = Replay != 0 ? delivered_i && !drop_o : retire_good;

  // The page of 4 KiB of the drive with which the command began that failed; of none, its chunk.
  logic [NoWidth+PageWidth-1:0] failed_page;
  assign failed_page = {retired_no_q, retire_bad ? retire_page : PageWidth'(0)};

  logic flush_failed;
  always_comb begin
    queue_retire_ready_o = '0;
    flush_failed         = 1'b0;
    for (int unsigned d = 0; d < Drives; d++) begin
      if (queue_retire_flush_i[d] || lost_q) queue_retire_ready_o[d] = 1'b1;
      else queue_retire_ready_o[d] = retire_take && retired_drive_q == 2'(d);
      if (queue_retire_valid_i[d] && queue_retire_flush_i[d] && queue_retire_failed_i[d]) flush_failed = 1'b1;
    end
  end

  if (Replay != 0) begin : gen_run_delivered
    logic [CountWidth-1:0] run_q;
    logic [1:0]            run_drive_q;
    logic [NoWidth-1:0]    run_no_q;
    assign run    = run_q;
    assign run_no = run_no_q;
    always_ff @(posedge clk_i) begin
      if (state_q == Media) begin
        run_q       <= '0;
        run_drive_q <= '0;
        run_no_q    <= first_q;
      end else if (in_run && running_q) begin
        run_q       <= run_q + 1'b1;
        run_drive_q <= next_drive(run_drive_q);
        if (run_drive_q == 2'(Drives - 1)) run_no_q <= run_no_q + 1'b1;
      end
    end
  end else begin : gen_run_retired
    assign run    = retired_q;
    assign run_no = retired_no_q;
  end

  // Bytes of the chunk that joined the run in the cycle before: all but the last one of a stream are whole.
  logic                 run_add_q;
  logic [SizeWidth-1:0] run_bytes_q;

  // Ends.
  logic drained, timed_out, fails, stop_now;
  assign drained   = &(queue_idle_i | ~ready_i) && (Replay != 0 ? egress_idle_i : source_done_i && !source_valid_i && !next_valid_q);
  assign timed_out = running_q && queue_late_i != '0 && !lost_q;
  assign fails     = retire_bad || timed_out || protocol_error_i || flush_failed || !(&ready_i);
  // After its last beat a stream has ended; a replay can be stopped until its last chunk was delivered.
  assign stop_now  = (stop_i || abort_i) && (state_q == Run || (Replay != 0 && state_q == Drain))
                  && (Replay != 0 || !source_ended_i) && !stopped_q;
  assign stopped_o  = stopped_q;
  assign aborted_o  = aborted_q;
  assign running_o  = running_q;
  assign ended_o    = ended_q;
  assign end_o      = failed_q || lost_q ? 2'd3 : !stopped_q ? 2'd0 : aborted_q ? 2'd2 : 2'd1;
  assign drop_o     = Replay != 0 && running_q && (stopped_q || lost_q);
  assign started_o  = started_q;
  assign triggered_o = triggered_q;
  assign hold_o      = ring_q && !triggered_q;
  assign source_chunks_o = total_q;

  assign restart_o = timed_out ? queue_late_i : '0;

  // Stalls: a recording waits for a slot, a replay for its next chunk. They are counted a cycle late.
  logic stall, stall_q, stalled_q;
  assign stall = Replay != 0 ? (state_q == Run || state_q == Drain) && egress_idle_i && run != total_q && !stopping
                        : state_q == Run && source_full_i;

  logic [CountWidth-1:0] total;
  if (Drives == 3) begin : gen_total_of_three
    assign total = per_drive_q + {per_drive_q[CountWidth-2:0], 1'b0};
  end else begin : gen_total
    assign total = per_drive_q << $clog2(Drives);
  end
  // LENGTH in chunks, constant from the start on.
  logic [NoWidth:0] length_chunks_q;
  logic             length_part_q;
  always_ff @(posedge clk_i) begin
    length_part_q   <= length_i[ChunkShift-1:0] != '0;
    length_chunks_q <= {1'b0, length_i[63:ChunkShift]} + (NoWidth + 1)'(length_part_q);
  end
  logic length_short, length_short_q;  // LENGTH ends before the range does; in the cycle before
  logic length_given, length_fits;
  assign length_given = Replay != 0 && length_chunks_q != '0;
  assign length_fits  = length_chunks_q <= (NoWidth + 1)'(total);
  assign length_short = length_given && length_fits;

  logic length_long, refused;
  assign length_long = length_given && !length_fits;
  assign refused     = refusal_q != '0 || length_long || ring_short;

  assign status_o = {16'b0, Replay == 0 && ring_q && ended_q && unrecorded_q != '0, triggered_q, wrapped_q, protocol_q, 2'b00,
                     any_run_q, refusal_q[3] || failed_q || lost_q, refusal_q[2:0],
                     aborted_q && stopped_q, !aborted_q && stopped_q, early_q,
                     ended_q && refusal_q == '0 && !stopped_q && !failed_q && !lost_q, running_q};
  assign last_address_written_o = {last_run_no_q, {ChunkShift{1'b0}}};
  assign next_address_o         = Replay != 0 ? '0 : {made_no_q, {ChunkShift{1'b0}}};

  logic in_io;  // commands may be under way
  assign in_io = state_q == Run || state_q == Drain || state_q == Flush;
  logic joins, flush_ends;
  assign joins      = in_run && running_q;
  assign flush_ends = &flush_done_q || failed_q || lost_q;

  // Counters begin with the session. They have no reset of their own, as a clear in every flip-flop costs none of the logic before it;
  // `fresh_q`: the first cycle after the reset.
  logic fresh_q, clear;
  assign clear = fresh_q || (state_q == Idle && start_i);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) fresh_q <= 1'b1;
    else         fresh_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (clear) begin
      made_q          <= '0;
      retired_q       <= '0;
      made_drive_q    <= '0;
      retired_drive_q <= '0;
      bytes_o         <= '0;
      durable_bytes_o <= '0;
      device_status_o <= '0;
      unrecorded_q    <= '0;
      stalls_o        <= '0;
      stall_time_ns_o <= '0;
      cycles_o        <= '0;
    end else begin
      if (running_q) cycles_o <= cycles_o + 64'd1;
      if (stall_q && !stalled_q) stalls_o <= stalls_o + 64'd1;
      if (stall_q && tick_i) stall_time_ns_o <= stall_time_ns_o + 64'd1000;
      if (made_before_q) begin
        made_q       <= made_q + 1'b1;
        made_drive_q <= next_drive(made_drive_q);
      end
      if (retire_take) begin
        retired_q       <= retired_q + 1'b1;
        retired_drive_q <= next_drive(retired_drive_q);
      end
      if (Replay == 0) unrecorded_q <= unrecorded_q + (SlotWidth + 3)'(made_before_q) - (SlotWidth + 3)'(run_add_q);
      if (run_add_q) bytes_o <= bytes_o + 64'(run_bytes_q);
      if (in_io && fails && !failed_q && !lost_q) begin
        device_status_o <= {retired_shift == 4'd12 ? 32'(failed_page) : 32'(failed_page << 3), 1'b1,
                            13'b0, retired_drive_q, 1'b0, retire_bad ? retire_status : NoStatus};
      end
      if (flushing && flush_ends && !failed_q && !lost_q && !fails) durable_bytes_o <= bytes_o;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q         <= Idle;
      running_q       <= 1'b0;
      started_q       <= 1'b0;
      first_q         <= '0;
      last_q          <= '0;
      per_drive_q     <= '0;
      total_q         <= '0;
      short_q         <= '0;
      any_short_q     <= 1'b0;
      length_short_q  <= 1'b0;
      newest_q        <= '0;
      next_valid_q    <= 1'b0;
      made_before_q   <= 1'b0;
      next_empty_q    <= 1'b0;
      next_bytes_q    <= '0;
      retire_gap_q    <= 1'b0;
      retire_final_q  <= 1'b0;
      run_add_q       <= 1'b0;
      run_bytes_q     <= '0;
      flush_after_q   <= 1'b0;
      flush_wanted_q  <= 1'b0;
      flush_sent_q    <= '0;
      flush_done_q    <= '0;
      stopped_q       <= 1'b0;
      aborted_q       <= 1'b0;
      failed_q        <= 1'b0;
      lost_q          <= 1'b0;
      protocol_q      <= 1'b0;
      early_q         <= 1'b0;
      ended_q         <= 1'b0;
      refusal_q       <= '0;
      made_no_q       <= '0;
      retired_no_q    <= '0;
      last_run_no_q   <= '0;
      any_run_q       <= 1'b0;
      ring_q          <= 1'b0;
      triggered_q     <= 1'b0;
      wrapped_q       <= 1'b0;
      made_last_q     <= 1'b0;
      retired_last_q  <= 1'b0;
      stall_q         <= 1'b0;
      stalled_q       <= 1'b0;
      stopping_o      <= 1'b0;
    end else begin
      stopping_o <= stopping;
      stall_q    <= stall;
      stalled_q  <= stall_q;

      if (next_valid_q) begin
        if (made || next_drop) next_valid_q <= 1'b0;
      end else begin
        next_valid_q <= source_valid && !made_before_q;
        next_bytes_q <= source_bytes;
        next_empty_q <= source_bytes == '0;
      end
      made_before_q <= made;
      if (made_before_q) begin
        if (made_drive_q == 2'(Drives - 1)) begin
          made_no_q <= next_no(made_no_q, made_last_q, first_q);
          if (made_last_q) wrapped_q <= 1'b1;
        end
        if (Replay == 0) begin
          newest_q <= made_q;
          if (next_bytes_q != ChunkBytes) begin
            short_q     <= next_bytes_q;
            any_short_q <= 1'b1;
            early_q     <= 1'b1;
          end
        end
      end
      retire_gap_q   <= retire_take;
      retire_final_q <= retired_q == newest_q;
      if (retire_take && retired_drive_q == 2'(Drives - 1)) retired_no_q <= next_no(retired_no_q, retired_last_q, first_q);
      // Numbers are followed by a cycle in which they are not counted (made_before_q, retire_gap_q).
      made_last_q    <= ring_q && made_no_q == last_q;
      retired_last_q <= ring_q && retired_no_q == last_q;
      if (trigger_i && ring_q && running_q && state_q != Drain && state_q != Flush) triggered_q <= 1'b1;
      run_add_q   <= joins;
      run_bytes_q <= run == newest_q && any_short_q ? short_q : ChunkBytes;
      if (Replay != 0 && run_add_q && run_bytes_q != ChunkBytes) early_q <= 1'b1;
      if (joins) begin
        last_run_no_q <= run_no;
        any_run_q     <= 1'b1;
      end

      if (in_io) begin
        if (fails) failed_q <= 1'b1;
        if (!(&ready_i) || timed_out) lost_q <= 1'b1;
        if (protocol_error_i) protocol_q <= 1'b1;
        if (stop_now) begin
          stopped_q <= 1'b1;
          aborted_q <= abort_i;
        end
        if (stopped_q && abort_i) aborted_q <= 1'b1;
        // What the stream gave before its end is made durable by an ABORT, too.
        if (flush_after_i || abort_i) flush_after_q <= 1'b1;
      end

      // Flush commands of all drives; the last completion makes the run durable.
      if (flushing) begin
        flush_sent_q <= flush_sent_q | (queue_cmd_valid_o & queue_cmd_ready_i);
        flush_done_q <= flush_done_q | (queue_retire_valid_i & queue_retire_flush_i);
        if (flush_ends) begin
          flush_wanted_q <= 1'b0;
          flush_sent_q   <= '0;
          flush_done_q   <= '0;
        end
      end

      unique case (state_q)
        Idle: begin
          if (start_i) begin
            first_q         <= first_address_i[63:ChunkShift];
            last_q          <= last_address_i[63:ChunkShift];
            flush_after_q   <= flush_after_i;
            flush_wanted_q  <= 1'b0;
            stopped_q       <= 1'b0;
            aborted_q       <= 1'b0;
            failed_q        <= 1'b0;
            lost_q          <= 1'b0;
            protocol_q      <= 1'b0;
            early_q         <= 1'b0;
            ended_q         <= 1'b0;
            any_short_q     <= 1'b0;
            any_run_q       <= 1'b0;
            ring_q          <= Replay == 0 && ring_i;
            triggered_q     <= 1'b0;
            wrapped_q       <= 1'b0;
            refusal_q       <= {2'b00, unaligned, 1'b0};
            state_q         <= Order;
            running_q       <= 1'b1;
          end
        end
        Order: begin
          state_q <= Media;
        end
        Media: begin
          // A drive that is not ready has no media.
          if (refusal_q == '0) refusal_q <= reversed_q ? 4'b0001 : !(&ready_i) ? 4'b1000 : beyond_q || long_q ? 4'b0100 : 4'b0000;
          per_drive_q  <= CountWidth'(span) + 1'b1;
          made_no_q    <= first_q;
          retired_no_q <= first_q;
          state_q      <= Count;
        end
        Count: begin
          total_q        <= ring_q ? {8'b0, post_chunks_i[31:1], post_chunks_i[0] || post_chunks_i == '0} : total;
          length_short_q <= length_short;
          ended_q   <= refused;
          running_q <= !refused;
          started_q <= !refused;
          state_q   <= refused ? Idle : Total;
          if (refusal_q == '0 && (length_long || ring_short)) refusal_q <= 4'b0100;
        end
        Total: begin
          started_q <= 1'b0;
          if (length_short_q) begin
            total_q     <= length_chunks_q[CountWidth-1:0];
            short_q     <= {1'b0, length_i[ChunkShift-1:0]};
            any_short_q <= length_part_q;
          end
          if (Replay != 0) newest_q <= (length_short_q ? length_chunks_q[CountWidth-1:0] : total_q) - 1'b1;
          state_q <= Run;
        end
        Run: begin
          if (flush_now_i && Replay == 0) flush_wanted_q <= 1'b1;
          if (Replay != 0 ? made_q == total_q || stopping : source_done_i && !source_valid_i && !next_valid_q && !flush_wanted_q) begin
            state_q <= Drain;
          end

        end
        Drain: begin
          // An ABORT of this cycle still counts.
          if (drained && !abort_i) begin
            if (Replay == 0 && flush_after_q && (!stopped_q || aborted_q) && !failed_q && !lost_q) begin
              state_q <= Flush;
            end else begin
              state_q   <= Idle;
              running_q <= 1'b0;
              ended_q   <= 1'b1;
            end
          end
        end
        Flush: begin
          flush_after_q <= 1'b0;
          if (flush_ends) state_q <= Drain;
        end
      endcase
    end
  end

`ifdef FORMAL
  `include "formal/nvs_session.svh"
`endif

endmodule
