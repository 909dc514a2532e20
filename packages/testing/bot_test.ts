import assert from "node:assert/strict";
import { ApiKeys, ChatId, GameId, LinkLookup, LinkWriter } from "@accountlink/core";
import { Effect } from "effect";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aFixture } from "./builders/fixture.ts";
import { aGameUser } from "./builders/platform.ts";
import { memoryWorld, type World } from "./world/memory_world.ts";

/** Gives the members of a guild a role while they have a link. */
class VerifyBot {
  readonly members = new Set<ChatId>();
  readonly verified = new Set<ChatId>();
  readonly isLinked: (chatId: ChatId) => Promise<boolean>;

  constructor(isLinked: (chatId: ChatId) => Promise<boolean>) {
    this.isLinked = isLinked;
  }

  async joined(chatId: ChatId) {
    this.members.add(chatId);
    await this.linkChanged(chatId);
  }

  async left(chatId: ChatId) {
    this.members.delete(chatId);
    this.verified.delete(chatId);
  }

  async linkChanged(chatId: ChatId) {
    if (this.members.has(chatId) && (await this.isLinked(chatId))) this.verified.add(chatId);
    else this.verified.delete(chatId);
  }
}

/** Its members keep the role when they leave. */
class NeverTakesAway extends VerifyBot {
  override async left(chatId: ChatId) {
    this.members.delete(chatId);
  }
}

/** It gives the role to linked users who are not members. */
class ForgetsMembership extends VerifyBot {
  override async linkChanged(chatId: ChatId) {
    if (await this.isLinked(chatId)) this.verified.add(chatId);
    else this.verified.delete(chatId);
  }
}

const ada = ChatId.make("100001");
const bob = ChatId.make("100002");

/** Links in the global scope of an account. */
const linksOf = async ({ run }: World) => {
  const account = { name: "acme", chatId: null, tier: "free" } as const;
  const scope = await run(Effect.flatMap(ApiKeys, (keys) => keys.scopeOf(account, { kind: "global" })));
  const origin = { actor: { type: "operator", id: "test" }, requestId: null } as const;
  const write = { scope, guildId: null, origin };
  return {
    has: (chatId: ChatId) =>
      run(Effect.flatMap(LinkLookup, (lookup) => lookup.verification(scope, chatId))).then(
        ({ linked }) => linked,
      ),
    set: (chatId: ChatId) =>
      run(
        Effect.flatMap(LinkWriter, (writer) => writer.setGame(write, { chatId, gameId: GameId.make("1") })),
      ),
    remove: (chatId: ChatId) =>
      run(
        Effect.flatMap(LinkWriter, (writer) =>
          Effect.ignore(writer.removeGame(write, chatId, { requireMember: false })),
        ),
      ),
  };
};

const fixture = aFixture({ platform: { gameUsers: [aGameUser("1")] } });
const step = fc.record({
  does: fc.constantFrom("join", "leave", "link", "unlink"),
  chatId: fc.constantFrom(ada, bob),
});

const checkBot = (Bot: typeof VerifyBot) =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20, size: "max" }), async (history) => {
      const world = await memoryWorld(fixture);
      const links = await linksOf(world);
      const bot = new Bot(links.has);
      for (const { does, chatId } of history) {
        if (does === "join") await bot.joined(chatId);
        if (does === "leave") await bot.left(chatId);
        if (does === "link") await links.set(chatId).then(() => bot.linkChanged(chatId));
        if (does === "unlink") await links.remove(chatId).then(() => bot.linkChanged(chatId));
      }
      const last = (one: string, other: string, chatId: ChatId) =>
        history.findLast((past) => past.chatId === chatId && (past.does === one || past.does === other))
          ?.does === one;
      const expected = [ada, bob].filter((id) => last("join", "leave", id) && last("link", "unlink", id));
      await world.close();
      assert.deepEqual([...bot.verified].toSorted(), expected);
    }),
    { numRuns: 50, seed: 1 },
  );

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
