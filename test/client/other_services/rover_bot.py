# A bot for RoVer, with requests, as they are written.
import os

import requests

API = os.environ["ROVER_URL"]
GUILD = os.environ["GUILD_ID"]
HEADERS = {"Authorization": f"Bearer {os.environ['ROVER_KEY']}"}


def get_user(discord_id):
    response = requests.get(f"{API}/guilds/{GUILD}/discord-to-roblox/{discord_id}", headers=HEADERS)
    if response.status_code == 404:
        return response.json()["errorCode"]
    response.raise_for_status()
    if int(response.headers["X-RateLimit-Remaining"]) == 0:
        return float(response.headers["X-RateLimit-Reset-After"])
    user = response.json()
    return f"{user['robloxId'] + 0} {user['cachedUsername']}"


def get_members(roblox_id):
    response = requests.get(f"{API}/guilds/{GUILD}/roblox-to-discord/{roblox_id}", headers=HEADERS)
    response.raise_for_status()
    return ",".join(member["user"]["id"] for member in response.json()["discordUsers"])


print(get_user(100001))
print(get_members(1))
print(get_user(100009))
