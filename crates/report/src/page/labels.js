// Names at the ends of lines, so that a reader need not look up colours in the legend. They are the page's own text over the
// drawing, moved apart where they would overlap; a chart with too many lines, too narrow, or with a name that does not fit, has none.
const assayLabels = (() => {
  'use strict';
  const MOST = 8;
  const LINE_PX = 13;
  const NARROW_PX = 520;
  const WIDEST_PX = 160;
  const GLYPH_PX = 7.1;
  const nameOf = trace => trace.legendgroup || trace.name;

  // The lines of the first panel that are labelled: one for each name.
  const labelled = view => {
    const named = new Map();
    for (const trace of view.data) {
      const plain = trace.type === 'scatter' && (trace.mode || '').includes('lines') && !trace.stackgroup
        && trace.showlegend !== false && (trace.yaxis || 'y') === 'y' && trace.x.length > 1;
      if (plain && !named.has(nameOf(trace))) named.set(nameOf(trace), trace);
    }
    // A line that ends where another begins would have its name over that one.
    const lines = [...named.values()];
    const begin = Math.max(...lines.map(trace => trace.x[0]));
    const follow = lines.some(trace => trace.x[trace.x.length - 1] <= begin);
    return named.size > 1 && named.size <= MOST && !follow ? named : new Map();
  };

  // The beginning that all names share, such as the only drive's, is left out.
  const shared = names => {
    const start = names[0] ? names[0].slice(0, names[0].lastIndexOf(', ') + 2) : '';
    return start.length > 1 && names.every(name => name.startsWith(start)) ? start.length : 0;
  };
  const labels = view => {
    const names = [...labelled(view).keys()].map(plain);
    const start = shared(names);
    return names.map(name => name.slice(start));
  };

  const plain = name => name.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');

  // Room that a chart needs to the right of its lines, pixels; 0 without names.
  const room = (view, width) => {
    if (width < NARROW_PX) return 0;
    const longest = Math.max(0, ...labels(view).map(name => name.length));
    const needed = longest * GLYPH_PX;
    return needed > Math.max(WIDEST_PX, width / 4) ? 0 : needed;
  };

  // Places the names over a drawing, and removes those of an earlier one.
  const put = (chart, view, element, paint) => {
    for (const old of element.querySelectorAll(':scope > .line-label')) old.remove();
    const layout = element._fullLayout;
    if (!room(view, layout.width)) return;
    const [across, up] = [layout.xaxis, layout.yaxis];
    const spans = [];
    const texts = labels(view);
    for (const [index, [name, trace]] of [...labelled(view)].entries()) {
      if (chart.hidden && chart.hidden.has(name)) continue;
      const last = trace.y.length - 1;
      // A line that goes on beyond the axis has its name at the axis' end.
      const end = Math.min(across.d2p(trace.x[last]), across._length);
      const [x, y] = [across._offset + end, up._offset + up.d2p(trace.y[last])];
      if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
      const span = document.createElement('span');
      span.className = 'line-label';
      span.textContent = texts[index];
      span.style.color = paint(trace.line.color);
      spans.push({ span, x: x + 6, y, width: texts[index].length * GLYPH_PX });
    }
    spans.sort((a, b) => a.y - b.y);
    // Downwards, then upwards again where the bottom is reached.
    const beside = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width;
    const apart = (list, sign) => list.forEach((one, i) => {
      for (const other of list.slice(0, i)) {
        if (beside(one, other) && sign * (one.y - other.y) < LINE_PX) one.y = other.y + sign * LINE_PX;
      }
    });
    apart(spans, 1);
    const bottom = up._offset + up._length;
    for (const one of spans) one.y = Math.min(one.y, bottom);
    apart([...spans].reverse(), -1);
    for (const one of spans) {
      Object.assign(one.span.style, { left: one.x + 'px', top: one.y + 'px' });
      element.append(one.span);
    }
  };

  const hide = element => element.querySelectorAll(':scope > .line-label').forEach(label => label.remove());

  return { room, put, hide, nameOf, plain };
})();
