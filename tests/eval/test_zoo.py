"""The zoo: shrinking, the generic builder, what is found in toys, resuming, grouping, the page."""

import argparse
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from eval.__main__ import main
from eval.zoo import groups, store
from eval.zoo.agreeing import agreeing
from eval.zoo.build import CannotBuild, build
from eval.zoo.exceptions import corrected, entries
from eval.zoo.options import RESULTS, add_arguments, as_arguments
from eval.zoo.report import markdown, summary
from eval.zoo.row import measure
from eval.zoo.run import differs, nurseries, selected, write_report
from eval.zoo.shrink import VOCABULARY, Plan, Tokens, shrunken

HERE = Path(__file__).resolve().parent
PLAN = Plan(16, 2, images=True)


def small(plan=PLAN, **values):
    return {**values, **shrunken(values, plan, Tokens())}


def test_widths_and_depths_shrink_and_what_divides_them_still_does():
    found = small(hidden_size=768, num_attention_heads=12, num_hidden_layers=12, patch_size=16)
    assert found["hidden_size"] % found["num_attention_heads"] == 0
    assert (found["hidden_size"], found["num_hidden_layers"]) == (48, 2)
    assert found["patch_size"] == 16
    fewer = small(
        Plan(16, 2, True, heads=True), hidden_size=8192, num_attention_heads=64, head_dim=128
    )
    assert fewer == {"hidden_size": 512, "num_attention_heads": 4, "head_dim": 128}


def test_special_tokens_stay_apart_in_a_small_vocabulary():
    found = small(vocab_size=152064, bos_token_id=1, image_token_id=151655, video_token_id=151656)
    assert found["vocab_size"] == VOCABULARY
    special = [found[f"{name}_token_id"] for name in ("bos", "image", "video")]
    assert len(set(special)) == 3 and max(special) < VOCABULARY and special[0] == 1


def test_every_kind_of_layer_is_kept_once():
    kinds = ["full", "full", "sliding", "full", "linear", "full"]
    found = small(num_hidden_layers=6, layer_types=kinds, sizes_by_layer=[1, 2, 3, 4, 5, 6])
    assert found["layer_types"] == ["full", "sliding", "linear"]
    assert found["sizes_by_layer"] == [1, 3, 5]
    assert found["num_hidden_layers"] == 3


def test_parts_of_a_head_keep_their_sum():
    found = small(head_dim=128, rope_parameters={"mrope_section": [16, 24, 24]})
    assert 2 * sum(found["rope_parameters"]["mrope_section"]) == found["head_dim"] == 8


def test_images_are_halved_while_whole_patches_fill_them():
    assert small(image_size=896, patch_size=14)["image_size"] == 112
    assert small(Plan(16, 2, images=False), image_size=896)["image_size"] == 896


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("t5", ["text"]), ("vit", ["image"]), ("llava", ["text", "image"])],
)
def test_the_generic_builder_needs_no_recipe(name, kinds):
    from eval.zoo import transformers_zoo as transformers

    cls = transformers.classes(name)[0]
    built = build(lambda plan: transformers.small_model(name, cls, plan), transformers.plans(name))
    about = built.about()
    assert type(built.model).__name__ == cls
    assert about["kinds"] == kinds and not about["left_out"]
    assert about["parameters"] < 5_000_000
    first, second = built.found.calls
    assert first.keys() == second.keys()
    assert all(first[k].shape == second[k].shape for k in first)
    assert any(not first[k].equal(second[k]) for k in first)


def test_architectures_have_a_base_class_and_a_head():
    from eval.zoo import transformers_zoo as transformers

    names = transformers.names()
    assert len(names) > 200 and "auto" not in names
    assert transformers.classes("bert")[0] == "BertModel"
    assert len(transformers.classes("bert")) == 2


def test_what_cannot_be_built_says_why():
    def make(plan):
        raise ValueError(f"no width of {plan.divisor}")

    with pytest.raises(CannotBuild, match="no width of 16\n.*no width of 8"):
        build(make, [Plan(16, 2, True), Plan(8, 2, True)])


