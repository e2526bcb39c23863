"""Which values count, and that a file .env of somebody else gets no key of the user."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from core.rag.dbhandler.store import open_store
from core.rag.embedder import open_embedder
from core.rag.errors import ConfigurationError, StoreUnavailableError
from core.rag.llm import open_language_model
from core.rag.openai_endpoint import find_endpoint
from core.rag.settings import Settings, load_settings
from tests.cli.command import Command
from tests.cli.test_process import run
from tests.dbhandler.kit import make_settings

ELSEWHERE = "http://models.invalid/v1"
MODEL = "MGRAG_EMBEDDING_MODEL=text-embedding-3-small"


@pytest.fixture
def env_file(bare: Path) -> Path:
    """The file, in an empty working directory and without a setting in the environment."""
    return bare / ".env"


@pytest.mark.parametrize(
    ("key", "address", "url"),
    [
        ("OPENAI_API_KEY", "OPENAI_BASE_URL", ELSEWHERE),
        ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "https://models.invalid"),
    ],
)
def test_a_key_of_the_environment_is_not_sent_to_an_address_of_the_file(
    key: str, address: str, url: str, env_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env_file.write_text(f"{MODEL}\nMGRAG_LLM_MODEL=m\n{address}={url}\n", "utf-8")
    monkeypatch.setenv(key, "sk-real")
    for opened in (open_embedder, open_language_model):
        with pytest.raises(ConfigurationError, match=rf"{address} \(models.invalid\).*{key} from the env") as caught:
            opened()
        assert "sk-real" not in str(caught.value)


@pytest.mark.parametrize("url", [ELSEWHERE, "http://localhost:11434/v1", "http://127.0.0.1/v1", "http://[::1]:1/v1"])
def test_what_comes_from_one_place_or_goes_to_this_machine_is_sent(
    url: str, env_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> tuple[str, str]:
        endpoint = find_endpoint(load_settings(), "A model", "llm")
        return endpoint.url, endpoint.key.get_secret_value()

    env_file.write_text(f"OPENAI_BASE_URL={url}\nOPENAI_API_KEY=sk-file\n", "utf-8")
    assert found() == (url, "sk-file")
    monkeypatch.setenv("OPENAI_BASE_URL", ELSEWHERE)
    assert found() == (ELSEWHERE, "sk-file")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real")
    assert found() == (ELSEWHERE, "sk-real")
    if url != ELSEWHERE:
        monkeypatch.delenv("OPENAI_BASE_URL")
        assert found() == (url, "sk-real")


def test_an_address_given_as_an_argument_is_the_callers_own_and_a_key_is_kept_from_the_file(env_file: Path) -> None:
    env_file.write_text(f"OPENAI_BASE_URL={ELSEWHERE}\n", "utf-8")
    settings = Settings(openai_api_key=SecretStr("sk-real"))
    assert find_endpoint(settings, "A model", "llm", base_url=ELSEWHERE).key.get_secret_value() == "sk-real"
    for given in (settings, load_settings()):
        with pytest.raises(ConfigurationError, match="OPENAI_BASE_URL"):
            find_endpoint(given, "A model", "llm", api_key=None if given is settings else "sk-argument")


@pytest.mark.parametrize("host", ["localhost.evil.invalid", "127.0.0.1.evil.invalid", "10.0.0.1", "0.0.0.0", "[::]"])
def test_only_this_machine_is_this_machine(host: str, env_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env_file.write_text(f"OPENAI_BASE_URL=http://{host}/v1\n", "utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real")
    with pytest.raises(ConfigurationError, match=r"comes from the file \.env"):
        find_endpoint(load_settings(), "A model", "llm")


def test_the_file_takes_nothing_from_the_environment(env_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real")
    env_file.write_text(
        f"AZURE_OPENAI_API_KEY=${{OPENAI_API_KEY}}\nAZURE_OPENAI_ENDPOINT={ELSEWHERE}\n"
        f"MEMGRAPH_URI=bolt://u:${{OPENAI_API_KEY}}@models.invalid\n",
        "utf-8",
    )
    settings = load_settings()
    assert settings.memgraph_uri == "bolt://u:${OPENAI_API_KEY}@models.invalid"
    assert find_endpoint(settings, "A model", "llm").key.get_secret_value() == "${OPENAI_API_KEY}"


def test_the_file_cannot_say_where_values_are_from(env_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env_file.write_text(f"OPENAI_BASE_URL={ELSEWHERE}\nin_env_file=OPENAI_API_KEY\n", "utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real")
    monkeypatch.setenv("IN_ENV_FILE", "OPENAI_API_KEY")
    assert load_settings().in_env_file == {"OPENAI_BASE_URL"}
    assert make_settings(in_env_file={"OPENAI_API_KEY"}).in_env_file == set()
    assert load_settings().model_copy(update={"chunk_size": 99}).in_env_file == load_settings().in_env_file


async def test_a_password_of_the_environment_is_not_sent_to_a_server_of_the_file(
    env_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address that is allowed is gone to, and nothing listens there."""
    monkeypatch.setenv("MEMGRAPH_USERNAME", "user")
    monkeypatch.setenv("MEMGRAPH_PASSWORD", "graph-password")
    for uri in ("bolt://graph.invalid", "graph.invalid", "bolt://other@graph.invalid"):
        env_file.write_text(f"MEMGRAPH_URI={uri}\n", "utf-8")
        with pytest.raises(ConfigurationError, match=r"MEMGRAPH_URI \(graph.invalid\).*MEMGRAPH_PASSWORD") as caught:
            await open_store(None)
        assert "graph-password" not in str(caught.value)
        with pytest.raises(ConfigurationError, match="from an argument"):
            await open_store(None, password="given")
        with pytest.raises(StoreUnavailableError):
            await open_store("bolt://graph.invalid")
    env_file.write_text("MEMGRAPH_URI=bolt://127.0.0.1:1\n", "utf-8")
    with pytest.raises(StoreUnavailableError):
        await open_store(None)
    env_file.write_text("MEMGRAPH_URI=bolt://user:own@graph.invalid\n", "utf-8")
    with pytest.raises(StoreUnavailableError):
        await open_store(None)
    monkeypatch.delenv("MEMGRAPH_PASSWORD")
    env_file.write_text("MEMGRAPH_URI=bolt://graph.invalid\nMEMGRAPH_PASSWORD=own\n", "utf-8")
    with pytest.raises(StoreUnavailableError):
        await open_store(None)


