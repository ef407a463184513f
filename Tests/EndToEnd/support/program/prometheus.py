"""Debian's Prometheus: a server that scrapes a gate each second, and promtool."""

import json
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from gate import free_port
from waiting import eventually, patience


def missing():
    """Why there is none; None where there is one."""
    absent = [name for name in ("prometheus", "promtool") if not shutil.which(name)]
    return f"{', '.join(absent)} not installed: Debian's package prometheus" if absent else None


def promtool(*arguments, stdin=None, cwd=None):
    """What promtool has to say; nothing where it finds nothing."""
    done = subprocess.run(
        ["promtool", *map(str, arguments)], input=stdin, capture_output=True, timeout=patience(300), cwd=cwd
    )
    return done.returncode, (done.stdout + done.stderr).decode()


def scrape(address):
    """The text that the gate gives, and what it says that is."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=patience(60)) as answer:
        return answer.read(), answer.headers["Content-Type"]


def samples(text):
    """Values by series, as they are written."""
    lines = [line for line in text.decode().splitlines() if line and not line.startswith("#")]
    return {series: float(value) for series, _, value in (line.rpartition(" ") for line in lines)}


class Prometheus:
    """One server with a folder of its own, on loopback."""

    def __init__(self, folder, *targets):
        self.folder = folder / "prometheus"
        self.folder.mkdir()
        self.address = f"127.0.0.1:{free_port()}"
        configuration = self.folder / "prometheus.yml"
        configuration.write_text(
            json.dumps(
                {
                    "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
                    "scrape_configs": [{"job_name": "portcullis", "static_configs": [{"targets": list(targets)}]}],
                }
            )
        )
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                [
                    "prometheus",
                    f"--config.file={configuration}",
                    f"--storage.tsdb.path={self.folder / 'data'}",
                    f"--web.listen-address={self.address}",
                    "--log.level=warn",
                ],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        eventually(self._is_ready, f"Prometheus on {self.address}", within=60)

    def _is_ready(self):
        assert self.process.poll() is None, (self.folder / "log").read_text()
        try:
            with urllib.request.urlopen(f"http://{self.address}/-/ready", timeout=patience(20)) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def query(self, expression):
        """The vector that it finds: labels and value of each sample."""
        query = urllib.parse.urlencode({"query": expression})
        try:
            with urllib.request.urlopen(f"http://{self.address}/api/v1/query?{query}", timeout=patience(60)) as answer:
                found = json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{expression}: {error.read().decode()}") from None
        assert found["status"] == "success", found
        if found["data"]["resultType"] == "scalar":
            return [({}, float(found["data"]["result"][1]))]
        return [(sample["metric"], float(sample["value"][1])) for sample in found["data"]["result"]]

    def value(self, expression):
        """Of the one sample that it finds; None where it finds none."""
        found = self.query(expression)
        assert len(found) < 2, found
        return found[0][1] if found else None

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(patience(20))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