def test_exceptions_have_reasons_and_are_put_in():
    for entry in (e for found in entries().values() for e in found):
        assert entry["names"] and entry["reason"] and ("set" in entry) != ("same" in entry)
    config = SimpleNamespace(prediction_length=None)
    assert corrected("transformers", "informer", config).prediction_length == 8


class Part(SimpleNamespace):
    """A configuration, as the builder tells one from other values."""

    def to_diff_dict(self):
        return {}


def test_towers_of_default_configurations_meet_in_one_width():
    text = Part(hidden_size=64, num_attention_heads=4, num_key_value_heads=None, head_dim=None)
    whole = agreeing(Part(text_config=text, vision_config=Part(hidden_size=8, out_hidden_size=9)))
    assert whole.vision_config.out_hidden_size == 64 and whole.vision_config.hidden_size == 8
    assert (text.num_key_value_heads, text.head_dim) == (4, 16)


def test_a_list_of_widths_is_divided_as_a_whole_or_not_at_all():
    assert small(stem_channels=[3, 32, 64])["stem_channels"] == [3, 2, 4]
    assert small(hidden_sizes=[32, 24, 64])["hidden_sizes"] == [32, 24, 64]


def toy_rows(tmp_path, *names):
    with nurseries("toy_zoo", tmp_path) as arms:
        found = {}
        for name in names:
            found[name] = measure("toy_zoo", name, ("base",), tmp_path / name, arms)
        return found


def test_toys_are_measured_each_in_processes_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    names = ("plain", "printing", "wrong", "dying", "unbuildable")
    rows = toy_rows(tmp_path, *names)
    found = {name: rows[name]["variants"]["base"] for name in names}
    outcomes = {name: groups.outcome(one) for name, one in found.items()}
    assert outcomes == {
        "plain": "no break",
        "printing": "mended whole",
        "wrong": "mended whole",
        "dying": "not built",
        "unbuildable": "not built",
    }
    assert found["plain"]["mend"] is None and found["plain"]["after"] is None
    assert found["printing"]["before"]["breaks"] >= 1
    assert found["printing"]["before"]["sites"][0]["category"] == "LC"
    assert found["printing"]["mend"]["inert"] is False and found["printing"]["same_start"]
    assert all(
        verdict["equal"] for verdict in found["printing"]["agreement"]["mended eager"].values()
    )
    assert not differs(rows["printing"])
    assert differs(rows["wrong"]), "a planted wrong result is found"
    assert "exit 7" in found["dying"]["error"]
    assert "needs a size that nobody knows" in found["unbuildable"]["error"]


SITE = {
    "path": "some/model.py",
    "line": 7,
    "function": "forward",
    "text": "if x.any():",
    "category": "DC",
    "reason": "Data-dependent branching",
    "count": 1,
}
EQUAL = {"equal": True, "difference": None, "shared": False, "ok": True}
ASPECTS = ("outputs", "arguments", "state", "records", "record_sites")


def counts(*sites):
    return {
        "breaks": len(sites),
        "frames": 1,
        "frames_ok": 1,
        "graphs": 1 + len(sites),
        "recompiles": 0,
        "fullgraph": not sites,
        "sites": list(sites),
    }


def variant(before, after=None):
    return {
        "class": "ToyModel",
        "built": {"kinds": ["text"], "left_out": ["text+image: ValueError: no"]},
        "before": before,
        "after": after,
        "agreement": {
            arm: dict.fromkeys(ASPECTS, EQUAL) for arm in ("mended eager", "mended compiled")
        },
        "same_start": True,
        "mend": {"inert": False, "modules": [], "error": None, "hook": None},
        "mended_error": None,
    }


def row(name, one, commit="abc"):
    key = {"library": "toys", "version": "1.0", "torch": "2.13.0", "commit": commit, "of": 9}
    return {
        "name": name,
        "variants": {"base": one},
        "key": key,
        "date": "2026-01-01 00:00 UTC",
    }


