"""Minecraft as the game of accountlink: a table of UUIDs and numbers, names by Mojang's public routes, and codes for players.

    pip install ./clients/python
    GAME_TOKEN=... ACCOUNTLINK_URL=https://links.example ACCOUNTLINK_KEY=alk_... GUILD_ID=... \\
        python3 examples/minecraft.py players.db

    ACCOUNTLINK_GAME_URL=http://127.0.0.1:9000 ACCOUNTLINK_GAME_TOKEN=... ACCOUNTLINK_GAME_NAME=Minecraft
    with the variables of Discord

IDs of accountlink are digits, so each player gets a number. Keep the table: without it nobody knows whose the links are.

Players prove their account by playing, since Minecraft has no profiles. The first start needs GAME_TOKEN alone. Restart it with the
others once the dashboard has made the key, which may verify players of a game, in the Discord server GUILD_ID. A command of your
server, such as /link, asks for a code and shows it to the player who typed it:

    curl -s http://127.0.0.1:9000/link -H "Authorization: Bearer $GAME_TOKEN" -d '{"uuid": "...", "name": "Ada"}'
    {"id": "1", "code": "7KMV-Q2XD", "codeUrl": "https://links.example/go", "url": "https://links.example/verify?sid=..."}

Links of DiscordSRV (accounts.aof, linkedaccounts.json, or its table as CSV) become a file for the import of accountlink:

    python3 examples/minecraft.py players.db accounts.aof > links.csv
"""

import hmac
import json
import os
import re
import sqlite3
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qs, quote, unquote, urlsplit
from urllib.request import urlopen
from uuid import UUID

from accountlink import AccountLink, AccountLinkError

FILE = sys.argv[1] if len(sys.argv) > 1 else "players.db"
TOKEN = os.environ.get("GAME_TOKEN", "")
GUILD_ID = os.environ.get("GUILD_ID")
NAMES = os.environ.get("MOJANG_NAMES", "https://api.mojang.com/users/profiles/minecraft")
PROFILES = os.environ.get("MOJANG_PROFILES", "https://sessionserver.mojang.com/session/minecraft/profile")
# Mojang limits requests, and players rename rarely.
NAME_LASTS = 600


class Outage(Exception):
    """Mojang did not answer. accountlink asks again, after a 429 as late as it says."""

    def __init__(self, status=503, retry_after=None):
        super().__init__(status)
        self.status, self.retry_after = status, retry_after


def ask(url):
    """Asks Mojang; None if it knows no such player."""
    try:
        with urlopen(url, timeout=1) as response:
            return json.load(response) if response.status == 200 else None
    except HTTPError as error:
        if error.code == 404:
            return None
        raise Outage(429 if error.code == 429 else 503, error.headers.get("Retry-After")) from None
    except (URLError, TimeoutError, ValueError):
        raise Outage from None


def table():
    players = sqlite3.connect(FILE, timeout=5, isolation_level=None)
    players.row_factory = sqlite3.Row
    players.execute(
        "CREATE TABLE IF NOT EXISTS players (id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL UNIQUE, "
        "name TEXT, named_at REAL NOT NULL DEFAULT 0)"
    )
    return players


def number_of(players, uuid, name=None):
    """Returns the number of a player, which a new player gets now. Stores a name that is known to be right."""
    players.execute(
        "INSERT INTO players (uuid) SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM players WHERE uuid = ?1)", (str(uuid),)
    )
    if name is not None:
        players.execute("UPDATE players SET name = ?, named_at = ? WHERE uuid = ?", (name, time.time(), str(uuid)))
    return str(players.execute("SELECT id FROM players WHERE uuid = ?", (str(uuid),)).fetchone()["id"])


