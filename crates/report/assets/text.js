"use strict";
// Texts about points: numbers with their units, and tooltips.
window.Klatch = (() => {
  const numbers = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
  const large = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
  const number = (value) => (Math.abs(value) >= 1000 ? large : numbers).format(value);
  const withUnit = (value, axis) => (axis.unit ? `${number(value)} ${axis.unit}` : number(value));
  // Failures can be long; the footnotes have the full text.
  const short = (text, most = 160) => (text.length > most ? `${text.slice(0, most)}… (see the table)` : text);

  function tooltip(chart, point) {
    const lines = [];
    const named = typeof point.x === "string";
    if (named) lines.push(point.x);
    if (point.series && point.series !== point.x) lines.push(point.series);
    if (!named) lines.push(`${chart.x.label}: ${withUnit(point.x, chart.x)}`);
    if (point.y !== null) lines.push(withUnit(point.y, chart.y));
    if (point.low !== null) lines.push(`interval ${number(point.low)} – ${number(point.high)}`);
    if (point.n !== null) lines.push(`n = ${large.format(point.n)}`);
    if (point.detail) lines.push(short(point.detail));
    return lines.join("\n");
  }

  return { number, withUnit, short, tooltip };
})();
