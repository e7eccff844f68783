// Light and dark: as the system says until the reader chooses; paper is light.

const theme = (() => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let chosen = null;
  let printing = false;
  const current = () => printing ? 'light' : chosen ?? (dark.matches ? 'dark' : 'light');

  function apply() {
    document.documentElement.dataset.theme = current();
    document.getElementById('theme').textContent = current() === 'dark' ? 'Light' : 'Dark';
  }
  function change() {
    apply();
    redrawCharts();
  }
  function start() {
    apply();
    dark.addEventListener('change', change);
    document.getElementById('theme').addEventListener('click', () => {
      chosen = current() === 'dark' ? 'light' : 'dark';
      change();
    });
    addEventListener('beforeprint', () => {
      printing = true;
      change();
    });
    addEventListener('afterprint', () => {
      printing = false;
      change();
    });
  }
  return {start};
})();
