// Titles of axes of still charts, as ordinary text over the drawing. To keep a title clear of the numbers beside it plotly measures every one of
// them on the page, and each measurement lays the page out anew: a sixth of the drawing time of eighty charts. Here the numbers are
// measured by a canvas, which needs no page. A live chart has plotly's own titles, in the same places.
const assayTitles = (() => {
  'use strict';
  // As plotly has them: between an axis and its numbers, between these and the title, the title's size in that of the numbers, and the height
  // of a line in its size.
  const GAP = 4;
  const STANDOFF = 8;
  const LARGER = 1.2;
  const LINE = 1.2;
  const pen = document.createElement('canvas').getContext('2d');

  // The titles of a layout, which loses them. Axes that make room for their own labels keep theirs.
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

  // Show them over what was drawn, in place of those of an earlier drawing.
  const put = (titles, element, layout) => {
    for (const old of element.querySelectorAll(':scope > .axis-title')) old.remove();
    const { font } = layout;
    // plotly's own: labels of categories have made their margin wider.
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
