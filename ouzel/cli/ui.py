"""`ouzel ui`: a tracker and pages over the submitted topologies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ouzel.cli.choices import Debug
from ouzel.cli.failure import describe_missing, report_errors
from ouzel.errors import OuzelError


def ui(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen; 0 is any port that is free.")] = 8889,
    host: Annotated[
        str,
        typer.Option(metavar="HOST", help="The address to listen on; another than this machine's own needs a token."),
    ] = "127.0.0.1",
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            dir_okay=False,
            help="Holds a token that each request must show, as a bearer or as a password.",
            show_default=False,
        ),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Only show them: nothing can be paused, stopped or removed.")
    ] = False,
    tls_cert: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", dir_okay=False, help="A certificate as PEM: connections are encrypted.", show_default=False
        ),
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(metavar="FILE", dir_okay=False, help="Its key as PEM.", show_default=False)
    ] = None,
    plain_http: Annotated[
        bool, typer.Option("--plain-http", help="With --host: a proxy encrypts, or nobody else can listen.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Show the submitted topologies in a browser, and answer as Heron's tracker does, until Ctrl-C.

    Topologies run on when it ends, and it may be started at any time, and more than once.
    """
    with report_errors(debug):
        try:
            from ouzel.tracker.presence import announce
            from ouzel.tracker.serve import choose_tls, listen, read_token, serve
        except ModuleNotFoundError as error:
            raise OuzelError(describe_missing("the pages need", error, "ui")) from None
        from ouzel.runtime.cluster.submitted.registry import Registry

        token = read_token(token_file, host)
        tls = choose_tls(host, tls_cert, tls_key, plain=plain_http)
        listener = listen(host, port)
        shown = f"[{host}]" if ":" in host else host
        address = f"{'https' if tls else 'http'}://{shown}:{listener.getsockname()[1]}/"
        registry = Registry()
        with announce(registry.home, address):
            typer.echo(f"topologies are on {address}")
            serve(registry, listener, token, host, read_only=read_only, tls=tls)
