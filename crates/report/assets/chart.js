"use strict";
// Draws a chart of the report with Observable Plot. Colours are variables of the style sheet, so that they follow its theme.
(() => {
  const { number, short, tooltip } = window.Klatch;
  const COLOURS = 8;
  const DASHES = [null, "6 3", "2 3"];
  const NARROW = 560;
  // Opacity of bars whose colour is used a second time.
  const PALE = 0.5;

  const seriesOf = (chart) => [...new Set(chart.points.map((point) => point.series))];
  const colour = (place) => `var(--s${place % COLOURS})`;
  const dash = (place) => DASHES[Math.floor(place / COLOURS) % DASHES.length];

  const measure = (() => {
    const context = document.createElement("canvas").getContext("2d");
    context.font = "12px system-ui, 'Noto Sans', 'DejaVu Sans', sans-serif";
    return (text) => context.measureText(text).width;
  })();

  // Breaks a label into lines of at most `width` px, within words if necessary.
  function wrapped(text, width) {
    const lines = [""];
    for (const part of text.split(/(?<=[ ,:/_-])/)) {
      for (let rest = part; rest; ) {
        const line = lines[lines.length - 1];
        if (measure(line + rest) <= width) {
          lines[lines.length - 1] += rest;
          rest = "";
        } else if (line) {
          lines.push("");
        } else {
          let fits = rest.length;
          while (fits > 1 && measure(rest.slice(0, fits)) > width) fits -= 1;
          lines[lines.length - 1] = rest.slice(0, fits);
          rest = rest.slice(fits);
          if (rest) lines.push("");
        }
      }
    }
    return lines.map((line) => line.trim()).join("\n");
  }

  const tip = (chart, points, options) =>
    Plot.tip(points, Plot.pointer({ ...options, title: (point) => tooltip(chart, point), fill: "var(--paper)",
      stroke: "var(--line)", lineWidth: 26, textPadding: 10, maxRadius: 60 }));

  // Options common to bars and stacked bars: names to the left if they fit, else above the bars.
  function rows(chart, width, names) {
    const longest = Math.max(0, ...names.map(measure));
    const above = longest > width * 0.34;
    const room = above ? width - 24 : width * 0.34;
    const text = new Map(names.map((name) => [name, wrapped(name, room)]));
    const lines = Math.max(1, ...[...text.values()].map((label) => label.split("\n").length));
    const height = above ? 30 + lines * 15 : Math.max(28, lines * 15 + 8);
    const labels = Plot.text(names, above
      ? { y: (name) => name, frameAnchor: "left", text: (name) => text.get(name), textAnchor: "start",
          lineAnchor: "top", dy: -height / 2 + 2, fill: "var(--ink)" }
      : { y: (name) => name, frameAnchor: "left", text: (name) => text.get(name), textAnchor: "end", dx: -10,
          fill: "var(--ink)" });
    return {
      labels,
      bar: above ? { insetTop: lines * 15 + 6, insetBottom: 6 } : { insetTop: 4, insetBottom: 4 },
      shift: above ? (lines * 15) / 2 : 0,
      options: { marginLeft: above ? 1 : Math.ceil(Math.min(longest, room)) + 14,
        height: names.length * height + 50, y: { domain: names, axis: null, padding: 0 } },
    };
  }

  function bars(chart, width) {
    const names = chart.points.map((point) => point.x);
    const { labels, bar, shift, options } = rows(chart, width, names);
    const good = chart.points.filter((point) => point.y !== null);
    const bad = chart.points.filter((point) => point.y === null);
    const largest = Math.max(0, ...good.map((point) => point.y));
    const most = Math.min(Math.max(largest, ...good.map((point) => point.high ?? 0)), largest * 2) || 1;
    const end = (point) => Math.min(point.high ?? point.y, most);
    const several = seriesOf(chart);
    // A bar from zero has no place on a logarithmic axis: dots, from the left edge.
    const log = chart.y.scale === "log" && good.length > 0;
    const fill = several.length > 1 && several[0] ? (point) => colour(several.indexOf(point.series)) : "var(--s0)";
    const value = (point) => number(point.y);
    const scale = log ? upwards(chart) : null;
    const marginRight = 16 + Math.max(0, ...good.map((point) => measure(value(point))));
    const axis = log ? { type: "log", domain: scale.domain, ticks: logTicks(...scale.domain), tickFormat: number, clamp: true }
      : { domain: [0, most], ticks: fitting(most, width - options.marginLeft - marginRight, width < NARROW ? 4 : 7) };
    const left = log ? scale.domain[0] : 0;
    const drawn = log ? [
      Plot.ruleY(good, { x1: () => left, x2: "y", y: "x", dy: shift, stroke: fill, strokeOpacity: 0.5 }),
      Plot.dot(good, { x: "y", y: "x", dy: shift, r: 5, fill }),
    ] : [Plot.barX(good, { x: "y", y: "x", fill, fillOpacity: 0.85, ...bar })];
    // Dots are on the lines between which bars would be.
    return { ...options, y: { ...options.y, padding: log ? 0.5 : 0 }, marginRight, marginBottom: 40,
      x: { label: `${label(chart.y)} →`, grid: true, labelAnchor: "right", ...axis },
      marks: [
        ...drawn,
        Plot.ruleY(good.filter((point) => point.low !== null), { x1: (point) => Math.max(left, point.low), x2: end,
          y: "x", dy: shift, stroke: "var(--ink)", strokeWidth: 1.5, marker: "tick" }),
        Plot.text(good, { x: end, y: "x", dy: shift, text: value, textAnchor: "start", dx: 8, fill: "var(--ink)" }),
        Plot.text(bad, { frameAnchor: "left", y: "x", dy: shift, dx: 4, textAnchor: "start", fill: "var(--bad)",
          text: (point) => `✕ ${short(point.detail ?? "no value", Math.max(12, Math.floor((width - options.marginLeft) / 8) - 18))}` }),
        Plot.ruleX([left], { stroke: "var(--quiet)" }),
        labels,
        tip(chart, chart.points, { x: (point) => point.y ?? left, y: "x" }),
      ] };
  }

  function stacked(chart, width) {
    const names = [...new Set(chart.points.map((point) => point.x))];
    const { labels, bar, options } = rows(chart, width, names);
    const all = seriesOf(chart);
    return { ...options, marginRight: 20, marginBottom: 40,
      color: { domain: all, range: all.map((_, place) => colour(place)) },
      x: { label: `${label(chart.y)} →`, grid: true, ticks: width < NARROW ? 4 : 7, labelAnchor: "right" },
      marks: [
        Plot.barX(chart.points, Plot.stackX({ x: "y", y: "x", fill: "series", order: all, stroke: "var(--paper)",
          fillOpacity: (point) => (all.indexOf(point.series) >= COLOURS ? PALE : 0.9), ...bar })),
        Plot.tip(chart.points, Plot.pointerX(Plot.stackX({ x: "y", y: "x", z: "series", order: all,
          title: (point) => tooltip(chart, point), fill: "var(--paper)", stroke: "var(--line)", lineWidth: 26 }))),
        Plot.ruleX([0], { stroke: "var(--quiet)" }),
        labels,
      ] };
  }

  const label = (axis) => (axis.unit ? `${axis.label} (${axis.unit})` : axis.label);

  // Percentiles by their distance from 100 %: 90, 99 and 99.9 are one step apart. Anything beyond the last tick is the maximum.
  const NINES = 4.6;
  const nines = (percentile) => Math.min(NINES, -Math.log10(1 - Math.min(percentile, 99.9999) / 100));

  // Ticks of a logarithmic axis: 1, 2 and 5 of each decade; more of them within one decade.
  function logTicks(low, high) {
    const of = (digits) => {
      const ticks = [];
      for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
        ticks.push(...digits.map((digit) => Number((digit * 10 ** power).toPrecision(3))));
      }
      return ticks.filter((tick) => tick >= low && tick <= high);
    };
    const choices = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 7], [1, 1.2, 1.4, 1.6, 1.8, 2, 2.2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9]];
    return choices.map(of).find((ticks) => ticks.length >= 3) ?? d3.ticks(low, high, 4);
  }

  // Those of the values that are `room` px apart on an axis of `width` px.
  function spaced(values, width, log, room) {
    const at = log ? Math.log : (value) => value;
    const [low, high] = [at(values[0]), at(values[values.length - 1])];
    const place = (value) => (high > low ? ((at(value) - low) / (high - low)) * width : 0);
    const kept = [];
    for (const value of values) {
      if (!kept.length || place(value) - place(kept[kept.length - 1]) >= room) kept.push(value);
    }
    return kept;
  }

  // About `count` ticks from 0 to `most` on an axis of `width` px, whose labels do not touch.
  function fitting(most, width, count) {
    const ticks = d3.ticks(0, most, count);
    const room = 16 + Math.max(...ticks.map((tick) => measure(number(tick))));
    const places = Math.max(2, Math.floor(width / room));
    return ticks.length <= places ? ticks : d3.ticks(0, most, Math.max(1, Math.floor(places / 2)));
  }

  function across(chart, width) {
    const axis = { label: `${label(chart.x)} →`, labelAnchor: "right", labelArrow: "none" };
    if (chart.x.scale === "percentile") {
      const ticks = [0, 50, 90, 99, 99.9, 99.99, 100];
      return { of: (point) => nines(point.x), axis: { ...axis, domain: [0, NINES], ticks: ticks.map(nines),
        tickFormat: (at) => { const tick = ticks.find((one) => nines(one) === at); return tick === 100 ? "max" : `${tick}`; } } };
    }
    if (chart.x.scale === "words") {
      const names = [...new Set(chart.points.map((point) => point.x))];
      const room = 12 + Math.max(...names.map(measure));
      const ticks = spaced(names.map((_, place) => place), width - 110, false, room);
      // Half of a name is on either side of its tick.
      const inset = Math.max(0, room / 2 - 12);
      return { of: (point) => names.indexOf(point.x), axis: { ...axis, insetLeft: inset, insetRight: inset, ticks, tickFormat: (at) => names[at] } };
    }
    const values = [...new Set(chart.points.map((point) => point.x))].sort((a, b) => a - b);
    const few = values.length <= Math.max(3, Math.floor(width / 90));
    const log = chart.x.scale === "log" && values[0] > 0;
    const room = 12 + Math.max(...values.map((value) => measure(number(value))));
    if (log) {
      // Powers of ten of the axis itself: those of a logarithmic scale have no labels at 6 to 9.
      const wanted = few ? values : logTicks(values[0], values[values.length - 1]);
      const ticks = spaced(wanted, width - 86, log, room).map(Math.log10);
      const tickFormat = (at) => number(Number((10 ** at).toPrecision(6)));
      return { of: (point) => Math.log10(point.x), axis: { ...axis, ticks, tickFormat } };
    }
    const ticks = few ? spaced(values, width - 86, log, room) : Math.max(3, Math.floor(width / 110));
    return { of: (point) => point.x, axis: { ...axis, nice: !few, ticks, tickFormat: number } };
  }

  // The y axis, with a margin that keeps all points inside.
  function upwards(chart) {
    const values = chart.points.flatMap((point) => [point.y, point.low, point.high]).filter((value) => value !== null);
    const marked = chart.marks.flatMap((mark) => mark.line.map(([, y]) => y)).filter((value) => value !== null);
    const axis = { label: `↑ ${label(chart.y)}`, grid: true, tickFormat: number, labelArrow: "none" };
    if (chart.y.scale === "log") {
      const above = values.filter((value) => value > 0);
      const most = Math.max(...above, 0.002);
      const least = Math.max(Math.min(...above, most / 2), most / 1e7);
      const domain = [least / 1.2, most * 1.2];
      return { ...axis, type: "log", domain, ticks: logTicks(...domain), clamp: true };
    }
    const all = [...values, ...marked];
    // Intervals are clipped at twice the largest value, so that a wide one does not flatten the chart; the tooltip has all of it.
    const largest = Math.max(0, ...chart.points.map((point) => point.y ?? 0), ...marked);
    const most = Math.min(Math.max(0, ...all), largest * 2 || 1);
    const least = Math.min(...all);
    // On an axis from 0, dots around a mean would all lie at the top, and so would lines relative to their first point.
    const closes = chart.kind === "dots" || (chart.kind === "lines" && chart.x.scale === "words");
    const from = closes && least > most / 2 ? least - (most - least) * 0.15 : 0;
    return { ...axis, domain: [from, most + (most - from) * 0.06 || 1], ticks: 6 };
  }

  function references(chart, x) {
    const at = (value) => (value === null ? null : x.of({ x: value }));
    const lines = chart.marks.map((mark) => {
      const [[x1, y1], [x2, y2]] = mark.line.map(([value, y]) => [at(value), y]);
      const style = { stroke: "var(--quiet)", strokeDasharray: "4 4" };
      if (y1 === null) return Plot.ruleX([x1], style);
      if (x1 === null) return Plot.ruleY([y1], style);
      return Plot.line([[x1, y1], [x2, y2]], { ...style, clip: true });
    });
    return lines;
  }

  function lines(chart, width) {
    const all = seriesOf(chart);
    const x = across(chart, width);
    const y = upwards(chart);
    const good = chart.points.filter((point) => point.y !== null);
    const bad = chart.points.filter((point) => point.y === null);
    const inside = (value) => Math.min(Math.max(value, y.domain[0]), y.domain[1]);
    const marks = [];
    for (const [at, series] of all.entries()) {
      const points = good.filter((point) => point.series === series);
      const ranged = points.filter((point) => point.low !== null);
      const stroke = colour(at);
      const style = { x: x.of, y: "y", stroke, strokeWidth: 2, strokeDasharray: dash(at) ?? undefined };
      if (chart.kind === "lines") {
        marks.push(Plot.areaY(ranged, { x: x.of, y1: (point) => inside(point.low), y2: (point) => inside(point.high), fill: stroke, fillOpacity: 0.13 }));
        marks.push(Plot.lineY(points, { ...style, curve: chart.x.scale === "percentile" ? "monotone-x" : "linear" }));
      }
      marks.push(Plot.ruleX(ranged, { x: x.of, y1: (point) => inside(point.low), y2: (point) => inside(point.high), stroke, strokeOpacity: 0.7 }));
      if (chart.kind === "dots" || points.length <= 60) {
        const r = chart.kind === "dots" ? 4 : 3;
        marks.push(Plot.dot(points, { x: x.of, y: "y", r, fill: stroke, stroke: "var(--paper)", strokeWidth: 1 }));
      }
    }
    const bottom = y.domain[0];
    return { height: width < NARROW ? 280 : 360, marginLeft: 62, marginRight: 24, marginTop: 28, marginBottom: 44, x: x.axis, y,
      marks: [
        ...references(chart, x),
        ...marks,
        ...all.map((series, at) => Plot.text(bad.filter((point) => point.series === series), { x: x.of, y: () => bottom, dy: -9 - 13 * (at % 12), text: () => "✕", fill: colour(at), fontWeight: 700, fontSize: 14 })),
        Plot.ruleY([bottom], { stroke: "var(--quiet)" }),
        tip(chart, chart.points, { x: x.of, y: (point) => point.y ?? bottom }),
      ] };
  }

  function columns(chart, width) {
    const all = seriesOf(chart);
    const places = [...new Set(chart.points.map((point) => point.x))].sort((a, b) => a - b);
    const step = Math.min(...places.slice(1).map((place, at) => place - places[at]), places.length > 1 ? Infinity : 1);
    return { height: 40 + all.length * (all.length > 1 ? 150 : 260), marginLeft: 62, marginRight: 24, marginTop: 28, marginBottom: 44,
      fy: { domain: all, axis: null, padding: 0.22 },
      x: { label: `${label(chart.x)} →`, labelArrow: "none", tickFormat: number },
      y: { label: `↑ ${label(chart.y)}`, grid: true, ticks: all.length > 1 ? 3 : 6, labelArrow: "none" },
      marks: [
        Plot.rectY(chart.points, { x1: "x", x2: (point) => point.x + step, y: "y", fy: "series", insetLeft: 0.5, insetRight: 0.5,
          fill: (point) => colour(all.indexOf(point.series)) }),
        Plot.ruleY([0], { stroke: "var(--quiet)" }),
        tip(chart, chart.points, { x: (point) => point.x + step / 2, y: "y", fy: "series" }),
      ] };
  }

  const KINDS = { bars, stacked, lines, dots: lines, columns };

  function draw(chart, width) {
    const options = KINDS[chart.kind](chart, width);
    const svg = Plot.plot({ width, style: { background: "none", color: "var(--ink)", fontSize: "12px", overflow: "visible" }, ...options });
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `${chart.title}. Its numbers are in the table below.`);
    return svg;
  }

  // One series needs no legend, and bars have their names beside them.
  function legend(chart) {
    const all = seriesOf(chart).filter((series) => series);
    const items = all.length > 1 || chart.marks.length ? all : [];
    const entries = items.map((series, place) => {
      const item = document.createElement("span");
      const swatch = document.createElement("i");
      const block = chart.kind !== "lines";
      swatch.className = block ? "block" : "";
      swatch.style[block ? "background" : "borderTopColor"] = colour(place);
      if (block && chart.kind === "stacked" && place >= COLOURS) swatch.style.opacity = PALE;
      if (!block && dash(place)) swatch.style.borderTopStyle = "dashed";
      item.append(swatch, series);
      return item;
    });
    const marks = chart.marks.map((mark) => {
      const item = document.createElement("span");
      const swatch = document.createElement("i");
      swatch.style.borderTop = "2px dashed var(--quiet)";
      item.append(swatch, mark.label);
      return item;
    });
    return [...entries, ...marks];
  }

  Object.assign(window.Klatch, { draw, legend, measure });
})();
