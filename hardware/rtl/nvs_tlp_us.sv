// The core's drive ports on the AXI4-Stream ports of the UltraScale+ integrated block for PCI Express (Xilinx PG213), as root port.
//
// Purpose: the part of the shim that knows the block: its descriptors and sideband signals. nvs_tlp_inbound and nvs_tlp_completer answer what the drive
// asks for, nvs_tlp_requester asks the drive. One instance per drive. For a block of another vendor only this module is another one.
//
// The block: root port; PCIe interfaces of DataWidth bits, dword aligned, without straddling and without parity; client tags on (the shim gives
// tags 0 to 31); user clock and clk_i are the same clock. It gives no messages on cq_* if it has a message port; those that come are dropped.
//
// Interface: signals of the block by their names there, without s_axis_, m_axis_ or pcie_. `rq_ready_i`, `cc_ready_i`: bit 0 of the block's four.
//   block_reset_i     user_reset: what is under way is dropped, accesses of the core end with an error
//   poisoned_i        pulse: the block has dropped a poisoned write (cfg_local_error_valid with cfg_local_error 10110b, or cfg_err_nonfatal_out)
//   cfg_max_payload_i, cfg_current_speed_i, cfg_negotiated_width_i   as the block gives them
//   hot_reset_o       to cfg_hot_reset_in
//   aw_* to r_*       dev_* of nvs_core; bar_*: bar_* of nvs_core; link_*: link_speed_i and link_width_i of nvs_core
//
// cq_np_req_o is bit 0 of pcie_cq_np_req, whose bit 1 is 0: the block keeps reads back for which there is no room, and writes pass them.

