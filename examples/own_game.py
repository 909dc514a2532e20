"""A game of one's own as the game of accountlink: the routes of docs/platforms.md, answered from a file.

    GAME_TOKEN=... PORT=9000 python3 examples/own_game.py players.json

    ACCOUNTLINK_GAME_URL=http://127.0.0.1:9000 ACCOUNTLINK_GAME_TOKEN=... ACCOUNTLINK_GAME_NAME=Voxel
    with the variables of Discord

The file has the players and their groups. A change of the file counts from the next request on:

    {
      "groups": [{"id": "7", "name": "Miners", "ranks": [{"rank": 1, "name": "Member"}]}],
      "players": [{
        "id": "1001", "username": "ada_g", "displayName": "Ada", "createdAt": "2024-05-01T00:00:00Z",
        "description": "Digs", "groups": {"7": 1}, "items": {"skin": ["55"]}
      }]
    }

IDs are digits, as texts or numbers. If your players have UUIDs, give each a number beside it, and keep it.
"""

import hmac
import json
import os
import sys
import unicodedata
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

FILE = sys.argv[1] if len(sys.argv) > 1 else "players.json"
TOKEN = os.environ.get("GAME_TOKEN", "")
# What the answer about a player has. The file may hold more, which is nobody's business.
TOLD = ("id", "username", "displayName", "profileUrl", "avatarUrl", "description", "createdAt", "banned")


def load():
    """Reads the file. IDs may be numbers in it: here they are texts, which keep all their digits in every language."""
    with open(FILE, encoding="utf-8") as file:
        game = json.load(file)
    groups = {str(group["id"]): {**group, "id": str(group["id"])} for group in game.get("groups", [])}
    return [{**player, "id": str(player["id"])} for player in game["players"]], groups


def told(player):
    return {name: player[name] for name in TOLD if name in player}


def folded(name):
    """One text for all letter cases and Unicode forms of a name."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def groups_of(player, groups):
    """Names the player's groups, with the rank in each."""
    found = []
    for group_id, rank in player.get("groups", {}).items():
        group = groups.get(group_id, {})
        role = next((each["name"] for each in group.get("ranks", []) if each["rank"] == rank), None)
        found.append({"id": group_id, "name": group.get("name"), "rank": rank, "role": role})
    return {"groups": found}


def answer(path, query):
    """Returns the answer to a path; None if there is nothing of that name or ID."""
    players, groups = load()
    items = sorted({kind for player in players for kind in player.get("items", {})})
    parts = [unquote(part) for part in path.strip("/").split("/")]
    if parts == [""]:
        return {"features": ["names", "groups", "items", "descriptions", "ages"], "items": items}
    if parts[0] == "groups" and len(parts) == 2:
        return groups.get(parts[1])
    if parts[0] != "users":
        return None
    if len(parts) == 1:
        name = folded(query.get("username", [""])[0])
        return next((told(player) for player in players if folded(player["username"]) == name), None)
    player = next((player for player in players if player["id"] == parts[1]), None)
    if player is None or len(parts) == 2:
        return player and told(player)
    if parts[2:] == ["groups"]:
        return groups_of(player, groups)
    if parts[2] == "items" and len(parts) == 5 and parts[3] in items:
        return {"owned": parts[4] in map(str, player.get("items", {}).get(parts[3], []))}
    return None


class Game(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        given = self.headers.get("Authorization", "").encode()
        if TOKEN == "" or not hmac.compare_digest(given, f"Bearer {TOKEN}".encode()):
            return self.send(401, {})
        try:
            url = urlsplit(self.path)
            found = answer(url.path, parse_qs(url.query))
        except (OSError, ValueError, KeyError) as error:
            # A file that is being written counts as an outage: the service asks again.
            print(f"cannot read {FILE}: {error!r}", file=sys.stderr)
            return self.send(503, {})
        return self.send(404, {}) if found is None else self.send(200, found)

    def send(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Game)
print(f"listening on port {server.server_port}", flush=True)
server.serve_forever()
