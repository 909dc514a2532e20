import { GuildId, type StoragePorts } from "@accountlink/core";
import type { SignInId } from "@accountlink/core/ids";
import {
  type BegunSignIn,
  maxSignIns,
  type SignInSite,
  SignInStore,
  type SiteSignIn,
} from "@accountlink/core/sign_ins";
import { Effect, Option } from "effect";
import {
  hostileTexts,
  makeBegunSignIn,
  makeSignIn,
  uniqueChatId,
  uniqueSignInId,
  unstorableTexts,
} from "../mod.ts";
import { expectDefect, expectEqual } from "./expect.ts";
import { atOnce } from "./scopes.ts";
import type { Cases } from "./suite.ts";

/** A number of more than 32 bits, which a store with 32-bit integers would truncate. */
const deadline = 1_767_225_600_123;

/** Makes an unfinished sign-in, without storing it. */
const newBegun = (parts: Partial<BegunSignIn> = {}): BegunSignIn =>
  makeBegunSignIn({ expiresAt: deadline, ...parts });

/** Makes a sign-in, without storing it. */
const newSignIn = (parts: Partial<SiteSignIn> = {}): SiteSignIn =>
  makeSignIn({ expiresAt: deadline, ...parts });

const sites: ReadonlyArray<SignInSite> = ["dashboard", "me"];

const steps = Effect.map(SignInStore, (store) => ({
  ...store,
  create: (signIn: SiteSignIn, replaced: SignInId | null = null) =>
    Effect.as(store.create(signIn, replaced), signIn),
  find: (id: SignInId, site: SignInSite = "dashboard", at = 0) =>
    Effect.map(store.find(site, id, at), Option.getOrNull),
}));

/**
 * `storagePropertySuite` tests sites, deadlines, order, replaced and unfinished sign-ins, and sweeps, and `recordTypeCases`
 * that erasures delete sign-ins.
 */
export const signInCases: Cases<StoragePorts> = {
  "begin with a duplicate state is a defect": function* () {
    const { begin, takeBegun } = yield* steps;
    const begun = newBegun();
    yield* begin(begun);
    yield* expectDefect(begin({ ...begun, site: "me" }));
    expectEqual(yield* takeBegun("dashboard", begun.stateHash, 0), true);
  },

  "concurrent takeBegun: exactly one succeeds": function* () {
    const { begin, takeBegun } = yield* steps;
    const begun = newBegun();
    yield* begin(begun);
    const taken = yield* Effect.replicateEffect(takeBegun("dashboard", begun.stateHash, 0), 20, atOnce);
    expectEqual(taken.filter((is) => is).length, 1);
  },

  "create stores the sign-in unchanged, and only its site finds it": function* () {
    const { create, find } = yield* steps;
    const named = [...hostileTexts, ...unstorableTexts, null].map((name, i) => ({
      id: GuildId.make(`7000000000000000${i}`),
      name,
      manager: i % 2 === 0,
    }));
    for (const guilds of [null, [], named]) {
      const signIn = yield* create(newSignIn({ guilds, createdAt: deadline - 1 }));
      expectEqual(yield* find(signIn.id), signIn);
      expectEqual(yield* find(signIn.id, "me"), null);
    }
    expectEqual(yield* find(uniqueSignInId()), null);
  },

  "create ends all but a person's newest sign-ins": function* () {
    const { create, find } = yield* steps;
    const chatId = uniqueChatId();
    const other = yield* create(newSignIn());
    const signIns: Array<SiteSignIn> = [];
    for (let i = 0; i < maxSignIns + 3; i++) {
      const site = sites[i % 2] as SignInSite;
      signIns.push(yield* create(newSignIn({ chatId, site, createdAt: i })));
    }
    for (const [i, signIn] of signIns.entries()) {
      expectEqual(yield* find(signIn.id, signIn.site), i < 3 ? null : signIn);
    }
    expectEqual(yield* find(other.id), other);
    // A node with a slow clock stores a sign-in that is older than the others. It holds nevertheless.
    const late = yield* create(newSignIn({ chatId, createdAt: 0 }));
    expectEqual(yield* find(late.id), late);
    expectEqual(yield* find(signIns[3]?.id as SignInId, signIns[3]?.site), null);
  },

  "concurrent creations leave a person's newest sign-ins": function* () {
    const { create, list } = yield* steps;
    const chatId = uniqueChatId();
    const many = Array.from({ length: maxSignIns + 10 }, (_, i) => newSignIn({ chatId, createdAt: i }));
    yield* Effect.forEach(many, (signIn) => create(signIn), atOnce);
    const held = yield* list("dashboard", chatId, 0);
    expectEqual(held.length, maxSignIns);
  },

  "create with a duplicate ID is a defect, and replaces nothing": function* () {
    const { create, find } = yield* steps;
    const [signIn, other] = [yield* create(newSignIn()), yield* create(newSignIn())];
    yield* expectDefect(create({ ...other, id: signIn.id }, other.id));
    expectEqual(yield* find(signIn.id), signIn);
    expectEqual(yield* find(other.id), other);
  },
};
