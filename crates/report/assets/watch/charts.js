// Line charts as SVG: a scale of its own, a line for each series, numbers at the edges.
"use strict";

// Appends an element of the same kind, HTML or SVG. Text is only ever text.
function element(parent, name, attributes, text) {
  const made = document.createElementNS(parent.namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function grouped(number) {
  return Math.round(number).toLocaleString("en-US");
}

function time(us) {
  const digits = (value) => (value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0));
  if (us < 1e3) return `${digits(us)} µs`;
  return us < 1e6 ? `${digits(us / 1e3)} ms` : `${digits(us / 1e6)} s`;
}

// The least of 1, 2, 5, 10, 20 … that is not below the value.
function nice(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.9999);
}

// Draws `series`, each { color, points: [[x, y]] }, in the SVG element of this id. `log`: y is on a scale of powers of ten.
function draw(id, series, { log = false, format }) {
  const svg = document.getElementById(id);
  const width = svg.clientWidth, height = svg.clientHeight;
  svg.replaceChildren();
  if (!width) return;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const left = 62, right = width - 8, top = 8, bottom = height - 18;
  const points = series.flatMap((one) => one.points).filter(([, y]) => y !== null && (!log || y > 0));
  if (!points.length) return element(svg, "text", { x: left, y: height / 2 }, "nothing yet");
  const end = Math.max(...points.map(([x]) => x), 1);
  const most = Math.max(...points.map(([, y]) => y));
  const low = log ? 10 ** Math.floor(Math.log10(Math.min(...points.map(([, y]) => y)))) : 0;
  const high = log ? Math.max(10 ** Math.ceil(Math.log10(most)), low * 10) : nice(most || 1);
  const share = (y) => (log ? Math.log(y / low) / Math.log(high / low) : y / high);
  const at = ([x, y]) => `${(left + (x / end) * (right - left)).toFixed(1)},${(bottom - share(y) * (bottom - top)).toFixed(1)}`;
  const marks = log ? [] : [0, high / 2, high];
  for (let mark = low; log && mark <= high * 1.001; mark *= 10) marks.push(mark);
  for (const mark of marks) {
    const y = bottom - share(mark) * (bottom - top);
    element(svg, "line", { class: "grid", x1: left, x2: right, y1: y, y2: y });
    element(svg, "text", { x: left - 6, y: y + 4, "text-anchor": "end" }, format(mark));
  }
  element(svg, "text", { x: left, y: height - 3 }, "0 s");
  element(svg, "text", { x: right, y: height - 3, "text-anchor": "end" }, `${end < 10 ? end.toFixed(1) : end.toFixed(0)} s`);
  for (const { color, points } of series) {
    const known = points.filter(([, y]) => y !== null && (!log || y > 0));
    element(svg, "polyline", { class: "line", stroke: `var(${color})`, points: known.map(at).join(" ") });
  }
}

// Names and colours of the series, below the chart.
function legend(id, series) {
  const place = document.getElementById(id);
  if (place.childElementCount) return;
  for (const { name, color } of series) {
    const entry = element(place, "span", {}, "");
    element(entry, "i", {}).style.borderColor = `var(${color})`;
    entry.append(name);
  }
}
