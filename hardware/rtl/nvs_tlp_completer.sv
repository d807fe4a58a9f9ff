// Completions of what the drive reads.
//
// Purpose: makes the answers to memory reads: completions of at most Max_Payload_Size, in the order of the requests. Each but the last of a
// read ends at a multiple of Max_Payload_Size, so every Read Completion Boundary is kept (PCI Express, 2.3.1.1). A request that is not supported
// gets one completion without data.
//
// Interface:
//   abort_i        level: the block is in reset or its link is lost. What is under way is read from the core and dropped, and m_* with it. It lasts two
//                  cycles or more
//   max_payload_i  Max_Payload_Size of the root port: 128 << n bytes; changes only while the drive reads nothing
//   read_*         requests, as nvs_tlp_inbound gives them. `read_credit_o`: level; each cycle in which it is set allows one request more. After a
//                  reset and after abort_i nothing is allowed, and Reads requests become so
//   r_*            read data of the core (dev_r_* of nvs_core), whole bus words from the one with the first byte on, in the order of the requests
//   m_*            packets. The payload begins in lane HeaderLanes of the first beat; the lanes before it are undefined and are the header's.
//                  `m_keep_o`: lanes in use. With m_first_o count m_unsupported_o (status), `m_lower_o` (lower address), `m_bytes_o` (byte
//                  count), `m_dwords_o` (length) and m_label_o. `m_lanes_o`: last lane in use
//
// Invariants, proven in formal/nvs_tlp_completer.svh:
//   - the completions of a read have its label, contiguous lower addresses and falling byte counts, and end at its last dword;
//   - no completion crosses a multiple of the payload size; each dword of payload is that of its address;
//   - every word of r_* is taken once; a packet is stable until it is taken, but for abort_i.
//
// One beat per cycle, across completions.

