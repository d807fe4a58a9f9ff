// Requests of the drive: TLPs as an endpoint sends them, to AXI4 bursts of the core.
//
// Purpose: takes the packets that a PCIe block delivers to its user. A memory write becomes a burst on aw_* and w_*, a memory read a burst on ar_*
// and an entry of read_*, from which nvs_tlp_completer makes the completions. The payload, which begins behind the header, is turned to the
// byte lanes of its address.
//
// Interface:
//   abort_i     level: the block is in reset or its link is lost. Nothing is taken; a write whose packet is not complete is filled up without
//               strobes, so no burst stays open
//   poisoned_i  pulse: the block has dropped a write of the drive
//   s_*         packets, one per turn of s_last_i. With the first beat count s_kind_i (0 memory read, 1 memory write, 2 another request that wants
//               a completion, 3 another one), address, length in dwords, byte enables and label (whatever its completion must repeat). The
//               payload begins in lane HeaderLanes of the first beat. s_strb_i has a bit for each byte of payload that counts; s_bad_i: the packet
//               is damaged
//   aw_*, w_*, b_*, ar_*  as dev_* of nvs_core; every burst is INCR, of whole bus words, from the word of the first dword on
//   read_*      a read in the order of ar_*, or a request that is not supported (nothing of it is on ar_*). `read_addr_o`: bits 11:0 of the first
//               byte enabled; `read_bytes_o`: from that to the last one (PCI Express, 2.3.1.1); `read_dwords_o`: length
//   begun_o, ended_o  writes since the reset that have begun at s_*, and that the core has acknowledged, modulo 256
//
// A write that is damaged, or dropped by the block, is followed by a write of one word without strobes to an address outside of what the drive may
// write. The core counts it in PROTOCOL_ERRORS and ends its sessions, so damaged data are never reported as good. An address whose upper
// bits are not those of BusBase is led outside, too. A packet of no length, or across 4 KiB, gets the answer "not supported", and a write
// of that kind is dropped as a damaged one.
//
// Invariants, proven in formal/nvs_tlp_inbound.svh:
//   - each write has one burst of as many words as its address and length ask for, each byte in its lane; no other strobe is set;
//   - each read has one burst and one entry, in their order; other requests have their entry, and no burst;
//   - outputs are stable until they are taken; whatever is in a packet, a burst that has begun ends.

