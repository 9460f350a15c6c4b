// SPDX-License-Identifier: Apache-2.0
//
// Lets the search of the site work without a server: browsers start no worker from a page of the file system, so
// `Worker` runs its script in a hidden frame there. The site's plugin `offline` looks for a script of this name; if there
// is none, each page loads one from the network.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      const loaded = new Promise((resolve) => (this.frame.onload = resolve));
      document.body.append(this.frame);
      this.started = loaded.then(() => this.start(new URL(url, location.href).href));
    }

    start(url) {
      const { contentWindow: scope, contentDocument } = this.frame;
      scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      return new Promise((resolve, reject) => {
        const script = contentDocument.createElement("script");
        Object.assign(script, { src: url, onload: () => resolve(scope), onerror: reject });
        contentDocument.body.append(script);
      });
    }

    postMessage(data) {
      this.started.then((scope) => scope.dispatchEvent(new scope.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
