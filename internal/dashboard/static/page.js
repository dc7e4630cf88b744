"use strict";
(() => {
  const $ = (id) => document.getElementById(id);

  // This browser's key stays here, and no script can read it, but every script at this address can
  // sign with it. Where the connection is not safe there is none.
  const asked = (request) => new Promise((ok, no) => {
    request.onsuccess = () => ok(request.result);
    request.onerror = () => no(request.error);
  });
  const inStore = async (mode, act) => {
    const open = indexedDB.open("looprun");
    open.onupgradeneeded = () => open.result.createObjectStore("keys");
    const store = await asked(open);
    return asked(act(store.transaction("keys", mode).objectStore("keys"))).finally(() => store.close());
  };
  const pairOf = async (make) => {
    if (!crypto.subtle) return null;
    let pair = await inStore("readonly", (keys) => keys.get("device"));
    if (!pair && make) {
      pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]);
      await inStore("readwrite", (keys) => keys.put(pair, "device"));
    }
    return pair;
  };
  const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
  const publicOf = async (pair) => base64(await crypto.subtle.exportKey("raw", pair.publicKey));

  // got returns what a reply holds, and throws why there is none.
  const got = async (res) => {
    const text = await res.text();
    if (!res.ok) throw new Error(text.trim() || res.statusText);
    return JSON.parse(text);
  };
  const posting = (value) => ({ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(value) });

  // enter lets this browser in. It returns what it has to tell.
  const enter = async (body) => {
    const reply = await got(await fetch("api/enter", posting(body)));
    if (!reply.token) return reply.said;
    localStorage.setItem("token", reply.token); // for every tab, until looprun serve ends
    $("enter").hidden = true; cut = "";
    return "";
  };
  const pairBy = async (body) => {
    const pair = await pairOf(true).catch(() => null); // a private window may keep nothing
    return enter(pair ? { ...body, key: await publicOf(pair) } : body);
  };
  // back lets a paired browser in again. It reports whether that went well.
  const back = async (res) => {
    const challenge = /challenge="([^"]+)"/.exec(res.headers.get("WWW-Authenticate"))?.[1], pair = challenge && await pairOf();
    if (!pair) return false;
    const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, pair.privateKey, new TextEncoder().encode(challenge));
    return !await enter({ key: await publicOf(pair), signature: base64(signature) });
  };
  const call = async (path, init = {}, again = false) => {
    const res = await fetch(path, { ...init, headers: { ...init.headers, Authorization: "Bearer " + localStorage.getItem("token") } });
    if (res.status === 502 || res.status === 504) throw new TypeError(res.statusText); // of a proxy that cannot reach it
    if (res.status !== 401) return res;
    if (!again && await back(res).catch(() => false)) return call(path, init, true);
    $("enter").hidden = false;
    return res;
  };
  const get = async (path, init) => got(await call(path, init));
  const post = (path, value) => get(path, posting(value));
  // tell shows in a box what comes of something, or why nothing does.
  const tell = async (box, what) => { box.textContent = await what.catch((err) => err.message); };
  $("ask").addEventListener("click", async () => {
    await tell($("refused"), enter({}));
    $("code").focus();
  });
  $("enter").addEventListener("submit", async (e) => {
    e.preventDefault();
    await tell($("refused"), pairBy({ code: $("code").value }));
    $("code").value = "";
    if ($("enter").hidden) follow();
  });

  // el makes an element. Texts are text: nothing that a command printed becomes markup. What the
  // element does is kept where become can hand it on, as a listener could not be.
  const acts = new Set();
  const el = (name, attrs, ...kids) => dressed(document.createElement(name), attrs, kids);
  const drawn = (name, attrs, ...kids) => dressed(document.createElementNS("http://www.w3.org/2000/svg", name), attrs, kids);
  const dressed = (e, attrs = {}, kids) => {
    for (const [k, v] of Object.entries(attrs)) {
      if (v == null || v === false) continue;
      if (k.startsWith("on")) { acts.add(k); e[k] = v; }
      else e.setAttribute(k, v === true ? "" : v);
    }
    e.append(...kids.filter((k) => k != null && k !== false));
    return e;
  };
  // What the server has set out with its templates, which escape, comes as markup.
  const trusted = window.trustedTypes?.createPolicy("looprun", { createHTML: (s) => s, createScriptURL: (s) => s });
  const markup = (html) => {
    const parsed = new DOMParser().parseFromString(trusted ? trusted.createHTML(html) : html, "text/html");
    return [...parsed.body.childNodes].map((n) => document.importNode(n, true));
  };

  // patch makes the children of a node those given. It leaves alone what is already as it should
  // be, so what is open, selected, scrolled or focused stays so.
  const patch = (node, kids) => {
    const kept = new Set(kids);
    let at = node.firstChild;
    const drop = () => { const next = at.nextSibling; at.remove(); at = next; };
    for (const kid of kids) {
      while (at && at !== kid && !kept.has(at) && kid.parentNode === node) drop();
      if (at === kid) at = at.nextSibling;
      else if (at && !kept.has(at) && kid.parentNode !== node && alike(at, kid)) { become(at, kid); at = at.nextSibling; }
      else node.insertBefore(kid, at);
    }
    while (at) drop();
  };
  // A node that the page holds on to is itself, and is like no other.
  const own = new WeakSet();
  const hold = (node) => { own.add(node); return node; };
  // A button stays the same only as long as its label does: none changes under the finger.
  const label = (node) => [...acts].some((k) => node[k]) ? node.textContent : null;
  const alike = (a, b) => !own.has(a) && !own.has(b) && a.nodeName === b.nodeName && a.id === b.id && a.dataset?.key === b.dataset?.key && label(a) === label(b);
  const become = (old, fresh) => {
    if (old.nodeType !== Node.ELEMENT_NODE) { if (old.data !== fresh.data) old.data = fresh.data; return; }
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !(name === "open" && old.nodeName === "DETAILS")) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    for (const k of acts) old[k] = fresh[k];
    patch(old, [...fresh.childNodes]);
  };

  const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
  const lasted = (s) => {
    if (s < 1) return "< 1s";
    s = Math.round(s);
    const h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60, two = (n) => String(n).padStart(2, "0");
    return h ? `${h}h${two(m)}m` : m ? `${m}m${s % 60 ? two(s % 60) + "s" : ""}` : s + "s";
  };
  const age = (t) => {
    const s = (Date.now() - Date.parse(t)) / 1000;
    if (!(s > -1e9)) return "";
    const unit = [[86400, "d"], [3600, "h"], [60, "min"]].find(([length]) => s >= length);
    return unit ? `${Math.floor(s / unit[0])} ${unit[1]} ago` : "just now";
  };
  const brief = (t) => age(t).replace("just now", "now").replace(/ (\w).* ago/, "$1");
  const ago = (t, short) => el("time", { datetime: t, title: new Date(t).toLocaleString(), "data-ago": t, "data-short": short }, (short ? brief : age)(t));
  setInterval(() => document.querySelectorAll("[data-ago]").forEach((e) => {
    const text = ("short" in e.dataset ? brief : age)(e.dataset.ago);
    if (e.textContent !== text) e.textContent = text;
  }), 5000);
  setInterval(() => document.querySelectorAll("[data-since]").forEach((e) => { e.textContent = lasted((Date.now() - e.dataset.since) / 1000); }), 1000);
  // ran is how long a run has been at work; it goes on counting while it is.
  const ran = (r) => el("span", r.alive && !r.asks ? { "data-since": Date.now() - r.runtime_seconds * 1000 } : {}, lasted(r.runtime_seconds));
  const money = (usd) => usd ? "$" + usd.toFixed(2) : null;

  const words = (id) => id.replaceAll("_", " ");
  // inShort tells a run's state by a sign, a word and a tone, so that no two depend on colour.
  const inShort = (r) => r.waits ? ["·", "waits", "rest"] : r.asks ? ["?", "asks", "wait"] : r.problem ? ["∅", "unreadable", "bad"] : r.answered ? ["‖", "answered", "rest"] : r.elsewhere ? ["‖", r.elsewhere, "rest"]
    : r.alive ? ["▶", "runs", "runs"] : r.guard === "loop_detected" && r.status !== "done" ? ["✕", "stuck", "bad"]
    : { done: ["✓", "done", "good"], accepted: ["✓", "accepted", "rest"], paused: ["‖", "paused", "rest"], cancelled: ["■", "cancelled", "rest"], superseded: ["■", "superseded", "rest"] }[r.status] || ["✕", words(r.status), "bad"];
  const stands = (r) => r.asks ? "asks you" : r.answered ? `answered: ${r.answered}` : r.elsewhere ? r.elsewhere : r.problem ? "unreadable" : words(r.status) + (r.guard && r.status !== "done" ? ` (${words(r.guard)})` : "");
  const badge = (r) => el("span", { class: `status ${inShort(r)[2]}${r.alive ? " live" : ""}` }, stands(r));

  let list = null; // what the server has told, once it has
  let at = "", view = null, orders = null, pinned = null, cut = "";
  // track numbers the requests for one part of the page. It returns a function that reports whether
  // the answer may still be shown: not after the answer to a later request.
  const track = (part) => { const number = ++part.sent; return () => number >= part.shown && (part.shown = number); };
  const lists = { sent: 0, shown: 0 }, looks = { sent: 0, shown: 0 }, outputs = { sent: 0, shown: 0 };

  // --- The list ---
  const state = () => {
    const text = cut || (!list ? "Connecting…" : list.total ? [list.running ? `${list.running} running` : "", list.asking ? `${list.asking} ${list.asking === 1 ? "asks" : "ask"} you` : "", `${plural(list.total, "run")}`].filter(Boolean).join(" · ") : "No runs yet");
    if ($("state").textContent !== text) $("state").textContent = text;
    $("state").className = cut ? "cut" : "";
    document.title = (list?.asking ? `(${list.asking}) ` : "") + (view ? view.title + " – " : "") + "looprun";
  };
  // spark draws how many checks fail, one bar for an iteration.
  const spark = (trend) => {
    const most = Math.max(1, ...trend);
    return drawn("svg", { class: "spark", viewBox: "0 0 60 16", ...(trend.length ? { role: "img", "aria-label": "failing: " + trend.join(", ") } : { "aria-hidden": "true" }) },
      ...trend.map((n, i) => { const h = Math.max(1, Math.round(14 * n / most)); return drawn("rect", { x: 5 * i, y: 15 - h, width: 4, height: h }); }));
  };
  // A batch is one line, with a bar of what became of its loops. It opens and closes.
  const opened = new Map();
  // compare looks which loops of an open batch change the same files, when more of them have ended.
  const compare = ({ key, group: g }) => {
    const had = opened.get(key), of = [g.asks, g.stopped, g.done].join();
    if (!had || had.of === of || had.of && reading()) return;
    had.of = of;
    get(`api/batches/${key}/overlaps`).catch((err) => ({ lines: [err.message] })).then(({ lines }) => { had.lines = lines; fetchSoon(0); });
  };
  const shared = (r) => (opened.get(r.key)?.lines || []).map((title) => line({ key: r.key + title, title, in: r.key }, ["≡", "overlap", "rest"], "p", { title }));
  const groupRow = (r) => {
    const g = r.group, parts = [["asks", g.asks, "wait"], ["run", g.runs, "runs"], ["done", g.done, "good"], ["stopped", g.stopped, "bad"], [g.active ? "waiting" : "without a run", g.waits, "rest"]];
    const total = parts.reduce((sum, [, n]) => sum + n, 0), said = parts.filter(([, n]) => n).map(([what, n]) => `${n} ${what}`).join(", ");
    const [word, , tone] = g.asks ? parts[0] : g.active ? ["runs", 0, "runs"] : g.stopped ? parts[3] : g.waits ? ["unfinished", 0, "rest"] : parts[2];
    let x = 0;
    const bar = drawn("svg", { class: "bar-of", viewBox: "0 0 60 16", role: "img", "aria-label": said }, ...parts.filter(([, n]) => n).map(([, n, cls]) => { const w = 60 * n / total; x += w; return drawn("rect", { class: "p-" + cls, x: x - w, y: cls === "rest" ? 6 : 2, width: Math.max(1, w - 1), height: cls === "rest" ? 4 : 12 }); }));
    return line(r, [g.open ? "▾" : "▸", word, tone], "button", { type: "button", "aria-expanded": String(g.open), title: [r.title, said, r.folder].join("\n") }, bar, `${g.done}/${total}`);
  };
  const line = (r, [sign, word, tone], name, attrs, picture, n) => el(name, { ...attrs, class: r.in ? "in " + tone : tone, "data-key": r.key },
    el("span", { class: "sign", "aria-hidden": "true" }, sign), el("span", { class: "status" }, word), el("b", {}, r.title),
    ...(picture ? [picture, el("span", { class: "n" }, n), el("span", { class: "cost" }, money(r.cost_usd) || ""), ago(r.updated, true)] : []));
  let order = []; // the runs as the list shows them
  // Nothing moves under the pointer, or while somebody goes through the list by keyboard.
  const reading = () => order.length && ($("runs").contains(document.activeElement) || matchMedia("(hover: hover)").matches && $("runs").matches(":hover"));
  const drawList = () => {
    const now = new Map(list.runs.map((r) => [r.key, r]));
    order = reading() ? order.map((r) => now.get(r.key) || r) : list.runs;
    order.forEach((r) => now.delete(r.key));
    $("fresh").hidden = !now.size;
    $("fresh").textContent = `${now.size} new ↑`;
    patch($("runs"), order.flatMap((r) => {
      if (r.group) return [groupRow(r), ...shared(r)];
      if (r.waits) return line(r, inShort(r), "p");
      const attrs = { href: "#run=" + r.key, "aria-current": r.key === at && "true", title: [r.title, stands(r), r.problem || r.label, r.folder].filter(Boolean).join("\n") };
      return line(r, inShort(r), "a", attrs, spark(r.trend || []), r.limit ? `${r.iterations}/${r.limit}` : String(r.iterations));
    }));
    $("more").textContent = list.left ? `${list.matched - list.left} of ${list.matched} runs; search for the others.` : list.total && !list.matched ? "No run matches." : "";
    state();
  };
  // --- Notices: one for each question, until it is answered, and for the end of a run ---
  const wants = { asks: $("wants-asks"), ends: $("wants-ends") };
  const wanted = () => wants.asks.checked || wants.ends.checked;
  const may = () => window.Notification?.permission;
  let worker = null; // what shows them: Chrome for Android lets no page do that itself
  const drawNotices = () => {
    if (may() === "granted" && wanted()) worker ||= navigator.serviceWorker.register(trusted ? trusted.createScriptURL("worker.js") : "worker.js").then(() => navigator.serviceWorker.ready)
      .catch((err) => { worker = null; $("blocked").textContent = "This page cannot show notices now: " + err.message; });
    $("notify").hidden = !window.Notification || !navigator.serviceWorker;
    $("notify").textContent = wanted() && may() === "denied" ? "Notices are blocked" : "Notices";
    $("blocked").textContent = may() === "denied" ? "This browser blocks the notices of this page. Allow them in its settings for this page." : "";
  };
  for (const [name, box] of Object.entries(wants)) {
    box.checked = localStorage.getItem("notices/" + name) === "yes";
    box.addEventListener("change", async () => {
      localStorage.setItem("notices/" + name, box.checked ? "yes" : "no");
      if (box.checked) await Notification.requestPermission();
      drawNotices();
    });
  }
  $("notify").addEventListener("click", () => { drawNotices(); $("notices").showModal(); });
  if (navigator.serviceWorker) navigator.serviceWorker.onmessage = (e) => { location.hash = "#run=" + e.data.run; };
  drawNotices();
  const known = new Map(); // what each run was about when the list last had it
  let told = null; // which runs the last list was of
  const notice = async (which) => {
    const news = [], gone = new Set(known.keys()), same = which === told; // else a run that was not there may be old
    told = which;
    for (const r of list.runs) {
      gone.delete(r.key);
      const old = known.get(r.key), asked = r.asked || [], goes = r.group ? r.group.active : r.alive || r.asks || !!(r.answered || r.elsewhere);
      known.set(r.key, { asked: new Set(asked.map((q) => q.id)), goes });
      if (old || same) asked.filter((q) => !old?.asked.has(q.id)).forEach((q) => news.push({ of: "asks", run: r.key, tag: `${r.key}/${q.id}`, title: `${r.title} asks`, body: q.text }));
      if (old?.goes && !goes) news.push({ of: "ends", run: r.key, tag: r.key, title: r.title, body: r.group ? "It has ended." : stands(r) });
    }
    const whole = which === "/" && list.asking === list.runs.filter((r) => r.asks).length; // it has every run that asks
    if (whole) gone.forEach((key) => known.get(key).asked.clear());
    const asks = news.filter((n) => n.of === "asks");
    if (asks.length) $("heard").textContent = asks.map((n) => `${n.title}.`).join(" ");
    const by = await worker;
    if (!by) return;
    for (const { of, run, tag, title, body } of news) if (document.hidden && wants[of].checked) await by.showNotification(title, { body, tag, requireInteraction: of === "asks", icon: "icon.svg", data: { run } });
    for (const n of await by.getNotifications()) {
      const [run, id] = n.tag.split("/");
      if (id && (whole || known.has(run)) && !known.get(run)?.asked.has(id)) n.close();
    }
  };
  const fetchList = async () => {
    const isLatest = track(lists);
    // Out of sight it tells of all runs, whatever is searched for.
    const [filter, search] = document.hidden && wanted() ? ["", ""] : [$("filter").value, $("search").value];
    const query = new URLSearchParams({ filter, search });
    for (const key of opened.keys()) query.append("open", key);
    const told = await get("api/runs?" + query);
    if (!isLatest()) return;
    list = told;
    notice(filter + "/" + search).catch(() => {}); // the list is there without them
    list.runs.filter((r) => r.group?.open).forEach(compare); // the list is there before
    const one = list.runs.find((r) => !r.group && !r.waits);
    if (!at && one && wide.matches) location.replace("#run=" + one.key);
    drawList();
    if (!at) drawNothing();
    const shown = list.runs.find((r) => r.key === at);
    if (shown && view?.key === at && shown.elsewhere !== view.elsewhere) await fetchRun(); // its journal has not changed
  };
  // What is typed is looked for at once; what happens by itself, once a second.
  let waiting = 0, fetched = 0;
  const fetchSoon = (ms) => { clearTimeout(waiting); waiting = setTimeout(() => { waiting = 0; fetched = Date.now(); fetchList().catch(failed); }, ms); };
  const later = () => { if (!waiting) fetchSoon(Math.max(50, fetched + 1000 - Date.now())); };
  // restart drops the answers to earlier requests: they are of another list.
  const restart = (ms) => { order = []; lists.shown = lists.sent + 1; fetchSoon(ms); };
  $("search").addEventListener("input", () => restart(120));
  $("filter").addEventListener("change", () => restart(0));
  $("fresh").addEventListener("click", () => { order = []; drawList(); });
  $("runs").addEventListener("click", (e) => {
    const batch = e.target.closest("button")?.dataset.key;
    if (!batch) return;
    if (!opened.delete(batch)) opened.set(batch, {});
    restart(0);
  });
  // landmark says where the page's main part is: a phone and the wall do not show the run.
  const wide = matchMedia("(min-width: 48.01rem)");
  const landmark = () => { document.querySelector(".side").role = $("wall").ariaPressed === "false" && (at || wide.matches) ? "region" : "main"; };
  wide.onchange = landmark;
  const wall = (on) => { document.body.classList.toggle("wall", on); $("wall").ariaPressed = String(on); landmark(); };
  $("wall").addEventListener("click", () => wall($("wall").ariaPressed === "false"));
  $("runs").addEventListener("click", (e) => { if (e.target.closest("a")) wall(false); });
  for (const over of ["pointerleave", "focusout"]) $("runs").addEventListener(over, () => fetchSoon(0));
  document.querySelectorAll(".find").forEach((form) => form.addEventListener("submit", (e) => e.preventDefault()));
  // walks lets the keys go through some links of a part.
  const walks = (part, links, back, on) => part.addEventListener("keydown", (e) => {
    const all = [...part.querySelectorAll(links)], i = all.indexOf(document.activeElement);
    const to = { [back]: i - 1, [on]: i + 1, Home: 0, End: all.length - 1 }[e.key];
    if (i < 0 || to === undefined) return;
    e.preventDefault();
    all[Math.max(0, Math.min(to, all.length - 1))].focus();
  });
  walks($("runs"), "a, button", "ArrowUp", "ArrowDown");
  walks($("run"), ".steps a", "ArrowLeft", "ArrowRight");
  $("skip").addEventListener("click", (e) => { e.preventDefault(); $("run").focus(); });

  // --- A run ---
  const drawNothing = () => {
    if (!list) return;
    $("run").replaceChildren(list.total ? el("p", { class: "note" }, "Choose a run.") : el("section", { class: "empty" },
      el("h1", {}, "No runs yet"), el("p", {}, "Start one, and it appears here:"),
      el("pre", {}, el("code", {}, "looprun --check 'go test ./...' -- ./fix.sh"))));
    state();
  };
  const fact = (name, value) => value ? el("div", { class: typeof value === "string" && value.length > 24 ? "wide" : null }, el("dt", {}, name), el("dd", {}, value)) : null;

  // remember keeps what is typed in a box for as long as the tab lives, reloads included.
  const remember = (box, key) => {
    box.value = sessionStorage.getItem(key) || "";
    box.addEventListener("input", () => sessionStorage.setItem(key, box.value));
    box.forget = () => sessionStorage.removeItem(key);
    return box;
  };

  const cards = new Map(); // the questions that this tab has shown
  const question = (q) => {
    const shape = JSON.stringify(q), run = at, key = run + "/" + q.id;
    if (cards.get(key)?.shape === shape) return cards.get(key).node;
    const said = el("p", { class: "said", role: "alert" });
    const boxes = [];
    const field = (label, name, kind) => {
      const box = remember(el(kind, { name, autocomplete: "off" }), "words/" + key + "/" + name);
      boxes.push(box);
      return [el("label", { class: "words" }, label, box), box];
    };
    const [guide, guidance] = field("What should it do differently? It goes to the next iteration.", "guidance", "textarea");
    const [why, reason] = field("Why, for the record", "reason", "input");
    const [write, text] = field("Your answer", "text", "textarea");
    const disable = (is) => node.querySelectorAll(".options button").forEach((b) => { b.disabled = is; });
    const send = async (answer) => {
      said.className = "said"; said.textContent = "";
      disable(true);
      card.sent = true;
      try {
        card.said = (await post(`api/runs/${run}/answer`, { question: q.id, ...answer, ...(reason.value && { reason: reason.value }), ...(guidance.value && { guidance: guidance.value }) })).said;
        boxes.forEach((b) => b.forget());
        $("run").focus();
        await Promise.all([fetchRun(), fetchList()]);
      } catch (err) {
        said.className = "said bad";
        said.textContent = err.message;
        card.sent = false;
        disable(false);
        drawRun.last = ""; // the card may have been drawn as one that was sent
        fetchRun().catch(() => {});
      }
    };
    const option = (o) => {
      const b = el("button", { type: "button", class: o.ends ? "end" : o === q.options.find((x) => !x.ends) ? "main" : null }, el("b", {}, o.label), el("span", {}, o.description || ""));
      b.addEventListener("click", () => {
        if (o.words && !guidance.value.trim()) {
          said.className = "said bad"; said.textContent = "Say what it should do, then choose this again."; guidance.focus();
        } else if (o.ends && !b.classList.contains("sure")) {
          sure(b, b.lastChild, "This ends the run. Press again to do so.", o.description || "");
        } else send({ option: o.id });
      });
      return b;
    };
    const ticks = q.options.map((o) => [o, el("input", { type: "checkbox" })]);
    const sends = (label, answer) => el("button", { type: "button", onclick: () => send(answer()) }, label);
    const choices = [
      ...(q.multi ? ticks.map(([o, c]) => el("label", {}, c, o.label, " ", el("span", { class: "dim" }, o.description || ""))) : q.options.map(option)),
      q.multi && sends("Send", () => ({ options: ticks.filter(([, c]) => c.checked).map(([o]) => o.id) })),
      q.allow_text && sends("Send these words", () => ({ text: text.value })),
      q.allow_cancel && sends("Decline to answer", () => ({ cancel: true })),
    ];
    const node = hold(el("section", { class: "question", role: "group", "aria-label": q.header || "Question" },
      el("h2", {}, q.header || "The command asks"), el("p", {}, q.text), q.details?.length && el("pre", { tabindex: "0" }, q.details.join("\n")),
      ...(view.writable ? [q.allow_text && write, q.guard && guide, el("div", { class: "options" }, ...choices), el("details", { class: "why" }, el("summary", {}, "Why, for the record"), why), said]
        : [el("p", { class: "note" }, "This page can only be read. Answer with looprun answer " + view.id + " --question " + q.id)])));
    const card = { key, shape, node, boxes, run: at, id: q.id };
    cards.set(key, card);
    return node;
  };

  // settled returns the cards of questions that wait no more. Each stays, grey, with who
  // answered and what. Words that were typed on it and not sent can be copied. One that was
  // answered here goes when the next question comes.
  const settled = (v) => [...cards.values()].filter((c) => {
    if (c.run !== v.key || v.questions.some((q) => q.id === c.id)) return false;
    if (!c.sent || !v.questions.length) return true;
    return !cards.delete(c.key);
  }).map((c) => {
    const by = (v.settled || []).find((a) => a.id === c.id);
    const kept = c.sent ? [] : c.boxes.filter((b) => b.value.trim());
    kept.forEach((b) => { b.readOnly = true; });
    const close = () => { c.boxes.forEach((b) => b.forget()); cards.delete(c.key); c.node.remove(); };
    c.node.classList.add("settled");
    c.node.replaceChildren(c.node.querySelector("h2"), c.node.querySelector("h2 + p"),
      el("p", { class: "said", role: "alert" }, [by ? by.said + "." : "It waits no more.", c.said].filter(Boolean).join(" ")),
      ...kept.map((b) => el("label", { class: "words" }, "Your words, which were not sent", b)),
      el("div", { class: "actions" },
        kept.length > 0 && el("button", { type: "button", onclick: () => navigator.clipboard.writeText(kept.map((b) => b.value).join("\n")).catch(failed) }, "Copy your words"),
        el("button", { type: "button", onclick: close }, "Close")));
    return c.node;
  });

  // What ends a run is to be pressed twice: a button says so for a while.
  const sure = (button, label, again, first) => {
    button.classList.add("sure");
    label.textContent = again;
    setTimeout(() => { button.classList.remove("sure"); label.textContent = first; }, 6000);
  };

  // An output is shown line by line. What comes is appended, so that it can be read, selected and
  // searched while it grows.
  const output = { section: null, work: null, check: null, iteration: 0 };
  const panel = (cls, label) => Object.assign(el("pre", { class: `out ${cls}-out`, tabindex: "0", role: "region", "aria-label": label }), { lines: [] });
  const atEnd = (pre) => pre.scrollHeight - pre.scrollTop - pre.clientHeight < 40;
  const linesOf = (lines) => lines.length ? markup(`<pre>${lines.map((l) => `<span class="l">${l}\n</span>`).join("")}</pre>`)[0].childNodes : [];
  // overlap returns how much of fresh is known: the end of old, which may be an unfinished line,
  // occurs in it. Lines before that were left out to save space. A long output may be one line
  // over and over: that many lines that are equal are enough, and the last such place counts.
  const enough = 200;
  const overlap = (old, fresh) => {
    let best = 0, length = 0;
    for (let j = 1; j < fresh.length; j++) {
      let n = 0;
      while (n < j && n < old.length - 1 && n < enough && fresh[j - 1 - n] === old[old.length - 2 - n]) n++;
      if (n > length || n === enough) { best = j; length = n; }
    }
    return best;
  };
  const mostLines = 20000;
  const fill = (pre, html) => {
    const fresh = html ? html.replace(/\n$/, "").split("\n") : [], old = pre.lines;
    let keep = 0;
    while (keep < old.length && old[keep] === fresh[keep]) keep++;
    if (keep === old.length && keep === fresh.length) return;
    let from = keep;
    const known = keep < old.length - 1 ? overlap(old, fresh) : 0;
    if (known) { keep = old.length - 1; from = known; }
    const end = atEnd(pre);
    while (pre.childNodes.length > keep) pre.lastChild.remove();
    pre.append(...linesOf(fresh.slice(from)));
    pre.lines = [...old.slice(0, keep), ...fresh.slice(from)];
    for (let n = pre.lines.length - mostLines; n > 0; n--) pre.firstChild.remove();
    pre.lines = pre.lines.slice(-mostLines);
    if (end) pre.scrollTop = pre.scrollHeight;
  };
  const clear = (pre) => { pre.lines = []; pre.replaceChildren(); };
  // What an iteration changed is asked for when somebody opens it.
  const makeChanges = () => {
    const shown = el("pre", { class: "out diff", tabindex: "0", role: "region", "aria-label": "What the iteration changed" });
    let head = true; // of a file, up to its first @@
    const row = (line) => {
      head = line[0] === "d" || head && line[0] !== "@";
      return el("span", { class: head || line[0] === "@" ? "skip" : { "+": "add", "-": "del" }[line[0]] }, line);
    };
    const fetchDiff = async (key, n) => {
      const { text, whole } = await get(`api/runs/${key}/diff/${n}`).catch((err) => ({ text: err.message + "\n", whole: true }));
      if (!box.open || !view || key !== at || n !== output.iteration) return;
      shown.replaceChildren(...text.split("\n").slice(0, -1).map(row), text ? "" : "It changed nothing.", whole ? "" : el("span", { class: "skip" }, `The rest is left out here; looprun diff ${view.id} ${n} prints all of it.`));
    };
    const box = el("details", { class: "changes", hidden: true, ontoggle: () => {
      shown.replaceChildren();
      if (box.open) fetchDiff(at, output.iteration);
    } }, el("summary", {}, "What it changed"), shown);
    return box;
  };
  // held tells whether somebody reads the output: it is scrolled back, some of it is selected, or
  // what the iteration changed is open.
  const held = () => output.changes.open || [output.work, output.check].some((pre) => pre.lines.length && (!atEnd(pre) || !getSelection().isCollapsed && getSelection().containsNode(pre, true)));
  const drawOutput = (t) => {
    if (!output.section) return;
    if (t.iteration !== output.iteration) { clear(output.work); clear(output.check); output.changes.open = false; }
    output.iteration = t.iteration;
    output.title.textContent = `Output of iteration ${t.iteration}`;
    output.live.hidden = pinned === null;
    output.checkBox.hidden = !t.check;
    output.work.dataset.none = t.problem || "There is no output here.";
    fill(output.work, t.work);
    fill(output.check, t.check);
  };
  const fetchOutput = async (n, heard = "") => {
    const key = at, isLatest = track(outputs), t = await get(`api/runs/${key}/output/${n}${heard}`);
    if (key === at && (pinned ?? n) === n && isLatest()) drawOutput(t);
  };
  const pin = (n) => {
    pinned = n;
    output.live.hidden = false; // also when it cannot be shown
    return fetchOutput(n);
  };
  const heardOutput = async ({ iteration: n }) => {
    if (pinned === null && n !== output.iteration && held()) await pin(output.iteration); // its end has come meanwhile
    else if ((pinned ?? n) === n) await fetchOutput(n, "?heard");
  };
  const makeOutput = () => {
    output.iteration = -1;
    output.title = el("span", {}, "Output");
    output.live = el("button", { type: "button", hidden: true, onclick: () => { pinned = null; output.changes.open = false; clear(output.work); clear(output.check); follow(); } }, "Back to the latest");
    output.work = panel("work", "Output of the command");
    output.check = panel("check", "Output of the check");
    output.checkBox = el("div", { class: "check", hidden: true }, el("h3", { class: "dim" }, "Its check"), output.check);
    output.changes = makeChanges();
    output.section = hold(el("section", { class: "output" }, el("h2", {}, output.title, output.live), el("div", { class: "work" }, output.work), output.checkBox, el("div", { class: "actions" }, el("button", { type: "button", onclick: openLog }, "Whole log")), output.changes));
  };

  // --- The whole log of an iteration: some lines of it at a time ---
  const log = { key: "", n: 0, asks: new AbortController(), first: 1, last: 0, total: 0 };
  const showLog = async (part) => {
    log.asks.abort(); // nobody waits for what was asked before
    const { signal } = log.asks = new AbortController(), search = $("log-search").value, check = $("log-of").value;
    const { lines, total, found: fits } = await get(`api/runs/${log.key}/log/${log.n}?` + new URLSearchParams({ ...part, search, ...(check && { check }) }), { signal });
    const row = search ? "button" : "span";
    Object.assign(log, { total, first: lines[0]?.number || 1, last: lines.at(-1)?.number || total });
    $("log-lines").replaceChildren(...markup(lines.map((l) => `<${row} class="l${l.number === part.around ? " found" : ""}" data-n="${l.number}">${l.html}\n</${row}>`).join("")));
    $("log-says").textContent = search ? `${fits} of ${plural(total, "line")} ${fits === 1 ? "has" : "have"} it${fits ? "; choose one to see it in its place" : ""}.` : lines.length ? `Lines ${log.first} to ${log.last} of ${total}` : "There is no output here.";
    $("log-lines").scrollTop = 0;
    $("log-lines").querySelector(".found")?.scrollIntoView({ block: "center" });
  };
  const logAt = (part) => showLog(part).catch((err) => {
    if (err.name === "AbortError") return;
    $("log-lines").replaceChildren();
    $("log-says").textContent = err.message;
  });
  const logFirst = () => logAt({ from: 1 });
  const openLog = () => {
    Object.assign(log, { key: at, n: output.iteration });
    $("log-h").textContent = `Log of iteration ${log.n}`;
    $("log-search").value = $("log-of").value = "";
    $("log-of").parentElement.hidden = output.checkBox.hidden;
    $("log-lines").replaceChildren();
    $("log").showModal();
    logFirst();
  };
  $("log-search").addEventListener("input", () => { clearTimeout(log.soon); log.soon = setTimeout(logFirst, 200); });
  $("log-of").addEventListener("change", logFirst);
  $("log-first").onclick = logFirst;
  $("log-earlier").onclick = () => log.first > 1 ? logAt({ to: log.first - 1 }) : logFirst();
  $("log-later").onclick = () => logAt({ from: log.last < log.total ? log.last + 1 : log.first });
  $("log-last").onclick = () => logAt({ to: 2 ** 31 - 1 });
  $("log").addEventListener("close", () => log.asks.abort());
  $("log-lines").addEventListener("click", (e) => {
    const n = Number(e.target.closest("button")?.dataset.n);
    if (!n) return;
    $("log-search").value = "";
    logAt({ around: n });
  });
  $("log-save").onclick = async () => {
    try {
      const { path } = await post(`api/runs/${log.key}/log/${log.n}`, { check: $("log-of").value !== "" });
      el("a", { href: path.slice(1), download: "" }).click();
    } catch (err) { $("log-says").textContent = err.message; }
  };

  const aside = hold(el("div")), course = hold(el("div", { class: "course" }));
  // beside shows what a button has to say, unless another run was chosen before that was known.
  const beside = async (run, what) => {
    const kids = await what.catch((err) => [el("p", { class: "said bad", role: "alert" }, err.message)]);
    if (run === view?.key) aside.replaceChildren(...kids);
  };
  const explain = async (run) => [el("h2", {}, "Why"), el("pre", { class: "explained", tabindex: "0" }, (await get(`api/runs/${run}/explain`)).text)];
  const openReport = async (run) => {
    const tab = window.open("about:blank", "_blank");
    if (!tab) throw new Error("The browser did not let the page open a tab.");
    const { path } = await post(`api/runs/${run}/report`, {}).catch((err) => { tab.close(); throw err; });
    tab.opener = null;
    tab.location = path;
    return [...aside.childNodes]; // what it shows stays
  };
  const resume = async (run) => {
    const { said } = await post(`api/runs/${run}/resume`, {});
    await fetchRun();
    return [el("p", { class: "said", role: "alert" }, said)];
  };
  const does = (label, what) => el("button", { type: "button", onclick: ({ target }) => {
    target.disabled = true;
    beside(at, what(at)).finally(() => { target.disabled = false; });
  } }, label);

  // What can be told to a run that goes on. It keeps what is typed while the run is drawn again.
  const makeOrders = () => {
    const run = at, said = el("p", { class: "said", role: "alert" }), words = remember(el("textarea", { name: "words", autocomplete: "off" }), "words/" + run);
    const send = async (order) => {
      said.className = "said"; said.textContent = "";
      try {
        said.textContent = (await post(`api/runs/${run}/order`, { order, ...(order === "say" && { words: words.value }) })).said;
        if (order === "say") { words.value = ""; words.forget(); }
      } catch (err) { said.className = "said bad"; said.textContent = err.message; }
    };
    const button = (order, label, cls) => el("button", { type: "button", class: cls, onclick: (e) => {
      if (order === "stop" && !e.target.classList.contains("sure")) sure(e.target, e.target, "Press again to stop the run", label);
      else send(order);
    } }, label);
    return hold(el("section", { class: "orders", role: "group", "aria-label": "Tell the run something" },
      el("label", { class: "words" }, "Say something to the next iteration", words),
      el("div", { class: "actions" }, button("say", "Say it"), button("pause", "Pause after this iteration"), button("stop", "Stop now", "end")), said));
  };

  const drawRun = (v) => {
    const shape = JSON.stringify(v);
    if (drawRun.last === at + shape) return;
    drawRun.last = at + shape;
    const first = !view || view.key !== v.key;
    view = v;
    if (first) { aside.replaceChildren(); course.replaceChildren(); makeOutput(); orders = makeOrders(); }
    const spent = [money(v.cost_usd), v.tokens ? plural(v.tokens, "token") : null].filter(Boolean).join(", ");
    output.changes.hidden = !v.diffs;
    if (v.alive) output.section.classList.add("live-output"); // from then on it keeps its height
    const head = [
      el("a", { class: "back", href: "#", onclick: (e) => { e.preventDefault(); history.replaceState(null, "", location.pathname); route(); } }, "← All runs"),
      el("h1", { title: v.title }, v.title),
      el("p", { class: "where" }, v.folder, " · ", el("code", {}, v.id), v.command !== v.title && " · ", v.command !== v.title && el("code", {}, v.command)),
      el("p", { class: "verdict" }, badge(v), v.alive && !v.asks ? `iteration ${v.iteration} is running${v.iterations ? "; " + v.progress : ""}` : v.asks ? "" : v.reason || (v.progress === v.status ? "" : v.progress)),
      ...v.questions.map(question), ...settled(v),
      el("div", { class: "actions" },
        v.resumable && does("Resume", resume), v.iterations > 0 && does("Why?", explain), does("Full report", openReport)),
      aside,
      v.alive && v.writable && !v.asks && orders,
      el("dl", { class: "facts" },
        fact("Iterations", v.limit ? `${v.iterations} of ${v.limit}` : String(v.iterations)), fact("Runtime", ran(v)), fact("Spent", spent),
        fact("Started", ago(v.started)), fact("Check", v.check),
        ...(v.warnings || []).map((w) => fact("Warning", w))),
    ];
    patch(course, markup(v.course));
    const section = (title, ...kids) => el("section", {}, el("h2", {}, title), ...kids);
    const item = (mark, text, now) => el("li", { "aria-current": now ? "step" : null }, el("b", {}, mark), " ", text);
    const parts = v.subtasks && [...v.subtasks.done.map((x) => item("done", x)), v.subtasks.current && item("now", v.subtasks.current, true), ...v.subtasks.remaining.map((x) => item("to do", x))].filter(Boolean);
    const tasks = (v.task || parts || v.blockers) && section("Task", v.task && el("p", {}, v.task), parts && el("ol", { class: "tasks" }, ...parts),
      v.blockers && el("p", {}, "Has to be done elsewhere first: " + v.blockers.join("; ")));
    const rungs = v.ladder && section("Ladder", el("ol", { class: "tasks" }, ...v.ladder.map((x) => el("li", {}, x))));
    const notes = v.notes && section("Notes", el("pre", { class: "notes", tabindex: "0" }, v.notes));
    const order = v.questions.length ? [course, output.section] : [output.section, course];
    patch($("run"), [...head, ...order, tasks, rungs, notes].filter(Boolean));
    state();
  };
  const gone = (why) => { view = null; drawRun.last = ""; $("run").replaceChildren(el("p", { class: "said bad" }, why)); };
  const fetchRun = async () => {
    const key = at, isLatest = track(looks);
    if (!key) return;
    const v = await get("api/runs/" + key).catch((err) => err);
    if (key !== at || !isLatest()) return;
    if (!(v instanceof Error)) drawRun(v);
    else if (v.name === "Error") gone(v.message);
    else throw v;
  };
  $("run").addEventListener("click", (e) => {
    const link = e.target.closest("a[href^='#']");
    if (!link || link.classList.contains("back")) return;
    e.preventDefault(); // the page's own address says which run is shown
    const iteration = /^#i(\d+)/.exec(link.getAttribute("href"));
    if (iteration) pin(Number(iteration[1])).then(() => output.section.scrollIntoView({ block: "nearest" })).catch(failed);
    else document.getElementById(link.getAttribute("href").slice(1))?.focus();
  });

  // --- Keys ---
  let before = "";
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select, dialog[open]")) return;
    const links = [...document.querySelectorAll("#runs a")], i = links.findIndex((a) => a.dataset.key === at);
    const to = (n) => { links[n]?.focus(); links[n]?.click(); };
    const choice = "abcd".indexOf(e.key), keys = before + e.key;
    before = e.key === "g" ? "g" : "";
    if (e.key === "j") to(i + 1);
    else if (e.key === "k") to(Math.max(0, i - 1));
    else if (keys === "gl") (links[i] || links[0])?.focus();
    else if (e.key === "/") $("search").focus();
    else if (e.key === "w") $("wall").click();
    else if (e.key === "?") $("keys").showModal();
    else if (choice >= 0) document.querySelectorAll(".question:not(.settled) .options button")[choice]?.focus();
    else return;
    e.preventDefault();
  });

  // --- What happens, as it happens ---
  let stream = null, heard = 0;
  const failed = (err) => { cut = err instanceof TypeError || err.name === "AbortError" ? "Cut off: looprun serve does not answer; trying again…" : err.message; state(); };
  const on = { list: later, run: fetchRun, output: heardOutput, gone: ({ why }) => gone(why) };
  const listen = async (mine) => {
    const res = await call("api/stream" + (at ? "?run=" + at : ""), { signal: mine.signal });
    if (!res.ok) throw new Error((await res.text()).trim());
    const reader = res.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ;) {
      const { value, done } = await reader.read();
      if (done) throw new TypeError("ended");
      heard = Date.now();
      if (cut) { cut = ""; state(); }
      rest += value;
      const events = rest.split("\n\n");
      rest = events.pop();
      for (const e of events) {
        const [, name, data] = /^event: (\w+)\ndata: ([^]*)$/.exec(e) || [];
        if (name in on) await on[name](JSON.parse(data));
      }
    }
  };
  const follow = async () => {
    stream?.abort();
    const mine = stream = new AbortController();
    while (mine === stream) {
      try {
        heard = Date.now();
        await Promise.all([fetchList(), fetchRun()]);
        await listen(mine);
      } catch (err) {
        if (mine !== stream) return;
        failed(err);
      }
      await new Promise((ok) => setTimeout(ok, 1000));
    }
  };
  setInterval(() => { if (Date.now() - heard > 40000) follow(); }, 10000);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && Date.now() - heard > 20000) follow();
    else fetchSoon(0);
  });

  const route = () => {
    const key = new URLSearchParams(location.hash.slice(1)).get("run") || "";
    document.body.classList.toggle("shows", key !== "");
    if (key === at && stream) return;
    at = key;
    landmark();
    pinned = null;
    view = null;
    drawRun.last = "";
    if (!at) drawNothing();
    follow();
  };
  addEventListener("hashchange", () => {
    if (new URLSearchParams(location.hash.slice(1)).get("token")) location.reload();
    else route();
  });
  // A token in the address, in the part that is sent nowhere, is traded for this browser's own.
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) history.replaceState(null, "", location.pathname);
  if (given) tell($("refused"), pairBy({ token: given })).then(route);
  else route();
})();
