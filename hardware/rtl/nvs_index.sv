// Index of a recording: when each chunk began, where each packet ended, when the trigger came, how the session ended.
//
// Purpose: a ring of entries in block memory, the newest `Entries` of them. Software reads an entry by its number; the number of all
// entries since the reset tells which of them are still there, so that none can be missed unnoticed.
//
// Interface:
//   tick_i      pulse, once per microsecond
//   start_i     pulse: a session begins
//   beat_i ...  pulse: the recording takes a beat; its bytes kept, whether it ends a packet
//   trigger_i   level: the trigger has come; its rise within a session is an entry
//   end_i       level: the session has ended, as how_i says (nvs_session, end_o)
//   select_*    number of the entry that is read; it shows three cycles later
//   count_o     entries since the reset, modulo 2^32: entry k is there while count_o - k is 1 to Entries
//   position_o, time_o  the entry: registers INDEX_POSITION and INDEX_TIME
//   now_o       microseconds since the reset
//
// Invariants, proven in formal/nvs_index.svh:
//   - each beat that begins a chunk or ends a packet has one entry, with its place and bytes; so has each trigger and end of a session;
//   - nothing else has; an entry is what its number shows until it is overwritten.

module nvs_index #(
  parameter  int unsigned DataWidth  = 128,
  parameter  int unsigned ChunkPages = 32,
  parameter  int unsigned PageBytes  = 4096,
  parameter  int unsigned Entries    = 512,  // a power of two
  localparam int unsigned BeatBytes  = DataWidth / 8,
  localparam int unsigned BeatShift  = $clog2(BeatBytes),
  localparam int unsigned PlaceWidth = $clog2(ChunkPages * PageBytes / BeatBytes),  // of a beat in its chunk
  localparam int unsigned CountWidth = 64 - BeatShift,
  localparam int unsigned KeptWidth  = BeatShift + 1,
  localparam int unsigned TimeWidth  = 48,
  localparam int unsigned EntryWidth = CountWidth + 4 + TimeWidth + KeptWidth + 2,
  localparam int unsigned PtrWidth   = $clog2(Entries)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 tick_i,

  input  logic                 start_i,
  input  logic                 beat_i,
  input  logic [BeatBytes-1:0] keep_i,
  input  logic                 last_i,
  input  logic                 trigger_i,
  input  logic                 end_i,
  input  logic [1:0]           how_i,

  input  logic                 select_valid_i,
  input  logic [31:0]          select_i,
  output logic [31:0]          count_o,
  output logic [63:0]          position_o,
  output logic [63:0]          time_o,
  output logic [63:0]          now_o
);

  // The beat of the cycle before.
  logic                  beat_q, last_q;
  logic [BeatBytes-1:0]  keep_q;

  logic                  active_q;     // a session has begun and not ended
  logic                  triggered_q;  // its trigger has an entry
  logic [CountWidth-1:0] position_q;   // beats of the session before that one
  logic [TimeWidth-1:0]  time_q;

  // What happens to the entry's beat, or behind the beats before it.
  logic                  chunk, last, trigger, ends, write;
  logic [KeptWidth-1:0]  kept;
  assign chunk   = beat_q && position_q[PlaceWidth-1:0] == '0;
  assign last    = beat_q && last_q;
  assign trigger = active_q && trigger_i && !triggered_q;
  assign ends    = active_q && end_i && !beat_q;
  assign write   = chunk || last || trigger || ends;
  always_comb begin
    kept = keep_q[BeatBytes-1] || !last_q ? KeptWidth'(BeatBytes) : '0;
    for (int unsigned b = 0; b + 1 < BeatBytes; b++) if (last_q && keep_q[b] && !keep_q[b+1]) kept = kept | KeptWidth'(b + 1);
    if (!beat_q) kept = '0;
  end

  logic [EntryWidth-1:0] memory [Entries];
  logic [EntryWidth-1:0] entry_q;
  logic [PtrWidth-1:0]   select_q;
  logic [KeptWidth-1:0]  kept_shown;
  logic [1:0]            how_shown;
  logic [3:0]            flags_shown;
  logic [CountWidth-1:0] position_shown;
  logic [TimeWidth-1:0]  time_shown;
  assign {how_shown, kept_shown, time_shown, flags_shown, position_shown} = entry_q;
  assign position_o = {position_shown, BeatShift'(flags_shown)};
  assign time_o     = {6'b0, how_shown, 8'(kept_shown), time_shown};
  assign now_o      = 64'(time_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_q      <= 1'b0;
      active_q    <= 1'b0;
      triggered_q <= 1'b0;
      position_q  <= '0;
      time_q      <= '0;
      count_o     <= '0;
    end else begin
      beat_q <= beat_i;
      if (tick_i) time_q <= time_q + 1'b1;
      if (start_i) begin
        active_q    <= 1'b1;
        triggered_q <= 1'b0;
        position_q  <= '0;
      end else begin
        if (ends) active_q <= 1'b0;
        if (trigger) triggered_q <= 1'b1;
        if (beat_q) position_q <= position_q + 1'b1;
      end
      if (write) count_o <= count_o + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    last_q <= last_i;
    keep_q <= keep_i;
    if (write) memory[count_o[PtrWidth-1:0]] <= {ends ? how_i : 2'd0, kept, time_q, ends, trigger, last, chunk, position_q};
    if (select_valid_i) select_q <= select_i[PtrWidth-1:0];
    entry_q <= memory[select_q];
  end

  logic unused;
  assign unused = ^select_i;

`ifdef FORMAL
  `include "formal/nvs_index.svh"
`endif

endmodule
