"use strict";
// Draws the figures of the page, and redraws them when their width changes.
(() => {
  const { draw, legend, flame, download, svg, chartCsv, flameCsv } = window.Klatch;
  const report = JSON.parse(document.getElementById("report").textContent);
  // The JSON omits the empty fields of a point.
  const whole = (point) => ({ low: null, high: null, n: null, detail: null, ...point });
  for (const chart of report.sections.flatMap((section) => section.charts)) chart.points = chart.points.map(whole);
  const charts = new Map(report.sections.flatMap((section) => section.charts).map((chart) => [chart.id, chart]));
  const flames = new Map(report.sections.flatMap((section) => section.flames).map((one) => [one.id, one]));

  function whenWidthChanges(container, redraw) {
    let drawn = 0;
    new ResizeObserver(() => {
      const width = Math.floor(container.clientWidth);
      if (width > 0 && width !== drawn) {
        drawn = width;
        // Drawing changes sizes, so it must not happen within the observer.
        requestAnimationFrame(() => redraw(width));
      }
    }).observe(container);
  }

  function saving(figure, name, csv) {
    for (const button of figure.querySelectorAll("button[data-save]")) {
      button.addEventListener("click", () => (button.dataset.save === "csv"
        ? download(`${name}.csv`, "text/csv", csv())
        : download(`${name}.svg`, "image/svg+xml", svg(figure.querySelector(".plot svg")))));
    }
  }

  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    const chart = charts.get(figure.dataset.chart);
    const container = figure.querySelector(".plot");
    if (chart.kind !== "bars") figure.querySelector(".legend").append(...legend(chart));
    whenWidthChanges(container, (width) => container.replaceChildren(draw(chart, width)));
    saving(figure, chart.id, () => chartCsv(chart));
  }

  for (const figure of document.querySelectorAll("figure[data-flame]")) {
    const one = flames.get(figure.dataset.flame);
    const container = figure.querySelector(".plot");
    const shown = flame(one, container, figure.querySelector(".at"));
    whenWidthChanges(container, () => shown.draw());
    figure.querySelector("[data-zoom]").addEventListener("click", () => shown.all());
    saving(figure, one.id, () => flameCsv(one));
  }
  // A table that is wider than the screen says so.
  for (const wide of document.querySelectorAll(".wide")) {
    const hint = document.createElement("p");
    hint.className = "quiet scroll-hint";
    hint.textContent = "Scroll sideways for the rest of the table →";
    hint.hidden = true;
    wide.before(hint);
    wide.tabIndex = 0;
    wide.setAttribute("role", "region");
    wide.setAttribute("aria-label", wide.querySelector("caption")?.textContent ?? "Table");
    const look = () => {
      const scrolls = wide.scrollWidth > wide.clientWidth + 1;
      hint.hidden = !scrolls;
      wide.classList.toggle("more", scrolls && wide.scrollLeft + wide.clientWidth < wide.scrollWidth - 2);
    };
    new ResizeObserver(() => requestAnimationFrame(look)).observe(wide);
    wide.addEventListener("scroll", look, { passive: true });
  }
  document.documentElement.dataset.drawn = "all";
})();
