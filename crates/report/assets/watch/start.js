// Connects the page to the run.
"use strict";

byId("join").addEventListener("submit", (event) => {
  event.preventDefault();
  join();
});
byId("say").addEventListener("submit", (event) => {
  event.preventDefault();
  say();
});
byId("leave").addEventListener("click", () => leave("you left"));
addEventListener("resize", () => state && drawState());

const events = new EventSource("events");
events.onopen = () => (byId("connection").textContent = "live");
events.onmessage = ({ data }) => {
  const next = JSON.parse(data);
  show(next);
  if (next.end !== null) events.close();
};
events.onerror = () => (byId("connection").textContent = "klatch does not answer: it has ended, or its machine is busy");
