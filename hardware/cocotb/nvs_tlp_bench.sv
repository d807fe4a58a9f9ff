// The core and the shim with one drive under the port names that cocotbext-axi and cocotbext-pcie look for, and a pulse on tick_i every TickCycles
// cycles.

module nvs_tlp_bench #(
  parameter  int unsigned DataWidth    = 128,
  parameter  int unsigned ChunkPages   = 4,
  parameter  int unsigned Slots        = 8,
  parameter  int unsigned Entries      = 64,
  parameter  int unsigned UnitShift    = 10,
  parameter  int unsigned ResetShift   = 4,
  parameter  int unsigned PollShift    = 6,
  parameter  int unsigned TimeoutTicks = 2400,
  parameter  int unsigned BlockTicks   = 2000,  // TimeoutTicks of the shim
  parameter  int unsigned TickCycles   = 8,
  parameter  int unsigned IndexEntries = 64,
  localparam int unsigned BeatBytes    = DataWidth / 8,
  localparam int unsigned Lanes        = DataWidth / 32,
  localparam int unsigned RqUser       = DataWidth == 512 ? 137 : 62,
  localparam int unsigned RcUser       = DataWidth == 512 ? 161 : 75,
  localparam int unsigned CqUser       = DataWidth == 512 ? 183 : 88,
  localparam int unsigned CcUser       = DataWidth == 512 ? 81 : 33,
  localparam int unsigned RingWidth    = 1 + 2 + $clog2(Slots) + $clog2(ChunkPages) + 12
) (
  input  logic                 clk,
  input  logic                 rst_n,

  input  logic                 s_reg_awvalid,
  output logic                 s_reg_awready,
  input  logic [11:0]          s_reg_awaddr,
  input  logic                 s_reg_wvalid,
  output logic                 s_reg_wready,
  input  logic [31:0]          s_reg_wdata,
  input  logic [3:0]           s_reg_wstrb,
  output logic                 s_reg_bvalid,
  input  logic                 s_reg_bready,
  output logic [1:0]           s_reg_bresp,
  input  logic                 s_reg_arvalid,
  output logic                 s_reg_arready,
  input  logic [11:0]          s_reg_araddr,
  output logic                 s_reg_rvalid,
  input  logic                 s_reg_rready,
  output logic [31:0]          s_reg_rdata,
  output logic [1:0]           s_reg_rresp,

  input  logic                 s_axis_tvalid,
  output logic                 s_axis_tready,
  input  logic [DataWidth-1:0] s_axis_tdata,
  input  logic [BeatBytes-1:0] s_axis_tkeep,
  input  logic                 s_axis_tlast,

  output logic                 m_axis_tvalid,
  input  logic                 m_axis_tready,
  output logic [DataWidth-1:0] m_axis_tdata,
  output logic [BeatBytes-1:0] m_axis_tkeep,
  output logic                 m_axis_tlast,
  output logic [1:0]           m_axis_tuser,

  output logic                 mem_awvalid,
  input  logic                 mem_awready,
  output logic [2:0]           mem_awid,
  output logic [RingWidth-1:0] mem_awaddr,
  output logic [7:0]           mem_awlen,
  output logic [2:0]           mem_awsize,
  output logic [1:0]           mem_awburst,
  output logic                 mem_wvalid,
  input  logic                 mem_wready,
  output logic [DataWidth-1:0] mem_wdata,
  output logic [BeatBytes-1:0] mem_wstrb,
  output logic                 mem_wlast,
  input  logic                 mem_bvalid,
  output logic                 mem_bready,
  input  logic [2:0]           mem_bid,
  input  logic [1:0]           mem_bresp,
  output logic                 mem_arvalid,
  input  logic                 mem_arready,
  output logic [2:0]           mem_arid,
  output logic [RingWidth-1:0] mem_araddr,
  output logic [7:0]           mem_arlen,
  output logic [2:0]           mem_arsize,
  output logic [1:0]           mem_arburst,
  input  logic                 mem_rvalid,
  output logic                 mem_rready,
  input  logic [2:0]           mem_rid,
  input  logic [DataWidth-1:0] mem_rdata,
  input  logic [1:0]           mem_rresp,
  input  logic                 mem_rlast,

  output logic                 rq_tvalid,
  input  logic                 rq_tready,
  output logic [DataWidth-1:0] rq_tdata,
  output logic [Lanes-1:0]     rq_tkeep,
  output logic                 rq_tlast,
  output logic [RqUser-1:0]    rq_tuser,
  input  logic                 rc_tvalid,
  output logic                 rc_tready,
  input  logic [DataWidth-1:0] rc_tdata,
  input  logic [Lanes-1:0]     rc_tkeep,
  input  logic                 rc_tlast,
  input  logic [RcUser-1:0]    rc_tuser,
  input  logic                 cq_tvalid,
  output logic                 cq_tready,
  input  logic [DataWidth-1:0] cq_tdata,
  input  logic [Lanes-1:0]     cq_tkeep,
  input  logic                 cq_tlast,
  input  logic [CqUser-1:0]    cq_tuser,
  output logic [1:0]           cq_np_req,
  output logic                 cc_tvalid,
  input  logic                 cc_tready,
  output logic [DataWidth-1:0] cc_tdata,
  output logic [Lanes-1:0]     cc_tkeep,
  output logic                 cc_tlast,
  output logic [CcUser-1:0]    cc_tuser,
  output logic                 cfg_mgmt_read,
  output logic                 cfg_mgmt_write,
  output logic [9:0]           cfg_mgmt_addr,
  output logic [7:0]           cfg_mgmt_function_number,
  output logic [3:0]           cfg_mgmt_byte_enable,
  output logic [31:0]          cfg_mgmt_write_data,
  input  logic                 cfg_mgmt_read_write_done,
  input  logic [31:0]          cfg_mgmt_read_data,
  input  logic [1:0]           cfg_max_payload,
  input  logic [1:0]           cfg_current_speed,
  input  logic [2:0]           cfg_negotiated_width,
  input  logic                 block_reset,
  input  logic                 poisoned,
  output logic                 hot_reset,

  input  logic                 link_up,
  input  logic                 trigger,
  output logic                 perst,
  output logic [1:0]           irq,
  output logic                 irq_lost,
  output logic                 quiet
);

  logic                 dev_awvalid, dev_awready, dev_wvalid, dev_wready, dev_wlast, dev_bvalid, dev_bready;
  logic                 dev_arvalid, dev_arready, dev_rvalid, dev_rready, dev_rlast;
  logic [3:0]           dev_awid, dev_arid, dev_bid, dev_rid;
  logic [39:0]          dev_awaddr, dev_araddr;
  logic [7:0]           dev_awlen, dev_arlen;
  logic [2:0]           dev_awsize, dev_arsize;
  logic [1:0]           dev_awburst, dev_arburst, dev_bresp, dev_rresp;
  logic [DataWidth-1:0] dev_wdata, dev_rdata;
  logic [BeatBytes-1:0] dev_wstrb;
  logic                 bar_awvalid, bar_awready, bar_wvalid, bar_wready, bar_bvalid, bar_bready;
  logic                 bar_arvalid, bar_arready, bar_rvalid, bar_rready;
  logic [31:0]          bar_awaddr, bar_wdata, bar_araddr, bar_rdata;
  logic [3:0]           bar_wstrb, link_speed;
  logic [1:0]           bar_bresp, bar_rresp;
  logic [7:0]           link_width;
  assign cfg_mgmt_function_number = '0;
  assign cq_np_req[1]             = 1'b0;

