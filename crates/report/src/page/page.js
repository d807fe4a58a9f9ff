// Draws the charts embedded as JSON in the colours of the theme, and connects the page's switches.
//
// Charts near the window are drawn first, then all others one by one, so that the page is complete before it is printed.
// `?draw=now` draws everything at once. When all are drawn, the root element has data-drawn (number of charts),
// data-draw-ms (drawing time) and data-drawn-at-ms (since the page was opened).
//
// A chart is still until the pointer enters it; then it is drawn live, with values, zoom and buttons, which are a third of
// the cost of a drawing.
(() => {
  'use strict';
  const root = document.documentElement;
  const query = new URLSearchParams(location.search);
  const charts = JSON.parse(document.getElementById('charts').textContent);
  const byId = new Map(charts.map(chart => [chart.id, chart]));
  // A trace is embedded as the number of its style, which views share, and its lists.
  for (const { styles, views } of charts)
    for (const view of views) view.data = view.data.map(([style, lists]) => ({ ...styles[style], ...lists }));
  // A chart of the first screen draws the views of another one.
  // There is room for its first panel.
  const firstPanel = view => {
    const layout = { ...view.layout, yaxis: { ...view.layout.yaxis, domain: [0, 1] }, xaxis: { ...view.layout.xaxis, anchor: 'y' } };
    for (const key of Object.keys(layout)) if (/^yaxis\d+$/.test(key)) delete layout[key];
    return { data: view.data.filter(trace => (trace.yaxis || 'y') === 'y'), layout };
  };
  for (const chart of charts) if (chart.of) chart.views = byId.get(chart.of).views.map(firstPanel);
  const waiting = new Set(charts.map(chart => chart.id));
  let drawMs = 0;
  let printing = false;

  const complain = message => {
    const earlier = root.dataset.errors;
    root.dataset.errors = earlier ? earlier + '; ' + message : message;
  };
  window.addEventListener('error', event => complain(event.message));
  window.addEventListener('unhandledrejection', event => complain(String(event.reason)));

  // ---- Theme ------------------------------------------------------------------------------------------------------
  // Colours and font of the theme, read once: each query after a drawing triggers a layout.
  let asked = new Map();
  const style = name => {
    if (!asked.has(name)) asked.set(name, getComputedStyle(root).getPropertyValue(name).trim());
    return asked.get(name);
  };
  const font = () => {
    if (!asked.has('font')) asked.set('font', getComputedStyle(document.body).fontFamily);
    return asked.get('font');
  };
  const LIGHT_FOR_PRINT = {
    '--ink': '#000000', '--soft': '#444444', '--line': '#bbbbbb', '--hair': '#dddddd', '--panel': '#ffffff',
    '--c0': '#0072b2', '--c1': '#c84e00', '--c2': '#00805b', '--c3': '#a4467f', '--c4': '#8a6100', '--c5': '#5b4fc0',
    '--c6': '#007d8a', '--c7': '#5a5f66',
    '--p0': '#b8dfc0', '--p1': '#f2d08a', '--p2': '#d8cff0', '--p3': '#b3a6dc', '--p4': '#f0a39a', '--p5': '#b5d3ea',
    '--p6': '#ecc3dc', '--p7': '#d3d7db', '--p8': '#cfe3a8',
  };
  const colourOf = name => (printing && LIGHT_FOR_PRINT[name]) || style(name);
  const paint = value => {
    if (typeof value !== 'string' || value[0] !== '@') return value;
    if (value === '@band') return colourOf('--soft') + '22';
    if (value === '@ink' || value === '@soft' || value === '@line') return colourOf('--' + value.slice(1));
    // The colour of a cause, or a shade of it for backgrounds.
    if (value[1] === 'p') return value.endsWith('~') ? colourOf('--' + value.slice(1, -1)) + '59' : colourOf('--' + value.slice(1));
    // The colour of a drive, or a shade of it.
    return value.endsWith('~') ? colourOf('--c' + value.slice(1, -1)) + '26' : colourOf('--c' + value.slice(1));
  };
  const COLOURED = new Set(['color', 'fillcolor', 'bgcolor']);
  // A copy of a trace or layout with the palette's names replaced; long arrays are shared, not copied.
  const painted = node => {
    if (Array.isArray(node)) return node.length && typeof node[0] === 'object' ? node.map(painted) : node;
    if (node === null || typeof node !== 'object') return node;
    const out = {};
    for (const [key, value] of Object.entries(node)) out[key] = COLOURED.has(key) ? paint(value) : painted(value);
    return out;
  };

  // Percentiles of the points of a curve over the number of nines, with as many decimals as there are nines to distinguish.
  const percentile = nines => (100 * (1 - 10 ** -nines)).toFixed(Math.max(1, Math.floor(nines))) + ' %';
  const traces = view => painted(view.data).map(trace => {
    if (trace.nines) return { ...trace, text: trace.x.map(percentile) };
    if (!trace.ticked) return trace;
    const { tickvals, ticktext } = view.layout.xaxis;
    return { ...trace, text: trace.x.map(x => ticktext[tickvals.indexOf(x)]) };
  });

  // ---- Drawing ----------------------------------------------------------------------------------------------------
  const LIVE = {
    displaylogo: false, modeBarButtonsToRemove: ['select2d', 'lasso2d', 'autoScale2d'],
    toImageButtonOptions: { format: 'svg', filename: 'assay-chart' },
  };
  const STILL = { staticPlot: true };
  const PRINT_WIDTH = 690;
  // Widths of all charts, measured at once.
  let widths = new Map();
  const widthOf = element => {
    if (!widths.size) for (const chart of charts) widths.set(chart.id, document.getElementById(chart.id).clientWidth);
    return widths.get(element.id) || element.clientWidth || 800;
  };

  // Least and largest positive value of an axis.
  const ends = (view, key) => {
    const letter = key[0];
    let [low, high] = [Infinity, 0];
    for (const trace of view.data) {
      if ((trace[letter + 'axis'] || letter) !== letter + key.slice(5)) continue;
      for (const value of trace[letter]) {
        if (value > 0) [low, high] = [Math.min(low, value), Math.max(high, value)];
      }
    }
    return [low, high];
  };

  // At least three ticks of a log axis: powers of ten where they are enough, 2 and 5 between few of them, else round steps.
  const logTicks = ([low, high], few) => {
    const within = mantissas => {
      const ticks = [];
      for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high) + 1; e += 1) {
        for (const m of mantissas) if (m * 10 ** e >= low * 0.97 && m * 10 ** e <= high * 1.03) ticks.push(m * 10 ** e);
      }
      return ticks;
    };
    const powers = within([1]);
    if (powers.length >= (few ? 3 : 4)) return powers;
    const halves = within([1, 2, 5]);
    if (halves.length >= 3) return halves;
    const rough = (high - low) / 3;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * [5, 2, 1].find(n => n * unit <= rough);
    const first = Math.ceil(low / step);
    return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(6)));
  };

  // Labels of a horizontal axis are not rotated: overlapping ones are left out.
  const levelTicks = (axis, room) => {
    const place = value => axis.type === 'log' ? Math.log10(value) : value;
    const places = axis.tickvals.map(place);
    const [first, last] = [places[0], places[places.length - 1]];
    let free = -Infinity;
    axis.tickangle = 0;
    axis.ticktext = axis.ticktext.map((text, i) => {
      const half = text.length * 3.4 + 5;
      const at = last > first ? (places[i] - first) / (last - first) * room * 0.94 : 0;
      if (!Number.isFinite(at) || at - half < free) return '';
      free = at + half;
      return text;
    });
  };

  const layoutOf = (chart, view, element) => {
    const layout = painted(view.layout);
    const width = printing ? PRINT_WIDTH : widthOf(element);
    const narrow = width < 520;
    const ink = colourOf('--ink');
    // Margin for the widest number on a vertical axis and for its title.
    const widest = view.data.reduce((most, trace) => trace.type === 'bar' ? most
      : trace.y.reduce((a, b) => Math.max(a, b), most), 0);
    const digits = Math.round(widest).toLocaleString('en').length;
    const labels = printing ? 0 : assayLabels.room(view, width);
    const margin = { l: narrow ? 26 + 6 * digits : 30 + 7 * digits, r: narrow ? 12 : 24 + labels, t: 14, b: 48 };
    const room = width - margin.l - margin.r;
    // Smaller on paper.
    const height = chart.height * (printing ? 0.7 : chart.of ? 1 : 0.8);
    Object.assign(layout, {
      width, height, margin,
      paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)',
      font: { family: font(), size: narrow ? 11 : 12.5, color: ink },
      hovermode: layout.hovermode || (view.data[0] && view.data[0].type === 'bar' ? 'closest' : 'x unified'),
      hoversubplots: 'axis',
      hoverlabel: { bgcolor: colourOf('--panel'), bordercolor: colourOf('--line'), font: { color: ink }, namelength: -1 },
      showlegend: false, bargap: 0.25,
      modebar: { bgcolor: 'rgba(0,0,0,0)', color: colourOf('--soft'), activecolor: ink },
    });
    for (const key of Object.keys(layout).filter(key => /^[xy]axis\d*$/.test(key))) {
      const axis = layout[key];
      axis.gridcolor = colourOf('--hair');
      axis.linecolor = colourOf('--line');
      axis.zerolinecolor = colourOf('--line');
      axis.automargin = axis.automargin || false;
      // The margins have space for the labels: plotly need not measure them.
      axis.ticklabeloverflow = 'allow';
      if (axis.title) axis.title.standoff = 8;
      if (key[0] === 'y' && axis.type !== 'category') axis.tickformat = axis.tickformat || ',~g';
      if (key === 'xaxis' && axis.tickvals && view.data[0] && view.data[0].nines) levelTicks(axis, room);
      if (key === 'xaxis' && axis.tickvals && view.data[0] && view.data[0].mode === 'lines+markers') {
        if (chart.logX !== undefined) axis.type = chart.logX ? 'log' : 'linear';
        levelTicks(axis, room);
      }
    }
    if (layout.yaxis9) {
      // Strip of causes: each row begins with a square in its drive's colour.
      layout.yaxis9.ticktext = layout.yaxis9.ticktext.map(text =>
        `<span style="color:${paint(text.slice(0, 2))}">${text.slice(2)}</span>`);
    }
    if (chart.log !== undefined && layout.yaxis) {
      const value = view.data[0] && view.data[0].orientation === 'h' ? layout.xaxis : layout.yaxis;
      value.type = chart.log ? 'log' : 'linear';
    }
    for (const [key, axis] of Object.entries(layout)) {
      if (!axis || axis.type !== 'log' || axis.tickvals) continue;
      const [low, high] = ends(view, key);
      // One value alone has a range of two decades.
      if (high > low * 1.001) axis.tickvals = logTicks([low, high], printing || narrow);
      else axis.dtick = 'D2';
    }
    return layout;
  };
  const isLog = chart => {
    const view = chart.views[chart.first];
    const axis = view.data[0] && view.data[0].orientation === 'h' ? view.layout.xaxis : view.layout.yaxis;
    return chart.log !== undefined ? chart.log : axis.type === 'log';
  };

  let done = 0;
  const finished = () => {
    done += 1;
    if (done < charts.length) return;
    root.dataset.drawn = String(charts.length);
    root.dataset.drawMs = drawMs.toFixed(0);
    root.dataset.drawnAtMs = performance.now().toFixed(0);
    performance.mark('assay-drawn');
  };

  const draw = id => {
    // Not before the library is there; the chart waits.
    if (!window.Plotly) return;
    const chart = byId.get(id);
    const element = document.getElementById(id);
    const began = performance.now();
    const fresh = !chart.drawn;
    const view = chart.views[chart.first];
    chart.drawn = true;
    waiting.delete(id);
    try {
      const layout = layoutOf(chart, view, element);
      element.style.height = layout.height + 'px';
      const plot = fresh ? Plotly.newPlot : Plotly.react;
      const data = assayLegend.shown(chart, traces(view));
      const still = !chart.live;
      const titles = still ? assayTitles.taken(layout) : [];
      plot(element, still ? assayDots.joined(data) : data, layout, still ? STILL : LIVE)
        .then(() => {
          if (still) assayDots.apart(data, element);
          assayTitles.put(titles, element, layout);
          if (!printing) assayLabels.put(chart, view, element, paint);
          else assayLabels.hide(element);
          if (!still) {
            element.once('plotly_relayout', () => {
              assayLabels.hide(element);
              // Enlarged, an axis has the ticks of what is shown.
              const logs = Object.keys(layout).filter(key => layout[key] && layout[key].type === 'log' && !view.layout[key].tickvals);
              Plotly.relayout(element, Object.fromEntries(logs.map(key => [key + '.tickmode', 'auto'])));
            });
          }
        })
        .catch(error => complain(id + ': ' + error))
        .then(() => fresh && finished());
      assayLegend.show(chart, view, element, paint, () => draw(id));
    } catch (error) {
      complain(id + ': ' + error);
      element.textContent = 'This chart could not be drawn: ' + error;
      element.classList.add('failed');
      if (fresh) finished();
    }
    drawMs += performance.now() - began;
  };
  const drawAll = () => [...waiting].forEach(draw);

  // One chart per task, so that the page stays responsive. Not requestIdleCallback: on a busy machine it may never run, and
  // a page must be complete for printing and searching.
  let pumping = false;
  const pump = () => {
    const next = waiting.values().next();
    pumping = !next.done;
    if (next.done) return;
    draw(next.value);
    setTimeout(pump, 0);
  };
  const near = new Set();
  const drawWaiting = () => {
    if (!window.Plotly) return;
    [...near].filter(id => waiting.has(id)).forEach(draw);
    if (!pumping) {
      pumping = true;
      setTimeout(pump, 0);
    }
  };
  // Redraws all charts, those near the window first.
  const redrawAll = () => {
    [asked, widths] = [new Map(), new Map()];
    charts.forEach(chart => waiting.add(chart.id));
    drawWaiting();
  };

  if (charts.length === 0) {
    Object.assign(root.dataset, { drawn: '0', drawMs: '0', drawnAtMs: performance.now().toFixed(0) });
  } else {
    const start = query.get('draw') === 'now' ? drawAll : drawWaiting;
    assayLibrary.then(start).catch(error => complain('the library of the charts: ' + error));
  }
  const watch = new IntersectionObserver(entries => {
    for (const entry of entries) {
      if (!entry.isIntersecting) near.delete(entry.target.id);
      else {
        near.add(entry.target.id);
        if (waiting.has(entry.target.id)) draw(entry.target.id);
      }
    }
  }, { rootMargin: '300px' });
  for (const chart of charts) {
    const element = document.getElementById(chart.id);
    watch.observe(element);
    element.addEventListener('pointerenter', () => {
      chart.live = true;
      draw(chart.id);
    }, { once: true });
  }

  // ---- Switches ---------------------------------------------------------------------------------------------------
  for (const button of document.querySelectorAll('[data-log]')) {
    const chart = byId.get(button.dataset.log);
    button.setAttribute('aria-pressed', String(isLog(chart)));
    button.addEventListener('click', () => {
      chart.log = !isLog(chart);
      button.setAttribute('aria-pressed', String(chart.log));
      draw(chart.id);
    });
  }
  for (const button of document.querySelectorAll('[data-log-x]')) {
    const chart = byId.get(button.dataset.logX);
    const now = () => chart.logX !== undefined ? chart.logX : chart.views[chart.first].layout.xaxis.type === 'log';
    button.setAttribute('aria-pressed', String(now()));
    button.addEventListener('click', () => {
      chart.logX = !now();
      button.setAttribute('aria-pressed', String(chart.logX));
      draw(chart.id);
    });
  }
  for (const select of document.querySelectorAll('[data-view]')) {
    const chart = byId.get(select.dataset.view);
    select.value = String(chart.first);
    select.addEventListener('change', () => {
      chart.first = Number(select.value);
      draw(chart.id);
    });
  }
  for (const set of document.querySelectorAll('.switch')) {
    const section = document.getElementById(set.dataset.section);
    const choose = value => {
      for (const table of section.querySelectorAll('[data-metric]')) table.hidden = table.dataset.metric !== value;
      for (const figure of section.querySelectorAll('[data-follows] .drawing')) {
        byId.get(figure.id).first = Number(value);
        draw(figure.id);
      }
    };
    set.addEventListener('change', event => choose(event.target.value));
    // A reloaded page keeps the state of its form.
    const checked = set.querySelector('input:checked');
    if (checked && checked.value !== set.dataset.first) choose(checked.value);
  }

  const button = document.getElementById('theme');
  const WORDS = { '': 'automatic', light: 'light', dark: 'dark' };
  const label = () => { button.textContent = 'theme: ' + WORDS[root.dataset.theme || '']; };
  button.hidden = false;
  label();
  button.addEventListener('click', () => {
    const order = ['', 'light', 'dark'];
    const next = order[(order.indexOf(root.dataset.theme || '') + 1) % 3];
    if (next) root.dataset.theme = next; else delete root.dataset.theme;
    try {
      localStorage.setItem('assay-theme', next);
    } catch {
      // Storage is unavailable: the choice lasts until the page is closed.
    }
    label();
    redrawAll();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawAll);

  // What `copy.js` needs of a chart: its traces and layout, as drawn.
  window.assayCharts = {
    of: id => {
      const chart = byId.get(id);
      const element = document.getElementById(id);
      const view = chart.views[chart.first];
      return { data: assayLegend.shown(chart, traces(view)), layout: layoutOf(chart, view, element), simulated: chart.simulated, paint };
    },
    ids: () => charts.map(chart => chart.id),
  };

  // ---- Size and print ---------------------------------------------------------------------------------------------
  let width = innerWidth;
  let timer = 0;
  addEventListener('resize', () => {
    // Legends and margins depend on the width only; a phone's window height changes while scrolling.
    if (innerWidth === width || printing) return;
    width = innerWidth;
    clearTimeout(timer);
    timer = setTimeout(redrawAll, 120);
  });
  const print = on => {
    if (printing === on) return;
    printing = on;
    // Print all charts.
    redrawAll();
    if (on) drawAll();
  };
  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));

  // ---- Navigation -------------------------------------------------------------------------------------------------
  const links = new Map([...document.querySelectorAll('.bar a')].map(a => [a.hash.slice(1), a]));
  const spy = new IntersectionObserver(entries => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const a of links.values()) a.removeAttribute('aria-current');
      links.get(entry.target.id).setAttribute('aria-current', 'true');
    }
  }, { rootMargin: '-10% 0px -80% 0px' });
  for (const id of links.keys()) {
    const target = document.getElementById(id);
    if (target) spy.observe(target);
  }
  // On a phone the contents are a menu.
  const menu = document.getElementById('menu');
  const open = on => {
    menu.setAttribute('aria-expanded', String(on));
    document.getElementById('contents').classList.toggle('open', on);
  };
  menu.hidden = false;
  root.classList.add('scripted');
  menu.addEventListener('click', () => open(menu.getAttribute('aria-expanded') !== 'true'));
  document.getElementById('contents').addEventListener('click', event => event.target.closest('a') && open(false));
  // A link to a chart or table inside something folded opens it.
  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let up = target; up; up = up.parentElement) if (up.tagName === 'DETAILS') up.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener('hashchange', unfold);
  if (location.hash) unfold();
  // One badge at a time is open.
  const badges = [...document.querySelectorAll('.badge')];
  for (const badge of badges) {
    badge.addEventListener('toggle', () => badge.open && badges.forEach(other => { if (other !== badge) other.open = false; }));
  }
  document.addEventListener('click', event => event.target.closest('.badge') || badges.forEach(badge => { badge.open = false; }));
})();
