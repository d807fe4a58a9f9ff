// Several masters on one memory port.
//
// Purpose: joins the stream side (nvs_ingress, nvs_egress) and the drives (nvs_completer) to the memory of the ring.
//
// Interface (vectors are flat: master m has bits W * m and up):
//   aw_*, w_*, b_*   write channels of each master; `b_valid_o` is a pulse, `b_error_o` counts with it
//   ar_*, r_*        read channels of each master; `r_data_o`, `r_last_o`, `r_error_o` are shared
//   mem_*            AXI4, INCR bursts; identifier = number of the master
// Bursts of each kind are served in turn, one of every master that has one. No output depends on an input of the same cycle. A master
// that has given a write address must give the data without waiting for another master: until then no other master's data move.
// A master that does not take read data holds up the others, too.
//
// Invariants, proven in formal/nvs_memory.svh:
//   - write bursts are not mixed and follow each other as their addresses; no data are offered before their address;
//   - each master's addresses and data leave in order, none lost or doubled; an address waits for one of every other master at most;
//   - responses and read data go to the master whose identifier they have, in order, none lost or doubled;
//   - full rate: one beat per cycle in each direction, across bursts of different masters; writes if their bursts have two beats or more.

module nvs_memory #(
  parameter  int unsigned DataWidth = 128,
  parameter  int unsigned RingWidth = 25,
  parameter  int unsigned Masters   = 2,   // 2 to 8
  parameter  int unsigned Ahead     = 4,   // write addresses given before the data of the first end; a power of two
  localparam int unsigned BeatBytes = DataWidth / 8
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,

  input  logic [Masters-1:0]           aw_valid_i,
  output logic [Masters-1:0]           aw_ready_o,
  input  logic [RingWidth*Masters-1:0] aw_addr_i,
  input  logic [8*Masters-1:0]         aw_len_i,
  input  logic [Masters-1:0]           w_valid_i,
  output logic [Masters-1:0]           w_ready_o,
  input  logic [DataWidth*Masters-1:0] w_data_i,
  input  logic [BeatBytes*Masters-1:0] w_strb_i,
  input  logic [Masters-1:0]           w_last_i,
  output logic [Masters-1:0]           b_valid_o,
  output logic                         b_error_o,

  input  logic [Masters-1:0]           ar_valid_i,
  output logic [Masters-1:0]           ar_ready_o,
  input  logic [RingWidth*Masters-1:0] ar_addr_i,
  input  logic [8*Masters-1:0]         ar_len_i,
  output logic [Masters-1:0]           r_valid_o,
  input  logic [Masters-1:0]           r_ready_i,
  output logic [DataWidth-1:0]         r_data_o,
  output logic                         r_last_o,
  output logic                         r_error_o,

  output logic                         mem_aw_valid_o,
  input  logic                         mem_aw_ready_i,
  output logic [2:0]                   mem_aw_id_o,
  output logic [RingWidth-1:0]         mem_aw_addr_o,
  output logic [7:0]                   mem_aw_len_o,
  output logic                         mem_w_valid_o,
  input  logic                         mem_w_ready_i,
  output logic [DataWidth-1:0]         mem_w_data_o,
  output logic [BeatBytes-1:0]         mem_w_strb_o,
  output logic                         mem_w_last_o,
  input  logic                         mem_b_valid_i,
  output logic                         mem_b_ready_o,
  input  logic [2:0]                   mem_b_id_i,
  input  logic [1:0]                   mem_b_resp_i,
  output logic                         mem_ar_valid_o,
  input  logic                         mem_ar_ready_i,
  output logic [2:0]                   mem_ar_id_o,
  output logic [RingWidth-1:0]         mem_ar_addr_o,
  output logic [7:0]                   mem_ar_len_o,
  input  logic                         mem_r_valid_i,
  output logic                         mem_r_ready_o,
  input  logic [2:0]                   mem_r_id_i,
  input  logic [DataWidth-1:0]         mem_r_data_i,
  input  logic [1:0]                   mem_r_resp_i,
  input  logic                         mem_r_last_i
);

  localparam int unsigned AddressWidth = RingWidth + 8;
  localparam int unsigned WriteWidth   = DataWidth + BeatBytes + 1;

  // Addresses of both directions.
  logic [AddressWidth*Masters-1:0] aw, ar;
  for (genvar m = 0; m < Masters; m++) begin : gen_addresses
    assign aw[AddressWidth*m +: AddressWidth] = {aw_addr_i[RingWidth*m +: RingWidth], aw_len_i[8*m +: 8]};
    assign ar[AddressWidth*m +: AddressWidth] = {ar_addr_i[RingWidth*m +: RingWidth], ar_len_i[8*m +: 8]};
  end

  // A write address is granted when the one before it was taken, so that data are never offered before their address.
  logic [Masters-1:0] write_grant, read_grant;
  logic               order_ready;
  nvs_address_mux #(
    .Width  (AddressWidth),
    .Masters(Masters)
  ) u_aw (
    .clk_i,
    .rst_ni,
    .valid_i      (aw_valid_i),
    .ready_o      (aw_ready_o),
    .data_i       (aw),
    .grant_ready_i(order_ready && !mem_aw_valid_o),
    .grant_o      (write_grant),
    .valid_o      (mem_aw_valid_o),
    .ready_i      (mem_aw_ready_i),
    .id_o         (mem_aw_id_o),
    .data_o       ({mem_aw_addr_o, mem_aw_len_o})
  );
  nvs_address_mux #(
    .Width  (AddressWidth),
    .Masters(Masters)
  ) u_ar (
    .clk_i,
    .rst_ni,
    .valid_i      (ar_valid_i),
    .ready_o      (ar_ready_o),
    .data_i       (ar),
    .grant_ready_i(1'b1),
    .grant_o      (read_grant),
    .valid_o      (mem_ar_valid_o),
    .ready_i      (mem_ar_ready_i),
    .id_o         (mem_ar_id_o),
    .data_o       ({mem_ar_addr_o, mem_ar_len_o})
  );

  // Whose data are next: the order of the addresses.
  logic                   order_valid, order_next;
  logic [Masters-1:0]     order;
  logic [$clog2(Ahead):0] order_count;
  nvs_fifo #(
    .Width(Masters),
    .Depth(Ahead)
  ) u_order (
    .clk_i,
    .rst_ni,
    .valid_i(|write_grant),
    .ready_o(order_ready),
    .data_i (write_grant),
    .valid_o(order_valid),
    .ready_i(order_next),
    .data_o (order),
    .count_o(order_count)
  );

  // Data: two beats per master wait here; the master whose burst is open (one-hot) gives its beats to the output queue.
  logic [Masters-1:0]            open_q, beat_valid, beat_go;
  logic [WriteWidth*Masters-1:0] beat;
  logic                          queue_ready;
  logic [WriteWidth-1:0]         chosen;
  always_comb begin
    chosen = '0;
    for (int unsigned m = 0; m < Masters; m++) begin
      if (open_q[m]) chosen = chosen | beat[WriteWidth*m +: WriteWidth];
    end
  end
  assign beat_go    = queue_ready ? open_q & beat_valid : '0;
  assign order_next = open_q == '0 || (|beat_go && chosen[0]);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= '0;
    else if (order_next) open_q <= order_valid ? order : '0;
  end
  for (genvar m = 0; m < Masters; m++) begin : gen_beats
    logic [1:0] beat_count;
    nvs_fifo #(
      .Width(WriteWidth),
      .Depth(2)
    ) u_beats (
      .clk_i,
      .rst_ni,
      .valid_i(w_valid_i[m]),
      .ready_o(w_ready_o[m]),
      .data_i ({w_data_i[DataWidth*m +: DataWidth], w_strb_i[BeatBytes*m +: BeatBytes], w_last_i[m]}),
      .valid_o(beat_valid[m]),
      .ready_i(queue_ready && open_q[m]),
      .data_o (beat[WriteWidth*m +: WriteWidth]),
      .count_o(beat_count)
    );
    logic unused_count;
    assign unused_count = ^beat_count;
  end

  logic [2:0] write_count;
  nvs_fifo #(
    .Width(WriteWidth),
    .Depth(4)
  ) u_w (
    .clk_i,
    .rst_ni,
    .valid_i(|beat_go),
    .ready_o(queue_ready),
    .data_i (chosen),
    .valid_o(mem_w_valid_o),
    .ready_i(mem_w_ready_i),
    .data_o ({mem_w_data_o, mem_w_strb_o, mem_w_last_o}),
    .count_o(write_count)
  );

  // Responses are always taken.
  assign mem_b_ready_o = 1'b1;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) b_valid_o <= '0;
    else         b_valid_o <= mem_b_valid_i ? Masters'(8'd1 << mem_b_id_i) : '0;
  end
  always_ff @(posedge clk_i) b_error_o <= mem_b_resp_i[1];

  // Read data.
  logic               read_valid;
  logic [Masters-1:0] read_master;  // one-hot
  logic [2:0]         read_count;
  nvs_fifo #(
    .Width(Masters + DataWidth + 2),
    .Depth(4)
  ) u_r (
    .clk_i,
    .rst_ni,
    .valid_i(mem_r_valid_i),
    .ready_o(mem_r_ready_o),
    .data_i ({Masters'(8'd1 << mem_r_id_i), mem_r_data_i, mem_r_last_i, mem_r_resp_i[1]}),
    .valid_o(read_valid),
    .ready_i(|(r_valid_o & r_ready_i)),
    .data_o ({read_master, r_data_o, r_last_o, r_error_o}),
    .count_o(read_count)
  );
  assign r_valid_o = read_valid ? read_master : '0;

  logic unused;
  assign unused = &{1'b0, read_grant, order_count, write_count, read_count, mem_b_resp_i[0], mem_r_resp_i[0]};

`ifdef FORMAL
  `include "formal/nvs_memory.svh"
`endif

endmodule
