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

  localparam logic [1:0] Incrementing = 2'b01;
  assign mem_awsize  = 3'($clog2(BeatBytes));
  assign mem_awburst = Incrementing;
  assign mem_arsize  = 3'($clog2(BeatBytes));
  assign mem_arburst = Incrementing;

  logic [$clog2(TickCycles)-1:0] cycle_q;
  logic                          tick_q;
  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      cycle_q <= '0;
      tick_q  <= 1'b0;
    end else begin
      tick_q  <= 32'(cycle_q) == TickCycles - 1;
      cycle_q <= 32'(cycle_q) == TickCycles - 1 ? '0 : cycle_q + 1'b1;
    end
  end

  logic                 dev_aw_valid, dev_aw_ready, dev_w_valid, dev_w_ready, dev_w_last, dev_b_valid, dev_b_ready;
  logic                 dev_ar_valid, dev_ar_ready, dev_r_valid, dev_r_ready;
  logic [3:0]           dev_aw_id, dev_ar_id;
  logic [39:0]          dev_aw_addr, dev_ar_addr;
  logic [7:0]           dev_aw_len, dev_ar_len;
  logic [2:0]           dev_aw_size, dev_ar_size;
  logic [1:0]           dev_aw_burst, dev_ar_burst;
  logic [DataWidth-1:0] dev_w_data, dev_r_data;
  logic [BeatBytes-1:0] dev_w_strb;
  logic                 bar_aw_valid, bar_aw_ready, bar_w_valid, bar_w_ready, bar_b_valid, bar_b_ready;
  logic                 bar_ar_valid, bar_ar_ready, bar_r_valid, bar_r_ready;
  logic [31:0]          bar_aw_addr, bar_w_data, bar_ar_addr, bar_r_data;
  logic [3:0]           bar_w_strb, link_speed;
  logic [1:0]           bar_b_resp, bar_r_resp;
  logic [7:0]           link_width;
  assign cfg_mgmt_function_number = '0;
  assign cq_np_req[1]             = 1'b0;

  // Of what the core offers: it stays, unchanged, until it is taken.
`define HELD(valid, ready, payload) \
  assert property (@(posedge clk) disable iff (!rst_n) valid && !ready |=> valid && $stable(payload));
  `HELD(s_reg_bvalid, s_reg_bready, s_reg_bresp)
  `HELD(s_reg_rvalid, s_reg_rready, s_reg_rdata)
  `HELD(m_axis_tvalid, m_axis_tready, ({m_axis_tdata, m_axis_tkeep, m_axis_tlast, m_axis_tuser}))
  `HELD(mem_awvalid, mem_awready, ({mem_awid, mem_awaddr, mem_awlen}))
  `HELD(mem_wvalid, mem_wready, ({mem_wdata, mem_wstrb, mem_wlast}))
  `HELD(mem_arvalid, mem_arready, ({mem_arid, mem_araddr, mem_arlen}))
  `HELD(dev_aw_valid, dev_aw_ready, ({dev_aw_addr, dev_aw_len}))
  `HELD(dev_w_valid, dev_w_ready, ({dev_w_data, dev_w_strb, dev_w_last}))
  `HELD(dev_ar_valid, dev_ar_ready, ({dev_ar_addr, dev_ar_len}))
  `HELD(bar_b_valid, bar_b_ready, bar_b_resp)
  `HELD(bar_r_valid, bar_r_ready, ({bar_r_data, bar_r_resp}))
`undef HELD
  // Ports of the block: as long as it is not in reset.
`define HELD(valid, ready, payload) \
  assert property (@(posedge clk) disable iff (!rst_n || block_reset) valid && !ready |=> valid && $stable(payload));
  `HELD(rq_tvalid, rq_tready, ({rq_tdata, rq_tkeep, rq_tlast, rq_tuser}))
  `HELD(cc_tvalid, cc_tready, ({cc_tdata, cc_tkeep, cc_tlast, cc_tuser}))
