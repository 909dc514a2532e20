/**
 * The law of rounds: how often a page waits for the storage, the cache and the counters, one time after the other. On
 * Redis, each is a way to the server and back.
 */
import {
  AccountLink,
  AddressVault,
  Cache,
  Counters,
  decodeFixture,
  FixtureLoader,
  NetworkIntelligence,
} from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { Secrets, webCrypto } from "@accountlink/core/secrets";
import { type HttpRequest, HttpSettings, makeHttpApp, Readiness, textOf } from "@accountlink/http";
import { CacheMemory, PlatformMemory } from "@accountlink/memory";
import { makePages } from "@accountlink/pages";
import { expect, testLive } from "@accountlink/test-servers/effect";
import { type Kv, kv, memoryKv } from "accountlink/kv";
import { Context, Effect, Layer, Redacted, References, Stream } from "effect";
import { makeFixtures } from "../support/fixtures.ts";
import { formOf } from "../support/flow_browser.ts";

interface Counted {
  answered: number;
  /** What the page asked for, to find what takes the most rounds. */
  readonly asked: Array<string>;
}

/** The rounds of the request of this fiber; null elsewhere. */
const CountedRounds = Context.Reference<Counted | null>("CountedRounds", { defaultValue: () => null });

/** Longer than secrets take to be hashed, so that what begins meanwhile is of one round. */
const wayInMillis = 10;

const pass = Effect.callback<void>((resume) => {
  // What ended in this time goes on before the answer, also on a machine that was busy.
  setTimeout(() => setImmediate(() => setImmediate(() => resume(Effect.void))), wayInMillis);
});

