// Before anything is painted: the theme of the address (?theme=dark), else the one chosen on this page earlier, else
// none, so that the system's preference holds.
(() => {
  const known = theme => theme === 'light' || theme === 'dark' ? theme : null;
  let chosen = known(new URLSearchParams(location.search).get('theme'));
  try {
    chosen = chosen || known(localStorage.getItem('assay-theme'));
  } catch {
    // Storage is off for this page; the system's preference holds.
  }
  if (chosen) document.documentElement.dataset.theme = chosen;
})();