module nvs_tlp_completer #(
  parameter  int unsigned DataWidth   = 128,
  parameter  int unsigned HeaderLanes = 3,   // dwords before the payload in the first beat, 0 to 4
  parameter  int unsigned LabelWidth  = 30,
  parameter  int unsigned Reads       = 32,  // under way, a power of two
  localparam int unsigned Lanes       = DataWidth / 32,
  localparam int unsigned LaneWidth   = $clog2(Lanes)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  abort_i,
  input  logic [1:0]            max_payload_i,

  input  logic                  read_valid_i,
  output logic                  read_ready_o,
  output logic                  read_credit_o,
  input  logic                  read_unsupported_i,
  input  logic [11:0]           read_addr_i,
  input  logic [12:0]           read_bytes_i,
  input  logic [10:0]           read_dwords_i,
  input  logic [LabelWidth-1:0] read_label_i,

  input  logic                  r_valid_i,
  output logic                  r_ready_o,
  input  logic [DataWidth-1:0]  r_data_i,

  output logic                  m_valid_o,
  input  logic                  m_ready_i,
  output logic [DataWidth-1:0]  m_data_o,
  output logic [Lanes-1:0]      m_keep_o,
  output logic [LaneWidth-1:0]  m_lanes_o,
  output logic                  m_first_o,
  output logic                  m_last_o,
  output logic                  m_unsupported_o,
  output logic [6:0]            m_lower_o,
  output logic [12:0]           m_bytes_o,
  output logic [10:0]           m_dwords_o,
  output logic [LabelWidth-1:0] m_label_o
);

  localparam int unsigned BeatsWidth = 9;                 // of a count of beats less one: 256 dwords and a header
  localparam int unsigned OpenWidth  = $clog2(Reads) + 3;

  // ---- Requests, in order.

  logic                  d_valid, d_pop, d_unsupported;
  logic [11:0]           d_addr;
  logic [12:0]           d_bytes;
  logic [10:0]           d_dwords;
  logic [LabelWidth-1:0] d_label;
  /* verilator lint_off PINCONNECTEMPTY */
  nvs_fifo #(
    .Width(1 + 12 + 13 + 11 + LabelWidth),
    .Depth(Reads)
  ) u_reads (
    .clk_i,
    .rst_ni,
    .valid_i(read_valid_i),
    .ready_o(read_ready_o),
    .data_i ({read_unsupported_i, read_addr_i, read_bytes_i, read_dwords_i, read_label_i}),
    .valid_o(d_valid),
    .ready_i(d_pop),
    .data_o ({d_unsupported, d_addr, d_bytes, d_dwords, d_label}),
    .count_o()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // ---- Headers: the request is cut into completions, one per cycle.

  logic                  g_valid_q, g_unsupported_q;
  logic [11:0]           g_addr_q;    // of the first byte that is not in a header yet
  logic [12:0]           g_bytes_q;   // from there on
  logic [10:0]           g_dwords_q;  // from there on
  logic [LabelWidth-1:0] g_label_q;
  logic                  h_ready, g_move, g_final, g_load;
  logic [8:0]            g_room;      // dwords to the next multiple of the payload size
  logic [10:0]           g_count;     // dwords of the completion
  logic [LaneWidth-1:0]  g_lane, g_turn;
  logic [11:0]           g_words, g_beats;
  logic [BeatsWidth-1:0] g_words_count, g_beats_count;
  always_comb begin
    case (max_payload_i)
      2'd0:    g_room = 9'd32 - 9'(g_addr_q[6:2]);
      2'd1:    g_room = 9'd64 - 9'(g_addr_q[7:2]);
      2'd2:    g_room = 9'd128 - 9'(g_addr_q[8:2]);
      default: g_room = 9'd256 - 9'(g_addr_q[9:2]);
    endcase
  end
  assign g_final = g_unsupported_q || g_dwords_q <= 11'(g_room);
  assign g_count = g_unsupported_q ? '0 : g_final ? g_dwords_q : 11'(g_room);
  assign g_lane  = g_addr_q[2 +: LaneWidth];
  if (Lanes > HeaderLanes + 1) begin : gen_load
    assign g_load = !g_unsupported_q && 32'(g_lane) > HeaderLanes;  // the first word gives no beat
  end else begin : gen_no_load
    assign g_load = 1'b0;
  end
  assign g_words = 12'(g_lane) + 12'(g_count) + 12'(Lanes - 1);        // of r_*, by whole lanes
  assign g_beats = 12'(HeaderLanes) + 12'(g_count) - 12'd1;            // the last lane
  assign g_turn  = LaneWidth'(HeaderLanes) - g_lane;
  assign g_words_count = g_unsupported_q ? '0 : BeatsWidth'(g_words >> LaneWidth);
  assign g_beats_count = BeatsWidth'(g_beats >> LaneWidth);
  assign g_move  = g_valid_q && h_ready;
  assign d_pop   = d_valid && (!g_valid_q || (g_move && g_final));

  logic                  h_valid, h_pop, h_unsupported, h_final, h_load;
  logic [6:0]            h_lower;
  logic [12:0]           h_bytes;
  logic [10:0]           h_count;
  logic [LabelWidth-1:0] h_label;
  logic [LaneWidth-1:0]  h_turn, h_end;
  logic [BeatsWidth-1:0] h_words, h_beats;  // words of r_*; beats less one
  nvs_skid #(
    .Width(3 + 7 + 13 + 11 + LabelWidth + 2 * LaneWidth + 2 * BeatsWidth)
  ) u_header (
    .clk_i,
    .rst_ni,
    .valid_i(g_valid_q),
    .ready_o(h_ready),
    .data_i ({g_unsupported_q, g_final, g_load, g_addr_q[6:0], g_bytes_q, g_count, g_label_q,
              g_turn, g_beats[LaneWidth-1:0], g_words_count, g_beats_count}),
    .valid_o(h_valid),
    .ready_i(h_pop),
    .data_o ({h_unsupported, h_final, h_load, h_lower, h_bytes, h_count, h_label, h_turn, h_end, h_words, h_beats})
  );

  // ---- Beats: each lane from the word and, below the turn, from the word before.

  logic                  first_q, loaded_q;
  logic [BeatsWidth-1:0] words_q, beats_q, words_left, beats_left;
  logic                  load, beat_valid, beat_ready, beat_take, beat_last, r_take;
  logic [DataWidth-1:0]  turned, carry_q, beat;
  logic [Lanes-1:0]      keep, older;  // older: lanes below the turn
  assign words_left = first_q && !loaded_q ? h_words : words_q;
  assign beats_left = first_q ? h_beats : beats_q;
  assign load       = h_load && first_q && !loaded_q;
  assign beat_valid = h_valid && !load && (words_left == '0 || r_valid_i);
  assign beat_last  = beats_left == '0;
  assign beat_take  = beat_valid && beat_ready;
  assign r_ready_o  = h_valid && words_left != '0 && (load || beat_ready);
  assign r_take     = r_valid_i && r_ready_o;
  assign h_pop      = beat_take && beat_last;
  assign older = ~('1 << h_turn);
  assign keep   = beat_last ? (Lanes'(2) << h_end) - 1'b1 : '1;
  for (genvar m = 0; m < Lanes; m++) begin : gen_lane
    logic [LaneWidth-1:0] from;  // lane of the word
    assign from               = LaneWidth'(m) - h_turn;
    assign turned[32*m +: 32] = r_data_i[32*from +: 32];
    assign beat[32*m +: 32]   = older[m] ? carry_q[32*m +: 32] : turned[32*m +: 32];
  end

  // What was under way when the block was reset is dropped, read by read.
  logic [OpenWidth-1:0] open_q, open_next, dead_q;
  logic [OpenWidth-1:0] allowed_q;  // requests that may come
  logic                 dead, read_done;
  assign open_next = open_q + OpenWidth'(read_valid_i && read_ready_o) - OpenWidth'(read_done);
  assign read_credit_o = !abort_i && open_q + allowed_q < OpenWidth'(Reads);
  assign dead      = abort_i || dead_q != '0;
  assign read_done = h_pop && h_final;

  logic                 m_ready, m_valid;
  logic [LaneWidth-1:0] lanes;  // the last one in use
  assign lanes      = beat_last ? h_end : '1;
  assign beat_ready = m_ready || dead;
  nvs_skid #(
    .Width(DataWidth + Lanes + LaneWidth + 3 + 7 + 13 + 11 + LabelWidth)
  ) u_out (
    .clk_i,
    .rst_ni,
    .valid_i(beat_valid && !dead),
    .ready_o(m_ready),
    .data_i ({beat, keep, lanes, first_q, beat_last, h_unsupported, h_lower, h_bytes, h_count, h_label}),
    .valid_o(m_valid),
    .ready_i(m_ready_i || abort_i),
    .data_o ({m_data_o, m_keep_o, m_lanes_o, m_first_o, m_last_o, m_unsupported_o, m_lower_o, m_bytes_o, m_dwords_o, m_label_o})
  );
  assign m_valid_o = m_valid && !abort_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      g_valid_q <= 1'b0;
      first_q   <= 1'b1;
      loaded_q  <= 1'b0;
      open_q    <= '0;
      dead_q    <= '0;
      allowed_q <= '0;
    end else begin
      if (!g_valid_q || (g_move && g_final)) g_valid_q <= d_valid;
      if (beat_take) first_q <= beat_last;
      loaded_q <= load ? r_take : loaded_q && !beat_take;
      open_q   <= open_next;
      // A request is open until its last completion has left, a little longer than it needs its place.
      if (abort_i) allowed_q <= '0;
      else         allowed_q <= allowed_q + OpenWidth'(read_credit_o) - OpenWidth'(read_valid_i && read_ready_o);
      if (abort_i)                       dead_q <= open_next;
      else if (read_done && dead_q != 0) dead_q <= dead_q - 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (d_pop) begin
      g_unsupported_q <= d_unsupported;
      g_addr_q        <= d_addr;
      g_bytes_q       <= d_bytes;
      g_dwords_q      <= d_dwords;
      g_label_q       <= d_label;
    end else if (g_move) begin
      // The next one begins at a multiple of the payload size.
      g_addr_q        <= {g_addr_q[11:2] + 10'(g_count), 2'b00};
      g_bytes_q       <= g_bytes_q - ({g_count, 2'b00} - 13'(g_addr_q[1:0]));
      g_dwords_q      <= g_dwords_q - g_count;
    end
    if (r_take) carry_q <= turned;
    if (r_take) words_q <= words_left - 1'b1;
    else        words_q <= words_left;
    if (beat_take) beats_q <= beats_left - 1'b1;
  end

`ifdef FORMAL
  `include "formal/nvs_tlp_completer.svh"
`endif

endmodule
