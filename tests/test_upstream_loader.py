"""Private packages, stand-ins and the installed vllm, on tiny made-up sources."""

from __future__ import annotations

import logging
import subprocess
import sys
import traceback
from abc import ABC
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Optional, TypeVar

import pytest

from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.upstream import load_installed
from mmcache_ref.oracle.upstream.loader import PrivatePackage
from mmcache_ref.oracle.upstream.stand_ins import Inert, ReleaseLogger

T = TypeVar("T")
Load = Callable[[dict[str, str]], PrivatePackage]


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Load]:
    """Writes sources below `vllm/` and loads them; unloads them at the end."""
    packages: list[PrivatePackage] = []

    def write_and_load(sources: dict[str, str]) -> PrivatePackage:
        folder = tmp_path / str(len(packages))
        for name, text in sources.items():
            path = folder / "vllm" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        packages.append(PrivatePackage(folder, "9.9.9"))
        return packages[-1]

    yield write_and_load
    for package in packages:
        package.unload()


def module(package: PrivatePackage, name: str) -> Any:
    found = package.import_module(name)
    assert found is not None
    return found


def test_absolute_imports_stay_inside_the_private_package(load: Load) -> None:
    sources = {
        "utils/cache.py": "class LRUCache: pass\n",
        "user.py": (
            "import vllm.utils.cache\n"
            "import vllm.utils.cache as renamed\n"
            "from vllm.utils import cache as member\n"
            "from vllm.utils.cache import LRUCache\n"
            "from .utils.cache import LRUCache as relative\n"
            "def inside():\n"
            "    from vllm.utils.cache import LRUCache\n"
            "    return LRUCache\n"
        ),
    }
    package = load(sources)
    user = module(package, "user")
    lru = module(package, "utils.cache").LRUCache
    assert lru.__module__ == "_mmcache_ref_vllm_9_9_9.utils.cache"
    assert user.vllm.utils.cache.LRUCache is lru
    assert user.renamed.LRUCache is user.member.LRUCache is user.LRUCache is user.relative is lru
    assert user.inside() is lru
    assert "vllm" not in sys.modules


def test_a_submodule_named_in_a_from_import_is_the_real_one(load: Load) -> None:
    package = load({"envs.py": "RING = 'name'\n", "user.py": "from vllm import config, envs\n"})
    user = module(package, "user")
    assert user.envs.RING == "name"
    assert isinstance(user.config, Inert)


def test_two_folders_of_one_version_live_side_by_side(load: Load) -> None:
    one, two = load({"which.py": "WHICH = 1\n"}), load({"which.py": "WHICH = 2\n"})
    assert one.name != two.name
    assert (module(one, "which").WHICH, module(two, "which").WHICH) == (1, 2)


def test_a_traceback_shows_the_real_file_line_and_text(load: Load) -> None:
    package = load({"broken.py": "import vllm.config\n\ndef fail():\n    return 1 // 0  # here\n"})
    broken = module(package, "broken")
    with pytest.raises(ZeroDivisionError) as raised:
        broken.fail()
    frame = traceback.extract_tb(raised.value.__traceback__)[-1]
    assert (frame.filename, frame.lineno) == (broken.__file__, 4)
    assert frame.line == "return 1 // 0  # here"


def test_a_module_without_source_is_none_for_the_namespace(load: Load) -> None:
    package = load({"user.py": "from vllm.config import ModelConfig\n"})
    assert isinstance(module(package, "user").ModelConfig, Inert)
    assert package.import_module("config") is None


def test_outside_packages_are_stand_ins_though_installed_and_dependencies_are_real(load: Load) -> None:
    package = load({"user.py": "import rich.console\nimport transformers\nimport msgspec\nimport json\n"})
    user = module(package, "user")
    assert user.rich.__name__ == "_mmcache_ref_vllm_9_9_9._outside.rich"
    assert isinstance(user.transformers.ProcessorMixin, Inert)
    assert user.msgspec is sys.modules["msgspec"]
    assert user.json is sys.modules["json"]