ROWS = [
    row("first", variant(counts(SITE), counts())),
    row("second", variant(counts(SITE), counts({**SITE, "refused": "GM101, no proof"}))),
    row("third", variant(counts())),
    row("fourth", {"error": "CannotBuild: no inputs"}),
]


def test_breaks_are_grouped_by_site_with_the_architectures_that_they_cost():
    [site] = groups.sites(ROWS)
    assert (site.path, site.line, site.category) == ("some/model.py", 7, "DC")
    assert site.before == {"first", "second"} and site.after == {"second"}
    assert groups.categories(ROWS) == {"DC": (1, 1, 2, 1)}
    assert groups.refusals(ROWS) == [("GM101, no proof", 1, 1)]


def test_the_page_says_of_how_many_and_what_was_not_built(tmp_path):
    page = markdown(ROWS)
    for text in (
        "4 of 9 architectures (a part",
        "| base | 4 | 3 | 1 | 1 | 0 | 1 | 0 | 0 | 2 → 1 | 2 of 2 |",
        "`some/model.py:7` in `forward`",
        "fourth, base: CannotBuild: no inputs",
        "GM101, no proof",
        "1: third.",
    ):
        assert text in page
    assert summary(ROWS) == "base: no break 1, mended whole 1, as before 1, not built 1"
    write_report(tmp_path, "toys", ROWS)
    assert (tmp_path / "zoo-toys.md").read_text(encoding="utf-8") == page
    drawn = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.svg")}
    assert drawn.keys() == {"zoo-toys-categories.svg", "zoo-toys-sites.svg"}
    assert "model.py:7" in drawn["zoo-toys-sites.svg"]


def test_a_row_is_kept_until_version_or_commit_change(tmp_path):
    path = tmp_path / "zoo.jsonl"
    for one in (ROWS[0], row("first", variant(counts())), ROWS[2]):
        store.append(path, one)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(ROWS[3])[:40])
    rows = store.read(path)
    assert [one["name"] for one in rows] == ["first", "third"]
    assert rows[0]["variants"]["base"]["before"]["breaks"] == 0, "the last one of a name counts"
    assert store.done(rows, ROWS[0]["key"]) == {"first": {"base"}, "third": {"base"}}
    assert store.done(rows, {**ROWS[0]["key"], "commit": "def"}) == {}


def test_the_results_checked_in_have_their_page_and_a_commit():
    rows = store.read(RESULTS / "zoo-transformers.jsonl")
    page = (RESULTS / "zoo-transformers.md").read_text(encoding="utf-8")
    assert page == markdown(rows)
    assert f"{len(rows)} of {rows[0]['key']['of']} architectures" in page
    assert not any("uncommitted" in row["key"]["commit"] for row in rows)
    assert all((RESULTS / f"zoo-transformers-{n}.svg").exists() for n in ("categories", "sites"))


def test_parts_of_the_zoo_are_selected():
    names = ["a", "b", "c", "d", "e"]
    assert selected(names, None, "1/2") == ["b", "d"]
    assert selected(names, ["e", "a"], None) == ["a", "e"]
    with pytest.raises(ValueError, match="no such architecture: z"):
        selected(names, ["a", "z"], None)


@pytest.mark.parametrize(
    "words", [[], ["--only", "t5", "bert", "--limit", "3"], ["--library", "timm", "--report"]]
)
def test_another_environment_is_told_the_same(words, tmp_path):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    options = parser.parse_args([*words, "--output", str(tmp_path), "--newest"])
    again = parser.parse_args(as_arguments(options)[1:])
    assert vars(again) == {**vars(options), "newest": False}


def test_an_unknown_library_is_a_usage_error(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["zoo", "--library", "no-such-library"])
    assert stop.value.code == 2
    assert "no-such-library" in capsys.readouterr().err
