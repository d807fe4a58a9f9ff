// Accesses of the core to the registers and the configuration space of one drive.
//
// Purpose: one access at a time on an AXI4-Lite port, for two users: the sequencer (nvs_init) and the doorbells of the I/O queues.
//
// Interface:
//   req_*, rsp_*       access of the sequencer: taken with valid and ready, answered by one pulse of `rsp_valid_o`. `rsp_error_o`: error
//                      response, or no response in TimeoutTicks; then `rsp_data_o` does not count
//   sq_db_*, cq_db_*   doorbells, bit 0 record (queue 1), bit 1 replay (queue 2); the value of the cycle with valid and ready is written.
//                      In the order record tail, record head, replay tail, replay head, round robin, only with `doorbells_enable_i`
//   doorbell_stride_i  CAP.DSTRD: doorbells are 4 << stride bytes apart
//   doorbell_error_o   pulse: a doorbell was answered with an error or not in time
//   doorbells_o        doorbells written since reset
//   bar_*              AXI4-Lite master: bit 31 of the address selects the configuration space; BAR 0 is at BarBase. Write strobes are
//                      all ones; `error_i` is any response but OKAY
//
// An access without a response is given up for its user, but not on the bus, since AXI forbids it: its valid stays, its late response is
// taken and dropped, and no other access begins before. A bridge has to answer every access, if need be with an error.
//
// Invariants, proven in formal/nvs_requester.svh:
//   - one access at a time; address and data are stable until they are taken (AXI4 A3.2.1); a response is taken only when one is due;
//   - every access of the sequencer appears on the bus as it was given, and is answered exactly once, within TimeoutTicks;
//   - a doorbell is written with the value that was accepted, to its own register; none while the sequencer asks or without enable;
//   - late responses are dropped.

