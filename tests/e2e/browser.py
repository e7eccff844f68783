"""A headless Chromium, controlled over its DevTools protocol."""
import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE = 60  # seconds


class Browser:
    """One browser with one page. Collects the page's console messages and network requests."""

    def __init__(self):
        self._home = tempfile.mkdtemp(prefix="lotus-chromium-")
        to_browser, ours_out = os.pipe()
        ours_in, from_browser = os.pipe()
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={self._home}", "about:blank"]

        def wire():  # the protocol's pipes are descriptors 3 and 4
            incoming, outgoing = os.dup(to_browser), os.dup(from_browser)
            os.dup2(incoming, 3)
            os.dup2(outgoing, 4)

        # Copies with numbers above 4, so that neither dup2 closes the other's source.
        to_browser, from_browser = (self._high(end) for end in (to_browser, from_browser))
        self._process = subprocess.Popen(command, preexec_fn=wire, close_fds=False, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self._out, self._in = ours_out, ours_in
        self._ids = itertools.count(1)
        self._buffer = b""
        self._session = None
        self.events = []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    @staticmethod
    def _high(end):
        copies = [end]
        while copies[-1] <= 4:
            copies.append(os.dup(copies[-1]))
        for copy in copies[:-1]:
            os.close(copy)
        return copies[-1]

    def call(self, method, **parameters):
        """Sends a command; returns its result."""
        number = next(self._ids)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data):]
        while True:
            reply = self._receive()
            if reply.get("id") == number:
                assert "error" not in reply, (method, reply["error"])
                return reply["result"]
            self.events.append(reply)

    def _receive(self):
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0, end - time.monotonic()))
            assert ready, f"the browser said nothing for {PATIENCE} s"
            data = os.read(self._in, 1 << 16)
            assert data, "the browser has ended"
            self._buffer += data
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def look(self, width, height, dark=False, scale=1):
        """Sets the window's size, the scale and the colour scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path):
        """Opens a file and waits until the page is drawn; returns the time taken, in seconds."""
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        start = time.monotonic()
        self.call("Page.navigate", url=f"file://{path}")
        while self.ask("document.documentElement?.dataset.ready || ''") != "yes":
            problems = self.problems()
            assert not problems, problems
            assert time.monotonic() - start < PATIENCE, f"{path} was not drawn"
            time.sleep(0.02)
        took = time.monotonic() - start
        self.settle()
        return took

    def ask(self, expression):
        """Evaluates a JavaScript expression in the page."""
        reply = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in reply, (expression, reply["exceptionDetails"])
        return reply["result"].get("value")

    def settle(self):
        """Waits until the page has painted twice."""
        self.ask("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def problems(self):
        """Errors and warnings of the page so far."""
        found = []
        for event in self.events:
            parameters = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"].get("exception", {}).get("description", "exception"))
            elif event.get("method") == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(str([value.get("value") for value in parameters["args"]]))
            elif event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(parameters["entry"]["text"])
        return found

    def requests(self):
        """Addresses that the page requested, except the page itself and data: addresses."""
        addresses = [event["params"]["request"]["url"] for event in self.events
                     if event.get("method") == "Network.requestWillBeSent"]
        return [address for address in addresses if not address.startswith("data:")][1:]

    def screenshot(self, path, whole=False):
        parameters = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            parameters["clip"] = {**size, "scale": 1}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", **parameters)["data"]))

    def pdf(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"]))

    def close(self):
        os.close(self._out)
        os.close(self._in)
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._home, ignore_errors=True)
