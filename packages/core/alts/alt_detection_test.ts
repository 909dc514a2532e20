import { assert, test, testWith } from "@accountlink/test-servers/effect";
import { Deferred, Effect, Fiber, Layer } from "effect";
import { TestClock } from "effect/testing";
import * as AccountLink from "../account_link.ts";
import { AddressVault } from "../addresses/address_vault.ts";
import { SessionStore } from "../sessions/session_store.ts";
import { address, chatId, scopes, services, vaultWith } from "../test_services.ts";
import { AltDetection, type AltOptions } from "./alt_detection.ts";
import { NetworkIntelligence, NetworkIntelligenceUnavailable } from "./network_intelligence.ts";
import { type AddressRotation, rotateAddressKeys } from "./rotate_address_keys.ts";
import { SightingStore } from "./sighting_store.ts";

const [home, hotel] = [address("203.0.113.7"), address("198.51.100.7")];
const [target, other, third] = [chatId("10001"), chatId("10002"), chatId("10003")];
const options: AltOptions = { guildId: null, resolved: false, unknownMembers: "refuse" };

type Lookup = NetworkIntelligence["Service"]["lookup"];

/** Stores sightings of chat users at an address, encrypted by the provided vault. */
const see = Effect.fnUntraced(function* (at: typeof home, ...users: ReadonlyArray<typeof target>) {
  const { global } = yield* scopes;
  const protectedAddress = yield* (yield* AddressVault).protect(at);
  const seen = users.map((user) => ({ chatId: user, address: protectedAddress, seenAt: 0 }));
  yield* (yield* SessionStore).recordSightings(global.pid, seen);
});

const detect = Effect.fnUntraced(function* (user = target) {
  const { global } = yield* scopes;
  return yield* (yield* AltDetection).detect(global, { chatId: user, gameId: null, address: null }, options);
});

const withNetworks = (lookup: Lookup, ...keys: ReadonlyArray<number>) =>
  AccountLink.layerAlts.pipe(
    Layer.provideMerge(Layer.merge(vaultWith(...keys), Layer.succeed(NetworkIntelligence, { lookup }))),
  );

const servicesWith = (lookup: Lookup) => withNetworks(lookup, 1).pipe(Layer.provideMerge(services));

const nothing: Lookup = () => Effect.succeed({ vpn: false, shared: false });

testWith(
  servicesWith(({ countedAs }) =>
    Effect.fail(new NetworkIntelligenceUnavailable({ message: `No answer about ${countedAs}` })),
  ),
)("a report warns of networks that cannot be looked up, without naming addresses", function* () {
  yield* see(home, target, other);
  yield* see(hotel, target);
  const { risk, warnings } = yield* detect();
  assert.deepStrictEqual([risk.alt, risk.vpn], [35, 0]);
  assert.deepStrictEqual(warnings, [{ is: "no_network", text: "No answer about [redacted]" }]);
});

test("a report arrives in time even if network lookups never end", function* () {
  const asked = yield* Deferred.make<void>();
  const never: Lookup = () => Effect.andThen(Deferred.succeed(asked, undefined), Effect.never);
  yield* Effect.gen(function* () {
    yield* see(home, target, other);
    const detection = yield* Effect.forkChild(detect());
    yield* Deferred.await(asked);
    yield* TestClock.adjust("1 second");
    const { matches, warnings } = yield* Fiber.join(detection);
    assert.deepStrictEqual([matches.length, warnings.length], [1, 1]);
  }).pipe(Effect.provide(servicesWith(never)));
});

testWith(services)("addresses match under every key before, during and after a rotation", function* () {
  const during = withNetworks(nothing, 2, 1);
  const found = Effect.map(detect(), ({ matches }) =>
    matches.map(({ chatId: id, evidence }) => [id, ...evidence]),
  );
  const both = yield* Effect.gen(function* () {
    yield* Effect.provide(see(home, target, other), vaultWith(1));
    const before = yield* Effect.provide(found, withNetworks(nothing, 1));
    yield* Effect.provide(see(home, third, other), vaultWith(2));
    const underTwo = yield* Effect.provide(found, during);
    yield* Effect.provide(rotateAddressKeys(), during);
    return [before, underTwo, yield* Effect.provide(found, withNetworks(nothing, 2))];
  });
  const evidence = (chatUsers: number) => ({ kind: "address", weight: 0.35, lastSeenAt: 0, chatUsers });
  const pair = [
    [other, evidence(3)],
    [third, evidence(3)],
  ];
  assert.deepStrictEqual<unknown>(both, [[[other, evidence(2)]], pair, pair]);
});

testWith(services)("a rotation resumes after an interruption", function* () {
  const count = 1_034;
  const places = Array.from({ length: count }, (_, i) => see(address(`10.0.${i >> 8}.${i & 255}`), target));
  yield* Effect.provide(Effect.all(places), vaultWith(1));
  yield* Effect.gen(function* () {
    const first: Array<AddressRotation> = [];
    yield* Effect.exit(
      rotateAddressKeys((progress) => {
        first.push(progress);
        return first.length === 2 ? Effect.interrupt : Effect.void;
      }),
    );
    assert.deepEqual(first.at(-1), { rotated: 1_000, unreadable: 0, total: count });
    assert.deepEqual(yield* rotateAddressKeys(), { rotated: 34, unreadable: 0, total: 34 });
    assert.deepEqual(yield* (yield* SightingStore).countByKey(), new Map([["k2", count]]));
  }).pipe(Effect.provide(vaultWith(2, 1)));
});
