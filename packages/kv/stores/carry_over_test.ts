import { AuditLog, ChatId, EventStore, Pid } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { Effect, Layer, Option } from "effect";
import { expect, it } from "vitest";
import { encode } from "../keys.ts";
import { type Kv, layer, memoryKv } from "../mod.ts";

const pid = Pid.make("pid_0123456789abcdefghij");
const chatId = ChatId.make("100001");
const origin = { actor: { type: "operator", id: "ada" }, requestId: null } as const;

const open = (kv: Kv) => Layer.build(Layer.fresh(layer(Effect.succeed(kv))));

it("the entries and events of an earlier release are carried over, and a feed goes on from its position", () =>
  Effect.gen(function* () {
    const kv = memoryKv();
    const keys = yield* Effect.provideContext(KeyStore, yield* open(kv));
    yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
    yield* keys.ensureScope("acme", { kind: "global" }, pid);
    const event = { id: "evt_1", type: "link.set", at: 5, position: 7, data: { chatId, gameId: "1" } };
    const entry = {
      ...origin,
      sequence: 500,
      at: 5,
      account: 1,
      pid,
      action: "link.set",
      details: { chatId },
    };
    const stored = [
      { key: encode(["event", pid, 7]), value: { pid, event } },
      { key: encode(["feed", pid]), value: { pid, start: 6, end: 7 } },
      { key: encode(["audit", 1, 500]), value: entry },
    ];
    yield* kv.commit(
      [],
      stored.map(({ key, value }) => ({ key, value: JSON.stringify(value) })),
    );

    const context = yield* open(kv);
    const [events, log] = [
      yield* Effect.provideContext(EventStore, context),
      yield* Effect.provideContext(AuditLog, context),
    ];

    expect(yield* events.range(pid)).toEqual({ start: 6, end: 7 });
    expect(Option.getOrThrow(yield* events.read(pid, 6, 10))).toEqual([{ ...event, entry: null }]);
    expect(yield* log.list("acme", null, 10, { action: null, keyId: null, chatId })).toEqual({
      entries: [{ ...entry, account: "acme" }],
      next: null,
    });
    const left = yield* kv.list({ start: "", end: "~" }, { limit: 100, reverse: false });
    expect(left.filter(({ key }) => /^(audit|event|feed)\b/.test(key))).toEqual([]);
  }).pipe(Effect.scoped, Effect.runPromise));
