// Axis titles of still charts, as text over the drawing. plotly measures every axis label on the page to place a title,
// and each measurement triggers a layout: a sixth of the drawing time of eighty charts. Here a canvas measures the labels
// without layout. A live chart has plotly's own titles at the same positions.
const assayTitles = (() => {
  'use strict';
  // plotly's distances: axis to numbers, numbers to title; title size relative to the numbers, line height relative to it.
  const GAP = 4;
  const STANDOFF = 8;
  const LARGER = 1.2;
  const LINE = 1.2;
  const pen = document.createElement('canvas').getContext('2d');

  // Removes the titles of a layout and returns them. Axes with automatic margins keep theirs.
  const taken = layout => {
    const titles = [];
    for (const [key, axis] of Object.entries(layout)) {
      const name = /^([xy])axis(\d*)$/.exec(key);
      const text = name && axis.title && axis.title.text;
      if (!text || axis.automargin || axis.side || /[<&]/.test(text)) continue;
      titles.push({ letter: name[1], axis: name[1] + name[2], text, domain: axis.domain || [0, 1] });
      axis.title = { text: '' };
    }
    return titles;
  };

  // Shows them over the drawing and removes those of an earlier one.
  const put = (titles, element, layout) => {
    for (const old of element.querySelectorAll(':scope > .axis-title')) old.remove();
    const { font } = layout;
    // plotly's own title: category labels have widened the margin.
    const plot = element._fullLayout._size;
    const size = Math.round(font.size * LARGER);
    const middle = (domain, from, to) => from + (to - from) * (domain[0] + domain[1]) / 2;
    pen.font = `${font.size}px ${font.family}`;
    for (const title of titles) {
      let [left, top] = [0, 0];
      if (title.letter === 'x') {
        left = middle(title.domain, plot.l, plot.l + plot.w);
        top = plot.t + plot.h + STANDOFF + (font.size + size / 2) * LINE;
      } else {
        const labels = [...element.querySelectorAll(`.${title.axis}tick text`)];
        const widest = Math.max(0, ...labels.map(label => pen.measureText(label.textContent).width));
        left = Math.max(0, plot.l - GAP - widest - STANDOFF - size * LINE) + size * LINE / 2;
        top = middle(title.domain, plot.t + plot.h, plot.t);
      }
      const span = document.createElement('span');
      span.className = 'axis-title ' + title.letter;
      span.textContent = title.text;
      Object.assign(span.style, { left: left + 'px', top: top + 'px', fontSize: size + 'px' });
      element.append(span);
    }
  };

  return { taken, put };
})();
