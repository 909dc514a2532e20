import type { GuildId } from "@accountlink/core";
import { noPlan, type PlanPreview, PreviewTally } from "@accountlink/core/roles";
import { expect, it } from "vitest";
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

const pageOf = (state: PlanPreview["state"]) =>
  previewPage(
    {
      community: { scope: { pid: "pid_0123456789abcdefghij" } },
      guildId: "700000000000000001" as GuildId,
      guildName: "Rook",
      preview: { ...preview, state },
      isOn: false,
      unlinked: "keep",
      roles: [],
      names: new Map(),
      seen: "",
      platforms: { chat: "Discord", game: "Roblox" },
    } as unknown as PreviewView,
    null,
  );

it("the comparison of 50,000 members shows how far it is, and renews itself until it ends", () => {
  const running = pageOf("running");
  expect(running.refreshSeconds).toBe(3);
  expect(running.content.source).toContain("Comparing everyone with the rules: 20,000 of 50,000 members.");
  expect(running.content.source).toContain('max="50000" value="20000"');
  for (const state of ["done", "failed"] as const) expect(pageOf(state).refreshSeconds).toBeUndefined();
  expect(pageOf("failed").content.source).toMatch(/Discord or\sRoblox did not answer/);
});
