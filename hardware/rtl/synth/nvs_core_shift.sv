// Wrapper of nvs_core for place and route: all ports but clock and reset are on two shift registers, so the core needs five pins.
//
// Purpose: `hardware/rtl/check clock`. Not a part of the core. Every input comes from a flip-flop and every output goes to one, so all paths of the
// core are paths between flip-flops.
//
// Interface: in_i is shifted into the inputs; the outputs are taken when load_i is set, and else shifted to out_o.

module nvs_core_shift #(
  parameter  int unsigned DataWidth  = 128,
  parameter  int unsigned ChunkPages = 32,
  parameter  int unsigned Slots      = 32,
  parameter  int unsigned Drives     = 1,
  parameter  int unsigned IdWidth    = 4,
  localparam int unsigned BeatBytes  = DataWidth / 8,
  localparam int unsigned RingWidth  = 1 + 2 + $clog2(Slots) + $clog2(ChunkPages) + 12
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic in_i,
  input  logic load_i,
  output logic out_o
);

  logic tick_i, trigger_i, s_reg_aw_valid_i, s_reg_w_valid_i, s_reg_b_ready_i, s_reg_ar_valid_i, s_reg_r_ready_i, s_valid_i, s_last_i, m_ready_i,
    mem_aw_ready_i, mem_w_ready_i, mem_b_valid_i, mem_ar_ready_i, mem_r_valid_i, mem_r_last_i;
  logic [11:0] s_reg_aw_addr_i, s_reg_ar_addr_i;
  logic [31:0] s_reg_w_data_i;
  logic [3:0] s_reg_w_strb_i;
  logic [DataWidth-1:0] s_data_i, mem_r_data_i;
  logic [BeatBytes-1:0] s_keep_i;
  logic [2:0] mem_b_id_i, mem_r_id_i;
  logic [1:0] mem_b_resp_i, mem_r_resp_i;
  logic [Drives-1:0] dev_aw_valid_i, dev_w_valid_i, dev_w_last_i, dev_b_ready_i, dev_ar_valid_i, dev_r_ready_i, bar_aw_ready_i,
    bar_w_ready_i, bar_b_valid_i, bar_ar_ready_i, bar_r_valid_i, link_up_i;
  logic [IdWidth*Drives-1:0] dev_aw_id_i, dev_ar_id_i;
  logic [40*Drives-1:0] dev_aw_addr_i, dev_ar_addr_i;
  logic [8*Drives-1:0] dev_aw_len_i, dev_ar_len_i, link_width_i;
  logic [DataWidth*Drives-1:0] dev_w_data_i;
  logic [BeatBytes*Drives-1:0] dev_w_strb_i;
  logic [2*Drives-1:0] bar_b_resp_i, bar_r_resp_i, dev_aw_burst_i, dev_ar_burst_i;
  logic [3*Drives-1:0] dev_aw_size_i, dev_ar_size_i;
  logic [32*Drives-1:0] bar_r_data_i;
  logic [4*Drives-1:0] link_speed_i;
  logic s_reg_aw_ready_o, s_reg_w_ready_o, s_reg_b_valid_o, s_reg_ar_ready_o, s_reg_r_valid_o, s_ready_o, m_valid_o, m_last_o,
    mem_aw_valid_o, mem_w_valid_o, mem_w_last_o, mem_b_ready_o, mem_ar_valid_o, mem_r_ready_o, quiet_o;
  logic [1:0] s_reg_b_resp_o, s_reg_r_resp_o, irq_o, m_user_o;
  logic [31:0] s_reg_r_data_o;
  logic [DataWidth-1:0] m_data_o, mem_w_data_o;
  logic [BeatBytes-1:0] m_keep_o, mem_w_strb_o;
  logic [2:0] mem_aw_id_o, mem_ar_id_o;
  logic [RingWidth-1:0] mem_aw_addr_o, mem_ar_addr_o;
  logic [7:0] mem_aw_len_o, mem_ar_len_o;
  logic [Drives-1:0] dev_aw_ready_o, dev_w_ready_o, dev_b_valid_o, dev_ar_ready_o, dev_r_valid_o, dev_r_last_o, bar_aw_valid_o,
    bar_w_valid_o, bar_b_ready_o, bar_ar_valid_o, bar_r_ready_o, perst_o, irq_lost_o;
  logic [IdWidth*Drives-1:0] dev_b_id_o, dev_r_id_o;
  logic [2*Drives-1:0] dev_b_resp_o, dev_r_resp_o;
  logic [DataWidth*Drives-1:0] dev_r_data_o;
  logic [32*Drives-1:0] bar_aw_addr_o, bar_w_data_o, bar_ar_addr_o;
  logic [4*Drives-1:0] bar_w_strb_o;

  localparam int unsigned InBits  =
    16 + 2 * 12 + 32 + 4 + 2 * DataWidth + BeatBytes + 2 * 3 + 2 * 2 + 12 * Drives + 2 * IdWidth * Drives + 2 * 40 * Drives
      + 3 * 8 * Drives + DataWidth * Drives + BeatBytes * Drives + 4 * 2 * Drives + 2 * 3 * Drives + 32 * Drives + 4 * Drives;
  localparam int unsigned OutBits =
    15 + 4 * 2 + 32 + 2 * DataWidth + 2 * BeatBytes + 2 * 3 + 2 * RingWidth + 2 * 8 + 13 * Drives + 2 * IdWidth * Drives
      + 2 * 2 * Drives + DataWidth * Drives + 3 * 32 * Drives + 4 * Drives;
  logic [InBits-1:0] in_q;
  assign {
    tick_i, trigger_i, s_reg_aw_valid_i, s_reg_aw_addr_i, s_reg_w_valid_i, s_reg_w_data_i, s_reg_w_strb_i, s_reg_b_ready_i, s_reg_ar_valid_i,
    s_reg_ar_addr_i, s_reg_r_ready_i, s_valid_i, s_data_i, s_keep_i, s_last_i, m_ready_i, mem_aw_ready_i, mem_w_ready_i, mem_b_valid_i,
    mem_b_id_i, mem_b_resp_i, mem_ar_ready_i, mem_r_valid_i, mem_r_id_i, mem_r_data_i, mem_r_resp_i, mem_r_last_i, dev_aw_valid_i,
    dev_aw_id_i, dev_aw_addr_i, dev_aw_len_i, dev_w_valid_i, dev_w_data_i, dev_w_strb_i, dev_w_last_i, dev_b_ready_i, dev_ar_valid_i,
    dev_ar_id_i, dev_ar_addr_i, dev_ar_len_i, dev_r_ready_i, bar_aw_ready_i, bar_w_ready_i, bar_b_valid_i, bar_b_resp_i, bar_ar_ready_i,
    bar_r_valid_i, bar_r_data_i, bar_r_resp_i, link_up_i, link_speed_i, link_width_i,
    dev_aw_size_i, dev_ar_size_i, dev_aw_burst_i, dev_ar_burst_i
  } = in_q;

  logic [OutBits-1:0] out_q;
  assign out_o = out_q[0];

  always_ff @(posedge clk_i) begin
    in_q  <= {in_q[InBits-2:0], in_i};
    out_q <= load_i ? {
      s_reg_aw_ready_o, s_reg_w_ready_o, s_reg_b_valid_o, s_reg_b_resp_o, s_reg_ar_ready_o, s_reg_r_valid_o, s_reg_r_data_o,
      s_reg_r_resp_o, s_ready_o, m_valid_o, m_data_o, m_keep_o, m_last_o, mem_aw_valid_o, mem_aw_id_o, mem_aw_addr_o, mem_aw_len_o,
      mem_w_valid_o, mem_w_data_o, mem_w_strb_o, mem_w_last_o, mem_b_ready_o, mem_ar_valid_o, mem_ar_id_o, mem_ar_addr_o, mem_ar_len_o,
      mem_r_ready_o, dev_aw_ready_o, dev_w_ready_o, dev_b_valid_o, dev_b_id_o, dev_b_resp_o, dev_ar_ready_o, dev_r_valid_o, dev_r_id_o,
      dev_r_data_o, dev_r_resp_o, dev_r_last_o, bar_aw_valid_o, bar_aw_addr_o, bar_w_valid_o, bar_w_data_o, bar_w_strb_o, bar_b_ready_o,
      bar_ar_valid_o, bar_ar_addr_o, bar_r_ready_o, irq_o, quiet_o, m_user_o, perst_o, irq_lost_o
    } : {1'b0, out_q[OutBits-1:1]};
  end

  nvs_core #(
    .DataWidth (DataWidth),
    .ChunkPages(ChunkPages),
    .Slots     (Slots),
    .Drives    (Drives),
    .IdWidth   (IdWidth)
  ) u_core (.*);

endmodule
