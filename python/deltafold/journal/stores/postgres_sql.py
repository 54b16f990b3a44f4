"""The statements of the PostgreSQL store. `{s}` is the schema, an identifier that the store has checked.

One row of `session` is the fence: who wants to write updates it by the epoch it holds and the seq it expects,
so two writers come one after the other, and the one whose epoch is past changes no row.
"""

from __future__ import annotations

from typing import Final

SCHEMA: Final = (
    "CREATE SCHEMA IF NOT EXISTS {s}",
    """CREATE TABLE IF NOT EXISTS {s}.session (
        session text PRIMARY KEY, epoch bigint NOT NULL, next_seq bigint NOT NULL, pid integer, host text)""",
    """CREATE TABLE IF NOT EXISTS {s}.record (
        session text NOT NULL, seq bigint NOT NULL, line bytea NOT NULL, PRIMARY KEY (session, seq))""",
    """CREATE TABLE IF NOT EXISTS {s}.refused (
        session text NOT NULL, number bigint GENERATED ALWAYS AS IDENTITY, line bytea NOT NULL,
        PRIMARY KEY (session, number))""",
    """CREATE TABLE IF NOT EXISTS {s}.raw (
        session text NOT NULL, stream text NOT NULL, part integer NOT NULL, body bytea NOT NULL,
        PRIMARY KEY (session, stream, part))""",
)

# Two servers' worth of workers may make the schema at once; this lock makes them take turns.
SCHEMA_LOCK: Final = "SELECT pg_advisory_xact_lock(7237123446850545254)"

TAKE: Final = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"

HOLDER: Final = "SELECT pid, host FROM {s}.session WHERE session = %s"

FOUND: Final = "SELECT next_seq FROM {s}.session WHERE session = %s FOR UPDATE"

BEGIN: Final = "INSERT INTO {s}.session (session, epoch, next_seq) VALUES (%s, 0, 1)"

FIRST: Final = "INSERT INTO {s}.record (session, seq, line) VALUES (%s, 0, %s)"

FENCE: Final = (
    """UPDATE {s}.session SET epoch = epoch + 1, pid = %s, host = %s WHERE session = %s RETURNING epoch"""
)

# Waits for whatever the lost connection still has in flight on the row; after it, that connection's epoch is
# past.
REFENCE: Final = (
    """UPDATE {s}.session SET epoch = epoch + 1 WHERE session = %s AND epoch = %s RETURNING epoch"""
)

APPEND: Final = """WITH own AS (
        UPDATE {s}.session SET next_seq = next_seq + %(count)s
        WHERE session = %(session)s AND epoch = %(epoch)s AND next_seq = %(seq)s
        RETURNING session, pg_notify(%(channel)s, session))
    INSERT INTO {s}.record (session, seq, line)
    SELECT own.session, %(seq)s + entry.place - 1, entry.line
    FROM own, unnest(%(lines)b::bytea[]) WITH ORDINALITY AS entry (line, place)"""

REFUSE: Final = """INSERT INTO {s}.refused (session, line)
    SELECT session, %(line)s FROM {s}.session WHERE session = %(session)s AND epoch = %(epoch)s FOR SHARE"""

KEEP_RAW: Final = """INSERT INTO {s}.raw (session, stream, part, body)
    SELECT session, %(stream)s, %(part)s, %(body)s FROM {s}.session
    WHERE session = %(session)s AND epoch = %(epoch)s FOR SHARE"""

LINES: Final = "SELECT seq, line FROM {s}.record WHERE session = %s AND seq >= %s ORDER BY seq LIMIT %s"

REFUSED: Final = "SELECT line FROM {s}.refused WHERE session = %s ORDER BY number"

RAW_NAMES: Final = "SELECT DISTINCT stream FROM {s}.raw WHERE session = %s ORDER BY stream"

RAW_PART: Final = "SELECT body FROM {s}.raw WHERE session = %s AND stream = %s AND part = %s"

SESSIONS: Final = """SELECT session FROM {s}.session WHERE session COLLATE "C" > %s
    ORDER BY session COLLATE "C" LIMIT 1000"""

THERE: Final = "SELECT 1 FROM {s}.session WHERE session = %s"

BEHIND: Final = "SELECT 1 FROM {s}.record WHERE session = %s AND seq >= %s LIMIT 1"
