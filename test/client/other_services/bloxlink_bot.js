// A bot for Bloxlink v4, with fetch, as they are written.
const { BLOXLINK_URL, BLOXLINK_KEY, GUILD_ID } = process.env;

const ask = async (path) => {
  const response = await fetch(`${BLOXLINK_URL}/v4/public/guilds/${GUILD_ID}/${path}`, {
    headers: { Authorization: BLOXLINK_KEY },
  });
  const body = await response.json();
  if (body.error) return body.error;
  return body.robloxID ?? body.discordIDs.join();
};

console.log(await ask("discord-to-roblox/100001"));
console.log(await ask("roblox-to-discord/1"));
console.log(await ask("discord-to-roblox/100009"));
