/**
 * The owner of a large community comes from another service, with the roles that it gave, a messy export of its links,
 * and nothing but a browser. Nobody loses a role.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { useFolder } from "../support/folder.ts";
import { useServer } from "../support/server.ts";
import { openPage } from "./browser.ts";
import { press } from "./flow_pages.ts";
import { desktop, expectUsable } from "./looks.ts";

const size = 30_000;
const guild = "700000000000000005";
const verified = "13";

/**
 * What the other service left of a member: the role, a line of the export, both, or nothing. A tenth has the role by a
 * link that the export lacks.
 */
const kinds = [
  "both",
  "both",
  "both",
  "both",
  "both",
  "both",
  "unproven",
  "role",
  "none",
  "pending",
] as const;

/** They linked at the other service, which did not get to giving them the role. */
const withoutRole = 5;

const members = Array.from({ length: size }, (_, i) => {
  const kind = kinds[i % kinds.length] ?? "none";
  return {
    chatId: String(300_000_000_000_000_000n + BigInt(i) * 7_919n),
    gameId: String(1_000 + i),
    kind,
    hasRole: kind === "role" || (kind === "both" && i >= withoutRole),
  };
});

const owner = { chatId: "100001", manager: true };

const server = useServer(() => ({
  fixture: {
    platform: {
      guilds: [
        {
          id: guild,
          name: "Harbor",
          bot: false,
          roles: [{ id: verified, name: "Verified", assignable: true }],
          members: [
            owner,
            ...members.map(({ chatId, hasRole }) => ({
              chatId,
              roles: hasRole ? [{ id: verified, name: "Verified" }] : [],
            })),
          ],
        },
      ],
      chatUsers: [
        { id: owner.chatId, username: "olga", displayName: "Olga" },
        ...members.map(({ chatId }, i) => ({ id: chatId, username: `member.${i}` })),
      ],
      gameUsers: members.map(({ gameId }, i) => ({ id: gameId, username: `player_${i}` })),
    },
  },
}));

const folder = useFolder();

const says = { both: "t", unproven: "f", pending: "pending" } as const;

/** How spreadsheets and databases write an ID, none of which loses a digit. */
const written = [
  (id: string) => id,
  (id: string) => `'${id}`,
  (id: string) => `="${id}"`,
  (id: string) => `"=""${id}"""`,
];

const messyFile = (): string => {
  const lines = members.flatMap(({ chatId, gameId, kind }, i) => {
    if (kind === "role" || kind === "none") return [];
    const id = written[i % written.length]?.(chatId) ?? chatId;
    const time = i % 3 === 0 ? "2021-05-04 12:30:00,000" : i % 3 === 1 ? "" : "1620131400";
    return [`${id};${gameId};${says[kind]};${time};${i};;`];
  });
  const again = `${members[0]?.chatId};1001;t;2019-01-01;;;`;
  return [
    "\uFEFFsep=;",
    "Discord User ID;Roblox ID;Verified?;Linked At;Last Updated;;",
    ...lines,
    again,
    "",
    "1.2E+17;7;t;;;;",
  ].join("\r\n");
};

const roleCount = async (): Promise<unknown> => {
  const { text } = await server.platform.send(`GET /control/guilds/${guild}/roles`);
  return (JSON.parse(text) as Record<string, unknown>)[verified];
};

const chooseFile = async (page: Page, file: string) => {
  await page.getByLabel("File", { exact: true }).setInputFiles(file);
  await press(page, "Preview the import");
};

