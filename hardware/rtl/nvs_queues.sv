// Submission and completion queue of one direction, with the slots of its ring.
//
// Purpose: turns chunks into NVMe commands and completions into chunks in stream order. The drive reads submission entries and writes
// completion entries through nvs_completer; no queue memory exists besides one record per submission entry.
//
// Terms: a *slot* is one chunk buffer of the ring and, at the same time, the command identifier (CID) of its command, so an identifier
// is never in use twice (NVMe Base 2.0c, 3.3.3.1). CID `Slots` is the flush.
//
//   command accepted        completion, any order       retired, stream order          released
//   free slot ------------> outstanding --------------> complete ------------------> retired ------------> free
//
// A completion that reports a failure and allows another try (Do Not Retry, DNR, is 0) sends its command again, up to Retries times; until
// then the command stays outstanding. A status succeeds by its code and type alone (NVMe Base 2.0c, 3.3.3.2.1); More, DNR and the retry
// delay are no failure.
//
// Interface:
//   cmd_*      next command of the stream; a data command takes the next slot, a flush waits until nothing is outstanding
//   record_*   read port of the submission records, data one cycle after the index, for the entry that the drive fetches
//   cqe_*      completion entry as written by the drive; `cqe_index_i` is its place in the queue
//   retire_*   oldest command that has not retired, when it is complete; valid/ready
//   rewind_i   slots are given out from 0 on again; has an effect only while no command is outstanding
//   release_i  the oldest retired data slot may be used again (a record: at once; a replay: when the stream has taken it)
//   sq_db_*, cq_db_*  doorbell writes: valid/ready, always with the newest value
//   age_us_o   microseconds for which the command that is outstanding and the oldest such has been that; late_o: level, it is
//              timeout_us_i or more; 0: no limit. A command that is complete and waits for its retirement has no age
//   error_o    pulse: a completion with the wrong phase, place or identifier; it is ignored
//
// Invariants, proven in formal/nvs_queues.svh:
//   - a slot is given to a command only when it is free, and released only after it retired;
//   - commands retire in the order of their acceptance, each after exactly one completion;
//   - unfetched records are never overwritten: commands in flight are fewer than entries;
//   - while a flush is outstanding it is the only command;
//   - doorbells never pass the pointer they report;
//   - an age is that of a command without a completion.

