// Numbers for people: three significant digits and a unit.

const NARROW = '\u202f';

function digits(value) {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 99.95) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3);
}
function timeText(ms) {
  if (ms == null || Number.isNaN(ms)) return '–';
  const size = Math.abs(ms);
  if (size >= 7200e3) return digits(ms / 3600e3) + NARROW + 'h';
  if (size >= 120e3) return digits(ms / 60e3) + NARROW + 'min';
  if (size >= 999.5) return digits(ms / 1e3) + NARROW + 's';
  if (size >= 0.9995) return digits(ms) + NARROW + 'ms';
  if (size >= 0.0009995) return digits(ms * 1e3) + NARROW + 'µs';
  return digits(ms * 1e6) + NARROW + 'ns';
}
function percentText(value) {
  if (value == null || Number.isNaN(value)) return '–';
  const size = Math.abs(value);
  return (size === 0         ? '0' :
              size >= 99.95  ? value.toFixed(0) :
              size >= 0.0995 ? value.toFixed(1) :
                               value.toFixed(2)) +
      NARROW + '%';
}
const countText = value => value == null ? '–' : Math.round(value).toLocaleString('en-US');
function bytesText(bytes) {
  if (bytes == null || !(bytes >= 0)) return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let at = 0;
  for (; bytes >= 1023.5 && at < units.length - 1; ++at) bytes /= 1024;
  return (at === 0 ? String(Math.round(bytes)) : digits(bytes)) + NARROW + units[at];
}
const rateText = value => value == null ? '–' : digits(value);
/** A long name without its middle. */
const short = (text, most = 72) =>
    text.length <= most ? text : text.slice(0, Math.ceil(most * 0.6)) + '…' + text.slice(-Math.floor(most * 0.4) + 1);
/** A sentence's beginning, unless it begins with a name, as in_order=False. */
const upperFirst = text => /^[a-z]+([ ,:]|$)/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
