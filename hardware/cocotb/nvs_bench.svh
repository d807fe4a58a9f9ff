// Common part of nvs_bench and nvs_tlp_bench: the core, the pulse on its tick_i, and what must hold of its outputs (`HELD stays defined).

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

  // Of what the core offers: it stays, unchanged, until it is taken.
`define HELD(valid, ready, payload) \
  assert property (@(posedge clk) disable iff (!rst_n) valid && !ready |=> valid && $stable(payload));
  `HELD(s_reg_bvalid, s_reg_bready, s_reg_bresp)
  `HELD(s_reg_rvalid, s_reg_rready, s_reg_rdata)
  `HELD(m_axis_tvalid, m_axis_tready, ({m_axis_tdata, m_axis_tkeep, m_axis_tlast, m_axis_tuser}))
  `HELD(mem_awvalid, mem_awready, ({mem_awid, mem_awaddr, mem_awlen}))
  `HELD(mem_wvalid, mem_wready, ({mem_wdata, mem_wstrb, mem_wlast}))
  `HELD(mem_arvalid, mem_arready, ({mem_arid, mem_araddr, mem_arlen}))
  `HELD(dev_bvalid, dev_bready, dev_bid)
  `HELD(dev_rvalid, dev_rready, ({dev_rid, dev_rdata, dev_rlast}))
  `HELD(bar_awvalid, bar_awready, bar_awaddr)
  `HELD(bar_wvalid, bar_wready, bar_wdata)
  `HELD(bar_arvalid, bar_arready, bar_araddr)

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
    .dev_aw_valid_i   (dev_awvalid),
    .dev_aw_ready_o   (dev_awready),
    .dev_aw_id_i      (dev_awid),
    .dev_aw_addr_i    (dev_awaddr),
    .dev_aw_len_i     (dev_awlen),
    .dev_aw_size_i    (dev_awsize),
    .dev_aw_burst_i   (dev_awburst),
    .dev_w_valid_i    (dev_wvalid),
    .dev_w_ready_o    (dev_wready),
    .dev_w_data_i     (dev_wdata),
    .dev_w_strb_i     (dev_wstrb),
    .dev_w_last_i     (dev_wlast),
    .dev_b_valid_o    (dev_bvalid),
    .dev_b_ready_i    (dev_bready),
    .dev_b_id_o       (dev_bid),
    .dev_b_resp_o     (dev_bresp),
    .dev_ar_valid_i   (dev_arvalid),
    .dev_ar_ready_o   (dev_arready),
    .dev_ar_id_i      (dev_arid),
    .dev_ar_addr_i    (dev_araddr),
    .dev_ar_len_i     (dev_arlen),
    .dev_ar_size_i    (dev_arsize),
    .dev_ar_burst_i   (dev_arburst),
    .dev_r_valid_o    (dev_rvalid),
    .dev_r_ready_i    (dev_rready),
    .dev_r_id_o       (dev_rid),
    .dev_r_data_o     (dev_rdata),
    .dev_r_resp_o     (dev_rresp),
    .dev_r_last_o     (dev_rlast),
    .bar_aw_valid_o   (bar_awvalid),
    .bar_aw_ready_i   (bar_awready),
    .bar_aw_addr_o    (bar_awaddr),
    .bar_w_valid_o    (bar_wvalid),
    .bar_w_ready_i    (bar_wready),
    .bar_w_data_o     (bar_wdata),
    .bar_w_strb_o     (bar_wstrb),
    .bar_b_valid_i    (bar_bvalid),
    .bar_b_ready_o    (bar_bready),
    .bar_b_resp_i     (bar_bresp),
    .bar_ar_valid_o   (bar_arvalid),
    .bar_ar_ready_i   (bar_arready),
    .bar_ar_addr_o    (bar_araddr),
    .bar_r_valid_i    (bar_rvalid),
    .bar_r_ready_o    (bar_rready),
    .bar_r_data_i     (bar_rdata),
    .bar_r_resp_i     (bar_rresp)
  );