it("an owner with roles and links of another service moves in, and no member loses a role", async () => {
  const linked = members.filter(({ kind }) => kind === "both").length;
  const unlinkedHolders = members.filter(({ kind }) => kind === "role").length;
  const before = await roleCount();
  expect(before).toBe(linked - withoutRole + unlinkedHolders);

  const page = await openPage(`${server.url()}/dashboard`, desktop);
  await press(page, /^Olga\b|^O Olga\b/);
  await press(page, "Add the bot");
  await press(page, /Harbor/);
  await press(page, "Back to the dashboard");
  await press(page, "Set up Harbor");
  await page.getByRole("heading", { name: "Roles and nicknames of Harbor" }).waitFor();

  // The links come first, so that the rules find them.
  const file = join(folder, "export.csv");
  await writeFile(file, messyFile());
  await page.goto(`${server.url()}/dashboard/imports`);
  await chooseFile(page, file);
  await page.getByRole("alert").getByText("Last Updated").waitFor();
  await page.getByLabel("Ignore the column “Last Updated”").check();
  await chooseFile(page, file);
  await page.getByText("This is a preview. Nothing is saved yet.").waitFor();
  await page.getByText("Columns that are not read: Last Updated", { exact: true }).waitFor();
  await expectUsable(page, "Import links", "moving-import-preview");
  await press(page, new RegExp(`^Import ${linked.toLocaleString("en")} links$`));
  await expect.poll(() => page.title(), { timeout: 60_000 }).toBe("Links imported – accountlink");
  await expectUsable(page, "Links imported", "moving-imported");
  expect(await roleCount()).toBe(before);

  await page.goto(`${server.url()}/dashboard/communities`);
  await press(page, /Roles of Harbor/);
  await page.getByLabel("gets the role").selectOption({ label: "Verified" });
  await press(page, "See what changes, then turn on");
  await page.getByText("This is what would change:").waitFor({ timeout: 120_000 });
  await page.getByText(`${(size + 1).toLocaleString("en")} members were compared.`).waitFor();
  expect(
    await page
      .getByRole("row", { name: /^Verified/ })
      .getByRole("cell")
      .allTextContents(),
  ).toEqual([
    ...[before, withoutRole, 0, unlinkedHolders].map((count) => Number(count).toLocaleString("en")),
    expect.stringMatching(/^Would get it: (member\.\d+(, |\. )){3}Could lose it: (member\.\d+(, |\.$)){3}$/),
  ]);
  expect(await page.getByLabel("Leave them as they are").isChecked()).toBe(true);
  await expectUsable(page, "What changes in Harbor", "moving-preview");
  expect(await roleCount()).toBe(before);

  await page.getByRole("button", { name: "Turn on", exact: true }).click();
  await page.getByText("Members who never linked keep their roles.").waitFor();
  await page.getByText("All members were compared last at").waitFor({ timeout: 120_000 });
  await expectUsable(page, "Roles and nicknames of Harbor", "moving-on");
  expect(await roleCount()).toBe(Number(before) + withoutRole);
  await page.goto(`${server.url()}/dashboard/communities`);
  await press(page, "Harbor");
  const counted = page.locator("#ways").getByText("Imported, not verified").locator("..");
  await expect.poll(() => counted.textContent()).toContain(linked.toLocaleString("en"));
  await expectUsable(page, "Harbor", "moving-ways");

  const { text } = await server.platform.send("GET /requests");
  const { changes } = JSON.parse(text) as { readonly changes: Readonly<Record<string, number>> };
  const given = members.slice(0, withoutRole).map(({ chatId }) => [`PUT ${chatId} roles/${verified}`, 1]);
  expect(changes).toEqual(Object.fromEntries(given));

  // An imported link is called imported, and never verified by its owner.
  await page.goto(`${server.url()}/dashboard/communities`);
  await press(page, "Harbor");
  await press(page, "Try it as a member");
  const channel = new URL(page.url());
  const say = async (as: string, command: string) => {
    channel.searchParams.set("as", as);
    await page.goto(channel.href);
    await page.getByLabel("Command").fill(command);
    await press(page, "Send");
  };
  const [imported] = members;
  await say(imported?.chatId ?? "", "/verify");
  await page.getByText(/^You are linked to/).waitFor();
  await say(owner.chatId, "/whois member.0");
  await page.getByText("Imported, never verified by its owner.").waitFor();
}, 300_000);
