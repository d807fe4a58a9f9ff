// Accesses of the core to the drive: AXI4-Lite to single-dword TLPs and to the configuration port of the root port.
//
// Purpose: one access at a time. With bit 31 of the address clear it is a memory request; with it set, bits 30:20, 19:15, 14:12 and 11:2 are bus,
// device, function and register of a configuration access: bus 0 is the root port's own configuration space, behind mgmt_*; bus 1, device 0
// is a configuration request of type 0. Everything else has an error response at once.
//
// Interface:
//   tick_i         once per microsecond
//   abort_i        level: the block is in reset or its link is lost. A request is withdrawn and answered with an error. mgmt_* goes on
//   bar_*          AXI4-Lite slave, as bar_* of nvs_core
//   req_*          request, one dword: stable until it is taken, but for abort_i. `req_config_o`: configuration, type 0, of bus 1, device 0
//   cpl_*          a completion, one pulse. `cpl_error_i`: it does not say success, is poisoned, or the block says that the request has
//                  failed or timed out. `cpl_data_valid_i`: it has one dword
//   mgmt_*         configuration port: read or write stays until done; register number in dwords
//   hot_reset_o    level: Secondary Bus Reset of Bridge Control, as written last
//   begun_i, ended_i  as nvs_tlp_inbound gives them
//
// A posted write is answered when the block has taken it. Every other access ends with its completion, or with an error after TimeoutTicks;
// then its tag (the next of 32 with each request) is not used for 31 more, and its late completion is dropped. TimeoutTicks should be above the
// block's Completion Timeout. A completion is given on when the core has acknowledged every write of the drive that came before it: PCI Express forbids
// a completion to pass a posted write (2.4.1), and a drive whose CSTS says that it has stopped must have no entry under way.
//
// Invariants, proven in formal/nvs_tlp_requester.svh:
//   - every access is answered exactly once, within TimeoutTicks while responses are taken; one request or configuration access at a time;
//   - a read has the data of the completion with its tag, and an error if that has none; a late completion is dropped;
//   - no completion is given on before the writes that came before it are acknowledged;
//   - outputs are stable until they are taken.

