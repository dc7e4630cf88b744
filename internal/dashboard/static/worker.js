"use strict";
// A click on a notice shows its run, in a page that is open if there is one.
addEventListener("notificationclick", (e) => {
  const { run } = e.notification.data;
  e.notification.close();
  e.waitUntil(clients.matchAll({ type: "window", includeUncontrolled: true }).then(async ([page]) => {
    if (!page) return clients.openWindow("./#run=" + run);
    page.postMessage({ run });
    return page.focus();
  }));
});
