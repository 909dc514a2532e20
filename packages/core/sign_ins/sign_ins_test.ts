import { PlatformMemory } from "@accountlink/memory";
import { assert, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer } from "effect";
import { TestClock } from "effect/testing";
import * as AccountLink from "../account_link.ts";
import { later, platform, stores } from "../test_services.ts";
import { beginLifetime, type SignInSite, signInLifetime } from "./sign_in_store.ts";
import { type ReturnedBrowser, SignIns } from "./sign_ins.ts";

const redirectUri = "https://link.example/dashboard/callback";

const services = AccountLink.layerSignIns.pipe(
  Layer.provideMerge(AccountLink.layer),
  Layer.provideMerge(
    Layer.mergeAll(stores, PlatformMemory.layer(platform), PlatformMemory.layerIdentities(platform)),
  ),
  Layer.fresh,
);

/** Begins a sign-in, and returns the data that the browser brings back from the platform. */
const beginAs = Effect.fnUntraced(function* (chatId: string, site: SignInSite = "dashboard") {
  const signIns = yield* SignIns;
  const { state } = yield* signIns.begin(site, redirectUri);
  const callback = new URLSearchParams({ state, code: chatId });
  return { site, redirectUri, state, callback, cookie: null, userAgent: null } satisfies ReturnedBrowser;
});

const finish = (browser: ReturnedBrowser) => SignIns.use((signIns) => signIns.finish(browser));
const refusal = (browser: ReturnedBrowser) => Effect.map(Effect.flip(finish(browser)), outcomeOf);
const outcomeOf = (error: { readonly _tag: string; readonly reason?: string }) => error.reason ?? error._tag;

const signInAs = (chatId: string, site?: SignInSite, cookie: string | null = null) =>
  Effect.flatMap(beginAs(chatId, site), (browser) =>
    Effect.map(finish({ ...browser, cookie }), (finished) => finished.cookie),
  );

const isIn = (cookie: string, site: SignInSite = "dashboard") =>
  SignIns.use((signIns) =>
    Effect.match(signIns.find(site, cookie), { onSuccess: () => true, onFailure: () => false }),
  );

const test = testWith(services);

test("a sign-in is refused if it was begun too long ago, or at the other site", function* () {
  const [late, elsewhere] = [yield* beginAs("10001"), yield* beginAs("10001")];
  assert.strictEqual(yield* refusal({ ...elsewhere, site: "me" }), "invalid");
  yield* TestClock.adjust(beginLifetime);
  assert.strictEqual(yield* refusal(late), "invalid");
});

test("a sign-in expires after twelve hours", function* () {
  const cookie = yield* signInAs("10001");
  assert.isTrue(yield* later(signInLifetime - 1)(isIn(cookie)));
  assert.isFalse(yield* later(signInLifetime)(isIn(cookie)));
});
