// Address channel of several masters to one memory port.
//
// Purpose: chooses whose burst is next, for one of the two address channels of nvs_memory.
//
// Interface: valid/ready; data of master m in bits Width * m and up. `id_o` is the master of the address at the output. Masters are
// served in turn. `grant_o` has one bit set in the cycle in which a master's address goes to the output queue; the addresses leave in
// this order. `grant_ready_i` low holds grants back. No output but `grant_o` depends on an input of the same cycle.
//
// Invariants, proven in formal/nvs_address_mux.svh:
//   - each master's addresses leave in order, with its identifier, none lost or doubled;
//   - an address waits for at most one address of every other master;
//   - an address per cycle at full rate.

module nvs_address_mux #(
  parameter int unsigned Width   = 33,
  parameter int unsigned Masters = 2  // 2 to 8
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,

  input  logic [Masters-1:0]       valid_i,
  output logic [Masters-1:0]       ready_o,
  input  logic [Width*Masters-1:0] data_i,

  input  logic                     grant_ready_i,
  output logic [Masters-1:0]       grant_o,

  output logic                     valid_o,
  input  logic                     ready_i,
  output logic [2:0]               id_o,
  output logic [Width-1:0]         data_o
);

  // Two addresses per master wait here.
  logic [Masters-1:0]       waiting;
  logic [Width*Masters-1:0] data;

  // The last master that was served, and those after it: their mask. Lowest master of the mask first, else lowest of all.
  logic [Masters-1:0] after_q, pending, choice;
  logic               queue_ready;
  assign pending = |(waiting & after_q) ? waiting & after_q : waiting;
  assign choice  = pending & (~pending + 1'b1);
  assign grant_o = queue_ready && grant_ready_i ? choice : '0;

  logic [Width-1:0] chosen;
  logic [2:0]       id;
  always_comb begin
    chosen = '0;
    id     = '0;
    for (int unsigned m = 0; m < Masters; m++) begin
      if (choice[m]) begin
        chosen = chosen | data[Width*m +: Width];
        id     = id | 3'(m);
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) after_q <= '0;
    else if (|grant_o) after_q <= ~(grant_o | (grant_o - 1'b1));
  end

  for (genvar m = 0; m < Masters; m++) begin : gen_waiting
    logic [1:0] waiting_count;
    nvs_fifo #(
      .Width(Width),
      .Depth(2)
    ) u_waiting (
      .clk_i,
      .rst_ni,
      .valid_i(valid_i[m]),
      .ready_o(ready_o[m]),
      .data_i (data_i[Width*m +: Width]),
      .valid_o(waiting[m]),
      .ready_i(grant_o[m]),
      .data_o (data[Width*m +: Width]),
      .count_o(waiting_count)
    );
    logic unused_count;
    assign unused_count = ^waiting_count;
  end

  logic [2:0] queue_count;
  nvs_fifo #(
    .Width(3 + Width),
    .Depth(4)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .valid_i(|grant_o),
    .ready_o(queue_ready),
    .data_i ({id, chosen}),
    .valid_o,
    .ready_i,
    .data_o ({id_o, data_o}),
    .count_o(queue_count)
  );

  logic unused;
  assign unused = &{1'b0, queue_count};

`ifdef FORMAL
  `include "formal/nvs_address_mux.svh"
`endif

endmodule
