import { StorageMemory } from "@accountlink/storage-memory";
import { describe, expect, it } from "@effect/vitest";
import { Effect, Layer, Stream } from "effect";
import { Digest } from "effect/crypto";
import { AuditLog } from "../audit/audit_log.ts";
import { StoreUnavailable } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import type { NewAccount } from "../keys/api_key.ts";
import { KeyStore } from "../keys/key_store.ts";
import { operator as origin } from "../test_world.ts";
import type { UnreadableLinkFile } from "./formats/link_format.ts";
import { linkFormats } from "./formats/link_formats.ts";
import {
  batchSize,
  type ImportOptions,
  type ImportProgress,
  importLinks,
  type LinkSource,
} from "./link_import.ts";
import { LinkStore } from "./link_store.ts";

const pid = "pid_0123456789abcdef" as Pid;
const account: NewAccount = { name: "acme", chatId: null, tier: "free" };
const batch = batchSize;

const csv = (count: number): string =>
  ["chatId,gameId", ...Array.from({ length: count }, (_, index) => `${100_000 + index},1`), ""].join("\n");

const storage = Layer.merge(StorageMemory.layer, Digest.layerWebCrypto);

type Source = LinkSource<UnreadableLinkFile>;

const fileOf = (content: string): Source => {
  const bytes = new TextEncoder().encode(content);
  return { lines: linkFormats.csv.read(Stream.succeed(bytes)), isRepeatable: true };
};

const pipeOf = (content: string): Source => ({ ...fileOf(content), isRepeatable: false });

const run = Effect.fnUntraced(function* (source: Source, options: ImportOptions = {}) {
  const shown: Array<ImportProgress> = [];
  const show = (progress: ImportProgress) => Effect.sync(() => void shown.push(progress));
  const outcome = yield* importLinks(source, { findScope: Effect.succeed(pid), origin }, options, show);
  return { outcome, shown };
});

const stored = Effect.flatMap(LinkStore, (links) => links.exportPage(pid, null, 1_000_000));
const entries = Effect.flatMap(AuditLog, (log) => log.list("acme", null, 100));

const withScope = Effect.gen(function* () {
  const keys = yield* KeyStore;
  yield* keys.ensureAccount(account);
  yield* keys.ensureScope("acme", { kind: "global" }, pid);
});

/** Memory storage whose links cannot be written after this many batches, until they can again. */
const failingAfter = (batches: number) => {
  const state = { left: batches };
  const layer = Layer.effect(
    LinkStore,
    Effect.map(LinkStore, (links) =>
      LinkStore.of({
        ...links,
        importBatch: (links_) =>
          Effect.suspend(() =>
            state.left-- > 0
              ? links.importBatch(links_)
              : Effect.fail(new StoreUnavailable({ operation: "LinkStore.importBatch" })),
          ),
      }),
    ),
  );
  return { state, layer: Layer.provideMerge(layer, storage) };
};

describe("importLinks", () => {
  it.effect("goes on after the last batch that was stored", () => {
    const { state, layer } = failingAfter(2);
    return Effect.gen(function* () {
      yield* withScope;
      const file = fileOf(csv(2.5 * batch));
      expect(yield* Effect.flip(run(file))).toMatchObject({ _tag: "StoreUnavailable" });
      expect(yield* stored).toHaveLength(2 * batch);
      const full = { action: "links.imported", pid, details: { inserted: batch, replaced: 0, kept: 0 } };
      expect(yield* entries).toMatchObject([full, full]);

      state.left = 100;
      const { outcome } = yield* run(file);
      expect(outcome).toMatchObject({
        links: 0.5 * batch,
        inserted: 0.5 * batch,
        kept: 0,
        resumedAfter: 2 * batch + 1,
      });
      expect(yield* stored).toHaveLength(2.5 * batch);
      expect((yield* run(file)).outcome).toMatchObject({ doneBefore: true, links: 2.5 * batch, inserted: 0 });
      expect((yield* entries).map(({ details }) => details["inserted"])).toEqual([0.5 * batch, batch, batch]);
    }).pipe(Effect.provide(layer));
  });

  it.effect("is another import for another content, scope or way of importing", () =>
    Effect.gen(function* () {
      yield* withScope;
      yield* run(fileOf(csv(10)));
      expect((yield* run(fileOf(csv(10)))).outcome.doneBefore).toBe(true);
      expect((yield* run(fileOf(csv(11)))).outcome.doneBefore).toBe(false);
      expect((yield* run(fileOf(csv(10)), { existing: "replace" })).outcome.doneBefore).toBe(false);
      expect((yield* run(fileOf(csv(10)), { fromStart: true })).outcome.doneBefore).toBe(false);
    }).pipe(Effect.provide(storage)),
  );

  it.effect("counts the first of lines that name one chat user, or the last", () =>
    Effect.gen(function* () {
      yield* withScope;
      const twice = (middle: string) =>
        `chatId,gameId,lastVerifiedAt\n10001,1,2026-01-01\n${middle}10001,2,2026-01-02\n`;
      const far = csv(batch)
        .split("\n")
        .slice(1, -1)
        .map((line) => `${line},2026-01-01\n`)
        .join("");
      for (const middle of ["", far]) {
        const read = Effect.flatMap(LinkStore, (links) => links.findByChatIds(pid, ["10001" as ChatId]));
        const links = yield* LinkStore;
        yield* links.deleteScope({ pid, at: 0, actor: { type: "operator", id: "test" }, requestId: null });
        const kept = (yield* run(fileOf(twice(middle)), { fromStart: true })).outcome;
        expect((yield* read).get("10001" as ChatId)?.gameId).toBe("1");
        expect(kept.inserted + kept.kept).toBe(kept.links);
        const replaced = (yield* run(fileOf(twice(middle)), { existing: "replace", fromStart: true }))
          .outcome;
        expect((yield* read).get("10001" as ChatId)?.gameId).toBe("2");
        expect(replaced.inserted + replaced.replaced + replaced.kept).toBe(replaced.links);
      }
    }).pipe(Effect.provide(storage)),
  );

  it.effect("stores what comes before the batch with a wrong line, where it cannot look ahead", () =>
    Effect.gen(function* () {
      yield* withScope;
      const wrong = yield* Effect.flip(run(pipeOf(`${csv(batch + 5)}wrong,1\n`)));
      expect(wrong).toMatchObject({ _tag: "WrongLines", count: 1, stored: batch });
      expect(yield* stored).toHaveLength(batch);
      expect(yield* entries).toMatchObject([{ details: { inserted: batch } }]);
    }).pipe(Effect.provide(storage)),
  );

  it.effect("shows how far it is, to the end", () =>
    Effect.gen(function* () {
      yield* withScope;
      const { shown } = yield* run(fileOf(csv(batch + 1)));
      expect(shown.at(-1)).toEqual({ phase: "importing", lines: batch + 2, total: batch + 2 });
      expect(shown.map(({ phase }) => phase)).toEqual(["checking", "checking", "importing", "importing"]);
    }).pipe(Effect.provide(storage)),
  );
});
