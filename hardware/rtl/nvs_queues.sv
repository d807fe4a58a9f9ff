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
// Interface:
//   cmd_*      next command of the stream; a data command takes the next slot, a flush waits until nothing is outstanding
//   record_*   read port of the submission records, data one cycle after the index, for the entry that the drive fetches
//   cqe_*      completion entry as written by the drive; `cqe_index_i` is its place in the queue
//   retire_*   oldest command that has not retired, when it is complete; valid/ready
//   rewind_i   slots are given out from 0 on again; has an effect only while no command is outstanding
//   release_i  the oldest retired data slot may be used again (a record: at once; a replay: when the stream has taken it)
//   sq_db_*, cq_db_*  doorbell writes: valid/ready, always with the newest value
//   error_o    pulse: a completion with the wrong phase, place or identifier; it is ignored
//
// Invariants, proven in formal/nvs_queues.svh:
//   - a slot is given to a command only when it is free, and released only after it retired;
//   - commands retire in the order of their acceptance, each after exactly one completion;
//   - unfetched records are never overwritten: commands in flight are fewer than entries;
//   - while a flush is outstanding it is the only command;
//   - doorbells never pass the pointer they report.

module nvs_queues #(
  parameter  int unsigned Slots     = 32,  // a power of two
  parameter  int unsigned Entries   = 64,  // of both queues; a power of two above Slots
  parameter  int unsigned HeadBatch = 8,   // completion entries per head doorbell, unless nothing is outstanding
  localparam int unsigned SlotWidth = $clog2(Slots),
  localparam int unsigned IndexWidth = $clog2(Entries)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
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
  output logic                  retire_failed_o,  // the status is not 0

  input  logic                  release_i,

  output logic                  sq_db_valid_o,
  input  logic                  sq_db_ready_i,
  output logic [IndexWidth-1:0] sq_db_value_o,
  output logic                  cq_db_valid_o,
  input  logic                  cq_db_ready_i,
  output logic [IndexWidth-1:0] cq_db_value_o,

  output logic                  idle_o,   // nothing outstanding, completed or to be reported by a doorbell
  output logic                  error_o
);

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

  // Commands. The flush waits for the data commands before it; data commands wait for the flush.
  logic slot_free, accept, accept_data, accept_flush;
  assign slot_free    = accepted_q != {!released_q[SlotWidth], released_q[SlotWidth-1:0]};
  assign cmd_ready_o  = !flush_busy_q && (cmd_flush_i ? none_unretired : slot_free);
  assign accept       = cmd_valid_i && cmd_ready_o;
  assign accept_data  = accept && !cmd_flush_i;
  assign accept_flush = accept && cmd_flush_i;

  // Records, in block or distributed memory.
  localparam int unsigned RecordWidth = 1 + SlotWidth + 64 + 16;
  logic [RecordWidth-1:0] records [Entries];
  logic [RecordWidth-1:0] record_q;
  assign {record_flush_o, record_slot_o, record_lba_o, record_blocks_o} = record_q;
  always_ff @(posedge clk_i) begin
    if (accept) records[sq_tail_q] <= {cmd_flush_i, accepted_q[SlotWidth-1:0], cmd_lba_i, cmd_blocks_i};
    record_q <= records[record_index_i];
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

  // Retirement in stream order. A flush is alone, so it retires when it is complete. The outputs are flip-flops: the next command is
  // looked up in the cycle after a retirement, so commands retire in every other cycle at most.
  logic        retire;
  logic [14:0] head_status;
  assign head_status    = flush_busy_q ? flush_status_q : status_q[retire_slot_o];
  assign retire_flush_o = flush_busy_q;
  assign retire_slot_o  = retired_q[SlotWidth-1:0];
  assign retire         = retire_valid_o && retire_ready_i;

  always_ff @(posedge clk_i) begin
    if (cqe_good && cqe_of_data)  status_q[cqe_slot] <= cqe_status_i;
    if (cqe_good && cqe_of_flush) flush_status_q <= cqe_status_i;
    if (!retire_valid_o) begin
      retire_status_o <= head_status;
      retire_failed_o <= head_status != '0;
    end
  end

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
    end else if (clear_i) begin
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
      if (accept)       sq_tail_q <= sq_tail_q + 1'b1;
      if (accept_data)  accepted_q <= accepted_q + 1'b1;
      for (int unsigned s = 0; s < Slots; s++) begin
        if (accept_data && accepted_q[SlotWidth-1:0] == SlotWidth'(s)) outstanding_q[s] <= 1'b1;
        if (cqe_good && cqe_of_data && cqe_slot == SlotWidth'(s)) outstanding_q[s] <= 1'b0;
      end
      if (accept_flush) flush_busy_q <= 1'b1;

      if (cqe_good) begin
        cq_head_q <= cq_head_q + 1'b1;
        if (&cq_head_q) cq_phase_q <= !cq_phase_q;
        if (cqe_of_flush) flush_complete_q <= 1'b1;
      end

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
