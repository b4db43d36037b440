// Draws the state of the run, once a frame at most: what came in between is in the next state.
"use strict";

let state = null, waiting = false;
const byId = (id) => document.getElementById(id);
const column = (timeline, index) => timeline.map((moment) => [moment[0], moment[index]]);

function show(next) {
  state = next;
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    drawState();
  });
}

// Draws everything at once: whatever the page shows is of one state.
function drawState() {
  const run = state.current;
  byId("title").textContent = state.title;
  byId("workload").textContent = state.workload;
  byId("connection").textContent = state.end ?? "live";
  document.title = `Klatch: ${state.title}`;
  drawNumbers(run);
  drawCharts(run?.timeline ?? []);
  drawRuns();
  offerTalk(state.talk);
}

function drawNumbers(run) {
  const phases = { joining: "users are joining", running: "is running", checking: "is being checked", ended: "has ended" };
  byId("phase").textContent = run ? `${run.name} ${phases[run.phase]}` : "the server is starting";
  const done = byId("done");
  if (run?.phase === "joining" && run.users) done.value = run.joined / run.users;
  else if (typeof run?.done === "number") done.value = run.done;
  else done.removeAttribute("value");
  const last = run?.timeline.at(-1);
  const shown = (value, format) => (value === null || value === undefined ? "–" : format(value));
  const cpus = (value) => shown(value, (number) => number.toFixed(2));
  const latency = (index) => shown(run?.latency_us?.[index], time);
  const numbers = [
    ["users joined", run ? `${grouped(run.joined)} of ${grouped(run.users || run.joined)}` : "–"],
    ["time to join", shown(run?.join_s, (s) => `${s.toFixed(2)} s`)],
    ["due", shown(run?.due, grouped)],
    ["received", shown(run?.received, grouped)],
    ["in flight", run ? grouped(Math.max(run.due - run.received, 0)) : "–"],
    ["received per second", shown(last?.[2], grouped)],
    ["p50 of the run", latency(0)],
    ["p99 of the run", latency(1)],
    ["p99.9 of the run", latency(2)],
    ["longest", latency(3)],
    ["CPUs of the server", cpus(run?.cpus[0])],
    ["CPUs of the crowd", cpus(run?.cpus[1])],
  ];
  const place = byId("numbers");
  place.replaceChildren();
  for (const [name, value] of numbers) {
    const pair = element(place, "div", {});
    element(pair, "dt", {}, name);
    element(pair, "dd", {}, value);
  }
}

function drawCharts(timeline) {
  const charts = {
    rate: { format: grouped, series: [["due", "--s1", 1], ["received", "--s0", 2]] },
    latency: { format: time, log: true, series: [["p50", "--s0", 3], ["p99", "--s1", 4], ["longest", "--s3", 5]] },
    cpus: { format: (number) => String(Number(number.toFixed(2))), series: [["server", "--s0", 6], ["crowd", "--s2", 7]] },
  };
  for (const [id, { series, ...options }] of Object.entries(charts)) {
    const lines = series.map(([name, color, index]) => ({ name, color, points: column(timeline, index) }));
    draw(id, lines, options);
    legend(`${id}-legend`, lines);
  }
}

function drawRuns() {
  const place = byId("runs");
  place.replaceChildren();
  byId("results").hidden = !state.finished.length;
  for (const run of state.finished) {
    const row = element(place, "tr", {});
    element(row, "th", { scope: "row" }, run.name);
    for (const value of [run.score, run.latency_p99, run.server_cpu, run.crowd_cpu]) element(row, "td", {}, value ?? "–");
    element(element(row, "td", {}), "span", { class: `badge ${run.verdict}` }, run.verdict);
    for (const remark of run.remarks) element(element(place, "tr", { class: "remark" }), "td", { colspan: 6 }, remark);
  }
}
