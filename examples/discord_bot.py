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


async def report(channel: discord.abc.Messageable) -> None:
    cursor = cursor_file.read_text() if cursor_file.exists() else None
    async for event, cursor in accounts.events.follow(cursor=cursor, types=["link.set", "link.removed"]):
        if event["type"] == "link.set":
            await channel.send(f"<@{event['data']['chatId']}> plays as {event['data']['gameId']}.")
        elif event["type"] == "link.removed":
            await channel.send(f"<@{event['data']['chatId']}> no longer plays as {event['data']['previousGameId']}.")
        cursor_file.write_text(cursor)


async def main() -> None:
    async with accounts, bot:
        await bot.login(os.environ["DISCORD_TOKEN"])
        await report(bot.get_partial_messageable(int(os.environ["CHANNEL_ID"])))


if __name__ == "__main__":
    asyncio.run(main())
