/**
 * How many links and buttons owners press for what they do most, from the overview on. A journey that needs one more
 * press is worse: shorten it, rather than raise its number. Other pages count theirs in their own tests.
 */
import { expect, it } from "vitest";
import type { PlainPage } from "../support/plain_page.ts";
import { shows, useDashboard } from "./dashboard_pages.ts";

const { open } = useDashboard();

const file = new File(["Discord ID,Roblox ID\n100001,1\n100006,2\n"], "links.csv");

/** In the order of an owner's first day. Each ends on the page that says that it is done. */
const journeys: ReadonlyArray<
  readonly [journey: string, presses: number, done: string, walk: (page: PlainPage) => Promise<unknown>]
> = [
  [
    "sets up a community and turns its rules on",
    3,
    "Saved and on.",
    async (page) => {
      await page.press("Set up Rook & Bishop");
      await page.press("See what changes, then turn on", { "gets the role": "Member" });
      await shows(page, "Nobody has linked yet");
      await page.press("Turn on");
    },
  ],
  [
    "imports the links of another bot",
    3,
    "2 links of “links.csv” were stored in Rook & Bishop",
    async (page) => {
      await page.press("Import");
      await page.press("Preview the import", { File: file });
      await shows(page, "1 of the first 2 users in this file are members of Rook & Bishop.");
      await page.press("Import 2 links");
      await shows(page, "The links are imported.");
    },
  ],
  [
    "unlinks a member, and puts the link back",
    4,
    "The link is back as it was.",
    async (page) => {
      await page.press("Links");
      await page.press(/^Unlink Ada/);
      expect(await page.press("Unlink the accounts")).toContain("no longer linked in Rook & Bishop");
      await page.press("Undo: link them again");
    },
  ],
  [
    "undoes an import",
    3,
    "The import is undone.",
    async (page) => {
      await page.press("Import");
      await page.press(/^Undo it/);
      await page.press("Undo the import");
      await shows(page, "The import is undone.");
    },
  ],
  [
    "blocks a user, and lets them in again",
    5,
    "No longer blocked.",
    async (page) => {
      await page.press("Links");
      await page.press("Blocked users");
      await page.press("Block…", { User: "100002" });
      expect(await page.press("Block")).toContain("Blocked.");
      await page.press(/^No longer block/);
    },
  ],
  [
    "invites a moderator",
    3,
    "Invited.",
    async (page) => {
      await page.press("Team");
      await page.press("Next: see who it is", { Who: "newcomer" });
      await page.press("Invite Newcomer");
    },
  ],
];

it("an owner presses no more than before for what owners do most", async () => {
  const page = await open("/dashboard", /Ada\b/);
  const pressed: Record<string, number> = {};
  for (const [journey, , done, walk] of journeys) {
    await page.goto("/dashboard");
    const before = page.clicks;
    await walk(page);
    expect([journey, page.words]).toEqual([journey, expect.stringContaining(done)]);
    pressed[journey] = page.clicks - before;
  }
  const invited = await open("/dashboard", /Newcomer/);
  expect(invited.words).toContain("Its communities: Rook & Bishop.");
  expect(pressed).toEqual(Object.fromEntries(journeys.map(([journey, presses]) => [journey, presses])));
});
