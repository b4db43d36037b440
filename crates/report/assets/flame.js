"use strict";
// A flame graph by d3's partition layout, the outermost routine on top. Click or Enter zooms in, Escape zooms out.
(() => {
  const ROW = 18;
  const NAMESPACE = "http://www.w3.org/2000/svg";
  const LETTER = 6.4;

  function flame(data, container, status) {
    const root = d3.partition()(d3.hierarchy(data.root, (frame) => frame.calls)
      .sum(() => 0).each((node) => { node.value = node.data.samples; })
      .sort((a, b) => b.value - a.value));
    let zoomed = root;
    let focus = root;
    const nodes = root.descendants();
    const depth = d3.max(nodes, (node) => node.depth) + 1;

    const description = (node) => {
      const share = (node.value / root.value) * 100;
      const more = node.data.difference;
      const difference = more === undefined ? "" : `, ${more < 0 ? "−" : "+"}${Math.abs(more).toLocaleString("en")} ${data.unit}`;
      return `${node.data.name}: ${node.value.toLocaleString("en")} ${data.unit}${difference}, ${share.toFixed(1)} % of all`;
    };
    const largest = d3.max(nodes, (node) => Math.abs(node.data.difference ?? 0));

    // Of two sides: the more they differ, the stronger the colour.
    function fill(frame) {
      if (frame.difference === undefined) return frame.name.endsWith("_[k]") ? "var(--flame-kernel)" : "var(--flame-user)";
      const strength = Math.round(Math.sqrt(Math.abs(frame.difference) / Math.max(1, largest)) * 100);
      const side = frame.difference < 0 ? "var(--flame-less)" : "var(--flame-more)";
      return `color-mix(in srgb, ${side} ${strength}%, var(--flame-same))`;
    }

    function element(name, attributes) {
      const made = document.createElementNS(NAMESPACE, name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      return made;
    }

    function draw() {
      const width = Math.max(280, container.clientWidth - 2);
      const scale = width / (zoomed.x1 - zoomed.x0);
      const svg = element("svg", { width, height: depth * ROW, viewBox: `0 0 ${width} ${depth * ROW}`, tabindex: 0, role: "application",
        "aria-label": `${data.title}. Arrow keys move, Enter zooms in, Escape zooms out.` });
      for (const node of nodes) {
        const left = Math.max(0, (node.x0 - zoomed.x0) * scale);
        const right = Math.min(width, (node.x1 - zoomed.x0) * scale);
        if (right - left < 0.7) continue;
        const top = node.depth * ROW;
        const rect = element("rect", { x: left, y: top, width: right - left, height: ROW - 1,
          fill: fill(node.data) });
        if (node === focus && node !== root) rect.setAttribute("class", "here");
        const title = element("title", {});
        title.textContent = description(node);
        rect.append(title);
        rect.addEventListener("click", () => zoom(node));
        rect.addEventListener("pointerenter", () => { status.textContent = description(node); });
        svg.append(rect);
        const letters = Math.floor((right - left - 6) / LETTER);
        if (letters >= 3) {
          const name = node.data.name;
          const text = element("text", { x: left + 4, y: top + ROW - 5 });
          text.textContent = name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
          svg.append(text);
        }
      }
      svg.addEventListener("keydown", key);
      const focused = container.contains(document.activeElement);
      container.replaceChildren(svg);
      if (focused) svg.focus();
    }

    function zoom(node) {
      zoomed = node;
      focus = node;
      status.textContent = description(node);
      draw();
    }

    function key(event) {
      const beside = (by) => focus.parent?.children[focus.parent.children.indexOf(focus) + by];
      const moves = { ArrowDown: () => focus.children?.[0], ArrowUp: () => focus.parent, ArrowRight: () => beside(1), ArrowLeft: () => beside(-1) };
      if (event.key === "Enter") zoom(focus);
      else if (event.key === "Escape") zoom(root);
      else if (moves[event.key]) {
        focus = moves[event.key]() ?? focus;
        status.textContent = description(focus);
        draw();
      } else return;
      event.preventDefault();
    }

    draw();
    return { draw, all: () => zoom(root) };
  }

  window.Klatch.flame = flame;
})();
