// SPDX-License-Identifier: Apache-2.0
//
// Lets the search of the site work without a server. Browsers refuse to start a worker from a page of the file system,
// so `Worker` runs its script in a hidden frame there. The file's name contains "iframe-worker", because the plugin
// `offline` of the site otherwise adds a script from the network to each page.
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
