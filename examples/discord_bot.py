"""A Discord bot that posts into a channel who links and unlinks, on discord.py. The service itself has /verify and roles.

DISCORD_TOKEN=… CHANNEL_ID=… ACCOUNTLINK_URL=… ACCOUNTLINK_KEY=alk_… python3 discord_bot.py
"""

import asyncio
import os

import discord
from accountlink import AsyncAccountLink

accounts = AsyncAccountLink(os.environ["ACCOUNTLINK_URL"], os.environ["ACCOUNTLINK_KEY"])
bot = discord.Client(intents=discord.Intents.none(), allowed_mentions=discord.AllowedMentions.none())


async def report(channel: discord.abc.Messageable) -> None:
    async for event, _ in accounts.events.follow(types=["link.set", "link.removed"]):
        if event["type"] == "link.set":
            await channel.send(f"<@{event['data']['chatId']}> plays as {event['data']['gameId']}.")
        elif event["type"] == "link.removed":
            await channel.send(f"<@{event['data']['chatId']}> no longer plays as {event['data']['previousGameId']}.")


async def main() -> None:
    async with accounts, bot:
        await bot.login(os.environ["DISCORD_TOKEN"])
        await report(bot.get_partial_messageable(int(os.environ["CHANNEL_ID"])))


if __name__ == "__main__":
    asyncio.run(main())
