// Properties of nvs_completer_entry. Included in the module under FORMAL. Combinational: they hold for every record.

logic [32:0] f_bytes;
logic [20:0] f_pages;
logic [63:0] f_page_base;
always_comb begin
  f_bytes     = 33'(blocks_i) << block_shift_i;
  f_pages     = 21'((f_bytes + 33'd4095) >> 12);
  f_page_base = BusBase + (((64'(replay_i) * 4 + Drive) * Slots + slot_i) * ChunkPages + page_i) * 4096;
  assume (!page_i[0]);

  // Fields that every command has, and those that none has.
  assert (entry_o[7:0] == (flush_i ? 8'h00 : replay_i ? 8'h02 : 8'h01));
  assert (entry_o[15:8] == '0);
  assert (entry_o[31:16] == (flush_i ? Entries / 2 : tag_i));
  assert (entry_o[63:32] == Namespace);
  assert (entry_o[191:64] == '0);
  assert (entry_o[511:400] == '0);

  if (flush_i) assert (entry_o[511:64] == '0);
  else if (block_shift_i == 9 || block_shift_i == 12) begin
    assert (entry_o[255:192] == f_page_base);
    if (f_pages <= 1) assert (entry_o[319:256] == '0);
    else if (f_pages == 2) assert (entry_o[319:256] == f_page_base + 4096);
    else assert (entry_o[319:256] == BusBase + 64'h80_0001_0000 + ((64'(replay_i) * Slots + slot_i) * ChunkPages + page_i) * 8);
    assert (entry_o[383:320] == lba_i);
    assert (16'(entry_o[399:384] + 1'b1) == blocks_i);
  end
end
