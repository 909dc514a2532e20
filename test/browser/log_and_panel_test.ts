/** The channels in which the bot writes: an owner chooses the log and posts the panel, and reads both in the channels. */
import { expect, it } from "vitest";
import { ownGuild, useDashboard } from "./dashboard_pages.ts";
import { press } from "./flow_pages.ts";
import { expectUsable, phone } from "./looks.ts";

const channels = [
  { id: "70", name: "welcome" },
  { id: "71", name: "mod-log" },
  { id: "72", name: "staff", mayPost: false },
];

const ofGuild = { account: "Chess Club", scope: "guild", guildId: ownGuild } as const;

const { visit } = useDashboard((fixture) => ({
  ...fixture,
  accounts: [{ name: "Chess Club", chatId: "100001", tier: "free" }],
  plans: [{ ...ofGuild, rules: [], state: "on" }],
  platform: {
    ...fixture.platform,
    guilds: (fixture.platform?.guilds ?? []).map((guild) => ({ ...guild, channels })),
  },
}));

it("an owner chooses the log and posts the panel, and a member links by it and is told of", async () => {
  const page = await visit("/dashboard/communities", /Ada\b/, phone);
  await press(page, "Rook & Bishop");
  await press(page, "Choose channels");
  await expectUsable(page, "Log and panel of Rook & Bishop", "log-and-panel");
  const log = page.getByLabel("Channel of the log");
  await log.selectOption({ label: "# staff (the bot may not post there)" });
  await press(page, "Save");
  await page.getByText("Expected a channel in which the bot may post.").first().waitFor();
  await log.selectOption({ label: "# mod-log" });
  await press(page, "Save");
  await page.getByText("The bot tells in this channel what happens from now on.").waitFor();

  await page.getByLabel("Text of the panel").fill("Prove who <you> are");
  await press(page, "Update the preview");
  await page.getByRole("figure").getByText("Prove who <you> are").waitFor();
  await page.getByLabel("Channel of the panel").selectOption({ label: "# welcome" });
  await press(page, "Post the panel");
  await page.getByText("The panel is in the channel.").waitFor();
  await expectUsable(page, "Log and panel of Rook & Bishop", "log-and-panel-on");

  await press(page, "Try it as a member");
  const guild = page.url();
  const welcome = page.locator("#channel-70");
  await welcome.getByText("Prove who <you> are").waitFor();
  await welcome.getByRole("link", { name: "Verify" }).click();
  await press(page, "Sign in to the chat platform");
  await press(page, /Ada\b/);
  await press(page, "Sign in to the game platform");
  await press(page, /Player 2\b/);
  await press(page, "Link these accounts");
  await page.goto(guild);
  await expect
    .poll(() => page.reload().then(() => page.locator("#channel-71").textContent()), { timeout: 15_000 })
    .toContain("linked Player 2");
});
