"""A Discord bot with /verify, on discord.py: it shows a link, waits, and says how it ended.

DISCORD_TOKEN=… ACCOUNTLINK_URL=… ACCOUNTLINK_KEY=alk_… python3 discord_bot.py
"""

import os

import discord
from accountlink import AccountLinkError, AsyncAccountLink

accounts = AsyncAccountLink(os.environ["ACCOUNTLINK_URL"], os.environ["ACCOUNTLINK_KEY"])
bot = discord.Client(intents=discord.Intents.default())
tree = discord.app_commands.CommandTree(bot)


@tree.command(description="Link your game account")
async def verify(interaction: discord.Interaction) -> None:
    await interaction.response.defer(ephemeral=True)
    user, guild = interaction.user.id, interaction.guild_id
    try:
        session = await accounts.sessions.create(user, chat_id=user, guild_id=guild)
        await interaction.edit_original_response(content=f"Link your account within 5 minutes: {session['url']}")
        end = await accounts.sessions.wait(session["sid"])
        text = f"You are linked to {end['gameId']}." if end["state"] == "completed" else "Nothing was linked."
    except AccountLinkError as error:
        text = "The time is over." if error.code == "SESSION_EXPIRED" else f"You cannot verify: {error.message}"
    await interaction.edit_original_response(content=text)


@bot.event
async def on_ready() -> None:
    await tree.sync()


if __name__ == "__main__":
    bot.run(os.environ["DISCORD_TOKEN"])
