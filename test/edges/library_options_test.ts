/** Options of the library from plain JavaScript, with arbitrary values. */

import { SessionSettings } from "@accountlink/core";
import { Limits } from "@accountlink/core/limits";
import { createAccountLink, InvalidOptions, type InvalidParameter } from "accountlink";
import * as FastCheck from "fast-check";
import { expect, it } from "vitest";

const junk = FastCheck.oneof(
  FastCheck.constantFrom(
    undefined,
    null,
    "",
    "acme",
    "\0",
    "100001",
    -1,
    0,
    1,
    1.5,
    2 ** 60,
    NaN,
    Infinity,
    true,
  ),
  FastCheck.anything({ withBigInt: true, withDate: true, withSparseArray: true, maxDepth: 2 }),
);
const some = (names: ReadonlyArray<string>, value = junk) =>
  FastCheck.dictionary(FastCheck.constantFrom(...names, "unknown"), value, { maxKeys: 4 });

const scopes = some(["account", "guildId", "tier"]);
const tierLimits = some(Object.keys(Limits.defaultValue().free), FastCheck.oneof(junk, FastCheck.nat(5)));
const arbitraries = {
  storage: junk,
  secret: FastCheck.oneof(junk, FastCheck.array(FastCheck.uint8Array({ maxLength: 40 }), { maxLength: 3 })),
  scope: FastCheck.oneof(junk, scopes),
  redirectOrigins: FastCheck.oneof(junk, FastCheck.array(junk, { maxLength: 2 })),
  http: FastCheck.oneof(
    junk,
    some(["publicUrl", "basePath", "clientAddress", "trustedProxies", "metrics", "pages"]),
  ),
  webhooks: junk,
  logLevel: junk,
  limits: FastCheck.oneof(junk, some(["free", "premium", "address"], FastCheck.oneof(junk, tierLimits))),
  sessions: FastCheck.oneof(junk, some(Object.keys(SessionSettings.defaultValue()))),
  languages: FastCheck.oneof(
    junk,
    some(["en", "de"], FastCheck.oneof(junk, some(["go.title", "flow.help"]))),
  ),
  platforms: junk,
  gameUserExists: FastCheck.oneof(junk, FastCheck.func(junk)),
  gameProfile: FastCheck.oneof(junk, FastCheck.func(junk)),
  guild: FastCheck.oneof(junk, FastCheck.func(junk)),
  unknown: junk,
};
const names = Object.keys(arbitraries) as ReadonlyArray<keyof typeof arbitraries>;
const option = FastCheck.constantFrom(...names).chain((name) =>
  FastCheck.tuple(FastCheck.constant(name), arbitraries[name]),
);
const options = FastCheck.array(option, { maxLength: 2 }).map((entries) => ({
  gameUserExists: () => true,
  ...Object.fromEntries(entries),
}));

/** Opens a service with options and stores a link in it; returns the code of the write, or the problems. */
const outcomeOf = async (given: object): Promise<ReadonlyArray<string>> => {
  try {
    const al = await createAccountLink(given as never);
    const code = await al.links.set("100001", "1").then(
      () => "works",
      (error: { readonly code: string }) => error.code,
    );
    await al.close();
    return [code];
  } catch (error) {
    if (error instanceof InvalidOptions) return error.problems;
    throw error;
  }
};

it("createAccountLink works with arbitrary options, or names the wrong ones", async () => {
  const seen = { works: 0, refused: 0 };
  const named = new RegExp(
    `^(works|INVALID_PARAMETER|FORBIDDEN|PLATFORM_UNAVAILABLE|(${names.join("|")})\\b.*)$`,
    "su",
  );
  await FastCheck.assert(
    FastCheck.asyncProperty(options, async (given) => {
      const outcome = await outcomeOf(given);
      for (const each of outcome) expect(each).toMatch(named);
      seen[outcome[0] === "works" ? "works" : "refused"] += 1;
    }),
    { numRuns: 1_000 },
  );
  expect(Math.min(seen.works, seen.refused)).toBeGreaterThan(50);
});

it("a scope opens for an arbitrary choice, or the error names the wrong field", async () => {
  const al = await createAccountLink({ gameUserExists: () => true });
  await FastCheck.assert(
    FastCheck.asyncProperty(FastCheck.oneof(junk, scopes), async (choice) => {
      const wrong = await al.scope(choice as never).then(
        ({ keys }) => keys.list().then(() => "none"),
        (error: InvalidParameter) => error.parameters[0]?.name,
      );
      expect(wrong).toMatch(/^(none|scope|account|guildId|tier|unknown)$/);
      expect(await al.accounts.list()).toBeInstanceOf(Array);
    }),
    { numRuns: 500 },
  );
  await al.close();
});