def user(players, number):
    row = players.execute("SELECT * FROM players WHERE id = ?", (number,)).fetchone()
    if row is None:
        return None
    name = row["name"]
    if name is None or time.time() - row["named_at"] > NAME_LASTS:
        try:
            found = ask(f"{PROFILES}/{UUID(row['uuid']).hex}")
            # Mojang knows no players of Bedrock, whose names the server tells.
            name = name if found is None else found["name"]
            if name is not None:
                number_of(players, row["uuid"], name)
        except Outage:
            if name is None:
                raise
    return None if name is None else {"id": str(row["id"]), "username": name}


def named(players, name):
    found = ask(f"{NAMES}/{quote(name, safe='')}") if re.fullmatch(r"\w{1,16}", name, re.ASCII) else None
    if found is not None:
        return {"id": number_of(players, UUID(found["id"]), found["name"]), "username": found["name"]}
    row = players.execute("SELECT id FROM players WHERE name = ? COLLATE NOCASE", (name,)).fetchone()
    known = row and user(players, row["id"])
    # The player may have another name by now.
    return known if known and known["username"].lower() == name.lower() else None


def answer(path, query):
    """Returns the answer to a path; None if there is nothing of that name or ID."""
    parts = [unquote(part) for part in path.strip("/").split("/")]
    if parts == [""]:
        return {"features": ["names"]}
    players = table()
    try:
        if parts == ["users"]:
            return named(players, query.get("username", [""])[0])
        if len(parts) == 2 and parts[0] == "users" and re.fullmatch(r"[1-9]\d{0,17}", parts[1], re.ASCII):
            return user(players, int(parts[1]))
        return None
    finally:
        players.close()


def link(player):
    """Begins the verification of a player who is on the server now."""
    players = table()
    try:
        number = number_of(players, UUID(player["uuid"]), str(player["name"]))
    finally:
        players.close()
    place = {} if GUILD_ID is None else {"guild_id": GUILD_ID}
    session = accounts().sessions.create(player["uuid"], game_id=number, **place)
    return {"id": number, **{field: session[field] for field in ("code", "codeUrl", "url")}}


def accounts():
    return AccountLink(os.environ["ACCOUNTLINK_URL"], os.environ["ACCOUNTLINK_KEY"])


def imported(path):
    """Prints the links of DiscordSRV with the numbers of their players. The last link of an account counts."""
    with open(path, encoding="utf-8") as file:
        pairs = re.findall(r'(-?)\b(\d{5,20})\b[\s",;:]+(-?)([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})', file.read(), re.I)
    links, owners = {}, {}
    for gone, chat_id, gone_uuid, uuid in pairs:
        links.pop(owners.pop(UUID(uuid), None), None)
        owners.pop(links.pop(chat_id, None), None)
        if not gone and not gone_uuid:
            links[chat_id], owners[UUID(uuid)] = UUID(uuid), chat_id
    players = table()
    print("chatId,gameId")
    for chat_id, uuid in links.items():
        print(f"{chat_id},{number_of(players, uuid)}")


class Game(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urlsplit(self.path)
        self.respond(lambda _: answer(url.path, parse_qs(url.query)))

    def do_POST(self):
        self.respond(lambda body: link(json.loads(body)) if self.path == "/link" else None)

    def respond(self, work):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        given = self.headers.get("Authorization", "").encode()
        if TOKEN == "" or not hmac.compare_digest(given, f"Bearer {TOKEN}".encode()):
            return self.send(401, {})
        try:
            found = work(body)
        except Outage as outage:
            return self.send(outage.status, {}, outage.retry_after)
        except AccountLinkError as error:
            return self.send(502, {"problem": str(error)})
        except (KeyError, TypeError, ValueError) as error:
            return self.send(400, {"problem": repr(error)})
        return self.send(404, {}) if found is None else self.send(200, found)

    def send(self, status, body, retry_after=None):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if retry_after is not None:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


if len(sys.argv) > 2:
    imported(sys.argv[2])
else:
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Game)
    print(f"listening on port {server.server_port}", flush=True)
    server.serve_forever()
