"use strict";
(() => {
  const byId = (id) => document.getElementById(id);

  // An iteration that is linked to opens, and has the focus.
  const show = (id) => {
    const target = id && byId(id);
    if (!target) return;
    if (target.tagName === "DETAILS") {
      target.open = true;
      target.querySelector("summary").focus();
    } else {
      target.focus();
    }
  };
  addEventListener("hashchange", () => show(location.hash.slice(1)));
  document.addEventListener("click", (e) => {
    const link = e.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) show(link.hash.slice(1)); // no change of the hash to hear of
  });
  if (location.hash) show(location.hash.slice(1));

  // The timeline is one stop of the tab key; the arrow keys move along it.
  const steps = [...document.querySelectorAll(".steps a")];
  const stop = (i) => steps.forEach((s, j) => { s.tabIndex = i === j ? 0 : -1; });
  steps.forEach((s, i) => s.addEventListener("focus", () => stop(i)));
  stop(steps.length - 1);
  const list = document.querySelector(".steps");
  list?.addEventListener("keydown", (e) => {
    const at = steps.indexOf(document.activeElement);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: steps.length - 1 }[e.key];
    if (at < 0 || to === undefined || e.altKey || e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    steps[Math.max(0, Math.min(to, steps.length - 1))].focus();
  });

  // The difference of two outputs: their longest common subsequence of lines.
  const most = 1500; // lines of each that are compared
  const context = 3; // equal lines shown around a difference
  const from = byId("from"), to = byId("to"), numbers = byId("numbers"), out = byId("diff"), says = byId("difference");
  if (!from) return;
  document.querySelector(".compare").hidden = false;

  const lines = (id) => byId(id + "-out").textContent.replace(/^\n|\n$/g, "").split("\n");

  // compare returns [sign, line] pairs; equal lines are those of b.
  const compare = (a, b, key) => {
    const ka = a.map(key), kb = b.map(key), result = [];
    let start = 0, endA = a.length, endB = b.length;
    while (start < endA && start < endB && ka[start] === kb[start]) result.push([" ", b[start++]]);
    const tail = [];
    while (endA > start && endB > start && ka[endA - 1] === kb[endB - 1]) { endA--; tail.push([" ", b[--endB]]); }
    const n = endA - start, m = endB - start, width = m + 1;
    const best = new Uint16Array((n + 1) * width);
    for (let i = n - 1; i >= 0; i--) {
      for (let j = m - 1; j >= 0; j--) {
        best[i * width + j] = ka[start + i] === kb[start + j]
          ? best[(i + 1) * width + j + 1] + 1
          : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
      }
    }
    let i = 0, j = 0;
    while (i < n || j < m) {
      if (i < n && j < m && ka[start + i] === kb[start + j]) { result.push([" ", b[start + j]]); i++; j++; }
      else if (i < n && (j === m || best[(i + 1) * width + j] >= best[i * width + j + 1])) result.push(["-", a[start + i++]]);
      else result.push(["+", b[start + j++]]);
    }
    return result.concat(tail.reverse());
  };

  const row = (cls, text) => {
    const span = document.createElement("span");
    if (cls) span.className = cls;
    span.textContent = text;
    out.append(span);
  };

  const draw = () => {
    let a = lines(from.value), b = lines(to.value), note = "";
    if (a.length > most || b.length > most) {
      note = ` Only the last ${most} lines of each are compared.`;
      a = a.slice(-most);
      b = b.slice(-most);
    }
    const pairs = compare(a, b, numbers.checked ? (l) => l.replace(/\d+/g, "0") : (l) => l);
    const count = (sign) => pairs.filter((p) => p[0] === sign).length;
    const gone = count("-"), come = count("+");
    out.replaceChildren();
    if (gone + come === 0) {
      says.textContent = `The two outputs are the same${numbers.checked ? " but for numbers" : ""}.${note}`;
      return;
    }
    const plural = (n) => `${n} ${n === 1 ? "line" : "lines"}`;
    says.textContent = `${plural(gone)} only in the first, ${plural(come)} only in the second.${note}`;
    const near = pairs.map(() => false);
    pairs.forEach((p, i) => {
      if (p[0] !== " ") near.fill(true, Math.max(0, i - context), i + context + 1);
    });
    let same = 0;
    const skip = () => { if (same) row("skip", `  … ${plural(same)} the same`); same = 0; };
    pairs.forEach((p, i) => {
      if (!near[i]) { same++; return; }
      skip();
      row({ "+": "add", "-": "del" }[p[0]], `${p[0]} ${p[1]}`);
    });
    skip();
  };
  for (const control of [from, to, numbers]) control.addEventListener("change", draw);
  draw();
})();
