import assert from "node:assert/strict";
import type { PromisedAccountLink } from "accountlink";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aFixture } from "./builders/fixture.ts";
import { aGameUser } from "./builders/platform.ts";
import { memoryWorld } from "./world/memory_world.ts";

/** Gives the members of a guild a role while they have a link. */
class VerifyBot {
  readonly members = new Set<string>();
  readonly verified = new Set<string>();
  readonly links: PromisedAccountLink["links"];

  constructor({ links }: PromisedAccountLink) {
    this.links = links;
  }

  async joined(chatId: string) {
    this.members.add(chatId);
    await this.linkChanged(chatId);
  }

  async left(chatId: string) {
    this.members.delete(chatId);
    this.verified.delete(chatId);
  }

  async linkChanged(chatId: string) {
    if (this.members.has(chatId) && (await this.links.get(chatId)) !== null) this.verified.add(chatId);
    else this.verified.delete(chatId);
  }
}

/** Its members keep the role when they leave. */
class NeverTakesAway extends VerifyBot {
  override async left(chatId: string) {
    this.members.delete(chatId);
  }
}

/** It gives the role to linked users who are not members. */
class ForgetsMembership extends VerifyBot {
  override async linkChanged(chatId: string) {
    if ((await this.links.get(chatId)) !== null) this.verified.add(chatId);
    else this.verified.delete(chatId);
  }
}

const fixture = aFixture({ platform: { gameUsers: [aGameUser("1")] } });
const step = fc.record({
  does: fc.constantFrom("join", "leave", "link", "unlink"),
  chatId: fc.constantFrom("100001", "100002"),
});

const propertyOf = (Bot: typeof VerifyBot) =>
  fc.asyncProperty(fc.array(step), async (history) => {
    await using world = await memoryWorld(fixture);
    const bot = new Bot(world);
    for (const { does, chatId } of history) {
      if (does === "join") await bot.joined(chatId);
      if (does === "leave") await bot.left(chatId);
      if (does === "link") await world.links.set(chatId, "1").then(() => bot.linkChanged(chatId));
      if (does === "unlink")
        await world.links
          .delete(chatId)
          .catch(() => null)
          .then(() => bot.linkChanged(chatId));
      const isLinked = (await world.links.get(chatId)) !== null;
      assert.equal(bot.verified.has(chatId), bot.members.has(chatId) && isLinked);
    }
  });

const checkBot = (Bot: typeof VerifyBot) => fc.assert(propertyOf(Bot), { numRuns: 50, seed: 1 });

describe("a property of a bot", () => {
  it("holds for the bot", async () => {
    await expect(checkBot(VerifyBot)).resolves.toBeUndefined();
  });

  it.each([
    [NeverTakesAway, 3],
    [ForgetsMembership, 1],
  ])("catches %o with the shortest history", async (Bot, steps) => {
    const message = await checkBot(Bot).then(() => "", String);
    expect(message.match(/"does"/g)).toHaveLength(steps);
  });
});
