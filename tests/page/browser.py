"""Controls a headless Chromium over a pipe, with Python's standard library only. Every wait has a time limit."""
import base64
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
ANSWER_S = 90  # longest wait for an answer in seconds; the machine may be busy
# Starts Chromium with its two pipes as file descriptors 3 and 4, as it expects.
PIPES = 'exec 3<&"$0" 4>&"$1"; shift; exec "$@"'


def find():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="baretick-page-", ignore_cleanup_errors=True)
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()
        self.process = subprocess.Popen(
            ["bash", "-c", PIPES, str(to_read), str(back_write), find(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--remote-debugging-pipe", "--renderer-process-limit=1", "--no-first-run", "--disable-background-networking", "--disable-sync",
             "--disable-component-update", "--hide-scrollbars", f"--user-data-dir={self.profile.name}", "about:blank"],
            pass_fds=[to_read, back_write], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_read)
        os.close(back_write)
        self.rest, self.last, self.events = b"", 0, []

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        self.profile.cleanup()

    def _read(self, deadline):
        """Return the next message that is not an event. Events are kept for later."""
        while b"\0" not in self.rest:
            if not select.select([self.back], [], [], max(deadline - time.monotonic(), 0))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.back, 1 << 20)
            if not data:
                raise EOFError("the browser is gone")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        deadline = time.monotonic() + ANSWER_S
        while True:
            answer = self._read(deadline)
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width=1280, height=900, dark=False):
        return Page(self, path, width, height, dark)


class Page:
    """A browser tab that shows a file. `problems` has the errors in the tab, and `requests` its requests."""

    def __init__(self, browser, path, width, height, dark):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.call(f"{domain}.enable")
        self.call("Performance.enable", timeDomain="threadTicks")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.url = pathlib.Path(path).resolve().as_uri()
        self.call("Page.navigate", url=self.url)
        self.wait("document.documentElement?.dataset.ready === 'yes' && document.readyState === 'complete'")

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression):
        deadline = time.monotonic() + ANSWER_S
        while not self.evaluate(f"Boolean({expression})"):
            if time.monotonic() > deadline:
                raise TimeoutError(expression)
            time.sleep(0.02)

    def processor_s(self, *kinds):
        """Return the processor time of the page's thread for the KINDS of work, in seconds. It does not include waiting."""
        metrics = {metric["name"]: metric["value"] for metric in self.call("Performance.getMetrics")["metrics"]}
        return sum(metrics[f"{kind}Duration"] for kind in kinds)

    def settle(self):
        """Wait for two frames, after which everything is laid out and drawn."""
        self.evaluate("new Promise(go => requestAnimationFrame(() => requestAnimationFrame(() => go(true))))")

    def choose_file(self, selector, *paths):
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", files=[str(pathlib.Path(path).resolve()) for path in paths], nodeId=node)

    def picture(self, path, whole=True):
        self.settle()
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=whole, format="png")
        pathlib.Path(path).write_bytes(base64.b64decode(answer["data"]))

    def print(self, path):
        answer = self.call("Page.printToPDF", printBackground=False, preferCSSPageSize=True)
        pathlib.Path(path).write_bytes(base64.b64decode(answer["data"]))

    def _events(self, *methods):
        return [event["params"] for event in self.browser.events
                if event.get("sessionId") == self.session and event["method"] in methods]

    @property
    def problems(self):
        said = [event for event in self._events("Runtime.consoleAPICalled") if event["type"] in ("error", "warning", "assert")]
        return said + self._events("Runtime.exceptionThrown", "Log.entryAdded")

    @property
    def requests(self):
        """Return the requested addresses, without the page itself."""
        urls = [event["request"]["url"] for event in self._events("Network.requestWillBeSent")]
        return [url for url in urls if url != self.url and not url.startswith("data:")]

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
