// Theme before the first paint: from the address (?theme=dark), else the stored choice, else the system's preference.
(() => {
  const known = theme => theme === 'light' || theme === 'dark' ? theme : null;
  let chosen = known(new URLSearchParams(location.search).get('theme'));
  try {
    chosen = chosen || known(localStorage.getItem('assay-theme'));
  } catch {
    // Storage is unavailable: use the system's preference.
  }
  if (chosen) document.documentElement.dataset.theme = chosen;
})();
