"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const svg = document.getElementById("picture");
  const chosen = document.getElementById("chosen");
  const find = document.getElementById("find");
  const groups = new Map([...svg.querySelectorAll(".node")].map((group) => [group.dataset.id, group]));
  const lines = [...svg.querySelectorAll("line")].map((line) => ({ line, edge: data.edges[line.dataset.edge] }));
  const places = new Map([...groups].map(([id, group]) => {
    const [x, y] = group.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
    return [id, { x, y }];
  }));
  let view = svg.getAttribute("viewBox").split(" ").map(Number);

  const show = () => svg.setAttribute("viewBox", view.join(" "));
  const point = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const place = (id) => {
    const { x, y } = places.get(id);
    groups.get(id).setAttribute("transform", `translate(${x} ${y})`);
    for (const { line, edge } of lines) {
      if (edge.source === id) { line.setAttribute("x1", x); line.setAttribute("y1", y); }
      if (edge.target === id) { line.setAttribute("x2", x); line.setAttribute("y2", y); }
    }
  };

  const fade = (bright) => {
    for (const [id, group] of groups) group.classList.toggle("faded", !bright(id));
    for (const { line, edge } of lines) line.classList.toggle("faded", !(bright(edge.source) && bright(edge.target)));
  };
  const choose = (id) => {
    const around = new Set([id]);
    const list = document.createElement("ul");
    for (const { line, edge } of lines) {
      const near = edge.source === id || edge.target === id;
      line.classList.toggle("near", near);
      if (!near) continue;
      const other = edge.source === id ? edge.target : edge.source;
      around.add(other);
      const item = document.createElement("li");
      item.textContent = edge.source === id
        ? `${edge.says} → ${data.nodes[other].name}` : `${data.nodes[other].name} → ${edge.says}`;
      list.append(item);
    }
    for (const [key, group] of groups) group.classList.toggle("chosen", key === id);
    const head = document.createElement("h2");
    const kind = document.createElement("p");
    head.textContent = id === null ? "" : data.nodes[id].name;
    kind.textContent = id === null ? "" : data.nodes[id].kind;
    chosen.replaceChildren(head, kind, list);
    chosen.hidden = id === null;
    fade((key) => id === null || around.has(key));
  };

  let held = null;
  svg.addEventListener("pointerdown", (event) => {
    const group = event.target.closest(".node");
    held = { id: group && group.dataset.id, from: point(event), moved: false };
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!held) return;
    const to = point(event);
    const dx = to.x - held.from.x;
    const dy = to.y - held.from.y;
    held.moved = held.moved || Math.abs(dx) + Math.abs(dy) > 3;
    if (!held.moved) return;
    if (held.id) {
      places.set(held.id, to);
      place(held.id);
    } else {
      view[0] -= dx;
      view[1] -= dy;
      show();
    }
  });
  svg.addEventListener("pointerup", () => {
    if (held && !held.moved) choose(held.id);
    held = null;
  });
  svg.addEventListener("keydown", (event) => {
    const group = event.target.closest(".node");
    if (group && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      choose(group.dataset.id);
    }
  });
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const at = point(event);
    const by = Math.exp(Math.max(-50, Math.min(50, event.deltaY)) / 200);
    view = [at.x - (at.x - view[0]) * by, at.y - (at.y - view[1]) * by, view[2] * by, view[3] * by];
    show();
  }, { passive: false });
  find.hidden = false;
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    choose(null);
    if (wanted) fade((id) => data.nodes[id].name.toLowerCase().includes(wanted));
  });
  choose(groups.has(location.hash.slice(1)) ? location.hash.slice(1) : null);
  document.documentElement.dataset.ready = String(groups.size);
})();
