"""`corpus token`: make, list and revoke the bearer tokens of the API, and hash those of a tokens file."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from engine.errors import Code, InputError
from engine.settings import Settings, load

app = typer.Typer(no_args_is_help=True, help="Bearer tokens of the API.")

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
EXIT_NOT_FOUND = 5


@app.command()
def create(
    context: typer.Context,
    name: Annotated[str, typer.Option(help="Whose it is; the subject in audit entries and access lists.")],
    role: Annotated[list[str], typer.Option(help="PROJECT=read|write|admin, PROJECT a slug, an id or *; may repeat.")],
    principal: Annotated[list[str] | None, typer.Option(help="A principal beside the name; may repeat.")] = None,
    expires_days: Annotated[
        float | None, typer.Option(min=0.001, help="Days it is good for; default: for ever.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a token. It is shown once, and stored only as its hash."""
    from engine.registry.queries import open_registry
    from serve.auth import digest, new_token

    settings = _settings(context)
    registry = open_registry(settings)
    roles = parse_roles(role)
    check_names(name, roles, principal or [])
    ids = {ref if ref == "*" else registry.project(ref).id: level for ref, level in roles.items()}
    expires_at = datetime.now(UTC) + timedelta(days=expires_days) if expires_days is not None else None
    token = new_token()
    made = registry.add_token(name, ids, principal or [], digest(token), expires_at)
    if not settings.auth.registry_tokens:
        typer.echo("note: the server takes such tokens only with auth.registry_tokens: true", err=True)
    _echo({"token": token, **_described(made)}, token, as_json)


@app.command("list")
def list_(context: typer.Context, as_json: Json = False) -> None:
    """The tokens that are not revoked: never themselves. CALLER is how the server's log names their holder."""
    from engine.registry.queries import open_registry

    rows = [_described(token) for token in open_registry(_settings(context)).tokens()]
    lines = [
        f"{row['token_id']}  {row['name']}  caller {row['caller']}  {_pairs(row['roles'])}  "
        f"{'until ' + row['expires_at'] if row['expires_at'] else 'for ever'}"
        for row in rows
    ]
    _echo(rows, "\n".join(lines) or "no tokens", as_json)


@app.command()
def revoke(
    context: typer.Context,
    token: Annotated[str, typer.Argument(help="A token's id, or its name if only one has it.")],
    as_json: Json = False,
) -> None:
    """Revoke a token: servers refuse it within seconds."""
    from engine.registry.queries import open_registry

    registry = open_registry(_settings(context))
    named = [t.token_id for t in registry.tokens() if t.name == token]
    if len(named) > 1:
        raise InputError(f"{len(named)} tokens have that name; give the id", Code.INVALID_REQUEST)
    token_id = named[0] if named else token
    if not registry.revoke_token(token_id):
        typer.echo("corpus: there is no such token", err=True)
        raise typer.Exit(EXIT_NOT_FOUND)
    _echo({"revoked": token_id}, f"revoked {token_id}", as_json)


@app.command("hash")
def hash_(
    new: Annotated[bool, typer.Option("--new", help="Make a token and print it before its hash.")] = False,
    as_json: Json = False,
) -> None:
    """The hash for a tokens file, of the token on standard input or of a new one."""
    from serve.auth import digest, new_token

    token = new_token() if new else read_token()
    sha256 = digest(token)
    shown = {"token": token, "sha256": sha256} if new else {"sha256": sha256}
    _echo(shown, "\n".join(shown.values()), as_json)


# ---------------------------------------------------------------- parts
def parse_roles(pairs: list[str]) -> dict[str, str]:
    """`PROJECT=ROLE` → role by project. Raises InputError (INVALID_REQUEST)."""
    roles: dict[str, str] = {}
    for pair in pairs:
        ref, equals, level = pair.partition("=")
        if not equals or ref in roles:
            raise InputError("--role takes PROJECT=read, write or admin, each project once", Code.INVALID_REQUEST)
        roles[ref] = level
    return roles


def check_names(name: str, roles: dict[str, str], principals: list[str]) -> None:
    """Raise InputError (INVALID_REQUEST) for what the server would not take."""
    from serve.auth import make_caller

    try:
        make_caller(name, roles, principals)
    except ValueError as error:
        raise InputError(str(error), Code.INVALID_REQUEST) from None


def read_token() -> str:
    """The token on standard input, asked for without echo at a terminal. Raises InputError for one too weak to be
    kept under an unsalted hash."""
    from serve.auth.bearer import LEAST_CHARACTERS, LONGEST

    text: str = typer.prompt("Token", hide_input=True) if sys.stdin.isatty() else sys.stdin.read(LONGEST + 2)
    token = text.strip()
    fits = LEAST_CHARACTERS <= len(token) <= LONGEST and token.isascii() and token.isprintable() and " " not in token
    if not fits:
        raise InputError(
            f"a token is {LEAST_CHARACTERS} to {LONGEST} ASCII characters without spaces; `--new` makes one",
            Code.INVALID_REQUEST,
        )
    return token


def _settings(context: typer.Context) -> Settings:
    return load(context.obj["overrides"], context.obj["config"])


def _described(token: Any) -> dict[str, Any]:
    from serve.logs import caller_id

    return {
        "token_id": token.token_id,
        "name": token.name,
        "caller": caller_id(token.name),
        "roles": token.roles,
        "principals": token.principals,
        "created_at": _iso(token.created_at),
        "expires_at": _iso(token.expires_at),
    }


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _pairs(roles: dict[str, str]) -> str:
    return " ".join(f"{project}={level}" for project, level in roles.items())


def _echo(value: object, text: str, as_json: bool) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False) if as_json else text)
