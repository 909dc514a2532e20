import type { ChatId, GuildId } from "@accountlink/core";
import { noPlan, type PlanPreview, PreviewTally } from "@accountlink/core/roles";
import { expect, it } from "vitest";
import { inEnglish } from "../test_english.ts";
import { type PreviewView, previewPage } from "./preview_page.ts";

const preview: PlanPreview = {
  ...new PreviewTally(noPlan).counts,
  id: "1",
  settings: noPlan,
  state: "running",
  done: 20_000,
  total: 50_000,
  examples: { linked: [], unlinked: [] },
};

const pageOf = (state: PlanPreview["state"], parts: Partial<PlanPreview> = {}) =>
  previewPage(
    {
      community: { scope: { pid: "pid_0123456789abcdefghij" } },
      guildId: "700000000000000001" as GuildId,
      guildName: "Rook",
      preview: { ...preview, state, ...parts },
      isOn: false,
      keepsNicknames: false,
      chosen: { unlinked: "keep", take: [] },
      roles: [],
      names: new Map(),
      hasLinks: true,
      member: null,
      seen: "",
    } as unknown as PreviewView,
    null,
  );

it("the comparison of 50,000 members shows how far it is, and renews itself until it ends", () => {
  const running = pageOf("running");
  expect(running.refreshSeconds).toBe(3);
  expect(inEnglish(running.content)).toContain("Comparing everyone with the rules: 20,000 of 50,000.");
  expect(inEnglish(running.content)).toContain('max="50000" value="20000"');
  expect(inEnglish(pageOf("running", { unknown: 2 }).content)).toContain(
    "For 2 of them, Blocks has not answered yet. It is asked again.",
  );
  for (const state of ["done", "failed"] as const) expect(pageOf(state).refreshSeconds).toBeUndefined();
  expect(inEnglish(pageOf("failed").content)).toMatch(/Discord or\sBlocks did not answer/);
});

it("members for whom the game platform did not answer come first, and a tenth of them changes the button", () => {
  const few = inEnglish(pageOf("done", { done: 1_000, unknown: 99 }).content);
  expect(few.indexOf("For 99 of 1,000 members, Blocks did not")).toBeLessThan(
    few.indexOf("Nobody has been changed yet."),
  );
  expect(few).toContain('value="confirm">Turn on</button>');
  // Of a list of several communities, the address of a refused form leads back to this one.
  expect(few).toMatch(
    /<form method="post" action="[^"]*\/roles\/preview\?guildId=700000000000000001&amp;id=1"/,
  );
  const many = inEnglish(pageOf("done", { done: 1_000, unknown: 100 }).content);
  expect(many).toContain('value="confirm">Turn on without knowing 100 members</button>');
});

it("each choice for members who never linked says what it would do, and how long that takes", () => {
  const none = { linked: 0, unlinked: 0 };
  const role = {
    roleId: "1",
    held: 900,
    gained: { linked: 250, unlinked: 50 },
    lost: { linked: 10, unlinked: 800 },
  };
  const nicknames = { linked: 5_000, unlinked: 0 };
  const loses = (chatId: string) => ({ chatId: chatId as ChatId, add: [], remove: ["1"], nickname: null });
  const examples = { linked: [loses("100001")], unlinked: [loses("100002")] };
  const source = inEnglish(pageOf("done", { done: 9_000, roles: [role], nicknames, examples }).content);
  expect(source).toContain("Would lose it: 100001. Could lose it: 100002.");
  expect(source).toContain(
    "They keep all their roles, also later. Linked members: 5,310 changes, at least 8 minutes.",
  );
  expect(source).toContain("800 roles would be taken as well. 6,110 changes, at least 10 minutes.");
  expect(source).toContain("The nicknames that they have now are kept for 30 days");
  const settled = inEnglish(pageOf("done", { roles: [{ ...role, lost: none }] }).content);
  expect(settled).toMatch(/at most ten a second: 300 changes, less than a minute\./);
});
