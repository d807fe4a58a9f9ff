// Submission and completion queue of one direction.
//
// Purpose: turns commands of nvs_split into submission entries and completions into retirements in stream order. The drive reads submission
// entries and writes completion entries through nvs_completer; no queue memory exists besides one record per command.
//
// Terms: a *tag* is the command identifier (CID) of a command, from its acceptance to its retirement, so an identifier is never in use
// twice (NVMe Base 2.0c, 3.3.3.1). Tags are given out in turn; there are half as many as entries. CID `Entries / 2` is the flush.
//
//   command accepted        completion, any order       retired, stream order
//   free tag -------------> outstanding --------------> complete ------------------> free
//
// A completion that reports a failure and allows another try (Do Not Retry, DNR, is 0) sends its command again, up to Retries times; until
// then the command stays outstanding. It takes its place in the queue in a cycle without a new command, so it delays none. A status succeeds
// by its code and type alone (NVMe Base 2.0c, 3.3.3.2.1); More, DNR and the retry delay are no failure.
//
// Interface:
//   cmd_*      next command of the stream; a data command takes the next tag, a flush waits until nothing is outstanding. cmd_slot_i,
//              cmd_page_i: where its data begin in the ring; cmd_last_i: the last one of its chunk
//   record_*   read port of the submission records, data one cycle after the index, for the entry that the drive fetches
//   cqe_*      completion entry as written by the drive; `cqe_index_i` is its place in the queue
//   retire_*   oldest command that has not retired, when it is complete; valid/ready
//   sq_db_*, cq_db_*  doorbell writes: valid/ready, always with the newest value
//   age_us_o   microseconds for which the command that is outstanding and the oldest such has been that; late_o: level, it is
//              timeout_us_i or more; 0: no limit. A command that is complete and waits for its retirement has no age
//   error_o    pulse: a completion with the wrong phase, place or identifier; it is ignored
//
// Invariants, proven in formal/nvs_queues.svh:
//   - a tag is given to a command only when it is free, and it is free again when that has retired;
//   - commands retire in the order of their acceptance, each after exactly one completion;
//   - unfetched records are never overwritten: commands in flight are fewer than entries;
//   - while a flush is outstanding it is the only command;
//   - a command that is sent again delays no new one, and no two cycles in turn have a new one;
//   - doorbells never pass the pointer they report;
//   - an age is that of a command without a completion.

