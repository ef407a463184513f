"""The bench's judgement: verdicts at their bounds, counts that must agree, a chart that is well-formed, and a page that says
what was measured."""

import json
import pathlib
import sys
import types
import xml.dom.minidom

import pytest

BENCH = pathlib.Path(__file__).resolve().parents[3] / "Benchmarks" / "bench"


@pytest.fixture
def bench(monkeypatch):
    """The bench's modules, which find each other by their folder."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCH))
    import chart
    import inprocess
    import machine
    import results
    import table
    import traffic
    import verdicts

    yield types.SimpleNamespace(
        chart=chart, inprocess=inprocess, machine=machine, results=results, table=table, traffic=traffic, verdicts=verdicts
    )
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(BENCH)):
            del sys.modules[name]


def samples_of(bench, row, **values):
    samples = bench.results.Samples()
    for name, numbers in values.items():
        for number in numbers:
            samples.add(row, name, number)
    return samples


@pytest.mark.parametrize(
    "mine, verdict", [(94, "aim"), (95, "aim"), (96, "must"), (105, "must"), (106, "MISSED")]
)
def test_less_is_better(bench, mine, verdict):
    samples = samples_of(bench, "d p99", portcullis=[mine], haproxy=[100])
    assert [line["verdict"] for line in bench.verdicts.judge(samples)] == [verdict]


@pytest.mark.parametrize("mine, verdict", [(91, "aim"), (90, "aim"), (75, "must"), (74, "MISSED")])
def test_more_is_better(bench, mine, verdict):
    samples = samples_of(bench, "f distinct", portcullis=[mine], openssl=[100])
    assert [line["verdict"] for line in bench.verdicts.judge(samples)] == [verdict]


def test_a_ratio_is_of_medians(bench):
    samples = samples_of(bench, "a", portcullis=[1, 2, 900], haproxy=[4, 4, 4])
    assert [line["value"] for line in bench.verdicts.judge(samples)] == [0.5]


def test_an_android_chain_is_held_against_openssls_own_speed(bench, monkeypatch):
    """One check on P-256 and two on P-384; what X509_verify takes is told, and judges nothing."""
    def run(command, **_):
        bits = command[-1].removeprefix("ecdsap")
        rate = {"256": 10_000.0, "384": 1_000.0}[bits]
        return types.SimpleNamespace(stdout=f"+H:junk\n+F4:2:{bits}:7.0:{rate}\n", stderr="")

    monkeypatch.setattr(bench.inprocess.subprocess, "run", run)
    monkeypatch.setattr(bench.inprocess, "measured", lambda program, *_: {"per_second": 500 if "floor" in str(program) else 450})
    lengths = types.SimpleNamespace(in_process_seconds=1)
    setup = types.SimpleNamespace(lengths=lengths, folder=pathlib.Path("x"), tool="tool", programs=pathlib.Path("y"))
    samples = bench.results.Samples()
    bench.inprocess.android_key_row(setup, samples, 1)
    assert samples.median("t", "openssl") == pytest.approx(2100)
    judged, told = bench.verdicts.judge(samples)
    assert (judged["must"], judged["verdict"]) == (1.1, "must") and judged["value"] == pytest.approx(1e6 / 450 / 2100)
    assert told["verdict"] == "-" and told["value"] == pytest.approx(500 / 450)


def test_a_row_without_its_peer_has_no_verdict(bench):
    assert bench.verdicts.judge(samples_of(bench, "c", portcullis=[1])) == []


def test_a_negative_number_makes_no_ratio(bench):
    assert bench.verdicts.judge(samples_of(bench, "d p99", portcullis=[-5], haproxy=[-10])) == []


@pytest.mark.parametrize(
    "shares, taken, disturbed", [([0.009], 1, False), ([0.5, 0], 2, False), ([1, 1, 1], 3, True)]
)
def test_a_disturbed_run_is_taken_again(bench, shares, taken, disturbed):
    setup = types.SimpleNamespace(lengths=types.SimpleNamespace(attempts=3))
    left = list(shares)
    result = bench.traffic.undisturbed(setup, lambda: {"late_share": left.pop(0)})
    assert (len(shares) - len(left), result["disturbed"]) == (taken, disturbed)


def test_headroom_is_that_of_the_fullest_round(bench):
    rounds = [{"own_share": 0.3, "game_share": 0.1}, {"own_share": 0.5, "game_share": 0.25}, {}]
    assert bench.verdicts.headroom(rounds).startswith(", 25% ")
    assert bench.verdicts.headroom([{}]) == ""


class Counted:
    """A game that reports what it is told to, before and after a run."""

    def __init__(self, received, sent):
        zero = {"accepted": 0, "open": 0, "received": 0, "sent": 0, "processor_ns": 0}
        self.answers = [zero, {**zero, "received": received, "sent": sent}]

    def counts(self):
        return self.answers.pop(0)


class Loaded:
    """A load generator that says it has sent two messages and had `received` bytes back."""

    def __init__(self, received):
        self.received = received

    def ask(self, _):
        return {"sent": 2, "bytes": self.received, "seconds": 1.0}


@pytest.mark.parametrize(
    "received, sent, back", [(64, 128, 128), (128, 64, 128), (128, 128, 64), (192, 192, 192)]
)
def test_counts_that_disagree_break_the_measure(bench, received, sent, back):
    with pytest.raises(bench.machine.Broken):
        bench.traffic.echo(None, Counted(received, sent), Loaded(back), 1, 0)


def test_counts_that_agree_are_a_measure(bench):
    assert bench.traffic.echo(None, Counted(128, 128), Loaded(128), 1, 0)["rate"] == 2


def test_the_chart_is_well_formed(bench, tmp_path):
    samples = samples_of(bench, "a", portcullis=[1.5, 2], haproxy=[3], websockify=[4000])
    samples.add("d p99", "portcullis", -1)
    bench.chart.write_chart(samples.summary(), tmp_path / "chart.svg")
    text = xml.dom.minidom.parse(str(tmp_path / "chart.svg")).documentElement.toxml()
    assert "portcullis" in text and "4,000 KiB" in text and 'width="-' not in text


# ---- what is published: after a change of a target, `make bench-table`


@pytest.fixture
def published():
    return json.loads((BENCH.parent / "results.json").read_text())


def test_the_published_verdicts_follow_from_the_samples(bench, published):
    judged = bench.verdicts.judge(bench.results.Samples.of(published["rows"]))
    assert published["verdicts"] == sorted(judged, key=lambda line: line["row"])


def test_the_published_table_and_chart_are_what_the_results_say(bench, published, tmp_path):
    _, table, _ = bench.table.between((BENCH.parent / "README.md").read_text())
    assert table == bench.table.markdown(published)
    bench.chart.write_chart(published["rows"], tmp_path / "chart.svg")
    assert (tmp_path / "chart.svg").read_text() == (BENCH.parent / "chart.svg").read_text()


def test_only_the_table_is_written_anew(bench, published, tmp_path):
    page = tmp_path / "README.md"
    page.write_text(f"before\n{bench.table.BEGIN}\n| of | before |\n{bench.table.END}\nbehind\n")
    for _ in range(2):
        bench.table.write_table(published, page)
    before, table, behind = bench.table.between(page.read_text())
    assert table == bench.table.markdown(published)
    assert before.startswith("before\n") and behind.endswith("behind\n")
    assert page.read_text().count("| of | before |") == 0


@pytest.mark.parametrize("value, text", [(0.0887, "0.0887"), (1.125, "1.12"), (16.7, "16.7"), (4128.6, "4,129")])
def test_numbers_are_written_without_exponents(bench, value, text):
    assert bench.table.number(value) == text