module nvs_tlp_requester #(
  parameter int unsigned TimeoutTicks = 60000  // at most 65535
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        tick_i,
  input  logic        abort_i,

  input  logic        bar_aw_valid_i,
  output logic        bar_aw_ready_o,
  input  logic [31:2] bar_aw_addr_i,
  input  logic        bar_w_valid_i,
  output logic        bar_w_ready_o,
  input  logic [31:0] bar_w_data_i,
  input  logic [3:0]  bar_w_strb_i,
  output logic        bar_b_valid_o,
  input  logic        bar_b_ready_i,
  output logic [1:0]  bar_b_resp_o,
  input  logic        bar_ar_valid_i,
  output logic        bar_ar_ready_o,
  input  logic [31:2] bar_ar_addr_i,
  output logic        bar_r_valid_o,
  input  logic        bar_r_ready_i,
  output logic [31:0] bar_r_data_o,
  output logic [1:0]  bar_r_resp_o,

  output logic        req_valid_o,
  input  logic        req_ready_i,
  output logic        req_write_o,
  output logic        req_config_o,
  output logic [31:2] req_addr_o,
  output logic [3:0]  req_be_o,
  output logic [31:0] req_data_o,
  output logic [4:0]  req_tag_o,

  input  logic        cpl_valid_i,
  input  logic [7:0]  cpl_tag_i,
  input  logic        cpl_error_i,
  input  logic        cpl_data_valid_i,
  input  logic [31:0] cpl_data_i,

  output logic        mgmt_read_o,
  output logic        mgmt_write_o,
  output logic [9:0]  mgmt_addr_o,
  output logic [3:0]  mgmt_be_o,
  output logic [31:0] mgmt_data_o,
  input  logic        mgmt_done_i,
  input  logic [31:0] mgmt_data_i,
  output logic        hot_reset_o,

  input  logic [7:0]  begun_i,
  input  logic [7:0]  ended_i
);

  localparam logic [1:0] Okay       = 2'b00;
  localparam logic [1:0] SlaveError = 2'b10;
  localparam logic [9:0] Bridge     = 10'h3c >> 2;  // Bridge Control, in bits 31:16

  typedef enum logic [2:0] {Idle, Send, Wait, Order, Mgmt, Answer} state_e;
  state_e state_q;

  // Taken and not answered yet.
  logic        aw_q, w_q, ar_q, write_q;
  logic [31:2] addr_q, read_addr_q;
  logic [31:0] data_q;
  logic [3:0]  be_q;
  logic        error_q;
  logic [15:0] timer_q;
  logic [4:0]  tag_q;   // of the request that is sent next
  logic [7:0]  mark_q;  // writes that came before the completion

  assign bar_aw_ready_o = !aw_q;
  assign bar_w_ready_o  = !w_q;
  assign bar_ar_ready_o = !ar_q;

  // Where an access goes.
  logic [31:2] addr;
  logic        start, start_write, config_space, own, endpoint;
  assign start_write  = aw_q && w_q;
  assign start        = state_q == Idle && (start_write || ar_q);
  assign addr         = start_write ? addr_q : read_addr_q;
  assign config_space = addr[31];
  assign own          = addr[30:12] == '0;                                // bus 0, device 0, function 0
  assign endpoint     = addr[30:20] == 11'h001 && addr[19:15] == 5'h00;  // bus 1, device 0

  logic late, hit, ordered;
  assign late    = timer_q == 16'(TimeoutTicks);
  assign hit     = cpl_valid_i && cpl_tag_i == {3'b000, req_tag_o};
  assign ordered = 8'(ended_i - mark_q) < 8'd128;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q       <= Idle;
      aw_q          <= 1'b0;
      w_q           <= 1'b0;
      ar_q          <= 1'b0;
      write_q       <= 1'b0;
      error_q       <= 1'b0;
      timer_q       <= '0;
      tag_q         <= '0;
      req_valid_o   <= 1'b0;
      mgmt_read_o   <= 1'b0;
      mgmt_write_o  <= 1'b0;
      bar_b_valid_o <= 1'b0;
      bar_r_valid_o <= 1'b0;
      hot_reset_o   <= 1'b0;
    end else begin
      if (bar_aw_valid_i) aw_q <= 1'b1;
      if (bar_w_valid_i)  w_q  <= 1'b1;
      if (bar_ar_valid_i) ar_q <= 1'b1;
      if (req_ready_i || abort_i) req_valid_o <= 1'b0;
      if (state_q == Idle) timer_q <= '0;
      else if (tick_i && !late) timer_q <= timer_q + 1'b1;

      case (state_q)
        Idle: begin
          write_q <= start_write;
          error_q <= 1'b1;
          if (start) begin
            if (!config_space || (!own && endpoint)) begin
              state_q <= Send;
            end else if (own) begin
              state_q      <= Mgmt;
              mgmt_read_o  <= !start_write;
              mgmt_write_o <= start_write;
              if (start_write && addr[11:2] == Bridge && be_q[2]) hot_reset_o <= data_q[22];
            end else begin
              state_q <= Answer;
            end
          end
        end
        // A request that was not taken before its access was given up must leave first.
        Send: begin
          if (late || abort_i) begin
            state_q <= Answer;
          end else if (!req_valid_o) begin
            req_valid_o <= 1'b1;
            tag_q       <= tag_q + 1'b1;
            state_q     <= Wait;
          end
        end
        Wait: begin
          if (write_q && !req_config_o && req_valid_o && req_ready_i) begin
            error_q <= 1'b0;
            state_q <= Answer;
          end else if (hit && !(write_q && !req_config_o)) begin
            error_q <= cpl_error_i || (!write_q && !cpl_data_valid_i);
            state_q <= Order;
          end else if (late || abort_i) begin
            state_q <= Answer;
          end
        end
        Order: begin
          if (late) error_q <= 1'b1;
          if (ordered || late) state_q <= Answer;
        end
        Mgmt: begin
          if (mgmt_done_i || late) begin
            error_q      <= !mgmt_done_i;
            mgmt_read_o  <= 1'b0;
            mgmt_write_o <= 1'b0;
            state_q      <= Answer;
          end
        end
        default: begin
          if (!bar_b_valid_o && !bar_r_valid_o) begin
            bar_b_valid_o <= write_q;
            bar_r_valid_o <= !write_q;
          end else if (write_q ? bar_b_ready_i : bar_r_ready_i) begin
            bar_b_valid_o <= 1'b0;
            bar_r_valid_o <= 1'b0;
            state_q       <= Idle;
            if (write_q) begin
              aw_q <= 1'b0;
              w_q  <= 1'b0;
            end else begin
              ar_q <= 1'b0;
            end
          end
        end
      endcase
    end
  end

  assign bar_b_resp_o = error_q ? SlaveError : Okay;
  assign bar_r_resp_o = error_q ? SlaveError : Okay;

  always_ff @(posedge clk_i) begin
    if (!aw_q) addr_q <= bar_aw_addr_i;
    if (!w_q) begin
      data_q <= bar_w_data_i;
      be_q   <= bar_w_strb_i;
    end
    if (!ar_q) read_addr_q <= bar_ar_addr_i;
    if (state_q == Send && !req_valid_o) begin
      req_write_o  <= write_q;
      req_config_o <= write_q ? addr_q[31] : read_addr_q[31];
      req_addr_o   <= write_q ? addr_q : read_addr_q;
      req_be_o     <= write_q ? be_q : 4'hf;
      req_data_o   <= data_q;
      req_tag_o    <= tag_q;
    end
    if (state_q == Wait) mark_q <= begun_i;
    if (state_q == Idle) begin
      mgmt_addr_o <= addr[11:2];
      mgmt_be_o   <= be_q;
      mgmt_data_o <= data_q;
    end
    if (state_q == Idle) bar_r_data_o <= '1;
    else if (state_q == Wait && hit && cpl_data_valid_i && !cpl_error_i) bar_r_data_o <= cpl_data_i;
    else if (state_q == Mgmt && mgmt_done_i) bar_r_data_o <= mgmt_data_i;
  end

`ifdef FORMAL
  `include "formal/nvs_tlp_requester.svh"
`endif

endmodule
