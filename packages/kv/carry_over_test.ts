import { ChatId, KeyId, Pid } from "@accountlink/core";
import { MemberStore } from "@accountlink/core/accounts";
import { placeOf } from "@accountlink/core/addresses";
import { KeyStore } from "@accountlink/core/keys";
import { UsageStore } from "@accountlink/core/usage";
import { UserStore } from "@accountlink/core/users";
import { Effect, Layer } from "effect";
import { expect, it } from "vitest";
import { encode } from "./keys.ts";
import { type Kv, layer, memoryKv } from "./mod.ts";

const pid = Pid.make("pid_0123456789abcdefghij");
const chatId = ChatId.make("100001");

const open = (kv: Kv) => Layer.build(Layer.fresh(layer(Effect.succeed(kv))));

it("members, sightings and usage of an earlier schema are carried over, without deleted ones", () =>
  Effect.gen(function* () {
    const kv = memoryKv();
    const keys = yield* Effect.provideContext(KeyStore, yield* open(kv));
    yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
    yield* keys.ensureScope("acme", { kind: "global" }, pid);
    const address = { hash: "hash", sealed: "sealed", addressKeyId: "k1" };
    const [keyId, used] = [KeyId.make("Aa0Bb1Cc2Dd3"), { served: 1, refused: 2, errors: 3 }];
    const member = { chatId, role: "admin", since: 3, chosenAt: 4, invitedBy: ChatId.make("100000") };
    const stored = [
      { key: encode(["member", 1, chatId]), value: { account: 1, ...member } },
      { key: encode(["member.byUser", chatId, 1]), value: "entry" },
      ...[
        { epoch: 1, sighting: { chatId, address, seenAt: 5 }, firstSeenAt: 3 },
        { epoch: 1, sighting: { chatId, browser: "browser", seenAt: 4 }, firstSeenAt: 2 },
        { epoch: 0, sighting: { chatId, browser: "deleted", seenAt: 4 }, firstSeenAt: 2 },
      ].map((value) => ({
        key: encode(["sighting", pid, chatId, placeOf(value.sighting)]),
        value: { pid, ...value },
      })),
      { key: encode(["usage", keyId, 0, "bulk"]), value: { key: keyId, day: 0, group: "bulk", ...used } },
      { key: encode(["meter", "m"]), value: { meter: "m", sequence: 1, day: 0, parts: 2 } },
    ];
    yield* kv.commit(
      [],
      stored.map(({ key, value }) => ({ key, value: JSON.stringify(value) })),
    );

    const context = yield* open(kv);
    const members = yield* Effect.provideContext(MemberStore, context);
    expect(yield* members.list("acme")).toEqual([{ ...member, scopes: null }]);
    expect((yield* members.findByChatId(chatId)).map(({ account }) => account.name)).toEqual(["acme"]);
    const usage = yield* Effect.provideContext(UsageStore, context);
    expect(yield* usage.days({ key: keyId }, 0)).toEqual([{ from: 0, group: "bulk", ...used }]);
    yield* usage.forget(1);
    expect(yield* usage.days({ key: keyId }, 0)).toEqual([]);
    const users = yield* Effect.provideContext(UserStore, context);
    const { sightings, browsers } = yield* users.find(chatId);
    expect(sightings).toEqual([{ pid, sighting: { chatId, address, seenAt: 5 } }]);
    const seen = { chatId, browser: "browser", seenAt: 4 };
    expect(browsers).toEqual([{ pid, sighting: seen, firstSeenAt: 2 }]);
    const left = yield* kv.list({ start: "", end: "~" }, { limit: 100, reverse: false });
    expect(left.filter(({ key }) => /^(member|sighting|usage|meter)\b/.test(key))).toEqual([]);
  }).pipe(Effect.scoped, Effect.runPromise));