module nvs_tlp_inbound #(
  parameter  int unsigned DataWidth   = 128,
  parameter  int unsigned HeaderLanes = 4,      // dwords before the payload in the first beat, 0 to 4
  parameter  int unsigned LabelWidth  = 30,
  parameter  int unsigned IdWidth     = 4,
  parameter  logic [63:0] BusBase     = 64'h0,  // as that of nvs_core
  localparam int unsigned BeatBytes   = DataWidth / 8
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  abort_i,
  input  logic                  poisoned_i,

  input  logic                  s_valid_i,
  output logic                  s_ready_o,
  input  logic [DataWidth-1:0]  s_data_i,
  input  logic [BeatBytes-1:0]  s_strb_i,
  input  logic                  s_last_i,
  input  logic                  s_bad_i,
  input  logic [1:0]            s_kind_i,
  input  logic [63:2]           s_addr_i,
  input  logic [10:0]           s_dwords_i,
  input  logic [3:0]            s_first_be_i,
  input  logic [3:1]            s_last_be_i,   // bit 0 decides nothing
  input  logic [LabelWidth-1:0] s_label_i,

  output logic                  aw_valid_o,
  input  logic                  aw_ready_i,
  output logic [IdWidth-1:0]    aw_id_o,
  output logic [39:0]           aw_addr_o,
  output logic [7:0]            aw_len_o,
  output logic                  w_valid_o,
  input  logic                  w_ready_i,
  output logic [DataWidth-1:0]  w_data_o,
  output logic [BeatBytes-1:0]  w_strb_o,
  output logic                  w_last_o,
  input  logic                  b_valid_i,
  output logic                  b_ready_o,
  output logic                  ar_valid_o,
  input  logic                  ar_ready_i,
  output logic [IdWidth-1:0]    ar_id_o,
  output logic [39:0]           ar_addr_o,
  output logic [7:0]            ar_len_o,

  output logic                  read_valid_o,
  input  logic                  read_ready_i,
  output logic                  read_unsupported_o,
  output logic [11:0]           read_addr_o,
  output logic [12:0]           read_bytes_o,
  output logic [10:0]           read_dwords_o,
  output logic [LabelWidth-1:0] read_label_o,

  output logic [7:0]            begun_o,
  output logic [7:0]            ended_o
);

  localparam int unsigned Lanes     = DataWidth / 32;
  localparam int unsigned LaneWidth = $clog2(Lanes);

  localparam logic [1:0] KindRead  = 2'd0;
  localparam logic [1:0] KindWrite = 2'd1;
  localparam logic [1:0] KindOther = 2'd2;
  localparam logic [39:0] Outside  = 40'hff_ffff_f000;  // a page that is nothing

  // ---- First beats and the rest, behind a register slice.

  logic                  aborting, abort_q;  // until nothing of a packet is left
  assign aborting = abort_i || abort_q;

  logic                  a_valid, a_pop, a_last, a_bad;
  logic [DataWidth-1:0]  a_data;
  logic [BeatBytes-1:0]  a_strb;
  logic [1:0]            a_kind;
  logic [63:2]           a_addr;
  logic [10:0]           a_dwords;
  logic [3:0]            a_first_be;
  logic [3:1]            a_last_be;
  logic [LabelWidth-1:0] a_label;
  logic                  slice_ready;
  nvs_skid #(
    .Width(DataWidth + BeatBytes + 2 + 2 + 62 + 11 + 7 + LabelWidth)
  ) u_slice (
    .clk_i,
    .rst_ni,
    .valid_i(s_valid_i && !aborting),
    .ready_o(slice_ready),
    .data_i ({s_data_i, s_strb_i, s_last_i, s_bad_i, s_kind_i, s_addr_i, s_dwords_i, s_first_be_i, s_last_be_i, s_label_i}),
    .valid_o(a_valid),
    .ready_i(a_pop),
    .data_o ({a_data, a_strb, a_last, a_bad, a_kind, a_addr, a_dwords, a_first_be, a_last_be, a_label})
  );
  assign s_ready_o = slice_ready && !aborting;

  logic first_q;      // the next beat is the first of a packet
  logic drop_q;       // the packet is dropped
  logic port_first_q; // the next beat at the port is the first of a packet
  logic inject_q;     // a write outside is owed to the core

  // What the first beat asks for.
  logic [12:0]          a_end;   // behind the last dword, in the page
  logic                 a_legal, a_ours, a_write, a_read, a_reject;
  logic [39:0]          a_bus;
  logic [LaneWidth-1:0] a_lane, a_turn;
  logic [11:0]          a_words;
  logic [7:0]           a_len;
  assign a_end    = 13'(a_addr[11:2]) + 13'(a_dwords);
  assign a_legal  = a_dwords != '0 && a_end <= 13'd1024;
  assign a_ours   = a_addr[63:40] == BusBase[63:40];
  assign a_bus    = {a_ours ? a_addr[39:12] : Outside[39:12], a_addr[11:2+LaneWidth], (2+LaneWidth)'(0)};
  assign a_write  = a_kind == KindWrite && a_legal;
  assign a_read   = a_kind == KindRead && a_legal;
  assign a_reject = a_kind == KindOther || (a_kind == KindRead && !a_legal);
  assign a_lane   = a_addr[2 +: LaneWidth];
  assign a_turn   = a_lane - LaneWidth'(HeaderLanes);
  assign a_words  = 12'(a_lane) + 12'(a_dwords) - 12'd1;  // of the last dword, from the first word on
  assign a_len    = 8'(a_words >> LaneWidth);

  // Bytes of a read.
  logic [1:0]  a_skip, a_rest;  // bytes before the first one, and behind the last one
  logic [3:1]  a_end_be;
  assign a_end_be = a_dwords == 11'd1 ? a_first_be[3:1] : a_last_be;
  always_comb begin
    a_skip = a_first_be[0] ? 2'd0 : a_first_be[1] ? 2'd1 : a_first_be[2] ? 2'd2 : a_first_be[3] ? 2'd3 : 2'd0;
    a_rest = a_end_be[3] ? 2'd0 : a_end_be[2] ? 2'd1 : a_end_be[1] ? 2'd2 : 2'd3;
  end

  // ---- The beat that is turned.

  logic                  b_valid_q, b_first_q, b_last_q, b_load_q, b_pop;
  logic [DataWidth-1:0]  b_data_q;
  logic [BeatBytes-1:0]  b_strb_q;
  logic [LaneWidth-1:0]  turn_q;
  logic [7:0]            left_q;

  logic aw_ready, ar_ready, room, begin_write, inject, close, forward;
  assign room        = !b_valid_q || b_pop;
  assign close       = aborting && !first_q && !drop_q;
  assign inject      = inject_q && first_q && !aborting && room && aw_ready;
  assign begin_write = a_valid && !aborting && first_q && !inject_q && a_write && room && aw_ready;
  always_comb begin
    if (aborting)                         a_pop = !close;
    else if (!first_q)                    a_pop = drop_q || room;
    else if (inject_q)                    a_pop = 1'b0;
    else if (a_write)                     a_pop = room && aw_ready;
    else if (a_read)                      a_pop = ar_ready && read_ready_i;
    else if (a_reject)                    a_pop = read_ready_i;
    else                                  a_pop = 1'b1;
  end
  // Of a write: a beat of the packet, or the end of one that stays incomplete, or the word that is injected.
  assign forward = inject || (close && room) || (a_valid && a_pop && !aborting && (first_q ? a_write : !drop_q));

  nvs_skid #(
    .Width(40 + 8)
  ) u_aw (
    .clk_i,
    .rst_ni,
    .valid_i(inject || begin_write),
    .ready_o(aw_ready),
    .data_i (inject ? {Outside, 8'h00} : {a_bus, a_len}),
    .valid_o(aw_valid_o),
    .ready_i(aw_ready_i),
    .data_o ({aw_addr_o, aw_len_o})
  );
  logic take_first;
  assign take_first = a_valid && first_q && !inject_q && !aborting;
  nvs_skid #(
    .Width(40 + 8)
  ) u_ar (
    .clk_i,
    .rst_ni,
    .valid_i(take_first && a_read && read_ready_i),
    .ready_o(ar_ready),
    .data_i ({a_bus, a_len}),
    .valid_o(ar_valid_o),
    .ready_i(ar_ready_i),
    .data_o ({ar_addr_o, ar_len_o})
  );
  assign aw_id_o            = '0;
  assign ar_id_o            = '0;
  assign read_valid_o       = take_first && (a_reject || (a_read && ar_ready));
  assign read_unsupported_o = a_reject;
  assign read_addr_o        = a_reject ? '0 : {a_addr[11:2], a_skip};
  assign read_bytes_o       = a_reject ? 13'd4 : a_dwords == 11'd1 && a_first_be == '0 ? 13'd1 :
                              {a_dwords, 2'b00} - 13'(a_skip) - 13'(a_rest);
  assign read_dwords_o      = a_dwords;
  assign read_label_o       = a_label;

  // ---- Words: each from the beat and, below the turn, from the beat before.

  logic                  flush_q;  // the packet has ended, and words are owed
  logic                  done_q;   // the last word has left, and the packet goes on
  logic [DataWidth-1:0]  turned, carry_q, word;
  logic [BeatBytes-1:0]  turned_strb, carry_strb_q, word_strb;
  logic                  load, word_valid, word_ready, word_take, word_last;
  logic [Lanes-1:0]      older;  // lanes below the turn
  assign older = ~('1 << turn_q);
  for (genvar m = 0; m < Lanes; m++) begin : gen_lane
    logic [LaneWidth-1:0] from;  // lane of the beat
    assign from                  = LaneWidth'(m) - turn_q;
    assign turned[32*m +: 32]    = b_data_q[32*from +: 32];
    assign turned_strb[4*m +: 4] = flush_q ? 4'h0 : b_strb_q[4*from +: 4];
    assign word[32*m +: 32]      = older[m] ? carry_q[32*m +: 32] : turned[32*m +: 32];
    assign word_strb[4*m +: 4]   = older[m] ? carry_strb_q[4*m +: 4] : turned_strb[4*m +: 4];
  end
  assign load       = b_first_q && b_load_q && !flush_q;  // no word is complete with the first beat
  assign word_valid = b_valid_q && !load && !done_q;
  assign word_last  = left_q == '0;
  assign word_take  = word_valid && word_ready;
  always_comb begin
    if (done_q)    b_pop = b_valid_q;
    else if (load) b_pop = b_valid_q && !b_last_q;
    else           b_pop = word_take && (word_last || !b_last_q);
  end
  nvs_skid #(
    .Width(DataWidth + BeatBytes + 1)
  ) u_w (
    .clk_i,
    .rst_ni,
    .valid_i(word_valid),
    .ready_o(word_ready),
    .data_i ({word, word_strb, word_last}),
    .valid_o(w_valid_o),
    .ready_i(w_ready_i),
    .data_o ({w_data_o, w_strb_o, w_last_o})
  );
  assign b_ready_o = 1'b1;

  logic port_take, dropped;
  assign port_take = s_valid_i && s_ready_o;
  assign dropped   = a_valid && a_pop && first_q && a_kind == KindWrite && (aborting || !a_write);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      abort_q      <= 1'b0;
      first_q      <= 1'b1;
      drop_q       <= 1'b0;
      port_first_q <= 1'b1;
      inject_q     <= 1'b0;
      b_valid_q    <= 1'b0;
      flush_q      <= 1'b0;
      done_q       <= 1'b0;
      carry_strb_q <= '0;
      begun_o      <= '0;
      ended_o      <= '0;
    end else begin
      abort_q <= aborting && (a_valid || !first_q);
      if (a_valid && a_pop) begin
        first_q <= a_last;
        drop_q  <= !a_last && (first_q ? !a_write || aborting : drop_q);
      end else if (close) begin
        if (room) drop_q <= 1'b1;
      end else if (aborting && !a_valid) begin
        first_q <= 1'b1;
        drop_q  <= 1'b0;
      end
      if (port_take) port_first_q <= s_last_i;
      if (aborting) begin
        port_first_q <= 1'b1;
        inject_q     <= 1'b0;
      end else if (poisoned_i || (a_valid && a_pop && (first_q ? a_kind == KindWrite && (a_bad || !a_legal) : a_bad && !drop_q))) begin
        inject_q     <= 1'b1;
      end else if (inject) begin
        inject_q     <= 1'b0;
      end
      begun_o <= begun_o + 8'(port_take && port_first_q && s_kind_i == KindWrite) + 8'(inject);
      ended_o <= ended_o + 8'(b_valid_i) + 8'(dropped);

      if (forward)    b_valid_q <= 1'b1;
      else if (b_pop) b_valid_q <= 1'b0;
      if (b_valid_q) begin
        if (b_pop && b_last_q) begin
          flush_q      <= 1'b0;
          done_q       <= 1'b0;
          carry_strb_q <= '0;
        end else begin
          if (b_last_q && (load || word_take)) flush_q <= 1'b1;
          if (word_take && word_last) done_q <= 1'b1;
          if (load || word_take) carry_strb_q <= turned_strb;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (b_valid_q && (load || word_take)) carry_q <= turned;
    if (forward) begin
      b_data_q  <= a_data;
      b_strb_q  <= inject || close ? '0 : a_strb;
      b_last_q  <= inject || close || a_last;
      b_first_q <= inject || (first_q && !close);
      if (inject || (first_q && !close)) begin
        turn_q   <= inject ? '0 : a_turn;
        b_load_q <= !inject && (Lanes <= HeaderLanes || 32'(a_lane) < HeaderLanes);
      end
    end
    if (forward && (inject || (first_q && !close))) left_q <= inject ? '0 : a_len;
    else if (word_take && !word_last)               left_q <= left_q - 1'b1;
  end

`ifdef FORMAL
  `include "formal/nvs_tlp_inbound.svh"
`endif

endmodule
