// The table of drives: sorted by the column whose heading is pressed, filtered by words.
(() => {
  'use strict';
  const table = document.getElementById('drives');
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[0].cells];
  const rows = [...body.rows];
  table.tHead.addEventListener('click', event => {
    const heading = event.target.closest('th');
    if (!heading) return;
    const column = headings.indexOf(heading);
    const order = heading.getAttribute('aria-sort') === 'descending' ? 'ascending' : 'descending';
    for (const other of headings) other.setAttribute('aria-sort', other === heading ? order : 'none');
    const sign = order === 'ascending' ? 1 : -1;
    const numeric = heading.classList.contains('number');
    const key = row => numeric ? row.cells[column].dataset.v : row.cells[column].textContent.trim();
    const compare = (a, b) => numeric ? Number(a) - Number(b) : a.localeCompare(b, 'en', { numeric: true });
    rows.sort((a, b) => {
      const [first, second] = [key(a), key(b)];
      // Rows without a value come last in either order.
      if (!first || !second) return (first ? 0 : 1) - (second ? 0 : 1);
      return sign * compare(first, second);
    });
    body.append(...rows);
  });
  const filter = document.getElementById('filter');
  const shown = document.getElementById('shown');
  const texts = new Map(rows.map(row => [row, row.textContent.toLowerCase()]));
  const apply = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const fits = words.every(word => texts.get(row).includes(word));
      row.hidden = !fits;
      if (fits) count += 1;
    }
    shown.textContent = words.length ? `${count} of ${rows.length}` : '';
  };
  filter.addEventListener('input', apply);
  apply();
})();
