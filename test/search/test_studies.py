# SPDX-License-Identifier: Apache-2.0
"""Studies: what is not tried again, what samplers learn, several processes, what dies and goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.search.studies import SPACE, study, tell_all, timed, trial_of
from triton_ext import TritonExtError
from triton_ext.searching.history import OWNER, best_of, front_of, is_dead, owner, trials_of
from triton_ext.searching.optimiser import optuna, storage_of


def ok(changed: dict[str, Any]) -> dict[str, Any]:
    return timed(10.0 - len(changed), str(changed))


@pytest.mark.parametrize("sampler", ["tpe", "random", "grid", "climb"])
def test_nothing_is_tried_twice(sampler: str) -> None:
    asked = tell_all(study(sampler=sampler), 40, ok)
    assert len(asked) == len({json.dumps(values, sort_keys=True) for values in asked})
    assert len(asked) > 20


def test_the_grid_begins_at_the_default_and_ends() -> None:
    space = SPACE.only(["skip a", "skip b", "num_warps"])
    asked = tell_all(study(sampler="grid", space=space), 20, ok)
    assert [len(values) for values in asked] == [0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3]


def test_a_climb_stays_near_the_best() -> None:
    made = study(sampler="climb")
    made.enqueue({"skip a": True, "skip b": True})
    asked = tell_all(made, 12, lambda v: timed(1.0 if {"skip a", "skip b"} <= v.keys() else 5.0, str(v)))
    assert all(len(asked[0].keys() ^ values.keys()) <= 3 for values in asked[1:])  # an option brings its pass


@pytest.mark.slow
def test_a_model_finds_the_best_of_many() -> None:
    def outcome(v: dict[str, Any]) -> dict[str, Any]:
        good = (v.get("BLOCK") == 128) + (v.get("num_warps") == 2) + (v.get("skip b") is True)
        return timed(10.0 - 2 * good + len(v) / 10, str(v))

    made = study(sampler="tpe")
    tell_all(made, 60, outcome)
    assert made.best is not None
    assert made.best.values == {"BLOCK": 128, "num_warps": 2, "skip b": True}
    # The model, which repeats itself, is not asked again and again.
    assert len(made.trials) == 60
    assert len(made.optuna.trials) < 400


def test_edits_that_failed_are_not_tried_with_others() -> None:
    def outcome(v: dict[str, Any]) -> dict[str, Any]:
        if v.get("skip a"):
            return {"status": "compile error", "reason": "planted"}
        return timed(5.0, str(v))

    made = study()
    made.enqueue({"skip a": True})
    asked = tell_all(made, 40, outcome)
    assert asked[0] == {"skip a": True}
    assert not any("skip a" in values for values in asked[1:])


def test_a_pair_that_failed_is_known_and_its_parts_are_not_blamed() -> None:
    made = study()
    made.enqueue({"skip a": True, "skip b": True})
    made.enqueue({"skip a": True, "skip b": True, "skip c": True})
    made.enqueue({"skip a": True})
    asked = tell_all(made, 2, lambda v: {"status": "wrong result"} if len(v) == 2 else timed(5.0))
    assert asked[:2] == [{"skip a": True, "skip b": True}, {"skip a": True}]
    known = next(trial for trial in made.trials if trial.status == "known failure")
    assert "trial 0" in known.reason


def test_a_size_that_fails_bans_nothing_else() -> None:
    made = study()
    made.enqueue({"BLOCK": 128})
    made.enqueue({"BLOCK": 128, "num_warps": 1})
    asked = tell_all(made, 2, lambda v: {"status": "compile error"} if "num_warps" not in v else timed(5.0))
    assert asked[1] == {"BLOCK": 128, "num_warps": 1}


def test_a_value_that_changes_no_binary_is_turned_no_more() -> None:
    made = study()
    made.enqueue({})
    made.enqueue({"skip c": True})
    tell_all(made, 1, lambda v: timed(5.0, "plain"))
    ((number, values),) = made.ask(1)
    made.tell(replace(trial_of(made, number, values, **timed(5.0, "plain")), same_as=0))
    assert not any("skip c" in values for values in tell_all(made, 30, ok))


def test_equal_binaries_with_other_blocks_differ() -> None:
    made = study()
    made.enqueue({})
    tell_all(made, 1, lambda v: timed(5.0, "one"))
    assert made.same_binary("one", {"BLOCK": 64}) is not None
    assert made.same_binary("one", {"BLOCK": 128}) is None
    assert made.same_binary("", {"BLOCK": 64}) is None


@pytest.mark.slow
def test_a_study_goes_on_where_it_was(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    first = study(file)
    asked = tell_all(first, 5, ok)
    second = study(file)
    assert second.resumed == 5
    assert [trial.values for trial in second.trials] == asked
    assert not any(values in asked for values in tell_all(second, 5, ok))
    with pytest.raises(TritonExtError, match="--resume"):
        study(file, resume=False)


def test_a_study_of_another_space_is_refused(tmp_path: Path) -> None:
    study(tmp_path / "a.db")
    with pytest.raises(TritonExtError, match="another space"):
        study(tmp_path / "a.db", space=SPACE.only(["skip a"]))
    with pytest.raises(TritonExtError, match="other objectives"):
        study(tmp_path / "a.db", objectives=("shared",))


@pytest.mark.slow
def test_two_processes_share_what_they_know(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    one, two = study(file), study(file, seed=1)
    asked = []
    for _ in range(6):
        for made in (one, two):
            made.refresh()
            asked += tell_all(made, 1, ok)
    assert len(asked) == len({json.dumps(values, sort_keys=True) for values in asked}) == 12
    one.refresh()
    two.refresh()
    assert one.best == two.best


@pytest.mark.slow
def test_the_candidate_of_a_dead_process_is_tried_again(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    made = study(file)
    ((number, values),) = made.ask(1)
    dead = subprocess.run(
        [sys.executable, "-c", "from triton_ext.searching.history import owner; print(owner())"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    assert is_dead(dead)
    assert not is_dead(owner())
    assert study(file, seed=5).ask(1)[0][1] != values  # its process lives
    made.optuna._storage.set_trial_user_attr(made._open[number]._trial_id, OWNER, dead)
    again = study(file, seed=9)
    assert again.ask(1)[0][1] == values
    assert [trial.status for trial in trials_of(again.optuna)][number] == "lost"


@pytest.mark.slow
def test_a_worker_whose_search_was_killed_while_it_started_ends() -> None:
    program = (
        "import sys, time; from triton_ext.searching.pools import start_worker; start_worker(int(sys.argv[1])); "
        "time.sleep(60 if sys.argv[2:] else 1)"
    )
    with subprocess.Popen([sys.executable, "-c", "pass"]) as other:
        other.wait()
    alive = subprocess.run([sys.executable, "-c", program, str(os.getpid())], check=False, timeout=120)
    orphan = subprocess.run([sys.executable, "-c", program, str(other.pid), "wait"], check=False, timeout=50)
    assert (alive.returncode, orphan.returncode) == (0, 1)


def test_who_gives_up_leaves_the_candidates_to_others(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    made = study(file)
    values = [v for _, v in made.ask(2)]
    made.give_up()
    assert [v for _, v in study(file, seed=7).ask(2)] == values


def test_who_is_disqualified_is_not_the_best() -> None:
    made = study()
    tell_all(made, 4, ok)
    best = best_of(made.trials)
    assert best is not None
    made.disqualify(best.number, "wrong result", "it is", "launch 2")
    assert made.best != best
    assert made.trials[best.number].case == "launch 2"


def test_a_front_of_two_objectives() -> None:
    made = study(objectives=("time", "shared"))
    values = iter([(1.0, 9.0), (2.0, 2.0), (3.0, 3.0), (9.0, 1.0)])
    tell_all(made, 4, lambda v: {"status": "ok", "objectives": next(values), "binary": str(v)})
    assert [trial.objectives for trial in front_of(made.trials)] == [(1.0, 9.0), (2.0, 2.0), (9.0, 1.0)]


def test_processes_that_make_the_tables_at_the_same_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = optuna().storages.RDBStorage
    problems = iter([RuntimeError("type studydirection already exists"), None])

    def opened(*arguments: Any, **named: Any) -> Any:
        if (problem := next(problems)) is not None:
            raise problem
        return made(*arguments, **named)

    monkeypatch.setattr(optuna().storages, "RDBStorage", opened)
    assert isinstance(storage_of(tmp_path / "a.db"), made)


def test_postgresql_without_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*arguments: Any, **named: Any) -> Any:
        raise ImportError("no driver")

    monkeypatch.setattr(optuna().storages, "RDBStorage", opened)
    with pytest.raises(TritonExtError, match=r"fix: pip install 'psycopg\[binary\]'"):
        storage_of("postgresql://host/database")