module nvs_requester #(
  parameter  int unsigned Entries      = 64,     // of each I/O queue; a power of two
  parameter  int unsigned TimeoutTicks = 50000,  // at most 65535
  localparam int unsigned IndexWidth   = $clog2(Entries)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    tick_i,

  input  logic                    req_valid_i,
  output logic                    req_ready_o,
  input  logic                    req_write_i,
  input  logic [31:0]             req_addr_i,
  input  logic [31:0]             req_data_i,
  output logic                    rsp_valid_o,
  output logic [31:0]             rsp_data_o,
  output logic                    rsp_error_o,

  input  logic                    doorbells_enable_i,
  input  logic [3:0]              doorbell_stride_i,
  input  logic [1:0]              sq_db_valid_i,
  output logic [1:0]              sq_db_ready_o,
  input  logic [2*IndexWidth-1:0] sq_db_value_i,
  input  logic [1:0]              cq_db_valid_i,
  output logic [1:0]              cq_db_ready_o,
  input  logic [2*IndexWidth-1:0] cq_db_value_i,
  output logic                    doorbell_error_o,
  output logic [31:0]             doorbells_o,

  output logic                    bar_aw_valid_o,
  input  logic                    bar_aw_ready_i,
  output logic [31:0]             bar_aw_addr_o,
  output logic                    bar_w_valid_o,
  input  logic                    bar_w_ready_i,
  output logic [31:0]             bar_w_data_o,
  input  logic                    bar_b_valid_i,
  output logic                    bar_b_ready_o,
  input  logic                    bar_b_error_i,
  output logic                    bar_ar_valid_o,
  input  logic                    bar_ar_ready_i,
  output logic [31:0]             bar_ar_addr_o,
  input  logic                    bar_r_valid_i,
  output logic                    bar_r_ready_o,
  input  logic [31:0]             bar_r_data_i,
  input  logic                    bar_r_error_i
);

  localparam logic [11:0] BarPage = 12'h100;  // bits 31:20 of the address of BAR 0 (nvs_init)

  logic        aw_valid_q, w_valid_q, ar_valid_q;  // not taken yet
  logic        write_q, read_q;                    // from acceptance to response
  logic        owned_q, doorbell_q;                // the user waits for the response; it is a doorbell
  logic [31:0] addr_q, data_q;
  logic [15:0] timer_q;

  logic idle;
  assign idle = !write_q && !read_q;

  // Choice, one cycle before the acceptance, as one-hot and as number; round robin from `last_q`, the doorbell granted last.
  logic [3:0] pending, later, choice, grant_q;
  logic [1:0] last_q, number_q;
  assign pending = {cq_db_valid_i[1], sq_db_valid_i[1], cq_db_valid_i[0], sq_db_valid_i[0]};
  assign later   = pending & (4'b1110 << last_q);
  assign choice  = later != '0 ? later : pending;

  logic accept, accept_db, idle_db;
  assign req_ready_o   = idle;
  assign accept        = req_valid_i && idle;
  assign idle_db       = !req_valid_i && idle;
  assign accept_db     = idle_db && doorbells_enable_i && (pending & grant_q) != '0;
  assign sq_db_ready_o = {grant_q[2], grant_q[0]} & {2{accept_db}};
  assign cq_db_ready_o = {grant_q[3], grant_q[1]} & {2{accept_db}};

  // Doorbell register: 1000h + (2 to 5) * (4 << stride). Only the bits from 12 on need an adder.
  logic [19:0]           offset;
  logic [19:0]           db_addr;
  logic [IndexWidth-1:0] db_value;
  always_comb begin
    offset = '0;
    for (int unsigned s = 0; s < 16; s++) begin
      if (doorbell_stride_i == 4'(s)) offset[2+s +: 3] = {number_q[1], !number_q[1], number_q[0]};
    end
  end
  assign db_addr  = {offset[19:12] + 8'd1, offset[11:0]};
  assign db_value = number_q[0] ? (number_q[1] ? cq_db_value_i[IndexWidth +: IndexWidth] : cq_db_value_i[0 +: IndexWidth])
                                : (number_q[1] ? sq_db_value_i[IndexWidth +: IndexWidth] : sq_db_value_i[0 +: IndexWidth]);

  // Bus. A response can come only after its request was taken.
  assign bar_aw_valid_o = aw_valid_q;
  assign bar_aw_addr_o  = addr_q;
  assign bar_w_valid_o  = w_valid_q;
  assign bar_w_data_o   = data_q;
  assign bar_b_ready_o  = write_q && !aw_valid_q && !w_valid_q;
  assign bar_ar_valid_o = ar_valid_q;
  assign bar_ar_addr_o  = addr_q;
  assign bar_r_ready_o  = read_q && !ar_valid_q;

  logic written, answered, late, failed;
  assign written  = bar_b_valid_i && bar_b_ready_o;
  assign answered = written || (bar_r_valid_i && bar_r_ready_o);
  assign late     = owned_q && (timer_q & 16'(TimeoutTicks)) == 16'(TimeoutTicks);  // counts from 0: first so when equal
  assign failed   = !answered || (written ? bar_b_error_i : bar_r_error_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_valid_q       <= 1'b0;
      w_valid_q        <= 1'b0;
      ar_valid_q       <= 1'b0;
      write_q          <= 1'b0;
      read_q           <= 1'b0;
      owned_q          <= 1'b0;
      doorbell_q       <= 1'b0;
      last_q           <= '0;
      grant_q          <= '0;
      number_q         <= '0;
      timer_q          <= '0;
      rsp_valid_o      <= 1'b0;
      rsp_error_o      <= 1'b0;
      doorbell_error_o <= 1'b0;
      doorbells_o      <= '0;
    end else begin
      if (bar_aw_ready_i) aw_valid_q <= 1'b0;
      if (bar_w_ready_i)  w_valid_q  <= 1'b0;
      if (bar_ar_ready_i) ar_valid_q <= 1'b0;

      rsp_valid_o      <= owned_q && !doorbell_q && (answered || late);
      rsp_error_o      <= failed;
      doorbell_error_o <= owned_q && doorbell_q && (answered || late) && failed;
      if (answered) begin
        write_q <= 1'b0;
        read_q  <= 1'b0;
      end
      if (answered || late) owned_q <= 1'b0;
      if (owned_q && tick_i) timer_q <= timer_q + 1'b1;

      if (accept || accept_db) begin
        aw_valid_q <= accept_db || req_write_i;
        w_valid_q  <= accept_db || req_write_i;
        write_q    <= accept_db || req_write_i;
        ar_valid_q <= accept && !req_write_i;
        read_q     <= accept && !req_write_i;
        owned_q    <= 1'b1;
        doorbell_q <= accept_db;
        timer_q    <= '0;
      end
      if (accept_db) begin
        last_q      <= number_q;
        doorbells_o <= doorbells_o + 1'b1;
      end
      // The doorbell that is accepted in this cycle may be no longer wanted in the next; then none is granted in that.
      grant_q  <= choice & (~choice + 4'd1);
      number_q <= choice[0] ? 2'd0 : choice[1] ? 2'd1 : choice[2] ? 2'd2 : 2'd3;
    end
  end

  always_ff @(posedge clk_i) begin
    rsp_data_o <= bar_r_data_i;
    if (idle) begin
      addr_q[19:0]           <= req_valid_i ? req_addr_i[19:0] : db_addr;
      data_q[IndexWidth-1:0] <= req_valid_i ? req_data_i[IndexWidth-1:0] : db_value;
    end
    if (idle_db) begin
      addr_q[31:20]         <= BarPage;
      data_q[31:IndexWidth] <= '0;
    end else if (idle) begin
      addr_q[31:20]         <= req_addr_i[31:20];
      data_q[31:IndexWidth] <= req_data_i[31:IndexWidth];
    end
  end

`ifdef FORMAL
  `include "formal/nvs_requester.svh"
`endif

endmodule
