"use strict";
// Saves a chart: the drawing as SVG in the current colours, the points as CSV with all digits.
(() => {
  function download(name, type, text) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  function svg(drawn) {
    const copy = drawn.cloneNode(true);
    const style = getComputedStyle(document.documentElement);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("font-family", "system-ui, 'Noto Sans', 'DejaVu Sans', sans-serif");
    const text = new XMLSerializer().serializeToString(copy);
    // The SVG has no style sheet, so variables are replaced by their values.
    const backed = text.replace(/(<svg[^>]*>)/, `$1<rect width="100%" height="100%" fill="var(--paper)"/>`);
    return backed.replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  }

  function field(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return String(value);
    // Spreadsheets treat such text as a formula, unless it is a number.
    const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value);
    const text = !number && /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  const lines = (rows) => rows.map((row) => row.map(field).join(",") + "\r\n").join("");

  const chartCsv = (chart) => lines([["series", "x", "y", "low", "high", "n", "detail"],
    ...chart.points.map((point) => [point.series, point.x, point.y, point.low, point.high, point.n, point.detail])]);

  const flameCsv = (flame) => lines([["routine", "own", "inclusive"],
    ...flame.routines.map((routine) => [routine.name, routine.own, routine.inclusive])]);

  Object.assign(window.Klatch, { download, svg, chartCsv, flameCsv });
})();