`include "nvs_bench.svh"

  // What the shim offers the core.
  `HELD(dev_awvalid, dev_awready, ({dev_awaddr, dev_awlen}))
  `HELD(dev_wvalid, dev_wready, ({dev_wdata, dev_wstrb, dev_wlast}))
  `HELD(dev_arvalid, dev_arready, ({dev_araddr, dev_arlen}))
  `HELD(bar_bvalid, bar_bready, bar_bresp)
  `HELD(bar_rvalid, bar_rready, ({bar_rdata, bar_rresp}))
`undef HELD
  // Ports of the block: as long as it is not in reset.
`define HELD(valid, ready, payload) \
  assert property (@(posedge clk) disable iff (!rst_n || block_reset) valid && !ready |=> valid && $stable(payload));
  `HELD(rq_tvalid, rq_tready, ({rq_tdata, rq_tkeep, rq_tlast, rq_tuser}))
  `HELD(cc_tvalid, cc_tready, ({cc_tdata, cc_tkeep, cc_tlast, cc_tuser}))
`undef HELD

  nvs_tlp_us #(
    .DataWidth   (DataWidth),
    .TimeoutTicks(BlockTicks)
  ) u_shim (
    .clk_i                      (clk),
    .rst_ni                     (rst_n),
    .tick_i                     (tick_q),
    .block_reset_i              (block_reset),
    .poisoned_i                 (poisoned),
    .rq_valid_o                 (rq_tvalid),
    .rq_ready_i                 (rq_tready),
    .rq_data_o                  (rq_tdata),
    .rq_keep_o                  (rq_tkeep),
    .rq_last_o                  (rq_tlast),
    .rq_user_o                  (rq_tuser),
    .cc_valid_o                 (cc_tvalid),
    .cc_ready_i                 (cc_tready),
    .cc_data_o                  (cc_tdata),
    .cc_keep_o                  (cc_tkeep),
    .cc_last_o                  (cc_tlast),
    .cc_user_o                  (cc_tuser),
    .rc_valid_i                 (rc_tvalid),
    .rc_ready_o                 (rc_tready),
    .rc_data_i                  (rc_tdata),
    .rc_last_i                  (rc_tlast),
    .rc_user_i                  (rc_tuser),
    .cq_valid_i                 (cq_tvalid),
    .cq_ready_o                 (cq_tready),
    .cq_data_i                  (cq_tdata),
    .cq_last_i                  (cq_tlast),
    .cq_user_i                  (cq_tuser),
    .cq_np_req_o                (cq_np_req[0]),
    .cfg_mgmt_read_o            (cfg_mgmt_read),
    .cfg_mgmt_write_o           (cfg_mgmt_write),
    .cfg_mgmt_addr_o            (cfg_mgmt_addr),
    .cfg_mgmt_byte_enable_o     (cfg_mgmt_byte_enable),
    .cfg_mgmt_write_data_o      (cfg_mgmt_write_data),
    .cfg_mgmt_read_write_done_i (cfg_mgmt_read_write_done),
    .cfg_mgmt_read_data_i       (cfg_mgmt_read_data),
    .cfg_max_payload_i          (cfg_max_payload),
    .cfg_current_speed_i        (cfg_current_speed),
    .cfg_negotiated_width_i     (cfg_negotiated_width),
    .hot_reset_o                (hot_reset),
    .link_speed_o               (link_speed),
    .link_width_o               (link_width),
    .aw_valid_o                 (dev_awvalid),
    .aw_ready_i                 (dev_awready),
    .aw_id_o                    (dev_awid),
    .aw_addr_o                  (dev_awaddr),
    .aw_len_o                   (dev_awlen),
    .aw_size_o                  (dev_awsize),
    .aw_burst_o                 (dev_awburst),
    .w_valid_o                  (dev_wvalid),
    .w_ready_i                  (dev_wready),
    .w_data_o                   (dev_wdata),
    .w_strb_o                   (dev_wstrb),
    .w_last_o                   (dev_wlast),
    .b_valid_i                  (dev_bvalid),
    .b_ready_o                  (dev_bready),
    .ar_valid_o                 (dev_arvalid),
    .ar_ready_i                 (dev_arready),
    .ar_id_o                    (dev_arid),
    .ar_addr_o                  (dev_araddr),
    .ar_len_o                   (dev_arlen),
    .ar_size_o                  (dev_arsize),
    .ar_burst_o                 (dev_arburst),
    .r_valid_i                  (dev_rvalid),
    .r_ready_o                  (dev_rready),
    .r_data_i                   (dev_rdata),
    .bar_aw_valid_i             (bar_awvalid),
    .bar_aw_ready_o             (bar_awready),
    .bar_aw_addr_i              (bar_awaddr),
    .bar_w_valid_i              (bar_wvalid),
    .bar_w_ready_o              (bar_wready),
    .bar_w_data_i               (bar_wdata),
    .bar_w_strb_i               (bar_wstrb),
    .bar_b_valid_o              (bar_bvalid),
    .bar_b_ready_i              (bar_bready),
    .bar_b_resp_o               (bar_bresp),
    .bar_ar_valid_i             (bar_arvalid),
    .bar_ar_ready_o             (bar_arready),
    .bar_ar_addr_i              (bar_araddr),
    .bar_r_valid_o              (bar_rvalid),
    .bar_r_ready_i              (bar_rready),
    .bar_r_data_o               (bar_rdata),
    .bar_r_resp_o               (bar_rresp)
  );

endmodule
