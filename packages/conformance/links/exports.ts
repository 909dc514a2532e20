import { ChatId, LinkStore, type StoragePorts } from "@accountlink/core";
import type { PortableLink } from "@accountlink/core/links";
import { Effect, Fiber } from "effect";
import { expectEqual } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { ada, bob, chess, cyd, poker } from "../world.ts";
import { type newLinkBench as Bench, line, newLinkBench } from "./link_bench.ts";

export const exports: Cases<StoragePorts> = {
  "exportPage sorts links by chat ID as text, and omits records without a link": Effect.gen(function* () {
    const links = yield* newLinkBench;
    const [short, long] = [ChatId.make("99999"), ChatId.make("100000")];
    yield* links.set(short, chess, 4);
    yield* links.set(long, poker, 3);
    yield* links.set(ada, chess, 2);
    yield* links.set(bob, chess, 1);
    yield* links.remove(bob, 5);
    expectEqual(yield* links.page(null, 10), [
      line(long, poker, 3),
      line(ada, chess, 2),
      line(short, chess, 4),
    ]);
  }),

  "exportPage fills its page past records without a link": Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.load([line(ada, chess), line(bob, chess), line(cyd, chess)]);
    yield* links.remove(ada, 5);
    yield* links.remove(bob, 5);
    expectEqual(yield* links.page(null, 1), [line(cyd, chess)]);
  }),

  "exportPage has the whole record of each link": Effect.gen(function* () {
    const links = yield* newLinkBench;
    const store = yield* LinkStore;
    yield* links.set(ada, chess, 1);
    yield* links.set(ada, poker, 2);
    yield* links.set(ada, poker, 3);
    expectEqual(yield* store.exportPage(links.pid, null, 10), [
      { chatId: ada, gameId: poker, linkVersion: 2, linkedAt: 2, lastVerifiedAt: 3 },
    ]);
  }),

  "exportPage continues after any chat ID, stored or not": Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.load([line(ada, chess), line(bob, chess), line(cyd, chess)]);
    expectEqual(yield* links.page(ada, 10), [line(bob, chess), line(cyd, chess)]);
    expectEqual(yield* links.page(ChatId.make("100015"), 1), [line(bob, chess)]);
    expectEqual(yield* links.page(null, 2), [line(ada, chess), line(bob, chess)]);
    expectEqual(yield* links.page(cyd, 10), []);
    expectEqual(yield* links.page(ChatId.make("00000"), 1), [line(ada, chess)]);
  }),

  "exportPage reflects new and moved links": Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.set(bob, chess);
    expectEqual(yield* links.all, [line(bob, chess)]);
    yield* links.set(ada, chess);
    expectEqual(yield* links.all, [line(ada, chess), line(bob, chess)]);
    yield* links.move(bob, cyd, 1);
    expectEqual(yield* links.all, [line(ada, chess), line(cyd, chess, 1)]);
  }),

  "pages have every link that exists throughout the export": Effect.gen(function* () {
    const links = yield* newLinkBench;
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

const exportAll = Effect.fnUntraced(function* (links: Effect.Success<typeof Bench>, limit: number) {
  const exported: Array<PortableLink> = [];
  for (;;) {
    const page = yield* links.page(exported.at(-1)?.chatId ?? null, limit);
    exported.push(...page);
    if (page.length < limit) return exported;
    yield* Effect.yieldNow;
  }
});