module nvs_queues #(
  parameter  int unsigned Slots     = 32,  // a power of two
  parameter  int unsigned Entries   = 64,  // of both queues; a power of two above Slots
  parameter  int unsigned HeadBatch = 8,   // completion entries per head doorbell, unless nothing is outstanding; below Entries
  parameter  int unsigned Retries   = 3,   // of a command; at most 3
  localparam int unsigned SlotWidth = $clog2(Slots),
  localparam int unsigned IndexWidth = $clog2(Entries)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  tick_i,
  input  logic                  clear_i,  // controller reset: the queues begin anew; all commands are given up
  input  logic                  rewind_i,

  input  logic                  cmd_valid_i,
  output logic                  cmd_ready_o,
  input  logic                  cmd_flush_i,
  input  logic [63:0]           cmd_lba_i,
  input  logic [15:0]           cmd_blocks_i,

  input  logic [IndexWidth-1:0] record_index_i,
  output logic                  record_flush_o,
  output logic [SlotWidth-1:0]  record_slot_o,
  output logic [63:0]           record_lba_o,
  output logic [15:0]           record_blocks_o,

  input  logic                  cqe_valid_i,
  input  logic [IndexWidth-1:0] cqe_index_i,
  input  logic                  cqe_phase_i,
  input  logic [15:0]           cqe_cid_i,
  input  logic [14:0]           cqe_status_i,

  output logic                  retire_valid_o,
  input  logic                  retire_ready_i,
  output logic                  retire_flush_o,
  output logic [SlotWidth-1:0]  retire_slot_o,
  output logic [14:0]           retire_status_o,
  output logic                  retire_failed_o,  // the status is no success

  input  logic                  release_i,

  output logic                  sq_db_valid_o,
  input  logic                  sq_db_ready_i,
  output logic [IndexWidth-1:0] sq_db_value_o,
  output logic                  cq_db_valid_o,
  input  logic                  cq_db_ready_i,
  output logic [IndexWidth-1:0] cq_db_value_o,

  input  logic [31:0]           timeout_us_i,
  output logic [31:0]           age_us_o,
  output logic                  late_o,

  output logic                  idle_o,   // nothing outstanding, completed or to be reported by a doorbell
  output logic                  error_o
);

  if (HeadBatch < 1 || HeadBatch >= Entries) begin : gen_bad_batch
    $error("HeadBatch must be from 1 to Entries - 1");
  end
  if (Retries > 3) begin : gen_bad_retries
    $error("Retries must be at most 3");
  end

  // Slot counters run modulo 2 * Slots, so that full and empty differ.
  logic [SlotWidth:0]  accepted_q, retired_q, released_q;
  logic [Slots-1:0]    outstanding_q;  // accepted and not completed, one bit per slot
  logic [14:0]         status_q [Slots];
  logic                flush_busy_q, flush_complete_q;
  logic [14:0]         flush_status_q;

  logic [IndexWidth-1:0] sq_tail_q, sq_reported_q, cq_head_q, cq_reported_q;
  logic                  cq_phase_q;  // phase of the next entry

  logic none_unretired;
  assign none_unretired = accepted_q == retired_q;

  // A command that is sent again: it has its place in the queue in the cycle after its completion, before a new one.
  logic                 resend_q, resend_flush_q;
  logic [SlotWidth-1:0] resend_slot_q;
  logic [1:0]           resend_try_q;  // how often it will have been sent again

  // Commands. The flush waits for the data commands before it; data commands wait for the flush.
  logic slot_free, accept, accept_data, accept_flush;
  assign slot_free    = accepted_q != {!released_q[SlotWidth], released_q[SlotWidth-1:0]};
  assign cmd_ready_o  = !resend_q && !flush_busy_q && (cmd_flush_i ? none_unretired : slot_free);
  assign accept       = cmd_valid_i && cmd_ready_o;
  assign accept_data  = accept && !cmd_flush_i;
  assign accept_flush = accept && cmd_flush_i;

  // Records, in distributed memory: of each entry its command, of each command its blocks and how often it was sent again.
  logic                 submit, submit_flush;
  logic [SlotWidth-1:0] submit_slot, entry_slot;
  logic                 entry_flush;
  logic [SlotWidth:0]   entries [Entries];
  logic [79:0]          records [Slots];
  logic [1:0]           tries [2*Slots];  // the upper half is the flush's
  assign submit       = accept || resend_q;
  assign submit_flush = resend_q ? resend_flush_q : cmd_flush_i;
  assign submit_slot  = resend_q ? resend_slot_q : accepted_q[SlotWidth-1:0];
  assign {entry_flush, entry_slot} = entries[record_index_i];
  always_ff @(posedge clk_i) begin
    if (submit) begin
      entries[sq_tail_q]                              <= {submit_flush, submit_slot};
      tries[{submit_flush, submit_flush ? SlotWidth'(0) : submit_slot}] <= resend_q ? resend_try_q : 2'd0;
    end
    if (accept_data) records[accepted_q[SlotWidth-1:0]] <= {cmd_lba_i, cmd_blocks_i};
    record_flush_o                  <= entry_flush;
    record_slot_o                   <= entry_slot;
    {record_lba_o, record_blocks_o} <= records[entry_slot];
  end

  // Completions. A slot is outstanding between acceptance and completion.
  logic [SlotWidth-1:0] cqe_slot;
  logic cqe_in_place, cqe_of_flush, cqe_of_data, cqe_good;
  assign cqe_slot     = cqe_cid_i[SlotWidth-1:0];
  assign cqe_in_place = cqe_index_i == cq_head_q && cqe_phase_i == cq_phase_q;
  assign cqe_of_flush = cqe_cid_i == 16'(Slots) && flush_busy_q && !flush_complete_q;
  assign cqe_of_data  = cqe_cid_i < 16'(Slots) && outstanding_q[cqe_slot];
  assign cqe_good     = cqe_valid_i && cqe_in_place && (cqe_of_flush || cqe_of_data);
  assign error_o      = cqe_valid_i && !cqe_good;

  // The identifier of the flush is a slot's with one bit more.
  logic       cqe_again, cqe_done;
  logic [1:0] cqe_tries;
  assign cqe_tries = tries[cqe_cid_i[SlotWidth:0]];
  assign cqe_again = cqe_good && cqe_status_i[10:0] != '0 && !cqe_status_i[14] && cqe_tries != 2'(Retries);
  assign cqe_done  = cqe_good && !cqe_again;

  // Retirement in stream order. A flush is alone, so it retires when it is complete. The outputs are flip-flops: the next command is
  // looked up in the cycle after a retirement, so commands retire in every other cycle at most.
  logic        retire;
  logic [14:0] head_status;
  assign head_status    = flush_busy_q ? flush_status_q : status_q[retire_slot_o];
  assign retire_flush_o = flush_busy_q;
  assign retire_slot_o  = retired_q[SlotWidth-1:0];
  assign retire         = retire_valid_o && retire_ready_i;

  always_ff @(posedge clk_i) begin
    if (cqe_done && cqe_of_data)  status_q[cqe_slot] <= cqe_status_i;
    if (cqe_done && cqe_of_flush) flush_status_q <= cqe_status_i;
    if (!retire_valid_o) begin
      retire_status_o <= head_status;
      retire_failed_o <= head_status[10:0] != '0;
    end
    resend_flush_q <= cqe_of_flush;
    resend_slot_q  <= cqe_slot;
    resend_try_q   <= cqe_tries + 1'b1;
  end

  // The oldest outstanding command: from the oldest one that has not retired on, a counter passes those that are complete.
  logic [SlotWidth:0] oldest_q;
  logic               oldest_any, oldest_waits, waits;
  assign oldest_any   = oldest_q != accepted_q;
  assign oldest_waits = outstanding_q[oldest_q[SlotWidth-1:0]];
  assign waits        = flush_busy_q ? !flush_complete_q : oldest_any && oldest_waits;

  // Doorbells. The head doorbell frees completion entries; the drive needs it only when the queue could fill up, and at the end.
  logic [IndexWidth-1:0] cq_unreported;
  logic                  cq_due_q;
  assign cq_unreported     = cq_head_q - cq_reported_q;
  assign sq_db_valid_o = sq_tail_q != sq_reported_q;
  assign sq_db_value_o = sq_tail_q;
  assign cq_db_valid_o = cq_due_q;
  assign cq_db_value_o = cq_head_q;

  assign idle_o = none_unretired && !flush_busy_q && !sq_db_valid_o && cq_unreported == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      accepted_q       <= '0;
      retired_q        <= '0;
      released_q       <= '0;
      outstanding_q    <= '0;
      flush_busy_q     <= 1'b0;
      flush_complete_q <= 1'b0;
      sq_tail_q        <= '0;
      sq_reported_q    <= '0;
      cq_head_q        <= '0;
      cq_reported_q    <= '0;
      cq_phase_q       <= 1'b1;
      cq_due_q         <= 1'b0;
      retire_valid_o   <= 1'b0;
      resend_q         <= 1'b0;
      oldest_q         <= '0;
      age_us_o         <= '0;
      late_o           <= 1'b0;
    end else if (clear_i) begin
      resend_q         <= 1'b0;
      oldest_q         <= '0;
      age_us_o         <= '0;
      late_o           <= 1'b0;
      cq_due_q         <= 1'b0;
      retire_valid_o   <= 1'b0;
      accepted_q       <= '0;
      retired_q        <= '0;
      released_q       <= '0;
      outstanding_q    <= '0;
      flush_busy_q     <= 1'b0;
      flush_complete_q <= 1'b0;
      sq_tail_q        <= '0;
      sq_reported_q    <= '0;
      cq_head_q        <= '0;
      cq_reported_q    <= '0;
      cq_phase_q       <= 1'b1;
    end else begin
      if (submit)       sq_tail_q <= sq_tail_q + 1'b1;
      if (accept_data)  accepted_q <= accepted_q + 1'b1;
      for (int unsigned s = 0; s < Slots; s++) begin
        if (accept_data && accepted_q[SlotWidth-1:0] == SlotWidth'(s)) outstanding_q[s] <= 1'b1;
        if (cqe_done && cqe_of_data && cqe_slot == SlotWidth'(s)) outstanding_q[s] <= 1'b0;
      end
      if (accept_flush) flush_busy_q <= 1'b1;

      if (cqe_good) begin
        cq_head_q <= cq_head_q + 1'b1;
        if (&cq_head_q) cq_phase_q <= !cq_phase_q;
        if (cqe_done && cqe_of_flush) flush_complete_q <= 1'b1;
      end
      resend_q <= cqe_again;

      if (oldest_any && !oldest_waits) oldest_q <= oldest_q + 1'b1;
      if (!waits) age_us_o <= '0;
      else if (tick_i) age_us_o <= age_us_o + 32'd1;
      late_o <= waits && age_us_o >= timeout_us_i && timeout_us_i != '0;

      retire_valid_o <= retire_valid_o ? !retire_ready_i : flush_busy_q ? flush_complete_q
                                                         : !none_unretired && !outstanding_q[retire_slot_o];
      if (retire) begin
        if (flush_busy_q) begin
          flush_busy_q     <= 1'b0;
          flush_complete_q <= 1'b0;
        end else begin
          retired_q <= retired_q + 1'b1;
        end
      end
      if (release_i && released_q != retired_q) released_q <= released_q + 1'b1;
      if (rewind_i && none_unretired && !flush_busy_q && !accept) begin
        accepted_q <= '0;
        retired_q  <= '0;
        released_q <= '0;
        oldest_q   <= '0;
      end

      if (sq_db_valid_o && sq_db_ready_i) sq_reported_q <= sq_tail_q;
      if (cq_db_valid_o && cq_db_ready_i) cq_reported_q <= cq_head_q;
      cq_due_q <= (cq_unreported >= IndexWidth'(HeadBatch) || (cq_unreported != '0 && none_unretired && !flush_busy_q))
               && !(cq_db_valid_o && cq_db_ready_i);
    end
  end

`ifdef FORMAL
  `include "formal/nvs_queues.svh"
`endif

endmodule
