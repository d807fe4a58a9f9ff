// LFSR test pattern: source of the generator and reference of the checker.
//
// Purpose: one bus word of the pattern of crates/integrity/src/pattern per cycle, that is DataWidth / 128 beats. Beat n is beat 0 times
// x^(128 n) in GF(2^128) modulo p(x) = x^128 + x^7 + x^2 + x + 1; bit i of a beat is the coefficient of x^i.
//
// Interface: `load_i` takes beat 0. `valid_o` rises when all beats of the first word are computed, DataWidth / 128 cycles later.
// A cycle with `step_i` and `valid_o` goes to the next word.
//
// Invariants, proven in formal/nvs_pattern.svh: beat k + 1 of a word is beat k times x^128; the first beat of the next word is the last
// beat of this one times x^128.

module nvs_pattern #(
  parameter int unsigned DataWidth = 128  // 128, 256 or 512
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 load_i,
  input  logic [127:0]         beat0_i,

  input  logic                 step_i,
  output logic                 valid_o,
  output logic [DataWidth-1:0] word_o
);

  localparam int unsigned Beats = DataWidth / 128;

  // Times x^(128 s), s = 1, 2 or 4. x^128 = x^7 + x^2 + x + 1 modulo p; in characteristic 2 its square and fourth power have the same
  // four terms with doubled and quadrupled exponents. At most 28 bits are shifted out; they are multiplied by x^128 once more.
  function automatic logic [127:0] times_x128(input logic [127:0] r, input integer s);
    logic [155:0] wide, product;
    logic [127:0] over;
    wide       = {28'b0, r};
    product    = wide ^ (wide << s) ^ (wide << (2 * s)) ^ (wide << (7 * s));
    over       = {100'b0, product[155:128]};
    times_x128 = product[127:0] ^ over ^ (over << 1) ^ (over << 2) ^ (over << 7);
  endfunction

  logic [127:0] beats_q [Beats];
  logic [Beats-1:0] filled_q;  // one bit per beat computed, from the top

  assign valid_o = filled_q[0];
  for (genvar k = 0; k < Beats; k++) begin : gen_word
    assign word_o[128*k +: 128] = beats_q[k];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      filled_q <= '0;
    end else if (load_i) begin
      filled_q <= '0;
      filled_q[Beats-1] <= 1'b1;
    end else begin
      filled_q <= filled_q | (filled_q >> 1);
    end
  end

  // While the word fills, beats move down and the top one advances by one beat. A full word advances by itself.
  always_ff @(posedge clk_i) begin
    if (load_i) begin
      beats_q[Beats-1] <= beat0_i;
    end else if (!valid_o) begin
      for (int unsigned k = 0; k + 1 < Beats; k++) beats_q[k] <= beats_q[k+1];
      beats_q[Beats-1] <= times_x128(beats_q[Beats-1], 1);
    end else if (step_i) begin
      for (int unsigned k = 0; k < Beats; k++) beats_q[k] <= times_x128(beats_q[k], Beats);
    end
  end

`ifdef FORMAL
  `include "formal/nvs_pattern.svh"
`endif

endmodule
