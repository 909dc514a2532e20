"""A Discord bot that posts into a channel who links and unlinks, on discord.py. The service itself has /verify and roles.

DISCORD_TOKEN=… CHANNEL_ID=… ACCOUNTLINK_URL=… ACCOUNTLINK_KEY=alk_… python3 discord_bot.py

CURSOR_FILE (default: discord_bot.cursor) holds the place in the feed, so that a restart leaves out nothing.
"""

import asyncio
import os
from pathlib import Path

import discord
from accountlink import AsyncAccountLink

accounts = AsyncAccountLink(os.environ["ACCOUNTLINK_URL"], os.environ["ACCOUNTLINK_KEY"])
bot = discord.Client(intents=discord.Intents.none(), allowed_mentions=discord.AllowedMentions.none())


cursor_file = Path(os.environ.get("CURSOR_FILE", "discord_bot.cursor"))


def save(cursor: str) -> None:
    # A crash while a file is written leaves a part of it.
    written = cursor_file.with_suffix(".new")
    written.write_text(cursor)
    written.replace(cursor_file)


async def report(channel: discord.abc.Messageable) -> None:
    if not cursor_file.exists():
        save((await accounts.events.read(limit=1))["cursor"])
    cursor = cursor_file.read_text()
    async for event, cursor in accounts.events.follow(cursor=cursor, types=["link.set", "link.removed"]):
        # Events of a user who was erased since name nobody.
        if event["type"] == "link.set" and event["data"]["chatId"] != "[erased]":
            await channel.send(f"<@{event['data']['chatId']}> plays as {event['data']['gameId']}.")
        elif event["type"] == "link.removed" and event["data"]["chatId"] != "[erased]":
            await channel.send(f"<@{event['data']['chatId']}> no longer plays as {event['data']['previousGameId']}.")
        save(cursor)


async def main() -> None:
    async with accounts, bot:
        await bot.login(os.environ["DISCORD_TOKEN"])
        await report(bot.get_partial_messageable(int(os.environ["CHANNEL_ID"])))


if __name__ == "__main__":
    asyncio.run(main())
