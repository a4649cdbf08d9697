"""Settings: default, file, environment, flag; every error with place and remedy; written back without touching a person's remarks."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from device.commands.config import FLAGS, SWITCHES
from device.commands.watch import watch
from device.settings import Loaded, find_file, load
from device.settings.layers import FILE_VARIABLE
from device.settings.live import LiveSettings
from device.settings.records import Settings, keys
from device.settings.text import changed, example, plain, show, without_password
from rules.errors import InputUnusable, NovussError, WrongUsage


def written(folder: Path, text: str) -> Path:
    file = folder / "novuss.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_each_layer_overrides_the_one_before_and_says_so(tmp_path: Path) -> None:
    file = written(tmp_path, '[board]\nport = 1\nhost = "0.0.0.0"\n[table]\nname = "7"\n')
    environ = {"NOVUSS_BOARD_PORT": "2", "NOVUSS_TABLE_NAME": "8"}
    loaded = load(file, environ, {"board.port": 3, "table.name": None})
    assert (loaded.settings.board.port, loaded.settings.board.host, loaded.settings.table.name) == (3, "0.0.0.0", "8")
    origins = {name: str(loaded.origins[name]) for name in ("board.port", "board.host", "table.name", "table.lang")}
    assert origins == {
        "board.port": "flag --port",
        "board.host": f"file {file}:3",
        "table.name": "environment NOVUSS_TABLE_NAME",
        "table.lang": "default",
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[camera]\n# slow\nexposure = 3", r"novuss\.toml:3: there is no exposure in \[camera\]; did you mean exposure_us\?"),
        ("[bord]\nport = 1", r"novuss\.toml:1: there is no section \[bord\]; did you mean \[board\]\?"),
        ("[xyz]", r"there are \[table\], \[camera\]"),
        ("port = 3", r"novuss\.toml:1: there is no section \[port\]"),
        ("[board]\nurl = 'x'", r"there is no url in \[board\]; it belongs in \[mqtt\]"),
        ("[camera]\nexposure_us = 'a'", r"novuss\.toml:2: camera\.exposure_us = 'a': expected int, got str \(exposure in microseconds"),
        ("[camera]\nexposure_us = 5", r"expected int >= 100"),
        ("[camera]\nmains_hz = 51", r"novuss\.toml:2: camera\.mains_hz = 51: .*51"),
        ("[camera]\ngain = nan", r"camera\.gain = nan: expected float"),
        ("[camera]\nlens = 3", r"camera\.lens = 3: expected a file's or folder's name"),
        ("[table]\nname = '../x'", r"novuss\.toml:2: table\.name .*letters, digits"),
        ("[camera]\nlens = 'a'\ncalibration = 'b'", r"novuss\.toml:2: camera\.lens beside camera\.calibration: .*leave one out"),
        ("[mqtt]\npassword = 'x'", r"novuss\.toml:2: passwords do not stand here.*password_file"),
        ("[mqtt]\nurl = 'mqtt://a:b@h'", r"novuss\.toml:2: the address holds a password and everybody can read.*mode 600"),
        ("[table\n", r"novuss\.toml: is not TOML: .*line 1"),
        ("[table]\nname = 7", r"table\.name = 7: expected str"),
    ],
)
def test_what_is_wrong_is_told_with_place_and_remedy(text: str, words: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    file.chmod(0o644)
    with pytest.raises(InputUnusable, match=words):
        load(file, {})


def test_an_address_with_a_password_is_taken_from_a_file_that_others_cannot_read(tmp_path: Path) -> None:
    file = written(tmp_path, "[mqtt]\nurl = 'mqtt://a:secret@h'")
    file.chmod(0o600)
    loaded = load(file, {})
    assert loaded.settings.mqtt.url == "mqtt://a:secret@h"
    assert "secret" not in show(loaded) + str(plain(loaded.settings))
    assert without_password("mqtts://h:1?ca=x@y") == "mqtts://h:1?ca=x@y"


@pytest.mark.parametrize("content", [b"\xff\xfe[", b"\0" * 100, b'[table]\nname = "a\0"', b"a" * 1_100_000])
def test_what_is_no_settings_file_is_one_sentence(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "novuss.toml"
    file.write_bytes(content)
    with pytest.raises(InputUnusable, match=r"novuss\.toml"):
        load(file, {})


@given(st.binary(max_size=60))
def test_any_bytes_are_settings_or_one_sentence(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "any.toml"
    file.write_bytes(content)
    try:
        load(file, {})
    except NovussError as error:
        assert str(file) in str(error)  # noqa: PT017


def test_the_environment_is_checked_like_the_file() -> None:
    assert not load(None, {"NOVUSS_MQTT_ENABLED": "false", "NOVUSS_MQTT_PASSWORD": "x", "NOVUSS_BOARD": "--port 3"}).settings.mqtt.enabled
    with pytest.raises(InputUnusable, match=r"there is no setting NOVUSS_BOARD_PRT; did you mean NOVUSS_BOARD_PORT\?"):
        load(None, {"NOVUSS_BOARD_PRT": "3"})
    with pytest.raises(InputUnusable, match=r"environment NOVUSS_BOARD_PORT: board\.port = 'x': expected int"):
        load(None, {"NOVUSS_BOARD_PORT": "x"})
    assert load(None, {"NOVUSS_BOARD_PORT": ""}).settings.board.port == 8080


def test_flags_are_wrong_usage() -> None:
    with pytest.raises(WrongUsage, match="--port 70000: expected int <= 65535"):
        load(None, {}, {"board.port": 70000})
    with pytest.raises(WrongUsage, match="--mqtt and --no-mqtt exclude each other"):
        load(None, {}, {"mqtt.url": "mqtt://h", "mqtt.enabled": False})


def test_a_stronger_layers_word_on_the_same_thing_holds(tmp_path: Path) -> None:
    file = written(tmp_path, "[camera]\ncalibration = 'cal.json'\n[mqtt]\nenabled = false\n")
    loaded = load(file, {}, {"camera.lens": Path("l.json"), "mqtt.url": "mqtt://h"})
    assert loaded.settings.camera.calibration is None
    assert loaded.settings.camera.lens == Path("l.json")
    assert loaded.settings.mqtt.enabled


def test_files_are_named_from_where_the_settings_lie(tmp_path: Path) -> None:
    loaded = load(written(tmp_path, "[camera]\ncalibration = 'cal.json'\n"), {"NOVUSS_DATA_FOLDER": "there"})
    assert loaded.settings.camera.calibration == tmp_path / "cal.json"
    assert loaded.settings.data.folder == Path("there")


@pytest.mark.parametrize("name", keys())
def test_every_setting_can_be_made_in_the_environment(name: str) -> None:
    key = keys()[name]
    for text in ("2", "500", "true", "red", "casual", "S", "50", "left", "lv"):
        try:
            loaded = load(None, {key.variable: text})
        except InputUnusable:
            continue
        assert loaded.origins[name].kind == "environment"
        return
    pytest.fail(f"{name} takes none of them")


def test_which_file_is_read(tmp_path: Path) -> None:
    file = written(tmp_path, "")
    assert find_file(None, {FILE_VARIABLE: str(file)}) == file
    with pytest.raises(InputUnusable, match=r"away\.toml: no such settings file; `novuss setup`"):
        find_file(tmp_path / "away.toml", {})


def test_every_flag_of_watch_is_a_setting_or_of_one_run_only() -> None:
    arguments = set(watch.__annotations__) - {"return", "config", "open_browser", "seed", "fast"}
    assert arguments == FLAGS.keys() | SWITCHES.keys()
    named = {key.flag.removeprefix("--").replace("-", "_").lower() for key in keys().values() if key.flag}
    assert named == arguments


def test_the_example_and_what_is_shown_are_files_that_change_nothing(tmp_path: Path) -> None:
    assert load(written(tmp_path, example()), {}).settings == Settings()
    loaded = load(written(tmp_path, "[table]\nname = 'ä \"'\n".replace('ä "', "ä")), {"NOVUSS_CAMERA_GAIN": "3.5"})
    assert load(written(tmp_path, show(loaded)), {}).settings == loaded.settings


def test_values_are_set_in_a_persons_file_and_everything_else_stays() -> None:
    before = "# mine\n[table]\nname = 'a'  # the first\n\n# about the board\n[board]\nport = 1\n"
    after = changed(before, {"table.name": "b", "table.lang": "lv", "mqtt.url": "mqtt://h", "board.port": None})
    assert after == '# mine\n[table]\nname = "b"\nlang = "lv"\n\n# about the board\n[board]\n\n[mqtt]\nurl = "mqtt://h"\n'
    assert changed("", {"board.port": 3}) == "[board]\nport = 3\n"
    assert changed(after, {}) == after


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_any_text_is_written_so_that_it_is_read_again(text: str) -> None:
    assert tomllib.loads(changed("", {"mqtt.user": text}))["mqtt"]["user"] == text


class Live:
    """A settings file that is watched, looked at by hand."""

    def __init__(self, folder: Path) -> None:
        self.file = written(folder, "[match]\nsets = 5\n")
        self.said: list[str] = []
        self.taken: list[Settings] = []
        self.settings = LiveSettings(self.load(), self.load, self.taken.append, self.said.append, look_every_s=0.01)

    def load(self) -> Loaded:
        return load(self.file, {"NOVUSS_TABLE_LANG": "de"})

    def becomes(self, text: str) -> None:
        self.file.write_text(text, encoding="utf-8")
        self.settings.look()


def test_a_change_that_needs_no_restart_is_taken_over_and_the_rest_is_named(tmp_path: Path) -> None:
    live = Live(tmp_path)
    live.becomes('[match]\nsets = 3\n[board]\nport = 9\n[table]\nlang = "lv"\n')
    assert [taken.match.sets for taken in live.taken] == [3]
    assert live.taken[0].board.port == 8080, "a port needs a restart"
    assert live.taken[0].table.lang == "de", "the environment stands above the file"
    assert live.said == ["settings: match.sets is now 3", "settings: board.port changes at the next start"]
    assert live.settings.figures() == {"restart_needed_for": ["board.port"], "problem": None}
    live.becomes("[match]\nsets = 3\n")
    assert len(live.taken) == 1
    assert live.settings.figures()["restart_needed_for"] == []


def test_a_change_that_is_wrong_leaves_everything_as_it_was(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    live = Live(tmp_path)
    live.becomes("[match]\nsets = 0\n")
    assert live.taken == []
    assert "match.sets = 0" in str(live.settings.figures()["problem"])
    assert "settings stay as they were" in caplog.text
    live.becomes("[match]\nsets = 7\n")
    assert [taken.match.sets for taken in live.taken] == [7]
    assert live.settings.figures()["problem"] is None


def test_a_changed_file_is_seen_while_watching(tmp_path: Path) -> None:
    from tests.parts.brokers import wait_until

    live = Live(tmp_path)
    with live.settings:
        live.file.write_text("[match]\nsets = 11\n", encoding="utf-8")
        assert wait_until(lambda: bool(live.taken), 10)
    assert live.taken[-1].match.sets == 11


def test_a_service_without_a_home_reads_the_machines_file(monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    from device.settings import layers

    def nobody(_uid: int) -> None:
        raise KeyError

    for variable in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.setattr(layers, "SYSTEM_FILE", Path(__file__))
    assert layers.find_file(None, {}) == Path(__file__)


def test_the_document_names_every_setting_as_it_is() -> None:
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")
    for name, key in keys().items():
        section, _, field = name.partition(".")
        rows = page.partition(f"## [{section}]")[2].partition("\n## ")[0]
        default = "" if key.default is None else f"`{msgspec.json.encode(key.default).decode()}`"
        flag = f"`{key.flag}`" if key.flag else ""
        assert f"| `{field}` | {default} | {key.does} | {flag} | {'at once' if key.live else 'next start'} |" in rows, name


def test_the_documents_example_is_a_settings_file(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")
    file = written(tmp_path, page.partition("```toml\n")[2].partition("```")[0])
    assert load(file, {}).settings.mqtt.password_file == Path("/etc/novuss/mqtt-password")


def test_settings_are_json_for_machines() -> None:
    assert msgspec.json.decode(msgspec.json.encode(plain(Settings())))["board"]["port"] == 8080
