// Two drives side by side: the figures that both have, and their ratio. The choice is part of the address.
(() => {
  'use strict';
  const { figures, drives } = JSON.parse(document.getElementById('data').textContent);
  const table = document.getElementById('pair');
  const choices = ['first', 'second'].map(id => document.getElementById(id));
  const element = (name, text, kind) => {
    const made = document.createElement(name);
    made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const name = drive => drive.s ? `${drive.n} (simulated)` : drive.n;
  for (const choice of choices) {
    drives.forEach((drive, number) => {
      const option = element('option', name(drive));
      option.value = number;
      choice.append(option);
    });
  }
  const number = value => {
    if (Math.abs(value) >= 99.95) return Math.round(value).toLocaleString('en-US');
    return value.toPrecision(3);
  };
  const show = () => {
    const pair = choices.map(choice => drives[choice.value]);
    const [first, second] = pair.map(drive => new Map(drive.v));
    const rows = [];
    let better = [0, 0];
    for (const [figure, value] of first) {
      if (value === null || second.get(figure) === undefined || second.get(figure) === null) continue;
      const [title, direction] = figures[figure];
      const other = second.get(figure);
      const row = document.createElement('tr');
      const heading = element('th', title);
      heading.scope = 'row';
      const wins = direction === 0 || value === other ? null : Number(direction * (other - value) > 0);
      if (wins !== null) better[wins] += 1;
      row.append(heading);
      [value, other].forEach((of, side) => row.append(element('td', number(of), wins === side ? 'number better' : 'number')));
      row.append(element('td', value === 0 ? '' : `${(other / value).toPrecision(3)}\u00d7`, 'number'));
      rows.push(row);
    }
    const headings = document.createElement('tr');
    headings.append(element('th', 'figure'), ...pair.map(drive => element('th', name(drive), 'number')), element('th', 'second to first', 'number'));
    table.tHead.replaceChildren(headings);
    table.tBodies[0].replaceChildren(...rows);
    document.getElementById('summary').textContent = rows.length
      ? `${rows.length} figures of both; better in ${better[0]} is the first, in ${better[1]} the second.`
      : 'These drives have no figure of the same suite and workload.';
    location.replace(`#${choices.map(choice => choice.value).join('-')}`);
  };
  const [first, second] = location.hash.slice(1).split('-').map(Number);
  const known = value => Number.isInteger(value) && value >= 0 && value < drives.length;
  choices[0].value = known(first) ? first : 0;
  choices[1].value = known(second) ? second : Math.min(1, drives.length - 1);
  for (const choice of choices) choice.addEventListener('change', show);
  show();
})();