def test_the_commands_tell_it(
    env_file: Path,
    mgrag: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (env_file.parent / "README.md").write_text("Words about a mill.", "utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real")
    env_file.write_text(f"{MODEL}\nMGRAG_LLM_MODEL=m\nMGRAG_RERANK_MODEL=m\nOPENAI_BASE_URL={ELSEWHERE}\n", "utf-8")
    done = mgrag("ingest", "README.md")
    assert (done.code, "OPENAI_BASE_URL (models.invalid)" in done.err) == (2, True)
    found = {check["name"]: check for check in mgrag("doctor", "--json").json["checks"]}
    assert {found[name]["level"] for name in ("embedding model", "language model", "reranker")} == {"problem"}
    monkeypatch.setenv("MEMGRAPH_USERNAME", "user")
    monkeypatch.setenv("MEMGRAPH_PASSWORD", "graph-password")
    env_file.write_text("MEMGRAPH_URI=bolt://graph.invalid\n", "utf-8")
    done = mgrag("status")
    assert (done.code, "MEMGRAPH_URI (graph.invalid)" in done.err) == (2, True)
    found = {check["name"]: check for check in mgrag("doctor", "--json").json["checks"]}
    assert "MEMGRAPH_URI (graph.invalid)" in found["database"]["message"]


def test_settings_are_shown_without_what_addresses_may_hold(env_file: Path) -> None:
    env_file.write_text("MEMGRAPH_URI=bolt://user:pass-word@h\nOPENAI_BASE_URL=http://u:pass-word@h/v1\n", "utf-8")
    assert "pass-word" not in repr(load_settings()) + str(load_settings())


@pytest.mark.parametrize("line", ['MGRAG_NAMESPACE="unclosed', "export MGRAG_NAMESPACE: tenant", "mgrag_namespace 'a'"])
def test_a_setting_in_a_line_that_cannot_be_read_is_told(line: str, env_file: Path, mgrag: Command) -> None:
    env_file.write_text(f"# ours\nOTHER=1\n{line}\nMGRAG_CHUNK_SIZE=99\n", "utf-8")
    told = "Line 3 of the file .env in this folder cannot be read, and MGRAG_NAMESPACE is in it"
    outcome = mgrag("list")
    assert outcome.code == 2
    assert outcome.err.lower().startswith(f"mgrag: {told}".lower())
    outcome = mgrag("doctor", "--json")
    assert outcome.code == 1
    assert told.lower() in outcome.out.lower()
    assert outcome.err == ""


def test_lines_of_other_programs_are_theirs(env_file: Path, caplog: pytest.LogCaptureFixture) -> None:
    env_file.write_bytes(b"\xef\xbb\xbfthis is no line\r\nSECRET='\r\nMGRAG_CHUNK_SIZE=99\r\n")
    assert load_settings().chunk_size == 99
    assert caplog.records == []
    done = run("list", folder=env_file.parent)  # in a process: what is logged goes to its standard error
    assert done.returncode == 4
    assert done.stderr.startswith(b"mgrag: There is no graph")
    assert len(done.stderr.splitlines()) == 1


def test_settings_are_passed_by_either_name_and_none_is_ignored(
    env_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env_file.write_text("MGRAG_CHUNK_SIZE=100\nMGRAG_CHUNK_OVERLAP=7\n", "utf-8")
    monkeypatch.setenv("NAMESPACE", "of something else")
    settings = Settings(api_keys="k" * 16, MGRAG_READ_ONLY=True, chunk_size=300)  # type: ignore[call-arg, arg-type]
    assert {field.alias for field in Settings.model_fields.values()} == {None}  # type checkers take it for the name
    assert settings.api_keys is not None and settings.api_keys.get_secret_value() == "k" * 16
    assert (settings.read_only, settings.chunk_size, settings.chunk_overlap) == (True, 300, 7)
    assert settings.namespace == "default"
    for name in ("api_key", "MGRAG_API_KEY"):
        with pytest.raises(ConfigurationError, match=f"There is no setting '{name}'"):
            Settings(**{name: "k" * 16})  # type: ignore[arg-type]
