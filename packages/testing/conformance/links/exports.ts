import { ChatId, type StoragePorts } from "@accountlink/core";
import type { PortableLink } from "@accountlink/core/links";
import { Effect, Fiber } from "effect";
import { expectEqual } from "../expect.ts";
import { chess, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { type newLinkFixture as Fixture, line, newLinkFixture } from "./link_fixture.ts";

export const exports: Cases<StoragePorts> = {
  "an export contains every link that exists throughout it": Effect.gen(function* () {
    const links = yield* newLinkFixture;
    const standing = Array.from({ length: 60 }, (_, i) => line(ChatId.make(`${40_000 + 2 * i}`), chess, i));
    yield* links.load(standing);
    const others = standing.map(({ chatId }) => ChatId.make(`${Number(chatId) + 1}`));
    const writer = yield* Effect.forEach(others, (chatId) =>
      Effect.andThen(Effect.zip(links.set(chatId, poker), Effect.yieldNow), links.remove(chatId)),
    ).pipe(Effect.forever, Effect.forkChild);
    const exported = yield* exportAll(links, 7);
    yield* Fiber.interrupt(writer);
    expectEqual(
      exported.filter(({ gameId }) => gameId === chess),
      standing,
    );
    const ids = exported.map(({ chatId }) => chatId);
    expectEqual(ids, [...new Set(ids)].toSorted());
  }),
};

const exportAll = Effect.fnUntraced(function* (links: Effect.Success<typeof Fixture>, limit: number) {
  const exported: Array<PortableLink> = [];
  for (;;) {
    const page = yield* links.page(exported.at(-1)?.chatId ?? null, limit);
    exported.push(...page);
    if (page.length < limit) return exported;
    yield* Effect.yieldNow;
  }
});