const round = <A, E>(what: string, run: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.flatMap(CountedRounds, (counted) => {
    if (counted === null) return run;
    const mine = counted.answered + 1;
    counted.asked.push(`${mine} ${what}`);
    const answer = Effect.sync(() => {
      counted.answered = Math.max(counted.answered, mine);
    });
    return Effect.andThen(pass, Effect.tap(run, answer));
  });

/** An engine of four operations, or one that finds as well. */
const roundsOf = (engine: Kv, finds: boolean): Kv => {
  const find: NonNullable<Kv["find"]> = (guard, range, options) =>
    Effect.gen(function* () {
      const [found = null] = guard === null ? [] : yield* engine.get([guard]);
      const entries = yield* engine.list(range, options);
      return { guard: found, entries, named: yield* engine.get(entries.map(({ value }) => value)) };
    });
  return {
    get: (keys) => round(`get ${keys.join(", ")}`, engine.get(keys)),
    list: (range, options) => round(`list ${range.start}`, engine.list(range, options)),
    count: (range) => round(`count ${range.start}`, engine.count(range)),
    commit: (checks, changes) => round("commit", engine.commit(checks, changes)),
    ...(finds && {
      find: (guard, range, options) => round(`find ${range.start}`, find(guard, range, options)),
    }),
  };
};

const roundsOfPort = <Shape extends object>(name: string, port: Shape): Shape =>
  new Proxy(port, {
    get: (target, operation) => {
      const run = Reflect.get(target, operation) as (
        ...args: ReadonlyArray<unknown>
      ) => Effect.Effect<unknown>;
      return (...args: ReadonlyArray<unknown>) => round(`${name}.${String(operation)}`, run(...args));
    },
  });

const fixtures = makeFixtures();
fixtures.account({ name: "acme", chatId: "100039" });
fixtures.key({ account: "acme" });
const fixture = JSON.stringify(fixtures.fixture);
const publicUrl = "https://links.test";

const cache = Layer.effectContext(
  Effect.map(Layer.build(CacheMemory.layer), (ports) =>
    ports.pipe(
      Context.add(Counters, roundsOfPort("Counters", Context.get(ports, Counters))),
      Context.add(Cache, roundsOfPort("Cache", Context.get(ports, Cache))),
    ),
  ),
);

const startOn = Effect.fnUntraced(function* (engine: Kv) {
  const { platform } = yield* decodeFixture(fixture);
  const surroundings = Layer.mergeAll(
    PlatformMemory.layer(platform),
    PlatformMemory.layerIdentities(platform),
    NetworkIntelligence.none,
    AddressVault.layer(new Map([["test", Redacted.make(new Uint8Array(32).fill(9))]])),
    Secrets.layerWebCrypto(Redacted.make(new Uint8Array(32).fill(7))),
    Layer.succeed(HttpSettings, { publicUrl, trustedProxies: [] }),
  );
  const services = Layer.mergeAll(AccountLink.layerWeb, Readiness.layerStorage).pipe(
    Layer.provideMerge(AccountLink.layer),
    Layer.provideMerge(cache),
    Layer.provideMerge(kv(engine)),
    Layer.provideMerge(surroundings),
    Layer.provideMerge(webCrypto),
  );
  const built = yield* Layer.build(Layer.fresh(services));
  return yield* Effect.gen(function* () {
    yield* FixtureLoader.use((loader) => loader.load(fixture));
    const [scope] = yield* KeyStore.use((keys) => keys.listScopes("acme"));
    const app = yield* makeHttpApp({ pages: makePages });
    return { ...app, entry: `/verify?pid=${scope?.scope.pid}` };
  }).pipe(Effect.provideContext(built));
});

/** Walks through the pages as several browsers, and returns the walk of each page with the fewest rounds. */
const walkOn = Effect.fnUntraced(function* (engine: Kv) {
  const { answer, entry } = yield* startOn(engine);
  const walked = new Map<string, Counted>();
  let browsers = 0;

  const openBrowser = () => {
    const remoteAddress = `198.18.0.${++browsers}`;
    const cookies = new Map<string, string>();
    return Effect.fnUntraced(function* (page: string, url: string, form?: Readonly<Record<string, string>>) {
      const headers: Readonly<Record<string, string>> = {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        "content-type": "application/x-www-form-urlencoded",
        origin: publicUrl,
      };
      const request: HttpRequest = {
        method: form === undefined ? "GET" : "POST",
        url,
        remoteAddress,
        header: (name) => headers[name],
        readBody: () => Effect.succeed(new TextEncoder().encode(new URLSearchParams(form).toString())),
        streamBody: () => Stream.empty,
      };
      const counted: Counted = { answered: 0, asked: [] };
      const response = yield* Effect.provideService(answer(request), CountedRounds, counted);
      expect(response.status).toBeLessThan(400);
      const known = walked.get(page);
      // Work in the background goes on with the counts of its page.
      if (known === undefined || counted.answered < known.answered)
        walked.set(page, { ...counted, asked: [...counted.asked] });
      for (const line of [response.headers["set-cookie"] ?? []].flat()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        cookies.set(name, value);
      }
      const { location } = response.headers;
      return {
        form: formOf({ text: textOf(response) }),
        location: typeof location === "string" ? location : "",
      };
    });
  };

  /** Returns the address to which a platform sends the browser back. */
  const backFrom = ({ location }: { readonly location: string }, path: string, code: string) =>
    `${path}/callback?code=${code}&state=${new URL(location).searchParams.get("state")}`;

  for (const user of ["100001", "100002"]) {
    const open = openBrowser();
    yield* open("entry", entry);
    const left = yield* open("chat start", entry.replace("?", "/chat/start?"));
    const back = yield* open("chat callback", backFrom(left, "/verify/chat", user));
    yield* open("choice", back.location);
    yield* open("chat start again", entry.replace("?", "/chat/start?"));
    const leaving = yield* open("game start", entry.replace("?", "/game/start?"));
    const returned = yield* open("game callback", backFrom(leaving, "/verify/game", "1"));
    const { form } = yield* open("confirmation", returned.location);
    yield* open("done", "/verify/confirm", form);
  }
  for (let time = 0; time < 2; time++) {
    const open = openBrowser();
    const left = yield* open("dashboard sign-in", "/dashboard/sign-in");
    yield* open("dashboard callback", backFrom(left, "/dashboard", "100039"));
  }
  return walked;
});

/** The most rounds of each page, on an engine that finds and on one of four operations. */
const most: Readonly<Record<string, readonly [number, number]>> = {
  entry: [5, 8],
  "chat start": [5, 6],
  "chat callback": [11, 13],
  choice: [6, 9],
  "chat start again": [5, 7],
  "game start": [5, 8],
  "game callback": [11, 14],
  confirmation: [6, 9],
  done: [16, 19],
  "dashboard sign-in": [2, 2],
  "dashboard callback": [7, 9],
};

/** The pages of more rounds, with what they ask for. */
const exceeding = (walked: ReadonlyMap<string, Counted>, engine: 0 | 1) =>
  [...walked].filter(([page, { answered }]) => !(answered <= (most[page]?.[engine] ?? 0)));

testLive("pages of sign-ins wait for few rounds, fewer on an engine that finds", function* () {
  for (const engine of [0, 1] as const) {
    const walked = yield* Effect.scoped(walkOn(roundsOf(memoryKv(), engine === 0))).pipe(
      Effect.provideService(References.MinimumLogLevel, "Error"),
    );
    expect([...walked.keys()]).toEqual(Object.keys(most));
    expect(exceeding(walked, engine)).toEqual([]);
  }
});
