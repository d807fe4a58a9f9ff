// Scatter plots of thousands of dots: plotly creates an element per dot, and two such charts take a fifth of the time of
// drawing eighty. In a still chart the dots are drawn as one line element whose vertices become dots. The outermost dots
// remain as invisible markers, from which plotly computes the axis ranges, so that these do not change in a live chart.
const assayDots = (() => {
  'use strict';
  const MANY = 200;
  // plotly's symbols around the current point, by half the dot's size. A circle is the round cap of a line without length.
  const SHAPES = {
    circle: () => 'h0',
    'x-thin-open': r => `m${-r},${-r}l${2 * r},${2 * r}m0,${-2 * r}l${-2 * r},${2 * r}`,
    'diamond-open': r => `m${1.3 * r},0l${-1.3 * r},${1.3 * r}l${-1.3 * r},${-1.3 * r}l${1.3 * r},${-1.3 * r}z`,
    'square-open': r => `m${-r},${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  };
  const made = new WeakMap();
  const isCloud = trace => trace.type === 'scatter' && trace.mode === 'markers' && trace.visible !== false
    && trace.x.length > MANY && trace.marker.symbol in SHAPES;

  // Positions of minimum and maximum; a log axis has only positive values.
  const furthest = values => {
    let [least, most] = [-1, -1];
    values.forEach((value, i) => {
      if (!(value > 0)) return;
      if (least < 0 || value < values[least]) least = i;
      if (most < 0 || value > values[most]) most = i;
    });
    return [least, most].filter(i => i >= 0);
  };

  // Traces for plotly.
  const joined = data => data.flatMap((trace, number) => {
    if (!isCloud(trace)) return [trace];
    const kept = [...furthest(trace.x), ...furthest(trace.y)];
    const zero = trace.y.indexOf(0);
    if (zero >= 0) kept.push(zero);
    const pick = values => kept.map(i => values[i]);
    const width = trace.marker.symbol === 'circle' ? trace.marker.size : 1;
    return [
      { ...trace, mode: 'lines', uid: 'dots' + number, line: { color: trace.marker.color, width, simplify: false } },
      { ...trace, x: pick(trace.x), y: pick(trace.y), marker: { ...trace.marker, opacity: 0 }, showlegend: false },
    ];
  });

  // Converts the lines of a drawing to dots.
  const apart = (data, element) => data.forEach((trace, number) => {
    if (!isCloud(trace)) return;
    const dot = SHAPES[trace.marker.symbol](trace.marker.size / 2);
    for (const path of element.querySelectorAll(`.tracedots${number} .js-line`)) {
      const line = path.getAttribute('d');
      if (line === made.get(path)) continue;
      const dots = (line.match(/-?[\d.]+,-?[\d.]+/g) || []).map(at => 'M' + at + dot).join('');
      made.set(path, dots);
      path.setAttribute('d', dots);
      path.style.strokeLinecap = trace.marker.symbol === 'circle' ? 'round' : 'butt';
    }
  });

  return { joined, apart };
})();