module nvs_tlp_us #(
  parameter  int unsigned DataWidth    = 128,    // 128, 256 or 512, as that of nvs_core
  parameter  int unsigned IdWidth      = 4,
  parameter  logic [63:0] BusBase      = 64'h0,
  parameter  int unsigned Reads        = 32,     // of the drive, under way; a power of two
  parameter  int unsigned TimeoutTicks = 60000,  // us; above the block's Completion Timeout (50 ms), to 65535
  localparam int unsigned BeatBytes    = DataWidth / 8,
  localparam int unsigned Lanes        = DataWidth / 32,
  localparam int unsigned RqUser       = DataWidth == 512 ? 137 : 62,
  localparam int unsigned RcUser       = DataWidth == 512 ? 161 : 75,
  localparam int unsigned CqUser       = DataWidth == 512 ? 183 : 88,
  localparam int unsigned CcUser       = DataWidth == 512 ? 81 : 33
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 tick_i,
  input  logic                 block_reset_i,
  input  logic                 poisoned_i,

  output logic                 rq_valid_o,
  input  logic                 rq_ready_i,
  output logic [DataWidth-1:0] rq_data_o,
  output logic [Lanes-1:0]     rq_keep_o,
  output logic                 rq_last_o,
  output logic [RqUser-1:0]    rq_user_o,

  input  logic                 rc_valid_i,
  output logic                 rc_ready_o,
  input  logic [DataWidth-1:0] rc_data_i,
  input  logic                 rc_last_i,
  input  logic [RcUser-1:0]    rc_user_i,

  input  logic                 cq_valid_i,
  output logic                 cq_ready_o,
  input  logic [DataWidth-1:0] cq_data_i,
  input  logic                 cq_last_i,
  input  logic [CqUser-1:0]    cq_user_i,
  output logic                 cq_np_req_o,

  output logic                 cc_valid_o,
  input  logic                 cc_ready_i,
  output logic [DataWidth-1:0] cc_data_o,
  output logic [Lanes-1:0]     cc_keep_o,
  output logic                 cc_last_o,
  output logic [CcUser-1:0]    cc_user_o,

  output logic                 cfg_mgmt_read_o,
  output logic                 cfg_mgmt_write_o,
  output logic [9:0]           cfg_mgmt_addr_o,
  output logic [3:0]           cfg_mgmt_byte_enable_o,
  output logic [31:0]          cfg_mgmt_write_data_o,
  input  logic                 cfg_mgmt_read_write_done_i,
  input  logic [31:0]          cfg_mgmt_read_data_i,
  input  logic [1:0]           cfg_max_payload_i,
  input  logic [1:0]           cfg_current_speed_i,
  input  logic [2:0]           cfg_negotiated_width_i,
  output logic                 hot_reset_o,

  output logic [3:0]           link_speed_o,
  output logic [7:0]           link_width_o,

  output logic                 aw_valid_o,
  input  logic                 aw_ready_i,
  output logic [IdWidth-1:0]   aw_id_o,
  output logic [39:0]          aw_addr_o,
  output logic [7:0]           aw_len_o,
  output logic [2:0]           aw_size_o,
  output logic [1:0]           aw_burst_o,
  output logic                 w_valid_o,
  input  logic                 w_ready_i,
  output logic [DataWidth-1:0] w_data_o,
  output logic [BeatBytes-1:0] w_strb_o,
  output logic                 w_last_o,
  input  logic                 b_valid_i,
  output logic                 b_ready_o,
  output logic                 ar_valid_o,
  input  logic                 ar_ready_i,
  output logic [IdWidth-1:0]   ar_id_o,
  output logic [39:0]          ar_addr_o,
  output logic [7:0]           ar_len_o,
  output logic [2:0]           ar_size_o,
  output logic [1:0]           ar_burst_o,
  input  logic                 r_valid_i,
  output logic                 r_ready_o,
  input  logic [DataWidth-1:0] r_data_i,

  input  logic                 bar_aw_valid_i,
  output logic                 bar_aw_ready_o,
  input  logic [31:0]          bar_aw_addr_i,
  input  logic                 bar_w_valid_i,
  output logic                 bar_w_ready_o,
  input  logic [31:0]          bar_w_data_i,
  input  logic [3:0]           bar_w_strb_i,
  output logic                 bar_b_valid_o,
  input  logic                 bar_b_ready_i,
  output logic [1:0]           bar_b_resp_o,
  input  logic                 bar_ar_valid_i,
  output logic                 bar_ar_ready_o,
  input  logic [31:0]          bar_ar_addr_i,
  output logic                 bar_r_valid_o,
  input  logic                 bar_r_ready_i,
  output logic [31:0]          bar_r_data_o,
  output logic [1:0]           bar_r_resp_o
);

  // Addresses of the core are those of dwords; a completion has fields that decide nothing here, and of its beat only the first dwords count.
  logic unused;
  assign unused = &{1'b0, bar_aw_addr_i[1:0], bar_ar_addr_i[1:0], rc_data_i, rc_user_i, cq_user_i};

  if (DataWidth != 128 && DataWidth != 256 && DataWidth != 512) $error("nvs_tlp_us: DataWidth is 128, 256 or 512");
  if (Reads < 2 || (Reads & (Reads - 1)) != 0) $error("nvs_tlp_us: Reads is a power of two, at least 2");
  if (TimeoutTicks == 0 || TimeoutTicks > 65535) $error("nvs_tlp_us: TimeoutTicks is 1 to 65535");

  localparam int unsigned LaneWidth  = DataWidth == 512 ? 4 : DataWidth == 256 ? 3 : 2;
  localparam logic [2:0]  BeatSize   = DataWidth == 512 ? 3'd6 : DataWidth == 256 ? 3'd5 : 3'd4;  // AxSIZE
  localparam int unsigned LabelWidth = 30;  // attributes, class, requester, tag
  localparam bit          Wide       = DataWidth == 512;

  // The parts need some cycles to drop what they have.
  logic       abort_q;
  logic [2:0] abort_count_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      abort_q       <= 1'b0;
      abort_count_q <= '0;
    end else begin
      abort_q <= block_reset_i || abort_count_q != '0;
      if (block_reset_i)            abort_count_q <= '1;
      else if (abort_count_q != '0) abort_count_q <= abort_count_q - 1'b1;
    end
  end
  logic abort;
  assign abort = abort_q || block_reset_i;

  assign aw_size_o    = BeatSize;
  assign aw_burst_o   = 2'b01;
  assign ar_size_o    = BeatSize;
  assign ar_burst_o   = 2'b01;
  assign link_speed_o = 4'(cfg_current_speed_i) + 1'b1;
  assign link_width_o = 8'd1 << cfg_negotiated_width_i;

  // ---- Requests of the drive (table "Completer Request Descriptor")

  localparam logic [3:0] TypeRead    = 4'b0000;
  localparam logic [3:0] TypeWrite   = 4'b0001;
  localparam logic [3:0] TypeMessage = 4'b1100;  // and above: posted

  logic [3:0]            cq_type;
  logic [1:0]            cq_kind;
  logic [LabelWidth-1:0] cq_label;
  logic                  cq_bad;
  assign cq_type  = cq_data_i[78:75];
  assign cq_kind  = cq_type == TypeRead ? 2'd0 : cq_type == TypeWrite ? 2'd1 : cq_type < TypeMessage ? 2'd2 : 2'd3;
  assign cq_label = {cq_data_i[126:124], cq_data_i[123:121], cq_data_i[95:80], cq_data_i[103:96]};
  assign cq_bad   = cq_user_i[Wide ? 96 : 41];

  logic                  read_valid, read_ready, read_unsupported;
  logic [11:0]           read_addr;
  logic [12:0]           read_bytes;
  logic [10:0]           read_dwords;
  logic [LabelWidth-1:0] read_label;
  logic [7:0]            begun, ended;
  nvs_tlp_inbound #(
    .DataWidth  (DataWidth),
    .HeaderLanes(4),
    .LabelWidth (LabelWidth),
    .IdWidth    (IdWidth),
    .BusBase    (BusBase)
  ) u_inbound (
    .clk_i,
    .rst_ni,
    .abort_i     (abort),
    .poisoned_i,
    .s_valid_i   (cq_valid_i),
    .s_ready_o   (cq_ready_o),
    .s_data_i    (cq_data_i),
    .s_strb_i    (cq_user_i[(Wide ? 16 : 8) +: BeatBytes]),
    .s_last_i    (cq_last_i),
    .s_bad_i     (cq_bad),
    .s_kind_i    (cq_kind),
    .s_addr_i    (cq_data_i[63:2]),
    .s_dwords_i  (cq_data_i[74:64]),
    .s_first_be_i(cq_user_i[3:0]),
    .s_last_be_i (cq_user_i[(Wide ? 9 : 5) +: 3]),
    .s_label_i   (cq_label),
    .aw_valid_o,
    .aw_ready_i,
    .aw_id_o,
    .aw_addr_o,
    .aw_len_o,
    .w_valid_o,
    .w_ready_i,
    .w_data_o,
    .w_strb_o,
    .w_last_o,
    .b_valid_i,
    .b_ready_o,
    .ar_valid_o,
    .ar_ready_i,
    .ar_id_o,
    .ar_addr_o,
    .ar_len_o,
    .read_valid_o      (read_valid),
    .read_ready_i      (read_ready),
    .read_unsupported_o(read_unsupported),
    .read_addr_o       (read_addr),
    .read_bytes_o      (read_bytes),
    .read_dwords_o     (read_dwords),
    .read_label_o      (read_label),
    .begun_o           (begun),
    .ended_o           (ended)
  );

  // ---- Completions for the drive (table "Completer Completion Descriptor")

  localparam logic [2:0] Success     = 3'b000;
  localparam logic [2:0] Unsupported = 3'b001;

  logic [DataWidth-1:0]  cc_beat;
  logic [LaneWidth-1:0]  cc_end;
  logic                  cc_first, cc_unsupported;
  logic [6:0]            cc_lower;
  logic [12:0]           cc_bytes;
  logic [10:0]           cc_dwords;
  logic [LabelWidth-1:0] cc_label;
  nvs_tlp_completer #(
    .DataWidth  (DataWidth),
    .HeaderLanes(3),
    .LabelWidth (LabelWidth),
    .Reads      (Reads)
  ) u_completer (
    .clk_i,
    .rst_ni,
    .abort_i           (abort),
    .max_payload_i     (cfg_max_payload_i),
    .read_valid_i      (read_valid),
    .read_ready_o      (read_ready),
    .read_credit_o     (cq_np_req_o),
    .read_unsupported_i(read_unsupported),
    .read_addr_i       (read_addr),
    .read_bytes_i      (read_bytes),
    .read_dwords_i     (read_dwords),
    .read_label_i      (read_label),
    .r_valid_i,
    .r_ready_o,
    .r_data_i,
    .m_valid_o         (cc_valid_o),
    .m_ready_i         (cc_ready_i),
    .m_data_o          (cc_beat),
    .m_keep_o          (cc_keep_o),
    .m_lanes_o         (cc_end),
    .m_first_o         (cc_first),
    .m_last_o          (cc_last_o),
    .m_unsupported_o   (cc_unsupported),
    .m_lower_o         (cc_lower),
    .m_bytes_o         (cc_bytes),
    .m_dwords_o        (cc_dwords),
    .m_label_o         (cc_label)
  );
  always_comb begin
    cc_data_o = cc_beat;
    if (cc_first) begin
      cc_data_o[31:0]  = {3'b000, cc_bytes, 9'b0, cc_lower};
      cc_data_o[63:32] = {cc_label[23:8], 2'b00, cc_unsupported ? Unsupported : Success, cc_dwords};
      // The completer is bus 0, device 0, function 0, and says so itself, as a root port must.
      cc_data_o[95:64] = {1'b0, cc_label[29:24], 1'b1, 16'h0000, cc_label[7:0]};
    end
    cc_user_o = '0;
    if (Wide) begin
      cc_user_o[0]      = cc_first;
      cc_user_o[6]      = cc_last_o;
      cc_user_o[11:8]   = cc_last_o ? 4'(cc_end) : '0;
    end
  end

  // ---- Requests of the core (table "Requester Request Descriptor")

  localparam logic [3:0] TypeConfigRead  = 4'b1000;
  localparam logic [3:0] TypeConfigWrite = 4'b1010;

  logic        req_valid, req_ready, req_write, req_config;
  logic [31:2] req_addr;
  logic [3:0]  req_be;
  logic [31:0] req_data;
  logic [4:0]  req_tag;
  logic        cpl_valid_q, cpl_error_q, cpl_data_valid_q;
  logic [7:0]  cpl_tag_q;
  logic [31:0] cpl_data_q;
  nvs_tlp_requester #(
    .TimeoutTicks(TimeoutTicks)
  ) u_requester (
    .clk_i,
    .rst_ni,
    .tick_i,
    .abort_i         (abort),
    .bar_aw_valid_i,
    .bar_aw_ready_o,
    .bar_aw_addr_i   (bar_aw_addr_i[31:2]),
    .bar_w_valid_i,
    .bar_w_ready_o,
    .bar_w_data_i,
    .bar_w_strb_i,
    .bar_b_valid_o,
    .bar_b_ready_i,
    .bar_b_resp_o,
    .bar_ar_valid_i,
    .bar_ar_ready_o,
    .bar_ar_addr_i   (bar_ar_addr_i[31:2]),
    .bar_r_valid_o,
    .bar_r_ready_i,
    .bar_r_data_o,
    .bar_r_resp_o,
    .req_valid_o     (req_valid),
    .req_ready_i     (req_ready),
    .req_write_o     (req_write),
    .req_config_o    (req_config),
    .req_addr_o      (req_addr),
    .req_be_o        (req_be),
    .req_data_o      (req_data),
    .req_tag_o       (req_tag),
    .cpl_valid_i     (cpl_valid_q),
    .cpl_tag_i       (cpl_tag_q),
    .cpl_error_i     (cpl_error_q),
    .cpl_data_valid_i(cpl_data_valid_q),
    .cpl_data_i      (cpl_data_q),
    .mgmt_read_o     (cfg_mgmt_read_o),
    .mgmt_write_o    (cfg_mgmt_write_o),
    .mgmt_addr_o     (cfg_mgmt_addr_o),
    .mgmt_be_o       (cfg_mgmt_byte_enable_o),
    .mgmt_data_o     (cfg_mgmt_write_data_o),
    .mgmt_done_i     (cfg_mgmt_read_write_done_i),
    .mgmt_data_i     (cfg_mgmt_read_data_i),
    .hot_reset_o,
    .begun_i         (begun),
    .ended_i         (ended)
  );

  logic         rq_second;  // the beat with the data, where it is not that of the descriptor
  logic [127:0] descriptor;
  assign descriptor[63:0]    = req_config ? {52'b0, req_addr[11:2], 2'b00} : {32'b0, req_addr, 2'b00};
  assign descriptor[74:64]   = 11'd1;
  assign descriptor[78:75]   = req_config ? (req_write ? TypeConfigWrite : TypeConfigRead) : (req_write ? TypeWrite : TypeRead);
  assign descriptor[79]      = 1'b0;
  assign descriptor[95:80]   = 16'h0000;  // requester: bus 0, device 0, function 0
  assign descriptor[103:96]  = {3'b000, req_tag};
  assign descriptor[119:104] = req_config ? {8'h01, 5'h00, req_addr[14:12]} : 16'h0000;
  assign descriptor[127:120] = 8'h01;     // the requester is as given, as a root port must
  assign rq_valid_o          = req_valid && !abort;
  assign req_ready           = rq_ready_i && rq_last_o && !abort;
  always_comb begin
    rq_user_o      = '0;
    rq_user_o[3:0] = req_be;
    if (Wide) begin
      rq_user_o[20]    = 1'b1;
      rq_user_o[26]    = 1'b1;
      rq_user_o[31:28] = req_write ? 4'd4 : 4'd3;
    end
  end
  if (Lanes == 4) begin : gen_beats
    logic second_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni)                       second_q <= 1'b0;
      else if (abort)                    second_q <= 1'b0;
      else if (rq_valid_o && rq_ready_i) second_q <= !rq_last_o;
    end
    assign rq_second = second_q;
    assign rq_data_o = second_q ? DataWidth'(req_data) : DataWidth'(descriptor);
    assign rq_keep_o = second_q ? Lanes'(1'b1) : '1;
  end else begin : gen_beat
    assign rq_second = req_write;
    assign rq_data_o = DataWidth'({req_data, descriptor});
    assign rq_keep_o = req_write ? Lanes'(8'h1f) : Lanes'(8'h0f);
  end
  assign rq_last_o = rq_second || !req_write;

  // ---- Completions for the core (table "Requester Completion Descriptor"). A completion of one dword is one beat.

  logic rc_first_q;
  assign rc_ready_o = 1'b1;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rc_first_q  <= 1'b1;
      cpl_valid_q <= 1'b0;
    end else begin
      cpl_valid_q <= rc_valid_i && rc_first_q && !abort;
      if (abort)           rc_first_q <= 1'b1;
      else if (rc_valid_i) rc_first_q <= rc_last_i;
    end
  end
  always_ff @(posedge clk_i) begin
    cpl_tag_q        <= rc_data_i[71:64];
    cpl_error_q      <= rc_data_i[15:12] != '0 || rc_data_i[45:43] != Success || rc_data_i[46] || rc_user_i[Wide ? 96 : 42] || !rc_last_i;
    cpl_data_valid_q <= rc_data_i[42:32] == 11'd1;
    cpl_data_q       <= rc_data_i[127:96];
  end

`ifdef FORMAL
  `include "formal/nvs_tlp_us.svh"
`endif

endmodule
