/** Options of the library from plain JavaScript, with arbitrary values. */

import { SessionSettings } from "@accountlink/core";
import { Limits } from "@accountlink/core/limits";
import { createAccountLink, InvalidOptions, InvalidParameter } from "accountlink";
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
  FastCheck.tuple(FastCheck.constant(name), arbitraries[name] as FastCheck.Arbitrary<unknown>),
);
const options = FastCheck.array(option, { maxLength: 2 }).map((entries) => ({
  gameUserExists: () => true,
  ...Object.fromEntries(entries),
}));

it("createAccountLink works with arbitrary options, or names the wrong ones", async () => {
  const outcomes = { works: 0, refused: 0 };
  await FastCheck.assert(
    FastCheck.asyncProperty(options, async (given) => {
      try {
        const al = await createAccountLink(given as never);
        const code = await al.links.set("100001", "1").then(
          () => null,
          (error: { readonly code: string }) => error.code,
        );
        expect([null, "INVALID_PARAMETER", "FORBIDDEN", "PLATFORM_UNAVAILABLE"]).toContain(code);
        await al.close();
        outcomes.works += 1;
      } catch (error) {
        if (!(error instanceof InvalidOptions)) throw error;
        for (const problem of error.problems) expect(problem).toMatch(new RegExp(`^(${names.join("|")})\\b`));
        outcomes.refused += 1;
      }
    }),
    { numRuns: 1_000 },
  );
  expect(Math.min(...Object.values(outcomes))).toBeGreaterThan(50);
});

it("a scope opens for an arbitrary choice, or the error names the wrong field", async () => {
  const al = await createAccountLink({ gameUserExists: () => true });
  await FastCheck.assert(
    FastCheck.asyncProperty(FastCheck.oneof(junk, scopes), async (choice) => {
      try {
        const { keys } = await al.scope(choice as never);
        await keys.list();
      } catch (error) {
        if (!(error instanceof InvalidParameter)) throw error;
        expect(error.parameters[0]?.name).toMatch(/^(scope|account|guildId|tier|unknown)$/);
      }
      expect(await al.accounts.list()).toBeInstanceOf(Array);
    }),
    { numRuns: 500 },
  );
  await al.close();
});
