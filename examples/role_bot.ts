/**
 * A Discord bot that gives members their roles when they join, by the rules on the dashboard's page "Roles and names".
 *
 * DISCORD_TOKEN=… ACCOUNTLINK_URL=… ACCOUNTLINK_KEY=alk_… node examples/role_bot.ts
 */
import { createClient } from "@accountlink/client";

const {
  DISCORD_TOKEN,
  ACCOUNTLINK_URL = "",
  ACCOUNTLINK_KEY = "",
  GATEWAY = "wss://gateway.discord.gg",
} = process.env;
const { members } = createClient({ url: ACCOUNTLINK_URL, key: ACCOUNTLINK_KEY });
const gateway = new WebSocket(`${GATEWAY}/?v=10&encoding=json`);
const send = (op: number, d: unknown) => gateway.send(JSON.stringify({ op, d }));
let last: number | null = null;

const greet = async (chatId: string, guildId: string) => {
  const { added } = await members.sync(chatId, guildId);
  process.stdout.write(`${chatId} gets ${added.join(", ")}\n`);
};

gateway.addEventListener("message", ({ data }) => {
  const { op, t, s, d } = JSON.parse(data as string);
  last = s ?? last;
  if (t === "GUILD_MEMBER_ADD")
    greet(d.user.id, d.guild_id).catch((error) => process.stderr.write(`${error}\n`));
  if (op !== 10) return;
  setInterval(() => send(1, last), d.heartbeat_interval);
  const properties = { os: process.platform, browser: "accountlink", device: "accountlink" };
  send(2, { token: DISCORD_TOKEN, intents: 1 << 1, properties }); // The intent for members.
});
gateway.addEventListener("close", ({ code }) => process.exit(code === 1000 ? 0 : 1)); // The supervisor starts it again.