`undef HELD

  nvs_core #(
    .DataWidth   (DataWidth),
    .ChunkPages  (ChunkPages),
    .Slots       (Slots),
    .Entries     (Entries),
    .UnitShift   (UnitShift),
    .ResetShift  (ResetShift),
    .PollShift   (PollShift),
    .TimeoutTicks(TimeoutTicks),
    .IndexEntries(IndexEntries)
  ) u_core (
    .clk_i           (clk),
    .rst_ni          (rst_n),
    .tick_i          (tick_q),
    .trigger_i       (trigger),
    .link_up_i       (link_up),
    .link_speed_i    (link_speed),
    .link_width_i    (link_width),
    .perst_o         (perst),
    .irq_o           (irq),
    .irq_lost_o      (irq_lost),
    .quiet_o         (quiet),
    .s_reg_aw_valid_i (s_reg_awvalid),
    .s_reg_aw_ready_o (s_reg_awready),
    .s_reg_aw_addr_i  (s_reg_awaddr),
    .s_reg_w_valid_i  (s_reg_wvalid),
    .s_reg_w_ready_o  (s_reg_wready),
    .s_reg_w_data_i   (s_reg_wdata),
    .s_reg_w_strb_i   (s_reg_wstrb),
    .s_reg_b_valid_o  (s_reg_bvalid),
    .s_reg_b_ready_i  (s_reg_bready),
    .s_reg_b_resp_o   (s_reg_bresp),
    .s_reg_ar_valid_i (s_reg_arvalid),
    .s_reg_ar_ready_o (s_reg_arready),
    .s_reg_ar_addr_i  (s_reg_araddr),
    .s_reg_r_valid_o  (s_reg_rvalid),
    .s_reg_r_ready_i  (s_reg_rready),
    .s_reg_r_data_o   (s_reg_rdata),
    .s_reg_r_resp_o   (s_reg_rresp),
    .s_valid_i        (s_axis_tvalid),
    .s_ready_o        (s_axis_tready),
    .s_data_i         (s_axis_tdata),
    .s_keep_i         (s_axis_tkeep),
    .s_last_i         (s_axis_tlast),
    .m_valid_o        (m_axis_tvalid),
    .m_ready_i        (m_axis_tready),
    .m_data_o         (m_axis_tdata),
    .m_keep_o         (m_axis_tkeep),
    .m_last_o         (m_axis_tlast),
    .m_user_o         (m_axis_tuser),
    .mem_aw_valid_o   (mem_awvalid),
    .mem_aw_ready_i   (mem_awready),
    .mem_aw_id_o      (mem_awid),
    .mem_aw_addr_o    (mem_awaddr),
    .mem_aw_len_o     (mem_awlen),
    .mem_w_valid_o    (mem_wvalid),
    .mem_w_ready_i    (mem_wready),
    .mem_w_data_o     (mem_wdata),
    .mem_w_strb_o     (mem_wstrb),
    .mem_w_last_o     (mem_wlast),
    .mem_b_valid_i    (mem_bvalid),
    .mem_b_ready_o    (mem_bready),
    .mem_b_id_i       (mem_bid),
    .mem_b_resp_i     (mem_bresp),
    .mem_ar_valid_o   (mem_arvalid),
    .mem_ar_ready_i   (mem_arready),
    .mem_ar_id_o      (mem_arid),
    .mem_ar_addr_o    (mem_araddr),
    .mem_ar_len_o     (mem_arlen),
    .mem_r_valid_i    (mem_rvalid),
    .mem_r_ready_o    (mem_rready),
    .mem_r_id_i       (mem_rid),
    .mem_r_data_i     (mem_rdata),
    .mem_r_resp_i     (mem_rresp),
    .mem_r_last_i     (mem_rlast),
    .dev_aw_valid_i (dev_aw_valid),
    .dev_aw_ready_o (dev_aw_ready),
    .dev_aw_id_i (dev_aw_id),
    .dev_aw_addr_i (dev_aw_addr),
    .dev_aw_len_i (dev_aw_len),
    .dev_aw_size_i (dev_aw_size),
    .dev_aw_burst_i (dev_aw_burst),
    .dev_w_valid_i (dev_w_valid),
    .dev_w_ready_o (dev_w_ready),
    .dev_w_data_i (dev_w_data),
    .dev_w_strb_i (dev_w_strb),
    .dev_w_last_i (dev_w_last),
    .dev_b_valid_o (dev_b_valid),
    .dev_b_ready_i (dev_b_ready),
    .dev_ar_valid_i (dev_ar_valid),
    .dev_ar_ready_o (dev_ar_ready),
    .dev_ar_id_i (dev_ar_id),
    .dev_ar_addr_i (dev_ar_addr),
    .dev_ar_len_i (dev_ar_len),
    .dev_ar_size_i (dev_ar_size),
    .dev_ar_burst_i (dev_ar_burst),
    .dev_r_valid_o (dev_r_valid),
    .dev_r_ready_i (dev_r_ready),
    .dev_r_data_o (dev_r_data),
    .bar_aw_valid_o (bar_aw_valid),
    .bar_aw_ready_i (bar_aw_ready),
    .bar_aw_addr_o (bar_aw_addr),
    .bar_w_valid_o (bar_w_valid),
    .bar_w_ready_i (bar_w_ready),
    .bar_w_data_o (bar_w_data),
    .bar_w_strb_o (bar_w_strb),
    .bar_b_valid_i (bar_b_valid),
    .bar_b_ready_o (bar_b_ready),
    .bar_b_resp_i (bar_b_resp),
    .bar_ar_valid_o (bar_ar_valid),
    .bar_ar_ready_i (bar_ar_ready),
    .bar_ar_addr_o (bar_ar_addr),
    .bar_r_valid_i (bar_r_valid),
    .bar_r_ready_o (bar_r_ready),
    .bar_r_data_i (bar_r_data),
    .bar_r_resp_i (bar_r_resp)
  );

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
    .aw_valid_o                 (dev_aw_valid),
    .aw_ready_i                 (dev_aw_ready),
    .aw_id_o                    (dev_aw_id),
    .aw_addr_o                  (dev_aw_addr),
    .aw_len_o                   (dev_aw_len),
    .aw_size_o                  (dev_aw_size),
    .aw_burst_o                 (dev_aw_burst),
    .w_valid_o                  (dev_w_valid),
    .w_ready_i                  (dev_w_ready),
    .w_data_o                   (dev_w_data),
    .w_strb_o                   (dev_w_strb),
    .w_last_o                   (dev_w_last),
    .b_valid_i                  (dev_b_valid),
    .b_ready_o                  (dev_b_ready),
    .ar_valid_o                 (dev_ar_valid),
    .ar_ready_i                 (dev_ar_ready),
    .ar_id_o                    (dev_ar_id),
    .ar_addr_o                  (dev_ar_addr),
    .ar_len_o                   (dev_ar_len),
    .ar_size_o                  (dev_ar_size),
    .ar_burst_o                 (dev_ar_burst),
    .r_valid_i                  (dev_r_valid),
    .r_ready_o                  (dev_r_ready),
    .r_data_i                   (dev_r_data),
    .bar_aw_valid_i             (bar_aw_valid),
    .bar_aw_ready_o             (bar_aw_ready),
    .bar_aw_addr_i              (bar_aw_addr),
    .bar_w_valid_i              (bar_w_valid),
    .bar_w_ready_o              (bar_w_ready),
    .bar_w_data_i               (bar_w_data),
    .bar_w_strb_i               (bar_w_strb),
    .bar_b_valid_o              (bar_b_valid),
    .bar_b_ready_i              (bar_b_ready),
    .bar_b_resp_o               (bar_b_resp),
    .bar_ar_valid_i             (bar_ar_valid),
    .bar_ar_ready_o             (bar_ar_ready),
    .bar_ar_addr_i              (bar_ar_addr),
    .bar_r_valid_o              (bar_r_valid),
    .bar_r_ready_i              (bar_r_ready),
    .bar_r_data_o               (bar_r_data),
    .bar_r_resp_o               (bar_r_resp)
  );

endmodule