def test_a_missing_dependency_names_the_extra_to_install(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cachetools", None)
    package = load({"user.py": "import cachetools\n"})
    with pytest.raises(TargetUnavailable, match=r"'cachetools'.*pip install 'mmcache-ref\[vllm\]'"):
        package.import_module("user")


def test_a_source_that_does_not_load_is_unavailable_and_says_why(load: Load) -> None:
    package = load({"user.py": "from vllm.config import ModelConfig\nint(ModelConfig)\n"})
    with pytest.raises(TargetUnavailable, match=r"vllm\.user of this release does not load.*TypeError"):
        package.import_module("user")


def test_a_missing_part_of_the_release_is_not_blamed_on_the_environment(load: Load) -> None:
    package = load({"cache.py": "", "user.py": "import vllm.cache.base\n"})
    with pytest.raises(TargetUnavailable, match=r"vllm\.user of this release does not load"):
        package.import_module("user")


def test_unloading_leaves_no_module_behind(load: Load) -> None:
    package = load({"user.py": "from vllm.config import ModelConfig\n"})
    package.import_module("user")
    package.unload()
    assert [name for name in sys.modules if name.startswith(package.name)] == []
    with pytest.raises(ModuleNotFoundError):
        __import__(package.name)


def test_an_inert_value_serves_as_base_subscript_decorator_annotation_and_context() -> None:
    inert: Any = Inert("x.Y")

    class Alone(inert, frozen=True):  # type: ignore[misc, call-arg]
        pass

    class WithOthers(inert, inert.Other, ABC, Generic[T]):  # type: ignore[misc]
        pass

    @inert  # type: ignore[untyped-decorator]
    def decorated() -> int:
        return 7

    @inert.register("image", option=1)
    @dataclass
    class Decorated:
        member: inert[int] | None = None

    with inert.no_grad():
        pass
    assert WithOthers.__bases__ == (ABC, Generic)
    assert isinstance(Alone(), Alone)
    assert decorated() == 7
    assert Decorated().member is None
    assert Optional[inert] is not None  # noqa: UP045 - the older spelling is what old releases use
    assert (int | inert) is inert


def test_an_inert_value_is_false_and_nothing_is_an_instance_of_it() -> None:
    inert: Any = Inert("x.Y")
    assert not inert
    assert not isinstance(3, inert)
    assert not issubclass(int, inert)


@pytest.mark.parametrize("use", [int, list, len, lambda inert: 3 in inert, lambda inert: inert + 1])
def test_code_that_depends_on_an_inert_value_fails(use: Callable[[Any], object]) -> None:
    with pytest.raises(TypeError):
        use(Inert("x.Y"))


def test_a_release_logger_logs_each_message_once(caplog: pytest.LogCaptureFixture) -> None:
    logger = ReleaseLogger("mmcache_ref.test")
    with caplog.at_level(logging.INFO, "mmcache_ref.test"):
        for size in (1, 1, 2):
            logger.warning_once("too large: %d", size, scope="local")
        logger.info_once("too large: %d", 1)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", "too large: 1"),
        ("WARNING", "too large: 2"),
        ("INFO", "too large: 1"),
    ]


def test_a_release_warns_nobody_who_does_not_configure_logging(load: Load) -> None:
    package = load({"user.py": "from vllm.logger import init_logger\nlogger = init_logger(__name__)\n"})
    logger = module(package, "user").logger
    assert logger.logger.name.startswith(f"{package.name}.")
    assert [type(handler) for handler in logging.getLogger(package.name).handlers] == [logging.NullHandler]


def test_importing_the_package_does_not_import_torch() -> None:
    code = "import sys, mmcache_ref.oracle.upstream; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.fixture
def no_vllm_afterwards() -> Iterator[None]:
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "vllm"]:
        del sys.modules[name]


@pytest.mark.usefixtures("no_vllm_afterwards")
def test_the_installed_vllm_is_imported_normally(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {
        "__init__.py": "__version__ = '1.2.3'\n",
        "utils/__init__.py": "",
        "utils/cache.py": "class LRUCache: pass\n",
    }.items():
        (tmp_path / "vllm" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "vllm" / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    namespace = load_installed()
    assert namespace.version == "1.2.3"
    assert namespace.LRUCache is sys.modules["vllm.utils.cache"].LRUCache
    assert "MultiModalCache" in namespace.missing
    assert not hasattr(namespace, "MultiModalCache")


def test_no_installed_vllm_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(TargetUnavailable, match="vllm of this environment cannot be imported"):
        load_installed()
