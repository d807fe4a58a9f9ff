// Sorting of scoreboards: a press on the button of a column sorts by it, best first; another press reverses.
(() => {
  'use strict';
  for (const table of document.querySelectorAll('.board table')) {
    const headings = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    table.tHead.addEventListener('click', event => {
      const button = event.target.closest('.sort');
      if (!button) return;
      const heading = button.closest('th');
      const column = headings.indexOf(heading);
      const best = heading.dataset.lower === undefined ? 'descending' : 'ascending';
      const worst = best === 'descending' ? 'ascending' : 'descending';
      const order = heading.getAttribute('aria-sort') === best ? worst : best;
      for (const other of headings) if (other.hasAttribute('aria-sort')) other.setAttribute('aria-sort', 'none');
      heading.setAttribute('aria-sort', order);
      const sign = order === 'ascending' ? 1 : -1;
      // Rows without a value come last in either order.
      const value = row => row.cells[column].dataset.v === undefined ? Infinity : sign * Number(row.cells[column].dataset.v);
      const rows = [...body.rows].sort((a, b) => value(a) - value(b));
      body.append(...rows);
    });
  }
})();
