// Copies of tables (CSV) and charts (CSV, SVG, PNG): to the clipboard where the browser permits it, else as a file. Nothing is
// requested: a file is a blob of this page. Pictures carry the chart's title and, where it applies, the word "simulated".
(() => {
  'use strict';
  const SIZE = { width: 900, height: 480 };

  const save = (blob, name) => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  // Copies or saves, and says which on the button.
  const give = async (button, blob, name, type) => {
    const root = document.documentElement;
    let word = 'copied';
    try {
      await navigator.clipboard.write([new ClipboardItem({ [type]: blob })]);
    } catch {
      save(blob, name);
      word = 'saved';
    }
    root.dataset.copied = `${name} ${blob.size}`;
    const before = button.textContent;
    button.textContent = word;
    setTimeout(() => { button.textContent = before; }, 1500);
  };

  const quoted = text => /[",\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  const csv = rows => rows.map(row => row.map(cell => quoted(String(cell))).join(',')).join('\n') + '\n';
  const words = element => {
    const copy = element.cloneNode(true);
    copy.querySelectorAll('button, .anchor, .copy').forEach(part => part.remove());
    copy.querySelectorAll('small, .unit, .sim').forEach(part => part.prepend(' '));
    return copy.textContent.replace(/\s+/g, ' ').trim();
  };

  // A table as rows of equal length: groups of columns are repeated above each of their columns.
  const ofTable = table => {
    const rows = [];
    [...table.rows].forEach((row, y) => {
      rows[y] = rows[y] || [];
      for (const cell of row.cells) {
        let x = 0;
        while (rows[y][x] !== undefined) x += 1;
        for (let down = 0; down < cell.rowSpan; down += 1) {
          for (let across = 0; across < cell.colSpan; across += 1) {
            rows[y + down] = rows[y + down] || [];
            rows[y + down][x + across] = down ? '' : words(cell);
          }
        }
      }
    });
    return rows;
  };

  const plain = assayLabels.plain;
  const ofChart = id => {
    const { data, layout } = window.assayCharts.of(id);
    const title = key => (layout[key] && layout[key].title && layout[key].title.text) || key;
    const rows = [['line', 'panel', title('xaxis'), 'value']];
    for (const trace of data) {
      if (trace.visible === false) continue;
      const flat = trace.orientation === 'h';
      const panel = flat ? title('xaxis') : title((trace.yaxis || 'y').replace('y', 'yaxis'));
      trace.x.forEach((x, i) => rows.push([plain(trace.name), panel, flat ? plain(String(trace.y[i])) : x, flat ? x : trace.y[i]]));
    }
    return rows;
  };

  const picture = async (id, format) => {
    const { data, layout, simulated } = window.assayCharts.of(id);
    const style = getComputedStyle(document.documentElement);
    const title = document.getElementById(id).dataset.title + (simulated ? ' (simulated)' : '');
    const seen = new Set();
    const listed = data.map(trace => {
      const name = assayLabels.nameOf(trace);
      const first = trace.showlegend !== false && !seen.has(name);
      if (first) seen.add(name);
      return { ...trace, name, legendgroup: name, showlegend: first };
    });
    Object.assign(layout, SIZE, {
      title: { text: title.replace(/&/g, '&amp;').replace(/</g, '&lt;'), font: { size: 15 }, x: 0.02 },
      paper_bgcolor: style.getPropertyValue('--panel').trim(), showlegend: seen.size > 1,
      legend: { orientation: 'h', y: -0.16 }, margin: { l: 80, r: 30, t: 50, b: 110 },
    });
    const url = await Plotly.toImage({ data: listed, layout, config: { staticPlot: true } }, { format, ...SIZE, scale: format === 'png' ? 2 : 1 });
    const comma = url.indexOf(',');
    const body = url.slice(0, comma).endsWith('base64') ? atob(url.slice(comma + 1)) : decodeURIComponent(url.slice(comma + 1));
    return format === 'svg' ? new Blob([body], { type: 'image/svg+xml' })
      : new Blob([Uint8Array.from(body, c => c.charCodeAt(0))], { type: 'image/png' });
  };

  const button = (label, title, act) => {
    const made = document.createElement('button');
    made.type = 'button';
    made.textContent = label;
    made.title = title;
    made.addEventListener('click', () => act(made));
    return made;
  };
  // A folded group of buttons.
  const copies = () => {
    const menu = document.createElement('details');
    menu.className = 'copy';
    const summary = document.createElement('summary');
    summary.textContent = 'copy';
    summary.title = 'Copy or save';
    summary.setAttribute('aria-label', 'Copy or save');
    const group = document.createElement('span');
    menu.append(summary, group);
    return { menu, group };
  };
  const text = rows => new Blob([csv(rows)], { type: 'text/plain' });

  for (const id of window.assayCharts.ids()) {
    const tools = document.getElementById(id).closest('.chart').querySelector('.tools');
    const { menu, group } = copies();
    group.append(
      button('CSV', 'Copy the figures of this chart', b => give(b, text(ofChart(id)), id + '.csv', 'text/plain')),
      button('SVG', 'Save this chart', b => picture(id, 'svg').then(blob => give(b, blob, id + '.svg', 'image/svg+xml'))),
      button('PNG', 'Copy this chart', b => picture(id, 'png').then(blob => give(b, blob, id + '.png', 'image/png'))),
    );
    tools.append(menu);
  }
  document.querySelectorAll('.scroll table').forEach((table, i) => {
    const caption = table.caption;
    const { menu, group } = copies();
    group.append(button('CSV', 'Copy this table', b => {
      const name = words(caption).toLowerCase().replace(/[^a-z0-9]+/g, '-') || 'table-' + (i + 1);
      give(b, text([[words(caption)], ...ofTable(table)]), name.slice(0, 60) + '.csv', 'text/plain');
    }));
    caption.append(menu);
  });
})();
