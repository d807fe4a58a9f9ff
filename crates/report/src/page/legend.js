// Legends of charts: a button for each line, with a sample of its style. A click hides or shows the line, a double click
// isolates it or shows all.
//
// plotly's own legends are not used: each of their text measurements triggers a layout of the page, a third of the drawing
// time of eighty charts. These are ordinary buttons with keyboard access.
const assayLegend = (() => {
  'use strict';
  const DASHES = { solid: '', dot: '2 3', dash: '6 4', longdash: '10 4', dashdot: '6 3 2 3' };
  const SHAPES = {
    circle: '<circle cx="14" cy="6" r="3.6"/>',
    square: '<path d="M10.6 2.6h6.8v6.8h-6.8z"/>',
    diamond: '<path d="M14 1.2 18.8 6 14 10.8 9.2 6z"/>',
    'triangle-up': '<path d="M14 1.6 18.4 9.4H9.6z"/>',
    cross: '<path d="M12.6 2h2.8v2.6H18v2.8h-2.6V10h-2.8V7.4H10V4.6h2.6z"/>',
    'triangle-down': '<path d="M14 10.4 9.6 2.6h8.8z"/>',
    star: '<path d="M14 .8l1.5 3.3 3.6.4-2.7 2.4.8 3.6L14 8.7l-3.2 1.8.8-3.6-2.7-2.4 3.6-.4z"/>',
    x: '<path d="M10.6 4 12 2.6l2 2 2-2L17.4 4l-2 2 2 2L16 9.4l-2-2-2 2L10.6 8l2-2z"/>',
    'x-thin': '<path d="M10.8 2.8l6.4 6.4m0-6.4-6.4 6.4"/>',
  };

  // A sample of a trace's style.
  const sample = (trace, paint) => {
    const line = trace.line || {};
    const marker = trace.marker || {};
    const colour = value => paint(Array.isArray(value) ? value[0] : value);
    let inside = '';
    if (trace.type === 'bar') {
      inside = `<rect x="7" y="1" width="14" height="10" fill="${colour(marker.color)}"/>`;
    } else {
      if (trace.mode.includes('lines')) {
        inside += `<path d="M0 6h28" fill="none" stroke="${colour(line.color)}" stroke-width="${line.width || 2}"`
          + ` stroke-dasharray="${DASHES[line.dash] || ''}"/>`;
      }
      if (trace.mode.includes('markers')) {
        const symbol = Array.isArray(marker.symbol) ? marker.symbol[0] : marker.symbol || 'circle';
        const open = symbol.endsWith('-open');
        const fill = colour(marker.color || line.color);
        inside += `<g fill="${open ? 'none' : fill}" stroke="${open ? fill : 'none'}" stroke-width="1.5">`
          + `${SHAPES[symbol.replace('-open', '')] || SHAPES.circle}</g>`;
      }
    }
    return `<svg width="28" height="12" viewBox="0 0 28 12" aria-hidden="true">${inside}</svg>`;
  };

  // The lines of a drive are one entry.
  const nameOf = assayLabels.nameOf;

  // The entries of a view; names are already escaped for plotly.
  const entriesOf = (view, paint) => {
    const named = new Map();
    if (view.layout.showlegend === false) return named;
    for (const trace of view.data) {
      if (trace.showlegend !== false && !named.has(nameOf(trace))) named.set(nameOf(trace), sample(trace, paint));
    }
    return named;
  };

  // What symbols mean that lines of any name have.
  const keysOf = (view, paint) => {
    const keys = new Map();
    for (const trace of view.data) {
      for (const [text, style] of Object.entries(trace.key || {})) {
        const mode = style.dash ? 'lines' : 'markers';
        keys.set(text, sample({ mode, line: { color: '@soft', dash: style.dash }, marker: { color: '@soft', symbol: style.symbol } }, paint));
      }
    }
    return [...keys].map(([text, picture]) => `<span class="sample">${picture}<span>${text}</span></span>`).join('');
  };

  // Hidden traces are not drawn and do not affect the axes.
  const shown = (chart, data) => chart.hidden && chart.hidden.size
    ? data.map(trace => chart.hidden.has(nameOf(trace)) ? { ...trace, visible: false } : trace) : data;

  // Creates or updates the legend below the chart. `redraw` draws the chart again.
  const show = (chart, view, element, paint, redraw) => {
    const entries = entriesOf(view, paint);
    let list = element.nextElementSibling;
    if (!list || !list.classList.contains('legend')) {
      list = document.createElement('div');
      list.className = 'legend';
      list.setAttribute('role', 'group');
      list.setAttribute('aria-label', 'Lines of the chart: press to hide or show');
      const nameOf = event => {
        const button = event.target.closest('button');
        return button && button.dataset.name;
      };
      list.addEventListener('click', event => {
        const name = nameOf(event);
        if (!name) return;
        chart.hidden = chart.hidden || new Set();
        if (!chart.hidden.delete(name)) chart.hidden.add(name);
        redraw();
      });
      list.addEventListener('dblclick', event => {
        const name = nameOf(event);
        if (!name) return;
        const others = [...list.querySelectorAll('button')].map(button => button.dataset.name).filter(other => other !== name);
        const alone = chart.hidden && others.every(other => chart.hidden.has(other));
        chart.hidden = new Set(alone ? [] : others);
        redraw();
      });
      element.after(list);
    }
    const lines = entries.size < 2 ? '' : [...entries].map(([name, picture]) =>
      `<button type="button">${picture}<span>${name}</span></button>`).join('');
    const html = lines + keysOf(view, paint);
    if (list.dataset.html !== html) {
      list.dataset.html = html;
      list.innerHTML = html;
      const names = [...entries.keys()];
      list.querySelectorAll('button').forEach((button, i) => { button.dataset.name = names[i]; });
    }
    for (const button of list.querySelectorAll('button')) {
      button.setAttribute('aria-pressed', String(!(chart.hidden && chart.hidden.has(button.dataset.name))));
    }
  };

  return { show, shown };
})();
