"""openai-python's stream helper, fed the same bytes without a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator

Feeds = list[bytes]

BASE_URL = "http://gateway.invalid/v1"


def helper_fold() -> Callable[[list[Feeds]], None] | None:
    """A function that folds each stream with `client.chat.completions.stream()`; None without openai."""
    try:
        import httpx
        import openai
    except ImportError:
        return None

    class Body(httpx.SyncByteStream):
        def __init__(self, feeds: Feeds) -> None:
            self.feeds = feeds

        def __iter__(self) -> Iterator[bytes]:
            return iter(self.feeds)

    def fold(streams: list[Feeds]) -> None:
        for feeds in streams:
            headers = {"content-type": "text/event-stream"}

            def answer(_request: httpx.Request, feeds: Feeds = feeds) -> httpx.Response:
                return httpx.Response(200, headers=headers, stream=Body(feeds))

            http_client = httpx.Client(transport=httpx.MockTransport(answer))
            client = openai.OpenAI(api_key="none", base_url=BASE_URL, http_client=http_client)
            with client.chat.completions.stream(model="any", messages=[]) as stream:
                for _event in stream:
                    pass
                stream.get_final_completion()

    return fold
