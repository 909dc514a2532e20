/** Members who join a guild while `ACCOUNTLINK_CHAT_GATEWAY` is on. */
import { expect, test } from "vitest";
import { guild } from "../support/fixtures.ts";
import { clubOf, useSiteServer, verified } from "./site_server.ts";

const [ada, newcomer] = ["100001", "100077"];

const { fixtures, platform, output } = useSiteServer({ ACCOUNTLINK_CHAT_GATEWAY: "on" }, clubOf(ada));
fixtures.key({ account: "club", guildId: guild, links: { [newcomer]: "1" } });
fixtures.plan({ account: "club", guildId: guild, rules: [{ roleId: verified.id, when: { is: "linked" } }] });

const member = `/control/guilds/${guild}/members/${newcomer}` as const;
const joins = async () => {
  await platform.send(`DELETE ${member}`);
  await platform.send(`PUT ${member}`, { body: { manager: false, nickname: null, joined: null, roles: [] } });
};
const page = async () => (await platform.send(`GET /chat/guilds/${guild}?as=${newcomer}`)).text;

test("a linked user who joins has the role within 5 s, also after the platform was down", async () => {
  await expect
    .poll(async () => JSON.stringify((await platform.send("GET /requests")).body), { timeout: 10_000 })
    .toContain("/chat/api/joins");
  await joins();
  await expect.poll(page, { timeout: 5_000 }).toMatch(/<span id="roles">[^<]*Verified/);

  await platform.fail({ platform: "chat", mode: "down", status: 503 });
  await joins();
  await expect.poll(output, { timeout: 10_000 }).toContain("Cannot receive joins");
  await platform.recover();
  await expect.poll(page, { timeout: 20_000 }).toMatch(/<span id="roles">[^<]*Verified/);
});