module nvs_queues #(
  parameter  int unsigned ChunkPages = 32,
  parameter  int unsigned Slots     = 32,
  parameter  int unsigned Entries   = 64,  // of both queues; a power of two
  parameter  int unsigned HeadBatch = 8,   // completion entries per head doorbell, unless nothing is outstanding; below Entries
  parameter  int unsigned Retries   = 3,   // of a command; at most 3
  localparam int unsigned Tags      = Entries / 2,
  localparam int unsigned PageWidth = $clog2(ChunkPages),
  localparam int unsigned SlotWidth = $clog2(Slots),
  localparam int unsigned TagWidth  = $clog2(Tags),
  localparam int unsigned IndexWidth = $clog2(Entries)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  tick_i,
  input  logic                  clear_i,  // controller reset: the queues begin anew; all commands are given up

  input  logic                  cmd_valid_i,
  output logic                  cmd_ready_o,
  input  logic                  cmd_flush_i,
  input  logic [63:0]           cmd_lba_i,
  input  logic [15:0]           cmd_blocks_i,
  input  logic [SlotWidth-1:0]  cmd_slot_i,
  input  logic [PageWidth-1:0]  cmd_page_i,
  input  logic                  cmd_last_i,

  input  logic [IndexWidth-1:0] record_index_i,
  output logic                  record_flush_o,
  output logic [TagWidth-1:0]   record_tag_o,
  output logic [SlotWidth-1:0]  record_slot_o,
  output logic [PageWidth-1:0]  record_page_o,
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
  output logic                  retire_last_o,
  output logic [PageWidth-1:0]  retire_page_o,
  output logic [14:0]           retire_status_o,
  output logic                  retire_failed_o,  // the status is no success

  output logic                  sq_db_valid_o,
  input  logic                  sq_db_ready_i,
  output logic [IndexWidth-1:0] sq_db_value_o,
  output logic                  cq_db_valid_o,
  input  logic                  cq_db_ready_i,
  output logic [IndexWidth-1:0] cq_db_value_o,

  input  logic [31:0]           timeout_us_i,
  output logic [31:0]           age_us_o,
  output logic                  late_o,

  output logic                  idle_o,   // nothing outstanding, completed or to be reported by a doorbell; known a cycle late
  output logic                  error_o
);

  if (HeadBatch < 1 || HeadBatch >= Entries) begin : gen_bad_batch
    $error("HeadBatch must be from 1 to Entries - 1");
  end
  if (Retries > 3) begin : gen_bad_retries
    $error("Retries must be at most 3");
  end

  // Tag counters run modulo 2 * Tags, so that full and empty differ.
  logic [TagWidth:0]   accepted_q, retired_q;
  logic [Tags-1:0]     outstanding_q;  // accepted and not completed, one bit per tag
  logic [14:0]         status_q [Tags];
  logic [PageWidth:0]  places [Tags];  // of each command its first page, and whether it is the last one of its chunk
  logic                flush_busy_q, flush_complete_q;
  logic [14:0]         flush_status_q;

  logic [IndexWidth-1:0] sq_tail_q, sq_reported_q, cq_head_q, cq_reported_q;
  logic                  cq_phase_q;  // phase of the next entry

  // Data commands that were accepted and have not retired; that there are none, that one more has a tag.
  logic [TagWidth:0] unretired_q;
  logic              none_q, free_q;

  // Commands. The flush waits for the data commands before it; data commands wait for the flush. That a command can be accepted is known a
  // cycle late, so they are accepted in every other cycle at most.
  logic flush_ready_q, data_ready_q;
  logic accept, accept_data, accept_flush;
  assign cmd_ready_o  = cmd_flush_i ? flush_ready_q : data_ready_q;
  assign accept       = cmd_valid_i && cmd_ready_o;
  assign accept_data  = accept && !cmd_flush_i;
  assign accept_flush = accept && cmd_flush_i;

  // Commands that are to be sent again wait for a cycle without a new one: how often each will have been, then, and which it is.
  logic [TagWidth+2:0] again [Tags];
  logic [TagWidth:0]   again_in_q, again_out_q;
  logic                again_any, again_full, resend, resend_flush;
  logic [TagWidth-1:0] resend_tag;
  logic [1:0]          resend_try;
  assign again_any  = again_in_q != again_out_q;
  assign again_full = again_in_q == {!again_out_q[TagWidth], again_out_q[TagWidth-1:0]};
  assign resend     = again_any && !accept;
  assign {resend_try, resend_flush, resend_tag} = again[again_out_q[TagWidth-1:0]];

  // Records, in distributed memory: of each entry its command, of each command its place and blocks and how often it was sent again.
  localparam int unsigned RecordWidth = SlotWidth + PageWidth + 80;
  logic                   submit, submit_flush;
  logic [TagWidth-1:0]    submit_tag, entry_tag;
  logic                   entry_flush;
  logic [TagWidth:0]      entries [Entries];
  logic [RecordWidth-1:0] records [Tags];
  logic [1:0]             tries [2*Tags];  // the upper half is the flush's
  assign submit       = accept || resend;
  assign submit_flush = accept ? cmd_flush_i : resend_flush;
  assign submit_tag   = submit_flush ? '0 : accept ? accepted_q[TagWidth-1:0] : resend_tag;
  assign {entry_flush, entry_tag} = entries[record_index_i];
  always_ff @(posedge clk_i) begin
    if (submit) begin
      entries[sq_tail_q]                <= {submit_flush, submit_tag};
      tries[{submit_flush, submit_tag}] <= accept ? 2'd0 : resend_try;
    end
    if (accept_data) begin
      records[accepted_q[TagWidth-1:0]] <= {cmd_slot_i, cmd_page_i, cmd_lba_i, cmd_blocks_i};
      places[accepted_q[TagWidth-1:0]]  <= {cmd_page_i, cmd_last_i};
    end
    record_flush_o <= entry_flush;
    record_tag_o   <= entry_tag;
  end
  // Two memories, one behind the other, each in a cycle of its own.
  assign {record_slot_o, record_page_o, record_lba_o, record_blocks_o} = records[record_tag_o];

  // Completions. A tag is outstanding between acceptance and completion.
  logic [TagWidth-1:0] cqe_tag;
  logic cqe_in_place, cqe_of_flush, cqe_of_data, cqe_good;
  assign cqe_tag      = cqe_cid_i[TagWidth-1:0];
  assign cqe_in_place = cqe_index_i == cq_head_q && cqe_phase_i == cq_phase_q;
  assign cqe_of_flush = cqe_cid_i == 16'(Tags) && flush_busy_q && !flush_complete_q;
  assign cqe_of_data  = cqe_cid_i < 16'(Tags) && outstanding_q[cqe_tag];
  assign cqe_good     = cqe_valid_i && cqe_in_place && (cqe_of_flush || cqe_of_data);
  assign error_o      = cqe_valid_i && !cqe_good;

  // The identifier of the flush is a tag with one bit more. No more commands wait than there are, unless a drive completes one twice; then
  // the failure is final.
  logic       cqe_retry, cqe_again, cqe_done;
  logic [1:0] cqe_tries;
  assign cqe_tries = tries[cqe_cid_i[TagWidth:0]];
  assign cqe_retry = cqe_status_i[10:0] != '0 && !cqe_status_i[14] && cqe_tries != 2'(Retries) && !again_full;
  assign cqe_again = cqe_good && cqe_retry;
  assign cqe_done  = cqe_good && !cqe_again;

  // Retirement in stream order. A flush is alone, so it retires when it is complete. The outputs are flip-flops: the next command is
  // looked up in the cycle after a retirement, so commands retire in every other cycle at most.
  logic                retire, retire_data;
  logic [14:0]         head_status;
  logic [TagWidth-1:0] head_tag;
  assign head_tag       = retired_q[TagWidth-1:0];
  assign head_status    = flush_busy_q ? flush_status_q : status_q[head_tag];
  assign retire_flush_o = flush_busy_q;
  assign retire         = retire_valid_o && retire_ready_i;
  assign retire_data    = retire && !flush_busy_q;

  always_ff @(posedge clk_i) begin
    // Of a command that is sent again it is replaced by that of its next completion.
    if (cqe_valid_i && cqe_of_data)  status_q[cqe_tag] <= cqe_status_i;
    if (cqe_valid_i && cqe_of_flush) flush_status_q <= cqe_status_i;
    if (cqe_again) again[again_in_q[TagWidth-1:0]] <= {cqe_tries + 2'd1, cqe_of_flush, cqe_tag};
    if (!retire_valid_o) begin
      retire_status_o                <= head_status;
      retire_failed_o                <= head_status[10:0] != '0;
      {retire_page_o, retire_last_o} <= places[head_tag];
    end
  end

  // The oldest outstanding command: from the oldest one that has not retired on, a counter passes those that are complete.
  logic [TagWidth:0] oldest_q;
  logic              oldest_any, oldest_waits, waits_q;
  assign oldest_any   = oldest_q != accepted_q;
  assign oldest_waits = outstanding_q[oldest_q[TagWidth-1:0]];

  // Doorbells. The head doorbell frees completion entries; the drive needs it only when the queue could fill up, and at the end.
  logic [IndexWidth-1:0] cq_unreported;
  logic                  cq_due_q;
  assign cq_unreported     = cq_head_q - cq_reported_q;
  assign sq_db_valid_o = sq_tail_q != sq_reported_q;
  assign sq_db_value_o = sq_tail_q;
  assign cq_db_valid_o = cq_due_q;
  assign cq_db_value_o = cq_head_q;


  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      accepted_q       <= '0;
      retired_q        <= '0;
      unretired_q      <= '0;
      none_q           <= 1'b1;
      free_q           <= 1'b1;
      idle_o           <= 1'b0;
      flush_ready_q    <= 1'b0;
      data_ready_q     <= 1'b0;
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
      again_in_q       <= '0;
      again_out_q      <= '0;
      oldest_q         <= '0;
      waits_q          <= 1'b0;
      age_us_o         <= '0;
      late_o           <= 1'b0;
    end else if (clear_i) begin
      again_in_q       <= '0;
      again_out_q      <= '0;
      oldest_q         <= '0;
      waits_q          <= 1'b0;
      age_us_o         <= '0;
      late_o           <= 1'b0;
      cq_due_q         <= 1'b0;
      retire_valid_o   <= 1'b0;
      accepted_q       <= '0;
      retired_q        <= '0;
      unretired_q      <= '0;
      none_q           <= 1'b1;
      free_q           <= 1'b1;
      idle_o           <= 1'b0;
      flush_ready_q    <= 1'b0;
      data_ready_q     <= 1'b0;
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
      if (accept_data && !retire_data) begin
        unretired_q <= unretired_q + 1'b1;
        none_q      <= 1'b0;
        free_q      <= unretired_q != (TagWidth + 1)'(Tags - 1);
      end else if (retire_data && !accept_data) begin
        unretired_q <= unretired_q - 1'b1;
        none_q      <= unretired_q == (TagWidth + 1)'(1);
        free_q      <= 1'b1;
      end
      idle_o        <= none_q && !flush_busy_q && !sq_db_valid_o && cq_unreported == '0 && !accept;
      flush_ready_q <= none_q && !flush_busy_q && !accept;
      data_ready_q  <= free_q && !flush_busy_q && !accept;
      for (int unsigned t = 0; t < Tags; t++) begin
        // Of a tag that is not outstanding nothing is cleared.
        if (cqe_valid_i && cqe_in_place && cqe_cid_i < 16'(Tags) && !cqe_retry && cqe_tag == TagWidth'(t)) outstanding_q[t] <= 1'b0;
        if (accept_data && accepted_q[TagWidth-1:0] == TagWidth'(t)) outstanding_q[t] <= 1'b1;
      end
      if (accept_flush) flush_busy_q <= 1'b1;

      if (cqe_good) begin
        cq_head_q <= cq_head_q + 1'b1;
        if (&cq_head_q) cq_phase_q <= !cq_phase_q;
        if (cqe_done && cqe_of_flush) flush_complete_q <= 1'b1;
      end
      if (cqe_again) again_in_q <= again_in_q + 1'b1;
      if (resend) again_out_q <= again_out_q + 1'b1;

      if (oldest_any && !oldest_waits) oldest_q <= oldest_q + 1'b1;
      waits_q <= flush_busy_q ? !flush_complete_q : oldest_any && oldest_waits;
      if (!waits_q) age_us_o <= '0;
      else if (tick_i) age_us_o <= age_us_o + 32'd1;
      late_o <= waits_q && age_us_o >= timeout_us_i && timeout_us_i != '0;

      retire_valid_o <= retire_valid_o ? !retire_ready_i : flush_busy_q ? flush_complete_q
                                                         : !none_q && !outstanding_q[head_tag];
      if (retire) begin
        if (flush_busy_q) begin
          flush_busy_q     <= 1'b0;
          flush_complete_q <= 1'b0;
        end else begin
          retired_q <= retired_q + 1'b1;
        end
      end
      if (sq_db_valid_o && sq_db_ready_i) sq_reported_q <= sq_tail_q;
      if (cq_db_valid_o && cq_db_ready_i) cq_reported_q <= cq_head_q;
      cq_due_q <= (cq_unreported >= IndexWidth'(HeadBatch) || (cq_unreported != '0 && none_q && !flush_busy_q))
               && !(cq_db_valid_o && cq_db_ready_i);
    end
  end

`ifdef FORMAL
  `include "formal/nvs_queues.svh"
`endif

endmodule
